"""How long, and how much memory, a crawl takes to pick up a database of many known pages.

The database is written first, every page fetched once, and is not counted.  Then a new process opens it as a run
does: the file (storage.store.open_store) and all that a run keeps in memory (crawler.memory.remember).
"""

import asyncio
import json
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, show
from crawler.clock import Clock
from crawler.config.model import Config
from crawler.memory import remember
from crawler.reading.urls import page_hash
from storage.database import migrate
from storage.rows import PageRow, StateRow
from storage.store import open_store
from storage.writer import STATEMENTS

ROOT = pathlib.Path(__file__).parent.parent
_SITES = 100
_STARTED_AT = 1_790_000_000.0
_TOGETHER = 10_000  # rows in a transaction: the index grows in random places, as it does in a crawl
_WORDS = ("walnut", "classic", "alpine", "linen", "harbour", "granite", "cobalt", "lantern")


def page_rows(pages: int) -> Iterator[PageRow]:
    """Pages of a hundred shops, found in sitemaps and on each other; URLs of 69 characters on average."""
    for page_id in range(1, pages + 1):
        site = page_id % _SITES
        words = "-".join(_WORDS[page_id // 8**power % 8] for power in range(3))
        url = f"https://www.shop-{site:02d}.example/products/{words}/{page_id:07d}.html"
        how = "sitemap entry" if page_id % 3 else "link"
        at = _STARTED_AT + page_id / 50
        yield PageRow(
            page_id,
            url,
            page_hash(url),
            site + 1,
            site + 1,
            2,
            how,
            page_id // 40 or None,
            at,
            site + 1,
        )


def state_rows(pages: int, rng: np.random.Generator) -> Iterator[StateRow]:
    """Every page fetched a few times, with what a believed answer leaves behind."""
    fetches = rng.integers(1, 30, pages).tolist()
    hashes = rng.integers(-(1 << 63), (1 << 63) - 1, pages).tolist()
    for index, (count, body_hash) in enumerate(zip(fetches, hashes, strict=True)):
        at = _STARTED_AT + 86_400.0 + index / 50
        yield StateRow(
            page_id=index + 1,
            kind="product",
            outcome="ok",
            fetched_at=at,
            confirmed_at=at,
            changed_at=at - 3600.0,
            gone_at=None,
            not_before=at + 3600.0,
            fetches=count,
            changes=count // 5,
            failures=0,
            alias_of=None,
            etag=f'"{body_hash & 0xFFFFFFFF:08x}"',
            last_modified=None,
            body_hash=body_hash,
            text_hash=None,
            title=f"Walnut classic alpine no. {index}",
        )


def write_database(path: pathlib.Path, pages: int, seed: int) -> None:
    migrate(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    names = [(f"shop-{site:02d}",) for site in range(_SITES)]
    connection.executemany("INSERT INTO site (name) VALUES (?)", names)
    hosts = [(f"www.shop-{site:02d}.example",) for site in range(_SITES)]
    connection.executemany("INSERT INTO host (name) VALUES (?)", hosts)
    known, states = page_rows(pages), state_rows(pages, np.random.default_rng(seed))
    for _ in range(0, pages, _TOGETHER):
        connection.execute("BEGIN")
        connection.executemany(STATEMENTS["pages"], islice(known, _TOGETHER))
        connection.executemany(STATEMENTS["states"], islice(states, _TOGETHER))
        connection.execute("COMMIT")
    connection.close()


def bytes_per_page(path: pathlib.Path, pages: int) -> float:
    """Of the page table and its indexes, by SQLite's own count of the pages they fill."""
    connection = sqlite3.connect(path)
    try:
        query = (
            "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'page%' AND name NOT LIKE 'page_state%'"
        )
        return float(connection.execute(query).fetchone()[0]) / pages
    finally:
        connection.close()


async def _resume(path: pathlib.Path) -> int:
    sites = [
        {"name": f"shop-{n:02d}", "start": [f"https://www.shop-{n:02d}.example/"]}
        for n in range(_SITES)
    ]
    config = Config.model_validate({"crawl": {"database": path}, "site": sites})
    clock = Clock()
    async with open_store(path, pause=lambda: clock.linger(0.0)) as store:
        return len((await remember(store, config, clock)).table)


def resume(path: pathlib.Path) -> Row:
    """What one process uses to open the file.  Resident: at the end, beyond what imports had taken."""
    before, cpu, started = _resident_bytes(), time.process_time(), time.monotonic()
    pages = asyncio.run(_resume(path))
    return {
        "pages": pages,
        "cpu_s": time.process_time() - cpu,
        "seconds": time.monotonic() - started,
        "resident_bytes_per_page": (_resident_bytes() - before) / pages,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _resident_bytes() -> int:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--database", type=pathlib.Path, help="open this file, once (used within)")
    arguments = parser.parse_args()
    if arguments.database:
        print(json.dumps(resume(arguments.database)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "crawl.db"
        write_database(path, arguments.pages, arguments.seed)
        size = bytes_per_page(path, arguments.pages)
        command = [sys.executable, "-m", "benchmarks.resume", f"--database={path}"]
        rows: list[Row] = []
        for _ in range(arguments.repeat):
            done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
            rows.append({**json.loads(done.stdout), "stored_bytes_per_page": size})
    show(rows, as_json=arguments.json)


if __name__ == "__main__":
    main()
