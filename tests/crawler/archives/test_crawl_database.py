"""A crawl's own database replays: what it saw then is what a fetch gets."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

from crawler.archives.index import open_index
from crawler.archives.replay import choose_sites, replay
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import FetchError, HostError
from tests.fakes import STARTED_AT, Answer, config_for, crawl_virtually, offer_page, page

ORIGIN = "http://test.example"
HOUR = 3600.0
TABLES = {"crawl": {"tick": "1h", "revisit": "2h", "stop_after": "1d"}}


def shop(url: str, at: float) -> Answer | FetchError:
    """A list that grows at noon, a price that rises every six hours, and every way to answer otherwise."""
    path = url.removeprefix(ORIGIN)
    late = ["/late"] if at > 12 * HOUR else []
    pages: dict[str, Callable[[], Answer | FetchError]] = {
        "/robots.txt": lambda: Answer("User-agent: *\nDisallow: /no"),
        "/": lambda: Answer(page("/lamp", "/old", "/down", "/gone", "/no", *late, title="Lamps")),
        "/lamp": lambda: Answer(offer_page(f"{10 + int(at // (6 * HOUR))}.50")),
        "/late": lambda: Answer(offer_page("3.00", name="Late lamp")),
        "/old": lambda: Answer(status=301, headers={"location": "/lamp"}),
        "/down": lambda: HostError(Outcome.TIMEOUT, "slow"),
    }
    return pages.get(path, lambda: Answer("not here", status=404))()


def prices(database: Path) -> list[tuple[str, float]]:
    connection = sqlite3.connect(database)
    try:
        return connection.execute(
            "SELECT url, price FROM price_history ORDER BY observed_at, url"
        ).fetchall()
    finally:
        connection.close()


def outcomes(database: Path) -> set[tuple[str, str]]:
    connection = sqlite3.connect(database)
    try:
        query = "SELECT url, fetch.outcome FROM fetch JOIN page ON page.id = page_id"
        return set(connection.execute(query).fetchall())
    finally:
        connection.close()


def test_a_crawl_replayed_from_its_database_sees_what_it_saw(tmp_path: Path) -> None:
    config = config_for(tmp_path / "live.db", [f"{ORIGIN}/"], **TABLES)
    crawl_virtually(config, shop)
    index = open_index([tmp_path / "live.db"])
    assert index.first_at >= STARTED_AT
    again = config_for(tmp_path / "again.db", [f"{ORIGIN}/"], **TABLES)
    result = replay(choose_sites(again, index, ()), index)
    assert result.support.share == 1.0
    assert not result.once
    assert len(prices(tmp_path / "live.db")) == 5
    assert prices(tmp_path / "again.db") == prices(tmp_path / "live.db")
    assert outcomes(tmp_path / "again.db") == outcomes(tmp_path / "live.db")
    assert {outcome for _, outcome in outcomes(tmp_path / "again.db")} >= {
        *("ok", "redirected", "timeout", "gone"),
    }


def test_nothing_is_written_beside_a_database(tmp_path: Path) -> None:
    crawl_virtually(config_for(tmp_path / "live.db", [f"{ORIGIN}/"], **TABLES), shop, once=True)
    before = {path.name for path in tmp_path.iterdir()}
    index = open_index([tmp_path / "live.db"])
    assert index.files[0].contents.records["robots"] == 1
    assert {path.name for path in tmp_path.iterdir()} - before <= {"live.db-shm", "live.db-wal"}
