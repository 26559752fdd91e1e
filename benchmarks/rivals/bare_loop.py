"""The least that does the work: aiohttp, selectolax and sqlite3 in one tuned loop, no politeness, no recovery."""

import asyncio
from collections import deque
from urllib.robotparser import RobotFileParser

import aiohttp
from isal import isal_zlib
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

from benchmarks.rivals.job import IN_FLIGHT, Done, Job, Shelf, measure, price_in


def links_of(tree: LexborHTMLParser, origin: str) -> list[str]:
    """Links to the same host, joined the cheap way: every one of this site is rooted or absolute."""
    found: dict[str, None] = {}
    for node in tree.css("a[href]"):
        href = (node.attrs["href"] or "").partition("#")[0]
        if href.startswith("/"):
            found[origin + href] = None
        elif href.startswith(origin):
            found[href] = None
    return list(found)


class Loop:
    """A queue of URLs, workers that fetch them, and a shelf for what they found."""

    def __init__(self, job: Job) -> None:
        self._shelf = Shelf(job.database)
        self._seen: set[str] = set()
        self._waiting: deque[tuple[str, str]] = deque()
        self._busy = 0
        for origin in job.origins:
            self._enqueue([f"{origin}/"], origin)
        self._rules: dict[str, RobotFileParser] = {}

    def _enqueue(self, urls: list[str], origin: str) -> list[str]:
        new = [url for url in urls if url not in self._seen]
        self._seen.update(new)
        self._waiting.extend((url, origin) for url in new)
        return new

    async def run(self, job: Job) -> int:
        async with session() as client:
            for origin in job.origins:
                await self._read_robots(client, origin)
            while self._waiting:
                await asyncio.gather(*(self._work(client) for _ in range(IN_FLIGHT)))
        self._shelf.save()
        return self._shelf.pages

    async def _read_robots(self, client: aiohttp.ClientSession, origin: str) -> None:
        async with client.get(f"{origin}/robots.txt") as response:
            self._rules[origin] = RobotFileParser()
            text = inflate(await response.read()).decode()
            self._rules[origin].parse(text.splitlines())

    async def _work(self, client: aiohttp.ClientSession) -> None:
        while self._waiting:
            url, origin = self._waiting.popleft()
            if self._rules[origin].can_fetch("bench", url):
                await self._visit(client, url, origin)

    async def _visit(self, client: aiohttp.ClientSession, url: str, origin: str) -> None:
        async with client.get(URL(url, encoded=True), allow_redirects=False) as response:
            body = inflate(await response.read())
            etag = response.headers.get("etag")
        tree = LexborHTMLParser(body)
        title = tree.css_first("title")
        data = tree.css_first('script[type="application/ld+json"]')
        new = self._enqueue(links_of(tree, origin), origin)
        price = price_in(data.text()) if data is not None else None
        self._shelf.put(url, title.text() if title is not None else None, price, etag, new)


def inflate(body: bytes) -> bytes:
    return bytes(isal_zlib.decompress(body, wbits=31))


def session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        headers={"Accept-Encoding": "gzip"},
    )


async def refresh(job: Job) -> int:
    """Asks for every known page by its ETag; all are unchanged."""
    shelf = Shelf(job.database)
    waiting = shelf.known()

    async def work(client: aiohttp.ClientSession) -> None:
        while waiting:
            url, etag = waiting.pop()
            headers = {"If-None-Match": etag}
            async with client.get(URL(url, encoded=True), headers=headers) as response:
                await response.read()
                assert response.status == 304
            shelf.put(url, None, None, etag, [])

    async with session() as client:
        await asyncio.gather(*(work(client) for _ in range(IN_FLIGHT)))
    shelf.save()
    return shelf.pages


def crawl(job: Job) -> Done:
    return Done(asyncio.run(refresh(job) if job.refresh else Loop(job).run(job)))


if __name__ == "__main__":
    measure(crawl)
