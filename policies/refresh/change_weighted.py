"""Pages in proportion to how often they change (000 Table 2)."""

from policies.refresh.filling import proportional
from policies.refresh.pages import FloatArray, PageColumns


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """rate_i = budget * D_i / sum(D), D = change probability per tick (Delta).

    Known since Cho and Garcia-Molina to lose to uniform: it spends on pages that are stale again
    before anyone looks.
    """
    return proportional(pages.change_probability, budget)
