"""When will a page be worth a fetch, if prices stay as they are?"""

import numpy as np

from crawler.config.model import PlanningSettings
from crawler.planning.learner import Learner
from crawler.planning.terms import RefreshTerms, SourceTerms, Terms

_AHEAD = [1.03**step for step in range(1, 521)]  # seconds: 3 % steps, up to 54 days


def due_at(
    page_id: int,
    terms: Terms,
    learner: Learner,
    level: float,
    now: float,
    *,
    settings: PlanningSettings,
) -> float | None:
    """The moment its value reaches `level`; None when it does not as things stand."""
    if terms.value >= level:
        return now
    row = np.array([page_id], np.int64)
    match terms:
        case RefreshTerms():
            due = float(learner.rhythms.due_at(row, max(level, 1e-300))[0])
            return max(now, min(due, terms.seen_at + settings.max_interval))
        case SourceTerms():
            return _source_due(row, learner, level, now, worth_new=settings.worth_new)
        case _:
            return None


def _source_due(
    row: np.ndarray[tuple[int], np.dtype[np.int64]],
    learner: Learner,
    level: float,
    now: float,
    *,
    worth_new: float,
) -> float | None:
    """A source's price has no inverse worth writing: its rate, hour and age all move."""
    for ahead in _AHEAD:
        if learner.sources.price(row, now + ahead, worth=worth_new)[0] >= level:
            return now + ahead
    return None
