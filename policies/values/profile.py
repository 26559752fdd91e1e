"""Piecewise-constant hazard profiles: integrate, invert and price them for many pages at once.

A profile is a hazard theta over relative age u (elapsed time times the page's own rate), constant in
each of 24 bins and in what lies beyond; one profile per class of pages.  Written below for one class:

    Phi(u) = int_0^u theta            hazard spent by age u; exp(-Phi) is the chance of no change
    W(u)   = int_0^u exp(-Phi)        expected unchanged age until u
    G(X)   = W(u) - u exp(-X)         with u = Phi^-1(X): what a fetch is worth, in units of 1/rate

theta = 1 everywhere is a Poisson process, for which G(X) = 1 - (1 + X) exp(-X).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BINS = 24
# Ages of interest are around one mean gap.  An eighth of it tells a clockwork shop (gaps vary by
# 6 %) from a random one; ages beyond three mean gaps share the last bin.
BIN_WIDTH = 0.125
EDGES: Floats = np.arange(BINS, dtype=np.float64) * BIN_WIDTH
_CLASS_STEP = (
    1e3  # separates the classes on one sorted axis; exp(-1000) is 0, so no hazard is larger
)


@dataclass(frozen=True, slots=True)
class HazardProfile:
    """Hazard per class and bin with its integrals at the left edges, all of shape (classes, BINS)."""

    theta: Floats
    spent: Floats  # Phi at the edges
    unchanged: Floats  # W at the edges
    worth: Floats  # G at the edges

    @classmethod
    def of(cls, theta: Floats) -> HazardProfile:
        """Hazards outside [1e-3, 100] are cut: a mean gap hides no more, and exp stays finite."""
        theta = np.clip(theta, 1e-3, 100.0)
        step = theta[:, :-1] * BIN_WIDTH
        spent = _running_sum(step)
        unchanged = _running_sum(np.exp(-spent[:, :-1]) * -np.expm1(-step) / theta[:, :-1])
        return cls(theta, spent, unchanged, unchanged - EDGES * np.exp(-spent))

    def hazard(self, which: Ints, age: Floats) -> Floats:
        """Phi: hazard spent between a change and relative age `age`, in the given classes."""
        at = np.minimum(age * (1 / BIN_WIDTH), BINS - 1).astype(np.int64)
        cell = which * BINS + at
        spent: Floats = self.spent.ravel()[cell] + self.theta.ravel()[cell] * (age - EDGES[at])
        return spent

    def age(self, which: Ints, hazard: Floats) -> Floats:
        """Phi^-1: relative age at which `hazard` is spent."""
        cell = self._cell(self.spent, which, hazard)
        return EDGES[cell % BINS] + (hazard - self.spent.ravel()[cell]) / self.theta.ravel()[cell]

    def value(self, which: Ints, hazard: Floats) -> Floats:
        """G: expected freshness time a fetch gains, in mean gaps, after `hazard` nats."""
        cell = self._cell(self.spent, which, hazard)
        theta = self.theta.ravel()[cell]
        beyond = hazard - self.spent.ravel()[cell]
        return self.worth.ravel()[cell] + np.exp(-self.spent.ravel()[cell]) * (
            _one_minus_exp_poly(beyond) / theta + EDGES[cell % BINS] * -np.expm1(-beyond)
        )

    def hazard_worth(self, which: Ints, value: Floats) -> Floats:
        """G^-1: hazard at which a fetch is worth `value` mean gaps; infinite if it never is."""
        cell = self._cell(self.worth, which, value)
        theta = self.theta.ravel()[cell]
        edge = EDGES[cell % BINS]
        beyond_edge = np.maximum(value - self.worth.ravel()[cell], 0.0)
        wanted = beyond_edge * np.exp(self.spent.ravel()[cell])
        never = wanted >= 1 / theta + edge  # only in the last, unbounded bin
        beyond = _solve_beyond(np.where(never, 0.0, wanted), 1 / theta, edge)
        return np.where(never, np.inf, self.spent.ravel()[cell] + beyond)

    def _cell(self, table: Floats, which: Ints, key: Floats) -> Ints:
        """Flat index of the bin whose left edge in `table` is the last one not above `key`."""
        axis = (table + np.arange(len(table))[:, None] * _CLASS_STEP).ravel()
        place = np.minimum(key, _CLASS_STEP / 2) + which * _CLASS_STEP
        cell: Ints = np.searchsorted(axis, place, side="right") - 1
        # Rounding of the shifted keys may slip over a class border by one cell.
        return np.clip(cell, which * BINS, which * BINS + BINS - 1)


def _running_sum(steps: Floats) -> Floats:
    return np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)


def _one_minus_exp_poly(x: Floats) -> Floats:
    """1 - (1 + x) exp(-x), by its series where the difference would lose digits."""
    series = x * x * (0.5 - x * (1 / 3 - x * (1 / 8 - x / 30)))
    return np.where(x < 1e-3, series, -np.expm1(-x) - x * np.exp(-x))


def _solve_beyond(wanted: Floats, scale: Floats, edge: Floats) -> Floats:
    """Solve scale*(1-(1+x)e^-x) + edge*(1-e^-x) = wanted for x >= 0.

    The left side is total - (total + scale*x) e^-x with total = scale + edge.  The log of what is
    missing falls and is concave in x, so Newton's second step is right of the root and the others
    come down to it.
    """
    total = scale + edge
    x = np.minimum(np.sqrt(2 * wanted / scale), wanted / np.maximum(edge, 1e-300))
    goal = np.log1p(-wanted / total)
    for _ in range(40):
        missing = np.log1p(scale * x / total) - x - goal  # log of (total + scale*x) e^-x / total
        slope = scale / (total + scale * x) - 1
        step = np.divide(missing, -slope, out=np.zeros_like(x), where=slope < 0)
        x = np.maximum(x + step, 0.0)
        if np.all(np.abs(step) <= 1e-13 * (1 + x)):
            break
    return x
