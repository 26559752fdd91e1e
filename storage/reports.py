"""Read-only questions for reports and exports."""

import sqlite3
from collections.abc import Iterator
from itertools import takewhile
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
    page_id: int


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


class FetchThen(NamedTuple):
    """One exchange of a page's history.  `changed`: 1, 0, or None when it taught nothing."""

    started_at: float
    outcome: str
    status: int | None
    changed: int | None
    purpose: str
    strategy: str
    reason: str
    note: str | None


class SignalNow(NamedTuple):
    """The newest signal of a kind for a page."""

    kind: str
    changed_at: float
    seen_at: float


class SourceNow(NamedTuple):
    """A page fetched for its links, and the new pages and signals it brought after its first fetch, which
    shows all there is."""

    page_id: int
    url: str
    site: str
    fetches: int
    discovered: int
    hinted: int


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
    source, confidence, page.id
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
_SOURCES = """
SELECT page.id, page.url, site.name, count(fetch.id),
    sum(fetch.discovered * (fetch.id > first.id)) AS discovered, sum(fetch.hinted * (fetch.id > first.id))
FROM source
JOIN page ON page.id = source.page_id
JOIN site ON site.id = page.site_id
JOIN fetch ON fetch.page_id = page.id
JOIN (SELECT page_id, min(id) AS id FROM fetch GROUP BY page_id) AS first ON first.page_id = page.id
GROUP BY page.id ORDER BY discovered DESC, 6 DESC, page.id
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


def fetches_of(connection: sqlite3.Connection, page_id: int, *, most: int) -> list[FetchThen]:
    """A page's last exchanges, newest first."""
    query = (
        "SELECT started_at, outcome, status, changed, purpose, strategy, reason, note FROM fetch"
        " WHERE page_id = ? ORDER BY id DESC LIMIT ?"
    )
    return [FetchThen._make(row) for row in connection.execute(query, (page_id, most))]


def signals_of(connection: sqlite3.Connection, page_id: int) -> list[SignalNow]:
    query = (
        "SELECT kind, max(changed_at), seen_at FROM signal WHERE page_id = ?"
        " GROUP BY kind ORDER BY kind"
    )
    return [SignalNow._make(row) for row in connection.execute(query, (page_id,))]


def shown_by(connection: sqlite3.Connection, page_id: int) -> str | None:
    """The URL of the page that showed this one first."""
    query = (
        "SELECT source.url FROM page JOIN page AS source ON source.id = page.source_id"
        " WHERE page.id = ?"
    )
    row = connection.execute(query, (page_id,)).fetchone()
    return None if row is None else str(row[0])


def fetches_since(connection: sqlite3.Connection, at: float) -> int:
    """Exchanges begun since then.  Fetches are numbered in time, so the newest are looked at first."""
    query = "SELECT started_at FROM fetch ORDER BY id DESC"
    return sum(1 for _ in takewhile(lambda row: row[0] >= at, connection.execute(query)))


def live_offers(connection: sqlite3.Connection) -> list[tuple[int, int]]:
    """(page, how many offers) of every page with offers that are still on it."""
    query = "SELECT page_id, count(*) FROM offer WHERE gone_at IS NULL GROUP BY page_id"
    return connection.execute(query).fetchall()


def sources_now(connection: sqlite3.Connection) -> list[SourceNow]:
    """Every source, those that showed most first."""
    return [SourceNow._make(row) for row in connection.execute(_SOURCES)]


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


def fetch_purposes(connection: sqlite3.Connection) -> Iterator[tuple[float, str]]:
    """(started_at, purpose) of every exchange, in order."""
    yield from connection.execute("SELECT started_at, purpose FROM fetch ORDER BY id")
