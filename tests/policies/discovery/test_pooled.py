"""The pooled policy learns rates, the day and local hours, and lives with sources that come, go, die, wake."""

from copy import deepcopy
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.discovery.exposure import Floats, Ints, exposure
from policies.discovery.pooled import Pooled, PooledSettings

HOUR = 3600.0


def fetch_all(policy: Pooled, now: float, found: Floats | Ints) -> Pooled:
    everyone = np.arange(len(policy.found))
    return policy.observe(now=now, sources=everyone, discoveries=np.asarray(found, np.int64))


def equal(a: Pooled, b: Pooled) -> bool:
    names = [f.name for f in fields(Pooled) if f.name != "settings"]
    return all(np.array_equal(getattr(a, n), getattr(b, n)) for n in names)


def simulate(
    policy: Pooled,
    true_rate: Floats,
    *,
    hours: range,
    budget: int,
    rng: np.random.Generator,
    last: Floats,
) -> tuple[Pooled, Ints]:
    """Poisson links at these rates, never expiring; the fetches of each source."""
    fetches = np.zeros(len(true_rate), np.int64)
    for hour in hours:
        now = hour * HOUR
        sources = policy.choose(now=now, budget=budget, rng=rng)
        found = rng.poisson(true_rate[sources] * (hour - last[sources]))
        last[sources] = hour
        fetches[sources] += 1
        policy = policy.observe(now=now, sources=sources, discoveries=found)
    return policy, fetches


def test_the_rate_is_learned_in_ticks_of_any_length() -> None:
    rng = np.random.default_rng(2)
    policy = Pooled.start(np.zeros(3), PooledSettings(expiry=1e9, memory=0.9999))
    true_rate, now = np.array([0.2, 2.0, 20.0]), 0.0
    policy = fetch_all(policy, now, np.zeros(3))
    for _ in range(800):
        gap = rng.exponential(0.7)
        now += gap * HOUR
        policy = fetch_all(policy, now, rng.poisson(true_rate * gap))
    assert policy.rate(now) == pytest.approx(true_rate, rel=0.2)


def test_expected_discoveries_are_rate_times_hour_times_exposure() -> None:
    rng = np.random.default_rng(3)
    policy = Pooled.start(np.array([0.0, 3600.0, -7200.0]))
    for hour in range(60):
        policy = fetch_all(policy, hour * HOUR, rng.poisson(3.0, 3))
    now = 65.5 * HOUR
    waited = exposure(
        age=np.full(3, 6.5),
        clock=np.array([17.5, 18.5, 15.5]),
        profile=policy.profile(),
        expiry=48.0,
    )
    expected = policy.rate(now) * policy.multiplier(now) * waited
    assert policy.expected_discoveries(now) == pytest.approx(expected)
    draws = [policy.drawn_discoveries(now, np.random.default_rng(s)) for s in range(4000)]
    assert np.mean(draws, axis=0) == pytest.approx(expected, rel=0.02)


def test_the_day_is_learned_in_local_hours() -> None:
    """Two halves of the world publish between 9 and 17 of their own time."""
    rng = np.random.default_rng(4)
    offsets = np.repeat([0.0, 10 * HOUR], 10)
    policy = Pooled.start(offsets)
    for hour in range(24 * 14):
        local = (hour - 0.5 + offsets / HOUR) % 24
        busy = (local > 9) & (local < 17)
        policy = fetch_all(policy, hour * HOUR, rng.poisson(np.where(busy, 3.0, 0.1)))
    profile = policy.profile()
    assert profile[9:17].min() > 5 * profile[[*range(8), *range(18, 24)]].max()
    assert profile.mean() == pytest.approx(1.0)


def test_the_day_is_learned_although_sources_are_fetched_every_seven_hours() -> None:
    rng = np.random.default_rng(5)
    policy = Pooled.start(np.zeros(40))
    busy = np.array([6.0 if 9 <= hour < 15 else 0.5 for hour in range(24)])
    for fetch in range(80):
        waited = busy[(np.arange(fetch * 7 - 7, fetch * 7)) % 24].sum()
        policy = fetch_all(policy, fetch * 7 * HOUR, rng.poisson(waited, 40))
    profile = policy.profile()
    assert profile[9:15].mean() > 3 * profile[[*range(9), *range(15, 24)]].mean()


def test_a_source_with_its_own_hour_is_expected_more_at_that_hour() -> None:
    policy = Pooled.start(np.zeros(2))
    for hour in range(24 * 14):
        found = np.array([24 if hour % 24 == 13 else 0, 1])
        policy = fetch_all(policy, hour * HOUR, found)
    at_one = policy.multiplier((24 * 14 + 13) * HOUR)
    at_eight = policy.multiplier((24 * 14 + 8) * HOUR)
    assert at_one[0] > 3.0 * at_eight[0]


