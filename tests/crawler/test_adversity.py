"""Whole crawls in virtual time that go wrong on purpose: redirects, closed hosts, cut-off runs, broken text."""

import asyncio
import itertools
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from crawler.clock import Clock
from crawler.config import Config
from crawler.crawl import Summary, crawl
from crawler.engine import Finish
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import AddressForbidden, FetchError, Transport
from crawler.reading.page import read_page
from tests.fakes import STARTED_AT, Answer, FakeTransport, config_for, crawl_virtually, page

ROBOTS = "User-agent: *\nDisallow: /secret\n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "test.db"


def plain(url: str, at: float) -> Answer:
    return Answer(ROBOTS if url.endswith("/robots.txt") else page())


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection, connection:
        return connection.execute(query).fetchall()


def starts(count: int, host: str = "a.test") -> list[str]:
    return [f"http://{host}/{n}" for n in range(count)]


def test_a_redirect_into_a_forbidden_corner_is_not_followed_while_others_wait_for_their_turn(
    database: Path,
) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/0"):
            return Answer(status=302, headers={"location": "/secret"})
        return plain(url, at)

    config = config_for(database, starts(3))
    summary, transport = crawl_virtually(config, behave, once=True)
    assert "http://a.test/secret" not in [url for _, url in transport.sent]
    assert summary.tally.outcomes[Outcome.ROBOTS] == 1
    assert summary.tally.outcomes[Outcome.OK] == 2


def test_rules_that_change_while_a_page_waits_for_its_turn_are_obeyed(database: Path) -> None:
    """/0 closes the host for two days; by then robots.txt forbids all."""

    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer("User-agent: *\nDisallow: /\n" if at > 3600 else ROBOTS)
        if url.endswith("/0"):
            headers = {"location": "/target", "retry-after": str(2 * 86_400)}
            return Answer(status=302 if at < 1 else 503, headers=headers)
        return Answer(status=503, headers={"retry-after": str(2 * 86_400)})

    config = config_for(
        database,
        starts(3),
        crawl={"stop_after": "4d", "tick": "3d"},
        politeness={"backoff_max": "3d"},
    )
    _, transport = crawl_virtually(config, behave)
    assert [at for at in transport.times("http://a.test/") if at > 3600] == []


@pytest.mark.parametrize("once", [True, False])
def test_a_run_ends_on_time_though_a_host_is_closed_for_an_hour(database: Path, once: bool) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/0"):
            return Answer(status=503, headers={"retry-after": "3600"})
        return plain(url, at)

    config = config_for(database, starts(5), crawl={"stop_after": "60s"})
    summary, transport = crawl_virtually(config, behave, once=once)
    assert summary.duration == pytest.approx(60.0, abs=0.01)
    assert len(transport.times("http://a.test/")) == 1


def test_nothing_is_started_after_the_end_of_the_run(database: Path) -> None:
    """The answer that is in flight at the end is a redirect: its target waits for the next run."""

    def behave(url: str, at: float) -> Answer:
        if url.endswith("/0"):
            return Answer(status=302, headers={"location": "/next"}, duration=20.0)
        return plain(url, at)

    config = config_for(database, starts(1), crawl={"stop_after": "10s"})
    _, transport = crawl_virtually(config, behave)
    assert transport.times("http://a.test/next") == []
    assert rows(database, "SELECT count(*) FROM fetch") == [(1,)]
    _, second = crawl_virtually(config, behave, started_at=STARTED_AT + 100)
    assert len(second.times("http://a.test/next")) == 1


