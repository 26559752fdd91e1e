"""The memory a run started now would have, read from the database without a lock and without a trace.

While a crawl runs this is what it has stored so far: pages that it has in flight look as if they were waiting.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from crawler.clock import Clock
from crawler.config import Config
from crawler.memory import Memory, planner_of, remember
from crawler.planning.planner import Planner
from storage.store import Store, open_snapshot


@dataclass(frozen=True, slots=True)
class Look:
    """A crawl's memory at one moment.  Nothing done with it is stored."""

    config: Config
    now: float
    store: Store
    memory: Memory
    planner: Planner


@asynccontextmanager
async def look(config: Config, now: float) -> AsyncIterator[Look]:
    async with open_snapshot(config.crawl.database) as store:
        memory = await remember(store, config, Clock(now))
        yield Look(config, now, store, memory, planner_of(config, memory))
