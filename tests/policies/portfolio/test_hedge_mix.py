"""The page-level mix: budgets kept, estimates unbiased, late rewards welcome."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.portfolio.hedge_mix import HedgeMix
from policies.refresh.filling import proportional, take_best


def start(arms: int) -> HedgeMix:
    return HedgeMix.start(arms, learning_rate=0.5, exploration=0.1)


def some_proposals(rng: np.random.Generator, n_pages: int, budget: float) -> np.ndarray:
    return np.stack(
        [
            proportional(np.ones(n_pages), budget),
            proportional(rng.pareto(1.0, n_pages), budget),
            take_best(rng.random(n_pages), budget),
        ]
    )


@given(seed=st.integers(0, 2**32 - 1), budget=st.integers(1, 20))
def test_the_mix_spends_the_budget_its_strategies_spend(seed: int, budget: int) -> None:
    rng = np.random.default_rng(seed)
    picks = start(3).pick(some_proposals(rng, 20, budget), np.ones(20), rng)
    assert len(picks.pages) == budget
    assert np.all((picks.probability > 0.0) & (picks.probability <= 1.0))


@given(gains=st.lists(st.lists(st.floats(0.0, 1e6), min_size=3, max_size=3), max_size=20))
def test_weights_sum_to_1_and_keep_their_exploration(gains: list[list[float]]) -> None:
    rng = np.random.default_rng(4)
    mix, proposals = start(3), some_proposals(rng, 12, 3.0)
    for gain in gains:
        mix = mix.learn(mix.pick(proposals, np.ones(12), rng), np.array(gain))
    assert mix.weights().sum() == pytest.approx(1.0, abs=1e-12)
    assert mix.weights().min() >= 0.1 / 3 - 1e-15


def test_each_strategy_is_credited_with_what_it_would_have_found_alone() -> None:
    """Mean of the importance-weighted estimates against the exact expectation, 3,000 ticks."""
    rng = np.random.default_rng(7)
    proposals, useful = some_proposals(rng, 40, 8.0), rng.random(40)
    mix = start(3)
    gains = np.array([one_gain(mix, proposals, useful, rng) for _ in range(3000)])
    standard_error = gains.std(axis=0) / np.sqrt(len(gains))
    assert np.abs((gains.mean(axis=0) - proposals @ useful) / standard_error).max() < 4.0


def one_gain(
    mix: HedgeMix, proposals: np.ndarray, useful: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    picks = mix.pick(proposals, np.ones(len(useful)), rng)
    learned = mix.learn(picks, useful[picks.pages])
    estimate: np.ndarray = learned.log_weights / mix.learning_rate * picks.stake
    return estimate


def test_rewards_that_come_apart_and_backwards_teach_the_same() -> None:
    rng = np.random.default_rng(9)
    mix = start(3)
    picks = mix.pick(some_proposals(rng, 30, 6.0), np.ones(30), rng)
    rewards = rng.random(len(picks.pages))
    apart = mix
    for i in reversed(range(len(rewards))):
        apart = apart.learn(picks.only(np.array([i])), rewards[[i]])
    assert apart.log_weights == pytest.approx(mix.learn(picks, rewards).log_weights, rel=1e-12)


def test_the_strategy_that_finds_the_changes_gains_weight() -> None:
    rng = np.random.default_rng(11)
    stale = np.zeros(50)
    stale[:5] = 1.0
    proposals = np.stack([proportional(np.ones(50), 5.0), take_best(stale, 5.0)])
    mix = start(2)
    for _ in range(30):
        picks = mix.pick(proposals, np.ones(50), rng)
        mix = mix.learn(picks, stale[picks.pages])
    assert mix.weights()[1] > 0.9


def test_one_lucky_find_moves_no_weight_by_more_than_a_factor_e() -> None:
    rng = np.random.default_rng(10)
    worth = np.array([1e9, 1.0, 1.0])
    proposals = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    mix = HedgeMix.start(2, learning_rate=100.0, exploration=0.1)
    mix = mix.learn(mix.pick(proposals, worth, rng), np.array([1e9]))
    assert mix.log_weights.max() == pytest.approx(1.0)


def test_a_tick_with_a_single_pick_still_weighs_it_by_its_worth() -> None:
    """Divided by the picks' own worth, a light page would count as much as a heavy one."""
    worth, proposals = np.array([9.0, 1.0]), np.array([[0.5, 0.5], [0.5, 0.5]])
    mix = start(2)
    draws = [mix.pick(proposals, worth, np.random.default_rng(seed)) for seed in range(20)]
    gains = {
        int(picks.pages[0]): mix.learn(picks, worth[picks.pages]).log_weights[0] for picks in draws
    }
    assert gains[0] == pytest.approx(9.0 * gains[1])


def test_a_tick_without_importance_teaches_nothing() -> None:
    rng = np.random.default_rng(12)
    mix = start(3)
    picks = mix.pick(some_proposals(rng, 10, 2.0), np.zeros(10), rng)
    assert mix.learn(picks, np.zeros(len(picks.pages))) is mix


def test_100_000_late_rewards_stay_finite() -> None:
    rng = np.random.default_rng(13)
    mix = start(3)
    picks = mix.pick(some_proposals(rng, 10, 4.0), np.ones(10), rng)
    rewards = np.ones(len(picks.pages))
    for _ in range(100_000):
        mix = mix.learn(picks, rewards)
    assert np.all(np.isfinite(mix.weights()))
    assert mix.weights().sum() == pytest.approx(1.0, abs=1e-12)
