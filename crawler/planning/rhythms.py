"""The pages that are kept fresh: how often each changes, and what fetching it is worth now."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from crawler.planning.hints import Hints
from crawler.planning.table import PageTable
from policies.estimation.window import keep_last_changes
from policies.values.clock import PAGE_EVENTS, Clock, ClockPages, price_level
from storage.rows import RhythmRow

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

_TRAITS = 3  # site, URL pattern, price level
_REMEMBERED_CHANGES = 10


class Rhythms:
    """Greedy on a learned clock over columns indexed by page id."""

    def __init__(self, table: PageTable, hints: Hints, *, first_guess: float) -> None:
        self._table = table
        self._hints = hints
        self.clock = Clock.start(first_guess=first_guess, traits=_TRAITS)
        self._columns = _blank(1024)
        self.known = np.zeros(1024, np.bool_)

    def restore(self, rhythms: NDArray[Any]) -> None:
        """Takes up the rows of an earlier run."""
        rows = rhythms["page_id"]
        self._grow(rows)
        pages = ClockPages(
            first_seen_at=rhythms["first_seen_at"].copy(),
            changed_at=rhythms["changed_at"].copy(),
            fetched_at=rhythms["fetched_at"].copy(),
            changes=rhythms["changes"].copy(),
            traits=self._traits(rows, rhythms["price_level"]),
        )
        self._columns.put(rows, pages)
        self.known[rows] = True

    def pages(self, rows: Rows) -> ClockPages:
        return self._columns.take(rows)

    def knows(self, rows: Rows) -> NDArray[np.bool_]:
        self._grow(rows)
        return self.known[rows]

    def all_rows(self) -> Rows:
        return np.flatnonzero(self.known)

    def rates(self, rows: Rows) -> Floats:
        return self.clock.rates(self.pages(rows))

    def rate_interval(self, rows: Rows, share: float = 0.9) -> tuple[Floats, Floats]:
        """Between which rates each page's own lies with this probability.

        rate ~ Gamma(k + n, k/m + watched): n changes found in the time watched, k prior changes at the rate m
        of such pages."""
        pages = self.pages(rows)
        shape = PAGE_EVENTS + pages.changes
        watched = pages.fetched_at - pages.first_seen_at
        scale = 1.0 / (PAGE_EVENTS / self.clock.prior_rates(pages) + watched)
        tail = (1.0 - share) / 2.0
        return gammaincinv(shape, tail) * scale, gammaincinv(shape, 1.0 - tail) * scale

    def hazard(self, rows: Rows, now: float) -> Floats:
        """Nats of freshness lost since each page's last fetch, signals included."""
        pages = self.pages(rows)
        return self.clock.hazard(pages, now) + self._shift(rows, pages, now)

    def fresh_probability(self, rows: Rows, now: float) -> Floats:
        """That what the last fetch showed still holds."""
        return np.asarray(np.exp(-self.hazard(rows, now)))

    def stale_probability(self, rows: Rows, now: float) -> Floats:
        return np.asarray(-np.expm1(-self.hazard(rows, now)))

    def value(self, rows: Rows, now: float) -> Floats:
        """Importance-weighted seconds of freshness that a fetch now is worth."""
        pages = self.pages(rows)
        shift = self._shift(rows, pages, now)
        return self.clock.value(pages, now, self._importance(rows), shift)

    def due_at(self, rows: Rows, level: float) -> Floats:
        """When each page's value reaches `level`, as things stand."""
        pages = self.pages(rows)
        nats = self._hints.nats(rows)
        return self.clock.due_at(pages, level, self._importance(rows), nats)

    def born(self, rows: Rows, at: Floats, price_micros: NDArray[np.int64]) -> list[RhythmRow]:
        """Pages whose first fetch showed an offer."""
        self._grow(rows)
        traits = self._traits(rows, price_level(price_micros / 1e6))
        self._columns.put(rows, ClockPages.born(at, traits))
        self.known[rows] = True
        return self._stored(rows)

    def forget(self, rows: Rows) -> None:
        """Pages that show no offer any more."""
        self._grow(rows)
        self.known[rows] = False

    def observe(
        self,
        rows: Rows,
        at: Floats,
        changed: NDArray[np.bool_],
        price_micros: NDArray[np.int64],
    ) -> list[RhythmRow]:
        """Known pages fetched again; each at most once in a batch."""
        self.clock, learned = self.clock.observe(self.pages(rows), at, changed)
        learned = keep_last_changes(learned, _REMEMBERED_CHANGES)
        priced = price_micros > 0
        learned.traits[priced, 2] = price_level(price_micros[priced] / 1e6)
        self._columns.put(rows, learned)
        return self._stored(rows)

    def _shift(self, rows: Rows, pages: ClockPages, now: float) -> Floats:
        """What signals add to the hazard, less what the site's silence takes off until it was last heard."""
        heard_at = np.clip(self._hints.heard_at(rows), pages.fetched_at, now)
        silent = self.clock.hazard(pages, heard_at)
        return self._hints.nats(rows) - self._hints.told(rows) * silent

    def _importance(self, rows: Rows) -> Floats:
        return self._table.importance[rows].astype(np.float64)

    def _traits(self, rows: Rows, level: NDArray[np.int32]) -> NDArray[np.int32]:
        table = self._table
        return np.stack((table.site[rows], table.pattern[rows], level), axis=1).astype(np.int32)

    def _stored(self, rows: Rows) -> list[RhythmRow]:
        pages = self.pages(rows)
        columns = (
            rows,
            pages.first_seen_at,
            pages.changed_at,
            pages.fetched_at,
            pages.changes,
            pages.traits[:, 2],
        )
        return [RhythmRow(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]

    def _grow(self, rows: Rows) -> None:
        size = int(rows.max(initial=-1)) + 1
        if size <= len(self.known):
            return
        old = np.arange(len(self.known))
        columns, known = _blank(size * 5 // 4), np.zeros(size * 5 // 4, np.bool_)
        columns.put(old, self._columns)
        known[old] = self.known
        self._columns, self.known = columns, known


def _blank(size: int) -> ClockPages:
    times = (np.zeros(size), np.zeros(size), np.zeros(size))
    return ClockPages(*times, np.zeros(size, np.int32), np.zeros((size, _TRAITS), np.int32))
