"""plan shows what the next tick will fetch, and leaves no trace."""

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from crawler.config import Config
from crawler.operator.command_line import run_command
from crawler.operator.plan import planned
from storage.lock import exclusive
from tests.crawler.operator.small_shop import ENDED_AT, HOME, ask, shop, small_config
from tests.fakes import crawl_virtually


def test_the_next_run_begins_with_what_was_planned(shop_config: Config, tmp_path: Path) -> None:
    database = tmp_path / "copy.db"
    shutil.copy(shop_config.crawl.database, database)
    config = small_config(database, budget={"per_tick": 3}, crawl={"stop_after": "30s"})
    plan = ask(planned(config, now=ENDED_AT + 300.0))
    crawl_virtually(config, shop, started_at=ENDED_AT + 300.0)
    with closing(sqlite3.connect(database)) as connection, connection:
        done = connection.execute(
            "SELECT url, purpose, strategy, value, reason FROM fetch JOIN page ON page.id = page_id"
            " WHERE started_at >= ?",
            (ENDED_AT + 300.0,),
        ).fetchall()
    assert len(done) == 3
    keys = ("url", "purpose", "strategy", "value_seconds", "reason")
    assert sorted(done) == sorted(tuple(pick[key] for key in keys) for pick in plan["picks"])


def test_planning_leaves_the_database_as_it_was(shop_config: Config) -> None:
    before = shop_config.crawl.database.read_bytes()
    ask(planned(shop_config, now=ENDED_AT))
    assert shop_config.crawl.database.read_bytes() == before


def test_a_plan_can_be_made_while_a_crawl_holds_the_lock(shop_config: Config) -> None:
    with exclusive(shop_config.crawl.database):
        assert ask(planned(shop_config, now=ENDED_AT + 300.0))["picks"]


@pytest.mark.parametrize("later", [0.0, 60.0, 3_600.0, 86_400.0])
def test_a_plan_keeps_to_the_budget_and_explains_every_pick(
    shop_config: Config, later: float
) -> None:
    plan = ask(planned(shop_config, now=ENDED_AT + later))
    assert len(plan["picks"]) <= plan["budget"]
    for pick in plan["picks"]:
        assert pick["reason"]
        assert 0.0 < pick["probability"] <= 1.0
        assert pick["terms"]["value"] == pytest.approx(pick["value_seconds"])


def test_a_site_that_was_never_crawled_is_named(shop_config: Config) -> None:
    sites = [{"name": "test", "start": [HOME]}, {"name": "new", "start": ["http://new.test/"]}]
    config = small_config(shop_config.crawl.database, site=sites)
    assert ask(planned(config, now=ENDED_AT))["new_sites"] == ["new"]


def test_the_command_prints_a_pick_with_its_reason(
    shop_config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[[site]]\nname = "test"\nstart = ["{HOME}"]\nhosts = ["b.test"]\n')
    command = ["plan", "--config", str(file), "--database", str(shop_config.crawl.database)]
    assert run_command(command) == 0
    assert "http://a.test/p/1\n    clock, probability 1.00: stale with" in capsys.readouterr().out
    assert run_command([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["picks"]


def test_without_sites_there_is_nothing_to_plan_for(
    shop_config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text("")
    command = ["plan", "--config", str(file), "--database", str(shop_config.crawl.database)]
    assert run_command(command) == 2
    assert "site: want the sites to plan for" in capsys.readouterr().err


def test_when_this_tick_is_spent_the_next_one_is_shown(shop_config: Config) -> None:
    """Seconds after a tick's whole budget was used, the plan is for the tick after it."""
    config = small_config(shop_config.crawl.database, budget={"per_tick": 1})
    with closing(sqlite3.connect(config.crawl.database)) as connection, connection:
        (last_at,) = connection.execute("SELECT max(started_at) FROM fetch").fetchone()
    plan = ask(planned(config, now=last_at + 3.0))
    assert len(plan["picks"]) == 1
    at = datetime.fromisoformat(plan["at"]).timestamp()
    assert at == last_at // 60.0 * 60.0 + 60.0
