"""What the planner has learned, as columns: read back at the start of a run."""

import sqlite3
from dataclasses import dataclass
from typing import Any, NamedTuple

import aiosqlite
import numpy as np
from numpy.typing import NDArray

from storage.rows import PolicyRow, SourceRow

RHYTHM_COLUMNS = np.dtype(
    [
        ("page_id", np.int64),
        ("first_seen_at", np.float64),
        ("changed_at", np.float64),
        ("fetched_at", np.float64),
        ("changes", np.int32),
        ("price_level", np.int32),
    ]
)
LESSON_COLUMNS = np.dtype(
    [
        ("fetch_id", np.int64),
        ("page_id", np.int64),
        ("at", np.float64),
        ("changed", np.int8),
        ("signals", np.int16),
        ("discovered", np.int32),
        ("hinted", np.int32),
        ("believed", np.bool_),
        ("is_offer", np.bool_),
        ("price_micros", np.int64),
        ("tick_id", np.int64),
        ("source_kind", np.int8),
    ]
)
SIGNAL_COLUMNS = np.dtype(
    [("page_id", np.int64), ("kind", "S16"), ("changed_at", np.float64), ("waits", np.bool_)]
)
UNKNOWN = -1  # in `changed` and `price_micros`
SOURCE_KINDS = ("other", "listing", "sitemap", "feed")  # what a page without offers is


class Lesson(NamedTuple):
    """What one fetch taught, in the order of LESSON_COLUMNS."""

    fetch_id: int
    page_id: int
    at: float
    changed: int
    signals: int
    discovered: int
    hinted: int
    believed: bool
    is_offer: bool
    price_micros: int
    tick_id: int
    source_kind: int  # of SOURCE_KINDS


@dataclass(frozen=True, slots=True)
class Learned:
    """All that was learned: a row for each page kept fresh, each source and each policy."""

    rhythms: NDArray[Any]
    sources: list[SourceRow]
    policies: dict[str, PolicyRow]
    patterns: dict[str, int]


def load_learned(connection: sqlite3.Connection) -> Learned:
    columns = ", ".join(RHYTHM_COLUMNS.names or ())
    rhythms = connection.execute(
        f"SELECT {columns} FROM rhythm ORDER BY page_id"  # noqa: S608  own names
    )
    sources = connection.execute(
        f"SELECT {', '.join(SourceRow._fields)} FROM source ORDER BY place"  # noqa: S608
    )
    policies = connection.execute(
        f"SELECT {', '.join(PolicyRow._fields)} FROM policy"  # noqa: S608
    )
    patterns = connection.execute("SELECT pattern, id FROM pattern")
    return Learned(
        rhythms=np.fromiter(rhythms, RHYTHM_COLUMNS),
        sources=[SourceRow._make(row) for row in sources],
        policies={row[0]: PolicyRow._make(row) for row in policies},
        patterns={str(pattern): int(number) for pattern, number in patterns},
    )


_LESSONS = """
SELECT fetch.id, fetch.page_id, fetch.started_at + fetch.duration, coalesce(changed, -1), signals, discovered,
    hinted, fetch.outcome IN ('ok', 'not_modified'), coalesce(kind = 'offer', 0),
    coalesce((SELECT max(price_micros) FROM offer WHERE offer.page_id = fetch.page_id), -1), tick_id,
    CASE kind WHEN 'listing' THEN 1 WHEN 'source' THEN iif(how = 'feed', 3, 2) ELSE 0 END
FROM fetch JOIN page ON page.id = fetch.page_id
    LEFT JOIN page_state ON page_state.page_id = fetch.page_id
WHERE fetch.id > ? ORDER BY fetch.id LIMIT ?
"""


async def load_lessons(connection: aiosqlite.Connection, *, after: int, most: int) -> NDArray[Any]:
    """What the fetches after this one taught, oldest first: to catch up after a crash, or to learn anew."""
    rows = await connection.execute_fetchall(_LESSONS, (after, most))
    return np.fromiter((tuple(row) for row in rows), LESSON_COLUMNS)


def load_signals(connection: sqlite3.Connection) -> NDArray[Any]:
    """The newest signal of each kind about each page; it waits if no believed fetch came after it."""
    query = (
        "SELECT signal.page_id, signal.kind, max(signal.changed_at),"
        " coalesce(max(signal.changed_at) > confirmed_at, 0) FROM signal"
        " LEFT JOIN page_state ON page_state.page_id = signal.page_id"
        " GROUP BY signal.page_id, signal.kind"
    )
    return np.fromiter(connection.execute(query), SIGNAL_COLUMNS)
