"""explain says what is known of a page, and why it is fetched or not."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawler.config import Config
from crawler.operator.command_line import run_command
from crawler.operator.explain import explained
from crawler.operator.look import look
from crawler.operator.plan import planned
from crawler.planning.due import due_at
from crawler.planning.terms import terms_of
from crawler.reading.urls import page_hash
from tests.crawler.operator.small_shop import ENDED_AT, FAST, HOME, HOUR, SLOW, ask, small_config

LATER = ENDED_AT + 300.0


def told(config: Config, url: str, now: float = LATER) -> dict[str, Any]:
    return ask(explained(config, url, now=now))


@pytest.mark.parametrize(
    ("url", "verdict", "words"),
    [
        ("http://elsewhere.test/", "no_site", "no site of the config has the host elsewhere.test"),
        ("http://a.test/private/x", "robots", "robots.txt"),
        ("http://a.test/private/never-seen", "robots", "forbids it to TestBot"),
        ("http://a.test/gone", "resting", "ended as `gone`"),
        (
            "http://a.test/other-name",
            "alias",
            "another address (`redirected`) of http://a.test/p/2",
        ),
        ("http://a.test/never-linked", "not_known", "`python -m crawler seed FILE` adds it"),
        ("http://a.test/x/y/x/y/x/y/x/y", "trap", "trap `repeated_segments`"),
        ("http://b.test/busy", "host_closed", "host b.test is closed until"),
    ],
)
def test_what_is_not_fetched_is_told_why(
    shop_config: Config, url: str, verdict: str, words: str
) -> None:
    facts = told(shop_config, url)
    assert facts["verdict"] == verdict
    assert words in facts["sentences"][-1]
    assert not facts["fetched_in_next_tick"]


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"exclude": ["/p/[1-4]$"]}, r"it fits site.exclude '/p/[1-4]$'"),
        ({"include": ["/q/"]}, "it fits none of site.include ['/q/']"),
        ({"max_depth": 0}, "it is 1 links from the start, site.max_depth is 0"),
    ],
)
def test_a_known_page_that_new_rules_shut_out_names_the_rule_and_is_not_planned(
    shop_config: Config, rules: dict[str, Any], words: str
) -> None:
    site = {"name": "test", "start": [HOME], **rules}
    config = small_config(shop_config.crawl.database, site=[site])
    facts = told(config, FAST)
    assert facts["verdict"] == "out_of_scope"
    assert words in facts["sentences"][-1]
    plan = ask(planned(config, now=LATER + HOUR))
    assert FAST not in {pick["url"] for pick in plan["picks"]}


def test_a_full_site_takes_no_more(shop_config: Config) -> None:
    site = {"name": "test", "start": [HOME], "max_pages": 3}
    facts = told(small_config(shop_config.crawl.database, site=[site]), "http://a.test/new")
    assert facts["verdict"] == "site_full"


def test_a_used_up_budget_is_told(shop_config: Config) -> None:
    config = small_config(shop_config.crawl.database, budget={"per_day": 1})
    assert told(config, FAST)["verdict"] == "budget"


def test_a_page_rests_after_a_fetch_for_as_long_as_the_settings_say(shop_config: Config) -> None:
    with closing(sqlite3.connect(shop_config.crawl.database)) as connection, connection:
        url, fetched_at = connection.execute(
            "SELECT url, max(fetched_at) FROM page_state JOIN page ON page.id = page_id"
            " WHERE outcome = 'ok'"
        ).fetchone()
    facts = told(shop_config, url, now=fetched_at + 5.0)
    assert facts["verdict"] == "resting"
    assert "crawl.revisit" in facts["sentences"][-1]


def test_a_page_is_in_the_next_tick_exactly_when_the_plan_has_it(shop_config: Config) -> None:
    """The law that binds the two commands, over every known page, and each has its sentence."""
    now = LATER + HOUR
    chosen = {pick["url"] for pick in ask(planned(shop_config, now=now))["picks"]}
    with closing(sqlite3.connect(shop_config.crawl.database)) as connection, connection:
        urls = [url for (url,) in connection.execute("SELECT url FROM page")]
    facts = {url: told(shop_config, url, now) for url in urls}
    assert {url for url in urls if facts[url]["fetched_in_next_tick"]} == chosen
    assert all(facts[url]["sentences"][-1].endswith(".") for url in urls)


def test_what_changes_more_often_has_the_higher_rate_and_is_trusted_less(
    shop_config: Config,
) -> None:
    fast, slow = (told(shop_config, url)["terms"] for url in (FAST, SLOW))
    assert fast["changes_per_day"] > slow["changes_per_day"]
    for terms in (fast, slow):
        low, high = terms["changes_per_day_low"], terms["changes_per_day_high"]
        assert low < terms["changes_per_day"] < high
    later = told(shop_config, FAST, LATER + 3 * HOUR)["terms"]
    assert later["probability_fresh"] < fast["probability_fresh"] < 1.0


@pytest.mark.parametrize("url", [FAST, SLOW, "http://a.test/sitemap.xml"])
def test_a_page_is_due_when_its_value_reaches_the_going_price(
    shop_config: Config, url: str
) -> None:
    """With what it will be worth in an hour as the price, it is due in an hour."""
    planning = shop_config.planning

    async def due() -> float | None:
        async with look(shop_config, LATER) as seen:
            learner, table = seen.memory.learner, seen.memory.table
            page_id = table.find(page_hash(url))
            now, then = (
                terms_of(page_id, learner, table, at, worth_new=planning.worth_new)
                for at in (LATER, LATER + HOUR)
            )
            return due_at(page_id, now, learner, then.value, LATER, settings=planning)

    assert ask(due()) == pytest.approx(LATER + HOUR, abs=0.01)


def test_the_command_says_it_in_sentences_and_as_json(
    shop_config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[[site]]\nname = "test"\nstart = ["{HOME}"]\n')
    options = ["--config", str(file), "--database", str(shop_config.crawl.database)]
    assert run_command(["explain", FAST, *options]) == 0
    shown = capsys.readouterr().out
    assert "Our copy still holds with probability" in shown
    assert "the going price is" in shown
    assert run_command(["explain", FAST, "--json", *options]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["history"][0]["reason"]
    assert facts["offers"][0]["currency"] == "EUR"


def test_something_that_is_no_address_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["explain", "not a url"]) == 1
    assert "want a web address" in capsys.readouterr().err


def test_a_signal_that_waits_lowers_the_trust_and_is_told_with_its_quality(
    shop_config: Config, tmp_path: Path
) -> None:
    database = tmp_path / "copy.db"
    shutil.copy(shop_config.crawl.database, database)
    config = small_config(database)
    before = told(config, SLOW)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute(
            "INSERT INTO signal SELECT id, 'lastmod', ?, ? FROM page WHERE url = ?",
            (LATER - 10.0, LATER - 5.0, SLOW),
        )
    after = told(config, SLOW)
    assert after["terms"]["signals_waiting"] == ("lastmod",)
    assert after["terms"]["probability_fresh"] < before["terms"]["probability_fresh"] / 2
    quality = after["signal_quality"][0]
    assert quality["kind"] == "lastmod"
    assert quality["precision"] > 0.7  # the sitemap is honest
    said = " ".join(after["sentences"])
    assert "waits for a fetch" in said
    assert "come true" in said
