"""Lazy selection against valuing every page: cost per pick, bytes per page, freshness lost.

Pages have known, log-normal change rates and importance; a tick fetches a thousandth of them, so
freshness is the exact expectation, sum importance * exp(-rate * age), and losses are free of noise.
Cost is CPU time at --pages; loss is measured at --loss-pages over seeds, from settled ages, from a
backlog (nothing fetched for ages) and through a budget halved and then made four times as large.
"""

from __future__ import annotations

import pathlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, mean_and_error, show
from policies.selection.lazy import LazySelection, Priced
from policies.values.clock import Clock, ClockPages, ClockPrices
from policies.values.greedy import greedy_value
from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import PageModel
from policies.values.profile import BINS, Floats, HazardProfile, Ints
from policies.values.shared_table import FARTHEST, SharedTable

FLAT = HazardProfile.of(np.ones((1, BINS)))
CASES = ("settled", "backlog", "budget changes")


@dataclass(frozen=True, slots=True)
class GreedyPrices:
    """Greedy with known rates; time in ticks."""

    model: PageModel
    fetched_at: Floats

    def value(self, rows: Ints, now: float) -> Floats:
        return greedy_value(self.model.take(rows), now - self.fetched_at[rows])

    def due_at(self, rows: Ints, level: float | Floats) -> Floats:
        rate = self.model.change_rate[rows]
        wanted = level * rate / self.model.importance[rows]
        return self.fetched_at[rows] + FLAT.hazard_worth(np.zeros_like(rows), wanted) / rate


@dataclass(frozen=True, slots=True)
class NcisPrices:
    """Greedy-NCIS: exact values; due times from the shared table, which need not be exact."""

    model: PageModel
    fetched_at: Floats
    signals: Floats
    table: SharedTable

    def value(self, rows: Ints, now: float) -> Floats:
        elapsed = now - self.fetched_at[rows]
        return greedy_ncis_value(self.model.take(rows), elapsed, self.signals[rows])

    def due_at(self, rows: Ints, level: float | Floats) -> Floats:
        """V depends on u = alpha tau + b n alone: bisect sqrt(u), take off what signals have lost."""
        model = self.model.take(rows)
        alpha, none = model.unsignalled_rate, np.zeros(len(rows))
        low, high = none, np.full(len(rows), FARTHEST**0.5)
        for _ in range(12):
            middle = 0.5 * (low + high)
            reached = self.table.value(model, middle**2 / alpha, none) >= level
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        lost = model.signal_worth * self.signals[rows]
        due_at = self.fetched_at[rows] + np.maximum(high**2 - lost, 0.0) / alpha
        return np.where(level * model.change_rate < model.importance, due_at, np.inf)


@dataclass(frozen=True, slots=True)
class Told:
    """Pages signalled in a tick and the time by which that brings them forward."""

    rows: Ints
    by: Floats


class Fetched(Protocol):
    """Pages to select from, what a fetch does to them, and which were signalled since."""

    @property
    def prices(self) -> Priced: ...
    def fetch(self, rows: Ints, now: float) -> None: ...
    def hear(self) -> Told | None: ...


@dataclass(slots=True)
class GreedyWorld:
    model: PageModel
    fetched_at: Floats
    prices: Priced = field(init=False)

    def __post_init__(self) -> None:
        self.prices = GreedyPrices(self.model, self.fetched_at)

    def fetch(self, rows: Ints, now: float) -> None:
        self.fetched_at[rows] = now

    def hear(self) -> None:
        return None

    def freshness(self, now: float) -> float:
        fresh = np.exp(-self.model.change_rate * (now - self.fetched_at))
        return float(self.model.importance @ fresh)


@dataclass(slots=True)
class ClockWorld:
    """The same pages on a taught clock, whose value costs more."""

    clock: Clock
    pages: ClockPages
    prices: Priced

    def fetch(self, rows: Ints, now: float) -> None:
        self.pages.fetched_at[rows] = now

    def hear(self) -> None:
        return None


@dataclass(slots=True)
class NcisWorld:
    """Half of the changes are signalled, and a third of the signals are false."""

    prices: NcisPrices
    rng: np.random.Generator

    def fetch(self, rows: Ints, now: float) -> None:
        self.prices.fetched_at[rows] = now
        self.prices.signals[rows] = 0.0

    def hear(self) -> Told:
        prices = self.prices
        rows = np.flatnonzero(self.rng.random(len(prices.signals)) < prices.model.signal_rate)
        prices.signals[rows] += 1
        model = prices.model.take(rows)
        return Told(rows, model.signal_worth / model.unsignalled_rate)


def ncis_world(pages: int, seed: int, *, per_page: float) -> NcisWorld:
    rng = np.random.default_rng(seed)
    rate, importance = rng.lognormal(0.0, 1.0, (2, pages))
    rate *= per_page
    model = PageModel.of(
        rate, importance, rng.beta(2, 2, pages), rng.uniform(0.1, 0.5, pages) * rate
    )
    fetched_at = -rng.uniform(0, 2 / per_page, pages)
    return NcisWorld(NcisPrices(model, fetched_at, np.zeros(pages), SharedTable()), rng)


def greedy_world(pages: int, seed: int, *, per_page: float, case: str) -> GreedyWorld:
    rng = np.random.default_rng(seed)
    importance = rng.lognormal(0.0, 1.0, pages)
    model = PageModel.of(rng.lognormal(0.0, 1.0, pages) * per_page, importance / importance.sum())
    age = (
        np.full(pages, 1e2 / per_page) if case == "backlog" else rng.uniform(0, 2 / per_page, pages)
    )
    return GreedyWorld(model, -age)


