"""Pages in proportion to how often they are clicked (000 Table 2)."""

from policies.refresh.filling import proportional
from policies.refresh.pages import FloatArray, PageColumns


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """rate_i = budget * click_rate_i / sum(click_rate)  (mu)."""
    return proportional(pages.click_rate, budget)
