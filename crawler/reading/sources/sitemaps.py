"""Sitemaps and feeds: bytes in, pages with their time stamps out.  Every entry is a signal.

All forms arrive here: sitemap, sitemap index, RSS, Atom, a plain list of addresses; packed or not.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain

from isal import isal_zlib

from crawler.reading.facts import SourceEntry, SourceFacts
from crawler.reading.html.charset import decode, html_charset
from crawler.reading.sources import feeds
from crawler.reading.sources.times import parse_time
from crawler.reading.sources.xml_records import Record, read_records
from crawler.reading.urls import DEFAULT, UrlRules, canonical_url, why_refused

_CHUNK = 65_536
_GZIP = b"\x1f\x8b"
_HTTP = ("http://", "https://")
_SITEMAP_RECORDS = frozenset({"url", "sitemap"})
_SNIFF = 4096  # comments and style sheet lines may stand before the root
_ROOT = re.compile(rb"<([a-z_][\w.-]*:)?([a-z_][\w.-]*)", re.IGNORECASE)
# RSS 0.91 came with a DOCTYPE, which is never loaded; one that declares something is refused.
_PROLOGUE = re.compile(
    rb"\s*(?:<\?.*?\?>|<!--.*?-->|<!doctype\s+rss\b[^>\[]*>)", re.DOTALL | re.IGNORECASE
)
_SOURCE_ROOTS = feeds.ROOTS | {"urlset", "sitemapindex"}


class Dropped(StrEnum):
    """Why something in a source gave no entry, beside the reasons of `urls.Refusal`."""

    OVER_CAP = "over_cap"
    NO_ADDRESS = "no_address"
    ALTERNATE = "alternate_language"
    DOCTYPE = "doctype"
    NOT_A_SOURCE = "not_a_source"
    TOO_LARGE = "too_large"
    LOOP = "loop"
    TOO_DEEP = "too_deep"


@dataclass(frozen=True, slots=True)
class SourceCaps:
    """The protocol's own limits: 50,000 entries and 50 MB unpacked."""

    entries: int = 50_000
    inflated_bytes: int = 52_428_800


DEFAULT_CAPS = SourceCaps()


def read_source(
    body: bytes,
    url: str,
    content_type: str | None = None,
    rules: UrlRules = DEFAULT,
    caps: SourceCaps = DEFAULT_CAPS,
) -> SourceFacts:
    """All that a sitemap, sitemap index or feed says.  Never raises; what is left out is counted."""
    reading = _Reading(url, rules, caps)
    chunks = _Unpacked(body, caps.inflated_bytes)
    head = b"".join(_take(chunks, _SNIFF))
    whole = _as_utf8(chain([head], chunks), head)
    root = _root_of(head)
    if root == "!doctype":
        reading.dropped[Dropped.DOCTYPE] += 1
        reading.damaged = True
    elif root in _SOURCE_ROOTS:
        records = feeds.RECORDS if root in feeds.ROOTS else _SITEMAP_RECORDS
        reading.damaged = not read_records(whole, records, reading.add_record)
    elif root == "" and _is_list(head, content_type):
        for line in _lines(whole):
            reading.add_line(line)
    else:
        reading.dropped[Dropped.NOT_A_SOURCE] += 1
        reading.damaged = True
    if chunks.too_large:
        reading.dropped[Dropped.TOO_LARGE] += 1
    return reading.facts(damaged=reading.damaged or chunks.damaged)


def looks_like_source(body: bytes, content_type: str | None = None) -> bool:
    """Is this a sitemap or feed rather than a page?  Told by content; servers label them at random."""
    packed = body.startswith(_GZIP)
    head = b"".join(_take(_Unpacked(body, 2 * _SNIFF), _SNIFF)) if packed else body[:_SNIFF]
    root = _root_of(head)
    return root in _SOURCE_ROOTS or (root == "" and _is_list(head, content_type))


def robots_sitemaps(robots: bytes, url: str, rules: UrlRules = DEFAULT) -> tuple[str, ...]:
    """The `Sitemap:` lines of a robots.txt, which belong to no group and may be relative against the rules."""
    lines = decode(robots.removeprefix(b"\xef\xbb\xbf"), "utf-8").splitlines()
    named = (line.partition(":") for line in lines)
    hrefs = (
        value.partition("#")[0].strip()
        for key, _, value in named
        if key.strip().lower() == "sitemap"
    )
    return tuple(
        dict.fromkeys(page for href in hrefs if href and (page := canonical_url(href, url, rules)))
    )


def next_sources(
    facts: SourceFacts, depth: int, known: Collection[str], max_depth: int = 3
) -> tuple[tuple[SourceEntry, ...], dict[str, int]]:
    """The children of a sitemap index to fetch, and a count of those left: loops and towers end here.

    `depth` is the index's own (0 for one named by the operator or robots.txt), `known` the sources seen already.
    """
    if depth >= max_depth:
        return (), {Dropped.TOO_DEEP: len(facts.children)} if facts.children else {}
    fresh = tuple(
        child for child in facts.children if child.url not in known and child.url != facts.url
    )
    loops = len(facts.children) - len(fresh)
    return fresh, {Dropped.LOOP: loops} if loops else {}


