"""Discovery crawls at array level: a world of links on sources, a crawl over it, and its metrics (004).

A world is a set of link intervals on a grid of ticks: target v is linked from source u at every tick
from `first` to `last`.  A fetch of u at tick t sees exactly the intervals that hold t, so a crawl over a
recording and one over the generator are the same code, and both are exact.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from policies.discovery.exposure import SECONDS_PER_HOUR, Floats, Ints
from policies.discovery.greedy_oracle import greedy_oracle


class SourcePolicy(Protocol):
    """What a crawl asks of a discovery policy; a policy is a value and `observe` returns the next one."""

    def choose(self, *, now: float, budget: int, rng: np.random.Generator) -> Ints:
        """The sources to fetch now, best first, at most `budget`."""

    def observe(self, *, now: float, sources: Ints, discoveries: Ints) -> Self:
        """Learn what each fetched source showed that was not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWorld:
    """Links as intervals of ticks, sorted by source; `starts[u]:starts[u+1]` are those of source u."""

    tick_at: Floats  # (n_ticks,) epoch seconds
    starts: Ints  # (n_sources + 1,)
    target: Ints  # (n_links,)
    first: Ints  # (n_links,) tick
    last: Ints  # (n_links,) tick, included
    appeared: Ints  # (n_targets,) first tick on any source

    @property
    def n_sources(self) -> int:
        return len(self.starts) - 1

    def shown(self, source: int, tick: int) -> Ints:
        """The targets a fetch of the source at this tick would see."""
        links = slice(self.starts[source], self.starts[source + 1])
        held = (self.first[links] <= tick) & (tick <= self.last[links])
        return self.target[links][held]


