"""Does any damaged page raise, take long, or take much memory?

The recorded product pages, and sitemaps and feeds of their addresses, are damaged in five ways: bytes flipped, cut
off, a tag repeated, a part nested deeply, a part of another page spliced in.  Each is read as the crawl reads it:
what fails the check for stalls is read in a process that is killed at --deadline, the rest here.

`apart` counts the pages read in a process of their own, `needless` those among them that took under 50 ms there.
`grown_mb` is how much the resident set's peak grew while the pages of a row were read here.

    python -m benchmarks.mutations --data DIR [--rounds N] [--seed N] [--json]
"""

import argparse
import asyncio
import gzip
import json
import pathlib
import random
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, recording, show
from crawler.apart import ApartReader
from crawler.clock import Clock
from crawler.reading.facts import Trouble
from crawler.reading.html import looks_costly
from crawler.reading.page import read_page
from crawler.reading.rules import DEFAULT_RULES
from crawler.reading.sources.sitemaps import read_source

TAG = re.compile(rb"<[a-zA-Z][^>]{0,300}>")
NEEDLESS = 0.05


@dataclass(frozen=True, slots=True)
class Document:
    url: str
    body: bytes


@dataclass(slots=True)
class Tally:
    """What one way of damaging did to the documents read so far."""

    raised: int = 0
    apart: int = 0
    needless: int = 0
    killed: int = 0
    seconds: list[float] = field(default_factory=list)


def flip(body: bytes, other: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(body)
    for _ in range(rng.choice((1, 10, 100, 1000))):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged)


def cut(body: bytes, other: bytes, rng: random.Random) -> bytes:
    return body[: rng.randrange(len(body))]


def repeat(body: bytes, other: bytes, rng: random.Random) -> bytes:
    tag: bytes = rng.choice(TAG.findall(body) or [b"<p>"])
    at = body.find(tag)
    return body[:at] + tag * rng.choice((2, 20, 200, 2000)) + body[at:]


def nest(body: bytes, other: bytes, rng: random.Random) -> bytes:
    first, last = sorted((rng.randrange(len(body)), rng.randrange(len(body))))
    name = rng.choice((b"div", b"table", b"b", b"ul", b"span", b"url", b"svg"))
    depth = rng.choice((5, 50, 500, 5000))
    inner = b"<%b>" % name * depth + body[first:last] + b"</%b>" % name * depth
    return body[:first] + inner + body[last:]


def splice(body: bytes, other: bytes, rng: random.Random) -> bytes:
    at, first, last = rng.randrange(len(body)), rng.randrange(len(other)), rng.randrange(len(other))
    return body[:at] + other[min(first, last) : max(first, last)] + body[at:]


WAYS: tuple[Callable[[bytes, bytes, random.Random], bytes], ...] = (flip, cut, repeat, nest, splice)


def main() -> None:
    parser = flags(__doc__, reads_data=True)
    parser.add_argument("--rounds", type=int, default=4, help="damaged versions per page and way")
    parser.add_argument("--deadline", type=float, default=5.0, help="seconds for a page read apart")
    args = parser.parse_args()
    folder = recording(args.data, "product_pages")
    pages = load_pages(folder)
    rows = asyncio.run(measure_all(pages, sources_of(pages), args))
    show(rows, as_json=args.json)


def load_pages(folder: pathlib.Path) -> list[Document]:
    labels = json.loads(recording(str(folder), "labels.json").read_text())
    return [
        Document(str(label["url"]), gzip.decompress((folder / f"{name}.html.gz").read_bytes()))
        for name, label in labels.items()
    ]


def sources_of(pages: list[Document]) -> list[Document]:
    """The pages' addresses as a sitemap, an index, two feeds and a list, ten times each."""
    links = [page.url.replace("&", "&amp;") for page in pages] * 10
    date = "2026-01-02T10:00:00Z"
    shapes = {
        "sitemap": ("urlset", f"<url><loc>%s</loc><lastmod>{date}</lastmod></url>"),
        "index": ("sitemapindex", f"<sitemap><loc>%s</loc><lastmod>{date}</lastmod></sitemap>"),
        "rss": (
            "rss",
            "<item><link>%s</link><pubDate>Fri, 02 Jan 2026 10:00:00 GMT</pubDate></item>",
        ),
        "atom": ("feed", f'<entry><link href="%s"/><updated>{date}</updated></entry>'),
    }
    texts = [
        f"<{root}>{''.join(row % link for link in links)}</{root}>" for root, row in shapes.values()
    ]
    bodies = [text.encode() for text in (*texts, "\n".join(page.url for page in pages))]
    return [Document("https://shop.example/sitemap.xml", body) for body in bodies * 2]


async def measure_all(
    pages: list[Document], sources: list[Document], args: argparse.Namespace
) -> list[Row]:
    apart = ApartReader(Clock(), deadline=args.deadline)
    for page in pages:  # the undamaged pages fill the caches and grow the heap
        read_page(page.body, url=page.url)
    rows = []
    for way in WAYS:
        for what, documents in (("pages", pages), ("sources", sources)):
            rng = random.Random(f"{args.seed} {way.__name__} {what}")
            tally, before = Tally(), peak_mb()
            for document in documents * args.rounds:
                body = way(document.body, rng.choice(documents).body, rng)
                await read(Document(document.url, body), tally, apart, is_source=what == "sources")
            rows.append(row(f"{way.__name__}, {what}", tally, peak_mb() - before))
    return rows


async def read(document: Document, tally: Tally, apart: ApartReader, *, is_source: bool) -> None:
    """As the crawl does it, with every exception counted."""
    started = time.process_time()
    try:
        if is_source:
            read_source(document.body, document.url)
        elif looks_costly(document.body):
            await read_apart(document, tally, apart)
            return
        else:
            read_page(document.body, url=document.url)
    except Exception as fault:  # noqa: BLE001  the question of this benchmark
        tally.raised += 1
        print(f"raised on {document.url}: {fault!r}", file=sys.stderr)
    tally.seconds.append(time.process_time() - started)


async def read_apart(document: Document, tally: Tally, apart: ApartReader) -> None:
    tally.apart += 1
    facts = await apart.read(
        document.body, url=document.url, content_type=None, status=200, rules=DEFAULT_RULES
    )
    if facts.trouble is Trouble.PARSER_STALL:
        tally.killed += 1
        return
    started = time.process_time()
    read_page(document.body, url=document.url)
    tally.needless += time.process_time() - started < NEEDLESS


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(name: str, tally: Tally, grown: float) -> Row:
    spent = sorted(tally.seconds)
    return {
        "damage": name,
        "read": len(spent) + tally.apart,
        "raised": tally.raised,
        "apart": tally.apart,
        "needless": tally.needless,
        "killed": tally.killed,
        "median_ms": spent[len(spent) // 2] * 1e3,
        "worst_ms": spent[-1] * 1e3,
        "grown_mb": grown,
    }


if __name__ == "__main__":
    main()
