"""A calendar queue of due times for millions of pages: numpy columns, no object per page.

Time is cut into buckets.  The pages of the current bucket, of all before it and of the next are `near`
and are looked at in every tick; the others lie unsorted in the bucket of their due time and are touched once,
when their bucket comes.  A page that moves leaves its old entry behind, which is dropped then.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

BUCKETS = 256  # later due times wait in one heap and are dealt out when half of these have passed


class Calendar:
    """Due times of rows 0..n-1.  Not a number: not queued; infinite: known, but never due."""

    def __init__(self, *, now: float, width: float) -> None:
        self.due_at: Floats = np.zeros(0)
        self._is_near = np.zeros(0, np.bool_)
        self._near: list[npt.NDArray[np.int32]] = []
        self._buckets: list[list[npt.NDArray[np.int32]]] = [[] for _ in range(BUCKETS)]
        self._far: list[npt.NDArray[np.int32]] = []
        self._origin, self._width = now, width
        self._current = 0

    def grow(self, size: int) -> None:
        """Make room for rows up to `size`; the new ones are not queued."""
        more = max(size - len(self.due_at), 0)
        self.due_at = np.append(self.due_at, np.full(more, np.nan))
        self._is_near = np.append(self._is_near, np.zeros(more, np.bool_))

    def put(self, rows: Rows, due_at: Floats) -> None:
        """Queue distinct rows, or move them if they are queued already."""
        self.due_at[rows] = due_at
        finite = np.isfinite(due_at)
        queued, bucket = rows[finite].astype(np.int32), self._bucket(due_at[finite])
        near = bucket <= self._current
        new = queued[near & ~self._is_near[queued]]
        self._is_near[new] = True
        self._near.append(new)
        self._deal(queued[~near], bucket[~near])

    def drop(self, rows: Rows) -> None:
        """Take rows out; their entries are forgotten when met."""
        self.due_at[rows] = np.nan

    def near(self, now: float) -> tuple[Rows, Floats]:
        """Rows due in this bucket, before it, or in the next, each once, and their due times.

        The next one lets a tick with too few due pages take those that follow.
        """
        while self._current <= self._bucket(np.array([now]))[0]:
            self._turn()
        rows = np.concatenate([np.zeros(0, np.int32), *self._near])
        due_at: Floats = self.due_at[rows]
        # False for not-a-number, i.e. for rows that were dropped.
        keep = due_at < self._origin + (self._current + 1) * self._width
        self._is_near[rows[~keep]] = False
        near: npt.NDArray[np.int32] = rows[keep]
        self._near = [near]
        return near.astype(np.int64), due_at[keep]

    def nbytes(self) -> int:
        """Memory of columns and entries, with about 112 bytes for each array object."""
        chunks = [*self._near, *self._far, *(part for b in self._buckets for part in b)]
        return int(
            self.due_at.nbytes + self._is_near.nbytes + sum(part.nbytes + 112 for part in chunks)
        )

    def _bucket(self, due_at: Floats) -> Rows:
        buckets: Floats = np.floor((due_at - self._origin) / self._width)
        return buckets.astype(np.int64)

    def _deal(self, rows: npt.NDArray[np.int32], bucket: Rows) -> None:
        within = bucket < self._current + BUCKETS
        if not within.all():
            self._far.append(rows[~within])
            rows, bucket = rows[within], bucket[within]
        order = np.argsort(bucket)
        rows, bucket = rows[order], bucket[order]
        cuts = np.flatnonzero(bucket[1:] != bucket[:-1]) + 1
        starts = [0, *cuts.tolist()] if len(rows) else []
        ends = [*cuts.tolist(), len(rows)]
        for start, end in zip(starts, ends, strict=False):
            self._append(int(bucket[start]) % BUCKETS, rows[start:end])

    def _append(self, slot: int, rows: npt.NDArray[np.int32]) -> None:
        parts = self._buckets[slot]
        # A copy, lest a few rows keep the whole batch in memory; small parts are joined for the
        # same reason: an array object weighs as much as 28 rows.
        parts.append(rows.copy())
        if len(parts) == 128:
            self._buckets[slot] = [np.concatenate(parts)]

    def _turn(self) -> None:
        """Enter the next bucket: its rows become near, except those that have moved away."""
        self._current += 1
        slot = self._current % BUCKETS
        parts, self._buckets[slot] = self._buckets[slot], []
        rows = _distinct(parts)
        due = rows[self.due_at[rows] < self._origin + (self._current + 1) * self._width]
        due = due[~self._is_near[due]]
        self._is_near[due] = True
        self._near.append(due)
        if self._current % (BUCKETS // 2) == 0:
            self._deal_far()

    def _deal_far(self) -> None:
        rows = _distinct(self._far)
        rows = rows[np.isfinite(self.due_at[rows])]
        bucket = self._bucket(self.due_at[rows])
        self._far = []
        ahead = bucket > self._current
        self._deal(rows[ahead], bucket[ahead])


def _distinct(parts: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    """Sorted rows without repeats; several times faster than numpy.unique, which hashes."""
    rows = np.concatenate([np.zeros(0, np.int32), *parts])
    rows.sort()
    first = np.ones(len(rows), np.bool_)
    first[1:] = rows[1:] != rows[:-1]
    distinct: npt.NDArray[np.int32] = rows[first]
    return distinct
