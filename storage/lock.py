"""One crawl per database file, by a lock that dies with its process."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.errors import StorageLocked, StorageReadOnly


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds PATH-lock.  The system frees it on any end of the process, kill -9 included."""
    if path.is_dir():
        raise StorageReadOnly(f"{path}: want a database file, got a folder")
    lock_path = path.with_name(path.name + "-lock")
    try:
        handle = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageReadOnly(
            f"{lock_path}: want to create it beside the database, got: {error.strerror}"
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 32, 0).decode(errors="replace").strip()
            raise StorageLocked(
                f"{path}: another crawl is running on this file (process {holder})"
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
