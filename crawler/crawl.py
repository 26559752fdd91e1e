"""Builds a crawl from its settings and runs it: the one place where the objects meet."""

import asyncio
import ctypes
import gc
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass

from crawler import __version__
from crawler.clock import Clock
from crawler.config import Config
from crawler.engine import Engine, Finish
from crawler.fetching.http import HttpTransport
from crawler.fetching.transport import Transport
from crawler.memory import take_up
from crawler.observation import Observation
from crawler.planning.plan import Pick
from crawler.tally import Tally
from storage.store import Store, open_store

_KEPT_FREE = 16 << 20  # bytes
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # <malloc.h>
_LINGER = 0.02  # seconds a write waits for company: at 1,000 pages a second, 20 rows share a commit

Report = Callable[[Pick, Observation], None]
Open = Callable[[Config, Clock], AbstractAsyncContextManager[Transport]]


@dataclass(frozen=True, slots=True)
class Summary:
    """How a run ended and what it did."""

    finish: Finish
    tally: Tally
    duration: float


@asynccontextmanager
async def live_transport(config: Config, clock: Clock) -> AsyncIterator[Transport]:
    transport = HttpTransport(config.fetch, user_agent=config.crawl.user_agent, clock=clock)
    async with transport:
        yield transport


async def crawl(
    config: Config,
    *,
    clock: Clock,
    open_transport: Open = live_transport,
    once: bool = False,
    report: Report = lambda pick, observation: None,
    started: Callable[[Engine], None] = lambda engine: None,
    edit: Callable[[], Config | None] = lambda: None,
) -> Summary:
    """From opening the database to closing it.  `started` is given each engine, to watch or stop it.

    `edit` is asked before each tick for new settings.  They get an engine and a transport of their own, which
    take up from the database what the last ones left: nothing has to be changed under way.
    """
    began_at, tally = clock.now(), Tally()
    async with open_store(config.crawl.database, pause=lambda: clock.linger(_LINGER)) as store:
        while True:
            async with open_transport(config, clock) as transport:
                engine = Engine(
                    config,
                    clock=clock,
                    transport=transport,
                    store=store,
                    memory=await take_up(store, config, clock),
                    once=once,
                    report=report,
                    edit=edit,
                    tally=tally,
                    started_at=began_at,
                )
                finish = await _run(engine, config, store, clock, started)
            if finish is not Finish.EDITED or engine.edited is None:
                return Summary(finish, tally, clock.now() - began_at)
            config = engine.edited


async def _run(
    engine: Engine, config: Config, store: Store, clock: Clock, started: Callable[[Engine], None]
) -> Finish:
    """One run, entered with its settings into the database."""
    settings = json.dumps(config.model_dump(mode="json"))
    now = clock.now()
    with clock.real_wait():
        run_id = await store.begin_run(started_at=now, version=__version__, settings=settings)
    keep_freed_memory()
    with rare_collections(), stop_on_signals(engine):
        started(engine)
        finish = await engine.run(run_id)
    now = clock.now()
    with clock.real_wait():
        await store.end_run(run_id, ended_at=now, finish=finish.name.lower())
    return finish


@contextmanager
def rare_collections() -> Iterator[None]:
    """Looks for cycles seldom, and never among what was imported.

    A crawl makes hardly any cycles; looking for them every 700 objects took a tenth of its time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def keep_freed_memory() -> None:
    """Lets glibc keep what a parsed page leaves free, for the next one.

    Its top would go back to the system after each page: where the heap happened to lie so, in one run of six,
    that took 200 us a page.  Other systems' allocators are left alone.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_FREE)
        mallopt(_M_MMAP_THRESHOLD, _KEPT_FREE)


@contextmanager
def stop_on_signals(engine: Engine) -> Iterator[None]:
    """The first SIGINT or SIGTERM lets what is in flight end and be saved; the second stops at once."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task is not None

    def heard() -> None:
        if engine.stopping:
            task.cancel()
        else:
            engine.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, heard)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
