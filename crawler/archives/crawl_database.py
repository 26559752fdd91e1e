"""A crawl's own database as an archive: each of its fetches is a capture.

The database keeps what pages taught, not their bytes, so each page is written anew: its title, its offers as they were
believed after that fetch, and the links that were first seen on it by then.  Signals are not kept in that form.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from html import escape
from pathlib import Path

import numpy as np

from crawler.archives.captures import (
    Capture,
    Contents,
    Exchange,
    Kind,
    Place,
    UnreadableError,
    hash_text,
)
from crawler.archives.warc import Watch
from crawler.fetching.outcome import Outcome, outcome_of_status
from storage.database import open_to_read
from storage.history import (
    FetchThen,
    OfferThen,
    RobotsThen,
    discoveries,
    fetch_then,
    fetches_then,
    offers_then,
    robots_then,
    url_of,
)

_SOON = 1.0  # seconds after a fetch in which its links are written down
_HTML = (("content-type", "text/html; charset=utf-8"),)


def read_captures(path: Path, contents: Contents, *, watch: Watch) -> Iterator[Capture]:
    """Every fetch in order, then each robots.txt.  A place is the fetch's number, or minus that of a robots.txt."""
    with open_to_read(path) as connection:
        for fetch in fetches_then(connection):
            contents.records["fetch"] += 1
            yield _capture(fetch)
        for number, robots in enumerate(robots_then(connection), start=1):
            contents.records["robots"] += 1
            yield _robots_capture(robots, number)
    watch(path.stat().st_size)


def _capture(fetch: FetchThen) -> Capture:
    kind = _kind(fetch)
    hashed = fetch.body_hash is not None and kind is Kind.RESPONSE
    return Capture(
        url=fetch.url,
        at=fetch.started_at,
        kind=kind,
        status=0 if kind is Kind.FAILURE else fetch.status or 0,
        place=Place(fetch.id, 0),
        duration=fetch.duration,
        digest=hash_text(str(fetch.body_hash)) if hashed else 0,
        is_html=kind is not Kind.FAILURE,
    )


def _kind(fetch: FetchThen) -> Kind:
    """What can be answered again as HTTP; the rest fails again under its own name."""
    outcome, status = Outcome(fetch.outcome), fetch.status
    if outcome is Outcome.NOT_MODIFIED:
        return Kind.NOT_MODIFIED
    if outcome is Outcome.ALIAS:
        return Kind.RESPONSE
    if status is None or outcome_of_status(status) is not outcome:
        return Kind.FAILURE
    lost = outcome is Outcome.REDIRECTED and fetch.target is None
    return Kind.FAILURE if lost else Kind.RESPONSE


def _robots_capture(robots: RobotsThen, number: int) -> Capture:
    answered = robots.status is not None
    return Capture(
        url=f"{robots.origin}/robots.txt",
        at=robots.fetched_at,
        kind=Kind.RESPONSE if answered else Kind.FAILURE,
        status=robots.status or 0,
        place=Place(-number, 0),
    )


class DatabaseReader:
    """Writes pages anew from a database.  Close it when done."""

    def __init__(self, path: Path) -> None:
        self._open = ExitStack()
        self._connection = self._open.enter_context(open_to_read(path))
        self._robots = robots_then(self._connection)
        found = np.array(list(discoveries(self._connection)), dtype=np.float64).reshape(-1, 3)
        # Shape (n_discoveries,), by source.  Page numbers are exact in a float up to 2^53.
        self._sources, self._pages = found[:, 0].astype(np.int64), found[:, 1].astype(np.int64)
        self._discovered_at = found[:, 2]

    def close(self) -> None:
        self._open.close()

    def read(self, place: Place, *, limit: int) -> Exchange:
        if place.offset < 0:
            return _robots_exchange(self._robots[-place.offset - 1])
        fetch = fetch_then(self._connection, place.offset)
        if fetch is None:
            raise UnreadableError("a fetch that is no longer in the database")
        if _kind(fetch) is Kind.FAILURE:
            return Exchange(fetch.url, 0, (), b"", failure=fetch.outcome)
        status = fetch.status or 200
        if fetch.target is not None and Outcome(fetch.outcome) is Outcome.REDIRECTED:
            return Exchange(fetch.url, status, (("location", fetch.target),), b"")
        body = self._page(fetch) if status == 200 else ""
        return Exchange(fetch.url, status, _HTML, body.encode("utf-8", "replace"))

    def _page(self, fetch: FetchThen) -> str:
        title = escape(fetch.title or "A page")
        alias = Outcome(fetch.outcome) is Outcome.ALIAS and fetch.target is not None
        canonical = f'<link rel=canonical href="{escape(fetch.target or "")}">' if alias else ""
        offers = offers_then(self._connection, fetch)
        data = "".join(_script(offer, fetch.title) for offer in offers)
        links = "".join(
            f'<li><a href="{escape(url)}">{escape(url)}</a>' for url in self._links(fetch)
        )
        return (
            f"<!doctype html><html><head><title>{title}</title>{canonical}{data}</head><body><h1>{title}</h1>"
            f"<p>Written from the database of a crawl, as it knew this page then.</p><ul>{links}</ul>"
        )

    def _links(self, fetch: FetchThen) -> list[str]:
        start, stop = np.searchsorted(self._sources, (fetch.page_id, fetch.page_id + 1))
        known_at = fetch.started_at + fetch.duration + _SOON
        seen = self._discovered_at[start:stop] <= known_at
        return [url_of(self._connection, int(page)) for page in self._pages[start:stop][seen]]


def _robots_exchange(robots: RobotsThen) -> Exchange:
    url = f"{robots.origin}/robots.txt"
    if robots.status is None:
        return Exchange(url, 0, (), b"", failure=robots.outcome)
    return Exchange(url, robots.status, (("content-type", "text/plain"),), robots.body or b"")


def _script(offer: OfferThen, page_title: str | None) -> str:
    """The offer as JSON-LD."""
    stated: dict[str, object] = {"@type": "Offer", "priceCurrency": offer.currency}
    if offer.price_micros is not None:
        whole, millionths = divmod(offer.price_micros, 1_000_000)
        stated["price"] = f"{whole}.{millionths:06}"
    if offer.availability:
        words = offer.availability.split("_")
        stated["availability"] = "https://schema.org/" + "".join(word.title() for word in words)
    product = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": offer.title or page_title or "An offer",
        "sku": offer.sku,
        "brand": offer.brand,
        "category": offer.category,
        "offers": stated,
    }
    known = {name: value for name, value in product.items() if value is not None}
    text = json.dumps(known).replace("<", "\\u003c")
    return f'<script type="application/ld+json">{text}</script>'
