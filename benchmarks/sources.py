"""How much memory and CPU does a sitemap take?  Each is read in a process of its own, so that the peak is its own.

`rss_mb` is the growth of the resident set while reading; 50,000 entries alone take about 10 MB.
"""

import argparse
import gzip
import multiprocessing
import pathlib
import random
import resource
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, show
from crawler.reading.sources.sitemaps import read_source

URL = "https://shop.example/sitemap.xml"
NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'


def make_sitemap(rng: random.Random, entries: int, padding: int) -> bytes:
    """A sitemap with images; the padding stands for captions."""
    rows = [
        f"<url><loc>https://shop.example/p/{i}-{rng.randrange(10**6)}?a=1&amp;b=2</loc>"
        "<lastmod>2024-01-02T10:00:00+01:00</lastmod><image:image><image:loc>https://cdn.example/i.jpg</image:loc>"
        f"<image:caption>{'x' * padding}</image:caption></image:image></url>"
        for i in range(entries)
    ]
    return f'<?xml version="1.0"?><urlset {NAMESPACES}>{"".join(rows)}</urlset>'.encode()


def make_bodies(seed: int) -> dict[str, bytes]:
    rng = random.Random(seed)
    large = make_sitemap(rng, 50_000, 690)
    return {
        "50,000 entries, small": make_sitemap(rng, 50_000, 0),
        "50,000 entries, large": large,
        "the same, packed": gzip.compress(large, 1),
        "500 entries, large": make_sitemap(rng, 500, 90_000),
        "gzip bomb of 400 MB": gzip.compress(b"<urlset>" + b" " * 400_000_000, 1),
        "2,000,000 nested tags": b"<urlset>" + b"<url>" * 2_000_000,
        "1,000,000 attributes": b"<urlset " + b"".join(b"a%d='' " % i for i in range(1_000_000)),
    }


def measure(name: str, path: str) -> Row:
    """Runs in a fresh process: its peak before reading is the body itself."""
    body = pathlib.Path(path).read_bytes()
    read_source(b"<urlset><url><loc>http://a.example/</loc></url></urlset>", URL)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    facts = read_source(body, URL)
    return {
        "source": name,
        "mb": len(body) / 1e6,
        "entries": len(facts.entries),
        "damaged": str(facts.damaged),
        "cpu_s": time.process_time() - started,
        "rss_mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }


def write_bodies(folder: str, seed: int) -> list[tuple[str, str]]:
    """Made in a process of its own too: children inherit the peak of whoever starts them."""
    files = []
    for number, (name, body) in enumerate(make_bodies(seed).items()):
        path = pathlib.Path(folder, f"{number}.xml")
        path.write_bytes(body)
        files.append((name, str(path)))
    return files


def run(args: argparse.Namespace, folder: str) -> list[Row]:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        files = pool.apply(write_bodies, (folder, args.seed))
        return [pool.apply(measure, file) for file in files]


def main() -> None:
    args = flags(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(run(args, folder), as_json=args.json)


if __name__ == "__main__":
    main()
