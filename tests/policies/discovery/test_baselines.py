"""The baselines choose as their papers say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.discovery.greedy_oracle import greedy_oracle
from policies.discovery.most_stale import MostStale
from policies.discovery.pham import N_FEATURES, Pham, ucb1
from policies.discovery.round_robin import RoundRobin
from policies.discovery.thompson import Thompson

HOUR = 3600.0


def test_thompson_is_the_program_of_figure_1() -> None:
    rng, reference = np.random.default_rng(5), np.random.default_rng(5)
    policy = Thompson.start(6)
    found, fetches = np.zeros((6, 24)), np.zeros((6, 24))
    true_rate = np.arange(6.0)
    for tick in range(200):
        hour = tick % 24
        drawn = reference.gamma(found[:, hour] + 1.0, 1.0 / (fetches[:, hour] + 1.0))
        expected = np.argsort(drawn)[-2:]
        sources = policy.choose(now=tick * HOUR, budget=2, rng=rng)
        assert set(sources) == set(expected)
        discoveries = reference.poisson(true_rate[sources])
        rng.poisson(true_rate[sources])
        found[sources, hour] += discoveries
        fetches[sources, hour] += 1
        policy = policy.observe(now=tick * HOUR, sources=sources, discoveries=discoveries)
    np.testing.assert_array_equal(policy.found, found)
    np.testing.assert_array_equal(policy.fetches, fetches)


def test_round_robin_takes_every_source_once_a_round() -> None:
    policy, seen = RoundRobin(n_sources=7), []
    rng = np.random.default_rng(0)
    for tick in range(7):
        sources = policy.choose(now=tick * HOUR, budget=3, rng=rng)
        seen += sources.tolist()
        policy = policy.observe(now=tick * HOUR, sources=sources, discoveries=np.zeros(3, np.int64))
    assert np.bincount(seen).tolist() == [3] * 7


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**31))
def test_most_stale_never_leaves_an_older_source(n: int, budget: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    policy = MostStale(fetched_at=rng.integers(0, 5, n).astype(float))
    chosen = policy.choose(now=9.0, budget=budget, rng=rng)
    left = np.setdiff1d(np.arange(n), chosen)
    assert len(chosen) == min(n, budget)
    assert not len(left) or policy.fetched_at[chosen].max() <= policy.fetched_at[left].min()


def test_ucb1_tries_every_arm_and_then_follows_equation_1() -> None:
    assert ucb1(np.array([9.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0])) == 2
    rewards, pulls = np.array([10.0, 9.0, 0.5]), np.array([20.0, 20.0, 1.0])
    bounds = rewards / pulls + np.sqrt(2 * np.log(41.0) / pulls)
    assert ucb1(rewards, pulls) == int(np.argmax(bounds)) == 2


def test_pham_has_35_features_and_finds_the_linear_truth() -> None:
    """Sources find 3 per hour of age, exactly: the regression must put the best source first."""
    rng = np.random.default_rng(1)
    speed = np.array([0.0, 1.0, 5.0, 2.0, 0.0, 0.0])
    policy = Pham.start(6, started_at=0.0)
    hits = []
    for tick in range(24 * 8):
        now = tick * HOUR
        sources = policy.choose(now=now, budget=2, rng=rng)
        age = (now - np.maximum(policy.fetched_at[sources], 0.0)) / HOUR
        found = np.round(speed[sources] * age).astype(np.int64)
        assert policy.features(now).shape == (6, N_FEATURES) == (6, 35)
        policy = policy.observe(now=now, sources=sources, discoveries=found)
        hits.append(2 in sources)
    assert np.mean(hits[24:]) > 0.9
    assert policy.log.at.min() >= (24 * 8 - 1) * HOUR - 7 * 24 * HOUR


def test_pham_window_counts_the_past_day_only() -> None:
    policy = Pham.start(2, started_at=0.0)
    one = np.array([0])
    for now, found in ((0.0, 100), (30 * HOUR, 4), (40 * HOUR, 8)):
        policy = policy.observe(now=now, sources=one, discoveries=np.array([found]))
    mean, deviation = policy.log.window(41 * HOUR, 2)
    assert mean.tolist() == [6.0, 0.0]
    assert deviation == pytest.approx([2.0, 0.0])


@given(st.lists(st.sets(st.integers(0, 11)), min_size=1, max_size=8), st.integers(1, 8))
def test_the_oracle_takes_the_largest_gain_at_every_step(
    shown_sets: list[set[int]], budget: int
) -> None:
    shown = [np.array(sorted(s), np.int64) for s in shown_sets]
    known = np.zeros(12, np.bool_)
    known[::5] = True
    covered = {0, 5, 10}
    taken = greedy_oracle(shown, known, budget=budget).tolist()
    assert len(taken) == len(set(taken)) == min(budget, len(shown))
    for step, source in enumerate(taken):
        gains = [len(s - covered) for u, s in enumerate(shown_sets) if u not in taken[:step]]
        assert len(shown_sets[source] - covered) == max(gains)
        covered |= shown_sets[source]
