"""LambdaCrawl: the rates that keep most clicks fresh if changes come at known, steady rates.

Three forms of one optimum.  Per step (000 Table 2): a page changes with probability D in a tick
and is fetched with probability rate, so its copy is fresh with probability
rate / (rate + D - rate * D).  Poisson (Azar et al.): changes and fetches both come at random times,
fresh with probability rate / (rate + Delta).  Continuous: fetches are evenly spaced, which random
ones cannot beat.  Each puts one multiplier on the budget; pages whose best fetch is worth less than
it are not fetched at all.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincinv

from policies.refresh.filling import spread_rest
from policies.refresh.multiplier import meet_budget, within_host_caps
from policies.refresh.pages import FloatArray, PageColumns

NO_BUDGET = 1e-12  # less than one fetch in thirty thousand years, if the unit is a second
SMALLEST, LARGEST = 1e-300, 1e300  # multipliers outside would lose digits or overflow


def lambda_rates_per_step(
    importance: FloatArray, change_probability: FloatArray, budget: float
) -> FloatArray:
    """rate = (sqrt(mu * D / multiplier) - D) / (1 - D), clipped to [0, 1], summing to the budget.

    mu importance, D change probability.  Table 2 prints the minus sign inside the root and a closed
    form of the multiplier that ignores the clipping: at tight budgets half of its rates are
    negative.  Pages with mu = 0 or D = 0 gain nothing from a fetch and get rate 0.
    """
    rates = np.zeros(len(importance))
    useful = np.flatnonzero((importance > 0.0) & (change_probability > 0.0))
    if len(useful) == 0 or budget < NO_BUDGET:
        return rates
    mu, change = importance[useful], np.minimum(change_probability[useful], 1.0)
    mu = mu / mu.max()
    root, steady = np.sqrt(mu) * np.sqrt(change), np.maximum(1.0 - change, 1e-16)

    def rates_at(multiplier: float) -> FloatArray:
        wanted: FloatArray = (root / np.sqrt(multiplier) - change) / steady
        return np.clip(wanted, 0.0, 1.0)

    low, high = float((mu * change).min()), float((mu / change).max())
    rates[useful] = meet_budget(rates_at, budget, max(low, SMALLEST), min(high, LARGEST))
    return rates


def lambda_rates_poisson(
    importance: FloatArray, change_rate: FloatArray, budget: float
) -> FloatArray:
    """rate = max(0, sqrt(mu * Delta / multiplier) - Delta), summing to the budget.

    mu importance, Delta change rate.  For crawlers that cannot keep a page's fetches evenly spaced.
    """
    rates = np.zeros(len(importance))
    useful = np.flatnonzero((importance > 0.0) & (change_rate > 0.0))
    if len(useful) == 0 or budget < NO_BUDGET:
        return rates
    mu, change = importance[useful] / importance.max(), change_rate[useful]
    root = np.sqrt(mu) * np.sqrt(change)

    def rates_at(multiplier: float) -> FloatArray:
        wanted: FloatArray = root / np.sqrt(multiplier) - change
        return np.clip(wanted, 0.0, budget)

    low, high = float((mu * change / (budget + change) ** 2).min()), float((mu / change).max())
    rates[useful] = meet_budget(rates_at, budget, max(low, SMALLEST), min(high, LARGEST))
    return rates


def lambda_rates_continuous(
    importance: FloatArray, change_rate: FloatArray, budget: float, *, max_rate: float = np.inf
) -> FloatArray:
    """mu / Delta * P(2, Delta / rate) = multiplier for every page fetched, summing to the budget.

    mu importance, Delta change rate, P the regularised lower incomplete gamma function; no page
    above max_rate.  The left side is the value of a fetch when it is due, so a page is fetched at
    all only if its supremum mu / Delta exceeds the multiplier.
    """
    rates = np.zeros(len(importance))
    useful = np.flatnonzero((importance > 0.0) & (change_rate > 0.0))
    if len(useful) == 0 or budget < NO_BUDGET:
        return rates
    mu, change = importance[useful] / importance.max(), change_rate[useful]
    most = min(max_rate, budget)

    def rates_at(multiplier: float) -> FloatArray:
        worth_fetching = np.minimum(multiplier / mu * change, 1.0)
        with np.errstate(divide="ignore"):  # a worth of 0 to rounding asks for an endless rate
            wanted: FloatArray = change / gammaincinv(2.0, worth_fetching)
        return np.minimum(wanted, most)

    supremum = mu / change
    low = float((supremum * gammainc(2.0, change / most)).min())
    high = float(supremum.max())
    rates[useful] = meet_budget(rates_at, budget, max(low, SMALLEST), min(high, LARGEST))
    return rates


def lambda_rates_capped(
    importance: FloatArray,
    change_rate: FloatArray,
    budget: float,
    *,
    host: NDArray[np.intp],
    host_cap: FloatArray,
) -> FloatArray:
    """The continuous optimum with at most host_cap[h] fetches per unit of time from host h."""

    def solve(some: NDArray[np.intp], share: float) -> FloatArray:
        return lambda_rates_continuous(importance[some], change_rate[some], share)

    return within_host_caps(solve, host, host_cap, budget)


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """The per-step form, as 000 runs it.

    Budget that the pages of known worth cannot use is spread over the others: an estimate of no
    clicks or no changes is more often a page hardly ever looked at.
    """
    optimum = lambda_rates_per_step(pages.importance, pages.change_probability, budget)
    return spread_rest(optimum, budget)


def rates_continuous(pages: PageColumns, budget: float) -> FloatArray:
    """The continuous form, at most one fetch of a page in a tick; spare budget is spread likewise."""
    change_per_tick = pages.change_rate * pages.tick
    optimum = lambda_rates_continuous(pages.importance, change_per_tick, budget, max_rate=1.0)
    return spread_rest(optimum, budget)
