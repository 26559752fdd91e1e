"""All the crawl asks of its memory, in one place: a twin on another database has to offer just this."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from numpy.typing import NDArray

from storage import learning, pages
from storage.database import open_for_crawl, open_to_read
from storage.errors import named_errors
from storage.learning import Learned
from storage.pages import KnownPages, StoredOffer, StoredPage
from storage.rows import Batch, HostMove, HostRow, RobotsRow
from storage.writer import Writer

T = TypeVar("T")
Pause = Callable[[], Awaitable[None]]
Open = Callable[[], AbstractContextManager[sqlite3.Connection]]


class Store:
    """An open crawl database.  Reads go straight to it; writes go through one batching writer."""

    def __init__(
        self, connection: aiosqlite.Connection, writer: Writer, path: Path, *, open_whole: Open
    ) -> None:
        self._connection = connection
        self._writer = writer
        self._open_whole = open_whole
        self.path = path

    async def write(self, batch: Batch) -> None:
        """Returns once the whole batch is committed."""
        await self._writer.write(batch)

    def _read_whole(self, load: Callable[[sqlite3.Connection], T]) -> T:
        """Reads a large table row by row into columns, in another thread."""
        with self._open_whole() as connection:
            return load(connection)

    async def known(self) -> KnownPages:
        return await asyncio.to_thread(self._read_whole, pages.load_known)

    async def pages(
        self, ids: Sequence[int]
    ) -> dict[int, tuple[StoredPage, tuple[StoredOffer, ...]]]:
        with named_errors(self.path):
            return await pages.load_pages(self._connection, ids)

    async def single_prices(self, ids: Sequence[int]) -> dict[int, tuple[int, str | None]]:
        with named_errors(self.path):
            return await pages.load_single_prices(self._connection, ids)

    async def learned(self) -> Learned:
        return await asyncio.to_thread(self._read_whole, learning.load_learned)

    async def lessons(self, *, after: int, most: int) -> NDArray[Any]:
        with named_errors(self.path):
            return await learning.load_lessons(self._connection, after=after, most=most)

    async def signals(self) -> NDArray[Any]:
        return await asyncio.to_thread(self._read_whole, learning.load_signals)

    async def hosts(self) -> list[HostRow]:
        with named_errors(self.path):
            return await pages.load_hosts(self._connection)

    async def robots(self) -> list[RobotsRow]:
        with named_errors(self.path):
            return await pages.load_robots(self._connection)

    async def add_sites(self, names: Sequence[str]) -> None:
        with named_errors(self.path):
            await pages.add_sites(self._connection, names)

    async def move_hosts(self, moves: Sequence[HostMove]) -> None:
        with named_errors(self.path):
            await pages.move_hosts(self._connection, moves)

    async def sites(self) -> dict[str, int]:
        with named_errors(self.path):
            return await pages.load_sites(self._connection)

    async def urls(self, site_id: int) -> list[tuple[int, str]]:
        with named_errors(self.path):
            return await pages.load_urls(self._connection, site_id)

    async def fetches_since(self, at: float) -> list[tuple[int, float]]:
        with named_errors(self.path):
            return await pages.fetches_since(self._connection, at)

    async def was_cut_off(self) -> bool:
        with named_errors(self.path):
            return await pages.was_cut_off(self._connection)

    async def last_ids(self) -> dict[str, int]:
        with named_errors(self.path):
            return await pages.last_ids(self._connection)

    async def begin_run(self, *, started_at: float, version: str, settings: str) -> int:
        with named_errors(self.path):
            cursor = await self._connection.execute(
                "INSERT INTO run (started_at, version, settings) VALUES (?, ?, ?)",
                (started_at, version, settings),
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    async def end_run(self, run_id: int, *, ended_at: float, finish: str) -> None:
        with named_errors(self.path):
            await self._connection.execute(
                "UPDATE run SET ended_at = ?, finish = ? WHERE id = ?", (ended_at, finish, run_id)
            )


@asynccontextmanager
async def open_store(path: Path, *, pause: Pause) -> AsyncIterator[Store]:
    """Opens or creates the file for one crawl; closes it whatever happens inside."""
    async with (
        open_for_crawl(path) as connection,
        _writer(connection, path, pause) as writer,
    ):
        yield Store(connection, writer, path, open_whole=lambda: open_to_read(path))


@asynccontextmanager
async def open_snapshot(connection: sqlite3.Connection, path: Path) -> AsyncIterator[Store]:
    """The database as it is now, whatever a crawl goes on writing.  `connection` is from `open_to_read`, so
    no lock is taken and a write is refused."""
    connection.execute("BEGIN")
    async with (
        aiosqlite.Connection(lambda: connection, iter_chunk_size=64) as shared,
        _writer(shared, path, _no_pause) as writer,
    ):
        yield Store(shared, writer, path, open_whole=lambda: nullcontext(connection))


@asynccontextmanager
async def _writer(
    connection: aiosqlite.Connection, path: Path, pause: Pause
) -> AsyncIterator[Writer]:
    writer = Writer(connection, path, pause=pause)
    task = asyncio.create_task(writer.run())
    try:
        yield writer
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _no_pause() -> None:
    """Nothing is written, so nothing waits for company."""
