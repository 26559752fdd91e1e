"""One table of crawl values for all pages: the cheap value of Greedy-NCIS at a million pages.

Delta V / mu depends on three numbers only: u = -log P(fresh), b the worth of a signal and
r = gamma / (Delta + nu) the share of signals among all events.  The root of it is tabulated on a grid
even in sqrt(u), log b and logit r and interpolated linearly in each.  Pages off the grid get exact
values: signals worth less than 0.002 nats, fewer than one event in 5,000 a signal, or all but one.
On the grid a value takes 0.07 us and is off by 3e-4 of the supremum on average (0.009 at worst, at
the steps of pages with almost full recall); the table has 140,000 values and takes a second to build.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from policies.values.greedy_ncis import greedy_ncis_value, infinities_allowed
from policies.values.model import Floats, PageModel, lost_nats

FARTHEST = 20.0  # nats; beyond, a value is within 1e-7 of its supremum
LEAST_WORTH, MOST_WORTH = 0.002, FARTHEST  # a worth above the farthest u makes no difference
LOGIT_SPAN = 8.5  # r from 1/5000 to 1 - 1/5000


class SharedTable:
    """Build once; then value(model, elapsed, signals) for any pages, shape (n_pages,)."""

    def __init__(self, *, u_cells: int = 64, b_cells: int = 64, r_cells: int = 32) -> None:
        self._shape = (u_cells + 1, b_cells + 1, r_cells + 1)
        u = FARTHEST * np.linspace(0.0, 1.0, u_cells + 1) ** 2
        b = np.geomspace(LEAST_WORTH, MOST_WORTH, b_cells + 1)
        r = expit(np.linspace(-LOGIT_SPAN, LOGIT_SPAN, r_cells + 1))
        grid = [axis.ravel() for axis in np.meshgrid(u, b, r, indexing="ij")]
        self._roots = np.sqrt(_share_of_supremum(*grid))

    @infinities_allowed
    def value(self, model: PageModel, elapsed: Floats, signals: Floats) -> Floats:
        """Greedy-NCIS: interpolated on the grid, exact off it."""
        alpha, gamma, worth = model.unsignalled_rate, model.signal_rate, model.signal_worth
        logit = np.log(gamma / alpha)
        on_grid = (worth >= LEAST_WORTH) & (np.abs(logit) <= LOGIT_SPAN)
        share = self._interpolate(lost_nats(model, elapsed, signals), worth, logit)
        value = np.where(on_grid, model.importance * share / model.change_rate, 0.0)
        off = np.flatnonzero(~on_grid)
        if len(off):
            value[off] = greedy_ncis_value(model.take(off), elapsed[off], signals[off])
        return value

    def _interpolate(self, u: Floats, b: Floats, logit: Floats) -> Floats:
        places = [
            np.sqrt(np.minimum(u / FARTHEST, 1.0)),
            np.log(b / LEAST_WORTH) / np.log(MOST_WORTH / LEAST_WORTH),
            0.5 * (logit / LOGIT_SPAN + 1.0),
        ]
        corner = np.zeros(len(u), dtype=np.intp)
        parts, strides = [], []
        for place, size, stride in zip(places, self._shape, self._strides(), strict=True):
            scaled = np.clip(np.nan_to_num(place), 0.0, 1.0) * (size - 1)
            cell = np.minimum(scaled.astype(np.intp), size - 2)
            corner += cell * stride
            parts.append(scaled - cell)
            strides.append(stride)
        return np.square(self._blend(corner, parts, strides))

    def _blend(self, corner: NDArray[np.intp], parts: list[Floats], strides: list[int]) -> Floats:
        """Linear in the first axis between what the other axes give on both sides."""
        if not parts:
            return np.asarray(self._roots[corner])
        low = self._blend(corner, parts[1:], strides[1:])
        high = self._blend(corner + strides[0], parts[1:], strides[1:])
        return low + parts[0] * (high - low)

    def _strides(self) -> tuple[int, int, int]:
        _, b_size, r_size = self._shape
        return b_size * r_size, r_size, 1


def _share_of_supremum(u: Floats, b: Floats, r: Floats) -> Floats:
    """Delta V / mu of a page with these numbers, in units of time in which Delta + nu = 1."""
    true_rate = -r * np.expm1(-b)
    change_rate = (1.0 - r) + true_rate
    model = PageModel.of(change_rate, 1.0, true_rate / change_rate, r * np.exp(-b))
    return change_rate * greedy_ncis_value(model, u / model.unsignalled_rate, 0.0)
