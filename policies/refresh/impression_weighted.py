"""Pages in proportion to how often they are shown (000 Table 2)."""

from policies.refresh.filling import proportional
from policies.refresh.pages import FloatArray, PageColumns


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """rate_i = budget * impression_rate_i / sum(impression_rate)  (nu): clicks, less sparsely."""
    return proportional(pages.impression_rate, budget)
