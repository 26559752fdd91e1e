"""How much a fresh copy of each page is worth: from clicks, impressions, or the operator.

Demand of a page is thin, so counts are shrunk to their group: rate ~ Gamma with the group's mean and
`strength` pseudo-events; after c events in time t the rate is (strength + c) / (strength/mean + t).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STRENGTH = 2.0
LEAST_SHARE = 0.01  # of the mean: a page nobody asks for yet is still worth a look now and then


def demand_rates(
    events: Floats, watched: Floats, group: Ints, *, strength: float = STRENGTH
) -> Floats:
    """Clicks (or impressions) per unit of time of each page, shrunk to its group.

    A group's mean is shrunk to that of all pages in the same way; without any events all are equal.
    """
    groups = int(group.max(initial=-1)) + 1
    overall = (events.sum() + 1e-12) / max(float(watched.sum()), 1e-300)
    found, time = np.bincount(group, events, groups), np.bincount(group, watched, groups)
    mean = (strength * overall + found * overall) / (strength + time * overall)
    prior: Floats = mean[group]
    return prior * (strength + events) / (strength + watched * prior)


def clicks_from_impressions(
    clicks: Floats, impressions: Floats, impression_rate: Floats, *, strength: float = 20.0
) -> Floats:
    """Click rates where clicks are too few: impressions times a click-through rate shrunk to the mean."""
    overall = (clicks.sum() + 1e-12) / max(float(impressions.sum()), 1e-300)
    through: Floats = (clicks + strength * overall) / (impressions + strength)
    return impression_rate * through


def importance(demand: Floats, operator_weight: Floats) -> Floats:
    """Demand times the operator's weight, with mean 1 over the pages and a floor.

    The mean is fixed so that budgets and levels keep their scale when traffic grows.
    """
    if len(demand) == 0:
        return demand
    wanted = np.maximum(demand, LEAST_SHARE * float(demand.mean())) * operator_weight
    mean = float(wanted.mean())
    return wanted / mean if mean > 0 else np.ones(len(demand))
