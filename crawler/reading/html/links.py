"""Where can one go from this page?  Outlinks, feeds and the address the page gives itself."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from crawler.reading.html import LexborHTMLParser, LexborNode, attribute
from crawler.reading.urls import (
    DEFAULT,
    PLAIN,
    UrlRules,
    canonical_url,
    canonical_urls,
    why_refused,
)


class Dropped(StrEnum):
    """Why a link on the page was not taken, beside the reasons of `urls.Refusal`."""

    NOFOLLOW = "nofollow"
    OVER_CAP = "over_cap"


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How the links of a site's pages are read."""

    urls: UrlRules = DEFAULT
    obey_nofollow: bool = True
    max_links: int = 2_000


DEFAULT_LINKS = LinkRules()


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one page: canonical, without duplicates and without the page itself, in page order."""

    outlinks: tuple[str, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)
    feeds: tuple[str, ...] = ()
    canonical: str | None = None
    follow: bool = True


_NOFOLLOW = "a[href][rel~=nofollow i],area[href][rel~=nofollow i]"
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml"})


def read_links(tree: LexborHTMLParser, base_url: str, rules: LinkRules = DEFAULT_LINKS) -> Links:
    """All that the page `base_url` links to.  <base href>, rel=nofollow and meta robots are honoured."""
    base = base_of(tree, base_url)
    head = _read_head(tree, base, rules.urls)
    if rules.obey_nofollow and _robots_forbid(tree):
        return Links((), {}, head.feeds, head.canonical, follow=False)
    dropped: Counter[str] = Counter()
    hrefs = _hrefs(tree, rules, dropped)
    hrefs.update(dict.fromkeys(head.neighbours))
    outlinks = _outlinks(hrefs, base_url, base, rules, dropped)
    return Links(outlinks, dict(dropped), head.feeds, head.canonical)


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """The address that relative links of the page start from."""
    node = tree.head.css_first("base[href]") if tree.head is not None else None
    href = attribute(node, "href") if node is not None else ""
    return (canonical_url(href, url, PLAIN) if href else None) or url


def _hrefs(tree: LexborHTMLParser, rules: LinkRules, dropped: Counter[str]) -> dict[str, None]:
    """What the page spells, in its order and once each: product pages repeat a fifth of their hrefs."""
    nodes = tree.css("a[href], area[href]")
    if rules.obey_nofollow and (unfollowed := tree.css(_NOFOLLOW)):
        nodes = _without(unfollowed, nodes, dropped)
    return dict.fromkeys([node.attrs["href"] or "" for node in nodes])


def _outlinks(
    hrefs: Collection[str], url: str, base: str, rules: LinkRules, dropped: Counter[str]
) -> tuple[str, ...]:
    """The canonical pages behind the hrefs, without the page itself."""
    urls = canonical_urls(hrefs, base, rules.urls)
    if None in urls:
        refused = (href for href, page in zip(hrefs, urls, strict=True) if page is None)
        dropped.update(why_refused(href, base) for href in refused)
    unique = dict.fromkeys(urls)
    for absent in (None, url):
        unique.pop(absent, None)
    if len(unique) > rules.max_links:
        dropped[Dropped.OVER_CAP] += len(unique) - rules.max_links
    return tuple(islice(unique, rules.max_links))  # type: ignore[arg-type]  # None was popped


def _without(
    unfollowed: list[LexborNode], nodes: list[LexborNode], dropped: Counter[str]
) -> list[LexborNode]:
    # The selector has read every rel: to read them again here took 50 us for 148 links.
    left_out = {node.mem_id for node in unfollowed}
    kept = [node for node in nodes if node.mem_id not in left_out]
    dropped[Dropped.NOFOLLOW] += len(nodes) - len(kept)
    return kept


def _robots_forbid(tree: LexborHTMLParser) -> bool:
    """<meta name="robots" content="nofollow"> or "none": the page asks for its links to be left alone."""
    for meta in tree.css('meta[name="robots" i]'):
        words = attribute(meta, "content").lower().replace(",", " ").split()
        if "nofollow" in words or "none" in words:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Head:
    """What the <link> elements say; neighbours are the hrefs of rel=next and rel=prev."""

    feeds: tuple[str, ...]
    canonical: str | None
    neighbours: list[str]


def _read_head(tree: LexborHTMLParser, base: str, rules: UrlRules) -> _Head:
    """Only the head counts: a rel=canonical in the body may be a visitor's.  Two that differ say nothing."""
    feeds: dict[str | None, None] = {}
    canonicals: dict[str | None, None] = {}
    neighbours: list[str] = []
    for link in tree.head.css("link[rel][href]") if tree.head is not None else ():
        rel = attribute(link, "rel").lower().split()
        href = attribute(link, "href")
        if "canonical" in rel:
            canonicals[canonical_url(href, base, rules)] = None
        elif "alternate" in rel and attribute(link, "type").lower() in _FEED_TYPES:
            feeds[canonical_url(href, base, rules)] = None
        elif "next" in rel or "prev" in rel:
            neighbours.append(href)
    canonical = next(iter(canonicals), None) if len(canonicals) == 1 else None
    return _Head(tuple(url for url in feeds if url), canonical, neighbours)
