"""Greedy: the value of a fetch when there are no signals (003, sec. 5.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc

from policies.values.model import Floats, PageModel, times


def greedy_value(model: PageModel, elapsed: ArrayLike) -> Floats:
    """V = mu/Delta P(2, Delta tau) with P(2, x) = 1 - (1 + x) exp(-x): the area between the
    freshness curve exp(-Delta t) and its value now.  A page that never changes is worth nothing.
    """
    lost = times(model.change_rate, np.asarray(elapsed, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = model.importance * lost_area(lost, model.change_rate)
    return np.where(model.change_rate > 0, value, 0.0)


def lost_area(lost: Floats, rate: Floats) -> Floats:
    """P(2, lost) / rate, also where the square of `lost` would underflow."""
    return np.where(lost < 1e-100, 0.5 * lost * (lost / rate), gammainc(2.0, lost) / rate)
