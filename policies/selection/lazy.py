"""Lazy selection: each tick's best pages without valuing every page.

A page's value rises with time, so the moment at which it reaches the going price of a fetch (the
level) can be computed once, when the page is fetched, and kept in a calendar of due times.  A tick
values the pages that are due and takes the best of them; its cost follows the pages taken.

The level must be such that as many pages fall due as the budget can take.  Three things keep it there:

    steer     log level += gain * (due in this tick / budget - 1 + DRAIN * waiting / budget)
    refresh   a small share of due times is computed anew each tick, in turn, at the present level
    rebuild   when far off (start, backlog, another budget) every page is valued once, a window of
              up to 64 ticks ahead: level = the (window * budget)-th highest value then; those pages
              get turns at the pace of the budget, due ones by value, the rest by due time

The steering gain is half the share of pages fetched in a tick: due times answer a change of level
only as pages come up again, and a faster loop would swing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from policies.selection.calendar import Calendar, Floats, Rows
from policies.selection.caps import best_under_caps, rank_within
from policies.selection.floors import Floors
from policies.selection.hosts import HostQueues

Counts = npt.NDArray[np.int64]

POOL = 2  # pages valued in a tick, per fetch: those due, filled up with those due next
DRAIN = 0.05  # weight of waiting pages beside the flow of due ones
CROWD = 8  # pages waiting per fetch at which the level is plainly too low
WINDOW = 64  # ticks ahead that a rebuild settles, at most; and at most
WINDOW_SHARE = 1 / 16  # of the time in which the budget could fetch every page
SHARE = 0.5  # due times refreshed in a tick, per fetch
BUCKET_TICKS = 16
VALUED_AT_ONCE = 1 << 18  # rows per call in a rebuild: temporaries stay small beside the columns


class Priced(Protocol):
    """A value function over the caller's columns; rows index them, and value rises with time."""

    def value(self, rows: Rows, now: float) -> Floats:
        """What a fetch of each row is worth at `now`."""

    def due_at(self, rows: Rows, level: float | Floats) -> Floats:
        """When each row's value reaches its level; infinite if it never does."""


@dataclass(frozen=True, slots=True)
class Selected:
    """The rows taken in this tick with their values, best first; deadlines and floors lead."""

    rows: Rows
    value: Floats


