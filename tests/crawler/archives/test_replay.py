"""Replay: the same crawl in virtual time, the same every time."""

import json
import sqlite3
from pathlib import Path

import pytest

from crawler.archives.captures import ArchiveError
from crawler.archives.index import open_index
from crawler.archives.replay import choose_sites, replay, sites_in
from crawler.engine import Finish
from tests.fakes import config_for
from tests.processes import FAST, run, served, small_shop
from tests.recordings import (
    GOLDEN,
    golden_report,
    index_of,
    record_shop,
    replay_config,
    response,
    shop_config,
    small_world,
    warc,
)

DAYS = 1.5


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day and a half of a crawl of two shops."""
    folder = tmp_path_factory.mktemp("recording")
    world = small_world()
    record_shop(folder / "w", shop_config(folder / "live.db", world, days=DAYS), world)
    return folder


def contents(database: Path) -> list[str]:
    """Everything in a database, but for where it lies."""
    connection = sqlite3.connect(database)
    try:
        connection.execute("UPDATE run SET settings = replace(settings, ?, '')", (str(database),))
        return list(connection.iterdump())
    finally:
        connection.close()


def picks(database: Path) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(database)
    query = (
        "SELECT url, tick_id, fetch.outcome, fetch.body_hash, changed FROM fetch"
        " JOIN page ON page.id = page_id ORDER BY tick_id, url"
    )
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_two_replays_leave_the_same_database(recording: Path, tmp_path: Path) -> None:
    for name in ("a.db", "b.db"):
        index = open_index([recording / "w"])
        config = replay_config(tmp_path / name, index, crawl={"tick": "1h", "revisit": "6h"})
        result = replay(config, index)
        assert result.summary.finish is Finish.TIME
        assert result.summary.tally.changed > 0
    assert contents(tmp_path / "a.db") == contents(tmp_path / "b.db")


def test_the_settings_that_recorded_it_pick_the_same_pages_again(
    recording: Path, tmp_path: Path
) -> None:
    index = open_index([recording / "w"])
    again = shop_config(tmp_path / "again.db", small_world(), days=DAYS)
    result = replay(again, index)
    assert result.support.share == 1.0
    assert picks(tmp_path / "again.db") == picks(recording / "live.db")


def test_a_live_crawl_replays_with_the_same_picks(tmp_path: Path) -> None:
    with served(small_shop(8)) as site:
        done = run(
            *("run", site.url, "--once", "--record", "w", "--database", "live.db"),
            *FAST,
            folder=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        done = run(
            *("replay", "w", "--start", site.url, "--once", "--database", "again.db", "--json"),
            *FAST,
            folder=tmp_path,
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["asked"], told["answered"]) == (10, 10)
    live, again = picks(tmp_path / "live.db"), picks(tmp_path / "again.db")
    # Ticks end by the wall clock when live, so only the order of pages and what they held is compared.
    assert {(row[0], *row[2:]) for row in live} == {(row[0], *row[2:]) for row in again}


def test_an_archive_of_one_date_is_only_discovered(tmp_path: Path) -> None:
    home = response("http://a.test/", b"<h1>Home</h1><p>Words to read here.<a href='/b'>b</a>")
    index = index_of(tmp_path, warc(home, response("http://a.test/b", b"<h1>B</h1><p>More words.")))
    result = replay(replay_config(tmp_path / "a.db", index), index)
    assert result.once
    assert result.summary.finish is Finish.DONE
    assert result.summary.tally.fetches == 2


def test_sites_come_from_what_is_asked_then_the_config_then_the_archive(tmp_path: Path) -> None:
    pages = [response(f"http://{host}.test/") for host in ("a", "b")]
    index = index_of(tmp_path, warc(*pages, response("http://b.test/deep")))
    config = config_for(tmp_path / "a.db", ["http://b.test/deep"])
    asked = choose_sites(config, index, ["http://a.test/"])
    assert [site.start for site in asked.site] == [("http://a.test/",)]
    assert choose_sites(config, index, ()).site == config.site
    elsewhere = config_for(tmp_path / "a.db", ["http://c.test/"])
    found = choose_sites(elsewhere, index, ()).site
    assert [site.name for site in found] == ["a.test", "b.test"]
    with pytest.raises(ArchiveError, match="--start: want a page in the archive"):
        choose_sites(config, index, ["http://c.test/"])


def test_an_archive_without_a_page_says_so(tmp_path: Path) -> None:
    image = response("http://a.test/i", head="HTTP/1.1 200 OK\r\nContent-Type: image/png")
    with pytest.raises(ArchiveError, match="no HTML page"):
        sites_in(index_of(tmp_path, warc(image)))


def test_a_replay_leaves_the_live_database_and_log_alone(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(warc(response("http://a.test/", b"<p>Some words.")))
    (tmp_path / "config.toml").write_text('[log]\nfetches = "live.jsonl"\n')
    done = run("replay", "a.warc.gz", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "support: 1 of 1 fetches answered" in done.stdout
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"a.warc.gz", "a.warc.gz.freshet-index", "config.toml"}
    (tmp_path / "old.db").touch()
    done = run("replay", "a.warc.gz", "--database", "old.db", folder=tmp_path)
    assert done.returncode == 1
    assert "want a new file" in done.stderr


def test_the_golden_archive_gives_its_report(tmp_path: Path) -> None:
    """A change here is a change of what a crawl does: look at it, then `python -m tests.recordings`."""
    assert golden_report(tmp_path) == json.loads((GOLDEN / "report.json").read_text())
