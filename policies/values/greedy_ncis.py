"""Greedy-NCIS: the exact value of a fetch when signals may be missing or false (003, sec. 5.1).

Model: unsignalled changes at rate alpha, signals at rate gamma, each worth b nats of freshness.
With u = -log P(fresh) a fetch is worth V = mu (w(u) - exp(-u) psi(u)), where psi is the mean time
until a page fetched now reaches u again and w the mean fresh part of it; V rises in u, V' (by u)
= mu exp(-u) psi, and sup V = mu / Delta.  The optimum fetches a page when V reaches one common
level; it is then fetched f = 1 / psi times per unit of time.
The paper's formula (Theorem 1) loses all digits for small tau and is undefined for nu = 0 and
recall = 0 or 1; `terms` has the same sums in a form good to 1e-12 everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc

from policies.values.greedy import lost_area
from policies.values.model import Floats, PageModel, lost_nats, times
from policies.values.terms import (
    Sums,
    pairs,
    places,
    smooth,
    sums_of,
    value_before,
    value_terms,
    washed_out,
    windows,
)

# Fewer signals than this before the page is so stale again, and it is as if there were none.
NO_SIGNALS = 1e-200

# Infinite worths, times and levels are part of the domain; what is undefined is not selected.
infinities_allowed = np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore")


@infinities_allowed
def greedy_ncis_value(model: PageModel, elapsed: ArrayLike, signals: ArrayLike) -> Floats:
    """V for pages fetched `elapsed` ago with `signals` since; shape (n_pages,)."""
    elapsed, signals = _columns(model, elapsed, signals)
    u = lost_nats(model, elapsed, signals)
    # 1 - Delta V <= exp(-u) (1 + u + b): beyond this the value is its supremum to the last bit.
    saturated = np.isinf(u) | (u - np.log1p(u + model.signal_worth) > 41.0)
    value = np.where(saturated, 1.0 / model.change_rate, lost_area(u, model.unsignalled_rate))
    rows = np.flatnonzero(_has_signals(model, u) & ~saturated)
    some = model.take(rows)
    value[rows] = _value(sums_of(some, elapsed[rows], signals[rows])) / _all_events(some)
    return np.where(u > 0, model.importance * value, 0.0)


def _value(sums: Sums) -> Floats:
    """A V: whole terms in closed form plus the window, or the limit where steps are washed out."""
    value = np.zeros_like(sums.u)
    many = washed_out(sums)
    value[many], _, _ = smooth(sums.take(np.flatnonzero(many)))
    rows = np.flatnonzero(~many)
    value[rows] = _value_sum(sums.take(rows))
    return value


def _value_sum(sums: Sums) -> Floats:
    first, stop = windows(sums)
    total = np.zeros_like(sums.u)
    whole = np.flatnonzero(first > 0)
    total[whole] = value_before(sums.take(whole), first[whole])
    for pages, index in pairs(first, stop):
        terms = value_terms(sums.take(pages), index)
        total += np.bincount(pages, terms, minlength=len(total))
    return total


@infinities_allowed
def approximate_value(
    model: PageModel, elapsed: ArrayLike, signals: ArrayLike, terms: int
) -> Floats:
    """G-NCIS-approx-J (003, App. A.1): the first J = `terms` terms of the value.

    sup V_J = mu/Delta (1 - (nu/(Delta+nu))^J), short of mu/Delta: pages with many false signals
    can never reach a high level, which is why this fails when the budget is tight.
    """
    elapsed, signals = _columns(model, elapsed, signals)
    value = greedy_ncis_value(model, elapsed, signals)
    rows = np.flatnonzero(_has_signals(model, lost_nats(model, elapsed, signals)))
    sums = sums_of(model.take(rows), elapsed[rows], signals[rows])
    _, stop = windows(sums)
    total = np.zeros(len(rows))
    for pages, index in pairs(np.zeros_like(stop), np.minimum(stop, terms)):
        part = value_terms(sums.take(pages), index)
        total += np.bincount(pages, part, minlength=len(rows))
    value[rows] = model.importance[rows] * total / _all_events(model.take(rows))
    return value


def interval_length(model: PageModel, elapsed: ArrayLike, signals: ArrayLike = 0.0) -> Floats:
    """psi: mean time between fetches when a page is fetched as stale as this state (Lemma 4)."""
    length, _ = _interval(model, elapsed, signals)
    return length


def interval_freshness(model: PageModel, elapsed: ArrayLike, signals: ArrayLike = 0.0) -> Floats:
    """w: mean fresh time between fetches when a page is fetched as stale as this state (Lemma 4)."""
    _, fresh = _interval(model, elapsed, signals)
    return fresh


@infinities_allowed
def fetch_rate(model: PageModel, elapsed: ArrayLike, signals: ArrayLike = 0.0) -> Floats:
    """f = 1 / psi: fetches per unit of time under this threshold."""
    return 1.0 / interval_length(model, elapsed, signals)


@infinities_allowed
def _interval(model: PageModel, elapsed: ArrayLike, signals: ArrayLike) -> tuple[Floats, Floats]:
    elapsed, signals = _columns(model, elapsed, signals)
    length, fresh = _interval_without_signals(model, elapsed, signals)
    rows = np.flatnonzero(_has_signals(model, lost_nats(model, elapsed, signals)))
    sums = sums_of(model.take(rows), elapsed[rows], signals[rows])
    psi, w = np.zeros_like(sums.u), np.zeros_like(sums.u)
    many = washed_out(sums)
    _, psi[many], w[many] = smooth(sums.take(np.flatnonzero(many)))
    psi[~many], w[~many] = _interval_sums(sums.take(np.flatnonzero(~many)))
    events = _all_events(model.take(rows))
    length[rows], fresh[rows] = psi / events, w / events
    return length, fresh


def _interval_sums(sums: Sums) -> tuple[Floats, Floats]:
    """A psi and A w; the terms before the window are whole, so they count 1 and exp(-i delta)."""
    first, stop = windows(sums)
    fetches = first.astype(np.float64)
    fresh = np.expm1(-times(sums.delta, fetches)) / np.expm1(-sums.delta)
    for pages, index in pairs(first, stop):
        block = sums.take(pages)
        nats, expected = places(block, index)
        decay = np.exp(-times(block.delta, index.astype(np.float64)))
        fetches += np.bincount(pages, gammainc(index + 1.0, expected), minlength=len(first))
        fresh += np.bincount(
            pages, decay * gammainc(index + 1.0, nats + expected), minlength=len(first)
        )
    return fetches / sums.r, fresh


def _interval_without_signals(
    model: PageModel, elapsed: Floats, signals: Floats
) -> tuple[Floats, Floats]:
    """psi = u / alpha and w = (1 - exp(-u)) / alpha; a page that never changes just ages."""
    alpha = model.unsignalled_rate
    u = lost_nats(model, elapsed, signals)
    moves = alpha > 0
    length = np.where(moves, u / alpha, elapsed)
    fresh = np.where(moves, -np.expm1(-u) / alpha, elapsed)
    return length, fresh


def _has_signals(model: PageModel, u: Floats) -> NDArray[np.bool_]:
    alpha = model.unsignalled_rate
    some = (model.signal_rate * u > NO_SIGNALS * alpha) | (alpha == 0)
    return np.asarray((model.change_rate > 0) & (model.signal_worth > 0) & some)


def _all_events(model: PageModel) -> Floats:
    return model.change_rate + model.false_signal_rate


def _columns(model: PageModel, elapsed: ArrayLike, signals: ArrayLike) -> tuple[Floats, Floats]:
    """Elapsed time and signals as one row per page."""
    shape = (len(model),)
    elapsed = np.broadcast_to(np.asarray(elapsed, dtype=np.float64), shape)
    return elapsed, np.broadcast_to(np.asarray(signals, dtype=np.float64), shape)
