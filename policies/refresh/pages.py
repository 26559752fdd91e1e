"""What a refresh strategy may know: one column per fact, one row per page."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The known pages at the start of a tick; every array has shape (n_pages,).

    All times are in one unit of the caller's choice and all rates are per that unit; `tick` is the
    length of one planning round in it.
    """

    elapsed: FloatArray  # time since the last fetch
    fetches: FloatArray  # fetches so far that could tell changed from unchanged
    changes: FloatArray  # how many of them found a change
    change_rate: FloatArray  # estimated, by whichever estimator the caller trusts
    importance: FloatArray  # what a fresh copy is worth per unit of time
    click_rate: FloatArray
    impression_rate: FloatArray
    interval: FloatArray  # what the interval rules wait between two fetches
    tick: float

    def __len__(self) -> int:
        return len(self.elapsed)

    @property
    def change_probability(self) -> FloatArray:
        """P(at least one change in a tick) = 1 - exp(-change_rate * tick); Delta of 000."""
        return -np.expm1(-self.change_rate * self.tick)


# Chance of each page to be fetched in this tick: within [0, 1], summing to the budget, or to less
# when the strategy wants fewer pages than the budget would allow.
Strategy = Callable[[PageColumns, float], FloatArray]


def page_columns(
    elapsed: ArrayLike,
    *,
    fetches: ArrayLike = 0.0,
    changes: ArrayLike = 0.0,
    change_rate: ArrayLike = 0.0,
    importance: ArrayLike = 1.0,
    click_rate: ArrayLike = 0.0,
    impression_rate: ArrayLike = 0.0,
    interval: ArrayLike = 0.0,
    tick: float = 1.0,
) -> PageColumns:
    """Columns from arrays or from one number for all pages (which then takes no memory)."""
    first = np.atleast_1d(np.asarray(elapsed, dtype=np.float64))

    def column(values: ArrayLike) -> FloatArray:
        return np.broadcast_to(np.asarray(values, dtype=np.float64), first.shape)

    return PageColumns(
        elapsed=first,
        fetches=column(fetches),
        changes=column(changes),
        change_rate=column(change_rate),
        importance=column(importance),
        click_rate=column(click_rate),
        impression_rate=column(impression_rate),
        interval=column(interval),
        tick=tick,
    )
