"""A table of prices as a transport: a small shop with a page for each offer, as it was at the clock's time.

/                  links to the groups (a category, a brand: what the table tells apart)
/group/G/N         the live offers of group G, newest first; page N of several
/offer/N           the offer's price in JSON-LD; 404 before it was first and after it was last seen
"""

import json
from bisect import bisect_right
from html import escape

import numpy as np

from crawler.archives.price_table import PriceTable
from crawler.archives.transport import Support
from crawler.clock import Clock
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import HostError, Reply, Request
from crawler.reading.urls import host_of, origin_of

_LISTED = 50  # offers on a page of a group
_DURATION = 0.2  # seconds: a table knows no answer times
_HEADERS = {"content-type": "text/html; charset=utf-8"}


class TableTransport:
    """Answers for every table at its own host.  `support` counts what was asked of offers and listings."""

    def __init__(self, tables: list[PriceTable], clock: Clock) -> None:
        self._shops = {table.host: TableShop(table) for table in tables}
        self._clock = clock
        self.support = Support()

    async def send(self, request: Request) -> Reply:
        shop = self._shops.get(host_of(request.url))
        if shop is None:
            raise HostError(Outcome.DNS, f"{request.url}: no such table")
        path = request.url.removeprefix(origin_of(request.url))
        if path != "/robots.txt":
            self.support.asked += 1
            self.support.answered += 1
        found = shop.page(path, self._clock.now())
        await self._clock.sleep_until(self._clock.now() + _DURATION)
        if found is None:
            return Reply(request.url, 404, _HEADERS, b"", 0, _DURATION)
        body, etag = found
        if etag and request.etag == etag:
            return Reply(request.url, 304, {"etag": etag}, b"", 0, _DURATION)
        headers = {**_HEADERS, "etag": etag} if etag else _HEADERS
        return Reply(request.url, 200, headers, body.encode(), len(body), _DURATION)


class TableShop:
    """One table's pages.  Pure: time is an argument."""

    def __init__(self, table: PriceTable) -> None:
        self._table = table
        truth = table.truth
        self._first = np.searchsorted(truth.offer, np.arange(len(truth.urls) + 1))
        self._at, self._until = truth.at.tolist(), truth.until_at.tolist()
        self._members = [
            np.flatnonzero(table.group == group)[::-1] for group in range(len(table.groups))
        ]

    def page(self, path: str, at: float) -> tuple[str, str] | None:
        """HTML and ETag of a path at `at`; None where nothing is."""
        kind, *numbers = path.strip("/").split("/")
        if not kind:
            return self._home(), ""
        if not all(number.isascii() and number.isdecimal() for number in numbers):
            return None
        if kind == "offer" and len(numbers) == 1:
            return self._offer(int(numbers[0]), at)
        if kind == "group" and len(numbers) == 2:
            return self._listing(int(numbers[0]), int(numbers[1]), at)
        return None

    def _home(self) -> str:
        links = "".join(
            f'<li><a href="/group/{number}/1">{escape(name)}</a></li>'
            for number, name in enumerate(self._table.groups)
        )
        return _document(self._table.host, f"<ul>{links}</ul>")

    def _listing(self, group: int, page: int, at: float) -> tuple[str, str] | None:
        if group >= len(self._members) or page < 1:
            return None
        truth, members = self._table.truth, self._members[group]
        live = members[(truth.born_at[members] <= at) & (truth.gone_at[members] > at)]
        live = live[np.argsort(-truth.born_at[live], kind="stable")]
        shown = live[(page - 1) * _LISTED : page * _LISTED].tolist()
        if not shown and page > 1:
            return None
        items = "".join(
            f'<li><a href="/offer/{number}">{escape(self._table.titles[number])}</a></li>'
            for number in shown
        )
        more = f'<a rel="next" href="/group/{group}/{page + 1}">Next</a>'
        following = more if page * _LISTED < len(live) else ""
        name = self._table.groups[group]
        return _document(name, f"<ul>{items}</ul>{following}"), ""

    def _offer(self, number: int, at: float) -> tuple[str, str] | None:
        if number >= len(self._table.truth.urls):
            return None
        start, end = int(self._first[number]), int(self._first[number + 1])
        row = bisect_right(self._at, at, start, end) - 1
        if row < start or self._until[row] <= at:
            return None
        return self._offer_page(number, row), f'"{row}"'

    def _offer_page(self, number: int, row: int) -> str:
        table = self._table
        price = f"{int(table.truth.price_micros[row]) / 1e6:.6f}".rstrip("0").rstrip(".")
        product = {
            "@context": "https://schema.org",
            "@type": "Product",
            "name": table.titles[number],
            "sku": str(number),
            "brand": table.brands[number],
            "category": table.groups[int(table.group[number])],
            "offers": {
                "@type": "Offer",
                "price": price,
                "priceCurrency": table.currencies[number],
                "availability": "https://schema.org/InStock",
            },
        }
        data = json.dumps(product).replace("<", "\\u003c")
        shown = f"<p class=price>{price} {escape(table.currencies[number])}</p>"
        script = f'<script type="application/ld+json">{data}</script>'
        return _document(table.titles[number], shown, head=script)


def _document(title: str, body: str, *, head: str = "") -> str:
    name = escape(title)
    return (
        f"<!doctype html><html><head><title>{name}</title>{head}</head>"
        f"<body><h1>{name}</h1>{body}</body></html>"
    )
