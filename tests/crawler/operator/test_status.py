"""status and export say how far the stored prices can be trusted."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawler.config import Config
from crawler.operator.command_line import run_command
from crawler.operator.status import status_facts
from tests.crawler.operator.small_shop import ENDED_AT, HOUR, ask, small_config


def facts_of(config: Config, now: float = ENDED_AT) -> dict[str, Any]:
    return ask(status_facts(config, now=now))


def exported(config: Config, file: Path, *options: str) -> str:
    command = ["export", "--database", str(config.crawl.database), "--output", str(file), *options]
    assert run_command(command) == 0
    return file.read_text()


def test_estimated_freshness_falls_when_nobody_looks(shop_config: Config) -> None:
    means = [
        facts_of(shop_config, ENDED_AT + hours * HOUR)["freshness"]["probability"]
        for hours in (0, 1, 4, 24)
    ]
    assert means == sorted(means, reverse=True)
    assert means[0] > 0.8
    assert means[-1] < 0.2


def test_freshness_of_sites_and_hosts_averages_to_the_whole(shop_config: Config) -> None:
    fresh = facts_of(shop_config)["freshness"]
    for group in (fresh["by_site"], fresh["by_host"]):
        assert sum(row["offers"] for row in group) == fresh["offers"] == 8
        mean = sum(row["offers"] * row["probability"] for row in group) / fresh["offers"]
        assert mean == pytest.approx(fresh["probability"], abs=1e-3)


def test_the_windows_count_what_was_fetched_in_them(shop_config: Config) -> None:
    now, midnight = ENDED_AT - 1.0, ENDED_AT // 86_400 * 86_400
    windows = {row["window"]: row for row in facts_of(shop_config, now)["budget"]}
    assert windows["hour"]["limit"] == 60
    assert 0 < windows["tick"]["used"] <= windows["hour"]["used"] <= 60
    with closing(sqlite3.connect(shop_config.crawl.database)) as connection, connection:
        query = "SELECT count(*) FROM fetch WHERE started_at >= ?"
        today = connection.execute(query, (midnight,)).fetchone()[0]
    assert windows["day"]["used"] == today > windows["hour"]["used"]


def test_more_budget_is_worth_something_only_when_it_is_the_limit(shop_config: Config) -> None:
    now, database = ENDED_AT + HOUR, shop_config.crawl.database
    tight = facts_of(small_config(database, budget={"per_tick": 2}), now)["next_tick"]
    assert tight["ten_percent_more"]["fetches"] == 1
    assert 0 < tight["ten_percent_more"]["worth_seconds"] <= tight["going_price_seconds"]
    free = facts_of(small_config(database, budget={}), now)["next_tick"]
    assert free["budget"] is None
    assert free["ten_percent_more"] == {"fetches": 0, "worth_seconds": 0.0, "gain": 0.0}


def test_a_host_with_more_to_fetch_than_its_delay_allows_is_named(shop_config: Config) -> None:
    slow = {"delay": "30s"}
    config = small_config(shop_config.crawl.database, budget={}, politeness=slow)
    capped = facts_of(config, ENDED_AT + HOUR)["hosts_capped_by_politeness"]
    host = next(row for row in capped if row["name"] == "a.test")
    assert host["worth_a_fetch"] > host["takes_in_a_tick"] == 3


def test_sources_are_listed_by_what_they_showed(shop_config: Config) -> None:
    sources = facts_of(shop_config)["sources"]
    assert [row["url"] for row in sources["dead_sources"]] == ["http://a.test/"]
    best = sources["best_sources"]
    assert [(row["url"], row["discovered"]) for row in best] == [("http://a.test/sitemap.xml", 0)]
    assert best[0]["signals"] > 0


def test_an_honest_sitemap_is_known_as_one(shop_config: Config) -> None:
    signals = facts_of(shop_config)["signals"]
    assert [(row["site"], row["kind"]) for row in signals] == [("test", "lastmod")]
    assert signals[0]["precision"] > 0.7
    assert signals[0]["worth_nats"] > 1.0


def test_strategies_have_weights_that_sum_to_one(shop_config: Config) -> None:
    arms = {"strategy": "portfolio", "arms": ["clock", "oldest_first"]}
    config = small_config(shop_config.crawl.database, planning=arms)
    weights = {row["name"]: row["weight"] for row in facts_of(config)["strategies"]}
    assert weights == pytest.approx({"clock": 0.5, "oldest_first": 0.5})
    assert facts_of(shop_config)["strategies"] == [{"name": "clock", "weight": 1.0}]


def test_status_prints_for_people_and_programs(
    shop_config: Config, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["status", "--database", str(shop_config.crawl.database)]
    assert run_command(command) == 0
    shown = capsys.readouterr().out
    assert "freshness, estimated:" in shown
    assert "this hour" in shown
    assert run_command([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["freshness"]["offers"] == 8


def test_every_exported_price_has_the_probability_that_it_holds(
    shop_config: Config, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in exported(shop_config, tmp_path / "a").splitlines()]
    assert len(records) == 8
    assert all(0.0 <= record["probability_valid"] <= 1.0 for record in records)
    rows = list(
        csv.DictReader(exported(shop_config, tmp_path / "b", "--format", "csv").splitlines())
    )
    assert [float(row["probability_valid"]) for row in rows] == [
        pytest.approx(record["probability_valid"], abs=1e-4) for record in records
    ]
