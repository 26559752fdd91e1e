"""Opens the database file: lock, migrations, pragmas, and a way out that always closes it."""

import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiosqlite

from storage.errors import (
    StorageDamaged,
    StorageError,
    StorageReadOnly,
    StorageTooNew,
    named_errors,
)
from storage.lock import exclusive
from storage.schema import MIGRATIONS

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # a killed process loses nothing; a power cut, the last commits at most
    "PRAGMA busy_timeout = 10000",
    "PRAGMA cache_size = -16000",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
)


@asynccontextmanager
async def open_for_crawl(path: Path) -> AsyncIterator[aiosqlite.Connection]:
    """The one writing connection to the file, which is created or migrated as needed."""
    with exclusive(path):
        migrate(path)
        with named_errors(path):
            connection = await aiosqlite.connect(path, isolation_level=None)
        try:
            with named_errors(path):
                for pragma in _PRAGMAS:
                    await connection.execute(pragma)
            yield connection
        finally:
            await connection.close()


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection, also while a crawl is writing.  For reports and exports."""
    if not path.exists():
        raise StorageError(f"{path}: no such database; `python -m crawler run` creates it")
    with named_errors(path):
        address = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        try:
            connection.execute("PRAGMA busy_timeout = 10000")
            _check_version(path, _version(connection), reading=True)
            yield connection
        finally:
            connection.close()


def migrate(path: Path) -> None:
    """Brings the file to the present schema, one transaction a step."""
    if path.exists() and not os.access(path, os.W_OK):
        raise StorageReadOnly(f"{path}: want a file that can be written, got a read-only one")
    with named_errors(path):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            version = _version(connection)
            _check_version(path, version)
            if version == 0 and _has_tables(connection):
                raise StorageDamaged(f"{path}: want a crawl database, got one with other tables")
            for number in range(version, len(MIGRATIONS)):
                _step(connection, number)
        finally:
            connection.close()


def _step(connection: sqlite3.Connection, number: int) -> None:
    script = f"BEGIN IMMEDIATE;\n{MIGRATIONS[number]}\nPRAGMA user_version = {number + 1};\nCOMMIT;"
    connection.executescript(script)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])


def _check_version(path: Path, version: int, *, reading: bool = False) -> None:
    newest = len(MIGRATIONS)
    if version > newest:
        raise StorageTooNew(
            f"{path}: want schema {newest} or older, got {version}; use a newer Freshet"
        )
    if reading and version < newest:
        raise StorageError(
            f"{path}: want schema {newest}, got {version}; `python -m crawler run` migrates it"
        )
