"""Read-only questions for reports and exports."""

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple


class PriceNow(NamedTuple):
    """An offer as last believed.  `observed_at`: the last believed fetch of its page."""

    site: str
    url: str
    key: str
    title: str | None
    brand: str | None
    gtin: str | None
    sku: str | None
    seller: str | None
    condition: str | None
    category: str | None
    price_micros: int | None
    currency: str | None
    availability: str | None
    observed_at: float
    changed_at: float
    first_seen_at: float
    gone_at: float | None
    source: str
    confidence: float


class HostNow(NamedTuple):
    """A host and how it is treated."""

    name: str
    pages: int
    ready_at: float
    crawl_delay: float
    caution: float
    backoffs: int
    failures: int
    note: str | None


class SiteNow(NamedTuple):
    """What is known of a site."""

    name: str
    pages: int
    fetched: int
    offers: int
    gone: int
    oldest_at: float | None
    newest_at: float | None


class RunNow(NamedTuple):
    """A run of the crawler."""

    id: int
    started_at: float
    ended_at: float | None
    finish: str | None
    version: str


_PRICES = """
SELECT site.name, page.url, offer.key, offer.title, brand, gtin, sku, seller, condition, category,
    price_micros, currency, availability, confirmed_at, offer.changed_at, first_seen_at, offer.gone_at,
    source, confidence
FROM offer
JOIN page ON page.id = offer.page_id
JOIN site ON site.id = page.site_id
JOIN page_state ON page_state.page_id = page.id
WHERE confirmed_at IS NOT NULL AND (? OR offer.gone_at IS NULL)
ORDER BY page.id, offer.id
"""
_SITES = """
SELECT site.name, count(page.id), count(confirmed_at),
    (SELECT count(*) FROM offer JOIN page AS p ON p.id = offer.page_id
        WHERE p.site_id = site.id AND offer.gone_at IS NULL),
    count(gone_at), min(confirmed_at), max(confirmed_at)
FROM site
LEFT JOIN page ON page.site_id = site.id
LEFT JOIN page_state ON page_state.page_id = page.id
GROUP BY site.id ORDER BY site.name
"""
_HOSTS = """
SELECT name, (SELECT count(*) FROM page WHERE page.host_id = host.id), ready_at, crawl_delay, caution,
    backoffs, failures, note
FROM host ORDER BY name
"""
_DROPPED = """
SELECT coalesce(site.name, 'no site'), reason, links FROM dropped
LEFT JOIN site ON site.id = dropped.site_id ORDER BY links DESC
"""


def prices_now(connection: sqlite3.Connection, *, gone: bool) -> Iterator[PriceNow]:
    """Every offer, streamed; with `gone`, also those no longer on their pages."""
    for row in connection.execute(_PRICES, (gone,)):
        yield PriceNow._make(row)


def sites_now(connection: sqlite3.Connection) -> list[SiteNow]:
    return [SiteNow._make(row) for row in connection.execute(_SITES)]


def hosts_now(connection: sqlite3.Connection) -> list[HostNow]:
    return [HostNow._make(row) for row in connection.execute(_HOSTS)]


def last_run(connection: sqlite3.Connection) -> RunNow | None:
    query = "SELECT id, started_at, ended_at, finish, version FROM run ORDER BY id DESC LIMIT 1"
    row = connection.execute(query).fetchone()
    return None if row is None else RunNow._make(row)


def outcomes_since(connection: sqlite3.Connection, at: float) -> dict[str, int]:
    """How the fetches since then ended, most frequent first."""
    query = (
        "SELECT outcome, count(*) FROM fetch WHERE started_at >= ? GROUP BY outcome ORDER BY 2 DESC"
    )
    return dict(connection.execute(query, (at,)).fetchall())


def states_now(connection: sqlite3.Connection) -> dict[str, int]:
    """How each page's last fetch, or refusal to fetch, ended."""
    query = "SELECT outcome, count(*) FROM page_state GROUP BY outcome ORDER BY 2 DESC"
    return dict(connection.execute(query).fetchall())


def price_changes_since(connection: sqlite3.Connection, at: float) -> int:
    """Steps in price history after the first sight of their offer."""
    query = (
        "SELECT count(*) FROM price JOIN offer ON offer.id = price.offer_id"
        " WHERE price.observed_at >= ? AND price.observed_at > offer.first_seen_at"
    )
    return int(connection.execute(query, (at,)).fetchone()[0])


def dropped_links(connection: sqlite3.Connection) -> list[tuple[str, str, int]]:
    """(site, reason, links) not followed, most first."""
    return connection.execute(_DROPPED).fetchall()


def price_steps(connection: sqlite3.Connection) -> Iterator[tuple[str, float, int]]:
    """(url, observed_at, price_micros) of each step in price history that has a price."""
    query = (
        "SELECT page.url, observed_at, price.price_micros FROM price"
        " JOIN offer ON offer.id = price.offer_id JOIN page ON page.id = offer.page_id"
        " WHERE price.price_micros IS NOT NULL ORDER BY observed_at"
    )
    yield from connection.execute(query)


def first_sights(connection: sqlite3.Connection) -> Iterator[tuple[str, float]]:
    """(url, discovered_at) of every page."""
    yield from connection.execute("SELECT url, discovered_at FROM page ORDER BY id")