class LazySelection:
    """Which pages to fetch now.  Holds 25 bytes a page and about 8 of calendar entries.

    Rows are the caller's page numbers.  Picked rows leave the calendar until `schedule` puts them
    back, so a page in flight is not picked twice.
    """

    def __init__(self, *, now: float, tick: float, max_interval: float = np.inf) -> None:
        self.level = np.nan
        self.tick, self.max_interval = tick, max_interval
        self.calendar = Calendar(now=now, width=BUCKET_TICKS * tick)
        self.host = np.zeros(0, np.int32)
        self.site = np.zeros(0, np.int32)
        self.latest_at: Floats = np.zeros(0)
        self._floors, self._hosts = Floors(), HostQueues()
        self._seen_at = now
        self._usual_budget, self._rebuilt_budget = np.nan, np.nan
        self._window, self._ticks_since_rebuild = 1, 0
        self._crowded = False
        self._cursor = 0

    # -- pages come, change and go ---------------------------------------------------------------

    def add(
        self,
        rows: Rows,
        priced: Priced,
        fetched_at: Floats,
        *,
        host: npt.NDArray[np.int32] | None = None,
        site: npt.NDArray[np.int32] | None = None,
    ) -> None:
        """New pages, known by a first fetch."""
        size = int(rows.max(initial=-1)) + 1
        self.calendar.grow(size)
        self.host, self.site = _grown(self.host, size), _grown(self.site, size)
        self.latest_at = _grown(self.latest_at, size)
        if host is not None:
            self.host[rows] = host
        if site is not None:
            self.site[rows] = site
        self.schedule(rows, priced, fetched_at)

    def schedule(self, rows: Rows, priced: Priced, fetched_at: Floats) -> None:
        """Pages that have just been fetched: queue them for the next time."""
        self.latest_at[rows] = fetched_at + self.max_interval
        if np.isnan(self.level):  # no tick yet: the first one rebuilds
            self.calendar.put(rows, np.full(len(rows), np.inf))
        else:
            self.calendar.put(rows, self._due(rows, priced))

    def update(self, rows: Rows, priced: Priced) -> None:
        """Pages whose value function has changed: new parameters, importance, or a signal."""
        queued = rows[~np.isnan(self.calendar.due_at[rows])]
        if len(queued) and not np.isnan(self.level):
            self.calendar.put(queued, self._due(queued, priced))

    def bring_forward(self, rows: Rows, by: Floats) -> None:
        """Pages whose signals move their due time by a known amount (b / alpha): no value is asked.

        A page that is never due stays so: no signal lifts its value above its supremum.
        """
        due_at = self.calendar.due_at[rows]
        finite = np.isfinite(due_at)
        self.calendar.put(rows[finite], due_at[finite] - by[finite])

    def remove(self, rows: Rows) -> None:
        self.calendar.drop(rows)

    # -- one tick -------------------------------------------------------------------------------

    def pick(
        self,
        priced: Priced,
        now: float,
        budget: int,
        *,
        host_cap: Counts | None = None,
        site_floor: Floats | None = None,
    ) -> Selected:
        """The best pages now, at most `budget`.

        host_cap: fetches each host can take in this tick, 0 for a host that is not ready.
        site_floor: fetches per tick that each site is owed whatever its pages are worth.
        """
        if budget <= 0 or len(self.calendar.due_at) == 0:
            return Selected(np.zeros(0, np.int64), np.zeros(0))
        if host_cap is not None:
            self._hosts.hear(host_cap)
        if self._unsettled(budget):
            self._rebuild(priced, now)
        rows, arrived, waiting = self._candidates(priced, now, budget, host_cap)
        if self._takeable(rows, host_cap) < budget and self._may_rebuild(host_cap):
            self._usual_budget = max(self._usual_budget, float(budget))
            self._rebuild(priced, now)
            rows, arrived, waiting = self._candidates(priced, now, budget, host_cap)
        value = priced.value(rows, now)
        lead = self.latest_at[rows] <= now
        if site_floor is not None:
            rows, value, lead = self._with_floors(priced, now, rows, value, lead, site_floor)
        chosen = best_under_caps(value, budget, lead=lead, host=self.host[rows], host_cap=host_cap)
        picked = Selected(rows[chosen], value[chosen])
        self.calendar.drop(picked.rows)
        self._floors.pay(self.site[picked.rows])
        self._hosts.paid(self.host[picked.rows], picked.value)
        left = np.delete(np.arange(len(rows)), chosen)
        self._steer(arrived, waiting, len(chosen), budget)
        self._refresh(priced, now, rows[left], value[left], budget)
        self._seen_at = now
        return picked

    def _due(self, rows: Rows, priced: Priced) -> Floats:
        return np.minimum(priced.due_at(rows, self.level), self.latest_at[rows])

    def _candidates(
        self, priced: Priced, now: float, budget: int, host_cap: Counts | None
    ) -> tuple[Rows, float, int]:
        """Rows worth valuing, how many fell due since the last tick, and how many can be taken."""
        near, due_at = self.calendar.near(now)
        if host_cap is None:
            waiting = int(np.count_nonzero(due_at <= now))
            arrived = float(waiting - np.count_nonzero(due_at <= self._seen_at))
        else:
            host = self.host[near]
            arrived = self._hosts.arrivals(host, due_at, self._seen_at, now)
            shown, crowd = self._hosts.sort_out(host, due_at, now, host_cap)
            self._sort_queues(priced, near[crowd], now)
            near, due_at = near[shown], due_at[shown]
            waiting = self._takeable(near[due_at <= now], host_cap)
        wanted = min(max(waiting, POOL * budget), CROWD * budget)
        if len(near) > wanted and host_cap is None:
            near = near[np.argpartition(due_at, wanted)[:wanted]]
        return near, arrived, waiting

    def _sort_queues(self, priced: Priced, rows: Rows, now: float) -> None:
        """Long queues leave the sight and come back in order of value, at the pace of their host."""
        if len(rows):
            host = self.host[rows]
            wait = self._hosts.turns(host, priced.value(rows, now + BUCKET_TICKS * self.tick))
            worthy_at = priced.due_at(rows, np.maximum(self._hosts.price(host), self.level))
            turn = now + (1 + wait) * self.tick
            self.calendar.put(rows, np.minimum(turn, np.maximum(worthy_at, now + self.tick)))

    def _may_rebuild(self, host_cap: Counts | None) -> bool:
        """At once if pages are short; if hosts may be what is short, not in every tick."""
        return host_cap is None or 4 * self._ticks_since_rebuild >= self._window

    def _takeable(self, rows: Rows, host_cap: Counts | None) -> int:
        if host_cap is None:
            return len(rows)
        return int(
            np.minimum(np.bincount(self.host[rows], minlength=len(host_cap)), host_cap).sum()
        )

    def _with_floors(
        self,
        priced: Priced,
        now: float,
        rows: Rows,
        value: Floats,
        lead: npt.NDArray[np.bool_],
        site_floor: Floats,
    ) -> tuple[Rows, Floats, npt.NDArray[np.bool_]]:
        """Let the best pages of sites that are owed fetches lead, fetching more from the reserve."""
        self._floors.accrue(site_floor)
        lead = lead | (rank_within(self.site[rows], value) < self._floors.due(self.site[rows]))
        drafted = self._floors.draft(
            self.site, self.calendar.due_at, rows[lead], lambda part: priced.value(part, now)
        )
        drafted = drafted[~np.isin(drafted, rows)]
        return (
            np.concatenate([rows, drafted]),
            np.concatenate([value, priced.value(drafted, now)]),
            np.concatenate([lead, np.ones(len(drafted), np.bool_)]),
        )

    def _steer(self, arrived: float, waiting: int, taken: int, budget: int) -> None:
        waiting = max(waiting - taken, 0)
        error = arrived / budget - 1 + DRAIN * waiting / budget
        gain = 0.5 * min(budget / len(self.calendar.due_at), 0.1)
        self.level *= float(np.exp(gain * np.clip(error, -1, 1)))
        self._crowded = waiting > CROWD * budget
        self._ticks_since_rebuild += 1

    def _unsettled(self, budget: int) -> bool:
        """Is the level plainly wrong?  Rebuilds are kept apart so that they cost little per tick."""
        if np.isnan(self.level):
            self._usual_budget = float(budget)
            return True
        self._usual_budget += (budget - self._usual_budget) / 8
        small, large = sorted((self._usual_budget, self._rebuilt_budget))
        wrong = self._crowded or large > 1.25 * small
        return wrong and self._ticks_since_rebuild >= self._window

    def _refresh(self, priced: Priced, now: float, left: Rows, value: Floats, budget: int) -> None:
        """Compute anew the due times that an old level made too early, and some others in turn."""
        early = left[(value < self.level) & (self.calendar.due_at[left] <= now)]
        if len(early):
            self.calendar.put(early, self._due(early, priced))
        # One batch for several ticks: dealing rows into buckets costs by the bucket, not by the row.
        if self._ticks_since_rebuild % BUCKET_TICKS == 0:
            known = len(self.calendar.due_at)
            share = min(int(SHARE * budget * BUCKET_TICKS) + 1, known)
            self.update((self._cursor + np.arange(share)) % known, priced)
            self._cursor = (self._cursor + share) % known

    # -- far from settled --------------------------------------------------------------------------

    def _rebuild(self, priced: Priced, now: float) -> None:
        """Value every page once and find the level that fills the coming window."""
        rows = np.flatnonzero(~np.isnan(self.calendar.due_at))
        if len(rows) == 0:
            return
        sweep = len(rows) / self._usual_budget
        self._window = int(np.clip(WINDOW_SHARE * sweep, 1, WINDOW))
        span = self._window * self.tick
        later = _in_parts(rows, lambda part: priced.value(part, now + span))
        take = int(np.clip(self._window * self._usual_budget, 1, len(rows)))
        bearable = self._hosts.bearable(self.host[rows], later, self._window)
        # Not 0, at which no page would ever fall due again.
        self.level = max(float(-np.partition(-bearable, take - 1)[take - 1]), 1e-300)
        due_at = _in_parts(rows, lambda part: self._due(part, priced))
        due_at = np.maximum(due_at, now)
        # By value as well: rounding can leave a page that just reaches the level without a due time.
        soon = np.flatnonzero((due_at <= now + span) | (later >= self.level))
        soon = soon[np.lexsort((-later[soon], due_at[soon]))]
        wait = self._hosts.turns(self.host[rows[soon]], -np.arange(len(soon), dtype=np.float64))
        order = np.argsort(wait, kind="stable")
        soon, wait = soon[order], wait[order]
        pace = np.arange(len(soon)) * (span / max(len(soon), take))
        turn = now + np.maximum(pace, wait * self.tick)
        due_at[soon] = np.where(due_at[soon] <= now, turn, np.minimum(due_at[soon], turn))
        self.calendar.put(rows, due_at)
        self._rebuilt_budget, self._ticks_since_rebuild = self._usual_budget, 0


def _grown(column: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    return np.append(column, np.zeros(max(size - len(column), 0), column.dtype))


def _in_parts(rows: Rows, value: Callable[[Rows], Floats]) -> Floats:
    cuts = np.arange(VALUED_AT_ONCE, len(rows), VALUED_AT_ONCE)
    return np.concatenate([value(part) for part in np.split(rows, cuts)])
