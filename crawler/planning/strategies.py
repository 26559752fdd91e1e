"""Which of the pages kept fresh are refreshed in a tick: one strategy, or a portfolio of several.

The price list of the planner says how many fetches go to refreshing; a strategy says which pages get them.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crawler.config.model import PlanningSettings
from crawler.planning.rhythms import Rhythms
from crawler.planning.table import PageTable
from policies.portfolio.hedge_mix import HedgeMix, MixedPicks
from policies.refresh import (
    change_weighted,
    fixed_interval,
    greedy,
    lambda_crawl,
    nutch,
    oldest_first,
    stormcrawler,
    uniform,
)
from policies.refresh.filling import draw, take_best
from policies.refresh.pages import PageColumns, Strategy, page_columns
from storage.learning import UNKNOWN

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


def _fixed_interval(pages: PageColumns, budget: float) -> Floats:
    """The interval column holds the one interval for all."""
    return fixed_interval.rates(pages, budget, interval=float(pages.interval.max(initial=0.0)))


_RULES: dict[str, Strategy] = {
    "uniform": uniform.rates,
    "oldest_first": oldest_first.rates,
    "change_weighted": change_weighted.rates,
    "fixed_interval": _fixed_interval,
    "greedy": greedy.rates,
    "nutch": nutch.rates,
    "stormcrawler": stormcrawler.rates,
    "lambda_crawl": lambda_crawl.rates,
    "lambda_naive": lambda_crawl.rates,
}
ADAPTIVE = {"nutch": nutch.next_interval, "stormcrawler": stormcrawler.next_interval}
_LEARNING_RATE = 0.2


@dataclass(frozen=True, slots=True)
class Refreshes:
    """Pages to refresh, the chance that each had, and the name of who chose it."""

    rows: Rows
    probability: Floats
    strategy: str


class RefreshStrategy(Protocol):
    """Chooses `count` of the due pages; learns from what came of it."""

    def choose(
        self, rows: Rows, count: int, now: float, value: Floats, rng: np.random.Generator
    ) -> Refreshes: ...

    def learn(self, rows: Rows, at: Floats, changed: NDArray[np.bool_]) -> None: ...

    def weights(self) -> dict[str, float]: ...

    def state(self) -> Floats:
        """What is stored of it with the tick; interval rules learn theirs anew from history."""
        ...


class OneRule:
    """A single rule of policies.refresh over the columns it may look at."""

    def __init__(
        self, name: str, settings: PlanningSettings, table: PageTable, rhythms: Rhythms
    ) -> None:
        self.name = name
        self._rates = _RULES[name]
        self._next_interval = ADAPTIVE.get(name)
        self._settings = settings
        self._table = table
        self._rhythms = rhythms
        self._interval: Floats = np.zeros(0)

    def rates(self, rows: Rows, count: float, now: float) -> Floats:
        return self._rates(self._columns(rows, now), count)

    def choose(
        self, rows: Rows, count: int, now: float, value: Floats, rng: np.random.Generator
    ) -> Refreshes:
        rates = self.rates(rows, min(count, len(rows)), now)
        picked = draw(rates, rng)
        return Refreshes(rows[picked], rates[picked], self.name)

    def learn(self, rows: Rows, at: Floats, changed: NDArray[np.bool_]) -> None:
        if self._next_interval is not None:
            self._grow(rows)
            self._interval[rows] = self._next_interval(
                self._interval[rows],
                changed,
                shortest=self._settings.interval / 24.0,
                longest=self._settings.max_interval,
            )

    def weights(self) -> dict[str, float]:
        return {self.name: 1.0}

    def state(self) -> Floats:
        return np.zeros(0)

    def _columns(self, rows: Rows, now: float) -> PageColumns:
        pages = self._rhythms.pages(rows)
        self._grow(rows)
        rate = self._rhythms.rates(rows)
        if self.name == "lambda_naive":
            watched = np.maximum(pages.fetched_at - pages.first_seen_at, 1.0)
            rate = pages.changes / watched
        return page_columns(
            now - pages.fetched_at,
            changes=pages.changes,
            change_rate=rate,
            importance=self._table.importance[rows],
            interval=self._interval[rows],
            tick=1.0,
        )

    def _grow(self, rows: Rows) -> None:
        missing = int(rows.max(initial=-1)) + 1 - len(self._interval)
        if missing > 0:
            fresh = np.full(missing + len(self._interval) // 4, float(self._settings.interval))
            self._interval = np.append(self._interval, fresh)


class Portfolio:
    """A page-level mix of strategies, weighted by what their picks found."""

    def __init__(self, settings: PlanningSettings, table: PageTable, rhythms: Rhythms) -> None:
        self._names = settings.arms
        self._rules = {
            name: OneRule(name, settings, table, rhythms)
            for name in settings.arms
            if name != "clock"
        }
        self._table = table
        self.mix = HedgeMix.start(
            len(settings.arms), learning_rate=_LEARNING_RATE, exploration=settings.exploration
        )
        self._open: dict[int, tuple[MixedPicks, int]] = {}

    def choose(
        self, rows: Rows, count: int, now: float, value: Floats, rng: np.random.Generator
    ) -> Refreshes:
        budget = float(min(count, len(rows)))
        proposals = np.stack(
            [
                take_best(value, budget)
                if name == "clock"
                else self._rules[name].rates(rows, budget, now)
                for name in self._names
            ]
        )
        picks = self.mix.pick(proposals, self._table.importance[rows].astype(np.float64), rng)
        for place, page in enumerate(rows[picks.pages].tolist()):
            self._open[page] = (picks, place)
        return Refreshes(rows[picks.pages], picks.probability, "portfolio")

    def learn(self, rows: Rows, at: Floats, changed: NDArray[np.bool_]) -> None:
        """Rewards may come late or never; each page's is settled by its own fetch."""
        for row, found in zip(rows.tolist(), changed.tolist(), strict=True):
            picks, place = self._open.pop(row, (None, 0))
            if picks is not None and found:
                weight = float(self._table.importance[row])
                self.mix = self.mix.learn(picks.only(np.array([place])), np.array([weight]))

    def state(self) -> Floats:
        return self.mix.log_weights

    def restore(self, log_weights: Floats) -> None:
        if len(log_weights) == len(self._names):  # else: other arms than before start from scratch
            self.mix = replace(self.mix, log_weights=log_weights)

    def weights(self) -> dict[str, float]:
        return dict(zip(self._names, self.mix.weights().tolist(), strict=True))


def teach_strategy(strategy: RefreshStrategy, lessons: NDArray[Any]) -> None:
    """What the fetches of pages kept fresh found."""
    told = lessons[lessons["believed"] & lessons["is_offer"] & (lessons["changed"] != UNKNOWN)]
    strategy.learn(told["page_id"], told["at"], told["changed"] == 1)


def strategy_of(
    settings: PlanningSettings, table: PageTable, rhythms: Rhythms
) -> RefreshStrategy | None:
    """The strategy that the settings name; None for the clock, whose choice is the price list itself."""
    if settings.strategy == "clock":
        return None
    if settings.strategy == "portfolio":
        return Portfolio(settings, table, rhythms)
    return OneRule(settings.strategy, settings, table, rhythms)
