"""Learning change rates and signal quality only from own fetches, beside knowing them.

300 pages on 15 hosts, 30 fetches per unit of time.  Hosts differ in how fast their pages change and
in how good their signals are; pages scatter around their host.  Every policy takes the page of
highest Greedy-NCIS value under what it believes; a page is fetched at the latest after `--longest`.
Freshness is that of the second half.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.random import Generator

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, mean_and_error, show
from policies.estimation import mle, naive
from policies.estimation.pooled_fit import PooledFit
from policies.estimation.signal_quality import (
    Evidence,
    Priors,
    Quality,
    estimate,
    fit_priors,
    observe,
)
from policies.simulation.refresh import (
    Observation,
    Pages,
    State,
    World,
    best,
    regular_slots,
    simulate,
)
from policies.values.greedy import greedy_value
from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import Floats, PageModel
from policies.values.table import ValueTable

PAGES, HOSTS, RATE = 300, 15, 30.0
AT_ONCE = 3  # pages taken in a slot
FIRST_WORTH = 0.36  # nats: a signal nobody has tried is true in 3 of 10 cases
FIRST_GUESS = 0.1  # changes per unit of time; the truth is 0.5 on average


def draw_world(rng: Generator) -> tuple[World, Pages]:
    host = np.arange(PAGES) % HOSTS
    rate = rng.uniform(0.1, 0.9, HOSTS)[host] * rng.gamma(4.0, 0.25, PAGES)
    recall = rng.beta(0.5, 0.5, HOSTS).clip(0.02, 0.98)[host]
    recall = rng.beta(20 * recall, 20 * (1 - recall))
    false_rate = rng.uniform(0.1, 0.6, HOSTS)[host] * rng.lognormal(0.0, 0.2, PAGES)
    return World(PageModel.of(rate, rng.uniform(0, 1, PAGES), recall, false_rate)), host


class Policy(Protocol):
    def value(self, elapsed: Floats, signals: Floats) -> Floats: ...
    def learn(self, seen: Observation) -> None: ...


class Known:
    """The true parameters, with signals or without."""

    def __init__(self, model: PageModel, *, signals: bool) -> None:
        self.model = model
        self.table = ValueTable(model, greedy_ncis_value) if signals else None

    def value(self, elapsed: Floats, signals: Floats) -> Floats:
        return self.table(elapsed, signals) if self.table else greedy_value(self.model, elapsed)

    def learn(self, seen: Observation) -> None: ...


class Believing:
    """Values by a quality that is learned; subclasses say how."""

    def __init__(self, importance: Floats, quality: Quality) -> None:
        self.importance = importance
        self.believe(quality)

    def believe(self, quality: Quality) -> None:
        self.quality = quality
        self.model = PageModel.of(
            quality.change_rate,
            self.importance,
            np.minimum(quality.signal_recall[:, 0], 1.0),
            quality.false_signal_rate[:, 0],
        )

    def value(self, elapsed: Floats, signals: Floats) -> Floats:
        return greedy_ncis_value(self.model, elapsed, signals)


class Learned(Believing):
    """Posterior means with priors of the host, refitted once per unit of time."""

    def __init__(self, importance: Floats, host: Pages) -> None:
        self.group = host.astype(np.int64)
        self.priors = Priors.start(HOSTS, kinds=1, first_guess=FIRST_GUESS)
        self.fit = PooledFit.start(HOSTS, kinds=1, rate=FIRST_GUESS, worth=FIRST_WORTH)
        self.evidence = Evidence.none(PAGES, kinds=1)
        self.refitted_at = 0.0
        super().__init__(importance, estimate(self.evidence, self.priors, self.group))

    def learn(self, seen: Observation) -> None:
        after = observe(
            self.evidence.take(seen.pages),
            self.priors,
            self.group[seen.pages],
            elapsed=seen.elapsed,
            signals=seen.signals[:, None],
            changed=seen.changed,
        )
        self.evidence.put(seen.pages, after)
        self.fit = self.fit.remember(
            self.group[seen.pages], seen.elapsed, seen.signals[:, None], seen.changed
        )
        if seen.now >= self.refitted_at + 1.0:
            self.refitted_at = seen.now
            self.fit = self.fit.refit()
            self.priors = fit_priors(self.evidence, self.fit, self.group)

    def value(self, elapsed: Floats, signals: Floats) -> Floats:
        self.believe(
            estimate(
                self.evidence, self.priors, self.group, waiting=signals[:, None], elapsed=elapsed
            )
        )
        return super().value(elapsed, signals)


class Naive(Believing):
    """Counted precision, recall and rate."""

    def __init__(self, importance: Floats) -> None:
        self.counts = naive.Counts.none(PAGES)
        super().__init__(importance, first_belief())

    def learn(self, seen: Observation) -> None:
        self.counts = self.counts.add(seen.pages, seen.elapsed, seen.signals, seen.changed)
        met, counted, first = self.counts.watched > 0, self.counts.estimate(), first_belief()
        self.believe(
            Quality(
                np.where(met, counted.unsignalled_rate, first.unsignalled_rate),
                np.where(met[:, None], counted.signal_worth, first.signal_worth),
                np.where(met[:, None], counted.signal_rate, first.signal_rate),
            )
        )


class PlainMle(Believing):
    """Maximum likelihood of each page by itself, refitted when history has grown by a twentieth."""

    def __init__(self, importance: Floats) -> None:
        self.history: list[Observation] = []
        self.refitted_at = 1.0
        super().__init__(importance, first_belief())

    def learn(self, seen: Observation) -> None:
        self.history.append(seen)
        if seen.now < 1.05 * self.refitted_at:
            return
        self.refitted_at = seen.now
        page = np.concatenate([o.pages for o in self.history])
        elapsed = np.concatenate([o.elapsed for o in self.history])
        signals = np.concatenate([o.signals for o in self.history])
        changed = np.concatenate([o.changed for o in self.history])
        rate, worth = mle.fit(page, elapsed, signals, changed, pages=PAGES)
        watched, heard = (np.bincount(page, w, PAGES) for w in (elapsed, signals))
        met, first = watched > 0, first_belief()
        pace = heard / np.maximum(watched, 1e-9)
        self.believe(
            Quality(
                np.where(met, rate, first.unsignalled_rate),
                np.where(met[:, None], worth[:, None], first.signal_worth),
                np.where(met[:, None], pace[:, None], first.signal_rate),
            )
        )


def first_belief() -> Quality:
    blank = np.ones((PAGES, 1))
    return Quality(np.full(PAGES, FIRST_GUESS), 0.5 * blank, FIRST_GUESS * blank)


POLICIES: dict[str, Callable[[World, Pages], Policy]] = {
    "known parameters": lambda world, _: Known(world.model, signals=True),
    "known rates, no signals": lambda world, _: Known(world.model, signals=False),
    "learned, host priors": lambda world, host: Learned(world.model.importance, host),
    "naive counts": lambda world, _: Naive(world.model.importance),
    "plain MLE": lambda world, _: PlainMle(world.model.importance),
}


def run(name: str, *, seed: int, duration: float, longest: float) -> tuple[float, float]:
    """Freshness in the second half, and the share of pages then left alone for a quarter of it."""
    world, host = draw_world(np.random.default_rng(seed))
    policy = POLICIES[name](world, host)

    def choose(now: float, state: State) -> Pages:
        elapsed = now - state.fetched_at
        value = np.where(elapsed > longest, np.inf, policy.value(elapsed, state.signals))
        return best(value, AT_ONCE)

    outcome = simulate(
        world,
        choose,
        slots=regular_slots(RATE / AT_ONCE, duration),
        edges=np.array([0.0, duration / 2, 3 * duration / 4, duration]),
        rng=np.random.default_rng([seed, 1]),
        learn=policy.learn,
    )
    alone = (outcome.fetches[1:] <= np.ceil(duration / 4 / longest)).any(axis=0)
    return float(outcome.expected[1:].mean()), float(alone.mean())


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--duration", type=float, default=1000.0, help="as in the paper")
    parser.add_argument("--longest", type=float, default=np.inf)
    args = parser.parse_args()
    rows: list[Row] = []
    known = np.zeros(args.seeds)
    for name in POLICIES:
        runs = [
            run(name, seed=args.seed + i, duration=args.duration, longest=args.longest)
            for i in range(args.seeds)
        ]
        fresh, alone = (np.array(column) for column in zip(*runs, strict=True))
        known = fresh if name == "known parameters" else known
        short, error = mean_and_error(known - fresh)
        rows.append(
            {
                "policy": name,
                "freshness": float(fresh.mean()),
                "below known": short,
                "s.e.": error,
                "pages left alone": float(alone.mean()),
            }
        )
    show(rows, as_json=args.json)


if __name__ == "__main__":
    main()
