"""The command demo: a living shop on loopback, crawled by the real crawler, scored against the truth."""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from crawler.clock import Clock
from crawler.config import Config
from crawler.crawl import Summary, crawl
from crawler.operator.exits import EXIT_OF_FINISH, told_errors
from crawler.operator.progress import Progress
from crawler.operator.summary import summary_lines
from crawler.shop import score
from crawler.shop.server import serve_shop
from crawler.shop.settings import DAY, ShopSettings, varied_shop
from crawler.shop.world import ShopWorld
from storage import reports
from storage.database import open_to_read

_MONDAY = 1_767_571_200.0  # 2026-01-05T00:00Z
_SITES = 4
_OFFERS = 60


@dataclass(frozen=True, slots=True)
class Result:
    """What the demo's crawl did, and how that compares with the truth of the shop."""

    summary: Summary
    freshness: score.Freshness
    mean_freshness: float
    changes: score.Changes
    discovery: score.Discovery


@told_errors
def demo(arguments: argparse.Namespace) -> int:
    with _database(arguments.database) as path:
        result = asyncio.run(_demo(arguments, path))
    rows = score_rows(result)
    if arguments.json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
    else:
        sys.stderr.writelines(line + "\n" for line in summary_lines(result.summary))
        width = max(map(len, rows))
        sys.stdout.writelines(f"{name:{width}}  {value}\n" for name, value in rows.items())
    return EXIT_OF_FINISH[result.summary.finish]


@contextmanager
def _database(asked: Path | None) -> Iterator[Path]:
    if asked is not None:
        yield asked
        return
    with tempfile.TemporaryDirectory(prefix="freshet-demo-") as folder:
        yield Path(folder) / "demo.db"


async def _demo(arguments: argparse.Namespace, path: Path) -> Result:
    clock = Clock()
    world = ShopWorld(shop_settings(arguments.days), seed=arguments.seed)
    shop_time = ShopTime(clock.now(), speed=arguments.days * DAY / arguments.seconds)

    async def wait(seconds: float) -> None:
        await clock.sleep_until(clock.now() + seconds)

    progress = Progress(clock, sys.stderr)
    async with serve_shop(world, now=lambda: shop_time.of(clock.now()), wait=wait) as addresses:
        sys.stderr.write(
            f"{_SITES} shops at {', '.join(addresses.values())}: {arguments.days:g} shop days in "
            f"{arguments.seconds:g} s\n"
        )
        config = crawl_settings(addresses, path, seconds=arguments.seconds)
        try:
            summary = await crawl(
                config, clock=clock, report=progress.report, started=progress.watch
            )
        finally:
            progress.close()
    return judge(world, path, addresses, summary, shop_time, ended_at=clock.now())


@dataclass(frozen=True, slots=True)
class ShopTime:
    """Shop time runs `speed` times as fast as ours and starts on a Monday."""

    began_at: float
    speed: float

    def of(self, at: float) -> float:
        return _MONDAY + self.speed * (at - self.began_at)


def shop_settings(days: float) -> ShopSettings:
    """Shops that answer in real time: what takes minutes there must take less here."""
    shop = varied_shop(starts_at=_MONDAY, days=days, sites=_SITES, offers=_OFFERS)
    sites = tuple(
        replace(site, latency=0.005, slow_seconds=0.5, retry_after=1, page_bytes=20_000)
        for site in shop.sites
    )
    return replace(shop, sites=sites)


def crawl_settings(addresses: dict[str, str], path: Path, *, seconds: float) -> Config:
    """The crawler as it always is, with the guard open for loopback and waits that fit the demo."""
    return Config.model_validate(
        {
            "crawl": {
                "user_agent": "FreshetDemo/1.0 (+http://127.0.0.1/demo)",
                "database": str(path),
                "tick": "1s",
                "revisit": "1s",
                "stop_after": f"{seconds}s",
            },
            "politeness": {"delay": "40ms", "backoff_first": "1s"},
            "fetch": {"allow_networks": ["127.0.0.0/8"], "total_timeout": "20s"},
            "site": [{"name": host, "start": [f"{origin}/"]} for host, origin in addresses.items()],
        }
    )


def judge(
    world: ShopWorld,
    path: Path,
    addresses: dict[str, str],
    summary: Summary,
    shop_time: ShopTime,
    *,
    ended_at: float,
) -> Result:
    """The database against the world, in shop time.  The first quarter is for finding the pages."""
    until = shop_time.of(ended_at)
    since = _MONDAY + (until - _MONDAY) / 4
    with open_to_read(path) as connection:
        stored = [
            score.StoredPrice(row.url, row.price_micros, row.currency, gone=row.gone_at is not None)
            for row in reports.prices_now(connection, gone=True)
        ]
        sightings = [
            score.Sighting(url, shop_time.of(at), micros)
            for url, at, micros in reports.price_steps(connection)
        ]
        firsts = [
            score.FirstSight(url, shop_time.of(at)) for url, at in reports.first_sights(connection)
        ]
    return Result(
        summary=summary,
        freshness=score.score_freshness(world, stored, until, addresses=addresses),
        mean_freshness=score.score_mean_freshness(
            world, sightings, since, until, addresses=addresses
        ),
        changes=score.score_changes(world, sightings, since, until, addresses=addresses),
        discovery=score.score_discovery(world, firsts, since, until, addresses=addresses),
    )


def score_rows(result: Result) -> dict[str, str | int | float]:
    """The closing table."""
    tally, fresh = result.summary.tally, result.freshness
    changes, discovery = result.changes, result.discovery
    return {
        "fetches": tally.fetches,
        "pages found": tally.discovered,
        "offers alive in the shops": fresh.live,
        "offers known": fresh.known,
        "offers with the true price now": fresh.fresh,
        "freshness now": round(fresh.freshness, 3),
        "freshness, mean after warm-up": round(result.mean_freshness, 3),
        "price changes that happened": changes.happened,
        "price changes caught": changes.caught,
        "offers born": discovery.born,
        "offers found while alive": discovery.found,
    }
