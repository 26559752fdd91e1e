"""Laws of the bandits that give each tick to one strategy."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bandits import ADVERSARIES, BANDITS, bound, regrets
from policies.portfolio.exp3 import Exp3
from policies.portfolio.exp3_ix import Exp3IX
from policies.portfolio.exp3_plus_plus import Exp3PlusPlus
from policies.portfolio.pulls import Bandit, Pull, draw_arm

STARTS: list[Callable[[int], Bandit]] = [
    lambda arms: Exp3.start(arms, exploration=0.1),
    Exp3IX.start,
    Exp3PlusPlus.start,
]
FAMILY = pytest.mark.parametrize("start", STARTS, ids=["EXP3", "EXP3-IX", "EXP3++"])
ROUNDS = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.floats(0.0, 1.0)), max_size=30)


def after(bandit: Bandit, rounds: list[tuple[int, float]]) -> Bandit:
    for seed, reward in rounds:
        bandit = bandit.learn(draw_arm(bandit, np.random.default_rng(seed)), reward)
    return bandit


@FAMILY
@given(arms=st.integers(1, 6), rounds=ROUNDS)
def test_probabilities_sum_to_1_whatever_was_rewarded(
    start: Callable[[int], Bandit], arms: int, rounds: list[tuple[int, float]]
) -> None:
    probabilities = after(start(arms), rounds).probabilities()
    assert np.all((probabilities >= 0.0) & (probabilities <= 1.0))
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-12)


@FAMILY
def test_100_000_late_rewards_stay_finite(start: Callable[[int], Bandit]) -> None:
    """Every pull is made before any reward is known; then all come, one arm winning each time."""
    bandit = start(5)
    rng = np.random.default_rng(1)
    early = [draw_arm(bandit, rng) for _ in range(100)]
    for i in range(100_000):
        pull = early[i % 100]
        bandit = bandit.learn(pull, 1.0 if pull.arm == 2 else 0.0)
    probabilities = bandit.probabilities()
    assert np.all(np.isfinite(probabilities))
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-12)
    assert probabilities.argmax() == 2


@FAMILY
def test_a_pull_without_a_reward_changes_nothing(start: Callable[[int], Bandit]) -> None:
    bandit = start(3)
    before = bandit.probabilities()
    draw_arm(bandit, np.random.default_rng(0))
    assert np.array_equal(bandit.probabilities(), before)


@FAMILY
def test_learning_leaves_the_old_state_as_it_was(start: Callable[[int], Bandit]) -> None:
    bandit = start(3)
    before = bandit.probabilities()
    bandit.learn(Pull(0, 0.2), 0.3)
    assert np.array_equal(bandit.probabilities(), before)


@given(
    rewards=st.lists(st.tuples(st.integers(0, 2), st.floats(0.1, 1.0), st.floats(0.0, 1.0))),
    order=st.randoms(use_true_random=False),
)
def test_exp3_ends_in_the_same_state_in_whatever_order_rewards_come(
    rewards: list[tuple[int, float, float]], order: np.random.RandomState
) -> None:
    shuffled = list(rewards)
    order.shuffle(shuffled)
    states = [Exp3.start(3, exploration=0.1), Exp3.start(3, exploration=0.1)]
    for i, sequence in enumerate((rewards, shuffled)):
        for arm, probability, reward in sequence:
            states[i] = states[i].learn(Pull(arm, probability), reward)
    assert states[0].probabilities() == pytest.approx(states[1].probabilities(), abs=1e-12)


def test_exp3_divides_by_the_probability_at_the_pull_not_at_the_reward() -> None:
    bandit = Exp3.start(2, exploration=0.5)
    moved = bandit.learn(Pull(0, 0.25), 1.0)
    assert moved.log_weights == pytest.approx([0.25 / 0.25, 0.0])
    assert moved.learn(Pull(0, 0.25), 1.0).log_weights == pytest.approx([2.0, 0.0])


@FAMILY
@pytest.mark.parametrize("reward", [-0.01, 1.01, float("nan")])
def test_a_reward_outside_its_range_is_refused(
    start: Callable[[int], Bandit], reward: float
) -> None:
    with pytest.raises(ValueError, match="want within"):
        start(2).learn(Pull(0, 0.5), reward)


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_mean_regret_is_within_its_bound(bandit: str, adversary: str) -> None:
    rounds, arms = 1000, 5
    measured = regrets(bandit, adversary, arms=arms, rounds=rounds, runs=4, seed=1)
    assert measured.mean() <= bound(bandit, arms=arms, rounds=rounds)


@pytest.mark.parametrize("bandit", BANDITS)
def test_a_steady_best_arm_is_found(bandit: str) -> None:
    """Uniform pulls lose 0.2 * 4/5 a round; each bandit must lose less than three quarters of it."""
    measured = regrets(bandit, "steady", arms=5, rounds=4000, runs=2, seed=2)
    assert measured.mean() < 0.75 * 0.2 * 0.8 * 4000
