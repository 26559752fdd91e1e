"""Opening the file: new, old, locked, read-only, full, corrupt, or something else altogether."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import storage.database
from storage.database import migrate, open_to_read
from storage.errors import (
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageLocked,
    StorageReadOnly,
    StorageTooNew,
)
from storage.lock import exclusive
from storage.rows import Batch, DroppedRow
from storage.schema import MIGRATIONS
from storage.store import open_store
from tests.processes import environment, rows

ROOT_CANNOT_BE_REFUSED = pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")


async def no_pause() -> None:
    pass


async def open_and_close(path: Path) -> None:
    async with open_store(path, pause=no_pause):
        pass


def schema_of(path: Path) -> list[tuple[object, ...]]:
    return rows(path, "SELECT type, name, sql FROM sqlite_schema ORDER BY name")


async def test_an_empty_file_becomes_a_crawl_database(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    path.touch()
    await open_and_close(path)
    assert rows(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_a_file_of_any_older_schema_becomes_the_same_as_a_new_one(
    tmp_path: Path, version: int
) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with closing(sqlite3.connect(old)) as connection, connection:
        for step in MIGRATIONS[:version]:
            connection.executescript(step)
        connection.execute(f"PRAGMA user_version = {version}")
    migrate(old)
    migrate(new)
    assert schema_of(old) == schema_of(new)
    assert rows(old, "PRAGMA user_version") == rows(new, "PRAGMA user_version")


def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.db"
    migrate(path)
    before = schema_of(path)
    broken = (*MIGRATIONS, "CREATE TABLE half (id INTEGER); CREATE TABLE run (id INTEGER);")
    monkeypatch.setattr(storage.database, "MIGRATIONS", broken)
    with pytest.raises(StorageError, match=r"old\.db"):
        migrate(path)
    assert schema_of(path) == before
    assert rows(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]


def test_a_file_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "later.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA user_version = 999")
    with pytest.raises(StorageTooNew, match="got 999; use a newer Freshet"):
        migrate(path)
    with pytest.raises(StorageTooNew), open_to_read(path):
        pass


def test_somebody_elses_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "music.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE song (title TEXT)")
    before = path.read_bytes()
    with pytest.raises(StorageDamaged, match="got one with other tables"):
        migrate(path)
    assert path.read_bytes() == before


def test_what_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("milk, bread, lamps\n" * 100)
    before = path.read_bytes()
    with pytest.raises(StorageDamaged, match="file is not a database"):
        migrate(path)
    with pytest.raises(StorageDamaged), open_to_read(path):
        pass
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["", ".", "folder"])
def test_a_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageReadOnly, match="got a folder"), exclusive(Path(name)):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


async def test_a_corrupt_file_is_named_and_the_way_to_save_its_rows(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    await open_and_close(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(StorageDamaged, match=r"sqlite3 crawl\.db \.recover"):
        async with open_store(path, pause=no_pause) as store:
            await store.known()


async def test_a_second_crawl_on_the_same_file_is_refused_by_the_firsts_number(
    tmp_path: Path,
) -> None:
    path = tmp_path / "crawl.db"
    async with open_store(path, pause=no_pause):
        with pytest.raises(StorageLocked, match=f"process {os.getpid()}"):
            await open_and_close(path)
    await open_and_close(path)


def test_kill_minus_nine_frees_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    hold = (
        "import sys, time; from pathlib import Path; from storage.lock import exclusive\n"
        "with exclusive(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdout=subprocess.PIPE, env=environment()
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StorageLocked), exclusive(path):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with exclusive(path):
            pass


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "folder"
    folder.mkdir()
    migrate(folder / "crawl.db")
    (folder / "crawl.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder / "crawl.db"
    folder.chmod(0o755)


@ROOT_CANNOT_BE_REFUSED
async def test_a_read_only_file_is_refused_for_crawling(read_only: Path) -> None:
    with pytest.raises(StorageReadOnly, match="got: Permission denied"):
        await open_and_close(read_only)
    with pytest.raises(StorageReadOnly, match="got a read-only one"):
        migrate(read_only)


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageReadOnly, match=r"nowhere.*No such file or directory"):
        await open_and_close(tmp_path / "nowhere" / "crawl.db")


def test_a_report_on_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with (
        pytest.raises(StorageError, match="`python -m crawler run` creates it"),
        open_to_read(tmp_path / "none.db"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


async def test_a_full_disk_is_named_and_loses_nothing_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "crawl.db"
    await open_and_close(path)
    used = int(str(rows(path, "PRAGMA page_count")[0][0]))
    full = (*storage.database._PRAGMAS, f"PRAGMA max_page_count = {used + 3}")
    monkeypatch.setattr(storage.database, "_PRAGMAS", full)
    async with open_store(path, pause=no_pause) as store:
        await store.write(Batch(dropped=[DroppedRow(1, "kept", 7)]))
        with pytest.raises(
            StorageFull, match="the disk is full; all earlier observations are safe"
        ):
            await store.write(Batch(dropped=[DroppedRow(n, "x" * 500, 1) for n in range(500)]))
        with pytest.raises(StorageFull):  # and again for whoever comes later
            await store.write(Batch(dropped=[DroppedRow(2, "late", 1)]))
    assert rows(path, "SELECT reason, links FROM dropped") == [("kept", 7)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


async def test_others_can_read_while_a_crawl_writes(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    async with open_store(path, pause=no_pause) as store:
        with open_to_read(path) as connection:
            for links in range(1, 20):
                await store.write(Batch(dropped=[DroppedRow(1, "seen", 1)]))
                seen = connection.execute("SELECT links FROM dropped").fetchone()
                assert seen == (links,)
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute("DELETE FROM dropped")


def test_an_error_inside_does_not_hang_the_interpreter(tmp_path: Path) -> None:
    """aiosqlite's thread outlives a connection that nobody closes."""
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from storage.store import open_store\n"
        "async def pause(): pass\n"
        "async def main():\n"
        "    async with open_store(Path(sys.argv[1]), pause=pause) as store:\n"
        "        sys.kept = store\n"  # what nobody holds is closed by the garbage collector
        "        raise RuntimeError('inside')\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "crawl.db")],
        capture_output=True,
        text=True,
        timeout=20.0,
        env=environment(),
        check=False,
    )
    assert ended.returncode == 1
    assert "RuntimeError: inside" in ended.stderr