def clock_world(pages: int, seed: int, *, per_page: float) -> ClockWorld:
    rng = np.random.default_rng(seed)
    fetched_at = -rng.uniform(0, 2 / per_page, pages)
    columns = ClockPages.born(fetched_at, rng.integers(0, 20, (pages, 3)).astype(np.int32))
    columns.changes[:] = rng.integers(0, 6, pages)
    columns.first_seen_at[:] -= 5 / per_page
    until_change = rng.uniform(0, 5 / per_page, pages) * (columns.changes > 0)
    columns.changed_at[:] = columns.first_seen_at + until_change
    some = np.arange(min(5000, pages))
    clock = Clock.start(first_guess=per_page, traits=3)
    clock, _ = clock.observe(columns.take(some), 0.0, rng.random(len(some)) < 0.5)
    prices = ClockPrices(clock, columns, rng.lognormal(0.0, 1.0, pages), np.zeros(pages))
    return ClockWorld(clock, columns, prices)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def value_all(prices: Priced, pages: int, now: float, budget: int) -> Ints:
    return np.argpartition(-prices.value(np.arange(pages), now), budget)[:budget]


def lazy_tick(
    world: Fetched, lazy: LazySelection, now: float, budget: int, told: Told | None = None
) -> int:
    if told is not None:
        lazy.bring_forward(told.rows, told.by)
    rows = lazy.pick(world.prices, now, budget).rows
    world.fetch(rows, now)
    lazy.schedule(rows, world.prices, np.full(len(rows), now))
    return len(rows)


def started(world: Fetched, pages: int, fetched_at: Floats) -> LazySelection:
    lazy = LazySelection(now=0.0, tick=1.0)
    lazy.add(np.arange(pages), world.prices, fetched_at.copy())
    return lazy


def cost(name: str, world: Fetched, fetched_at: Floats, *, picks: int, ticks: int) -> Row:
    """CPU per tick: all pages valued (median of 5), and lazily, over all ticks and the last half."""
    pages = len(fetched_at)
    everything = [seconds(lambda: value_all(world.prices, pages, 0.0, picks)) for _ in range(5)]
    lazy = started(world, pages, fetched_at)
    spent = [seconds(partial(lazy_tick, world, lazy, float(tick), picks)) for tick in range(ticks)]
    all_ms, steady_ms = (
        1e3 * float(np.median(everything)),
        1e3 * float(np.mean(spent[ticks // 2 :])),
    )
    held = lazy.calendar.nbytes() + lazy.latest_at.nbytes + lazy.host.nbytes + lazy.site.nbytes
    return {
        "value": name,
        "pages": pages,
        "picks": picks,
        "all, ms a tick": all_ms,
        "lazy, ms a tick": steady_ms,
        "with the start": 1e3 * float(np.mean(spent)),
        "cheaper": all_ms / steady_ms,
        "us a pick": 1e3 * steady_ms / picks,
        "bytes a page": held / pages,
    }


def budget_at(case: str, tick: int, ticks: int, picks: int) -> int:
    if case != "budget changes" or tick < ticks // 3:
        return picks
    return picks // 2 if tick < 2 * ticks // 3 else 2 * picks


def run(case: str, pages: int, *, picks: int, ticks: int, seed: int, lazily: bool) -> float:
    """Mean freshness over all ticks."""
    world = greedy_world(pages, seed, per_page=picks / pages, case=case)
    lazy = started(world, pages, world.fetched_at) if lazily else None
    scores = []
    for tick in range(ticks):
        now, budget = float(tick), budget_at(case, tick, ticks, picks)
        if tick % 5 == 0:
            scores.append(world.freshness(now))
        if lazy is None:
            world.fetch(value_all(world.prices, pages, now, budget), now)
        else:
            taken = lazy_tick(world, lazy, now, budget)
            assert taken == budget
    return float(np.mean(scores))


def loss(case: str, pages: int, *, picks: int, ticks: int, seeds: range) -> Row:
    size = {"picks": picks, "ticks": ticks}
    exact = np.array([run(case, pages, **size, seed=s, lazily=False) for s in seeds])
    lazy = np.array([run(case, pages, **size, seed=s, lazily=True) for s in seeds])
    mean, error = mean_and_error(exact - lazy)
    return {
        "case": case,
        "pages": pages,
        "picks": picks,
        "ticks": ticks,
        "all valued": float(exact.mean()),
        "lazy": float(lazy.mean()),
        "lost": mean,
        "s.e.": error,
        "worst": float((exact - lazy).max()),
    }


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--loss-pages", type=int, default=100_000, help="0 leaves the loss out")
    parser.add_argument("--ticks", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    picks = max(args.pages // 1000, 1)
    greedy = greedy_world(args.pages, args.seed, per_page=picks / args.pages, case="settled")
    clock = clock_world(args.pages, args.seed, per_page=picks / args.pages)
    ncis = ncis_world(args.pages, args.seed, per_page=picks / args.pages)
    costs = [
        cost("Greedy", greedy, greedy.fetched_at, picks=picks, ticks=args.ticks),
        cost("clock", clock, clock.pages.fetched_at, picks=picks, ticks=args.ticks),
        cost("Greedy-NCIS", ncis, ncis.prices.fetched_at, picks=picks, ticks=args.ticks),
    ]
    seeds = range(args.seed, args.seed + args.seeds)
    size = {"picks": max(args.loss_pages // 1000, 1), "ticks": args.ticks}
    losses = [loss(case, args.loss_pages, **size, seeds=seeds) for case in CASES if args.loss_pages]
    if args.json:
        show([*costs, *losses], as_json=True)
        return
    show(costs, as_json=False)
    if losses:
        print()
        show(losses, as_json=False)


if __name__ == "__main__":
    main()
