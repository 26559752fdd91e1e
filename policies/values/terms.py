"""The sums behind the crawl value with signals, arranged so that nothing cancels or overflows.

Notation of 003 with rates divided by A = alpha + gamma = Delta + nu.  A page is described by
    a = alpha / A,  r = gamma / A = 1 - a,  b = log(gamma / nu),  delta = log(1 + Delta / nu),
and its state by u = alpha tau + b n.  Term i of the sums has alpha x_i = alpha tau + (n - i) b and
gamma x_i = gamma tau + (n - i) gamma b / alpha; P and Q are the regularised incomplete gammas:
    A psi = sum P(i+1, gamma x_i) / r
    A w   = sum exp(-i delta) P(i+1, A x_i)
    A V   = A w - exp(-u) A psi                     (per unit of importance)
The terms before `first` have P = 1 to the last bit and are summed in closed form, those from `stop`
on are below 1e-17 of the sum; what lies between is laid out as one flat array of (page, i) pairs.
Infinite and undefined intermediates are the caller's to allow (`np.errstate`).
Pages with so many small signals that the steps wash out have a closed form: see `washed_out`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc

from policies.values.greedy import lost_area
from policies.values.model import Floats, PageModel, times

Ints = NDArray[np.int64]

PAIRS_AT_ONCE = 1 << 16  # about 10 MB of temporaries
# Past this index the terms of the window are a millionth of the sum and 1 - r^k = k log(1/r) will do.
MANY = 100_000
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class Sums:
    """Dimensionless description and state of each page, shape (n_pages,)."""

    a: Floats
    r: Floats
    b: Floats
    delta: Floats
    elapsed_nats: Floats  # alpha tau
    elapsed_signals: Floats  # gamma tau, the signals to be expected
    signals: Floats  # n
    step: Floats  # gamma b / alpha, the signals to be expected in the time one signal is worth
    u: Floats

    def take(self, rows: NDArray[np.intp]) -> Sums:
        return Sums(*(getattr(self, name)[rows] for name in Sums.__slots__))


def sums_of(model: PageModel, elapsed: Floats, signals: Floats) -> Sums:
    """The dimensionless form of pages that change and have signals worth something."""
    alpha, gamma, b = model.unsignalled_rate, model.signal_rate, model.signal_worth
    total = alpha + gamma
    delta = np.log1p(model.change_rate / model.false_signal_rate)
    step = np.where(alpha > 0, gamma / total * b / (alpha / total), np.inf)
    elapsed_nats = times(alpha, elapsed)
    return Sums(
        a=alpha / total,
        r=gamma / total,
        b=b,
        delta=delta,
        elapsed_nats=elapsed_nats,
        elapsed_signals=times(gamma, elapsed),
        signals=signals,
        step=step,
        u=elapsed_nats + times(b, signals),
    )


def windows(sums: Sums) -> tuple[Ints, Ints]:
    """First and stop index of the terms that must be summed one by one.

    gamma x_i meets i at `middle` = gamma u / (alpha + gamma b).  P(i+1, y) is 1 in double
    precision when y - i > 9 sqrt(y) + 1 and below 1e-17 when i - y > 9 sqrt(y) + 18 (Chernoff).
    """
    single = np.isinf(sums.b)  # a signal that is never false leaves only term 0
    slope = sums.a + sums.r * sums.b  # alpha + gamma b
    middle = np.where(single, 0.0, np.minimum(sums.r * sums.u / slope, 2.0**60))
    per_index = sums.a / slope
    last = np.where(single, 0.0, sums.signals + np.floor(sums.elapsed_nats / sums.b))
    above = np.ceil(middle + (9.0 * np.sqrt(middle) + 18.0) * per_index)
    below = np.floor(middle - (41.5 + np.sqrt(1722.0 + 81.0 * middle)) * per_index)
    stop = np.minimum(last, above) + 1.0
    # A closed form for a handful of terms would only cost accuracy.
    first = np.where(below < 64, 0.0, np.minimum(below, stop))
    return first.astype(np.int64), stop.astype(np.int64)


def pairs(first: Ints, stop: Ints) -> Iterator[tuple[NDArray[np.intp], Ints]]:
    """(page, i) pairs for i in [first, stop), in blocks of whole pages."""
    counts = stop - first
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = ends[start] - counts[start]
        end = max(start + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, side="right")))
        block = slice(start, end)
        rows = np.repeat(np.arange(start, end), counts[block])
        offsets = np.repeat(ends[block] - counts[block] - before, counts[block])
        yield rows, np.arange(len(rows)) - offsets + first[rows]
        start = end


def places(sums: Sums, index: Ints) -> tuple[Floats, Floats]:
    """alpha x_i and gamma x_i of each pair, no less than 0."""
    ahead = np.asarray(sums.signals - index, dtype=np.float64)
    nats = sums.elapsed_nats + times(sums.b, ahead)
    waited = np.isinf(sums.elapsed_signals)
    expected = np.where(waited, np.inf, sums.elapsed_signals + times(sums.step, ahead))
    return np.maximum(nats, 0.0), np.maximum(expected, 0.0)


def value_terms(sums: Sums, index: Ints) -> Floats:
    """Term i of A V, all forms positive; which one is used depends on how much would cancel."""
    nats, expected = places(sums, index)
    gain = np.exp(-times(sums.delta, index.astype(np.float64))) * gammainc(
        index + 1.0, nats + expected
    )
    loss = np.exp(-sums.u) / sums.r * gammainc(index + 1.0, expected)
    result = gain - loss
    close = np.flatnonzero(loss > 0.5 * gain)
    many = expected[close] > index[close] + 1.0
    late, early = close[many], close[~many]
    result[late] = _late(sums.take(late), index[late], nats[late], expected[late])
    result[early] = gain[early] * _early(
        sums.take(early), index[early], nats[early] + expected[early]
    )
    return result


def _late(sums: Sums, index: Ints, nats: Floats, expected: Floats) -> Floats:
    """exp(-u)/r [expm1(alpha x - (i+1) L) + Q(i+1, gamma x) E(1 - r^(j+1))], gamma x > i+1.

    L = -log r; the mean is over j = i - k for a Poisson(gamma x) count k given k <= i.
    """
    log_r = np.log1p(sums.a / sums.r)
    below = gammaincc(index + 1.0, expected)
    count = (index + 1.0) * below - expected * gammaincc(index * 1.0, expected)
    tail = np.where(below > 0, log_r * np.maximum(count, 0.0), 0.0)
    few = np.flatnonzero(index <= MANY)
    tail[few] = below[few] * _mean_loss_below(index[few], expected[few], log_r[few])
    rise = np.expm1(nats - (index + 1.0) * log_r)
    return np.asarray(np.exp(-sums.u) / sums.r * (rise + tail))


def _early(sums: Sums, index: Ints, both: Floats) -> Floats:
    """E(1 - r^k) for k = l - (i+1), l a Poisson(A x) count given l >= i+1; gamma x <= i+1."""
    log_r = np.log1p(sums.a / sums.r)
    above = gammainc(index + 1.0, both)
    excess = both * gammainc(np.maximum(index, 1.0), both) - (index + 1.0) * above
    mean = log_r * np.maximum(excess, 0.0) / np.maximum(above, TINY)
    few = np.flatnonzero(index <= MANY)
    mean[few] = _mean_loss_above(index[few], both[few], log_r[few])
    return np.asarray(mean)


def _mean_loss_below(index: Ints, expected: Floats, log_r: Floats) -> Floats:
    """E(1 - r^(j+1)) with weights i!/(i-j)! / y^j, falling from j = 0 on."""
    weight, total = np.ones_like(expected), np.zeros_like(expected)
    lost, term = np.zeros_like(expected), np.ones_like(expected)
    j = 0
    while np.any(term > 1e-17 * lost):
        term = weight * -np.expm1(-(j + 1) * log_r)
        total += weight
        lost += term
        weight = weight * np.maximum(index - j, 0) / expected
        j += 1
    return lost / np.maximum(total, 1.0)


def _mean_loss_above(index: Ints, both: Floats, log_r: Floats) -> Floats:
    """E(1 - r^k) with weights (i+1)!/(i+1+k)! y^k, falling once i + 1 + k > y."""
    weight, total = np.ones_like(both), np.ones_like(both)
    lost, term = np.zeros_like(both), np.ones_like(both)
    k = 0
    while np.any((term > 1e-17 * lost) | (index + 1 + k < both)):
        k += 1
        weight = weight * both / (index + 1 + k)
        term = weight * -np.expm1(-k * log_r)
        total += weight
        lost += term
    return lost / total


def value_before(sums: Sums, first: Ints) -> Floats:
    """The terms i < first of A V, first > 0: exp(-u)/r times the sum of expm1(v - i delta), v = u + log r.

    A geometric series; below half a nat its first order cancels and Euler-Maclaurin takes over,
    exact to v (delta/v)^6 / 30240, with at least 64 terms in v.
    """
    count = first.astype(np.float64)
    start = sums.u - np.log1p(sums.a / sums.r)
    end = start - times(sums.delta, count - 1.0)
    series = np.exp(start) * np.expm1(-times(sums.delta, count)) / np.expm1(-sums.delta) - count
    integral = start / sums.delta * _over_linear(start) - end / sums.delta * _over_linear(end)
    ends = 0.5 * (np.expm1(start) + np.expm1(end))
    slopes = (sums.delta / 12.0 - sums.delta**3 / 720.0) * (np.exp(start) - np.exp(end))
    whole = np.where(start > 0.5, series, integral + ends + slopes)
    return np.asarray(np.exp(-sums.u) / sums.r * whole)


def _over_linear(v: Floats) -> Floats:
    """(exp(v) - 1 - v) / v without cancellation or underflow: v/2 (1 + v/3 (1 + v/4 (...)))."""
    small = np.clip(v, -0.6, 0.6)
    series = np.ones_like(small)
    for k in range(16, 2, -1):
        series = 1.0 + small / k * series
    return np.where(np.abs(v) > 0.6, np.expm1(v) / v - 1.0, 0.5 * small * series)


def washed_out(sums: Sums) -> NDArray[np.bool_]:
    """Pages whose level u is so many signals away that the single steps no longer show.

    The level passed by alpha t + b N(t) has mean time (u + kappa) / m up to exp(-x u/b), where
    -x is the real part of the first complex root z of k z + 1 = exp(-z), k = alpha / (gamma b);
    log(1 + (2 pi k)^2) / 4 is a lower bound of x.
    """
    k = sums.a / (sums.r * sums.b)
    decay = 0.25 * np.log1p((2.0 * np.pi * k) ** 2)
    return (k > 0) & (decay * (sums.u / sums.b) > 60.0)


def smooth(sums: Sums) -> tuple[Floats, Floats, Floats]:
    """A V, A psi and A w where the steps are washed out: the poles at 0 of their transforms.

    m = alpha + gamma b, kappa = gamma b^2 / (2 m):  psi = (u + kappa) / m,
    w = 1/Delta - exp(-u)/m,  V = w - exp(-u) psi, each with its small differences formed first.
    """
    m = sums.a + sums.r * sums.b
    true_rate = -sums.r * np.expm1(-sums.b)
    change_rate = sums.a + true_rate
    kappa = 0.5 * sums.r * sums.b * (sums.b / m)
    psi = (sums.u + kappa) / m
    excess = -sums.r * (sums.b / change_rate) * _over_linear(-sums.b)  # (m - Delta) / Delta
    passed = -np.expm1(-sums.u)
    w = excess / m + passed / m
    level = (excess - kappa) / m
    value = level + lost_area(sums.u, m) + kappa * (passed / m)
    return value, psi, w
