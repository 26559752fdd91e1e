"""What a crawl saw at the time of each of its fetches: read-only questions for replaying it."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple


class FetchThen(NamedTuple):
    """One exchange.  `target`: where a redirect or alias led."""

    id: int
    page_id: int
    url: str
    started_at: float
    duration: float
    outcome: str
    status: int | None
    body_hash: int | None
    title: str | None
    target: str | None


class OfferThen(NamedTuple):
    """An offer as it was believed after a fetch."""

    title: str | None
    sku: str | None
    brand: str | None
    category: str | None
    price_micros: int | None
    currency: str | None
    availability: str | None


class RobotsThen(NamedTuple):
    """The last robots.txt of an origin."""

    origin: str
    fetched_at: float
    outcome: str
    status: int | None
    body: bytes | None


_FETCHES = """
SELECT fetch.id, fetch.page_id, page.url, fetch.started_at, fetch.duration, fetch.outcome, fetch.status,
    fetch.body_hash, page_state.title, target.url
FROM fetch
JOIN page ON page.id = fetch.page_id
LEFT JOIN page_state ON page_state.page_id = page.id
LEFT JOIN page AS target ON target.id = page_state.alias_of
"""
_OFFERS = """
SELECT title, sku, brand, category, price.price_micros, price.currency, price.availability
FROM offer JOIN price ON price.offer_id = offer.id
WHERE offer.page_id = :page_id AND (offer.gone_at IS NULL OR offer.gone_at > :at)
    AND price.observed_at = (
        SELECT max(observed_at) FROM price AS step
        WHERE step.offer_id = offer.id AND step.fetch_id <= :fetch_id
    )
ORDER BY offer.id
"""


def fetches_then(connection: sqlite3.Connection) -> Iterator[FetchThen]:
    """Every exchange, in order."""
    for row in connection.execute(_FETCHES + "ORDER BY fetch.id"):
        yield FetchThen._make(row)


def fetch_then(connection: sqlite3.Connection, fetch_id: int) -> FetchThen | None:
    row = connection.execute(_FETCHES + "WHERE fetch.id = ?", (fetch_id,)).fetchone()
    return None if row is None else FetchThen._make(row)


def offers_then(connection: sqlite3.Connection, fetch: FetchThen) -> list[OfferThen]:
    """The offers of the fetched page as they stood when the fetch was over."""
    ended_at = fetch.started_at + fetch.duration
    asked = {"page_id": fetch.page_id, "fetch_id": fetch.id, "at": ended_at}
    return [OfferThen._make(row) for row in connection.execute(_OFFERS, asked)]


def robots_then(connection: sqlite3.Connection) -> list[RobotsThen]:
    query = "SELECT origin, fetched_at, outcome, status, body FROM robots ORDER BY origin"
    return [RobotsThen._make(row) for row in connection.execute(query)]


def discoveries(connection: sqlite3.Connection) -> Iterator[tuple[int, int, float]]:
    """(source, page, discovered_at) of every page that was first seen on another, by source."""
    yield from connection.execute(
        "SELECT source_id, id, discovered_at FROM page WHERE source_id IS NOT NULL"
        " ORDER BY source_id, id"
    )


def url_of(connection: sqlite3.Connection, page_id: int) -> str:
    return str(connection.execute("SELECT url FROM page WHERE id = ?", (page_id,)).fetchone()[0])
