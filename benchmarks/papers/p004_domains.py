"""The domains on which 004's figures are repeated, and its crawlers on them."""

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks.common import flags
from benchmarks.discovery import PHAM, POOLED, THOMPSON, Crawler, run
from benchmarks.discovery_data import news, news_sites, warm_up_ticks
from policies.discovery.exposure import Floats
from policies.simulation.discovery import Crawl, LinkWorld, NewsDomain, generate, oracle_crawl

LEARNERS = (PHAM, THOMPSON, POOLED)
GENERATED = {
    "generated": NewsDomain(),
    "generated, no fleeting links": NewsDomain(fleeting=0.0),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Domains that are averaged over, each crawled on its own, and the budgets an hour."""

    name: str
    domains: tuple[LinkWorld, ...]
    budgets: tuple[int, ...]
    from_tick: int  # the first week is warm-up


def options(description: str | None) -> argparse.Namespace:
    parser = flags(description, reads_data=True)
    parser.add_argument("--full", action="store_true", help="53 generated domains, as in the paper")
    return parser.parse_args()


def explain(description: str | None, chosen: argparse.Namespace) -> None:
    """What the paper claims, what came out and why they differ, unless a program is listening."""
    if not chosen.json:
        print(description)


def settings(chosen: argparse.Namespace) -> list[Setting]:
    """Generated domains with and without fleeting links; the recording in two ways, when there is one.

    No recorded site has the 40 sources that 004 asks for (twice the largest budget), so the five with 12 or
    more get budgets of 1, 2 and 4, and all 138 sources as one domain get 004's 5, 10 and 20."""
    rng = np.random.default_rng(chosen.seed)
    number = 53 if chosen.full else 6
    found = [
        Setting(name, tuple(generate(domain, rng) for _ in range(number)), (5, 10, 20), 7 * 24)
        for name, domain in GENERATED.items()
    ]
    if chosen.data:
        whole, sites = news(chosen.data), news_sites(chosen.data, at_least=12)
        from_tick = warm_up_ticks(whole)
        found.append(Setting("recorded, 5 sites", tuple(sites.values()), (1, 2, 4), from_tick))
        # One domain: five runs with different seeds stand in for domains.
        found.append(Setting("recorded, all as one", (whole,) * 5, (5, 10, 20), from_tick))
    return found


def oracle_crawls(setting: Setting, budget: int) -> list[Crawl]:
    """The oracle on every domain, once for a domain that is repeated."""
    done: dict[int, Crawl] = {}
    for world in setting.domains:
        if id(world) not in done:
            done[id(world)] = oracle_crawl(world, budget=budget)
    return [done[id(world)] for world in setting.domains]


def crawls(crawler: Crawler, setting: Setting, budget: int, seed: int) -> list[Crawl]:
    """The crawler on every domain, each with a seed of its own."""
    return [
        run(crawler, world, budget=budget, seed=seed + 1000 * i)
        for i, world in enumerate(setting.domains)
    ]


def with_error(values: Floats, digits: int) -> str:
    """Mean and standard error over domains."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.{digits}f} ±{error:.{digits}f}"
