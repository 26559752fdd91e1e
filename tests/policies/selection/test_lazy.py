"""Lazy selection against valuing everything, and its promises on caps, floors and deadlines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest

from policies.selection.lazy import LazySelection
from policies.values.clock import Clock, ClockPages, ClockPrices
from policies.values.profile import BINS, Floats, HazardProfile, Ints

FLAT = HazardProfile.of(np.ones((1, BINS)))


@dataclass
class GreedyPrices:
    """mu/Delta P(2, Delta tau) by the flat profile; counts the rows it is asked for."""

    importance: Floats
    rate: Floats
    fetched_at: Floats
    asked: list[int] = field(default_factory=list)

    def value(self, rows: Ints, now: float) -> Floats:
        self.asked.append(len(rows))
        rate, zero = self.rate[rows], np.zeros(len(rows), np.int64)
        spent = rate * np.maximum(now - self.fetched_at[rows], 0.0)
        return self.importance[rows] / rate * FLAT.value(zero, spent)

    def due_at(self, rows: Ints, level: float | Floats) -> Floats:
        self.asked.append(len(rows))
        rate, zero = self.rate[rows], np.zeros(len(rows), np.int64)
        needed = FLAT.hazard_worth(zero, level * rate / self.importance[rows])
        return self.fetched_at[rows] + needed / rate

    def freshness(self, now: float) -> float:
        fresh = np.exp(-self.rate * (now - self.fetched_at))
        return float(self.importance @ fresh / self.importance.sum())


def world(pages: int, seed: int, *, backlog: bool = False) -> GreedyPrices:
    rng = np.random.default_rng(seed)
    age = np.full(pages, 1e5) if backlog else rng.uniform(0, 400, pages)
    return GreedyPrices(rng.lognormal(0, 1, pages), rng.lognormal(0, 1, pages) / 200, -age)


def selection(prices: GreedyPrices, **settings: float) -> LazySelection:
    lazy = LazySelection(now=0.0, tick=1.0, **settings)
    lazy.add(np.arange(len(prices.rate)), prices, prices.fetched_at.copy())
    return lazy


def fetch(lazy: LazySelection, prices: GreedyPrices, rows: Ints, now: float) -> None:
    prices.fetched_at[rows] = now
    lazy.schedule(rows, prices, np.full(len(rows), now))


def mean_freshness(
    prices: GreedyPrices, pick: Callable[[float, int], Ints], budgets: list[int]
) -> float:
    scores = []
    for tick, budget in enumerate(budgets):
        scores.append(prices.freshness(float(tick)))
        rows = pick(float(tick), budget)
        assert len(rows) == budget
        prices.fetched_at[rows] = tick
    return float(np.mean(scores))


def by_valuing_all(prices: GreedyPrices) -> Callable[[float, int], Ints]:
    everything = np.arange(len(prices.rate))
    return lambda now, budget: np.argpartition(-prices.value(everything, now), budget)[:budget]


def lazily(prices: GreedyPrices) -> Callable[[float, int], Ints]:
    lazy = selection(prices)

    def pick(now: float, budget: int) -> Ints:
        rows = lazy.pick(prices, now, budget).rows
        fetch(lazy, prices, rows, now)
        return rows

    return pick


@pytest.mark.parametrize("case", ["settled", "backlog", "budget halved, then four times"])
def test_freshness_is_that_of_valuing_every_page(case: str) -> None:
    budgets = [20] * 600
    if case.startswith("budget"):
        budgets = [20] * 200 + [10] * 200 + [40] * 200
    lazy, exact = (world(4000, 11, backlog=case == "backlog") for _ in range(2))
    got = mean_freshness(lazy, lazily(lazy), budgets)
    best = mean_freshness(exact, by_valuing_all(exact), budgets)
    assert got > best - 0.0005


def test_a_tick_values_pages_by_the_budget_not_by_the_pages_known() -> None:
    prices = world(20_000, 12)
    pick = lazily(prices)
    mean_freshness(prices, pick, [40] * 700)
    prices.asked.clear()
    for tick in range(700, 900):
        pick(float(tick), 40)
    assert sum(prices.asked) < 200 * 40 * 12  # valuing all: 200 * 20,000


def test_pages_may_come_and_go_and_change() -> None:
    prices = world(500, 13)
    lazy = selection(prices)
    gone = np.arange(0, 100)
    lazy.pick(prices, 0.0, 5)
    lazy.remove(gone)
    prices.importance = np.append(prices.importance, np.full(3, 1e4))
    prices.rate = np.append(prices.rate, np.full(3, 0.1))
    prices.fetched_at = np.append(prices.fetched_at, np.zeros(3))
    lazy.add(np.arange(500, 503), prices, np.zeros(3))
    prices.importance[300] = 1e6
    lazy.update(np.array([300]), prices)
    picked: list[int] = []
    for tick in range(1, 200):
        rows = lazy.pick(prices, float(tick), 5).rows
        picked += rows.tolist()
        fetch(lazy, prices, rows, float(tick))
    assert not set(picked) & set(gone.tolist())
    assert {500, 501, 502, 300} <= set(picked)


def test_a_picked_page_is_not_picked_again_until_it_is_scheduled() -> None:
    prices = world(50, 14, backlog=True)
    lazy = selection(prices)
    seen = np.concatenate([lazy.pick(prices, float(tick), 7).rows for tick in range(8)])
    assert len(seen) == len(set(seen.tolist())) == 50


def test_a_signal_brings_a_page_to_the_front() -> None:
    clock = Clock.start(first_guess=1 / 100, traits=0)
    pages = ClockPages.born(-np.linspace(0, 50, 1000), np.zeros((1000, 0), np.int32))
    nats = np.zeros(1000)
    prices = ClockPrices(clock, pages, np.ones(1000), nats)
    lazy = LazySelection(now=0.0, tick=1.0)
    lazy.add(np.arange(1000), prices, pages.fetched_at)
    assert 3 not in lazy.pick(prices, 0.0, 10).rows
    nats[3] = 4.0
    lazy.update(np.array([3]), prices)
    assert lazy.pick(prices, 1.0, 10).rows[0] == 3


def test_bringing_a_page_forward_moves_its_due_time_and_wakes_no_hopeless_page() -> None:
    prices = world(1000, 20)
    prices.importance[7] = 1e-12
    lazy = selection(prices)
    lazy.pick(prices, 0.0, 10)
    finite = np.flatnonzero(np.isfinite(lazy.calendar.due_at))
    late = finite[np.argmax(lazy.calendar.due_at[finite])]
    due = lazy.calendar.due_at[[late, 7]]
    lazy.bring_forward(np.array([late, 7]), np.full(2, due[0]))
    assert lazy.calendar.due_at[late] == 0.0
    assert np.isinf(lazy.calendar.due_at[7])


def test_no_page_waits_longer_than_the_maximum_interval() -> None:
    prices = world(1000, 15)
    prices.fetched_at[:] = 0.0
    prices.importance[:200] = 1e-9
    lazy = selection(prices, max_interval=60.0)
    longest = 0.0
    for tick in range(400):
        rows = lazy.pick(prices, float(tick), 40).rows
        fetch(lazy, prices, rows, float(tick))
        longest = max(longest, float(tick - prices.fetched_at.min()))
    assert 55 < longest <= 75  # 200 deadlines fall at once; 40 can be met in a tick


def test_hosts_are_kept_to_their_caps_and_no_slot_is_lost_to_them() -> None:
    prices = world(3000, 16)
    host = np.repeat(np.arange(30), 100).astype(np.int32)
    prices.importance[host < 3] *= 100
    lazy = LazySelection(now=0.0, tick=1.0)
    lazy.add(np.arange(3000), prices, prices.fetched_at.copy(), host=host)
    cap = np.full(30, 2)
    for tick in range(300):
        cap[5] = 0 if tick < 250 else 2
        rows = lazy.pick(prices, float(tick), 20, host_cap=cap).rows
        assert len(rows) == 20
        assert np.all(np.bincount(host[rows], minlength=30) <= cap)
        fetch(lazy, prices, rows, float(tick))
    dear = [int((prices.fetched_at[host == h] > 200).sum()) for h in range(3)]
    assert min(dear) > 60  # hosts that are worth it work at their cap
    assert np.all(prices.fetched_at[host == 5].max() >= 250)


def test_capped_selection_is_close_to_the_best_ready_page_by_valuing_all() -> None:
    host = np.repeat(np.arange(20), 100).astype(np.int32)
    cap = np.where(np.arange(20) < 4, 1, 3)

    def run(lazily: bool) -> float:
        prices = world(2000, 17)
        prices.importance[host < 4] *= 10
        lazy = LazySelection(now=0.0, tick=1.0)
        lazy.add(np.arange(2000), prices, prices.fetched_at.copy(), host=host)
        scores = []
        for tick in range(500):
            scores.append(prices.freshness(float(tick)))
            if lazily:
                rows = lazy.pick(prices, float(tick), 20, host_cap=cap).rows
                fetch(lazy, prices, rows, float(tick))
            else:
                prices.fetched_at[best_ready(prices, host, cap, float(tick))] = tick
        return float(np.mean(scores))

    assert run(lazily=True) > run(lazily=False) - 0.002


def best_ready(prices: GreedyPrices, host: npt.NDArray[np.int32], cap: Ints, now: float) -> Ints:
    left = cap.copy()
    chosen: list[int] = []
    for row in np.argsort(-prices.value(np.arange(len(host)), now)):
        if left[host[row]] > 0 and len(chosen) < 20:
            left[host[row]] -= 1
            chosen.append(int(row))
    return np.array(chosen)


def test_a_poor_site_gets_its_floor() -> None:
    prices = world(2000, 18)
    site = (np.arange(2000) % 4).astype(np.int32)
    prices.importance[site == 2] = 1e-12
    lazy = LazySelection(now=0.0, tick=1.0)
    lazy.add(np.arange(2000), prices, prices.fetched_at.copy(), site=site)
    got = np.zeros(4)
    for tick in range(100):
        rows = lazy.pick(prices, float(tick), 10, site_floor=np.full(4, 0.5)).rows
        got += np.bincount(site[rows], minlength=4)
        fetch(lazy, prices, rows, float(tick))
    assert got.sum() == 1000
    assert 48 <= got[2] <= 55


def test_nothing_known_or_nothing_allowed_is_no_pick() -> None:
    prices = world(5, 19)
    empty = LazySelection(now=0.0, tick=1.0)
    assert len(empty.pick(prices, 0.0, 10).rows) == 0
    lazy = selection(prices)
    assert len(lazy.pick(prices, 0.0, 0).rows) == 0
    assert sorted(lazy.pick(prices, 0.0, 10).rows.tolist()) == [0, 1, 2, 3, 4]
    lazy.remove(np.arange(5))
    assert len(lazy.pick(prices, 1.0, 10).rows) == 0
