"""Does a price hold as often as `export` says?  Whole crawls of the simulated shop, judged by its truth.

Each crawl is asked at its end, six hours and a day later, when nobody has looked since.  A row for each tenth
of `probability_valid`: how many prices had it, its mean, and the share of them that was true.

    python -m benchmarks.calibration --seed 1
"""

import asyncio
import pathlib
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

if __package__ in (None, ""):  # run as a file: make the project importable
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from benchmarks.common import Row, flags, show
from benchmarks.freshness import MONDAY, settings
from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.crawl import crawl
from crawler.fetching.transport import Transport
from crawler.operator.export import fresh_by_page
from crawler.operator.look import look
from crawler.shop.score import StoredPrice, score_freshness
from crawler.shop.settings import DAY, varied_shop
from crawler.shop.transport import ShopTransport
from crawler.shop.world import ShopWorld
from storage.reports import prices_now

LATER = (0.0, DAY / 4, DAY)
Floats = NDArray[np.float64]


def judged(*, share: float, offers: int, days: float, seed: int) -> tuple[Floats, Floats]:
    """Of every stored price: the probability given, and 1 if it was true."""
    world = ShopWorld(varied_shop(starts_at=MONDAY, days=days + 1, offers=offers), seed=seed)
    per_tick = max(1, round(share * len(world.live_offers(MONDAY).offer)))

    @asynccontextmanager
    async def simulated(_: Config, clock: Clock) -> AsyncIterator[Transport]:
        yield ShopTransport(world, clock)

    with tempfile.TemporaryDirectory() as folder:
        database = pathlib.Path(folder) / "crawl.db"
        config = settings(world, database, "clock", per_tick=per_tick, days=days, seed=seed)

        async def main() -> None:
            await crawl(config, clock=Clock(MONDAY), open_transport=simulated)

        run_virtual(main())
        moments = (MONDAY + days * DAY + later for later in LATER)
        parts = [asyncio.run(judged_at(world, config, at)) for at in moments]
    return np.concatenate([given for given, _ in parts]), np.concatenate([t for _, t in parts])


async def judged_at(world: ShopWorld, config: Config, at: float) -> tuple[Floats, Floats]:
    async with look(config, at) as seen:
        rows = list(prices_now(seen.connection, gone=False))
        given = fresh_by_page(seen)[[row.page_id for row in rows]]
    true = [
        score_freshness(world, [StoredPrice(row.url, row.price_micros, row.currency)], at).fresh
        for row in rows
    ]
    known = ~np.isnan(given)
    return given[known], np.array(true, np.float64)[known]


def table(given: Floats, true: Floats) -> list[Row]:
    tenth = np.minimum((given * 10).astype(np.int64), 9)
    rows: list[Row] = [
        row_of(f"{number / 10:.1f} to {number / 10 + 0.1:.1f}", given[here], true[here])
        for number in range(10)
        if (here := tenth == number).any()
    ]
    return [*rows, row_of("all", given, true)]


def row_of(name: str, given: Floats, true: Floats) -> Row:
    return {
        "probability_valid": name,
        "prices": len(given),
        "mean": round(float(given.mean()), 3),
        "true": round(float(true.mean()), 3),
    }


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--offers", type=int, default=60, help="live offers of each site")
    parser.add_argument("--days", type=float, default=14.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--shares", default="0.01,0.05", help="budgets, of live offers an hour")
    options = parser.parse_args()
    parts = [
        judged(share=float(share), offers=options.offers, days=options.days, seed=seed)
        for share in options.shares.split(",")
        for seed in range(options.seed, options.seed + options.seeds)
    ]
    given = np.concatenate([part for part, _ in parts])
    show(table(given, np.concatenate([part for _, part in parts])), as_json=options.json)


if __name__ == "__main__":
    main()
