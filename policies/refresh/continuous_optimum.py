"""The best any crawler could do on average: one threshold per page, fetches at any moment (003, Theorem 1).

Maximise sum mu_i w(u_i)/psi(u_i) subject to sum 1/psi(u_i) <= budget.  At the optimum every page is
fetched when its value V(u_i) reaches one level, the multiplier of the budget; pages whose supremum
mu/Delta lies below it are never fetched.  With a cap on a host's fetches V(u_i) = max(level, level
of the host) (KKT).  Without signals this is LambdaCrawl's continuous form, mu/Delta P(2, Delta/rate).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from policies.refresh.multiplier import within_host_caps
from policies.values.greedy_ncis import greedy_ncis_value, interval_freshness, interval_length
from policies.values.model import Floats, PageModel

# With full recall u only moves in steps.  A page that misses one change in 10^12 is the same page
# and has a continuous u.
FULL_RECALL = 1.0 - 1e-12


@dataclass(frozen=True, slots=True)
class Optimum:
    """Rates and fresh shares of the optimal continuous policy, shape (n_pages,)."""

    rates: Floats  # fetches per unit of time
    fresh_shares: Floats  # share of time each page is fresh
    levels: Floats  # value at which each page is fetched
    freshness: float  # share of requests that meet a fresh copy


def continuous_optimum(model: PageModel, budget: float) -> Optimum:
    """Spend `budget` fetches per unit of time on the pages of a model."""
    model = _with_reachable_levels(model)
    rates, shares = np.zeros(len(model)), np.zeros(len(model))
    shares[model.change_rate == 0] = 1.0
    useful = np.flatnonzero((model.change_rate > 0) & (model.importance > 0))
    level = 0.0
    if len(useful) and budget > 0:
        some = _Pages(model.take(useful))
        level = some.level(budget)
        rates[useful], shares[useful] = some.spend(level, budget)
    return _optimum(model, rates, shares, np.full(len(model), level))


def capped_optimum(
    model: PageModel, budget: float, *, host: NDArray[np.intp], host_cap: Floats
) -> Optimum:
    """The same with at most host_cap[h] fetches per unit of time from host h."""
    shares, levels = np.zeros(len(model)), np.zeros(len(model))

    def solve(pages: NDArray[np.intp], share: float) -> Floats:
        part = continuous_optimum(model.take(pages), share)
        shares[pages], levels[pages] = part.fresh_shares, part.levels
        return part.rates

    rates = within_host_caps(solve, host, host_cap, budget)
    return _optimum(model, rates, shares, levels)


def thresholds(model: PageModel, level: float, start: Floats | None = None) -> Floats:
    """u with V(u) = level for each page; infinite where the level is never reached.

    Newton on log V(log u), whose slope u V'/V lies in [0, 2], kept inside a bracket.
    """
    model = _with_reachable_levels(model)
    u = np.full(len(model), np.inf)
    rows = np.flatnonzero(level * model.change_rate < model.importance)
    pages, share = model.take(rows), level * model.change_rate[rows] / model.importance[rows]
    low = np.zeros(len(rows))
    # 1 - share <= exp(-u) (1 + u + b) at the threshold bounds u from above.
    worth = np.minimum(pages.signal_worth, 1e3)
    high = 2.0 * (5.0 + np.log1p(worth) - np.log1p(-share))
    guess = np.sqrt(share) if start is None else start[rows]
    guess = np.where((guess > 0) & (guess < high), guess, np.sqrt(share) * 0.5)
    live = np.arange(len(rows))
    for _ in range(200):
        some, at = pages.take(live), guess[live]
        elapsed = at / some.unsignalled_rate
        value = greedy_ncis_value(some, elapsed, 0.0)
        low[live] = np.where(value < level, at, low[live])
        high[live] = np.where(value >= level, at, high[live])
        slope = some.importance * at * np.exp(-at) * interval_length(some, elapsed)
        better = _newton(at, value, slope, level, low[live], high[live])
        going = (np.abs(value - level) > 1e-14 * level) & (better != at)
        live = live[going]
        guess[live] = better[going]
        if not len(live):
            break
    u[rows] = guess
    return u


def _newton(
    at: Floats, value: Floats, slope: Floats, level: float, low: Floats, high: Floats
) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        target = at * np.exp((np.log(level) - np.log(value)) * value / slope)
    inside = (target > low) & (target < high)
    return np.where(inside, target, 0.5 * (low + high))


class _Pages:
    """Rates as a function of the level, each solve started from the last."""

    def __init__(self, model: PageModel) -> None:
        self.model = model
        self.last: Floats | None = None

    def at(self, level: float) -> tuple[Floats, Floats]:
        """Rates and fresh shares when every page is fetched at this level."""
        u = self.last = thresholds(self.model, level, self.last)
        fetched = np.flatnonzero(np.isfinite(u))
        rates, shares = np.zeros(len(u)), np.zeros(len(u))
        some = self.model.take(fetched)
        elapsed = u[fetched] / some.unsignalled_rate
        rates[fetched] = 1.0 / interval_length(some, elapsed)
        shares[fetched] = interval_freshness(some, elapsed) * rates[fetched]
        return rates, shares

    def level(self, budget: float) -> float:
        """Where the rates sum to the budget; they fall as the level rises."""

        def excess(log_level: float) -> float:
            return float(self.at(np.exp(log_level))[0].sum()) - budget

        high = float(np.log((self.model.importance / self.model.change_rate).max()))
        low = high - 1.0
        while excess(low) < 0:
            low -= 2.0
        return float(np.exp(brentq(excess, low, high, xtol=1e-13, rtol=1e-14)))

    def spend(self, level: float, budget: float) -> tuple[Floats, Floats]:
        """Rates and shares that meet the budget exactly.

        Pages of almost full recall change their rate in jumps.  Mixing the rates just below and
        just above the level in time is as good as either: both maximise the same Lagrangian.
        """
        more, more_fresh = self.at(level * (1.0 - 1e-11))
        less, less_fresh = self.at(level * (1.0 + 1e-11))
        spread = float(more.sum() - less.sum())
        part = (budget - float(less.sum())) / spread if spread > 0 else 1.0
        return less + part * (more - less), less_fresh + part * (more_fresh - less_fresh)


def _with_reachable_levels(model: PageModel) -> PageModel:
    recall = np.minimum(model.signal_recall, FULL_RECALL)
    return PageModel(model.change_rate, model.importance, recall, model.false_signal_rate)


def _optimum(model: PageModel, rates: Floats, shares: Floats, levels: Floats) -> Optimum:
    total = float(model.importance.sum())
    freshness = float((model.importance * shares).sum()) / total if total > 0 else 1.0
    return Optimum(rates=rates, fresh_shares=shares, levels=levels, freshness=freshness)
