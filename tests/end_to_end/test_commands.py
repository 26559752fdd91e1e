"""Every command as a user types it, with what it prints and the code it exits with."""

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawler import __version__
from crawler.fetching.outcome import MEANING
from crawler.operator.command_line import parser
from tests.fakes import page
from tests.processes import (
    FAST,
    ROOT,
    USER_AGENT,
    Site,
    environment,
    rows,
    run,
    served,
    small_shop,
    start,
)

OFFERS = 5
PAGES = OFFERS + 2
LOG_FIELDS = {
    *("at", "outcome", "status", "bytes", "url", "discovered", "duration", "digest"),
    *("changed", "purpose", "strategy", "probability", "value", "reason", "note"),
}


@dataclass(frozen=True, slots=True)
class Crawled:
    """A shop, a config.toml for it, and a finished crawl of it."""

    site: Site
    folder: Path
    first: subprocess.CompletedProcess[str]

    @property
    def database(self) -> Path:
        return self.folder / "freshet.db"


def write_config(folder: Path, url: str, *more: str) -> None:
    lines = [
        "[crawl]",
        f'user_agent = "{USER_AGENT}"',
        "[politeness]",
        'delay = "0s"',
        "[fetch]",
        'allow_networks = ["127.0.0.0/8"]',
        "[[site]]",
        'name = "lamps"',
        f'start = ["{url}/"]',
        *more,
    ]
    (folder / "config.toml").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("crawled")
    robots = "User-agent: *\nDisallow: /secret\nCrawl-delay: 0.01\n"
    pages = {**small_shop(OFFERS), "/": page("/list", "/secret", "/gone", "http://other.test/")}
    with served(pages, robots=robots) as site:
        write_config(folder, site.url)
        first = run("run", "--once", "--log", "fetches.jsonl", folder=folder)
        yield Crawled(site, folder, first)


def test_run_once_ends_by_itself_and_says_why(crawled: Crawled) -> None:
    assert crawled.first.returncode == 0, crawled.first.stderr
    assert crawled.first.stdout == ""
    lines = crawled.first.stderr.splitlines()
    assert "finished: every known page was fetched" in lines
    assert re.search(
        rf"{PAGES + 1} fetches in .* {PAGES + 2} pages found, {OFFERS} new offers",
        crawled.first.stderr,
    )
    assert re.search(r"1 robots\b", crawled.first.stderr)
    assert crawled.site.visits["/secret"] == 0


