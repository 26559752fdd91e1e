"""Several kinds of signals per page: sitemap, feed, ping, listing price (003, footnote 2).

Every change is announced by at most one kind, with probability `signal_recall[:, k]`; false signals of
kind k come at their own rate.  The kinds are then independent Poisson streams of rate gamma_k, a signal
of kind k is worth b_k = log(gamma_k / nu_k) nats, and u = alpha tau + sum b_k n_k.
With i = (i_1, ..) counting the signals still to come before the page is as stale again, N = sum i_k and
alpha x = u - sum b_k i_k, the value of one kind generalises to
    V = mu sum_i N!/prod i_k! prod (gamma_k/gamma)^i_k prod q_k^i_k
          [gamma^N/A^(N+1) P(N+1, A x) - exp(-alpha x)/gamma P(N+1, gamma x)].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from policies.values.greedy_ncis import greedy_ncis_value, infinities_allowed
from policies.values.model import Floats, PageModel, odds_to_nats, times
from policies.values.terms import Sums, value_terms

NEARLY_FULL = 1.0 - 1e-12  # of recall; with nothing unsignalled u would only move in steps
LARGEST_SUM = 200_000  # terms for one page


@dataclass(frozen=True, slots=True)
class SignalKinds:
    """Pages with k kinds of signals.  Rates and importance (n_pages,), signals (n_pages, n_kinds)."""

    change_rate: Floats
    importance: Floats
    signal_recall: Floats
    false_signal_rate: Floats

    @property
    def unsignalled_rate(self) -> Floats:
        return self.pooled().unsignalled_rate

    @property
    def signal_rate(self) -> Floats:
        return self.signal_recall * self.change_rate[:, None] + self.false_signal_rate

    @property
    def signal_worth(self) -> Floats:
        true_rate = self.signal_recall * self.change_rate[:, None]
        return odds_to_nats(true_rate, self.false_signal_rate)

    def lost_nats(self, elapsed: Floats, signals: Floats) -> Floats:
        """u = alpha tau + sum over kinds of b n; signals (n_pages, n_kinds)."""
        heard = times(self.signal_worth, signals).sum(axis=1)
        return np.asarray(times(self.unsignalled_rate, elapsed) + heard)

    def pooled(self) -> PageModel:
        """One kind with the rates of all: as many signals, as many of them true."""
        recall = np.minimum(self.signal_recall.sum(axis=1), NEARLY_FULL)
        false_rate = self.false_signal_rate.sum(axis=1)
        return PageModel(self.change_rate, self.importance, recall, false_rate)


@infinities_allowed
def pooled_value(kinds: SignalKinds, elapsed: Floats, signals: Floats) -> Floats:
    """The value with u exact and only the signals still to come taken for one mixed kind.

    What was heard counts in full; the error is in how the signals to come are spread over the
    kinds: for a precise and a noisy kind below 1 % of the supremum on average, 7 % at worst.
    Costs no more than one kind.
    """
    pooled = kinds.pooled()
    u = kinds.lost_nats(elapsed, signals)
    waited = np.where(u > 0, u / pooled.unsignalled_rate, 0.0)
    return greedy_ncis_value(pooled, waited, 0.0)


@infinities_allowed
def value_of_kinds(kinds: SignalKinds, elapsed: Floats, signals: Floats) -> Floats:
    """The exact value, page by page; pooled where the sum would pass LARGEST_SUM terms."""
    value = pooled_value(kinds, elapsed, signals)
    u = kinds.lost_nats(elapsed, signals)
    for page in np.flatnonzero((u > 0) & (u < 45.0) & (kinds.change_rate > 0)):
        grid = _grid(kinds, int(page), float(u[page]))
        if grid is not None:
            value[page] = _exact(kinds, int(page), float(u[page]), grid)
    return value


def _grid(kinds: SignalKinds, page: int, u: float) -> Floats | None:
    """Counts (n_terms, n_kinds) of signals that fit below u; None if they are too many."""
    rate, worth = kinds.signal_rate[page].sum(), kinds.signal_worth[page]
    expected = rate * u / kinds.unsignalled_rate[page]
    most = np.minimum(np.floor(u / worth), expected + 9.0 * np.sqrt(expected) + 18.0)
    most = np.where(worth > 0, most, 0.0)
    if np.prod(most + 1.0) > LARGEST_SUM:
        return None
    axes = [np.arange(int(count) + 1) for count in most]
    counts = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    spent = times(worth, counts.astype(np.float64)).sum(axis=1)
    return np.asarray(counts[spent <= u], dtype=np.float64)


def _exact(kinds: SignalKinds, page: int, u: float, counts: Floats) -> float:
    """Each multi-index is term N of a page with one kind, weighted by the kinds' shares."""
    worth, rates = kinds.signal_worth[page], kinds.signal_rate[page]
    useful = worth > 0  # signals that tell nothing are not waited for
    alpha, gamma = float(kinds.unsignalled_rate[page]), float(rates[useful].sum())
    if gamma == 0:
        return float(kinds.importance[page]) * _without_signals(u, alpha)
    spent = times(worth, counts).sum(axis=1)
    total = counts.sum(axis=1)
    shares = xlogy(counts, np.where(useful, rates / gamma, 1.0)).sum(axis=1)
    weight = np.exp(gammaln(total + 1.0) - gammaln(counts + 1.0).sum(axis=1) + shares - spent)
    terms = value_terms(_one_kind(u - spent, alpha, gamma), total.astype(np.int64))
    return float(kinds.importance[page] * (weight * terms).sum() / (alpha + gamma))


def _one_kind(nats: Floats, alpha: float, gamma: float) -> Sums:
    """Sums whose term N is the bracket of V: the kinds' q are in the weights, so b = 0 here."""
    zero, all_events = np.zeros_like(nats), alpha + gamma
    return Sums(
        a=np.full_like(nats, alpha / all_events),
        r=np.full_like(nats, gamma / all_events),
        b=zero,
        delta=np.full_like(nats, np.log1p(alpha / gamma)),
        elapsed_nats=nats,
        elapsed_signals=gamma * (nats / alpha),
        signals=zero,
        step=zero,
        u=nats,
    )


def _without_signals(u: float, rate: float) -> float:
    return float(-np.expm1(-u) - u * np.exp(-u)) / rate
