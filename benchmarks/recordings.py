"""Every refresh rule on recorded prices: real changes, learning only from own fetches.

Freshness is the share of live offers whose stored price is the true one, before each tick's fetches,
after a warm-up.  New offers are fetched free, delistings are seen at once, and the budget is a share
of the live offers per tick (broken fetches are saved up).  No clicks: every offer counts the same.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

sys.path.insert(
    0, str(pathlib.Path(__file__).parent.parent)
)  # for `python benchmarks/recordings.py`

from benchmarks.common import Row, flags, mean_and_error, show
from benchmarks.recordings_data import PriceRecording, auction, grocery
from crawler.config.model import PlanningSettings
from crawler.planning.hints import Hints
from crawler.planning.learner import Learner
from crawler.planning.rhythms import Rhythms
from crawler.planning.sources import Sources
from crawler.planning.table import PageTable
from policies.refresh import nutch, oldest_first, stormcrawler, uniform
from policies.refresh.filling import draw, take_best
from policies.refresh.pages import PageColumns, Strategy, page_columns
from policies.values.clock import CLASSES, Clock, ClockPages, price_level
from policies.values.profile import BINS, HazardProfile
from storage.learning import LESSON_COLUMNS, UNKNOWN

DAY = 86_400.0
READERS = {"auction": auction, "grocery": grocery}
SHARES = {"auction": (0.01, 0.02, 0.05, 0.10), "grocery": (0.02, 0.05, 0.10, 0.20)}
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tick:
    """What can be known at a tick; `stale` is for the clairvoyant only."""

    now: float
    live: Ints  # offers, in random order so that ties fall at random
    stale: Bools  # of the live offers: the stored price is not the true one


class Rule(Protocol):
    def born(self, offers: Ints, now: float, price: Floats) -> None: ...
    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints: ...
    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None: ...


class StrategyRule:
    """A strategy of policies.refresh with the columns it may look at: age and, if kept, interval."""

    def __init__(self, recording: PriceRecording, strategy: Strategy) -> None:
        self.strategy = strategy
        self.tick = float(np.median(np.diff(recording.tick_at)))
        self.fetched_at = np.zeros(len(recording.traits))
        self.interval = np.zeros(len(recording.traits))

    def born(self, offers: Ints, now: float, price: Floats) -> None:
        self.fetched_at[offers] = now

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        elapsed = tick.now - self.fetched_at[tick.live]
        columns = page_columns(elapsed, interval=self.interval[tick.live], tick=self.tick)
        return tick.live[draw(self.strategy(columns, float(budget)), rng)]

    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None:
        self.fetched_at[offers] = now


NextInterval = Callable[..., Floats]


class IntervalRule(StrategyRule):
    """Intervals as Nutch or StormCrawler adapt them, from 24 ticks; all of the budget is spent.

    Spending what is left when nothing is due on what is due next keeps the comparison at equal
    fetches; it also lengthens intervals, which is why these rules fall behind at ample budgets.
    """

    def __init__(self, recording: PriceRecording, adapt: NextInterval, *, longest: float) -> None:
        super().__init__(recording, most_overdue)
        self.adapt, self.longest = adapt, longest * self.tick

    def born(self, offers: Ints, now: float, price: Floats) -> None:
        super().born(offers, now, price)
        self.interval[offers] = 24 * self.tick

    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None:
        super().learn(offers, now, changed, price)
        self.interval[offers] = self.adapt(
            self.interval[offers], changed, shortest=self.tick, longest=self.longest
        )


def most_overdue(pages: PageColumns, budget: float) -> Floats:
    return take_best(pages.elapsed - pages.interval, budget)


class ClockRule:
    """Greedy on the learned clock; with `flat`, on Poisson rates with the same pooled priors."""

    def __init__(self, recording: PriceRecording, *, flat: bool) -> None:
        self.flat = flat
        blank = np.zeros((len(recording.traits), 1), np.int32)
        traits = np.column_stack([recording.traits, blank])  # the last is the price level
        self.pages = ClockPages.born(np.zeros(len(traits)), traits)
        self.clock = Clock.start(first_guess=1 / (7 * 86400.0), traits=traits.shape[1])

    def born(self, offers: Ints, now: float, price: Floats) -> None:
        traits = self.pages.traits[offers]
        traits[:, -1] = price_level(price)
        self.pages.put(offers, ClockPages.born(np.full(len(offers), now), traits))

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        return _best(tick.live, self.clock.value(self.pages.take(tick.live), tick.now), budget)

    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None:
        self.clock, pages = self.clock.observe(self.pages.take(offers), now, changed)
        if self.flat:
            flat = HazardProfile.of(np.ones((CLASSES, BINS)))
            self.clock = replace(self.clock, profile=flat)
        pages.traits[:, -1] = price_level(price)
        self.pages.put(offers, pages)


class PlannerRule:
    """The refresh path of the crawl itself, with its default settings: crawler.planning's Learner and Rhythms.

    An offer is a page; the two things the shop tells it by (hardware and terms, category and brand) stand for
    its site and its URL pattern.
    """

    def __init__(self, recording: PriceRecording) -> None:
        settings, self.table = PlanningSettings(), PageTable()
        hints = Hints(self.table)
        self.learner = Learner(
            self.table,
            rhythms=Rhythms(self.table, hints, first_guess=settings.changes_per_day / DAY),
            sources=Sources(
                self.table,
                utc_offsets={},
                half_life=settings.half_life,
                expiry=settings.expiry,
            ),
            hints=hints,
            worth_new=settings.worth_new,
            uses_signals=True,
        )
        for number, traits in enumerate(recording.traits.tolist()):  # page ids start at 1
            site, pattern = (*traits, 0, 0)[:2]
            self.table.add(number, site=1 + site, host=1, depth=1, pattern=1 + pattern)

    def born(self, offers: Ints, now: float, price: Floats) -> None:
        self.learner.rhythms.forget(offers + 1)
        self._teach(offers, now, np.full(len(offers), UNKNOWN), price)

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        return _best(tick.live, self.learner.rhythms.value(tick.live + 1, tick.now), budget)

    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None:
        self._teach(offers, now, changed.astype(np.int64), price)

    def _teach(self, offers: Ints, now: float, changed: Ints, price: Floats) -> None:
        lessons = np.zeros(len(offers), LESSON_COLUMNS)
        lessons["page_id"], lessons["at"], lessons["changed"] = offers + 1, now, changed
        lessons["believed"] = lessons["is_offer"] = True
        lessons["price_micros"] = np.maximum(np.round(price * 1e6), 1)
        self.learner.learn(lessons)


class Clairvoyant:
    """Knows which copies are stale, and takes those that will then stay true the longest."""

    def __init__(self, recording: PriceRecording) -> None:
        self.tick_at, self.holds = recording.tick_at, ticks_until_change(recording.price)

    def born(self, offers: Ints, now: float, price: Floats) -> None: ...

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        stale = tick.live[tick.stale]
        holds = self.holds[np.searchsorted(self.tick_at, tick.now)]
        return _best(stale, holds[stale].astype(np.float64), budget)

    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None: ...


def _best(offers: Ints, score: Floats, budget: int) -> Ints:
    return offers[np.argsort(-score, kind="stable")[:budget]]


# Longest intervals are in ticks: an hourly crawl's year, Nutch's default, and two weeks.
RULES: dict[str, Callable[[PriceRecording], Rule]] = {
    "uniform at random": lambda r: StrategyRule(r, uniform.rates),
    "oldest first": lambda r: StrategyRule(r, oldest_first.rates),
    "Nutch interval": lambda r: IntervalRule(r, nutch.next_interval, longest=365 * 24),
    "StormCrawler interval": lambda r: IntervalRule(r, stormcrawler.next_interval, longest=14 * 24),
    "Greedy, Poisson rates": lambda r: ClockRule(r, flat=True),
    "clock": lambda r: ClockRule(r, flat=False),
    "planner": PlannerRule,
    "clairvoyant": Clairvoyant,
}


def freshness(recording: PriceRecording, rule: Rule, *, share: float, seed: int) -> float:
    """Run one rule over the recording; mean freshness over the ticks after the warm-up."""
    rng = np.random.default_rng(seed)
    was_live = np.zeros(recording.price.shape[1], np.bool_)
    stored = np.zeros(recording.price.shape[1])
    scores: list[float] = []
    saved = 0.0
    for now, price in zip(recording.tick_at.tolist(), recording.price, strict=True):
        is_live = ~np.isnan(price)
        born = np.flatnonzero(is_live & ~was_live)
        stored[born], was_live = price[born], is_live
        rule.born(born, now, stored[born])
        live = rng.permutation(np.flatnonzero(is_live))
        stale = stored[live] != price[live]
        scores.append(1.0 - float(stale.mean()))
        saved += share * len(live)
        budget = int(saved)
        saved -= budget
        picked = rule.pick(Tick(now, live, stale), budget, rng)
        changed = stored[picked] != price[picked]
        stored[picked] = price[picked]
        rule.learn(picked, now, changed, stored[picked])
    return float(np.mean(scores[recording.warm_up :]))


def ticks_until_change(price: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """For each tick and offer, how many ticks the price still holds (until gone, or the end)."""
    held = np.ones(price.shape, np.int32)
    for i in range(len(price) - 2, -1, -1):
        held[i] += np.where(price[i] == price[i + 1], held[i + 1], 0)
    return held


def table(recording: PriceRecording, *, seed: int, seeds: int) -> list[Row]:
    rows: list[Row] = []
    for name, rule in RULES.items():
        row: Row = {"rule": name, "recording": recording.name}
        for share in SHARES[recording.name]:
            runs = [
                freshness(recording, rule(recording), share=share, seed=seed + i)
                for i in range(seeds)
            ]
            mean, error = mean_and_error(np.array(runs))
            row |= {f"{share:.0%}": round(mean, 4), f"{share:.0%} +-": round(error, 4)}
        rows.append(row)
    return rows


def share_for(recording: PriceRecording, rule: str, wanted: float, *, seed: int) -> float:
    """The smallest budget, in thousandths of the live offers, at which `rule` is as fresh as wanted."""
    low, high = 1, 100
    while low < high:
        middle = (low + high) // 2
        score = freshness(recording, RULES[rule](recording), share=middle / 1000, seed=seed)
        low, high = (low, middle) if score >= wanted else (middle + 1, high)
    return low / 1000


def saving(recording: PriceRecording, *, seed: int) -> str:
    rule = RULES["oldest first"](recording)
    plain = freshness(recording, rule, share=0.05, seed=seed)
    share = share_for(recording, "planner", plain, seed=seed)
    return (
        f"{recording.name}: oldest first reaches {plain:.4f} with 5 %, the planner with {share:.1%}"
    )


def found(folder: str) -> list[PriceRecording]:
    """The recordings in the folder; other shops may come as one of the two."""
    present = [
        reader
        for name, reader in READERS.items()
        if folder and list(pathlib.Path(folder, "prices").glob(f"{name}_*.parquet"))
    ]
    return [reader(folder) for reader in present or READERS.values()]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = flags(__doc__, reads_data=True)
    parser.add_argument("--seeds", type=int, default=5, help="independent runs per cell")
    parser.add_argument("--saving", action="store_true", help="fetches needed instead of freshness")
    args = parser.parse_args(arguments)
    if args.saving:
        print("\n".join(saving(r, seed=args.seed) for r in found(args.data)))
        return
    tables = [table(r, seed=args.seed, seeds=args.seeds) for r in found(args.data)]
    if args.json:
        show([row for rows in tables for row in rows], as_json=True)
        return
    for rows in tables:
        show(rows, as_json=False)
        print()


if __name__ == "__main__":
    main()
