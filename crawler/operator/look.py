"""The memory a run started now would have, read from the database without a lock and without a trace.

While a crawl runs this is what it has stored so far: pages that it has in flight look as if they were waiting.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from crawler.clock import Clock
from crawler.config import Config
from crawler.memory import Memory, planner_of, remember
from crawler.planning.planner import Choices, Planner
from storage.database import open_to_read
from storage.store import Store, open_snapshot


@dataclass(frozen=True, slots=True)
class Look:
    """A crawl's memory at one moment, and the snapshot it is from.  Nothing done with it is stored."""

    config: Config
    now: float
    connection: sqlite3.Connection
    store: Store
    memory: Memory
    planner: Planner


@dataclass(frozen=True, slots=True)
class NextTick:
    """What will be fetched next, and when: now, or when there is something that may be fetched."""

    at: float
    choices: Choices


def next_tick(seen: Look, *, most: int | None = None) -> NextTick:
    """The budget of the present tick may be spent: then the next one counts."""
    at = seen.now
    choices = _choose(seen, at, most)
    if not choices.chosen and choices.next_at > at:
        at = choices.next_at
        choices = _choose(seen, at, most)
    return NextTick(at, choices)


def _choose(seen: Look, at: float, most: int | None) -> Choices:
    tick_id = seen.memory.last_ids["tick"] + 1
    return seen.planner.choose(at, tick_id=tick_id, new_only=False, most=most)


@asynccontextmanager
async def look(config: Config, now: float) -> AsyncIterator[Look]:
    path = config.crawl.database
    with open_to_read(path) as connection:
        async with open_snapshot(connection, path) as store:
            memory = await remember(store, config, Clock(now))
            yield Look(config, now, connection, store, memory, planner_of(config, memory))
