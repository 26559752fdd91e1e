"""Whole crawls in virtual time: real engine, storage and reading on a fake transport."""

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crawler.engine import Finish
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import FetchError, HostError
from tests.fakes import Answer, config_for, crawl_virtually, offer_page, page

ROBOTS = "User-agent: *\nAllow: /\n"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "test.db"


def shop(url: str, at: float) -> Answer:
    """Ten pages that link to each other in a chain from the home page."""
    if url.endswith("/robots.txt"):
        return Answer(ROBOTS)
    number = int(url.rpartition("/")[2] or 0)
    return Answer(page(f"/{number + 1}") if number < 10 else page())


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection, connection:
        return connection.execute(query).fetchall()


def test_links_are_followed_to_the_last_page(database: Path) -> None:
    summary, _ = crawl_virtually(config_for(database, ["http://a.test/"]), shop, once=True)
    assert summary.finish is Finish.DONE
    assert summary.tally.outcomes[Outcome.OK] == 11
    urls = {row[0] for row in rows(database, "SELECT url FROM page")}
    assert urls == {"http://a.test/", *(f"http://a.test/{n}" for n in range(1, 11))}


def test_every_fetch_has_a_recorded_reason(database: Path) -> None:
    crawl_virtually(config_for(database, ["http://a.test/"]), shop, once=True)
    reasons = rows(database, "SELECT purpose, strategy, probability, reason FROM fetch")
    assert len(reasons) == 11
    assert all(all(part for part in row) for row in reasons)


def test_at_least_the_delay_lies_between_two_fetches_of_a_host(database: Path) -> None:
    _, transport = crawl_virtually(config_for(database, ["http://a.test/"]), shop, once=True)
    times = transport.times("http://a.test/")
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(gaps) == pytest.approx(2.1, abs=1e-6)  # the delay and the fetch itself


def test_crawl_delay_and_retry_after_are_kept_while_another_host_runs_at_full_speed(
    database: Path,
) -> None:
    """a.test asks for 10 s between fetches, b.test says once to come back in 40 s, c.test is quick."""
    busy = iter([True])

    def behave(url: str, at: float) -> Answer:
        if url == "http://a.test/robots.txt":
            return Answer(ROBOTS + "Crawl-delay: 10\n")
        if url == "http://b.test/3" and next(busy, False):
            return Answer("busy", status=503, headers={"retry-after": "40"})
        return shop(url, at)

    sites = [{"start": [f"http://{name}.test/"]} for name in "abc"]
    config = config_for(database, [], site=sites, crawl={"stop_after": "100s", "revisit": "1s"})
    _, transport = crawl_virtually(config, behave)

    slow = transport.times("http://a.test/")
    assert [b - a for a, b in itertools.pairwise(slow)] == pytest.approx([10.1] * (len(slow) - 1))
    refused_at = next(at for at, url in transport.sent if url == "http://b.test/3")
    after = [at for at in transport.times("http://b.test/") if at > refused_at]
    assert after[0] - refused_at == pytest.approx(40.1)
    quick = transport.times("http://c.test/")
    assert len(quick) >= 45  # one every 2.1 s, whatever the others do


