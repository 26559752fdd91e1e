"""One budget for refresh, discovery and first fetches, against every fixed split of it.

The world: 2,000 known pages that change, 60 sources that publish (the generator of 004's domains), and new pages
that are worth something only once fetched and only if they hold an offer (known chance: 0.9 or 0.1, by URL
pattern).  Value = worth_fresh * importance-weighted hours of freshness + worth_new * 2^(-delay / half_life) for
each new offer, delay from its first link to its first fetch.  Change rates are known, discovery rates are learned.
Fixed splits give set shares of the budget to sources and to first fetches, the rest (and what the queue does not
need) to refreshes, and choose within each as well as the merged list does.  All values are relative to the fixed split
that is best in hindsight.
"""

import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

sys.path.insert(
    0, str(pathlib.Path(__file__).parent.parent)
)  # for `python benchmarks/one_budget.py`

from benchmarks.common import Row, flags, mean_and_error, show
from policies.budget import (
    PriceList,
    best_at_each_site,
    first_fetch_price,
    source_price,
    spend,
    worth_of_a_discovery,
)
from policies.discovery.exposure import Bools, Floats, Ints
from policies.discovery.pooled import Pooled
from policies.simulation.discovery import LinkWorld, NewsDomain, generate
from policies.values.greedy import greedy_value
from policies.values.model import PageModel

BUDGET = 20  # fetches an hour
WARM_UP = 24 * 7
HALF_LIFE = 24.0  # hours
CHANCES = np.array([0.1, 0.9])
THIRDS = (1 / 3, 1 / 3)
DOMAIN = NewsDomain(n_sources=60, n_ticks=24 * 28, targets_per_hour=10.0, fleeting=0.0)


@dataclass(frozen=True, slots=True)
class World:
    pages: PageModel  # rates per hour
    links: LinkWorld
    offer_chance: Floats  # (n_targets,)
    holds_offer: Bools  # (n_targets,)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The three price lists of a tick, and what a fetch of each source is expected to find now."""

    refresh: PriceList
    sources: PriceList
    first: PriceList
    expected: Floats


@dataclass(frozen=True, slots=True)
class Picks:
    refresh: Ints
    sources: Ints
    first: Ints
    level: float = 0.0


Splitter = Callable[[Candidates], Picks]


def build_world(rng: np.random.Generator, n_pages: int = 2000) -> World:
    links = generate(DOMAIN, rng)
    chance = CHANCES[rng.integers(len(CHANCES), size=len(links.appeared))]
    pages = PageModel.of(
        change_rate=rng.lognormal(np.log(1 / 72), 1.0, n_pages),
        importance=rng.lognormal(0.0, 1.0, n_pages),
    )
    return World(pages, links, chance, rng.random(len(chance)) < chance)


def merged(candidates: Candidates) -> Picks:
    """The price list cut at the budget; sources by what is expected now."""
    lists = (candidates.refresh, candidates.sources, candidates.first)
    spending = spend(lists, budget=BUDGET, floor=np.zeros(1, np.int64))
    refresh, sources, first = spending.taken
    swapped = best_at_each_site(sources, site=candidates.sources.site, score=candidates.expected)
    return Picks(refresh, swapped, first, spending.level)


def fixed(to_sources: float, to_first: float) -> Splitter:
    """Set shares of the budget, the best within each."""

    def split(candidates: Candidates) -> Picks:
        sources = best(candidates.expected, round(BUDGET * to_sources))
        first = best(candidates.first.price, round(BUDGET * to_first))
        left = BUDGET - len(sources) - len(first)
        return Picks(best(candidates.refresh.price, left), sources, first)

    return split


def best(score: Floats, count: int) -> Ints:
    return np.argsort(-score)[:count]


