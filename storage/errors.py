"""What can go wrong with the database file.

StorageError          tell the operator; exit code 3
+-- StorageLocked     another crawl is writing to this file
+-- StorageFull       the disk is full; what was committed is safe
+-- StorageReadOnly   the file or its folder cannot be written
+-- StorageDamaged    this is not a database, or it is corrupt
+-- StorageTooNew     written by a later version
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class StorageError(Exception):
    """The database cannot be used as asked.  The message names the file and what to do."""


class StorageLocked(StorageError):
    """Another crawl is writing to this file."""


class StorageFull(StorageError):
    """The disk is full.  Everything committed before is safe."""


class StorageReadOnly(StorageError):
    """The file or its folder cannot be written."""


class StorageDamaged(StorageError):
    """Not a database, or a corrupt one."""


class StorageTooNew(StorageError):
    """Written by a later version of the schema."""


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Turns SQLite's errors into ours, with the file's name."""
    try:
        yield
    except sqlite3.Error as error:
        raise _named(error, path) from error


def _named(error: sqlite3.Error, path: Path) -> StorageError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StorageFull(f"{path}: the disk is full; all earlier observations are safe ({error})")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StorageReadOnly(f"{path}: want a file that can be written, got: {error}")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StorageDamaged(
            f"{path}: want an SQLite database, got: {error}. The file was left as it is; "
            f"`sqlite3 {path.name} .recover` may save its rows"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageLocked(f"{path}: another program holds a write lock: {error}")
    if code == sqlite3.SQLITE_IOERR:
        return StorageError(
            f"{path}: the disk failed or is full; all earlier observations are safe ({error})"
        )
    return StorageError(f"{path}: {error}")
