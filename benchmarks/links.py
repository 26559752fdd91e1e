"""What do the links of a page cost?  CPU of each step beside parsing the same page, in the same run.

The page is generated: 66 KB, 148 links, a tenth of them absolute with a query.  With --data, the median over the
recorded product pages follows.  Times are the least of several rounds; the ratios are what carries over to another
machine.
"""

import gzip
import json
import pathlib
import random
import statistics
import sys
import time
from collections.abc import Callable
from urllib.parse import urljoin

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

import ada_url

from benchmarks.common import Row, flags, show
from crawler.reading.html import looks_costly, parse_html
from crawler.reading.html.links import read_links
from crawler.reading.urls import canonical_urls, page_hash

URL = "https://shop.example/category/shoes"


def make_page(rng: random.Random, links: int = 148, size: int = 66_000) -> bytes:
    """A listing as shops print them: cards, then a script, then text up to the size."""
    parts = ["<!doctype html><html><head><meta charset=utf-8><title>Shoes</title></head><body>"]
    for i in range(links):
        number = rng.randrange(10**6)
        href = f"/shoes/boot-{number}" if i % 10 else f"https://shop.example/c/{number}?page={i}"
        parts.append(
            f'<div class="card product"><a class="link" href="{href}"><img src="/i/{i}.jpg" alt="Boot">'
            f'<h3 class="title">Boot {i}</h3></a><span class="price">$ {i}.99</span>'
            "<p>Lorem ipsum dolor sit amet, consectetur adipiscing elit</p></div>"
        )
    parts.append("<script>" + "var x=1;" * ((size - sum(map(len, parts))) // 16) + "</script>")
    missing = (size - sum(map(len, parts))) // 33
    return ("".join(parts) + "<p>Lorem ipsum dolor sit amet</p>" * missing).encode()


def microseconds(step: Callable[[], object], seconds: float) -> float:
    """CPU time of one call: the least mean of seven rounds, so that neighbours count little."""
    started = time.process_time()
    step()
    calls = max(1, int(seconds / 7 / max(time.process_time() - started, 1e-6)))
    rounds = []
    for _ in range(7):
        started = time.process_time()
        for _ in range(calls):
            step()
        rounds.append((time.process_time() - started) / calls)
    return min(rounds) * 1e6


def measure(page: bytes, url: str, seconds: float) -> dict[str, float]:
    """Microseconds per step for one page."""
    tree = parse_html(page)
    hrefs = [node.attrs["href"] or "" for node in tree.css("a[href]")]
    hrefs = [href for href in hrefs if ada_url.URL.can_parse(href, url)]
    outlinks = read_links(tree, url).outlinks
    steps: dict[str, Callable[[], object]] = {
        "parse": lambda: parse_html(page),
        "is it costly?": lambda: looks_costly(page),
        "read_links, all of it": lambda: read_links(tree, url),
        "of it: canonical_urls": lambda: canonical_urls(hrefs, url),
        "hash the outlinks": lambda: [page_hash(link) for link in outlinks],
        "instead: ada alone": lambda: [ada_url.join_url(url, href) for href in hrefs],
        "instead: urllib's urljoin": lambda: [_join(url, href) for href in hrefs],
    }
    return {name: microseconds(step, seconds) for name, step in steps.items()}


def _join(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return ""


def rows(name: str, pages: list[tuple[bytes, str]], seconds: float) -> list[Row]:
    measured = [measure(page, url, seconds) for page, url in pages]
    return [
        {
            "step": step,
            "page": name,
            "us": statistics.median(times[step] for times in measured),
            "of parse": statistics.median(times[step] / times["parse"] for times in measured),
        }
        for step in measured[0]
    ]


def recorded(folder: pathlib.Path) -> list[tuple[bytes, str]]:
    """Recorded product pages with their addresses."""
    labels = folder / "labels.json"
    if not labels.exists():
        return []
    return [
        (gzip.decompress((folder / f"{name}.html.gz").read_bytes()), label["url"])
        for name, label in sorted(json.loads(labels.read_text("utf-8")).items())
    ]


def main() -> None:
    parser = flags(__doc__, reads_data=True)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU spent on each step")
    args = parser.parse_args()
    found = rows("generated", [(make_page(random.Random(args.seed)), URL)], args.seconds)
    pages = recorded(pathlib.Path(args.data, "product_pages")) if args.data else []
    if pages:
        found += rows(f"{len(pages)} recorded", pages, args.seconds / 20)
    elif not args.json:
        print("--data: no recorded product pages, so the generated page alone", file=sys.stderr)
    show(found, as_json=args.json)


if __name__ == "__main__":
    main()
