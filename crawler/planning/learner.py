"""Feeds what the fetches taught to the policies, and keeps the policies' state over restarts."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.planning.hints import Hints
from crawler.planning.packing import pack, unpack
from crawler.planning.rhythms import Rhythms
from crawler.planning.sources import Sources
from crawler.planning.table import PageTable
from policies.estimation.prospects import Prospects, first_yield
from policies.estimation.site_signals import PRIOR_PRECISION, SiteSignals
from policies.values.clock import Pool, clock_from_counts
from storage.learning import LESSON_COLUMNS, UNKNOWN, Learned, Lesson
from storage.rows import Batch, PolicyRow

Floats = NDArray[np.float64]

NAME = "planner"
VERSION = (
    2  # raise it when the state's meaning changes: the next start then learns anew from history
)
_SIGNALS = ("signalled", "confirmed", "expected", "changes", "announced", "brought", "gained")
_PROSPECTS = ("pattern_yield", "pattern_fetches", "site_yield", "site_fetches")


class Learner:
    """The planner's books: rhythms of pages, sources, prospects of new pages, quality of signals."""

    def __init__(
        self,
        table: PageTable,
        *,
        rhythms: Rhythms,
        sources: Sources,
        hints: Hints,
        worth_new: float,
        uses_signals: bool,
    ) -> None:
        self._table = table
        self._worth_new = worth_new
        self._uses_signals = uses_signals
        self.rhythms = rhythms
        self.sources = sources
        self.hints = hints
        self.prospects = Prospects.start()
        self.owed: dict[int, float] = {}  # fetches that each site has saved up
        self.strategy_weights: Floats = np.zeros(0)  # of a portfolio, as logarithms
        self.level = 0.0
        self.fetch_id = 0

    def learn(self, lessons: NDArray[Any]) -> Batch:
        """Learns from one tick's fetches; returns what is to be stored."""
        batch = Batch()
        for lessons_once in _each_page_once(lessons):
            self._learn_prospects(lessons_once)
            self._learn_rhythms(lessons_once, batch)
            self._learn_sources(lessons_once, batch)
            self._table.tried[lessons_once["page_id"]] = True
        if len(lessons):
            self.fetch_id = int(lessons["fetch_id"].max())
        return batch

    def state(self, *, tick_id: int) -> PolicyRow:
        """All that is shared, as of the choice for this tick.  Stored in one batch with what `learn` gave."""
        return PolicyRow(NAME, VERSION, tick_id, self.fetch_id, self._packed())

    def _learn_prospects(self, lessons: NDArray[Any]) -> None:
        rows = lessons["page_id"]
        first = ~self._table.tried[rows]
        found = first_yield(
            is_offer=(lessons["is_offer"] & lessons["believed"])[first],
            discovered=lessons["discovered"][first],
        )
        self.prospects = self.prospects.observe(
            pattern=self._table.pattern[rows[first]].astype(np.int64),
            site=self._table.site[rows[first]].astype(np.int64),
            yielded=found,
        )

    def _learn_rhythms(self, lessons: NDArray[Any], batch: Batch) -> None:
        offers = lessons[lessons["believed"] & lessons["is_offer"]]
        known = self.rhythms.knows(offers["page_id"])
        new, again = offers[~known], offers[known & (offers["changed"] != UNKNOWN)]
        if len(again):
            rows, at, changed = again["page_id"], again["at"], again["changed"] == 1
            pages, clock = self.rhythms.pages(rows), self.rhythms.clock
            anyway = np.maximum(clock.value(pages, at), self.level)
            self.hints.observe(
                rows,
                waiting=again["signals"],
                hazard=clock.hazard(pages, at),
                changed=changed,
                gained=changed / clock.rates(pages) - anyway,
            )
            batch.rhythms += self.rhythms.observe(rows, at, changed, again["price_micros"])
        if len(new):
            self.sources.forget(new["page_id"])
            batch.rhythms += self.rhythms.born(new["page_id"], new["at"], new["price_micros"])

    def _learn_sources(self, lessons: NDArray[Any], batch: Batch) -> None:
        fetched = lessons[lessons["believed"] & ~lessons["is_offer"]]
        if len(fetched) == 0:
            return
        rows = fetched["page_id"]
        self.rhythms.forget(rows)
        self.sources.add(rows, fetched["source_kind"])
        clock = self.rhythms.clock
        seconds = self.hints.bring(
            rows,
            source_kind=fetched["source_kind"],
            count=fetched["hinted"],
            guess=max(0.0, PRIOR_PRECISION * clock.watched / clock.found - self.level),
        )
        # A strategy that does not heed signals must not pay for them.
        found = fetched["discovered"] + self._uses_signals * seconds / self._worth_new
        now = float(fetched["at"].max())
        self.hints.hear(rows, fetched["source_kind"], now)
        batch.sources += self.sources.observe(rows, now=now, discoveries=found)

    # -- over restarts -----------------------------------------------------------------------------

    def restore(self, learned: Learned) -> bool:
        """Takes up the stored state.  False: there is none of this version, so learn from history."""
        row = learned.policies.get(NAME)
        if row is None or row.version != VERSION:
            return False
        self._unpack(row.state)
        self.fetch_id = row.fetch_id
        # A page that turned from an offer into a source, or back, has a row as either: the newer counts.
        looked = {row.page_id: row.fetched_at for row in learned.sources}
        seen = dict(
            zip(*(learned.rhythms[c].tolist() for c in ("page_id", "fetched_at")), strict=True)
        )
        self.sources.restore(
            [row for row in learned.sources if row.fetched_at > seen.get(row.page_id, -np.inf)]
        )
        for source in learned.sources:
            self.hints.hear(np.array([source.page_id]), np.array([source.kind]), source.fetched_at)
        turned = [row for row, at in looked.items() if at > seen.get(row, np.inf)]
        self.rhythms.restore(learned.rhythms[~np.isin(learned.rhythms["page_id"], turned)])
        return True

    def start_anew(self) -> None:
        """Nothing is known: the pages' first fetches are still to be learned from."""
        self._table.tried[:] = False

    def _packed(self) -> bytes:
        clock, pooled, quality = self.rhythms.clock, self.sources.pooled, self.hints.quality
        arrays: dict[str, Any] = {
            "level": self.level,
            "owed_sites": np.array(list(self.owed), np.float64),
            "owed": np.array(list(self.owed.values())),
            "strategy_weights": self.strategy_weights,
            "clock_found": clock.found,
            "clock_watched": clock.watched,
            "clock_changes": clock.changes,
            "clock_exposure": clock.exposure,
            "profile_found": pooled.profile_found,
            "profile_expected": pooled.profile_expected,
            "profile_at": pooled.profile_at,
        }
        for number, pool in enumerate(clock.pools):
            arrays[f"pool{number}_found"] = pool.found
            arrays[f"pool{number}_watched"] = pool.watched
        for name in _SIGNALS:
            arrays[f"signals_{name}"] = getattr(quality, name)
        for name in _PROSPECTS:
            arrays[name] = getattr(self.prospects, name)
        return pack(arrays)

    def _unpack(self, state: bytes) -> None:
        arrays = unpack(state)
        self.level = float(arrays["level"])
        sites = arrays["owed_sites"].astype(np.int64).tolist()
        self.owed = dict(zip(sites, arrays["owed"].tolist(), strict=True))
        self.strategy_weights = arrays["strategy_weights"]
        pools = len(self.rhythms.clock.pools)
        self.rhythms.clock = clock_from_counts(
            found=float(arrays["clock_found"]),
            watched=float(arrays["clock_watched"]),
            pools=tuple(
                Pool(arrays[f"pool{number}_found"], arrays[f"pool{number}_watched"])
                for number in range(pools)
            ),
            changes=arrays["clock_changes"],
            exposure=arrays["clock_exposure"],
        )
        self.sources.pooled = replace(
            self.sources.pooled,
            profile_found=arrays["profile_found"],
            profile_expected=arrays["profile_expected"],
            profile_at=float(arrays["profile_at"]),
        )
        self.hints.quality = SiteSignals(
            signalled=arrays["signals_signalled"],
            confirmed=arrays["signals_confirmed"],
            expected=arrays["signals_expected"],
            changes=arrays["signals_changes"],
            announced=arrays["signals_announced"],
            brought=arrays["signals_brought"],
            gained=arrays["signals_gained"],
        )
        self.prospects = Prospects(*(arrays[name] for name in _PROSPECTS))


def lesson_array(rows: list[Lesson]) -> NDArray[Any]:
    return np.array(rows, LESSON_COLUMNS)


def _each_page_once(lessons: NDArray[Any]) -> list[NDArray[Any]]:
    """The lessons in order, cut so that no part has a page twice."""
    parts = []
    while len(lessons):
        _, first = np.unique(lessons["page_id"], return_index=True)
        first.sort()
        parts.append(lessons[first])
        lessons = np.delete(lessons, first)
    return parts