@dataclass(slots=True)
class Crawl:
    """A crawl as it goes: hours since each page's fetch, the sources, and the new pages not yet fetched."""

    world: World
    worth_new: float
    elapsed: Floats
    policy: Pooled
    known: Bools  # (n_targets,)
    queue: Ints  # targets
    pays_first: bool  # a discovery is priced less its first fetch
    level: float = 0.0

    @classmethod
    def start(cls, world: World, worth_new: float, pays_first: bool) -> "Crawl":
        n_sources, n_targets = world.links.n_sources, len(world.offer_chance)
        return cls(
            world=world,
            worth_new=worth_new,
            elapsed=np.zeros(len(world.pages)),
            policy=Pooled.start(np.zeros(n_sources)),
            known=np.zeros(n_targets, np.bool_),
            queue=np.empty(0, np.int64),
            pays_first=pays_first,
        )

    def faded(self, targets: Ints, tick: int) -> Floats:
        """The share that is left of a new offer's worth."""
        delay = tick - self.world.links.appeared[targets]
        return np.asarray(2.0 ** (-delay / HALF_LIFE))

    def candidates(self, now: float, tick: int, rng: np.random.Generator) -> Candidates:
        waited = np.maximum(now - self.policy.fetched_at, 0.0) / 3600.0
        worth = worth_of_a_discovery(
            worth=self.worth_new, offer_chance=CHANCES, level=self.level if self.pays_first else 0.0
        )
        sources = source_price(
            worth=worth,
            rate=self.policy.rate(now),
            age=waited,
            half_life=HALF_LIFE,
            expiry=self.policy.settings.expiry,
        )
        first = first_fetch_price(
            worth=self.worth_new * self.faded(self.queue, tick),
            offer_chance=self.world.offer_chance[self.queue],
        )
        return Candidates(
            refresh=one_site(greedy_value(self.world.pages, self.elapsed)),
            sources=one_site(sources),
            first=one_site(first),
            expected=self.policy.drawn_discoveries(now, rng),
        )

    def fetch(self, picks: Picks, now: float, tick: int) -> tuple[float, float]:
        """Do it; the freshness of the hour that follows, and the new offers, faded by their delay."""
        self.level = picks.level
        got = self.queue[picks.first]
        offers = float(self.faded(got, tick) @ self.world.holds_offer[got])
        self.queue = np.delete(self.queue, picks.first)
        found = np.array([self.discover(source, tick) for source in picks.sources], np.int64)
        self.policy = self.policy.observe(now=now, sources=picks.sources, discoveries=found)
        self.elapsed[picks.refresh] = 0.0
        return self.fresh_hour(), offers

    def discover(self, source: int, tick: int) -> int:
        shown = self.world.links.shown(source, tick)
        new = shown[~self.known[shown]]
        self.known[new] = True
        self.queue = np.concatenate((self.queue, new))
        return len(new)

    def fresh_hour(self) -> float:
        """Expected importance-weighted freshness of the coming hour, exactly: no noise from drawn changes."""
        rate, importance = self.world.pages.change_rate, self.world.pages.importance
        gained = importance @ (np.exp(-rate * self.elapsed) * -np.expm1(-rate) / rate)
        self.elapsed += 1.0
        return float(gained)


def one_site(price: Floats) -> PriceList:
    return PriceList(price, np.zeros(len(price), np.int64))


def gains(
    world: World, worth_new: float, split: Splitter, seed: int, *, pays_first: bool = True
) -> Floats:
    """Freshness and new offers gained an hour after the warm-up, shape (2,)."""
    rng, gained = np.random.default_rng(seed), []
    going = Crawl.start(world, worth_new, pays_first)
    for tick, now in enumerate(world.links.tick_at):
        picks = split(going.candidates(float(now), tick, rng))
        gained.append(going.fetch(picks, float(now), tick))
    return np.array(np.mean(gained[WARM_UP:], axis=0), np.float64)


def row(
    worth_new: float,
    worlds: list[World],
    splits: list[tuple[float, float]],
    by_split: Floats,
    seed: int,
) -> Row:
    """Everything relative to the split that is best in hindsight over these worlds.

    by_split: gains, shape (n_worlds, n_splits, 2); a fixed split does the same whatever a new offer is worth."""
    worth = np.array([1.0, worth_new])
    fixed_values = by_split @ worth
    ours, gross = (
        np.array([gains(w, worth_new, merged, seed, pays_first=paid) @ worth for w in worlds])
        for paid in (True, False)
    )
    top = int(np.argmax(fixed_values.mean(axis=0)))
    best_value = fixed_values[:, top]
    of_best, error = mean_and_error(ours / best_value)
    relative = (fixed_values / best_value[:, None]).mean(axis=0)
    return {
        "worth of a new offer": worth_new,
        "best split (sources, first)": "{:.2f}, {:.2f}".format(*splits[top]),
        "merged, of best": of_best,
        "se": error,
        "first fetch not priced in": float((gross / best_value).mean()),
        "even thirds": float(relative[splits.index(THIRDS)]),
        "median split": float(np.median(relative)),
        "worst split": float(relative.min()),
    }


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--full", action="store_true", help="10 worlds and splits in steps of 0.1")
    options = parser.parse_args()
    rng, seed = np.random.default_rng(options.seed), options.seed
    worlds = [build_world(rng) for _ in range(10 if options.full else 3)]
    grid = np.arange(0.0, 1.01, 0.1) if options.full else np.array([0.0, 0.1, 0.2, 0.4, 0.6, 0.8])
    splits = [THIRDS] + [(float(a), float(b)) for a in grid for b in grid if a + b < 1.001]
    by_split = np.array(
        [[gains(world, 1.0, fixed(*split), seed) for split in splits] for world in worlds]
    )
    worths = (30.0, 100.0, 300.0, 1000.0)
    show([row(each, worlds, splits, by_split, seed) for each in worths], as_json=options.json)


if __name__ == "__main__":
    main()
