"""How long, and how much memory, a crawl takes to pick up a database of many known pages.

A database is written and not counted: first of pages that are only known, then with all of them fetched and the
planner's lessons learned.  A new process opens it as a run does: the file (storage.store.open_store) and all that
a run keeps in memory (crawler.memory.remember).
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
from contextlib import closing
from itertools import islice
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, show
from crawler.clock import Clock
from crawler.config.model import Config
from crawler.memory import remember
from crawler.reading.urls import page_hash
from storage.database import migrate
from storage.learning import LESSON_COLUMNS
from storage.rows import PageRow, SignalRow, StateRow
from storage.store import open_store
from storage.writer import STATEMENTS

ROOT = pathlib.Path(__file__).parent.parent
_SITES = 100
_STARTED_AT = 1_790_000_000.0
_TOGETHER = 10_000  # rows in a transaction: the index grows in random places, as it does in a crawl
_WORDS = ("walnut", "classic", "alpine", "linen", "harbour", "granite", "cobalt", "lantern")


def page_rows(pages: int) -> Iterator[PageRow]:
    """Pages of a hundred shops, found in sitemaps and on each other; URLs of 71 characters on average."""
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


def signal_rows(pages: int) -> Iterator[SignalRow]:
    """The sitemap's time stamp of each page that one announced."""
    for page_id in range(1, pages + 1):
        if page_id % 3:
            yield SignalRow(page_id, "lastmod", _STARTED_AT, _STARTED_AT + page_id / 50)


def write_pages(path: pathlib.Path, pages: int) -> None:
    """A new database of pages that are known and no more."""
    migrate(path)
    with closing(_open(path)) as connection:
        names = [(f"shop-{site:02d}",) for site in range(_SITES)]
        connection.executemany("INSERT INTO site (name) VALUES (?)", names)
        hosts = [(f"www.shop-{site:02d}.example",) for site in range(_SITES)]
        connection.executemany("INSERT INTO host (name) VALUES (?)", hosts)
        _write(connection, "pages", page_rows(pages))


def write_fetches(path: pathlib.Path, pages: int, seed: int) -> None:
    """What fetching all of them leaves behind, and what the planner learns from it."""
    with closing(_open(path)) as connection:
        _write(connection, "states", state_rows(pages, np.random.default_rng(seed)))
        _write(connection, "signals", signal_rows(pages))
    asyncio.run(_learn(path, pages))


def _open(path: pathlib.Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def _write(connection: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    while together := list(islice(rows, _TOGETHER)):
        connection.execute("BEGIN")
        connection.executemany(STATEMENTS[table], together)
        connection.execute("COMMIT")


async def _learn(path: pathlib.Path, pages: int) -> None:
    """Lets the planner learn from a fetch of every page, and keep what it learned."""
    clock = Clock()
    async with open_store(path, pause=lambda: clock.linger(0.0)) as store:
        learner = (await remember(store, _settings(path), clock)).learner
        for tick_id, start in enumerate(range(0, pages, 5 * _TOGETHER), start=1):
            lessons = np.zeros(min(5 * _TOGETHER, pages - start), LESSON_COLUMNS)
            lessons["fetch_id"] = lessons["page_id"] = np.arange(len(lessons)) + start + 1
            lessons["at"] = _STARTED_AT + 86_400.0 + lessons["page_id"] / 50
            lessons["believed"] = lessons["is_offer"] = True
            lessons["price_micros"] = 1_000_000 * (1 + lessons["page_id"] % 500)
            lessons["tick_id"] = tick_id
            learned = learner.learn(lessons)
            learned.policies.append(learner.state(tick_id=tick_id))
            await store.write(learned)


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


def _settings(path: pathlib.Path) -> Config:
    sites = [
        {"name": f"shop-{n:02d}", "start": [f"https://www.shop-{n:02d}.example/"]}
        for n in range(_SITES)
    ]
    return Config.model_validate({"crawl": {"database": path}, "site": sites})


async def _resume(path: pathlib.Path) -> Row:
    """What one process uses to open the file.  Resident: beyond what imports had taken, while all is held."""
    before, cpu, started = _resident_bytes(), time.process_time(), time.monotonic()
    clock = Clock()
    async with open_store(path, pause=lambda: clock.linger(0.0)) as store:
        memory = await remember(store, _settings(path), clock)
        pages = len(memory.table)
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
        print(json.dumps(asyncio.run(_resume(arguments.database))))
        return
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "crawl.db"
        write_pages(path, arguments.pages)
        rows += _measure("known", path, arguments.repeat)
        write_fetches(path, arguments.pages, arguments.seed)
        rows += _measure("fetched", path, arguments.repeat)
    show(rows, as_json=arguments.json)


def _measure(state: str, path: pathlib.Path, repeat: int) -> Iterator[Row]:
    command = [sys.executable, "-m", "benchmarks.resume", f"--database={path}"]
    for _ in range(repeat):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        row = json.loads(done.stdout)
        yield {"state": state, **row, "stored_bytes_per_page": bytes_per_page(path, row["pages"])}


if __name__ == "__main__":
    main()
