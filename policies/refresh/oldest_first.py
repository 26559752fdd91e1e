"""The pages fetched longest ago first: a plain sweep."""

from policies.refresh.filling import take_best
from policies.refresh.pages import FloatArray, PageColumns


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """Rank by elapsed time.  Uniform without its luck: every page waits exactly n / budget ticks."""
    return take_best(pages.elapsed, budget)
