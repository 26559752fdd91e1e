"""How much can be fetched now: by the budget, by each site, by each host.  Pure: time is an argument."""

import numpy as np
from numpy.typing import NDArray

from crawler.fetching.politeness import HostGate
from crawler.planning.admission import Hosts
from crawler.planning.budget import UNLIMITED, Budget
from crawler.planning.table import PageTable

Counts = NDArray[np.int64]


class Room:
    """Limits of a tick that starts now."""

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
        self.site_ids = site_ids

    def budget(self, now: float) -> int:
        return self._budget.plannable(now)

    def by_host(self, now: float) -> Counts:
        """How many fetches each host can take in a tick, given its delay and when it is ready."""
        room = np.zeros(len(self._hosts) + 1, np.int64)
        for host_id, name in self._hosts.names().items():
            open_for = now + self._tick - max(now, self._gate.ready_at(name))
            if open_for <= 0.0:
                continue
            delay = self._gate.delay(name)
            room[host_id] = UNLIMITED if delay == 0.0 else int(open_for / delay) + self._per_host
        return room

    def by_site(self, now: float) -> Counts:
        room = np.zeros(max(self.site_ids, default=0) + 1, np.int64)
        for site_id in self.site_ids:
            room[site_id] = self._budget.site_plannable(site_id, now)
        return room

    def next_at(self, now: float, budget: int, plannable: NDArray[np.int64]) -> float:
        """When there may be more to choose: a host opens, a page falls due, or the next tick begins."""
        next_tick = (now // self._tick + 1.0) * self._tick
        if budget <= 0:
            return next_tick
        hosts = np.unique(self._table.host[plannable])
        opens_at = [self._gate.ready_at(self._hosts.name_of(int(host))) for host in hosts]
        falls_due_at = self._table.not_before[plannable]
        later = falls_due_at[falls_due_at > now].min(initial=next_tick)
        return min((next_tick, float(later), *(at for at in opens_at if at > now)))
