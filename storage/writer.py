"""One writer: every batch that arrives while a transaction runs goes into the next one."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiosqlite

from storage import rows
from storage.errors import named_errors
from storage.rows import BATCH_TABLES, Batch, OfferRow


def _insert(table: str, columns: tuple[str, ...], verb: str = "INSERT") -> str:
    marks = ", ".join("?" * len(columns))
    return f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({marks})"


def _upsert(table: str, columns: tuple[str, ...], key: str, *, kept: set[str]) -> str:
    """Inserts, or updates all but what is kept: indexes on those stay untouched, which REPLACE rewrites."""
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in kept)
    return f"{_insert(table, columns)} ON CONFLICT ({key}) DO UPDATE SET {updates}"


def _replace(table: str, row: type) -> str:
    fields: tuple[str, ...] = row._fields  # type: ignore[attr-defined]
    return _insert(table, fields, "INSERT OR REPLACE")


def _statements() -> dict[str, str]:
    return {
        "patterns": _insert("pattern", rows.PatternRow._fields, "INSERT OR IGNORE"),
        "pages": _insert("page", rows.PageRow._fields, "INSERT OR IGNORE"),
        "states": _replace("page_state", rows.StateRow),
        "fetches": _insert("fetch", rows.FetchRow._fields),
        "offers": _upsert(
            "offer", OfferRow._fields, "page_id, key", kept={"page_id", "key", "first_seen_at"}
        ),
        "gone": "UPDATE offer SET gone_at = ? WHERE page_id = ? AND key = ? AND gone_at IS NULL",
        "prices": (
            "INSERT OR REPLACE INTO price"
            " (offer_id, observed_at, price_micros, currency, availability, fetch_id)"
            " SELECT id, ?, ?, ?, ?, ? FROM offer WHERE page_id = ? AND key = ?"
        ),
        "signals": _insert("signal", rows.SignalRow._fields, "INSERT OR IGNORE"),
        "hosts": _upsert("host", rows.HostRow._fields, "id", kept={"id", "name"}),
        "robots": _replace("robots", rows.RobotsRow),
        "ticks": _replace("tick", rows.TickRow),
        "rhythms": _replace("rhythm", rows.RhythmRow),
        "sources": _replace("source", rows.SourceRow),
        "policies": _replace("policy", rows.PolicyRow),
        "dropped": (
            _insert("dropped", rows.DroppedRow._fields)
            + " ON CONFLICT (site_id, reason) DO UPDATE SET links = links + excluded.links"
        ),
    }


STATEMENTS = _statements()


def _encodable(batch: Batch) -> Batch:
    """The batch with a "?" for each character that no encoding has."""

    def clean(value: object) -> object:
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value

    cleaned = {
        name: [type(row)._make(map(clean, row)) for row in getattr(batch, name)]
        for name in BATCH_TABLES
    }
    return Batch(**cleaned)


class Writer:
    """Collects batches and commits them together.

    `write` returns once the batch is committed.  `pause` is awaited before each transaction to let a few
    more batches arrive: a commit costs 50 us, a row in a shared one 2 us.
    """

    def __init__(
        self, connection: aiosqlite.Connection, path: Path, *, pause: Callable[[], Awaitable[None]]
    ) -> None:
        self._connection = connection
        self._path = path
        self._pause = pause
        self._pending = Batch()
        self._waiting: list[asyncio.Future[None]] = []
        self._wake = asyncio.Event()
        self._error: Exception | None = None

    async def write(self, batch: Batch) -> None:
        if self._error:
            raise self._error
        committed = asyncio.get_running_loop().create_future()
        self._waiting.append(committed)
        self._pending.add(batch)
        self._wake.set()
        await committed

    async def run(self) -> None:
        """Commits until cancelled.  An error ends it, and every waiting and later write."""
        while True:
            await self._wake.wait()
            await self._pause()
            await self._commit_pending()

    async def _commit_pending(self) -> None:
        batch, waiting = self._pending, self._waiting
        self._pending, self._waiting = Batch(), []
        self._wake.clear()
        try:
            await self._commit(batch)
        except Exception as error:
            self._error = error
            for committed in (*waiting, *self._waiting):  # also those that came during the commit
                if not committed.done():
                    committed.set_exception(error)
            raise
        for committed in waiting:
            if not committed.done():  # a cancelled waiter's is
                committed.set_result(None)

    async def _commit(self, batch: Batch) -> None:
        try:
            await self._commit_whole(batch)
        except UnicodeEncodeError:  # half an emoji in a shop's JSON: looked for only when it is met
            await self._commit_whole(_encodable(batch))

    async def _commit_whole(self, batch: Batch) -> None:
        with named_errors(self._path):
            await self._connection.execute("BEGIN IMMEDIATE")
            try:
                for name in BATCH_TABLES:
                    if waiting := getattr(batch, name):
                        await self._connection.executemany(STATEMENTS[name], waiting)
                await self._connection.execute("COMMIT")
            except BaseException:
                await self._connection.rollback()
                raise
