"""Every page again after the same time, as a cron job would."""

import numpy as np

from policies.refresh.filling import take_due
from policies.refresh.pages import FloatArray, PageColumns


def rates(pages: PageColumns, budget: float, *, interval: float) -> FloatArray:
    """Pages older than the interval, the longest overdue first, up to the budget."""
    return take_due(pages.elapsed, np.broadcast_to(interval, len(pages)), budget)
