"""When will a page be worth a fetch, if prices stay as they are?"""

import numpy as np

from crawler.config.model import PlanningSettings
from crawler.planning.learner import Learner
from crawler.planning.terms import FirstTerms, RefreshTerms, Terms

_FARTHEST = 60 * 86_400.0
_HALVINGS = 40  # of 60 days: 5 us


def due_at(
    page_id: int,
    terms: Terms,
    learner: Learner,
    level: float,
    now: float,
    *,
    settings: PlanningSettings,
) -> float | None:
    """The moment its value reaches `level`; None when it does not within 60 days as things stand.

    By halving, on the very value that plans use: a closed form would have to follow every term of it.
    """
    if terms.value >= level:
        return now
    if isinstance(terms, FirstTerms):
        return None
    row = np.array([page_id], np.int64)

    def value(at: float) -> float:
        if isinstance(terms, RefreshTerms):
            return float(learner.rhythms.value(row, at)[0])
        return float(learner.sources.price(row, at, worth=settings.worth_new)[0])

    forced = terms.seen_at + settings.max_interval
    early, late = now, min(now + _FARTHEST, max(forced, now))
    if value(late) < level:
        return late if late == forced else None
    for _ in range(_HALVINGS):
        middle = (early + late) / 2.0
        early, late = (early, middle) if value(middle) >= level else (middle, late)
    return late
