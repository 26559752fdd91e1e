"""Why was a page chosen?  The terms behind its price, in words an operator can act on."""

from functools import lru_cache

import numpy as np

from crawler.planning.hints import Hint
from crawler.planning.learner import Learner
from crawler.planning.plan import Purpose
from crawler.planning.planner import Choice
from crawler.planning.table import PageTable


def span(seconds: float) -> str:
    """Seconds in the unit a person would use."""
    for unit, length in (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if abs(seconds) >= 1.5 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} s"


def reasons(
    choices: tuple[Choice, ...], learner: Learner, table: PageTable, now: float
) -> list[str]:
    """One sentence for each choice, in order."""
    refreshed = np.array([c.page_id for c in choices if c.purpose is Purpose.REFRESH], np.int64)
    sources = np.array([c.page_id for c in choices if c.purpose is Purpose.DISCOVER], np.int64)
    terms = {
        **_refresh_terms(refreshed, learner, table, now),
        **_source_terms(sources, learner, table, now),
    }
    return [
        f"{terms.get(choice.page_id) or _first_terms(choice.page_id, table)};"
        f" worth {span(choice.value)}, going price {span(learner.level)}"
        for choice in choices
    ]


def _refresh_terms(
    rows: np.ndarray[tuple[int], np.dtype[np.int64]], learner: Learner, table: PageTable, now: float
) -> dict[int, str]:
    if len(rows) == 0:
        return {}
    stale = learner.rhythms.stale_probability(rows, now)
    rates = learner.rhythms.rates(rows)
    age = now - learner.rhythms.pages(rows).fetched_at
    return {
        row: f"stale with probability {p:.2f}: last seen {span(a)} ago, changes every {span(1 / r)}"
        + signal_words(int(table.hints[row]))
        for row, p, r, a in zip(
            rows.tolist(), stale.tolist(), rates.tolist(), age.tolist(), strict=True
        )
    }


def _source_terms(
    rows: np.ndarray[tuple[int], np.dtype[np.int64]], learner: Learner, table: PageTable, now: float
) -> dict[int, str]:
    if len(rows) == 0:
        return {}
    expected = learner.sources.expected(rows, now)
    return {
        row: f"{e:.2f} new pages expected, last looked {span(now - float(table.fetched_at[row]))} ago"
        for row, e in zip(rows.tolist(), expected.tolist(), strict=True)
    }


def _first_terms(page_id: int, table: PageTable) -> str:
    return "failed before, tried again" if table.tried[page_id] else "never fetched"


@lru_cache(maxsize=256)  # a mask has eight bits at most
def signal_words(mask: int) -> str:
    names = [hint.name.lower() for hint in Hint if hint & mask and hint.name]
    return f"; signalled by {', '.join(names)}" if names else ""