def test_a_slow_host_does_not_hold_up_a_fast_one(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        answer = shop(url, at)
        return Answer(answer.body, duration=30.0 if "slow" in url else 0.1)

    sites = [{"start": ["http://slow.test/"]}, {"start": ["http://fast.test/"]}]
    config = config_for(database, [], site=sites, crawl={"stop_after": "60s"})
    _, transport = crawl_virtually(config, behave)
    assert len(transport.times("http://fast.test/")) == 11


def test_a_forbidden_corner_is_not_fetched_and_says_why(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer("User-agent: TestBot\nDisallow: /3\n")
        return shop(url, at)

    summary, transport = crawl_virtually(
        config_for(database, ["http://a.test/"]), behave, once=True
    )
    assert "http://a.test/3" not in {url for _, url in transport.sent}
    assert summary.tally.outcomes[Outcome.ROBOTS] == 1
    state = rows(
        database,
        "SELECT outcome FROM page_state JOIN page ON id = page_id WHERE url = 'http://a.test/3'",
    )
    assert state == [("robots",)]


@pytest.mark.parametrize("status", [500, 503])
def test_a_host_whose_robots_txt_fails_is_left_alone(database: Path, status: int) -> None:
    def behave(url: str, at: float) -> Answer:
        return Answer(status=status) if url.endswith("/robots.txt") else shop(url, at)

    config = config_for(database, ["http://a.test/"], crawl={"stop_after": "60s"})
    summary, transport = crawl_virtually(config, behave)
    assert transport.times("http://a.test/") == []
    assert summary.finish is Finish.NOTHING


def test_a_missing_robots_txt_allows_everything(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        return Answer(status=404) if url.endswith("/robots.txt") else shop(url, at)

    summary, _ = crawl_virtually(config_for(database, ["http://a.test/"]), behave, once=True)
    assert summary.tally.outcomes[Outcome.OK] == 11


def test_a_crawl_delay_over_the_limit_skips_the_host(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS + "Crawl-delay: 3600\n")
        return shop(url, at)

    summary, transport = crawl_virtually(
        config_for(database, ["http://a.test/"]), behave, once=True
    )
    assert transport.times("http://a.test/") == []
    assert summary.tally.outcomes[Outcome.CRAWL_DELAY_TOO_LONG] == 1


def test_the_budget_is_never_exceeded_in_any_window(database: Path) -> None:
    config = config_for(
        database,
        ["http://a.test/"],
        crawl={"stop_after": "3h", "tick": "1m", "revisit": "1s"},
        politeness={"delay": "0s"},
        budget={"per_tick": 3, "per_hour": 50},
    )
    _, transport = crawl_virtually(config, shop)
    times = transport.times("http://a.test/")
    start = 1_700_000_000.0
    for length, limit in ((60.0, 3), (3600.0, 50)):
        windows = [int((start + at) // length) for at in times]
        assert max(windows.count(window) for window in set(windows)) == limit


def test_a_restart_in_the_same_hour_does_not_get_a_new_budget(database: Path) -> None:
    config = config_for(
        database,
        ["http://a.test/"],
        crawl={"stop_after": "20m", "revisit": "1s"},
        politeness={"delay": "0s"},
        budget={"per_hour": 30},
    )
    hour = 1_700_002_800.0
    _, first = crawl_virtually(config, shop, started_at=hour)
    _, second = crawl_virtually(config, shop, started_at=hour + 1200.0)
    asked = len(first.times("http://a.test/")) + len(second.times("http://a.test/"))
    assert asked == 20


def test_a_redirect_is_followed_once_and_remembered_as_an_alias(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url == "http://a.test/old":
            return Answer(status=301, headers={"location": "/1"})
        return shop(url, at)

    summary, _ = crawl_virtually(config_for(database, ["http://a.test/old"]), behave, once=True)
    assert summary.tally.outcomes[Outcome.REDIRECTED] == 1
    alias = rows(
        database,
        "SELECT target.url FROM page_state JOIN page ON page.id = page_id"
        " JOIN page AS target ON target.id = alias_of WHERE page.url = 'http://a.test/old'",
    )
    assert alias == [("http://a.test/1",)]
    reason = rows(database, "SELECT reason FROM fetch WHERE purpose = 'follow redirect'")
    assert reason == [("http://a.test/old redirects here",)]


@pytest.mark.parametrize(
    ("hops", "outcome"),
    [
        ({"/a": "/b", "/b": "/a"}, Outcome.REDIRECT_LOOP),
        ({"/a": "/a"}, Outcome.REDIRECT_LOOP),
        ({"/a": "http://elsewhere.test/"}, Outcome.REDIRECTED_AWAY),
        ({"/a": "javascript:alert(1)"}, Outcome.CLIENT_ERROR),
    ],
)
def test_a_redirect_that_leads_nowhere_is_named(
    database: Path, hops: dict[str, str], outcome: Outcome
) -> None:
    def behave(url: str, at: float) -> Answer:
        path = url.removeprefix("http://a.test")
        if path in hops:
            return Answer(status=302, headers={"location": hops[path]})
        return Answer(ROBOTS)

    summary, transport = crawl_virtually(
        config_for(database, ["http://a.test/a"]), behave, once=True
    )
    assert summary.tally.outcomes[outcome] == 1
    assert not any("elsewhere" in url for _, url in transport.sent)


def test_a_chain_of_redirects_ends_at_the_limit(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        number = int(url.rpartition("/")[2])
        return Answer(status=302, headers={"location": f"/{number + 1}"})

    summary, transport = crawl_virtually(
        config_for(database, ["http://a.test/0"]), behave, once=True
    )
    assert summary.tally.outcomes[Outcome.TOO_MANY_REDIRECTS] == 1
    assert len(transport.times("http://a.test/")) == 6  # five redirects and the one too many


def test_robots_is_asked_for_the_target_of_a_redirect_too(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer("User-agent: *\nDisallow: /secret\n")
        return Answer(status=302, headers={"location": "/secret"})

    summary, transport = crawl_virtually(
        config_for(database, ["http://a.test/"]), behave, once=True
    )
    assert [url for _, url in transport.sent if "secret" in url] == []
    assert summary.tally.outcomes[Outcome.ROBOTS] == 1


def test_price_history_has_the_first_price_and_each_change(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        return Answer(offer_page("9.50" if at < 1800 else "8.00"))

    config = config_for(
        database, ["http://a.test/lamp"], crawl={"stop_after": "1h", "revisit": "10m"}
    )
    summary, _ = crawl_virtually(config, behave)
    history = rows(database, "SELECT price_micros, currency, availability FROM price")
    assert history == [(9_500_000, "EUR", "in_stock"), (8_000_000, "EUR", "in_stock")]
    assert summary.tally.changed == 1
    changed = rows(database, "SELECT changed FROM fetch ORDER BY id")
    assert changed == [(None,), (0,), (0,), (1,), (0,), (0,)]


def test_a_page_that_goes_away_and_errors_are_no_price_changes(database: Path) -> None:
    def behave(url: str, at: float) -> Answer | FetchError:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        if 600 < at < 4000:
            return Answer("oops", status=500)
        if 4000 < at < 8000:
            return HostError(Outcome.TIMEOUT, "too slow")
        return Answer(offer_page("9.50")) if at < 20_000 else Answer("gone", status=404)

    config = config_for(
        database, ["http://a.test/lamp"], crawl={"stop_after": "1d", "revisit": "10m"}
    )
    summary, _ = crawl_virtually(config, behave)
    assert summary.tally.changed == 0
    assert len(rows(database, "SELECT * FROM price")) == 1
    assert rows(database, "SELECT gone_at IS NOT NULL FROM offer") == [(1,)]
    taught = rows(
        database, "SELECT DISTINCT outcome FROM fetch WHERE changed IS NOT NULL ORDER BY outcome"
    )
    assert taught == [("ok",)]


def test_an_implausible_price_waits_for_a_second_fetch(database: Path) -> None:
    prices = iter(["9.50", "950.00", "9.50", "950.00", "950.00"])

    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        return Answer(offer_page(next(prices)))

    config = config_for(
        database, ["http://a.test/lamp"], crawl={"max_fetches": 5, "revisit": "10m"}
    )
    crawl_virtually(config, behave)
    history = rows(database, "SELECT price_micros FROM price")
    assert history == [(9_500_000,), (950_000_000,)]
    assert rows(database, "SELECT changed FROM fetch") == [(None,), (None,), (0,), (None,), (1,)]


def test_an_unchanged_page_is_asked_for_with_both_validators(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        validators = {"etag": '"1"', "last-modified": "Mon, 01 Jan 2024 00:00:00 GMT"}
        return Answer(page(), headers=validators) if at < 100 else Answer(status=304)

    config = config_for(database, ["http://a.test/"], crawl={"max_fetches": 3, "revisit": "10m"})
    summary, transport = crawl_virtually(config, behave)
    assert summary.tally.outcomes[Outcome.NOT_MODIFIED] == 2
    again = transport.requests[-1]
    assert (again.etag, again.last_modified) == ('"1"', "Mon, 01 Jan 2024 00:00:00 GMT")


def test_too_many_failures_end_the_run(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        if url == "http://a.test/":
            return Answer(page(*(f"/{n}" for n in range(500))))
        return Answer("no", status=403)

    config = config_for(database, ["http://a.test/"], politeness={"delay": "0s"})
    summary, _ = crawl_virtually(config, behave)
    assert summary.finish is Finish.FAILURES


def test_two_virtual_crawls_are_identical(tmp_path: Path) -> None:
    dumps = []
    for name in ("one.db", "two.db"):
        config = config_for(
            tmp_path / name, ["http://a.test/"], crawl={"stop_after": "2h", "revisit": "5m"}
        )
        crawl_virtually(config, shop)
        dumps.append(rows(tmp_path / name, "SELECT * FROM fetch ORDER BY id"))
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) > 100


def test_a_believed_canonical_makes_a_page_an_alias_and_its_target_is_fetched(
    database: Path,
) -> None:
    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        head = '<link rel="canonical" href="/lamp">'
        return Answer(offer_page("9.50").replace("<title>", head + "<title>"))

    config = config_for(database, ["http://a.test/lamp?ref=home"])
    summary, _ = crawl_virtually(config, behave, once=True)
    assert summary.tally.outcomes[Outcome.ALIAS] == 1
    offers = rows(database, "SELECT url FROM offer JOIN page ON page.id = page_id")
    assert offers == [("http://a.test/lamp",)]


def test_a_canonical_that_sends_every_page_home_is_ignored_and_counted(database: Path) -> None:
    def behave(url: str, at: float) -> Answer:
        answer = shop(url, at)
        assert isinstance(answer.body, str)
        return Answer(answer.body.replace("<title>", '<link rel="canonical" href="/"><title>'))

    summary, _ = crawl_virtually(config_for(database, ["http://a.test/"]), behave, once=True)
    assert summary.tally.outcomes[Outcome.OK] == 11
    dropped = rows(database, "SELECT links FROM dropped WHERE reason = 'canonical_is_home_page'")
    assert dropped == [(10,)]


def test_a_listing_price_that_differs_from_ours_is_a_signal(database: Path) -> None:
    """The shop lowers one of six prices; the listing shows it before the product's page is due."""

    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        name = url.rpartition("/")[2]
        low = name == "lamp-3" and at > 3000
        if name:
            return Answer(offer_page("8.00" if low else "9.50", name=f"Brass {name}"))
        cards = "".join(
            f'<li class="product"><a href="/lamp-{n}">Brass lamp-{n}</a>'
            f'<span class="price">€{"8.00" if n == 3 and at > 3000 else "9.50"}</span></li>'
            for n in range(6)
        )
        return Answer(f"<!doctype html><title>Lamps</title><h1>Lamps</h1><ul>{cards}</ul>")

    config = config_for(database, ["http://a.test/"], crawl={"stop_after": "2h", "revisit": "1h"})
    crawl_virtually(config, behave)
    signals = rows(database, "SELECT url, kind FROM signal JOIN page ON page.id = page_id")
    assert signals == [("http://a.test/lamp-3", "listing_price")]


def test_a_bot_wall_for_an_hour_harms_neither_history_nor_rates(database: Path) -> None:
    wall = (
        "<!doctype html><html><title>Just a moment...</title><body><h1>Checking your browser</h1>"
        "<p>Please enable JavaScript and cookies to continue. Verify you are human.</p>"
        '<div class="g-recaptcha" data-sitekey="x"></div></body></html>'
    )

    def behave(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(ROBOTS)
        return Answer(wall if 3600 < at < 7200 else offer_page("9.50"))

    config = config_for(
        database, ["http://a.test/lamp"], crawl={"stop_after": "4h", "revisit": "5m"}
    )
    summary, transport = crawl_virtually(config, behave)
    assert summary.tally.outcomes[Outcome.WALL] > 0
    assert summary.tally.changed == 0
    assert rows(database, "SELECT price_micros FROM price") == [(9_500_000,)]
    assert rows(database, "SELECT DISTINCT changed FROM fetch WHERE outcome = 'wall'") == [(None,)]
    assert rows(database, "SELECT changes, gone_at FROM page_state") == [(0, None)]
    hosts = rows(database, "SELECT note FROM host")
    assert hosts == [(None,)]  # marked while it lasted, and no longer
    during = [at for at in transport.times("http://a.test/") if 3600 < at < 7200]
    assert len(during) <= 7  # 60 s doubling: the host is left in peace
    after = [at for at in transport.times("http://a.test/") if at > 7200]
    assert len(after) > 10  # and taken up again