def link_world(
    *, tick_at: Floats, n_sources: int, source: Ints, target: Ints, first: Ints, last: Ints
) -> LinkWorld:
    """Sort the links by source and renumber the targets, dropping links no tick ever sees."""
    seen = first <= last
    names, target = np.unique(target[seen], return_inverse=True)
    source, first, last = source[seen], first[seen], last[seen]
    appeared = np.full(len(names), len(tick_at), np.int64)
    np.minimum.at(appeared, target, first)
    order = np.argsort(source, kind="stable")
    starts = np.searchsorted(source[order], np.arange(n_sources + 1))
    return LinkWorld(
        tick_at=tick_at,
        starts=starts,
        target=target[order],
        first=first[order],
        last=last[order],
        appeared=appeared,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """What a crawl did: when each target was discovered, and the fetches of each tick."""

    world: LinkWorld
    discovered: Ints  # (n_targets,) tick, or -1
    fetches: Ints  # (n_ticks,)


def crawl(
    world: LinkWorld, policy: SourcePolicy, *, budget: int, rng: np.random.Generator, marginal: bool
) -> Crawl:
    """Fetch `budget` sources every tick.

    marginal: a target found by two sources of one tick counts for the first only; otherwise for both,
    which is 004's yield."""
    discovered = np.full(len(world.appeared), -1, np.int64)
    fetches = np.zeros(len(world.tick_at), np.int64)
    for tick, now in enumerate(world.tick_at):
        sources = policy.choose(now=float(now), budget=budget, rng=rng)
        shown = [world.shown(source, tick) for source in sources]
        counts = _record(discovered, shown, tick, marginal=marginal)
        fetches[tick] = len(sources)
        policy = policy.observe(now=float(now), sources=sources, discoveries=counts)
    return Crawl(world=world, discovered=discovered, fetches=fetches)


def oracle_crawl(world: LinkWorld, *, budget: int) -> Crawl:
    """The crawl of the greedy oracle, which sees every source before it chooses."""
    discovered = np.full(len(world.appeared), -1, np.int64)
    fetches = np.zeros(len(world.tick_at), np.int64)
    for tick in range(len(world.tick_at)):
        held = np.flatnonzero((world.first <= tick) & (tick <= world.last))
        bounds = np.searchsorted(held, world.starts)
        shown = [world.target[held[a:b]] for a, b in itertools.pairwise(bounds)]
        sources = greedy_oracle(shown, discovered >= 0, budget=budget)
        _record(discovered, [shown[source] for source in sources], tick, marginal=True)
        fetches[tick] = len(sources)
    return Crawl(world=world, discovered=discovered, fetches=fetches)


def _record(discovered: Ints, shown: Sequence[Ints], tick: int, *, marginal: bool) -> Ints:
    """Mark what this tick discovered; how many each source gets credit for."""
    counts = np.zeros(len(shown), np.int64)
    for i, targets in enumerate(shown):
        known = discovered[targets] >= 0
        if not marginal:
            known &= discovered[targets] < tick
        new = targets[~known]
        counts[i] = len(new)
        discovered[new] = tick
    return counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """004's metrics of a crawl after its warm-up."""

    coverage: float  # share of the new targets that was discovered
    overhead: float  # fetches for one discovery
    hours_to_discovery_p90: float  # HTD-P90, of those discovered


def score(done: Crawl, *, from_tick: int) -> Score:
    """Judge the crawl on the targets that first appeared at `from_tick` or later, and its fetches since.

    What was there before is never counted as new: the first snapshot would hide every difference."""
    world = done.world
    new = world.appeared >= from_tick
    got = new & (done.discovered >= 0)
    waited = world.tick_at[done.discovered[got]] - world.tick_at[world.appeared[got]]
    return Score(
        coverage=got.sum() / max(new.sum(), 1),
        overhead=done.fetches[from_tick:].sum() / max(got.sum(), 1),
        hours_to_discovery_p90=float(np.percentile(waited, 90)) / SECONDS_PER_HOUR
        if got.any()
        else np.inf,
    )


def normalised_regret(done: Crawl, best: Crawl, *, from_tick: int) -> Floats:
    """100 * (r* - r) / r* by tick (004, sec. 3.3); r: discoveries so far of targets new since `from_tick`."""
    ours, theirs = _discoveries_so_far(done, from_tick), _discoveries_so_far(best, from_tick)
    return np.asarray(100.0 * (theirs - ours) / np.maximum(theirs, 1.0))


def _discoveries_so_far(done: Crawl, from_tick: int) -> Floats:
    counted = done.discovered[(done.world.appeared >= from_tick) & (done.discovered >= 0)]
    per_tick = np.bincount(counted, minlength=len(done.world.tick_at))
    return np.cumsum(per_tick)[from_tick:].astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsDomain:
    """A generated domain with the sizes of 004's average one: 4,070 sources, 1.1M targets, 53 domains.

    Targets are published by a Poisson process with a daily rhythm.  Most are linked from a first source and
    a few more, all drawn with Zipf weights, and stay for days.  A `fleeting` share is linked once, from any
    source, for one tick: the long tail that "may not be efficiently discoverable" (004, sec. 3.4)."""

    n_sources: int = 77
    n_ticks: int = 1176
    targets_per_hour: float = 17.7
    day_swing: float = 0.8  # rate = mean * (1 - day_swing * cos(hour of day))
    zipf_exponent: float = 1.2
    extra_sources: float = 1.0  # mean number of further sources that link a target
    stay: float = 24.0  # mean hours a link stays on a source
    fleeting: float = 0.35


def generate(domain: NewsDomain, rng: np.random.Generator) -> LinkWorld:
    """Draw the domain's links in continuous time and look at them on the hour."""
    born = _publishing_times(domain, rng)
    weights = rng.permutation(np.arange(1, domain.n_sources + 1) ** -domain.zipf_exponent)
    fleeting = rng.random(len(born)) < domain.fleeting
    copies = np.where(fleeting, 0, rng.poisson(domain.extra_sources, len(born))) + 1
    target = np.repeat(np.arange(len(born)), copies)
    brief = fleeting[target]
    drawn = rng.choice(domain.n_sources, len(target), p=weights / weights.sum())
    source = np.where(brief, rng.integers(domain.n_sources, size=len(target)), drawn)
    first = np.ceil(born[target]).astype(np.int64)
    gone = born[target] + rng.exponential(domain.stay, len(target))
    last = np.where(brief, first, np.floor(gone).astype(np.int64))
    return link_world(
        tick_at=SECONDS_PER_HOUR * np.arange(domain.n_ticks, dtype=np.float64),
        n_sources=domain.n_sources,
        source=source,
        target=target,
        first=first,
        last=np.minimum(last, domain.n_ticks - 1),
    )


def _publishing_times(domain: NewsDomain, rng: np.random.Generator) -> Floats:
    """Event times in hours by thinning: candidates at the peak rate, kept with probability rate / peak."""
    peak = domain.targets_per_hour * (1.0 + domain.day_swing)
    count = rng.poisson(peak * (domain.n_ticks - 1))
    candidates = rng.uniform(0.0, domain.n_ticks - 1, count)
    rate = domain.targets_per_hour * (1.0 - domain.day_swing * np.cos(candidates * np.pi / 12))
    return np.sort(candidates[rng.random(count) < rate / peak])
