"""Turn weights, scores and due times into rates that keep the budget, and rates into picks."""

import numpy as np
from numpy.typing import NDArray

from policies.refresh.pages import FloatArray


def proportional(weights: FloatArray, budget: float) -> FloatArray:
    """rate_i = min(1, c * weight_i), with c such that the rates sum to the budget.

    000 Table 2 prints budget * weight_i / sum(weights), which asks for several fetches of one page
    in a tick when weights are skewed; what a page cannot use goes to the others in proportion.
    Pages of weight 0 get what is left once every other page is fetched for sure.
    """
    budget = min(budget, float(len(weights)))
    top = float(weights.max(initial=0.0))
    if top <= 0.0:
        return np.full(len(weights), budget / max(len(weights), 1))
    weights = weights / top  # so that neither huge nor subnormal weights leave float64's range
    heaviest_first = np.argsort(-weights)
    ordered = weights[heaviest_first]
    rest = np.cumsum(ordered[::-1])[::-1]  # weight of page k and all lighter ones
    full = np.arange(len(ordered))  # k pages at rate 1 leave budget - k to the rest
    fits = (budget - full) * ordered <= rest
    n_full = int(np.argmax(fits)) if fits.any() else len(ordered)
    rates = np.ones(len(weights))
    light = heaviest_first[n_full:]
    if len(light) == 0:
        return rates
    if rest[n_full] <= 0.0:
        rates[light] = (budget - n_full) / len(light)
    else:
        rates[light] = np.minimum(1.0, weights[light] * ((budget - n_full) / rest[n_full]))
    return rates


def spread_rest(rates: FloatArray, budget: float) -> FloatArray:
    """Give what rates leave of the budget to all pages, each by its distance from rate 1."""
    room = 1.0 - rates
    rest = min(budget, float(len(rates))) - float(rates.sum())
    if rest <= 1e-9 * budget:
        return rates
    return np.minimum(rates + room * (rest / float(room.sum())), 1.0)


def take_best(scores: FloatArray, budget: float) -> FloatArray:
    """Rate 1 for the highest scores; a broken budget leaves its fraction to the next in line."""
    rates = np.zeros(len(scores))
    if budget >= len(scores):
        rates[:] = 1.0
        return rates
    whole = int(budget)
    best = np.argpartition(-scores, whole)[: whole + 1]
    rates[best[:whole]] = 1.0
    rates[best[whole]] = budget - whole
    return rates


def take_due(elapsed: FloatArray, interval: FloatArray, budget: float) -> FloatArray:
    """Rate 1 for the pages longest overdue; pages within their interval wait, and budget is left."""
    due = np.flatnonzero(elapsed >= interval)
    rates = np.zeros(len(elapsed))
    rates[due] = take_best(elapsed[due] - interval[due], budget)
    return rates


def draw(rates: FloatArray, rng: np.random.Generator) -> NDArray[np.intp]:
    """Systematic sampling: page i is picked with probability rates[i], nobody twice.

    The number of picks is the sum of the rates, rounded up or down at random, so a budget that is a
    whole number is met exactly; independent coins would miss it by its square root.
    """
    upto = np.cumsum(rates)
    total = float(upto[-1]) if len(upto) else 0.0
    start, whole = rng.random(), round(total)
    if abs(total - whole) < 1e-6:
        # 4.999999999 is a budget of 5 that lost its last digit, not a chance of a fifth pick.
        points = (start + np.arange(whole)) * (total / max(whole, 1))
    else:
        points = start + np.arange(np.floor(total - start) + 1.0)
    last = np.searchsorted(upto, total)  # later pages have rate 0
    return np.unique(np.minimum(np.searchsorted(upto, points, side="right"), last))
