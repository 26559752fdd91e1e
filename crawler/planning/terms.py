"""The numbers behind a page's price, for plans and explanations."""

from dataclasses import dataclass

import numpy as np

from crawler.planning.hints import Hint
from crawler.planning.learner import Learner
from crawler.planning.planner import SECOND_TRY
from crawler.planning.table import PageTable

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class RefreshTerms:
    """A page kept fresh.  `low` and `high` hold its rate with probability 0.9."""

    value: float
    importance: float
    probability_fresh: float
    changes_per_day: float
    changes_per_day_low: float
    changes_per_day_high: float
    seen_at: float
    changes_found: int
    signals_waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceTerms:
    """A page fetched for its links."""

    value: float
    expected_discoveries: float
    discoveries_per_day: float
    seen_at: float


@dataclass(frozen=True, slots=True)
class FirstTerms:
    """A page that has not shown yet what it is.  `prospect`: chance that such a page is worth having."""

    value: float
    importance: float
    prospect: float
    tried: bool


Terms = RefreshTerms | SourceTerms | FirstTerms


def terms_of(
    page_id: int, learner: Learner, table: PageTable, now: float, *, worth_new: float
) -> Terms:
    row = np.array([page_id], np.int64)
    if learner.rhythms.knows(row)[0]:
        return _refresh(row, learner, table, now)
    if learner.sources.mask(row)[0]:
        return _source(row, learner, now, worth_new)
    prospect = learner.prospects.of(
        pattern=table.pattern[row].astype(np.int64), site=table.site[row].astype(np.int64)
    )
    importance, tried = float(table.importance[page_id]), bool(table.tried[page_id])
    chance = float(prospect[0]) * (SECOND_TRY if tried else 1.0)
    return FirstTerms(worth_new * chance * importance, importance, chance, tried)


def _refresh(
    row: np.ndarray[tuple[int], np.dtype[np.int64]], learner: Learner, table: PageTable, now: float
) -> RefreshTerms:
    rhythms = learner.rhythms
    low, high = rhythms.rate_interval(row)
    pages = rhythms.pages(row)
    waiting = int(table.hints[row[0]])
    return RefreshTerms(
        value=float(rhythms.value(row, now)[0]),
        importance=float(table.importance[row[0]]),
        probability_fresh=float(rhythms.fresh_probability(row, now)[0]),
        changes_per_day=float(rhythms.rates(row)[0]) * _DAY,
        changes_per_day_low=float(low[0]) * _DAY,
        changes_per_day_high=float(high[0]) * _DAY,
        seen_at=float(pages.fetched_at[0]),
        changes_found=int(pages.changes[0]),
        signals_waiting=tuple(hint.name.lower() for hint in Hint if hint & waiting and hint.name),
    )


def _source(
    row: np.ndarray[tuple[int], np.dtype[np.int64]], learner: Learner, now: float, worth_new: float
) -> SourceTerms:
    sources = learner.sources
    return SourceTerms(
        value=float(sources.price(row, now, worth=worth_new)[0]),
        expected_discoveries=float(sources.expected(row, now)[0]),
        discoveries_per_day=24.0 * float(sources.rate(row, now)[0]),
        seen_at=float(sources.fetched_at(row)[0]),
    )