class _Reading:
    """Collects what one source says; the latest time wins when a page is named twice."""

    def __init__(self, url: str, rules: UrlRules, caps: SourceCaps) -> None:
        self.entries: dict[str, float | None] = {}
        self.children: dict[str, float | None] = {}
        self.dropped: Counter[str] = Counter()
        self.damaged = False
        self._url, self._rules, self._caps = url, rules, caps

    def add_record(self, record: Record) -> None:
        if record.name in feeds.RECORDS:
            item = feeds.read_item(record)
            href, changed_at = (item.href, item.changed_at) if item else ("", None)
        else:
            href = record.fields.get("loc", "")
            changed_at = parse_time(record.fields.get("lastmod"))
        if record.alternates:
            self.dropped[Dropped.ALTERNATE] += record.alternates
        if href:
            self.add(self.children if record.name == "sitemap" else self.entries, href, changed_at)
        else:
            self.dropped[Dropped.NO_ADDRESS] += 1

    def add_line(self, line: str) -> None:
        if line.startswith(_HTTP):
            self.add(self.entries, line, None)
        else:
            self.dropped[Dropped.NO_ADDRESS] += 1

    def add(self, place: dict[str, float | None], href: str, changed_at: float | None) -> None:
        href = href.replace("&amp;", "&")  # escaped twice, or escaped inside CDATA
        base = None if href.startswith(_HTTP) else self._url
        page = canonical_url(href, base, self._rules)
        if page is None:
            self.dropped[why_refused(href, self._url)] += 1
        elif page in place:
            place[page] = max(filter(None, (place[page], changed_at)), default=None)
        elif len(place) < self._caps.entries:
            place[page] = changed_at
        else:
            self.dropped[Dropped.OVER_CAP] += 1

    def facts(self, *, damaged: bool) -> SourceFacts:
        entries = tuple(SourceEntry(page, at) for page, at in self.entries.items())
        children = tuple(SourceEntry(page, at) for page, at in self.children.items())
        return SourceFacts(self._url, entries, children, dict(self.dropped), damaged)


class _Unpacked:
    """A body in chunks, unpacked while they are read: twice if packed twice, as some servers do."""

    def __init__(self, body: bytes, cap: int) -> None:
        self.damaged = False
        self.too_large = False
        self._left = cap
        chunks = (body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK))
        self._chunks = self._capped(self._inflated(self._inflated(chunks)))

    def __iter__(self) -> Iterator[bytes]:
        return self._chunks

    def _inflated(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        first = next(chunks, b"")
        if not first.startswith(_GZIP):
            yield first
            yield from chunks
            return
        gunzip = isal_zlib.decompressobj(wbits=31)
        for chunk in chain([first], chunks):
            while chunk:
                try:
                    yield gunzip.decompress(chunk, _CHUNK)
                except isal_zlib.IsalError:  # type: ignore[misc]  # the stub calls it an instance
                    self.damaged = True
                    return
                chunk = gunzip.unconsumed_tail
                if gunzip.eof:  # another member may follow; anything else is padding
                    chunk = gunzip.unused_data
                    if not chunk.startswith(_GZIP):
                        return
                    gunzip = isal_zlib.decompressobj(wbits=31)
        self.damaged = self.damaged or not gunzip.eof

    def _capped(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            if len(chunk) > self._left:
                self.too_large = self.damaged = True
                yield chunk[: self._left]
                return
            self._left -= len(chunk)
            yield chunk


def _take(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Chunks until `size` bytes have come; the rest stays in the iterator."""
    for chunk in chunks:
        yield chunk
        size -= len(chunk)
        if size <= 0:
            return


def _as_utf8(chunks: Iterable[bytes], head: bytes) -> Iterable[bytes]:
    """UTF-16 is rare and turned as a whole; other encodings contain ASCII, and the XML parser knows them."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = decode(b"".join(chunks), "utf-16")
        return [re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode("utf-8", "replace")]
    return chunks


def _root_of(head: bytes) -> str:
    """The first element's local name; "!doctype" where one stands before it; "" where there is no markup."""
    if head[:1] in b"\xef\xff\xfe":
        charset, mark = html_charset(head)
        head = decode(head[mark:], charset).encode("utf-8", "replace")
    at = 0
    while found := _PROLOGUE.match(head, at):
        at = found.end()
    rest = head[at : at + 200].lstrip()
    if rest[:9].lower() == b"<!doctype":
        return "html" if rest[9:].lstrip()[:4].lower() == b"html" else "!doctype"
    root = _ROOT.match(rest)
    if root is not None:
        return root[2].decode("latin-1").lower()
    return "?" if rest.startswith(b"<") else ""


def _is_list(head: bytes, content_type: str | None) -> bool:
    """A plain list of addresses: the first line is one.  JSON and prose are not."""
    if content_type is not None and "html" in content_type.lower():
        return False
    line = decode(head, html_charset(head)[0]).lstrip("\ufeff \t\r\n").partition("\n")[0].strip()
    return line[:8].lower().startswith(_HTTP) and " " not in line


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (text for line in lines if (text := _line(line)))
        rest = rest[:_CHUNK]  # a line without end is no address
    if text := _line(rest):
        yield text


def _line(line: bytes) -> str:
    return decode(line, "utf-8").strip("\ufeff \t\r\n")
