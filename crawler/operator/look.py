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
from crawler.planning.planner import Planner
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


@asynccontextmanager
async def look(config: Config, now: float) -> AsyncIterator[Look]:
    path = config.crawl.database
    with open_to_read(path) as connection:
        async with open_snapshot(connection, path) as store:
            memory = await remember(store, config, Clock(now))
            yield Look(config, now, connection, store, memory, planner_of(config, memory))
