"""tune finds and mends a bad setting, confirms it on a span it has not seen, and goes on where it stopped."""

import tomllib
from pathlib import Path

import pytest

from crawler.archives.ranges import read_range
from crawler.operator.command_line import run_command
from tests.crawler.archives.recorded_prices import write_shop

pytest.importorskip("optuna")

SETTINGS = ("--set=crawl.tick=1h", "--set=crawl.revisit=30m", "--cores=1", "--seeds=1")


def tune(folder: Path, *flags: str) -> int:
    files = (f"--study={folder / 'tune.db'}", f"--output={folder / 'tuned.toml'}")
    return run_command(["tune", *map(str, write_shop(folder)), *SETTINGS, *files, *flags])


def test_a_planted_bad_setting_is_found_and_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Four fetches an hour keep 20 offers fairly fresh; half a day from one visit to the next does not.
    flags = (
        "--set=budget.per_hour=4",
        "--set=crawl.revisit=12h",
        "--vary=crawl.revisit 10m..13h",
        "--trials=4",
    )
    assert tune(tmp_path, *flags) == 0
    told = capsys.readouterr()
    found = tomllib.loads((tmp_path / "tuned.toml").read_text())
    assert "gain +" in told.out
    assert found["crawl"]["revisit"] != "12h"
    assert told.err.count("trial ") == 4
    # Nothing is left to do the second time: the study is taken up again.
    assert tune(tmp_path, *flags) == 0
    assert "trial " not in capsys.readouterr().err


def test_when_nothing_is_better_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ("--set=budget.per_hour=4", "--vary=crawl.max_failures 0.8..1", "--trials=2")
    assert tune(tmp_path, *flags) == 0
    assert "nothing beats the current settings" in capsys.readouterr().out
    assert not (tmp_path / "tuned.toml").exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("planning.worth_now 1h..2h", "did you mean planning.worth_new"),
        ("planning.worth_new 2h..1h", "want a range from low to high"),
        ("planning.strategy 1..2", "want choices such as"),
        ("planning.worth_new", "want a range such as"),
    ],
)
def test_a_wrong_range_is_refused_in_words(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        read_range(text)
