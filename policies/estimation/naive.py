"""Naive precision and recall (003, App. E): count fetches as if they were changes.  A baseline.

An interval in which a signal came and a change was found counts as a true signal, whether or not
the one announced the other, and several changes count once: precision and recall come out 0.1 to
0.36 too high, rates too low.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from policies.estimation.signal_quality import SURE, Quality

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Counts:
    """Per page, shape (pages,)."""

    watched: Floats
    changes: Floats
    signals: Floats
    signalled: Floats  # fetches before which a signal came
    both: Floats  # ... and that found a change

    @classmethod
    def none(cls, pages: int) -> Counts:
        return cls(*np.zeros((5, pages)))

    def add(
        self, pages: npt.NDArray[np.intp], elapsed: Floats, signals: Floats, changed: Bools
    ) -> Counts:
        """One fetch of each of these pages."""
        signalled = signals > 0
        columns = (elapsed, changed, signals, signalled, signalled & changed)
        size = len(self.watched)
        old = (self.watched, self.changes, self.signals, self.signalled, self.both)
        return Counts(*(a + np.bincount(pages, b, size) for a, b in zip(old, columns, strict=True)))

    def estimate(self) -> Quality:
        """precision = both / signalled, recall = both / changes, rate = changes / watched."""
        watched = np.maximum(self.watched, 1e-9)
        precision = np.minimum(self.both / np.maximum(self.signalled, 1.0), SURE)
        recall = self.both / np.maximum(self.changes, 1.0)
        rate = self.changes / watched
        worth, pace = -np.log1p(-precision), self.signals / watched
        return Quality((1 - recall) * rate, worth[:, None], pace[:, None])
