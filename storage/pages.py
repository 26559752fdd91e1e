"""What the crawl needs back: all pages as columns at start, and a tick's pages with their last state."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import aiosqlite
import numpy as np
from numpy.typing import NDArray

from storage.rows import HostMove, HostRow, RobotsRow

PAGE_COLUMNS = np.dtype(
    [
        ("id", np.int64),
        ("url_hash", np.int64),
        ("site_id", np.int32),
        ("host_id", np.int32),
        ("depth", np.int16),
        ("pattern_id", np.int32),
    ]
)
STATE_COLUMNS = np.dtype(
    [("page_id", np.int64), ("fetched_at", np.float64), ("not_before", np.float64)]
)


@dataclass(frozen=True, slots=True)
class KnownPages:
    """Every page as columns, in id order; `states` has a row for each page that was ever asked for."""

    pages: NDArray[Any]
    states: NDArray[Any]


class StoredOffer(NamedTuple):
    """An offer as last believed, with the value held back if there is one."""

    key: str
    price_micros: int | None
    currency: str | None
    availability: str | None
    first_seen_at: float
    changed_at: float
    gone_at: float | None
    held_price_micros: int | None
    held_currency: str | None
    held_at: float | None


class StoredPage(NamedTuple):
    """A page with what its last fetch left behind."""

    id: int
    url: str
    site_id: int
    host_id: int
    depth: int
    how: str
    discovered_at: float
    kind: str | None
    outcome: str | None
    fetched_at: float | None
    confirmed_at: float | None
    changed_at: float | None
    gone_at: float | None
    not_before: float | None
    fetches: int | None
    changes: int | None
    failures: int | None
    alias_of: int | None
    etag: str | None
    last_modified: str | None
    body_hash: int | None
    text_hash: int | None
    title: str | None


_STORED_PAGE = """
SELECT id, url, site_id, host_id, depth, how, discovered_at, kind, outcome, fetched_at, confirmed_at,
    changed_at, gone_at, not_before, fetches, changes, failures, alias_of, etag, last_modified, body_hash,
    text_hash, title
