"""Every page at the same rate (000 Table 2)."""

import numpy as np

from policies.refresh.pages import FloatArray, PageColumns


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """rate_i = budget / n.  Needs no estimate, hence cannot be misled by one."""
    n_pages = len(pages)
    return np.full(n_pages, min(1.0, budget / max(n_pages, 1)))
