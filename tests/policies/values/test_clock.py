"""The learned clock: Greedy when it knows nothing, the shop's own clock when it has watched it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.values.clock import Clock, ClockPages, price_level, spread_over_bins
from policies.values.profile import BINS, Floats

DAY = 86400.0


def some_pages(seed: int, n: int = 40) -> ClockPages:
    rng = np.random.default_rng(seed)
    first = rng.uniform(0, DAY, n)
    changed = first + rng.uniform(0, 20 * DAY, n) * (rng.random(n) < 0.7)
    fetched = changed + rng.uniform(0, 5 * DAY, n)
    changes = np.where(changed > first, rng.integers(1, 6, n), 0).astype(np.int32)
    return ClockPages(first, changed, fetched, changes, rng.integers(0, 3, (n, 2)).astype(np.int32))


def taught_clock(seed: int, rounds: int = 20) -> Clock:
    """A clock that has watched pages whose changes depend on their age."""
    rng = np.random.default_rng(seed)
    clock = Clock.start(first_guess=1 / DAY, traits=2)
    pages = ClockPages.born(np.zeros(60), rng.integers(0, 3, (60, 2)).astype(np.int32))
    for tick in range(1, rounds):
        changed = (tick + np.arange(60)) % 3 == 0
        clock, pages = clock.observe(pages, tick * 0.5 * DAY, changed)
    return clock


def test_an_untaught_clock_prices_like_greedy() -> None:
    pages, clock = some_pages(1), Clock.start(first_guess=1 / DAY, traits=2)
    rates = clock.rates(pages)
    spent = rates * (40 * DAY - pages.fetched_at)
    expected = 3.0 / rates * (1 - (1 + spent) * np.exp(-spent))
    assert clock.value(pages, 40 * DAY, importance=3.0) == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_value_reaches_the_level_exactly_when_due(seed: int) -> None:
    pages, clock = some_pages(seed), taught_clock(seed)
    level = float(np.median(clock.value(pages, 60 * DAY)))
    due = clock.due_at(pages, level)
    finite = np.flatnonzero(np.isfinite(due))
    assert len(finite) > 0
    at_due = clock.value(pages.take(finite), due[finite])
    assert at_due == pytest.approx(np.full(len(finite), level), rel=1e-6)


@given(st.integers(0, 10_000), st.floats(0.0, 1e7), st.floats(0.0, 1e7))
@settings(max_examples=40)
def test_value_and_staleness_rise_with_time(seed: int, first: float, second: float) -> None:
    pages, clock = some_pages(seed), taught_clock(seed % 7)
    earlier, later = 30 * DAY + min(first, second), 30 * DAY + max(first, second)
    assert np.all(clock.value(pages, later) >= clock.value(pages, earlier) * (1 - 1e-9))
    stale = clock.stale_probability(pages, later)
    assert np.all((stale >= clock.stale_probability(pages, earlier) - 1e-12) & (stale <= 1.0))


def test_a_signal_brings_a_page_forward_by_the_hazard_it_is_worth() -> None:
    pages, clock = some_pages(3), taught_clock(3)
    quiet, told = clock.hazard(pages, 30 * DAY), clock.hazard(pages, 30 * DAY, 0.7)
    assert told - quiet == pytest.approx(np.full(40, 0.7))
    level = float(np.median(clock.value(pages, 60 * DAY)))
    assert np.all(clock.due_at(pages, level, signal_nats=0.7) <= clock.due_at(pages, level))


def test_importance_scales_the_value_and_hastens_the_due_time() -> None:
    pages, clock = some_pages(4), taught_clock(4)
    now = 30 * DAY
    assert clock.value(pages, now, 5.0) == pytest.approx(5 * clock.value(pages, now))
    level = float(np.median(clock.value(pages, now)))
    assert np.all(clock.due_at(pages, level, 5.0) <= clock.due_at(pages, level))


@given(st.integers(0, 10_000))
@settings(max_examples=30)
def test_spreading_a_fetch_loses_no_change_and_no_exposure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    since = rng.exponential(1.0, 30)
    until = since + rng.exponential(1.0, 30)
    changed = rng.random(30) < 0.5
    spread = spread_over_bins(rng.uniform(0.1, 5.0, (30, BINS)), since, until, changed)
    assert spread.changes.sum(axis=1) == pytest.approx(changed.astype(float))
    watched = np.where(changed, spread.changed_age, until) - since
    assert spread.exposure.sum(axis=1) == pytest.approx(watched)
    assert np.all((spread.changed_age >= since) & (spread.changed_age <= until + 1e-9))


def test_the_clock_learns_that_a_shop_is_clockwork() -> None:
    """Every page changes every 5 days, out of step; the taught hazard peaks around age 1."""
    clock, pages = run_clockwork(seed=5)
    theta = clock.profile.theta[3]
    assert theta[1] < 0.3  # a page that has just changed does not change again
    assert theta[7:10].max() > 2.0
    assert clock.rates(pages) == pytest.approx(np.full(200, 0.2 / DAY), rel=0.25)


def run_clockwork(seed: int) -> tuple[Clock, ClockPages]:
    phase = np.random.default_rng(seed).uniform(0, 5 * DAY, 200)
    clock = Clock.start(first_guess=1 / DAY, traits=1)
    pages = ClockPages.born(np.zeros(200), np.zeros((200, 1), np.int32))
    for day in range(1, 80):
        changed = changes_until(phase, day * DAY) > changes_until(phase, (day - 1) * DAY)
        clock, pages = clock.observe(pages, day * DAY, changed)
    return clock, pages


def changes_until(phase: Floats, at: float) -> Floats:
    return np.asarray(np.floor((at + phase) / (5 * DAY)), np.float64)


def test_traits_share_the_blame() -> None:
    """Trait 0 makes pages 8 times faster, trait 1 nothing though it goes along with it."""
    rng = np.random.default_rng(6)
    fast = rng.random(2000) < 0.5
    alike = np.where(rng.random(2000) < 0.8, fast, ~fast)
    clock = Clock.start(first_guess=0.1 / DAY, traits=2)
    pages = ClockPages.born(np.zeros(2000), np.column_stack([fast, alike]).astype(np.int32))
    for day in range(1, 40):
        changed = rng.random(2000) < -np.expm1(-np.where(fast, 0.16, 0.02))
        clock, pages = clock.observe(pages, day * DAY, changed)
    unseen = ClockPages.born(np.zeros(4), np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32))
    prior = clock.prior_rates(unseen) * DAY
    assert prior == pytest.approx([0.02, 0.02, 0.16, 0.16], rel=0.25)


def test_a_page_of_unknown_traits_gets_the_overall_rate() -> None:
    clock = taught_clock(7)
    stranger = ClockPages.born(np.zeros(1), np.array([[999, 999]], np.int32))
    assert clock.prior_rates(stranger)[0] == pytest.approx(clock.found / clock.watched)


def test_fetching_twice_at_once_is_harmless() -> None:
    clock, pages = taught_clock(8), some_pages(8)
    now = 40 * DAY
    clock, pages = clock.observe(pages, now, np.ones(40, np.bool_))
    clock, pages = clock.observe(pages, now, np.ones(40, np.bool_))
    assert np.all(np.isfinite(clock.value(pages, now + DAY)))
    assert np.all(pages.changed_at <= now)


def test_price_levels_are_half_octaves() -> None:
    level = price_level(np.array([1.0, 1.5, 2.0, 0.25]))
    assert level.tolist() == [0, 1, 2, 60]


def test_a_page_rate_follows_its_finds_and_falls_while_nothing_happens() -> None:
    """By hand, prior one change a day (k = 2): no find in 8 days; 4 finds in 6 days, then 0, 9 quiet."""
    changed = np.array([0.0, 6.0, 6.0]) * DAY
    fetched = np.array([8.0, 6.0, 15.0]) * DAY
    pages = ClockPages(
        np.zeros(3), changed, fetched, np.array([0, 4, 4], np.int32), np.zeros((3, 0), np.int32)
    )
    rates = Clock.start(first_guess=1 / DAY, traits=0).rates(pages) * DAY
    assert rates == pytest.approx([2 / (2 + 8), 6 / (2 + 6), 7 / (2 + 15)])
