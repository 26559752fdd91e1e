"""All the crawl asks of its memory, in one place: a twin on another database has to offer just this."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from numpy.typing import NDArray

from storage import learning, pages
from storage.database import open_for_crawl, open_to_read
from storage.errors import named_errors
from storage.learning import Learned
from storage.pages import KnownPages, StoredOffer, StoredPage
from storage.rows import Batch, HostRow, RobotsRow
from storage.writer import Writer

T = TypeVar("T")


class Store:
    """An open crawl database.  Reads go straight to it; writes go through one batching writer."""

    def __init__(self, connection: aiosqlite.Connection, writer: Writer, path: Path) -> None:
        self._connection = connection
        self._writer = writer
        self.path = path

    async def write(self, batch: Batch) -> None:
        """Returns once the whole batch is committed."""
        await self._writer.write(batch)

    def _read_whole(self, load: Callable[[sqlite3.Connection], T]) -> T:
        """Reads a large table on a connection of its own, row by row into columns."""
        with open_to_read(self.path) as connection:
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

    async def sites(self, names: Sequence[str]) -> dict[str, int]:
        with named_errors(self.path):
            return await pages.load_sites(self._connection, names)

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
async def open_store(path: Path, *, pause: Callable[[], Awaitable[None]]) -> AsyncIterator[Store]:
    """Opens or creates the file for one crawl; closes it whatever happens inside."""
    async with open_for_crawl(path) as connection:
        writer = Writer(connection, path, pause=pause)
        task = asyncio.create_task(writer.run())
        try:
            yield Store(connection, writer, path)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
