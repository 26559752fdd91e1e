"""An edited settings file is taken over when it holds, and refused with the reason when it does not."""

import asyncio
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from time import sleep

import pytest

from crawler.clock import real_time
from crawler.config import Config, load_config
from crawler.operator.edits import Edits, heard_on_sighup
from tests.processes import USER_AGENT, rows, served, small_shop, start

GOOD = """
[crawl]
user_agent = "MyShopBot/1.0 (+https://example.org/bot)"
[budget]
per_hour = 100
"""


class Desk:
    """A settings file, what watches it, and what the operator is told."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_text(GOOD)
        self.out = io.StringIO()
        self.edits = Edits(self.load(), path, load=self.load, out=self.out)

    def load(self) -> Config:
        return load_config(self.path, environment={}, flags={}).config

    def write(self, text: str) -> Config | None:
        self.path.write_text(text)
        return self.edits.take()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "config.toml")


def test_nothing_is_read_while_the_file_is_untouched(desk: Desk) -> None:
    assert desk.edits.take() is None
    assert desk.out.getvalue() == ""


def test_a_good_edit_is_taken_over_once_and_named(desk: Desk) -> None:
    config = desk.write(GOOD.replace("100", "50"))
    assert config is not None
    assert config.budget.per_hour == 50
    assert desk.out.getvalue() == f"{desk.path}: taken over: budget.per_hour\n"
    assert desk.edits.take() is None


def test_a_bad_edit_is_refused_with_its_faults_and_the_next_good_one_is_taken(desk: Desk) -> None:
    assert desk.write(GOOD.replace("100", "'many'")) is None
    told = desk.out.getvalue()
    assert "budget.per_hour: want" in told
    assert told.endswith("the settings stay as they were\n")
    assert desk.write("[budget\n") is None  # half a file, as an editor may leave it for a moment
    config = desk.write(GOOD.replace("100", "70"))
    assert config is not None
    assert config.budget.per_hour == 70


def test_a_file_that_vanishes_changes_nothing(desk: Desk) -> None:
    desk.path.unlink()
    assert desk.edits.take() is None
    assert "no such file" in desk.out.getvalue()


@pytest.mark.parametrize(
    "edit", ['[crawl]\ndatabase = "x.db"', '[log]\nlevel = "debug"', "[fetch]\nuvloop = true"]
)
def test_what_is_opened_once_cannot_be_edited(desk: Desk, edit: str) -> None:
    text = edit if edit.startswith("[crawl]") else GOOD + edit
    assert desk.write(text) is None
    assert "cannot change while the crawl runs" in desk.out.getvalue()


def test_sighup_reads_the_file_again_even_if_it_seems_unchanged(desk: Desk) -> None:
    async def hang_up() -> None:
        with heard_on_sighup(desk.edits):
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0.01)

    asyncio.run(hang_up())
    assert desk.edits.take() is None
    assert desk.out.getvalue() == f"{desk.path}: read again, no setting changed\n"


def until(condition: Callable[[], object]) -> None:
    deadline = real_time() + 30.0
    while not condition():
        assert real_time() < deadline
        sleep(0.05)


def test_a_running_crawl_takes_a_good_edit_and_outlives_a_bad_one(tmp_path: Path) -> None:
    file, database = tmp_path / "config.toml", tmp_path / "freshet.db"

    def runs() -> list[object]:
        if not database.exists():
            return []
        return [count for (count,) in rows(database, "SELECT id FROM run ORDER BY id")]

    def text(*, slots: str) -> str:
        return (
            f'[crawl]\nuser_agent = "{USER_AGENT}"\ntick = "100ms"\nrevisit = "100ms"\n'
            f'[politeness]\ndelay = "0s"\nslots = {slots}\n'
            f'[fetch]\nallow_networks = ["127.0.0.0/8"]\n[[site]]\nstart = ["{site.url}/"]\n'
        )

    with served(small_shop(5)) as site:
        file.write_text(text(slots="4"))
        process = start("run", folder=tmp_path)
        until(lambda: site.page_visits > 7)
        file.write_text(text(slots="8"))
        until(lambda: runs() == [1, 2])
        file.write_text(text(slots="'many'"))
        process.send_signal(signal.SIGHUP)
        visits = site.page_visits
        until(lambda: site.page_visits > visits + 20)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=30.0)
    assert process.returncode == 130, told
    assert "config.toml: taken over: politeness.slots" in told
    assert "politeness.slots: want" in told
    assert runs() == [1, 2]
