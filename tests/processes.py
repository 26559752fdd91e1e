"""The crawler as a user starts it: a process of its own; and a small honest site for it to crawl."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

from tests.fakes import offer_page, page

ROOT = Path(__file__).parent.parent
USER_AGENT = "TestBot/1.0 (+http://test.example/bot)"
# A crawl of our own loopback server at full speed.
FAST = (
    *("--set", f"crawl.user_agent={USER_AGENT}"),
    *("--set", "politeness.delay=0s"),
    *("--set", 'fetch.allow_networks=["127.0.0.0/8"]'),
)


def environment(**more: str) -> dict[str, str]:
    """Ours without any FRESHET_ variable, and with the project importable from any folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FRESHET_")}
    return {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **more}


def start(*arguments: str, folder: Path, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "crawler", *arguments],
        cwd=folder,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(
    *arguments: str, folder: Path, timeout: float = 60.0, stdin: str | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """One command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "crawler", *arguments],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=timeout,
        input=stdin,
        check=False,
    )


def rows(database: Path, query: str) -> list[tuple[object, ...]]:
    """A question to the database, as another program would ask it."""
    connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=10.0)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


class Site:
    """What a served site answers, and how often each path was asked for."""

    def __init__(self, pages: Mapping[str, str], *, robots: str, delay: float) -> None:
        self.pages = pages
        self.robots = robots
        self.delay = delay
        self.visits: Counter[str] = Counter()
        self.url = ""
        self.statuses: dict[str, int] = {}

    @property
    def page_visits(self) -> int:
        return self.visits.total() - self.visits["/robots.txt"]

    async def answer(self, request: web.Request) -> web.Response:
        self.visits[request.path] += 1
        if request.path == "/robots.txt":
            return web.Response(text=self.robots)
        if self.delay:
            await asyncio.sleep(self.delay)
        body = self.pages.get(request.path)
        if body is None:
            return web.Response(status=404, text="not found")
        status = self.statuses.get(request.path, 200)
        return web.Response(text=body, content_type="text/html", status=status)


@contextmanager
def served(
    pages: Mapping[str, str], *, robots: str = "User-agent: *\nAllow: /\n", delay: float = 0.0
) -> Iterator[Site]:
    """The pages on a loopback port, from a thread of its own."""
    site = Site(pages, robots=robots, delay=delay)
    with in_thread(lambda: _serve(site)):
        yield site


async def _serve(site: Site) -> Callable[[], Awaitable[None]]:
    app = web.Application()
    app.router.add_get("/{path:.*}", site.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    socket_site = web.TCPSite(runner, "127.0.0.1", 0)
    await socket_site.start()
    port = runner.addresses[0][1]
    site.url = f"http://127.0.0.1:{port}"
    return runner.cleanup


@contextmanager
def in_thread(begin: Callable[[], Awaitable[Callable[[], Awaitable[None]]]]) -> Iterator[None]:
    """Runs a server in another thread: `begin` starts it and gives back how to end it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def call(what: Callable[[], Awaitable[object]]) -> object:
        return await what()

    try:
        end = asyncio.run_coroutine_threadsafe(call(begin), loop).result(10.0)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(call(end), loop).result(10.0)  # type: ignore[arg-type]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def small_shop(offers: int) -> dict[str, str]:
    """A home page, a list of offers and the offers themselves."""
    lamps = [f"/lamp/{n}" for n in range(offers)]
    return {
        "/": page("/list", title="Lamps"),
        "/list": page(*lamps, title="All lamps"),
        **{path: offer_page(f"{n + 1}.50", name=f"Lamp {n}") for n, path in enumerate(lamps)},
    }