def test_max_fetches_counts_the_targets_of_redirects(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        number = int(url.rpartition("/")[2])
        return Answer(status=302, headers={"location": f"/{number + 100}"})

    config = config_for(database, starts(3), crawl={"max_fetches": 2})
    _, transport = crawl_virtually(config, behave)
    assert len(transport.times("http://a.test/")) == 2


def test_pages_of_a_host_that_was_never_asked_survive_a_restart(database: Path) -> None:
    """b.test takes so long over its robots.txt that the first run ends before anything else is known of it."""

    def behave(url: str, at: float) -> Answer:
        if url == "http://b.test/robots.txt":
            return Answer(ROBOTS, duration=50.0)
        return plain(url, at)

    sites = [{"start": [f"http://{name}.test/"]} for name in "abc"]
    config = config_for(database, [], site=sites, crawl={"stop_after": "5s"})
    crawl_virtually(config, behave)
    hosts = rows(database, "SELECT host.name FROM page JOIN host ON host.id = host_id ORDER BY 1")
    assert hosts == [("a.test",), ("b.test",), ("c.test",)]
    summary, _ = crawl_virtually(config, plain, once=True, started_at=STARTED_AT + 100)
    assert summary.tally.outcomes == {Outcome.OK: 1}


def test_the_delay_is_kept_over_a_cut_off_run(database: Path) -> None:
    """A run that was killed cannot tell when it asked last, so the next one waits."""
    config = config_for(database, starts(2), crawl={"max_fetches": 1})
    crawl_virtually(config, plain)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE run SET ended_at = NULL")
        connection.execute("UPDATE host SET ready_at = 0")
    _, transport = crawl_virtually(config, plain, started_at=STARTED_AT + 10)
    assert transport.times("http://a.test/")[0] - 10.0 == pytest.approx(2.0)


def test_a_second_run_that_finds_nothing_to_do_is_no_failure(database: Path) -> None:
    config = config_for(database, starts(2))
    crawl_virtually(config, plain, once=True)
    summary, transport = crawl_virtually(config, plain, once=True, started_at=STARTED_AT + 10)
    assert transport.sent == []
    assert summary.finish is Finish.DONE


def test_an_address_forbidden_by_the_settings_is_tried_again_by_the_next_run(
    database: Path,
) -> None:
    def forbidden(url: str, at: float) -> FetchError:
        return AddressForbidden(Outcome.FORBIDDEN_ADDRESS, "127.0.0.1 is not a public address")

    config = config_for(database, starts(1))
    summary, _ = crawl_virtually(config, forbidden, once=True)
    assert summary.finish is Finish.NOTHING
    assert summary.tally.outcomes == {Outcome.FORBIDDEN_ADDRESS: 1}
    summary, _ = crawl_virtually(config, plain, once=True, started_at=STARTED_AT + 10)
    assert summary.tally.outcomes == {Outcome.OK: 1}


def test_half_an_emoji_does_not_stop_the_crawl(database: Path) -> None:
    offer = {"@type": "Product", "name": "Lamp \ud83d", "sku": "\ud83d", "offers": {"price": "9"}}
    data = f"<script type='application/ld+json'>{json.dumps(offer)}</script>"

    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        return Answer(page(text=data), headers={"etag": '"\udcff"'})

    summary, _ = crawl_virtually(config_for(database, starts(2)), behave, once=True)
    assert summary.tally.outcomes[Outcome.OK] == 2
    assert rows(database, "SELECT DISTINCT etag FROM page_state") == [('"?"',)]
    assert rows(database, "SELECT DISTINCT title FROM offer") == [("Lamp ?",)]


def test_a_page_that_breaks_the_reader_is_named_and_the_crawl_goes_on(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(body: bytes, **rest: object) -> object:
        if b"break me" in body:
            raise RecursionError("too deep")
        return read_page(body, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr("crawler.reader.read_page", broken)

    def behave(url: str, at: float) -> Answer:
        return Answer(page(text="break me")) if url.endswith("/0") else plain(url, at)

    summary, _ = crawl_virtually(config_for(database, starts(3)), behave, once=True)
    assert summary.tally.outcomes == {Outcome.OK: 2, Outcome.UNREADABLE: 1}
    assert rows(database, "SELECT note FROM fetch WHERE outcome = 'unreadable'") == [
        ("RecursionError: too deep",)
    ]


def test_retry_after_of_a_robots_txt_is_kept(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt") and at < 1:
            return Answer(status=503, headers={"retry-after": "7200"})
        return plain(url, at)

    config = config_for(database, starts(1), crawl={"stop_after": "4h"})
    _, transport = crawl_virtually(config, behave)
    asked = [at for at, url in transport.sent if url.endswith("/robots.txt")]
    assert asked[1] - asked[0] == pytest.approx(7200.1, abs=60.0)
    assert asked[1] - asked[0] >= 7200.0


def test_a_host_is_asked_one_thing_at_a_time_robots_txt_included(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        answer = plain(url, at)
        return Answer(answer.body, duration=3.0)

    config = config_for(database, starts(4), politeness={"delay": "1s", "adaptive": False})
    _, transport = crawl_virtually(config, behave, once=True)
    gaps = [b - a for (a, _), (b, _) in itertools.pairwise(transport.sent)]
    assert gaps == pytest.approx([4.0] * 4)


def test_pages_found_while_a_plan_is_made_wait_for_the_next_plan(database: Path) -> None:
    """In real time: links are known 20 ms before they are stored, and plans are made meanwhile."""

    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        number = int(url.rpartition("lamp")[2])
        links = [f"/lamp{2 * number + n}" for n in (1, 2)] if number < 250 else []
        return Answer(page(*links), duration=number % 7 / 200)

    @asynccontextmanager
    async def open_fake(_: Config, clock: Clock) -> AsyncIterator[Transport]:
        yield FakeTransport(clock, behave)

    async def main() -> Summary:
        return await crawl(config, clock=Clock(), open_transport=open_fake, once=True)

    politeness = {"delay": "0s", "per_host": 8}
    start = ["http://a.test/lamp0"]
    config = config_for(database, start, politeness=politeness, crawl={"tick": "50ms"})
    summary = asyncio.run(main())
    assert summary.finish is Finish.DONE
    assert summary.tally.outcomes == {Outcome.OK: 501}


def test_a_shop_that_is_given_another_name_keeps_its_pages(database: Path) -> None:
    """First crawled by its URL alone, then named in the settings, as a newcomer would."""
    crawl_virtually(config_for(database, starts(3)), plain, once=True)
    renamed = [{"name": "lamps", "start": starts(3)}]
    config = config_for(database, [], site=renamed, crawl={"stop_after": "2h"})
    summary, _ = crawl_virtually(config, plain, started_at=STARTED_AT + 7200)
    assert summary.tally.outcomes[Outcome.OK] >= 3
    sites = "SELECT site.name, count(*) FROM page JOIN site ON site.id = site_id GROUP BY 1"
    assert rows(database, sites) == [("lamps", 3)]


def test_a_host_taken_out_of_the_settings_is_not_asked_any_more(database: Path) -> None:
    both = [{"name": "shop", "start": [*starts(2), *starts(2, "old.test")]}]
    crawl_virtually(config_for(database, [], site=both), plain, once=True)
    one = [{"name": "shop", "start": starts(2)}]
    config = config_for(database, [], site=one, crawl={"stop_after": "1d"})
    _, transport = crawl_virtually(config, plain, started_at=STARTED_AT + 7200)
    assert transport.times("http://a.test/")
    assert transport.times("http://old.test/") == []
