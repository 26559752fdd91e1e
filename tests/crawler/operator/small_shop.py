"""A shop of eight offers, crawled for six virtual hours: what the reports are asked about."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from crawler.config import Config
from tests.fakes import STARTED_AT, Answer, config_for, crawl_virtually, offer_page, page

T = TypeVar("T")
HOUR = 3_600.0
ENDED_AT = STARTED_AT + 6 * HOUR
HOME = "http://a.test/"
FAST, SLOW = "http://a.test/p/1", "http://a.test/p/8"


def shop(url: str, at: float) -> Answer:
    """Offer n changes every n hours; one page is gone, one forbidden, one only another name, one throttles."""
    path = url.removeprefix(HOME)
    if path == "robots.txt":
        return Answer(f"User-agent: *\nDisallow: /private/\nSitemap: {HOME}sitemap.xml\n")
    if path == "sitemap.xml":
        return Answer(sitemap(at), headers={"content-type": "application/xml"})
    if url.startswith("http://b.test/"):
        return Answer(status=404) if path.endswith("robots.txt") else Answer(status=503)
    if path.startswith("p/"):
        number = int(path.removeprefix("p/"))
        return Answer(offer_page(f"{10 * number + int(at // (number * HOUR))}.50"))
    if path == "other-name":
        return Answer(status=301, headers={"location": "/p/2"})
    if path:
        return Answer(status=404)
    offers = [f"/p/{number}" for number in range(1, 9)]
    return Answer(page(*offers, "/private/x", "/gone", "/other-name", "http://b.test/busy"))


def sitemap(at: float) -> str:
    """Honest: every offer with the time of its last change."""
    entries = "".join(
        f"<url><loc>{HOME}p/{number}</loc><lastmod>{stamp(at // (number * HOUR) * number * HOUR)}</lastmod></url>"
        for number in range(1, 9)
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def stamp(at: float) -> str:
    return datetime.fromtimestamp(STARTED_AT + at, UTC).isoformat()


def small_config(database: Path, **tables: Any) -> Config:
    site = {"name": "test", "start": [HOME], "hosts": ["b.test"]}
    settings: dict[str, Any] = {
        "crawl": {"tick": "1m", "revisit": "1m", "stop_after": "6h"},
        "budget": {"per_hour": 60},
        "site": [site],
    }
    return config_for(database, [HOME], **(settings | tables))


def crawled(database: Path) -> Config:
    config = small_config(database)
    crawl_virtually(config, shop)
    return config


def ask(question: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(question)
