"""Each tick's fetch set: one price list for refreshes, discovery and first fetches, cut at the budget.

    first fetch   worth_new * prospect of the URL's pattern              policies.estimation.prospects
    refresh       value by the learned clock, signals and importance     policies.values.clock
    source        worth_new * rate / decay * g(decay * age)              policies.budget

The unit is seconds of one fresh offer.  A pick goes to the best page among hosts that can take it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.config.model import PlanningSettings
from crawler.planning.budget import UNLIMITED
from crawler.planning.learner import Learner
from crawler.planning.plan import Purpose
from crawler.planning.room import Room
from crawler.planning.strategies import RefreshStrategy, teach_strategy
from crawler.planning.table import PageTable
from policies.budget import SiteFloors, best_at_each_site, rank_within_site
from storage.rows import Batch

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_PICKS = 5_000  # a tick's picks are loaded whole; more would only be memory
EXACT = 20_000  # up to so many pages are all valued in every tick; of more, those due soonest
SPARE = 4  # pages valued for each that can be fetched
SECOND_TRY = 0.5  # a page whose first fetch failed is worth less than a new one


@dataclass(frozen=True, slots=True)
class Choice:
    """A page chosen, before its row is loaded."""

    page_id: int
    purpose: Purpose
    strategy: str
    probability: float
    value: float


@dataclass(frozen=True, slots=True)
class Choices:
    """What a tick fetches; `level` is the going price of a fetch, `next_at` when to look again."""

    budget: int | None
    chosen: tuple[Choice, ...]
    waiting: int
    next_at: float
    level: float


@dataclass(frozen=True, slots=True)
class PriceList:
    """Pages that could be fetched now, and what each fetch is worth.  Arrays of one length."""

    rows: Rows
    price: Floats
    purpose: NDArray[np.int8]  # index into PURPOSES


PURPOSES = (Purpose.FIRST, Purpose.REFRESH, Purpose.DISCOVER)
_FIRST, _REFRESH, _DISCOVER = range(3)


class Planner:
    """Puts the policies in charge.  It alone knows both the crawl's columns and the policies' arrays."""

    def __init__(
        self,
        settings: PlanningSettings,
        table: PageTable,
        learner: Learner,
        room: Room,
        *,
        strategy: RefreshStrategy | None,
        seed: int,
    ) -> None:
        self._settings = settings
        self.table = table
        self.learner = learner
        self._room = room
        self.strategy = strategy
        self._seed = seed
        self._due_at: Floats = np.zeros(0)
        self._due_known = 0

    def choose(self, now: float, *, tick_id: int, new_only: bool, most: int | None) -> Choices:
        """`new_only`: just pages never fetched.  `most`: a limit of the run's own."""
        rng = np.random.default_rng((self._seed, tick_id))
        plannable = self._plannable(new_only=new_only)
        due = plannable[self.table.not_before[plannable] <= now]
        budget = self._room.budget(now)
        wanted = min(budget, MOST_PICKS if most is None else min(most, MOST_PICKS))
        prices = self.price_list(due, now, wanted)
        taken = self._take(prices, now, wanted)
        level = float(prices.price[taken].min(initial=np.inf)) if len(taken) < len(due) else 0.0
        if np.isfinite(level) and len(taken):
            self.learner.level = level
        return Choices(
            budget=None if budget >= UNLIMITED else budget,
            chosen=self._choices(prices, taken, now, rng),
            waiting=len(plannable) - len(taken),
            next_at=self._room.next_at(now, budget, plannable),
            level=self.learner.level,
        )

    def learn(self, lessons: NDArray[Any]) -> Batch:
        """What the fetches since the last plan taught; returns what is to be stored of it."""
        batch = self.learner.learn(lessons)
        if self.strategy is not None:
            teach_strategy(self.strategy, lessons)
            self.learner.strategy_weights = self.strategy.state()
        fresh = lessons["page_id"][self.learner.rhythms.knows(lessons["page_id"])]
        self.reschedule(np.unique(fresh))
        return batch

    def weights(self) -> dict[str, float]:
        """How far each strategy is followed in choosing what to refresh."""
        return {"clock": 1.0} if self.strategy is None else self.strategy.weights()

    # -- what could be fetched, at what price --------------------------------------------------------

    def candidates(self, now: float, wanted: int) -> PriceList:
        """All that could be fetched in a tick that starts now, priced."""
        plannable = self._plannable(new_only=False)
        return self.price_list(plannable[self.table.not_before[plannable] <= now], now, wanted)

    def price_list(self, due: Rows, now: float, wanted: int) -> PriceList:
        table, learner = self.table, self.learner
        refreshable = learner.rhythms.knows(due)
        known_source = learner.sources.mask(due)
        new = due[~refreshable & ~known_source]
        refresh = self._soonest_due(due[refreshable], wanted)
        sources = learner.sources.page_ids
        sources = sources[np.isin(sources, due[known_source])]
        prospect = learner.prospects.of(
            pattern=table.pattern[new].astype(np.int64), site=table.site[new].astype(np.int64)
        )
        first_price = self._settings.worth_new * prospect * table.importance[new]
        first_price[table.tried[new]] *= SECOND_TRY
        parts = (
            (new, first_price),
            (refresh, learner.rhythms.value(refresh, now)),
            (sources, learner.sources.price(sources, now, worth=self._settings.worth_new)),
        )
        return PriceList(
            rows=np.concatenate([rows for rows, _ in parts]),
            price=np.concatenate([price for _, price in parts]),
            purpose=np.repeat(np.arange(3, dtype=np.int8), [len(rows) for rows, _ in parts]),
        )

    def _plannable(self, *, new_only: bool) -> Rows:
        table, size = self.table, self.table.size
        mask = (table.host[:size] >= 0) & ~table.busy[:size] & ~table.barred[:size]
        mask &= np.isin(table.site[:size], self._room.site_ids)
        if new_only:
            mask &= table.fetched_at[:size] == 0.0
        return np.flatnonzero(mask)

    def _soonest_due(self, rows: Rows, wanted: int) -> Rows:
        """All of a few pages; of many, those that reach the going price first, and all with a signal."""
        enough = max(SPARE * wanted, EXACT // 4)
        if len(rows) <= max(EXACT, enough):
            return rows
        self._reckon_due(rows)
        due_at = self._due_at[rows]
        due_at[self.table.hints[rows] != 0] = -np.inf
        return rows[np.argpartition(due_at, enough)[:enough]]

    def _reckon_due(self, rows: Rows) -> None:
        """Due times of pages that have none, and of a few others whose clock or level has moved on."""
        missing = self.table.size - len(self._due_at)
        if missing > 0:
            more = missing + len(self._due_at) // 4
            self._due_at = np.append(self._due_at, np.full(more, np.nan))
        unknown = rows[np.isnan(self._due_at[rows])]
        start = self._due_known % len(rows)
        turn = rows[start : start + 2_000]
        self._due_known += len(turn)
        self.reschedule(np.concatenate((unknown, turn)))

    def reschedule(self, rows: Rows) -> None:
        """After a fetch, or a change of level: when each page will be worth a fetch."""
        rows = rows[rows < len(self._due_at)]
        if len(rows):
            level = max(self.learner.level, 1e-300)
            self._due_at[rows] = self.learner.rhythms.due_at(rows, level)

    # -- the cut ---------------------------------------------------------------------------------------

    def _take(self, prices: PriceList, now: float, wanted: int) -> NDArray[np.int64]:
        """Places on the list that are fetched, dearest first."""
        host, site = self.table.host[prices.rows], self.table.site[prices.rows].astype(np.int64)
        floors = self._floors().grow(share=self._settings.site_floor, budget=wanted)
        leads = self._leads(prices, site, floors, now)
        order = np.lexsort((-prices.price, ~leads))
        order = order[prices.price[order] > 0.0]
        order = order[_place_within(host[order]) < self._room.by_host(now)[host[order]]]
        order = order[_place_within(site[order]) < self._room.by_site(now)[site[order]]]
        taken = order[:wanted]
        if len(taken):
            place = np.searchsorted(self._room.site_ids, site[taken])
            floors = floors.pay(np.bincount(place, minlength=len(floors.owed)))
            self.learner.owed = dict(zip(self._room.site_ids, floors.owed.tolist(), strict=True))
        return taken

    def _leads(
        self, prices: PriceList, site: NDArray[np.int64], floors: SiteFloors, now: float
    ) -> NDArray[np.bool_]:
        """What goes before all prices: what a site is owed, and pages left for too long."""
        floor = floors.floor()[np.searchsorted(self._room.site_ids, site)]
        owed = rank_within_site(prices.price, site) < floor
        fetched_at = self.table.fetched_at[prices.rows]
        return owed | ((fetched_at > 0.0) & (now - fetched_at >= self._settings.max_interval))

    def _floors(self) -> SiteFloors:
        owed = self.learner.owed
        return SiteFloors(np.array([owed.get(site, 0.0) for site in self._room.site_ids]))

    def _choices(
        self, prices: PriceList, taken: NDArray[np.int64], now: float, rng: np.random.Generator
    ) -> tuple[Choice, ...]:
        """The picks.  The cut says how many go to each purpose; strategy and sources say which."""
        first = taken[prices.purpose[taken] == _FIRST]
        refresh = taken[prices.purpose[taken] == _REFRESH]
        discover = taken[prices.purpose[taken] == _DISCOVER]
        chosen = [_choice(prices, place, "prospects", 1.0) for place in first.tolist()]
        chosen += self._refreshes(prices, refresh, now, rng)
        chosen += self._discoveries(prices, discover, now, rng)
        return tuple(chosen)

    def _refreshes(
        self, prices: PriceList, taken: NDArray[np.int64], now: float, rng: np.random.Generator
    ) -> list[Choice]:
        """The pages the strategy wants; one that its host cannot take gives way to the dearest that it can."""
        if self.strategy is None:
            return [_choice(prices, place, "clock", 1.0) for place in taken.tolist()]
        host = self.table.host[prices.rows]
        room = self._room.by_host(now)[host]
        listed = np.flatnonzero((prices.purpose == _REFRESH) & (room > 0))
        rows, value = prices.rows[listed], prices.price[listed]
        picked = self.strategy.choose(rows, len(taken), now, value, rng)
        wanted = listed[np.searchsorted(rows, picked.rows)]
        order = np.concatenate((wanted, taken[~np.isin(taken, wanted)]))
        fits = _place_within(host[order]) < room[order]
        chance = np.concatenate((picked.probability, np.ones(len(order) - len(wanted))))
        return [
            _choice(prices, place, picked.strategy, probability)
            for place, probability in list(
                zip(order[fits].tolist(), chance[fits].tolist(), strict=True)
            )[: len(wanted)]
        ]

    def _discoveries(
        self, prices: PriceList, taken: NDArray[np.int64], now: float, rng: np.random.Generator
    ) -> list[Choice]:
        """As many sources of each site as the cut took: those expected to show most now."""
        listed = np.flatnonzero(prices.purpose == _DISCOVER)
        if len(taken) == 0:
            return []
        score = self.learner.sources.drawn(prices.rows[listed], now, rng)
        site = self.table.site[prices.rows[listed]].astype(np.int64)
        best = best_at_each_site(taken - listed[0], site=site, score=score)
        return [_choice(prices, place, "pooled", 1.0) for place in listed[best].tolist()]


def _choice(prices: PriceList, place: int, strategy: str, probability: float) -> Choice:
    return Choice(
        page_id=int(prices.rows[place]),
        purpose=PURPOSES[prices.purpose[place]],
        strategy=strategy,
        probability=probability,
        value=float(prices.price[place]),
    )


def _place_within(group: NDArray[np.integer]) -> NDArray[np.int64]:
    """For each element, how many before it have the same group."""
    by_group = np.argsort(group, kind="stable")
    ordered = group[by_group]
    first = np.searchsorted(ordered, ordered)
    places = np.empty(len(group), np.int64)
    places[by_group] = np.arange(len(group)) - first
    return places
