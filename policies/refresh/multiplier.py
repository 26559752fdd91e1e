"""Find the Lagrange multiplier at which a family of falling rates spends a budget."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from policies.refresh.pages import FloatArray

RatesAt = Callable[[float], FloatArray]


def meet_budget(rates_at: RatesAt, budget: float, low: float, high: float) -> FloatArray:
    """Rates at the multiplier in [low, high] where they sum to the budget.

    `rates_at` must fall with the multiplier.  Ridders' method on the logarithm: superlinear where
    the sum is smooth, and at least a bisection a step where it jumps (a page with
    change_probability 1 goes from rate 0 to 1 at once).  The rates at the two ends of the last
    bracket are blended, which meets the budget to rounding in both cases.
    """
    # A little wider than asked: where rates jump, both ends may be the jump itself.
    left, right = float(np.log(low)) - 1e-9, float(np.log(high)) + 1e-9
    at_left, at_right = rates_at(float(np.exp(left))), rates_at(float(np.exp(right)))
    if at_left.sum() <= budget:
        return at_left
    for _ in range(80):
        over, under = float(at_left.sum()) - budget, budget - float(at_right.sum())
        middle = 0.5 * (left + right)
        if min(over, under) <= 1e-13 * budget or not left < middle < right:
            break
        at_middle = rates_at(float(np.exp(middle)))
        between = float(at_middle.sum()) - budget
        guess = middle + (middle - left) * between / float(np.sqrt(between**2 + over * under))
        for point, rates in ((middle, at_middle), (guess, rates_at(float(np.exp(guess))))):
            if left < point < right and rates.sum() > budget:
                left, at_left = point, rates
            elif left < point < right:
                right, at_right = point, rates
    return _blend(at_left, at_right, budget)


def _blend(over: FloatArray, under: FloatArray, budget: float) -> FloatArray:
    spread = float(over.sum()) - float(under.sum())
    share = (budget - float(under.sum())) / spread if spread > 0.0 else 1.0
    return under + share * (over - under)


def within_host_caps(
    solve: Callable[[NDArray[np.intp], float], FloatArray],
    host: NDArray[np.intp],
    cap: FloatArray,
    budget: float,
) -> FloatArray:
    """Rates for all pages, no host above its cap (KKT: V_i = max(level, level of its host)).

    `solve(pages, budget)` shares a budget among some pages.  Hosts that want more than their cap get
    exactly the cap; what they give back lowers the level for the others, so a host once capped stays
    capped and the loop ends after at most as many rounds as there are hosts.
    """
    rates = np.zeros(len(host))
    open_pages = np.arange(len(host))
    left = budget
    while len(open_pages):
        rates[open_pages] = solve(open_pages, left)
        load = np.bincount(host[open_pages], rates[open_pages], minlength=len(cap))
        over = np.flatnonzero(load > cap * (1.0 + 1e-12))
        if len(over) == 0:
            break
        for h in over:
            members = open_pages[host[open_pages] == h]
            rates[members] = solve(members, float(cap[h]))
        left -= float(cap[over].sum())
        open_pages = open_pages[~np.isin(host[open_pages], over)]
    return rates
