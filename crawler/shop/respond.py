"""One request to a simulated shop, one response.  Pure: what a server sends and how long it takes."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate, parsedate_to_datetime

import xxhash

from crawler.shop import pages, sources
from crawler.shop.settings import Validators, Vanish, Wall
from crawler.shop.site import Site
from crawler.shop.views import (
    FeedPage,
    GonePage,
    ListingPage,
    OfferPage,
    ShopPage,
    SitemapPage,
    TextPage,
)
from crawler.shop.world import ShopWorld

_HTML = "text/html; charset=utf-8"
_XML = "application/xml; charset=utf-8"
_BUSY_SPELL = 600.0  # a busy page stays busy for ten minutes of shop time
_GZIP_FROM = 400  # bytes; below, headers outweigh the gain


@dataclass(frozen=True, slots=True)
class ShopResponse:
    """What the shop answers; `duration` is how long it takes to, in seconds."""

    status: int
    headers: dict[str, str]
    body: bytes
    duration: float


def respond(
    world: ShopWorld,
    host: str,
    target: str,
    headers: Mapping[str, str],
    at: float,
    *,
    origin: str | None = None,
) -> ShopResponse:
    """Answer GET `target` (path and query) on `host` at shop time `at`.

    `origin` is where the shop is served, for absolute links: `http://host` unless told.
    """
    asked = {name.lower(): value for name, value in headers.items()}
    site = world.site(host)
    if site is None:
        return ShopResponse(421, {"Content-Type": "text/plain"}, b"no such shop\n", 0.0)
    here = origin or f"http://{host}"
    answer = _answer(world, site, target, here, at)
    answer.headers["Date"] = formatdate(at, usegmt=True)
    return _encoded(_conditional(answer, asked), asked)


def _answer(world: ShopWorld, site: Site, target: str, origin: str, at: float) -> ShopResponse:
    settings = site.settings
    spell = int(at // _BUSY_SPELL)
    luck = _chance(world.seed, site.host, target, spell)
    latency = settings.latency * (0.5 + luck)
    if target == "/robots.txt":
        text = sources.render_robots(site, origin)
        return _page(200, text, "text/plain; charset=utf-8", latency)
    wall = _wall(site, at)
    if wall is not None:
        return _page(wall.status, pages.render_wall(site), _HTML, latency)
    if luck < settings.busy_share:
        busy = _page(503, pages.render_plain(site, "Please try again later"), _HTML, latency)
        busy.headers["Retry-After"] = str(settings.retry_after)
        return busy
    if _chance(world.seed, site.host, target) < settings.slow_share:
        latency += settings.slow_seconds
    return _shown(site, site.page(target, at), origin, latency)


def _shown(site: Site, page: ShopPage | None, origin: str, latency: float) -> ShopResponse:
    match page:
        case OfferPage():
            html = pages.render_offer(site, page, origin)
            return _validated(site, _page(200, html, _HTML, latency), page.changed_at)
        case ListingPage():
            return _with_etag(_page(200, pages.render_listing(site, page, origin), _HTML, latency))
        case TextPage():
            return _with_etag(_page(200, pages.render_text(site, page), _HTML, latency))
        case SitemapPage():
            answer = _page(200, sources.render_sitemap(page, origin), _XML, latency)
            return _with_last_modified(_with_etag(answer), page.built_at)
        case FeedPage():
            feed = sources.render_feed(site, page, origin)
            kind = "atom" if page.is_atom else "rss"
            return _with_etag(_page(200, feed, f"application/{kind}+xml; charset=utf-8", latency))
        case GonePage():
            return _vanished(site, page, origin, latency)
        case None:
            return _page(404, pages.render_plain(site, "Page not found"), _HTML, latency)


def _vanished(site: Site, page: GonePage, origin: str, latency: float) -> ShopResponse:
    text = pages.render_plain(site, "Sorry, this product is no longer available")
    match site.settings.vanish:
        case Vanish.STATUS:
            return _page(410 if page.number % 3 == 0 else 404, text, _HTML, latency)
        case Vanish.SOFT:
            return _page(200, text, _HTML, latency)
        case Vanish.REDIRECT:
            answer = _page(301, text, _HTML, latency)
            answer.headers["Location"] = origin + site.category_path(page.category)
            return answer


def _page(status: int, text: str, content_type: str, latency: float) -> ShopResponse:
    return ShopResponse(status, {"Content-Type": content_type}, text.encode(), latency)


def _wall(site: Site, at: float) -> Wall | None:
    walls = (wall for wall in site.settings.walls if wall.starts_at <= at < wall.ends_at)
    return next(walls, None)


def _chance(*key: object) -> float:
    """A number in [0, 1) that depends on the key alone."""
    return xxhash.xxh3_64_intdigest("|".join(map(str, key)).encode()) / 2.0**64


def _validated(site: Site, answer: ShopResponse, changed_at: float) -> ShopResponse:
    habit = site.settings.validators
    if habit in (Validators.BOTH, Validators.ETAG):
        _with_etag(answer)
    if habit in (Validators.BOTH, Validators.LAST_MODIFIED):
        _with_last_modified(answer, changed_at)
    return answer


def _with_etag(answer: ShopResponse) -> ShopResponse:
    # Weak, because the same page goes out with and without gzip.
    answer.headers["ETag"] = f'W/"{xxhash.xxh3_64_hexdigest(answer.body)}"'
    return answer


def _with_last_modified(answer: ShopResponse, changed_at: float) -> ShopResponse:
    answer.headers["Last-Modified"] = formatdate(changed_at, usegmt=True)
    return answer


def _conditional(answer: ShopResponse, asked: Mapping[str, str]) -> ShopResponse:
    """304 by RFC 9110: If-None-Match decides alone where it is sent, else If-Modified-Since."""
    if answer.status != 200 or not _unchanged(answer.headers, asked):
        return answer
    kept = {
        name: value for name, value in answer.headers.items() if not name.startswith("Content-")
    }
    return replace(answer, status=304, headers=kept, body=b"")


def _unchanged(headers: Mapping[str, str], asked: Mapping[str, str]) -> bool:
    if "if-none-match" in asked:
        tags = {tag.strip() for tag in asked["if-none-match"].split(",")}
        return "*" in tags or headers.get("ETag") in tags
    if "if-modified-since" in asked and "Last-Modified" in headers:
        since = _http_time(asked["if-modified-since"])
        changed_at = _http_time(headers["Last-Modified"])
        return since is not None and changed_at is not None and changed_at <= since
    return False


def _http_time(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


def _encoded(answer: ShopResponse, asked: Mapping[str, str]) -> ShopResponse:
    answer.headers["Vary"] = "Accept-Encoding"
    if "gzip" not in asked.get("accept-encoding", "") or len(answer.body) < _GZIP_FROM:
        return answer
    packer = zlib.compressobj(level=3, wbits=31)  # 31: a gzip frame, with no time in it
    answer.headers["Content-Encoding"] = "gzip"
    return replace(answer, body=packer.compress(answer.body) + packer.flush())
