"""Discovery policies on the recorded news pages: 138 sources, 5 fetches a round, first week as warm-up.

Coverage: share of the pages first linked after the warm-up that were discovered.  Overhead: fetches for one
discovery.  HTD-P90: 90th percentile of hours from first link to discovery.  Regret: per cent of the greedy
oracle's discoveries that are missing at the end.  Standard errors are over runs with different seeds.
"""

import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

sys.path.insert(
    0, str(pathlib.Path(__file__).parent.parent)
)  # for `python benchmarks/discovery.py`

from benchmarks.common import Row, flags, mean_and_error, show
from benchmarks.discovery_data import UTC_OFFSET, news, warm_up_ticks
from policies.discovery.exposure import Floats
from policies.discovery.most_stale import MostStale
from policies.discovery.pham import Pham
from policies.discovery.pooled import Pooled, PooledSettings
from policies.discovery.round_robin import RoundRobin
from policies.discovery.thompson import Thompson
from policies.simulation.discovery import (
    Crawl,
    LinkWorld,
    SourcePolicy,
    crawl,
    normalised_regret,
    oracle_crawl,
    score,
)


@dataclass(frozen=True, slots=True)
class Crawler:
    """A policy at its start, and whether a target counts for one source of a tick or for all (004)."""

    name: str
    start: Callable[[LinkWorld], SourcePolicy]
    marginal: bool


ROUND_ROBIN = Crawler("round robin", lambda world: RoundRobin(n_sources=world.n_sources), False)
MOST_STALE = Crawler("most stale", lambda world: MostStale.start(world.n_sources), False)
PHAM = Crawler(
    "Pham", lambda world: Pham.start(world.n_sources, started_at=float(world.tick_at[0])), False
)
THOMPSON = Crawler("Thompson", lambda world: Thompson.start(world.n_sources), False)
THOMPSON_MARGINAL = Crawler("Thompson, marginal credit", THOMPSON.start, True)
POOLED = Crawler("pooled", lambda world: Pooled.start(np.full(world.n_sources, UTC_OFFSET)), True)
# Pooled with one part switched off by its own constant.
ABLATIONS = {
    "pooled, flat day": PooledSettings(profile_strength=1e9),
    "pooled, no own hours": PooledSettings(multiplier_strength=1e9),
    "pooled, no breaks": PooledSettings(break_probability=1e-12),
    "pooled, no forgetting": PooledSettings(memory=1.0),
    "pooled, links never expire": PooledSettings(expiry=1e6),
}
CRAWLERS = (ROUND_ROBIN, MOST_STALE, PHAM, THOMPSON, THOMPSON_MARGINAL, POOLED)


def ablated(name: str, settings: PooledSettings) -> Crawler:
    return Crawler(
        name, lambda world: Pooled.start(np.full(world.n_sources, UTC_OFFSET), settings), True
    )


def run(crawler: Crawler, world: LinkWorld, *, budget: int, seed: int) -> Crawl:
    rng = np.random.default_rng(seed)
    return crawl(world, crawler.start(world), budget=budget, rng=rng, marginal=crawler.marginal)


def judge(done: Crawl, best: Crawl, *, from_tick: int) -> Floats:
    """Coverage, overhead, HTD-P90 and final regret."""
    judged = score(done, from_tick=from_tick)
    regret = normalised_regret(done, best, from_tick=from_tick)[-1]
    return np.array([judged.coverage, judged.overhead, judged.hours_to_discovery_p90, regret])


def row(name: str, runs: Floats, baseline: float) -> Row:
    """Means over runs (n, 4) with the standard error of coverage; gain: over Thompson's coverage."""
    coverage, error = mean_and_error(runs[:, 0])
    return {
        "crawler": name,
        "coverage": coverage,
        "se": error,
        "gain %": 100.0 * (coverage / baseline - 1.0),
        "overhead": float(runs[:, 1].mean()),
        "HTD-P90 h": float(runs[:, 2].mean()),
        "regret %": float(runs[:, 3].mean()),
    }


def main() -> None:
    parser = flags(__doc__, reads_data=True)
    parser.add_argument("--budget", type=int, default=5, help="fetches a round")
    parser.add_argument("--runs", type=int, default=10, help="seeds for each crawler")
    parser.add_argument(
        "--ablations", action="store_true", help="pooled with one part switched off"
    )
    options = parser.parse_args()
    world = news(options.data)
    from_tick = warm_up_ticks(world)
    best = oracle_crawl(world, budget=options.budget)
    seeds = range(options.seed, options.seed + options.runs)
    extra = [ablated(*item) for item in ABLATIONS.items()] if options.ablations else []
    results = {
        crawler.name: np.array(
            [
                judge(
                    run(crawler, world, budget=options.budget, seed=seed), best, from_tick=from_tick
                )
                for seed in seeds
            ]
        )
        for crawler in (*CRAWLERS, *extra)
    }
    results["greedy oracle"] = judge(best, best, from_tick=from_tick)[None]
    baseline = float(results["Thompson"][:, 0].mean())
    show([row(name, runs, baseline) for name, runs in results.items()], as_json=options.json)


if __name__ == "__main__":
    main()
