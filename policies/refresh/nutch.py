"""Apache Nutch's adaptive schedule: wait longer after an unchanged fetch, shorter after a change."""

import numpy as np
from numpy.typing import NDArray

from policies.refresh.filling import take_due
from policies.refresh.pages import FloatArray, PageColumns

AFTER_UNCHANGED = 1.4  # db.fetch.schedule.adaptive.inc_rate = 0.4
AFTER_CHANGE = 0.8  # db.fetch.schedule.adaptive.dec_rate = 0.2


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """Pages whose interval is over, the longest overdue first, up to the budget."""
    return take_due(pages.elapsed, pages.interval, budget)


def next_interval(
    interval: FloatArray, changed: NDArray[np.bool_], *, shortest: float, longest: float
) -> FloatArray:
    """interval * 0.8 if the fetch found a change, else * 1.4, within [shortest, longest].

    At rest a page is fetched so that 0.8^c * 1.4^(1-c) = 1, i.e. a share c = 0.60 of its fetches
    find a change, whatever its rate is worth.
    """
    factor = np.where(changed, AFTER_CHANGE, AFTER_UNCHANGED)
    return np.clip(interval * factor, shortest, longest)
