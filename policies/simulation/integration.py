"""Fresh time of every page from the log of its changes, signals and fetches.  Exact, no time steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from policies.values.model import Floats, PageModel, times

Pages = NDArray[np.intp]
T = TypeVar("T", np.bool_, np.float64)

CARRIED, FETCH, SECOND = 0, 1, 2  # kinds of events; the second is a change or a signal


@dataclass(slots=True)
class Ledger:
    """Carries each page from one block of time to the next."""

    model: PageModel
    is_fresh: NDArray[np.bool_]
    lost: Floats  # nats of freshness lost, as the crawler sees it

    @classmethod
    def fresh(cls, model: PageModel) -> Ledger:
        return cls(model, np.ones(len(model), dtype=np.bool_), np.zeros(len(model)))

    def fresh_time(
        self,
        start: float,
        end: float,
        at: Floats,
        fetched: Pages,
        changed_at: Floats,
        changed: Pages,
    ) -> float:
        """Importance-weighted time the copies were in fact fresh between start and end."""
        timeline = _Timeline.of(len(self.model), start, end, at, fetched, changed_at, changed)
        after = timeline.arrange(self.is_fresh, True, False)
        self.is_fresh = after[timeline.last]
        weight = self.model.importance[timeline.page] * timeline.lasting
        return float(weight[after].sum())

    def likely_time(
        self,
        start: float,
        end: float,
        at: Floats,
        fetched: Pages,
        signal_at: Floats,
        signalled: Pages,
    ) -> float:
        """Importance-weighted integral of P(fresh) = exp(-u) between start and end.

        u starts at 0 with a fetch, grows at the unsignalled rate and by b with each signal.
        """
        timeline = _Timeline.of(len(self.model), start, end, at, fetched, signal_at, signalled)
        page, alpha = timeline.page, self.model.unsignalled_rate[timeline.page]
        before = timeline.arrange(self.lost, 0.0, 0.0)
        counted = np.cumsum(timeline.kind == SECOND)
        reset = np.maximum.accumulate(np.where(timeline.kind == SECOND, 0, np.arange(len(page))))
        signals = (counted - counted[reset]).astype(np.float64)
        waited = timeline.at - timeline.at[reset]
        u = before[reset] + times(self.model.signal_worth[page], signals) + alpha * waited
        self.lost = (u + alpha * timeline.lasting)[timeline.last]
        lost = alpha * timeline.lasting
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(lost > 0, -np.expm1(-lost) / lost, 1.0)
        fresh = np.exp(-u) * mean * timeline.lasting
        return float((self.model.importance[page] * fresh).sum())


@dataclass(frozen=True, slots=True)
class _Timeline:
    """Every page's events in order: what was carried in, fetches, and changes or signals."""

    order: NDArray[np.intp]
    page: Pages
    at: Floats
    kind: NDArray[np.int8]
    lasting: Floats  # until the page's next event or the end
    last: NDArray[np.intp]  # position of each page's last event

    @classmethod
    def of(
        cls,
        n_pages: int,
        start: float,
        end: float,
        fetched_at: Floats,
        fetched: Pages,
        second_at: Floats,
        second: Pages,
    ) -> _Timeline:
        page = np.concatenate([np.arange(n_pages), fetched, second])
        at = np.concatenate([np.full(n_pages, start), fetched_at, second_at])
        sizes = [n_pages, len(fetched), len(second)]
        kind = np.repeat(np.array([CARRIED, FETCH, SECOND], dtype=np.int8), sizes)
        order = np.lexsort((at, page))
        page, at, kind = page[order], at[order], kind[order]
        last = np.flatnonzero(np.append(page[1:] != page[:-1], True))
        until = np.append(at[1:], end)
        until[last] = end
        return cls(order, page, at, kind, until - at, last)

    def arrange(self, carried: NDArray[T], fetch: float, second: float) -> NDArray[T]:
        """One value per event: the carried column, or the constant of its kind."""
        values = np.empty(len(self.order), dtype=carried.dtype)
        values[self.kind == CARRIED] = carried
        values[self.kind == FETCH] = fetch
        values[self.kind == SECOND] = second
        return values
