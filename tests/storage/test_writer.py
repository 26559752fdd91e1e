"""A batch is whole or absent, whatever happens to its neighbours."""

import asyncio
from pathlib import Path

import pytest

from storage.errors import StorageError
from storage.rows import Batch, DroppedRow, PageRow, SignalRow
from storage.store import Store, open_store
from tests.processes import rows


async def no_pause() -> None:
    pass


def batch(number: int) -> Batch:
    """A page, a signal for it and a count: three tables that must agree."""
    page = PageRow(number, f"http://a.test/{number}", number, 1, 1, 0, "link", None, 1.0, 1)
    return Batch(
        pages=[page],
        signals=[SignalRow(number, "lastmod", 1.0, 2.0)],
        dropped=[DroppedRow(1, "counted", 1)],
    )


def bad_batch() -> Batch:
    return Batch(dropped=[DroppedRow(1, "broken", float("nan"))])  # type: ignore[arg-type]  # NULL to SQLite


def counts(path: Path) -> list[tuple[object, ...]]:
    return rows(
        path,
        "SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM signal),"
        " (SELECT coalesce(sum(links), 0) FROM dropped)",
    )


async def test_a_write_returns_when_others_can_see_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    async with open_store(path, pause=no_pause) as store:
        await store.write(batch(1))
        assert counts(path) == [(1, 1, 1)]


async def test_batches_that_arrive_together_share_a_commit(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    pauses = 0

    async def pause() -> None:
        nonlocal pauses
        pauses += 1
        await asyncio.sleep(0.01)

    async with open_store(path, pause=pause) as store:
        await asyncio.gather(*(store.write(batch(n)) for n in range(1, 101)))
        assert counts(path) == [(100, 100, 100)]
    assert pauses == 1


async def test_a_batch_with_one_bad_row_is_absent_and_every_waiter_is_told(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    bad = bad_batch()
    bad.add(batch(2))
    async with open_store(path, pause=no_pause) as store:
        await store.write(batch(1))
        with pytest.raises(StorageError, match="NOT NULL"):
            await asyncio.wait_for(store.write(bad), 5.0)
        with pytest.raises(StorageError, match="NOT NULL"):
            await asyncio.wait_for(store.write(batch(3)), 5.0)
    assert counts(path) == [(1, 1, 1)]


async def test_a_batch_that_arrives_during_a_failing_commit_is_told_too(tmp_path: Path) -> None:
    async with open_store(tmp_path / "crawl.db", pause=no_pause) as store:
        writes = [asyncio.create_task(store.write(bad_batch()))]
        for number in range(1, 20):  # a commit goes through several turns of the loop
            await asyncio.sleep(0)
            writes.append(asyncio.create_task(store.write(batch(number))))
        ended = await asyncio.wait_for(asyncio.gather(*writes, return_exceptions=True), 5.0)
    assert {type(error) for error in ended} == {StorageError}


async def test_a_value_sqlite_cannot_hold_is_an_error_not_an_endless_wait(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    async with open_store(path, pause=no_pause) as store:
        with pytest.raises(OverflowError):
            await asyncio.wait_for(store.write(Batch(dropped=[DroppedRow(1, "n", 1 << 70)])), 5.0)
    assert counts(path) == [(0, 0, 0)]


async def test_text_that_no_encoding_has_is_stored_with_a_question_mark(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    async with open_store(path, pause=no_pause) as store:
        await store.write(Batch(dropped=[DroppedRow(1, "half \ud83d", 1)]))
    assert rows(path, "SELECT reason FROM dropped") == [("half ?",)]


async def test_a_write_cut_off_in_its_middle_leaves_whole_batches_only(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"

    async def write_on(store: Store) -> None:
        for number in range(1, 1000):
            await store.write(batch(number))

    async with open_store(path, pause=no_pause) as store:
        task = asyncio.create_task(write_on(store))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    pages, signals, links = counts(path)[0]
    assert pages == signals == links
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
