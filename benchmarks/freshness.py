"""True freshness and discovery of whole crawls of a simulated shop, in virtual time.

The real engine, storage and reader crawl five sites that differ in markup, currency, sitemap and rhythm for
weeks of their time; only the transport and the event loop are simulated.  Every strategy gets the same budget
and the same way of finding pages, so the rows differ in what is refreshed, and when.

    freshness   share of the time that live offers lived, in which our copy of the price was the true one
    changes     share of price changes seen before the next one
    found       share of new offers found while they lived; delay: median hours from birth to first sight
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import product

import numpy as np

sys.path.insert(
    0, str(pathlib.Path(__file__).parent.parent)
)  # for `python benchmarks/freshness.py`

from benchmarks.common import Row, flags, mean_and_error, show
from benchmarks.freshness_oracle import OracleRhythms
from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.crawl import crawl
from crawler.engine import Engine
from crawler.fetching.transport import Transport
from crawler.shop import score
from crawler.shop.settings import DAY, varied_shop
from crawler.shop.transport import ShopTransport
from crawler.shop.world import ShopWorld
from storage import reports
from storage.database import open_to_read

MONDAY = 1_767_571_200.0
OURS = "clock"
STRATEGIES = (
    "oracle",
    "clock",
    "portfolio",
    "greedy",
    "oldest_first",
    "uniform",
    "fixed_interval",
    "nutch",
    "stormcrawler",
    "lambda_naive",
)


@dataclass(frozen=True, slots=True)
class Result:
    freshness: float
    changes: float
    found: float
    delay: float
    fetches: int


def settings(
    world: ShopWorld,
    database: pathlib.Path,
    strategy: str,
    *,
    per_tick: int,
    days: float,
    seed: int,
) -> Config:
    """One tick an hour, so that the budget is what decides."""
    live = len(world.live_offers(MONDAY).offer)
    return Config.model_validate(
        {
            "crawl": {
                "user_agent": "Bench/1.0 (+http://bench.test/)",
                "database": str(database),
                "tick": "1h",
                "revisit": "30m",
                "stop_after": f"{days:g}d",
                "seed": seed,
                "max_failures": 1.0,
            },
            "budget": {"per_tick": per_tick},
            "politeness": {"delay": "1s"},
            "reading": {"change": "price"},  # what the score counts
            # A fixed interval that the budget can just keep up with.
            "planning": {
                "strategy": "clock" if strategy == "oracle" else strategy,
                "interval": f"{max(1, live // per_tick)}h",
            },
            "site": [
                {"name": site.host, "start": [f"http://{site.host}/"]} for site in world.sites
            ],
        }
    )


def run(strategy: str, *, share: float, offers: int, days: float, seed: int) -> Result:
    """One crawl; the first third is warm-up."""
    world = ShopWorld(varied_shop(starts_at=MONDAY, days=days, offers=offers), seed=seed)
    per_tick = max(1, round(share * len(world.live_offers(MONDAY).offer)))

    @asynccontextmanager
    async def simulated(_: Config, clock: Clock) -> AsyncIterator[Transport]:
        yield ShopTransport(world, clock)

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "crawl.db"
        config = settings(world, path, strategy, per_tick=per_tick, days=days, seed=seed)

        def started(engine: Engine) -> None:
            if strategy == "oracle":
                learner = engine.planner.learner
                learner.rhythms = OracleRhythms(world, engine.planner.table, learner.hints)

        async def main() -> None:
            clock = Clock(MONDAY)
            await crawl(config, clock=clock, open_transport=simulated, started=started)

        run_virtual(main())
        return judge(world, path, since=MONDAY + days * DAY / 3, until=MONDAY + days * DAY)


def judge(world: ShopWorld, path: pathlib.Path, *, since: float, until: float) -> Result:
    with open_to_read(path) as connection:
        sightings = [score.Sighting(*row) for row in reports.price_steps(connection)]
        firsts = [score.FirstSight(*row) for row in reports.first_sights(connection)]
        fetches = sum(reports.outcomes_since(connection, 0.0).values())
    changes = score.score_changes(world, sightings, since, until)
    discovery = score.score_discovery(world, firsts, since, until)
    return Result(
        freshness=score.score_mean_freshness(world, sightings, since, until),
        changes=changes.share,
        found=discovery.share,
        delay=discovery.median_delay / 3600.0,
        fetches=fetches,
    )


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--offers", type=int, default=200, help="live offers of each site")
    parser.add_argument("--days", type=float, default=21.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--shares", default="0.01,0.03,0.1", help="budgets, of live offers an hour")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    options = parser.parse_args()
    rows: list[Row] = []
    shares = [float(text) for text in options.shares.split(",")]
    ours: dict[float, list[Result]] = {}
    for share, strategy in product(shares, [OURS, *options.strategies.split(",")]):
        if strategy == OURS and share in ours:
            continue
        results = [
            run(strategy, share=share, offers=options.offers, days=options.days, seed=seed)
            for seed in range(options.seed, options.seed + options.seeds)
        ]
        rows.append(row_of(strategy, share, results, ours.setdefault(share, results)))
        sys.stderr.write(f"{rows[-1]}\n")
    show(rows, as_json=options.json)


def row_of(strategy: str, share: float, results: list[Result], ours: list[Result]) -> Row:
    """`ahead`: how much fresher ours is in the same worlds, seed by seed."""
    scores = np.array([result.freshness for result in results])
    freshness, error = mean_and_error(scores)
    ahead, ahead_error = mean_and_error(np.array([result.freshness for result in ours]) - scores)
    return {
        "strategy": strategy,
        "budget": share,
        "freshness": round(freshness, 4),
        "+-": round(error, 4),
        "ahead": round(ahead, 4),
        "ahead +-": round(ahead_error, 4),
        "changes": round(float(np.mean([result.changes for result in results])), 3),
        "found": round(float(np.mean([result.found for result in results])), 3),
        "delay h": round(float(np.nanmean([result.delay for result in results])), 2),
        "fetches": round(float(np.mean([result.fetches for result in results]))),
    }


if __name__ == "__main__":
    main()
