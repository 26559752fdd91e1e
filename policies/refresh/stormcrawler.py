"""StormCrawler's adaptive scheduler: Nutch's idea with larger steps."""

import numpy as np
from numpy.typing import NDArray

from policies.refresh.filling import take_due
from policies.refresh.pages import FloatArray, PageColumns

AFTER_UNCHANGED = 1.5  # scheduler.adaptive.fetchInterval.rate.incr = 0.5
AFTER_CHANGE = 0.5  # scheduler.adaptive.fetchInterval.rate.decr = 0.5


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """Pages whose interval is over, the longest overdue first, up to the budget."""
    return take_due(pages.elapsed, pages.interval, budget)


def next_interval(
    interval: FloatArray, changed: NDArray[np.bool_], *, shortest: float, longest: float
) -> FloatArray:
    """interval * 0.5 if the fetch found a change, else * 1.5, within [shortest, longest].

    At rest a share c = ln 1.5 / ln 3 = 0.37 of a page's fetches find a change.
    """
    factor = np.where(changed, AFTER_CHANGE, AFTER_UNCHANGED)
    return np.clip(interval * factor, shortest, longest)