def test_the_log_has_a_json_line_for_each_fetch_and_each_refusal(crawled: Crawled) -> None:
    text = (crawled.folder / "fetches.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == PAGES + 2
    assert all(set(line) == LOG_FIELDS for line in lines)
    by_path = {line["url"].removeprefix(crawled.site.url): line for line in lines}
    assert by_path["/secret"]["outcome"] == "robots"
    assert by_path["/gone"]["status"] == 404
    lamp = by_path["/lamp/0"]
    assert (lamp["outcome"], lamp["status"], lamp["discovered"]) == ("ok", 200, "link")
    assert re.fullmatch(r"[0-9a-f]{16}", lamp["digest"])
    assert lamp["reason"]


def test_status_tells_a_program_what_is_known(crawled: Crawled) -> None:
    ended = run("status", "--json", folder=crawled.folder)
    assert ended.returncode == 0, ended.stderr
    facts = json.loads(ended.stdout)
    [site] = facts["sites"]
    assert (site["name"], site["pages"], site["offers"]) == ("lamps", PAGES + 2, OFFERS)
    assert facts["fetches_last_day"] == {"ok": PAGES, "gone": 1}
    assert facts["pages_by_last_outcome"]["robots"] == 1
    assert {"site": "no site", "reason": "other_host", "links": 1} in facts["links_not_followed"]


def test_status_tells_a_person_the_same(crawled: Crawled) -> None:
    ended = run("status", folder=crawled.folder)
    assert ended.returncode == 0, ended.stderr
    for word in ("lamps", "other_host", "robots", "done"):
        assert word in ended.stdout
    assert "\x1b" not in ended.stdout  # no colours into a pipe


def test_export_writes_a_price_a_line_with_when_it_was_observed(crawled: Crawled) -> None:
    ended = run("export", folder=crawled.folder)
    assert ended.returncode == 0, ended.stderr
    prices = [json.loads(line) for line in ended.stdout.splitlines()]
    assert sorted(price["price"] for price in prices) == [f"{n + 1}.50" for n in range(OFFERS)]
    assert {price["currency"] for price in prices} == {"EUR"}
    assert all(0 <= price["age_seconds"] < 600 for price in prices)
    assert all(price["observed_at"].endswith("+00:00") for price in prices)
    assert f"{OFFERS} prices" in ended.stderr


def test_export_writes_the_same_as_csv_into_a_file(crawled: Crawled) -> None:
    command = ("export", "--format", "csv", "--output", "prices.csv", "--gone")
    ended = run(*command, folder=crawled.folder)
    assert (ended.returncode, ended.stdout) == (0, "")
    table = list(csv.DictReader(io.StringIO((crawled.folder / "prices.csv").read_text())))
    assert [row["title"] for row in table] == [f"Lamp {n}" for n in range(OFFERS)]
    assert float(table[0]["age_seconds"]) >= 0


def test_a_reader_that_stops_early_is_no_error(crawled: Crawled) -> None:
    command = f"{sys.executable} -m crawler export | head -n 1"
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=crawled.folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr


def test_a_second_run_finds_nothing_to_do_and_that_is_fine(crawled: Crawled) -> None:
    before = crawled.site.page_visits
    ended = run("run", "--once", folder=crawled.folder)
    assert ended.returncode == 0, ended.stderr
    assert crawled.site.page_visits == before


def test_robots_says_whether_and_how_fast(crawled: Crawled) -> None:
    allowed = run("robots", f"{crawled.site.url}/list", folder=crawled.folder)
    assert allowed.returncode == 0, allowed.stderr
    assert "TestBot may fetch" in allowed.stdout
    assert "Crawl-delay: 0.01 s" in allowed.stdout
    forbidden = run("robots", "--json", f"{crawled.site.url}/secret", folder=crawled.folder)
    assert forbidden.returncode == 4
    assert json.loads(forbidden.stdout)["allowed"] is False


def test_seed_adds_pages_once_and_says_what_was_wrong_with_the_rest(tmp_path: Path) -> None:
    with served(small_shop(OFFERS)) as site:
        write_config(tmp_path, site.url)
        urls = f"# lamps\n{site.url}/lamp/3\n\nnot a url\nhttp://other.test/\n{site.url}/lamp/3\n"
        (tmp_path / "urls.txt").write_text(urls)
        ended = run("seed", "urls.txt", folder=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert "4 URLs read, 1 new pages" in ended.stderr
        assert "line 4: want a web address, got 'not a url'" in ended.stderr
        assert "1 left out: other_host" in ended.stderr
        again = run("seed", "-", folder=tmp_path, stdin=f"{site.url}/lamp/3\n{site.url}/lamp/4\n")
        assert "2 URLs read, 1 new pages" in again.stderr
        crawled = run("run", "--once", folder=tmp_path)
        assert crawled.returncode == 0, crawled.stderr
    assert rows(tmp_path / "freshet.db", "SELECT url FROM page WHERE how = 'seed' ORDER BY id") == [
        (f"{site.url}/lamp/3",),
        (f"{site.url}/lamp/4",),
    ]


def test_check_config_and_show_config(tmp_path: Path) -> None:
    write_config(tmp_path, "http://shop.example")
    fine = run("check-config", folder=tmp_path)
    assert (fine.returncode, fine.stdout) == (0, "config.toml: fine, 1 site\n")
    shown = run("show-config", "--json", folder=tmp_path, FRESHET_CRAWL__TICK="7s")
    settings = json.loads(shown.stdout)
    assert settings["politeness.delay"]["value"] == "0s"
    assert settings["crawl.tick"]["value"] == "7s"
    assert "FRESHET_CRAWL__TICK" in settings["crawl.tick"]["origin"]
    (tmp_path / "config.toml").write_text("[politness]\ndelay = 2\n[crawl]\ntick = 'x'\n")
    wrong = run("check-config", folder=tmp_path)
    assert wrong.returncode == 2
    assert "politeness" in wrong.stderr
    assert "crawl.tick" in wrong.stderr


def test_version() -> None:
    ended = run("version", folder=ROOT)
    assert (ended.returncode, ended.stdout) == (0, f"freshet {__version__}\n")


def test_help_imports_nothing_heavy() -> None:
    """0.2 s is for Python itself; numpy or pydantic alone would take as long again."""
    script = (
        "import sys; from crawler.operator.command_line import parser; parser().format_help()\n"
        "print(*sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    heavy = {
        "numpy",
        "scipy",
        "aiohttp",
        "pydantic",
        "asyncio",
        "sqlite3",
        "rich",
        "selectolax",
        "lxml",
    }
    assert heavy & set(ended.stdout.split()) == set()
    assert "COMMAND" in run("--help", folder=ROOT).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fetch"], "invalid choice: 'fetch'"),
        (["run", "--once", "nonsense"], "want an http or https URL"),
        (["run", "--set", "politeness.dealy=1s", "http://a.example/"], "politeness.delay"),
        (["run", "--for", "soon", "http://a.example/"], "crawl.stop_after"),
        (["run", "--config", "none.toml"], "none.toml"),
        (["run"], "a live run wants a site"),
        (["demo", "--seconds", "0"], "want a number above 0, got 0"),
        (["demo", "--days", "many"], "many"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_code_2(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    ended = run(*arguments, folder=tmp_path)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_live_run_without_a_contact_is_refused_with_the_line_to_add(tmp_path: Path) -> None:
    ended = run("run", "http://shop.example/", folder=tmp_path)
    assert ended.returncode == 2
    [line] = re.findall(r'user_agent = "[^"]*"', ended.stderr)
    (tmp_path / "config.toml").write_text(f"[crawl]\n{line}\n")
    assert run("check-config", folder=tmp_path).returncode == 0


def test_storage_errors_are_code_3_without_a_traceback(crawled: Crawled, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database\n" * 100)
    url = f"{crawled.site.url}/"
    for arguments in (
        ["run", "--once", *FAST, "--database", "notes.txt", url],
        ["status", "--database", "notes.txt"],
        ["export", "--database", "none.db"],
    ):
        ended = run(*arguments, folder=tmp_path)
        assert ended.returncode == 3
        assert arguments[arguments.index("--database") + 1] in ended.stderr
        assert "Traceback" not in ended.stderr


def test_a_full_disk_is_code_3_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with served(small_shop(300)) as site:
        arguments = ["run", "--once", "--database", "crawl.db", *FAST, f"{site.url}/"]
        ended = subprocess.run(
            [
                "bash",
                "-c",
                'ulimit -f 300 && exec "$@"',
                "bash",
                sys.executable,
                "-m",
                "crawler",
                *arguments,
            ],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 3
        assert "all earlier observations are safe" in ended.stderr
        assert "Traceback" not in ended.stderr
        assert rows(tmp_path / "crawl.db", "PRAGMA integrity_check") == [("ok",)]
        assert run(*arguments, folder=tmp_path).returncode == 0
    assert rows(tmp_path / "crawl.db", "SELECT count(*) FROM page_state") == [(302,)]


def test_a_log_that_cannot_be_written_is_said_before_anything_is_fetched(
    crawled: Crawled, tmp_path: Path
) -> None:
    before = crawled.site.visits.total()
    ended = run("run", "--log", "no/where.jsonl", *FAST, f"{crawled.site.url}/", folder=tmp_path)
    assert ended.returncode == 1
    assert "no/where.jsonl: No such file or directory" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert crawled.site.visits.total() == before


def test_nothing_to_crawl_is_code_4(tmp_path: Path) -> None:
    with served({}, robots="User-agent: *\nDisallow: /\n") as site:
        ended = run("run", "--once", *FAST, f"{site.url}/", folder=tmp_path)
        assert site.page_visits == 0
    assert ended.returncode == 4
    assert "finished: nothing could be crawled" in ended.stderr


def test_too_many_failures_are_code_5(tmp_path: Path) -> None:
    links = [f"/broken/{n}" for n in range(150)]
    with served({"/": page(*links), **dict.fromkeys(links, "no")}) as site:
        site.statuses = dict.fromkeys(links, 403)
        ended = run("run", *FAST, f"{site.url}/", folder=tmp_path)
    assert ended.returncode == 5, ended.stderr
    assert "crawl.max_failures" in ended.stderr


def test_the_limits_of_a_run_end_it_with_code_0(tmp_path: Path) -> None:
    with served(small_shop(OFFERS)) as site:
        few = run("run", "--max-fetches", "3", *FAST, f"{site.url}/", folder=tmp_path)
        assert (few.returncode, site.page_visits) == (0, 3)
        assert "crawl.max_fetches was reached" in few.stderr
        short = run("run", "--for", "1s", *FAST, f"{site.url}/", folder=tmp_path)
        assert short.returncode == 0
        assert "crawl.stop_after was reached" in short.stderr
        assert site.page_visits > 3


def wait_for_visits(site: Site, visits: int) -> None:
    until = time.monotonic() + 30.0
    while site.page_visits < visits:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_drains_and_saves(tmp_path: Path, number: signal.Signals) -> None:
    with served(small_shop(500), delay=0.5) as site:
        write_config(tmp_path, site.url)
        crawler = start(folder=tmp_path)  # bare: the sites of ./config.toml
        wait_for_visits(site, 2)
        crawler.send_signal(number)
        _, said = crawler.communicate(timeout=30)
    assert crawler.returncode == 130
    assert "finished: interrupted" in said
    database = tmp_path / "freshet.db"
    assert rows(database, "SELECT finish FROM run") == [("interrupted",)]
    assert rows(database, "SELECT count(*) FROM fetch") == [(site.page_visits,)]


def test_the_second_signal_stops_at_once_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with served(small_shop(OFFERS), delay=20.0) as site:
        command = ("run", "--once", "--database", "crawl.db", *FAST, f"{site.url}/")
        crawler = start(*command, folder=tmp_path)
        wait_for_visits(site, 1)
        crawler.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert crawler.poll() is None
        crawler.send_signal(signal.SIGINT)
        _, said = crawler.communicate(timeout=10)
        assert crawler.returncode == 130
        assert "stopped at once" in said
        assert "Traceback" not in said
        site.delay = 0.0
        assert run(*command, folder=tmp_path).returncode == 0
    assert rows(tmp_path / "crawl.db", "SELECT count(*) FROM page_state") == [(PAGES,)]


def test_a_second_crawl_on_the_same_file_is_refused_while_others_may_read(tmp_path: Path) -> None:
    with served(small_shop(OFFERS), delay=1.0) as site:
        command = ("run", "--database", "crawl.db", *FAST, f"{site.url}/")
        crawler = start(*command, folder=tmp_path)
        wait_for_visits(site, 2)
        second = run(*command, folder=tmp_path)
        assert second.returncode == 3
        assert f"process {crawler.pid}" in second.stderr
        status = run("status", "--json", "--database", "crawl.db", folder=tmp_path)
        assert json.loads(status.stdout)["sites"][0]["pages"] >= 1
        crawler.kill()
        crawler.communicate()


def test_demo_scores_itself(tmp_path: Path) -> None:
    ended = run("demo", "--seconds", "5", "--json", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    score = json.loads(ended.stdout)
    assert score["offers known"] > 0
    assert 0 < score["price changes caught"] <= score["price changes that happened"]
    assert 0.0 < score["freshness now"] <= 1.0
    assert list(tmp_path.iterdir()) == []


def commands() -> list[str]:
    [choices] = [action.choices for action in parser()._actions if action.choices]
    return list(choices)


@pytest.mark.parametrize("command", commands())
def test_every_command_is_in_the_docs_and_explains_itself(command: str) -> None:
    docs = (ROOT / "README.md").read_text() + (ROOT / "docs" / "operating.md").read_text()
    assert f"python -m crawler {command}" in docs
    [choices] = [action.choices for action in parser()._actions if action.choices]
    assert choices is not None
    sub = dict(choices)[command]
    assert sub.description
    assert all(action.help for action in sub._actions if action.option_strings)


def test_every_outcome_is_in_the_docs_with_its_fault_and_what_comes_next() -> None:
    text = (ROOT / "docs" / "operating.md").read_text()
    rows_of_docs = [f"| `{outcome}` | {it.fault} | {it.next} |" for outcome, it in MEANING.items()]
    assert [row for row in rows_of_docs if row not in text] == []