def test_the_first_fetch_starts_the_clock_and_teaches_nothing() -> None:
    before = Pooled.start(np.zeros(2))
    after = fetch_all(before, 1000.0, np.array([500, 0]))
    assert after.rate(1000.0) == pytest.approx(before.rate(1000.0))
    assert after.exposure(1000.0).tolist() == [0.0, 0.0]
    assert after.profile() == pytest.approx(np.ones(24))


def test_a_source_just_fetched_has_nothing_and_an_unknown_one_comes_first() -> None:
    policy = Pooled.start(np.zeros(3))
    policy = fetch_all(policy, 0.0, np.zeros(3)).add(np.zeros(1))
    assert policy.expected_discoveries(0.0)[:3].tolist() == [0.0, 0.0, 0.0]
    chosen = policy.choose(now=0.0, budget=1, rng=np.random.default_rng(0))
    assert chosen.tolist() == [3]


def test_dead_sources_are_left_and_a_sleeping_one_is_woken() -> None:
    """20 sources, 2 fetches an hour.  5 of them find nothing for 20 days, then one finds 2 an hour."""
    rng = np.random.default_rng(6)
    rates = np.full(20, 0.3)
    rates[:5] = 0.0
    policy, last = Pooled.start(np.zeros(20)), np.zeros(20)
    policy, _ = simulate(policy, rates, hours=range(240), budget=2, rng=rng, last=last)
    policy, asleep = simulate(policy, rates, hours=range(240, 480), budget=2, rng=rng, last=last)
    assert 0 < asleep[:5].mean() < 0.5 * asleep[5:].mean()
    rates[0] = 2.0
    policy, _ = simulate(policy, rates, hours=range(480, 624), budget=2, rng=rng, last=last)
    policy, awake = simulate(policy, rates, hours=range(624, 744), budget=2, rng=rng, last=last)
    assert awake[0] > 2 * awake[5:].mean()


def fetches_after_death(settings: PooledSettings) -> int:
    """Of a source with ten times the others' rate, in the third to sixth day after it died."""
    rng, rates = np.random.default_rng(7), np.full(20, 0.3)
    rates[0] = 3.0
    policy, last = Pooled.start(np.zeros(20), settings), np.zeros(20)
    policy, _ = simulate(policy, rates, hours=range(240), budget=2, rng=rng, last=last)
    rates[0] = 0.0
    policy, _ = simulate(policy, rates, hours=range(240, 288), budget=2, rng=rng, last=last)
    _, dead = simulate(policy, rates, hours=range(288, 384), budget=2, rng=rng, last=last)
    return int(dead[0])


def test_weighing_breaks_more_than_halves_the_fetches_wasted_on_a_source_that_died() -> None:
    without = fetches_after_death(PooledSettings(break_probability=1e-12))
    assert fetches_after_death(PooledSettings()) < without / 2


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(0, 4))
def test_removing_what_was_added_changes_nothing(seed: int, n: int, added: int) -> None:
    rng = np.random.default_rng(seed)
    policy = Pooled.start(np.zeros(n))
    for hour in range(5):
        policy = fetch_all(policy, hour * HOUR, rng.poisson(2.0, n))
    there_and_back = policy.add(np.ones(added)).keep(np.arange(n + added) < n)
    assert equal(there_and_back, policy)


@settings(max_examples=30)
@given(st.integers(0, 2**31))
def test_choosing_and_observing_leave_the_state_they_came_from(seed: int) -> None:
    rng = np.random.default_rng(seed)
    policy = fetch_all(Pooled.start(np.zeros(5)), 0.0, rng.poisson(2.0, 5))
    copy = deepcopy(policy)
    policy.observe(now=HOUR, sources=np.array([3, 1]), discoveries=np.array([4, 0]))
    policy.choose(now=HOUR, budget=3, rng=rng)
    assert equal(policy, copy)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.floats(0.0, 1e8), st.integers(0, 10**6)), min_size=1, max_size=12),
    st.floats(-43_200.0, 50_400.0),
)
def test_nothing_ever_becomes_nan_or_negative(
    history: list[tuple[float, int]], offset: float
) -> None:
    policy, now = Pooled.start(np.full(3, offset)), 1.7e9
    for gap, found in history:
        now += gap
        policy = policy.observe(now=now, sources=np.array([1]), discoveries=np.array([found]))
        for column in (policy.expected_discoveries(now + 60.0), policy.profile()):
            assert np.isfinite(column).all()
            assert (column >= 0.0).all()


def test_no_sources_is_a_state_too() -> None:
    policy = Pooled.start(np.empty(0))
    assert len(policy.choose(now=0.0, budget=5, rng=np.random.default_rng(0))) == 0
    nothing = np.empty(0, np.int64)
    policy = policy.observe(now=0.0, sources=nothing, discoveries=nothing)
    assert len(policy.add(np.zeros(2)).expected_discoveries(0.0)) == 2
