"""LDS: fetch every page at its own steady rate in slots that come one at a time (003, sec. 6.4).

Fetch k of a page with rate xi belongs into the window [(k-1)/xi, k/xi] (Azar et al., Algorithm 3;
Liu and Layland).  Each slot goes to the open window that closes first; if none is open, to the
window that closes first of all, so that no slot is wasted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from policies.values.model import Floats


class EarliestDeadline:
    """The slots in turn.  Keeps the open window of every page, shape (n_pages,)."""

    def __init__(self, rates: Floats, start: float = 0.0) -> None:
        with np.errstate(divide="ignore"):
            self._interval = 1.0 / rates
        self._opens = np.full(len(rates), start)
        self._closes = start + self._interval

    def next(self, now: float) -> NDArray[np.intp]:
        """The page to fetch in the slot at `now`."""
        # Rounding must not shut a window that opens with the slot.
        due = np.where(self._opens <= now + 1e-9, self._closes, np.inf)
        page = int(np.argmin(due))
        if np.isinf(due[page]):
            page = int(np.argmin(self._closes))
        self._opens[page] = self._closes[page]
        self._closes[page] += self._interval[page]
        return np.array([page])
