"""replay with a score, as the operator meets it."""

import json
from pathlib import Path

import pytest

from crawler.operator.command_line import run_command
from tests.crawler.archives.recorded_prices import write_shop
from tests.recordings import record_shop, shop_config, small_world

SETTINGS = (
    "--set=crawl.tick=1h",
    "--set=crawl.revisit=30m",
    "--set=budget.per_hour=4",
    "--for=2d",
    "--warm-up=12h",
)


def replay(*flags: str | Path) -> int:
    return run_command(["replay", *SETTINGS, "--cores=1", *map(str, flags)])


def test_strategies_are_compared_with_the_first_on_the_same_seeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    names = "clock,uniform,portfolio"
    flags = (f"--compare={names}", "--seeds=2", "--json", f"--report={page}")
    assert replay(*write_shop(tmp_path), *flags) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in result["rows"]] == names.split(",")
    first, *others = result["rows"]
    assert first["difference"] is None
    for row in others:
        assert row["seeds"] == [0, 1]
        assert row["difference"]["low"] <= row["difference"]["mean"] <= row["difference"]["high"]
        assert row["support"] == 1.0
    text = page.read_text()
    assert text.count("<svg") == 4  # freshness, coverage, discovery, the portfolio's weights
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org", "").split("<h2>Settings")[0]


def test_a_bigger_budget_is_told_with_what_it_buys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay(*write_shop(tmp_path), "--budgets=0.5x,2x", "--json") == 0
    small, large = json.loads(capsys.readouterr().out)["budgets"]
    assert small["gain"] is None
    assert large["fetches"] > 3 * small["fetches"]
    gained = 1e5 * (large["freshness"] - small["freshness"])
    assert large["gain"] == pytest.approx(gained / (large["fetches"] - small["fetches"]))


@pytest.mark.parametrize(
    ("flag", "complaint"),
    [
        ("--compare=clock,oracle", "want any of clock, greedy"),
        ("--budgets=many", "want factors such as 0.5x"),
        ("--warm-up=often", "--warm-up: want"),
    ],
)
def test_a_wrong_flag_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, complaint: str
) -> None:
    assert replay(*write_shop(tmp_path), flag) != 0
    assert complaint in capsys.readouterr().err


def test_a_recorded_crawl_is_scored_by_its_own_captures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = small_world()
    record_shop(tmp_path / "w", shop_config(tmp_path / "live.db", world, days=2.0), world)
    assert replay(tmp_path / "w", "--score", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    (row,) = result["rows"]
    assert result["offers"] > 10
    assert 0.5 < row["freshness"] <= row["coverage"] <= 1.0
    assert row["support"] > 0.95
    assert result["seconds_between_captures"] > 3600
