"""Queues of hosts at their cap: who is in sight, and in which order the others come back.

A host that can take fewer fetches than it has pages worth the common level has a queue.  Its pages
in sight are valued in every tick and the best are taken; when the queue gets long it is sorted by
value once, and each page comes back at its turn, at the pace the host can take, or when its value
reaches what the host's fetches go for, if that is earlier.  So a busy host costs little, is never
idle while it has worthy pages, and takes no slot from others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from policies.selection.caps import rank_within

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Hosts = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]

QUEUE = 16  # due pages in sight per fetch that a host can take in a tick; more of them are sorted


class HostQueues:
    """What each host can usually take, shape (n_hosts,); hosts beyond have no cap."""

    def __init__(self) -> None:
        self._cap: Floats = np.zeros(0)  # broken for hosts that are ready now and then
        self._price: Floats = np.zeros(0)  # value that fetches of the host go for

    def hear(self, host_cap: Counts) -> None:
        """The caps of this tick."""
        new = len(host_cap) - len(self._cap)
        if new > 0:
            self._cap = np.append(self._cap, host_cap[-new:])
            self._price = np.append(self._price, np.zeros(new))
        self._cap += (host_cap - self._cap) / 32

    def sort_out(
        self, host: Hosts, due_at: Floats, now: float, host_cap: Counts
    ) -> tuple[Bools, Bools]:
        """Which near pages are in sight, by due time, and which are in queues to be sorted."""
        rank = rank_within(host, -due_at)
        queue = np.bincount(host[due_at <= now], minlength=len(host_cap))
        crowded = queue > np.maximum(QUEUE * self._cap, QUEUE)
        return rank < QUEUE * host_cap[host], crowded[host] & (due_at <= now)

    def arrivals(self, host: Hosts, due_at: Floats, since: float, now: float) -> float:
        """Pages that fell due since the last tick; hosts with a queue can give only their cap."""
        queue = np.bincount(host[due_at <= now], minlength=len(self._cap))
        arrived = queue - np.bincount(host[due_at <= since], minlength=len(self._cap))
        return float(np.where(queue > 4 * np.ceil(self._cap), self._cap, arrived).sum())

    def paid(self, host: Hosts, value: Floats) -> None:
        """Values at which pages were taken."""
        if len(self._cap):
            old = self._price[host]
            self._price[host] = np.where(old > 0, old + (value - old) / 16, value)

    def price(self, host: Hosts) -> Floats:
        of_host: Floats = self._price[host]
        return of_host

    def turns(self, host: Hosts, priority: Floats) -> Floats:
        """Ticks until each page's turn, when its host takes the pages in order of priority."""
        if len(self._cap) == 0:
            return np.zeros(len(host))
        cap = np.append(self._cap, np.inf)[np.minimum(host, len(self._cap))]
        wait: Floats = rank_within(host, priority) / np.maximum(cap, 1e-3)
        return wait

    def bearable(self, host: Hosts, value: Floats, window: int) -> Floats:
        """The values that hosts can realise within a window; 0 for pages they cannot take."""
        if len(self._cap) == 0:
            return value
        return np.where(self.turns(host, value) < window, value, 0.0)
