"""The real crawler against a server that does everything wrong: each wrong has its name, and the crawl goes on."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest

from tests.processes import USER_AGENT, in_thread, rows, run, start
from tests.servers import BOMB_BYTES, BYTES, HOSTILE_PATHS, hostile_server

LIMITS = {
    "crawl.user_agent": USER_AGENT,
    "crawl.tick": "1s",
    "politeness.per_host": "8",
    "politeness.delay": "0s",
    "politeness.backoff_first": "100ms",
    "fetch.allow_networks": '["127.0.0.1/32"]',
    "fetch.connect_timeout": "1s",
    "fetch.read_timeout": "2s",
    "fetch.total_timeout": "3s",
    "fetch.max_body": "1MB",
    "fetch.max_inflated": "4MB",
    "fetch.parse_deadline": "1s",
}
OUTCOMES = {
    "/": "ok",
    "/fine": "ok",
    "/endless-body": "too_large",
    "/endless-chunks": "too_large",
    "/byte-a-second": "timeout",
    "/never": "timeout",
    "/silent-after-headers": "timeout",
    "/short-body": "truncated",
    "/long-body": "bad_http",
    "/reset": "reset",
    "/garbage": "bad_http",
    "/header-flood": "headers_too_large",
    "/huge-header": "headers_too_large",
    "/gzip-bomb": "too_large",
    "/brotli-bomb": "too_large",
    "/zstd-bomb": "too_large",
    "/broken-gzip": "bad_encoding",
    "/redirect-loop": "redirected",
    "/redirect-loop/back": "redirect_loop",
    "/redirect-chain": "redirected",
    **{f"/redirect-chain/{hop}": "redirected" for hop in range(1, 5)},
    "/redirect-chain/5": "too_many_redirects",
    "/redirect-to-loopback": "redirected_away",
    "/redirect-to-metadata": "redirected_away",
    "/redirect-to-file": "client_error",
    "/redirect-to-nowhere": "client_error",
    "/crossed-tags": "parser_stall",
    "/nested-divs": "parser_stall",
}


@contextmanager
def hostile(visits: Counter[str]) -> Iterator[str]:
    urls: list[str] = []

    async def begin() -> Callable[[], Awaitable[None]]:
        stack = AsyncExitStack()
        urls.append(await stack.enter_async_context(hostile_server(visits=visits)))
        return stack.aclose

    with in_thread(begin):
        yield urls[0]


def settings(**more: str) -> list[str]:
    limits = {**LIMITS, **more}
    return [part for key, value in limits.items() for part in ("--set", f"{key}={value}")]


def outcomes(database: Path, url: str) -> dict[str, str]:
    query = "SELECT url, outcome FROM page_state JOIN page ON page.id = page_id"
    return {str(page).removeprefix(url): str(outcome) for page, outcome in rows(database, query)}


def peak_megabytes(crawler: subprocess.Popen[str]) -> float:
    """The most memory the process ever held, watched until its end."""
    peak = 0.0
    status = Path(f"/proc/{crawler.pid}/status")
    while crawler.poll() is None:
        lines = status.read_text().splitlines()
        peak = max(
            [peak, *(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))]
        )
        time.sleep(0.02)
    return peak


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_every_wrong_has_its_name_and_memory_stays_flat(tmp_path: Path) -> None:
    visits: Counter[str] = Counter()
    with hostile(visits) as url:
        command = ("run", "--once", "--database", "crawl.db", *settings(), f"{url}/")
        crawler = start(*command, folder=tmp_path)
        peak = peak_megabytes(crawler)
        _, said = crawler.communicate()
    assert crawler.returncode == 0, said
    assert outcomes(tmp_path / "crawl.db", url) == OUTCOMES
    assert set(HOSTILE_PATHS) <= set(OUTCOMES)
    assert visits["vault"] == 0
    # 80 MB are Python and its libraries; a bomb that went off would add its 64 MB, an endless body 256.
    assert peak < 80 + min(BOMB_BYTES, BYTES) / 1e6 - 4


def test_a_host_named_in_the_settings_does_not_open_the_guard(tmp_path: Path) -> None:
    """The metadata address is in the site's scope here, and still no connection to it is opened."""
    with hostile(Counter()) as url:
        (tmp_path / "config.toml").write_text(
            f'[[site]]\nstart = ["{url}/redirect-to-metadata"]\nhosts = ["169.254.169.254"]\n'
        )
        ended = run("run", "--once", "--database", "crawl.db", *settings(), folder=tmp_path)
    assert outcomes(tmp_path / "crawl.db", url) == {
        "/redirect-to-metadata": "redirected",
        "http://169.254.169.254/latest/meta-data/": "forbidden_address",
    }
    assert ended.returncode == 4  # nothing but a redirect and a refusal


def test_a_loopback_site_is_refused_by_name_without_the_operators_leave(tmp_path: Path) -> None:
    visits: Counter[str] = Counter()
    with hostile(visits) as url:
        command = ("run", "--once", "--database", "crawl.db", f"{url}/")
        refused = run(*command, *settings(**{"fetch.allow_networks": "[]"}), folder=tmp_path)
        assert refused.returncode == 4
        assert "forbidden_address" in refused.stderr
        assert visits.total() == 0
        # The same command with leave: nothing of the refusal stands in its way.
        ended = run(*command, *settings(), "--max-fetches", "1", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert visits["/"] == 1
