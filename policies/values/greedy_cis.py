"""Greedy-CIS: the value of a fetch for a policy that believes every signal (003, sec. 5.1)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import Floats, PageModel


def greedy_cis_value(model: PageModel, elapsed: ArrayLike, signals: ArrayLike) -> Floats:
    """mu/Delta after any signal, else mu (P(1, Delta tau)/Delta - exp(-alpha tau) P(1, gamma tau)/gamma).

    The exact value for nu = 0; with false signals it spends its fetches on pages that cry wolf.
    """
    return greedy_ncis_value(model.believing(false_signal_rate=0.0), elapsed, signals)
