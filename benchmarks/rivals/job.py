"""What each rival is given, and how what it used is measured."""

import argparse
import json
import resource
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.local_site import HOSTS

IN_FLIGHT = 16  # fetches at a time, two a host


@dataclass(frozen=True, slots=True)
class Job:
    """The site to crawl and the database to fill; `refresh`: it is full, and every page is asked for again."""

    port: int
    database: Path
    refresh: bool

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(f"http://{host}:{self.port}" for host in HOSTS)


@dataclass(frozen=True, slots=True)
class Done:
    """What a rival says of its crawl."""

    pages: int
    planning_cpu: float = 0.0
    reading_cpu: float = 0.0


@dataclass(frozen=True, slots=True)
class Used:
    """What a crawl took.  Starting the interpreter and importing are not counted."""

    pages: int
    planning_cpu: float
    reading_cpu: float
    cpu: float
    seconds: float
    peak_bytes: int


def measure(crawl: Callable[[Job], Done]) -> None:
    """Runs a rival on the job of the command line and prints what it used."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", type=Path, required=True)
    parser.add_argument("--refresh", action="store_true")
    arguments = parser.parse_args()
    job = Job(arguments.port, arguments.database, arguments.refresh)
    started, cpu = time.monotonic(), _cpu_used()
    done = crawl(job)
    used = Used(
        pages=done.pages,
        planning_cpu=done.planning_cpu,
        reading_cpu=done.reading_cpu,
        cpu=_cpu_used() - cpu,
        seconds=time.monotonic() - started,
        peak_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )
    print(json.dumps(asdict(used)), flush=True)


def _cpu_used() -> float:
    """CPU seconds of this process, its threads and its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Shelf:
    """The store of the crawlers that bring none: pages and known links, a hundred pages a transaction."""

    def __init__(self, database: Path) -> None:
        self._connection = sqlite3.connect(database, isolation_level=None)
        self._connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
            "CREATE TABLE IF NOT EXISTS page (url TEXT PRIMARY KEY, title TEXT, price TEXT, etag TEXT) WITHOUT ROWID;"
            "CREATE TABLE IF NOT EXISTS link (url TEXT PRIMARY KEY, source TEXT) WITHOUT ROWID;"
        )
        self._pages: list[tuple[str, str | None, str | None, str | None]] = []
        self._links: list[tuple[str, str]] = []
        self.pages = 0

    def put(
        self, url: str, title: str | None, price: str | None, etag: str | None, new_links: list[str]
    ) -> None:
        self.pages += 1
        self._pages.append((url, title, price, etag))
        self._links.extend((link, url) for link in new_links)
        if len(self._pages) >= 100:
            self.save()

    def known(self) -> list[tuple[str, str]]:
        """URL and ETag of every page."""
        return self._connection.execute("SELECT url, etag FROM page").fetchall()

    def save(self) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?)", self._pages)
        self._connection.executemany("INSERT OR IGNORE INTO link VALUES (?, ?)", self._links)
        self._connection.execute("COMMIT")
        self._pages, self._links = [], []


def price_in(linked_data: str) -> str | None:
    """The price of a JSON-LD block, if it has one."""
    data = json.loads(linked_data)
    price = data.get("offers", {}).get("price")
    return None if price is None else str(price)
