"""Turns the page table into a tick's choice, within what budget, hosts and sites can take."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.fetching.politeness import HostGate
from crawler.planning.admission import Hosts
from crawler.planning.budget import UNLIMITED, Budget
from crawler.planning.plan import Purpose
from crawler.planning.table import PageTable
from policies.selection.new_first import choose_new_first

STRATEGY = "new_first"
_MOST_PICKS = 5_000  # a tick's picks are loaded whole; more would only be memory


@dataclass(frozen=True, slots=True)
class Choice:
    """A page chosen, before its row is loaded."""

    page_id: int
    purpose: Purpose
    reason: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What a tick fetches, and when there may be more to choose from if that is nothing."""

    budget: int | None
    chosen: tuple[Choice, ...]
    waiting: int
    next_at: float


class Planner:
    """New pages first, then the longest unfetched: the order policy is `policies.selection.new_first`."""

    def __init__(
        self,
        table: PageTable,
        hosts: Hosts,
        gate: HostGate,
        budget: Budget,
        *,
        tick: float,
        per_host: int,
        site_ids: list[int],
    ) -> None:
        self._table = table
        self._hosts = hosts
        self._gate = gate
        self._budget = budget
        self._tick = tick
        self._per_host = per_host
        self._site_ids = site_ids

    def choose(self, now: float, *, new_only: bool, most: int | None) -> Choices:
        """`new_only`: just pages never fetched.  `most`: a limit of the run's own."""
        budget = self._budget.plannable(now)
        table = self._table
        plannable = self._plannable(new_only=new_only)
        due = plannable[table.not_before[plannable] <= now]
        chosen = due[
            choose_new_first(
                fetched_at=table.fetched_at[due],
                depth=table.depth[due],
                host=table.host[due],
                site=table.site[due],
                host_room=self._host_room(now),
                site_room=self._site_room(now),
                budget=min(budget, _MOST_PICKS if most is None else min(most, _MOST_PICKS)),
            )
        ]
        return Choices(
            budget=None if budget >= UNLIMITED else budget,
            chosen=tuple(self._explain(int(page_id), now) for page_id in chosen),
            waiting=len(plannable) - len(chosen),
            next_at=self._next_at(now, budget, plannable),
        )

    def _plannable(self, *, new_only: bool) -> NDArray[np.intp]:
        table, size = self._table, self._table.size
        mask = (table.host[:size] >= 0) & ~table.busy[:size]
        mask &= np.isin(table.site[:size], self._site_ids)
        if new_only:
            mask &= table.fetched_at[:size] == 0.0
        return np.flatnonzero(mask)

    def _host_room(self, now: float) -> NDArray[np.int64]:
        """How many fetches each host can take in a tick, given its delay and when it is ready."""
        room = np.zeros(len(self._hosts) + 1, np.int64)
        for host_id, name in self._hosts.names().items():
            open_for = now + self._tick - max(now, self._gate.ready_at(name))
            if open_for <= 0.0:
                continue
            delay = self._gate.delay(name)
            room[host_id] = UNLIMITED if delay == 0.0 else int(open_for / delay) + self._per_host
        return room

    def _site_room(self, now: float) -> NDArray[np.int64]:
        room = np.zeros(max(self._site_ids, default=0) + 1, np.int64)
        for site_id in self._site_ids:
            room[site_id] = self._budget.site_plannable(site_id, now)
        return room

    def _next_at(self, now: float, budget: int, plannable: NDArray[np.intp]) -> float:
        """When there may be more to choose: a host opens, a page falls due, or the next tick begins."""
        next_tick = (now // self._tick + 1.0) * self._tick
        if budget <= 0:
            return next_tick
        hosts = np.unique(self._table.host[plannable])
        opens_at = [self._gate.ready_at(self._hosts.name_of(int(host))) for host in hosts]
        falls_due_at = self._table.not_before[plannable]
        later = falls_due_at[falls_due_at > now].min(initial=next_tick)
        return min((next_tick, float(later), *(at for at in opens_at if at > now)))

    def _explain(self, page_id: int, now: float) -> Choice:
        fetched_at = float(self._table.fetched_at[page_id])
        if fetched_at == 0.0:
            return Choice(page_id, Purpose.FIRST, "never fetched; new pages come first")
        return Choice(
            page_id,
            Purpose.REFRESH,
            f"unfetched for {now - fetched_at:.0f} s, the longest of those due",
        )
