"""This crawler with everything on: robots, politeness at a delay of 0, storage, all of reading."""

import asyncio
import sqlite3
import time
from contextlib import closing
from typing import Any

import crawler.reader
from benchmarks.rivals.job import IN_FLIGHT, Done, Job, measure
from crawler.clock import Clock
from crawler.config.model import Config
from crawler.crawl import Summary
from crawler.crawl import crawl as run_crawl
from crawler.fetching.outcome import Outcome
from crawler.planning.planner import Planner


def settings(job: Job, *, max_fetches: int | None) -> Config:
    return Config.model_validate(
        {
            "crawl": {
                "user_agent": "bench/1.0 (+http://127.0.0.1/)",
                "database": job.database,
                "revisit": "0s",
                "max_fetches": max_fetches,
            },
            "politeness": {"delay": "0s", "per_host": IN_FLIGHT // len(job.origins)},
            "fetch": {"allow_networks": ["127.0.0.0/8"]},
            "site": [{"start": [f"{origin}/"]} for origin in job.origins],
        }
    )


class Timed:
    """Adds up the CPU that one function takes, wherever it is called from `owner`."""

    def __init__(self, owner: Any, name: str) -> None:
        self.cpu = 0.0
        function = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            started = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.cpu += time.thread_time() - started

        setattr(owner, name, timed)


async def _run(job: Job, *, max_fetches: int | None) -> Summary:
    config = settings(job, max_fetches=max_fetches)
    return await run_crawl(config, clock=Clock(), once=not job.refresh)


def known_pages(job: Job) -> int:
    with closing(sqlite3.connect(job.database)) as connection:
        return int(connection.execute("SELECT count(*) FROM page_state").fetchone()[0])


def crawl(job: Job) -> Done:
    planning, reading = Timed(Planner, "choose"), Timed(crawler.reader, "read_page")
    summary = asyncio.run(_run(job, max_fetches=known_pages(job) if job.refresh else None))
    wanted = Outcome.NOT_MODIFIED if job.refresh else Outcome.OK
    return Done(summary.tally.outcomes[wanted], planning.cpu, reading.cpu)


if __name__ == "__main__":
    measure(crawl)
