"""A floor per site: fetches that a site is owed in each tick, whatever its pages are worth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

RESERVE = 64  # best pages of a site kept at hand, per fetch owed: one look through it pays for 64


class Floors:
    """What each site is owed.  A site that earns its floor by value is never looked at."""

    def __init__(self) -> None:
        self.owed: Floats = np.zeros(0)
        self._reserve: dict[int, Rows] = {}

    def accrue(self, floor: Floats) -> None:
        """One tick's floors; a site saves up at most two ticks' worth and one fetch."""
        owed = np.append(self.owed, np.zeros(max(len(floor) - len(self.owed), 0)))[: len(floor)]
        self.owed = np.minimum(owed + floor, 2 * floor + 1)

    def pay(self, site: npt.NDArray[np.int32]) -> None:
        """Count the fetches that sites got."""
        if len(self.owed):
            got = np.bincount(site, minlength=len(self.owed))[: len(self.owed)]
            self.owed = np.maximum(self.owed - got, 0.0)

    def due(self, site: npt.NDArray[np.int32]) -> Floats:
        """Whole fetches owed to the site of each page."""
        known = np.append(np.floor(self.owed), 0.0)
        return known[np.minimum(site, len(self.owed))]

    def draft(
        self,
        site: npt.NDArray[np.int32],
        due_at: Floats,
        leading: Rows,
        value: Callable[[Rows], Floats],
    ) -> Rows:
        """Queued pages to bring in where fewer lead than are owed; the best of the site first."""
        led = np.bincount(site[leading], minlength=len(self.owed))[: len(self.owed)]
        missing = np.floor(self.owed) - led
        drafted = [
            self._from_reserve(int(which), int(missing[which]), site, due_at, value)
            for which in np.flatnonzero(missing >= 1)
        ]
        return np.concatenate([np.zeros(0, np.int64), *drafted])

    def _from_reserve(
        self,
        which: int,
        count: int,
        site: npt.NDArray[np.int32],
        due_at: Floats,
        value: Callable[[Rows], Floats],
    ) -> Rows:
        reserve = self._reserve.get(which, np.zeros(0, np.int64))
        reserve = reserve[~np.isnan(due_at[reserve])]
        if len(reserve) < count:
            rows = np.flatnonzero((site == which) & ~np.isnan(due_at))
            reserve = rows[np.argsort(-value(rows), kind="stable")[: RESERVE * count]]
        self._reserve[which] = reserve[count:]
        return reserve[:count]
