"""What the captures of an archive show to be true: every page with one offer, its prices and when they held.

A price holds from the capture that shows it to the next one that shows another, or none.  Captures that say
nothing of the price (errors, walls, failures) are passed over.  Pages with several offers are not judged.
"""

import numpy as np

from crawler.archives.captures import ArchiveError
from crawler.archives.index import ArchiveIndex
from crawler.archives.transport import ArchiveTransport
from crawler.archives.truth import Truth
from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.fetching.transport import FetchError
from crawler.planning.scope import Scope
from crawler.reading.html.costly import looks_costly
from crawler.reading.page import read_page
from crawler.reading.rules import ReadingRules
from crawler.reading.urls import host_of
from crawler.site_rules import reading_rules

_GONE = -1
_SEVERAL = -2
_NOTHING_SAID = -3


def truth_of(index: ArchiveIndex, config: Config) -> Truth:
    """Reads every different body in the archive once, as the crawl would."""
    spans = run_virtual(_spans(index, config))
    if not spans:
        raise ArchiveError("the archive shows no page with one price, so nothing can be scored")
    return _columns(index, spans, config)


Spans = dict[str, list[tuple[float, int]]]  # URL -> (at, price or GONE), in order of time


async def _spans(index: ArchiveIndex, config: Config) -> Spans:
    """The steps of each page that has one offer."""
    scope = Scope(dict(enumerate(config.site)))
    rules = {
        host: reading_rules(config.reading, site.settings)
        for site in scope.sites.values()
        for host in site.hosts
    }
    spans: Spans = {}
    async with ArchiveTransport(index, Clock(index.first_at), limits=config.fetch) as transport:
        for rows in map(index.rows_of, index.pages.tolist()):
            url = index.url(rows.start)
            own = rules.get(host_of(url))
            if own is None or not index.is_html[rows.start : rows.stop].any():
                continue
            steps = _page_steps(index, transport, rows, own)
            prices = {price for _, price in steps}
            if _SEVERAL not in prices and any(price > 0 for price in prices):
                spans[url] = [step for step in steps if step[1] != _NOTHING_SAID]
    return spans


def _page_steps(
    index: ArchiveIndex, transport: ArchiveTransport, rows: range, rules: ReadingRules
) -> list[tuple[float, int]]:
    """What each capture of a page says of its price; a body that was met before is not read again."""
    known: dict[tuple[int, int], int] = {}
    steps = []
    for row in rows:
        body = (int(index.status[row]), int(index.digest[row]) or -row)
        if body not in known:
            known[body] = _price(index, transport, row, rules)
        steps.append((float(index.at[row]), known[body]))
    return steps


def _price(index: ArchiveIndex, transport: ArchiveTransport, row: int, rules: ReadingRules) -> int:
    status = int(index.status[row])
    if status in (404, 410):
        return _GONE
    if status != 200 or not index.is_html[row]:
        return _NOTHING_SAID
    try:
        reply = transport.capture(row)
    except FetchError:
        return _NOTHING_SAID
    if looks_costly(reply.body):
        return _NOTHING_SAID
    content_type = reply.headers.get("content-type")
    facts = read_page(reply.body, url=reply.url, content_type=content_type, status=200, rules=rules)
    prices = [offer.price_micros for offer in facts.offers if offer.price_micros is not None]
    if facts.trouble is not None or not prices:
        return _NOTHING_SAID
    return prices[0] if len(prices) == 1 else _SEVERAL


def _columns(index: ArchiveIndex, spans: Spans, config: Config) -> Truth:
    urls = tuple(spans)
    rows = [(number, *step) for number, url in enumerate(urls) for step in _steps(spans[url])]
    offer, at, until_at, price = (np.array(column) for column in zip(*rows, strict=True))
    scope = Scope(dict(enumerate(config.site)))
    owners = [scope.site_of_host(host_of(url)) for url in urls]
    captures = [np.diff([at for at, _ in steps]) for steps in spans.values()]
    gaps = np.concatenate([np.zeros(0), *captures])
    return Truth(
        urls=urls,
        sites=tuple(site.name for site in config.site),
        site=np.array([0 if owner is None else owner.site_id for owner in owners]),
        weight=np.ones(len(urls)),
        offer=offer.astype(np.int64),
        at=at.astype(np.float64),
        until_at=until_at.astype(np.float64),
        price_micros=price.astype(np.int64),
        captured_at=np.unique(index.at),
        between=float(np.median(gaps)) if len(gaps) else 0.0,
    )


def _steps(steps: list[tuple[float, int]]) -> list[tuple[float, float, int]]:
    """(at, until_at, price) of each span with one price."""
    changed = [
        step for place, step in enumerate(steps) if place == 0 or step[1] != steps[place - 1][1]
    ]
    ends = [at for at, _ in changed[1:]] + [np.inf]
    return [(at, end, p) for (at, p), end in zip(changed, ends, strict=True) if p != _GONE]