FROM page LEFT JOIN page_state ON page_state.page_id = page.id
"""
_STORED_OFFER = f"SELECT page_id, {', '.join(StoredOffer._fields)} FROM offer"  # noqa: S608  own names
_CHUNK = 500  # bound parameters in one statement


def load_known(connection: sqlite3.Connection) -> KnownPages:
    """All pages, for the crawl's memory: about a microsecond a page.

    A page refused without a fetch by a setting, or for want of a robots.txt, counts as new: either may be
    otherwise by now.
    """
    pages = connection.execute(
        "SELECT id, url_hash, site_id, host_id, depth, pattern_id FROM page ORDER BY id"
    )
    states = connection.execute(
        "SELECT page_id, fetched_at, not_before FROM page_state"
        " WHERE fetches > 0 OR outcome = 'robots' ORDER BY page_id"
    )
    # Straight from the cursor: a list of a million rows would take 300 MB on the way.
    return KnownPages(np.fromiter(pages, PAGE_COLUMNS), np.fromiter(states, STATE_COLUMNS))


async def load_pages(
    connection: aiosqlite.Connection, ids: Sequence[int]
) -> dict[int, tuple[StoredPage, tuple[StoredOffer, ...]]]:
    """The pages with these ids, each with its offers."""
    found: dict[int, StoredPage] = {}
    offers: dict[int, list[StoredOffer]] = {}
    for start in range(0, len(ids), _CHUNK):
        chunk = [int(page_id) for page_id in ids[start : start + _CHUNK]]
        marks = ", ".join("?" * len(chunk))
        for row in await connection.execute_fetchall(
            f"{_STORED_PAGE} WHERE id IN ({marks})", chunk
        ):
            found[row[0]] = StoredPage._make(row)
        for row in await connection.execute_fetchall(
            f"{_STORED_OFFER} WHERE page_id IN ({marks})", chunk
        ):
            offers.setdefault(row[0], []).append(StoredOffer._make(row[1:]))
    return {page_id: (page, tuple(offers.get(page_id, ()))) for page_id, page in found.items()}


async def load_hosts(connection: aiosqlite.Connection) -> list[HostRow]:
    columns = ", ".join(HostRow._fields)
    rows = await connection.execute_fetchall(f"SELECT {columns} FROM host ORDER BY id")  # noqa: S608
    return [HostRow._make(row) for row in rows]


async def load_robots(connection: aiosqlite.Connection) -> list[RobotsRow]:
    columns = ", ".join(RobotsRow._fields)
    rows = await connection.execute_fetchall(f"SELECT {columns} FROM robots")  # noqa: S608
    return [RobotsRow._make(row) for row in rows]


async def add_sites(connection: aiosqlite.Connection, names: Sequence[str]) -> None:
    """Gives an id to each of these sites that has none."""
    for name in names:
        await connection.execute("INSERT OR IGNORE INTO site (name) VALUES (?)", (name,))


async def move_hosts(connection: aiosqlite.Connection, moves: Sequence[HostMove]) -> None:
    """Gives all pages of a host to a site."""
    await connection.executemany("UPDATE page SET site_id = ? WHERE host_id = ?", moves)


async def load_sites(connection: aiosqlite.Connection) -> dict[str, int]:
    """The ids of all sites ever crawled."""
    rows = await connection.execute_fetchall("SELECT name, id FROM site")
    return {str(name): int(site_id) for name, site_id in rows}


async def load_urls(connection: aiosqlite.Connection, site_id: int) -> list[tuple[int, str]]:
    """(page, URL) of a site's pages."""
    query = "SELECT id, url FROM page WHERE site_id = ?"
    rows = await connection.execute_fetchall(query, (site_id,))
    return [(int(page_id), str(url)) for page_id, url in rows]


async def fetches_since(connection: aiosqlite.Connection, at: float) -> list[tuple[int, float]]:
    """(site id, started_at) of each fetch since then, newest first: what a restart has already spent."""
    spent: list[tuple[int, float]] = []
    query = "SELECT site_id, started_at FROM fetch JOIN page ON page.id = fetch.page_id ORDER BY fetch.id DESC"
    async with connection.execute(query) as cursor:
        async for site, started_at in cursor:
            if started_at < at:
                break
            spent.append((int(site), float(started_at)))
    return spent


async def was_cut_off(connection: aiosqlite.Connection) -> bool:
    """True when the last run did not come to its end."""
    query = "SELECT ended_at IS NULL FROM run ORDER BY id DESC LIMIT 1"
    return any(row[0] for row in await connection.execute_fetchall(query))


async def last_ids(connection: aiosqlite.Connection) -> dict[str, int]:
    """The highest id of each table whose ids the crawl gives out."""
    tables = ("run", "tick", "page", "host", "fetch")
    query = ", ".join(f"(SELECT coalesce(max(id), 0) FROM {name})" for name in tables)  # noqa: S608
    rows = list(await connection.execute_fetchall(f"SELECT {query}"))
    return dict(zip(tables, rows[0], strict=True))


async def load_single_prices(
    connection: aiosqlite.Connection, ids: Sequence[int]
) -> dict[int, tuple[int, str | None]]:
    """(price_micros, currency) of the pages among `ids` that have exactly one priced offer."""
    found: dict[int, tuple[int, str | None]] = {}
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        query = (
            "SELECT page_id, max(price_micros), max(currency) FROM offer"  # noqa: S608  only marks
            f" WHERE page_id IN ({', '.join('?' * len(chunk))})"
            " AND gone_at IS NULL AND price_micros IS NOT NULL GROUP BY page_id HAVING count(*) = 1"
        )
        for page_id, price_micros, currency in await connection.execute_fetchall(query, chunk):
            found[page_id] = (price_micros, currency)
    return found
