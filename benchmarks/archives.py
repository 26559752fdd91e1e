"""Archives: do our counts agree with another reader's, how fast is indexing, how fast and large is a replay?

python -m benchmarks.archives --data DIR      the recordings: responses by us and by warcio, and a replay of each
python -m benchmarks.archives --size 1000     an archive of 1,000 MB, synthesised: MB/s, fetches/s, memory
"""

import argparse
import json
import pathlib
import random
import resource
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator

if __package__ in (None, ""):
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from isal import igzip
from warcio.archiveiterator import ArchiveIterator

from benchmarks.common import Row, flags, recording, show
from crawler.archives.columns import cache_of
from crawler.archives.index import open_index
from crawler.archives.record import warc_date
from crawler.archives.replay import choose_sites, replay
from crawler.config import Config

NAMES = ("blackbook-2008.warc.gz", "iana.warc.gz", "books.toscrape.warc", "example.wacz", "cnn.har")
HOSTS = 8
CAPTURES = 4  # of each page, a day apart
DAY = 86_400.0
MOST_FETCHES = 100_000
BEGAN_AT = 1_767_571_200.0


def independent_count(path: pathlib.Path) -> int:
    """Responses as warcio counts them, also inside a WACZ; answered entries with a body or none to have, in a HAR."""
    if path.suffix == ".har":
        entries = json.loads(path.read_text("utf-8-sig"))["log"]["entries"]
        replies = [entry["response"] for entry in entries if entry["response"]["status"]]
        return sum(
            bool(reply["content"].get("text")) or reply["status"] != 200 for reply in replies
        )
    if path.suffix == ".wacz":
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.startswith("archive/")]
            return sum(count_responses(archive.open(name)) for name in names)
    with path.open("rb") as file:
        return count_responses(file)


def count_responses(stream: object) -> int:
    return sum(record.rec_type == "response" for record in ArchiveIterator(stream))


def settings(database: pathlib.Path, **tables: object) -> Config:
    crawl = {
        "user_agent": "Bench/1.0 (+http://bench.example/)",
        "database": str(database),
        "max_fetches": MOST_FETCHES,
    }
    return Config.model_validate({"crawl": crawl, **tables})


def recorded_rows(folder: str) -> Iterator[Row]:
    """Each recording copied away, because an index is kept beside it."""
    for name in NAMES:
        source = recording(folder, f"archives/{name}")
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(shutil.copyfile(source, pathlib.Path(place) / name))
            index = open_index([path])
            config = choose_sites(settings(pathlib.Path(place) / "r.db"), index, ())
            result = replay(config, index)
            yield {
                "archive": name,
                "responses": index.files[0].contents.records["response"],
                "warcio": independent_count(path),
                "captures": len(index),
                "pages": len(index.pages),
                "troubles": sum(index.troubles.values()),
                "fetches": result.summary.tally.fetches,
                "support": result.support.share,
            }


def page_text(chance: random.Random, number: int) -> bytes:
    """An offer page of some 60 kB that packs to a quarter, as real ones do."""
    words = " ".join(f"{chance.getrandbits(24):x}" for _ in range(2_500))
    filler = "<div class='card'><span class='label'>Delivery in two days</span></div>" * 550
    price = chance.randrange(100, 99_999) / 100
    return (
        f"<!doctype html><title>Lamp {number}</title><script type='application/ld+json'>"
        f'{{"@type":"Product","name":"Lamp {number}","offers":{{"@type":"Offer","price":"{price}",'
        f'"priceCurrency":"EUR"}}}}</script><h1>Lamp {number}</h1><p>{words}</p>{filler}'
    ).encode()


def record(url: str, body: bytes, kind: str, at: float) -> bytes:
    block = (
        f'HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nETag: "{hash(body)}"\r\n\r\n'.encode() + body
    )
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: {warc_date(at)}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return igzip.compress(head.encode() + block + b"\r\n\r\n", compresslevel=1)


def synthesise(path: pathlib.Path, size: int, seed: int) -> int:
    """Pages of several hosts, the same each day; returns the number of records."""
    chance = random.Random(seed)
    bodies = [page_text(chance, number) for number in range(200)]
    each = len(record("http://0.test/p/0", bodies[0], "text/html", BEGAN_AT))
    pages = max(HOSTS, size // (each * CAPTURES))
    with path.open("wb") as file:
        for host in range(HOSTS):
            urls = [f"http://{host}.test/p/{page}" for page in range(host, pages, HOSTS)]
            sitemap = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
            listing = f"<urlset>{sitemap}</urlset>".encode()
            rules = f"Sitemap: http://{host}.test/sitemap.xml\n".encode()
            file.write(record(f"http://{host}.test/robots.txt", rules, "text/plain", BEGAN_AT))
            file.write(record(f"http://{host}.test/sitemap.xml", listing, "text/xml", BEGAN_AT))
        for day in range(CAPTURES):
            for page in range(pages):
                url = f"http://{page % HOSTS}.test/p/{page}"
                at = BEGAN_AT + day * DAY + page * 0.5
                file.write(record(url, bodies[page % len(bodies)], "text/html", at))
    return 2 * HOSTS + CAPTURES * pages


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def synthetic_rows(size: int, seed: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place) / "big.warc.gz"
        written = synthesise(path, size * 1_000_000, seed)
        megabytes = path.stat().st_size / 1e6
        before = peak_mb()
        began = time.process_time()
        index = open_index([path])
        took = time.process_time() - began
        yield measured("index, first time", written, took, megabytes / took)
        began = time.process_time()
        index = open_index([path])
        took = time.process_time() - began
        yield measured("index, kept", len(index), took, megabytes / took)
        kept = cache_of(path).stat().st_size / 1e6
        yield {
            **measured("size of the kept index", len(index), 0.0, 0.0),
            "MB/s": "-",
            "peak MB": kept,
        }
        tables = {
            "politeness": {"delay": "0s", "slots": 256, "per_host": 32},
            "site": [
                {"name": f"{host}.test", "start": [f"http://{host}.test/sitemap.xml"]}
                for host in range(HOSTS)
            ],
        }
        config = settings(pathlib.Path(place) / "r.db", **tables)
        began = time.process_time()
        result = replay(config, index)
        took = time.process_time() - began
        counts = result.summary.tally.outcomes.most_common()
        named = ", ".join(f"{count} {outcome}" for outcome, count in counts)
        yield measured(f"replay: {named}", result.summary.tally.fetches, took, 0.0)
        yield {**measured("peak before indexing", 0, 0.0, 0.0), "peak MB": before}


def measured(what: str, count: int, seconds: float, rate: float) -> Row:
    return {
        "measured": what,
        "count": count,
        "CPU s": round(seconds, 2),
        "a second": round(count / seconds) if seconds else "-",
        "MB/s": round(rate, 1) if rate else "-",
        "peak MB": round(peak_mb(), 1),
    }


def main() -> None:
    parser: argparse.ArgumentParser = flags(__doc__, reads_data=True)
    parser.add_argument("--size", type=int, default=0, help="MB of an archive to synthesise")
    arguments = parser.parse_args()
    if arguments.size:
        rows = list(synthetic_rows(arguments.size, arguments.seed))
    else:
        rows = list(recorded_rows(arguments.data))
    show(rows, as_json=arguments.json)


if __name__ == "__main__":
    main()
