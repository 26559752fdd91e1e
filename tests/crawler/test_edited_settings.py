"""Settings edited while a crawl runs, in virtual time: the next tick obeys them and nothing is lost."""

import itertools
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawler.config import Config
from crawler.engine import Finish
from tests.fakes import STARTED_AT, Answer, config_for, crawl_virtually, offer_page, page

HOUR = 3_600.0
START = (
    STARTED_AT // HOUR * HOUR - STARTED_AT + HOUR
)  # the first full hour, in seconds of the fakes
EDIT = START + HOUR


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "test.db"


def shop(url: str, at: float) -> Answer:
    if url.endswith("/robots.txt"):
        return Answer("User-agent: *\nAllow: /\n")
    if url.endswith("/"):
        return Answer(page(*(f"{url}p/{number}" for number in range(20))))
    return Answer(offer_page(f"{int(at // 7_200) + 1}.00"))


def settings(database: Path, hosts: str = "a", **tables: Any) -> Config:
    sites = [{"name": host, "start": [f"http://{host}.test/"]} for host in hosts]
    crawl = {"tick": "1m", "revisit": "1m", "stop_after": "5h"}
    planned: dict[str, Any] = {"crawl": crawl, "budget": {"per_hour": 120}, "site": sites}
    return config_for(database, [], **(planned | tables))


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection, connection:
        return connection.execute(query).fetchall()


def test_a_smaller_budget_holds_from_the_next_tick_on(database: Path) -> None:
    edits = {EDIT: settings(database, budget={"per_hour": 30})}
    summary, transport = crawl_virtually(settings(database), shop, edits=edits)
    times = transport.times("http://a.test/")
    before, after = (
        sum(begin <= at < begin + HOUR for at in times) for begin in (EDIT - HOUR, EDIT)
    )
    assert before == 120
    assert after == 30
    assert summary.finish is Finish.TIME
    assert summary.tally.fetches == len(times) == rows(database, "SELECT count(*) FROM fetch")[0][0]


def test_an_edit_does_not_start_the_hour_anew(database: Path) -> None:
    """Half of the hour's fetches are spent when the edit comes; it leaves the other half."""
    edits = {EDIT + HOUR / 2: settings(database, planning={"site_floor": 0.2})}
    _, transport = crawl_virtually(settings(database), shop, edits=edits)
    times = transport.times("http://a.test/")
    assert sum(EDIT <= at < EDIT + HOUR for at in times) == 120


def test_a_new_site_is_crawled_and_one_taken_out_is_left_alone(database: Path) -> None:
    edits = {EDIT: settings(database, hosts="bc")}
    _, transport = crawl_virtually(settings(database, hosts="ab"), shop, edits=edits)
    assert max(transport.times("http://a.test/")) < EDIT + 61.0
    assert max(transport.times("http://b.test/")) > EDIT + HOUR
    assert EDIT <= min(transport.times("http://c.test/")) < EDIT + 120.0


def test_a_new_strategy_chooses_from_the_next_tick_on(database: Path) -> None:
    edits = {EDIT: settings(database, planning={"strategy": "oldest_first"})}
    crawl_virtually(settings(database), shop, edits=edits)
    chosen = rows(
        database,
        "SELECT strategy, min(started_at), max(started_at) FROM fetch WHERE purpose = 'refresh'"
        " GROUP BY strategy",
    )
    spans = {name: (first - STARTED_AT, last - STARTED_AT) for name, first, last in chosen}
    assert set(spans) == {"clock", "oldest_first"}
    assert spans["clock"][1] < EDIT + 61.0
    assert spans["oldest_first"][0] >= EDIT


def test_new_weights_hold_for_pages_known_before(database: Path) -> None:
    site = {"name": "a", "start": ["http://a.test/"], "importance": ["50 /p/7$"]}
    edits = {EDIT: settings(database, site=[site], budget={"per_hour": 30})}
    _, transport = crawl_virtually(settings(database), shop, edits=edits)
    later = [url for at, url in transport.sent if at > EDIT + HOUR]
    assert later.count("http://a.test/p/7") > 2 * later.count("http://a.test/p/8")


def test_each_set_of_settings_is_a_run_of_its_own(database: Path) -> None:
    edits = {EDIT: settings(database, budget={"per_hour": 30})}
    crawl_virtually(settings(database), shop, edits=edits)
    runs = rows(database, "SELECT finish, settings, ended_at FROM run ORDER BY id")
    assert [finish for finish, _, _ in runs] == ["edited", "time"]
    assert [json.loads(text)["budget"]["per_hour"] for _, text, _ in runs] == [120, 30]
    assert rows(database, "SELECT DISTINCT run_id FROM tick ORDER BY run_id") == [(1,), (2,)]


def test_politeness_goes_on_across_an_edit(database: Path) -> None:
    """The first edit comes when robots.txt is all that a.test was asked for; then one comes in every tick."""
    free: dict[str, Any] = {
        "budget": {},
        "crawl": {"tick": "1s", "revisit": "1s", "stop_after": "1m"},
    }
    edits = {
        at + 0.5: settings(database, planning={"site_floor": (at + 1) / 100}, **free)
        for at in range(60)
    }
    _, transport = crawl_virtually(settings(database, **free), shop, edits=edits)
    asked = [at for at, _ in transport.sent]
    assert len(rows(database, "SELECT id FROM run")) > 20
    assert len(asked) > 20
    assert min(later - earlier for earlier, later in itertools.pairwise(asked)) >= 2.0 - 1e-6


def test_limits_of_the_whole_crawl_are_not_started_anew(database: Path) -> None:
    most = {"tick": "1m", "revisit": "1m", "max_fetches": 150}
    edits = {EDIT: settings(database, crawl=most, planning={"site_floor": 0.2})}
    summary, transport = crawl_virtually(settings(database, crawl=most), shop, edits=edits)
    assert summary.finish is Finish.FETCHES
    assert len(transport.times("http://a.test/")) == 150
