"""Plain maximum likelihood of (unsignalled rate, signal worth) from whole histories.  A baseline.

log-likelihood = sum over fetches of  z log(1 - exp(-x)) - (1 - z) x,   x = al * elapsed + b * n,
concave in (al, b); damped Newton within al, b >= 0, all pages at once.  With few fetches the maximum
lies on the border: al = 0 or b = 0 after the first ones, and pages thought never to change starve.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Bools = npt.NDArray[np.bool_]

RIDGE = 1e-9  # keeps the Newton system solvable where a page has shown nothing


def fit(
    page: Ints, elapsed: Floats, signals: Floats, changed: Bools, *, pages: int, rounds: int = 40
) -> tuple[Floats, Floats]:
    """(al, b) of every page from one row per fetch."""
    al = np.bincount(page, changed, pages) / np.maximum(np.bincount(page, elapsed, pages), 1e-9)
    b = np.full(pages, 0.1)
    best = log_likelihood(al, b, page, elapsed, signals, changed)
    damping = np.ones(pages)
    for _ in range(rounds):
        step_al, step_b = _newton_step(al, b, page, elapsed, signals, changed)
        new_al = np.maximum(al + damping * step_al, 0.0)
        new_b = np.maximum(b + damping * step_b, 0.0)
        reached = log_likelihood(new_al, new_b, page, elapsed, signals, changed)
        better = reached >= best
        al, b = np.where(better, new_al, al), np.where(better, new_b, b)
        best = np.where(better, reached, best)
        damping = np.where(better, np.minimum(2 * damping, 1.0), damping / 4)
    return al, b


def log_likelihood(
    al: Floats, b: Floats, page: Ints, elapsed: Floats, signals: Floats, changed: Bools
) -> Floats:
    """Of every page's history."""
    x = np.maximum(al[page] * elapsed + b[page] * signals, 1e-12)
    return _per_page(page, np.where(changed, np.log(-np.expm1(-x)), -x), len(al))


def _per_page(page: Ints, values: Floats, pages: int) -> Floats:
    return np.asarray(np.bincount(page, values, pages), np.float64)


def _newton_step(
    al: Floats, b: Floats, page: Ints, elapsed: Floats, signals: Floats, changed: Bools
) -> tuple[Floats, Floats]:
    x = np.maximum(al[page] * elapsed + b[page] * signals, 1e-12)
    odds = 1 / np.expm1(np.minimum(x, 700.0))
    slope = np.where(changed, odds, -1.0)
    bend = np.where(changed, odds * (1 + odds), 0.0)

    def total(values: Floats) -> Floats:
        return _per_page(page, values, len(al))

    g_al, g_b = total(slope * elapsed), total(slope * signals)
    h_aa = total(bend * elapsed**2) + RIDGE
    h_ab = total(bend * elapsed * signals)
    h_bb = total(bend * signals**2) + RIDGE
    # Downhill at the border there is nowhere to go: move along it.
    free_al, free_b = (al > 0) | (g_al > 0), (b > 0) | (g_b > 0)
    cross = np.where(free_al & free_b, h_ab, 0.0)
    determinant = h_aa * h_bb - cross**2
    step_al = (h_bb * g_al * free_al - cross * g_b * free_b) / determinant
    step_b = (h_aa * g_b * free_b - cross * g_al * free_al) / determinant
    return step_al, step_b
