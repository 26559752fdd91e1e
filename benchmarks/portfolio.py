"""A page-level mix of refresh rules on recorded prices, beside each of its rules alone.

Protocol as in benchmarks/recordings.py.  All rules of the mix learn from all its fetches.  The last
column of a mix's row is how far it stays below the best of its own rules at its worst budget, on the
same seeds: the price of not having to choose.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, show
from benchmarks.recordings import (
    RULES,
    SHARES,
    Bools,
    Floats,
    Ints,
    Rule,
    Tick,
    freshness,
)
from benchmarks.recordings_data import PriceRecording, auction, gpu, grocery
from policies.portfolio.hedge_mix import HedgeMix, MixedPicks

READERS = (auction, grocery, gpu)
ALONE = ("oldest first", "Greedy, Poisson rates", "clock")
MIXES = {
    "mix of all three": ALONE,
    "mix of oldest first and clock": ("oldest first", "clock"),
}


class MixRule:
    """Each rule proposes its picks at rate 1; Hedge moves its weights by the changes they find."""

    def __init__(self, rules: Sequence[Rule], *, learning_rate: float, exploration: float) -> None:
        self.rules = rules
        self.mix = HedgeMix.start(len(rules), learning_rate=learning_rate, exploration=exploration)
        self.picks: MixedPicks | None = None

    def born(self, offers: Ints, now: float, price: Floats) -> None:
        for rule in self.rules:
            rule.born(offers, now, price)

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        place = np.empty(tick.live.max() + 1, np.intp)
        place[tick.live] = np.arange(len(tick.live))
        proposals = np.zeros((len(self.rules), len(tick.live)))
        for rates, rule in zip(proposals, self.rules, strict=True):
            rates[place[rule.pick(tick, budget, rng)]] = 1.0
        self.picks = self.mix.pick(proposals, np.ones(len(tick.live)), rng)
        return tick.live[self.picks.pages]

    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None:
        assert self.picks is not None
        self.mix = self.mix.learn(self.picks, changed.astype(np.float64))
        for rule in self.rules:
            rule.learn(offers, now, changed, price)


def scores(
    recording: PriceRecording,
    rule: Callable[[PriceRecording], Rule],
    shares: Sequence[float],
    seeds: Sequence[int],
) -> NDArray[np.float64]:
    """Freshness, of shape (seeds, budgets)."""
    return np.array(
        [[freshness(recording, rule(recording), share=s, seed=i) for s in shares] for i in seeds]
    )


def row(name: str, shares: Sequence[float], result: NDArray[np.float64], below: float) -> Row:
    error = result.std(axis=0, ddof=1) / len(result) ** 0.5
    cells: Row = {"rule": name}
    for share, mean, e in zip(shares, result.mean(axis=0), error, strict=True):
        cells |= {f"{share:.0%}": round(float(mean), 4), f"{share:.0%} +-": round(float(e), 4)}
    return cells | {"below best rule": round(below, 4)}


def table(
    recording: PriceRecording, *, seeds: Sequence[int], rate: float, floor: float
) -> list[Row]:
    shares = SHARES.get(recording.name, (0.02, 0.05, 0.10, 0.20))
    alone = {name: scores(recording, RULES[name], shares, seeds) for name in ALONE}
    best_of_all = np.max([s.mean(axis=0) for s in alone.values()], axis=0)
    rows = [
        row(name, shares, s, float((best_of_all - s.mean(axis=0)).max()))
        for name, s in alone.items()
    ]
    for name, arms in MIXES.items():

        def mixed(r: PriceRecording, arms: Sequence[str] = arms) -> Rule:
            return MixRule([RULES[a](r) for a in arms], learning_rate=rate, exploration=floor)

        result = scores(recording, mixed, shares, seeds)
        best = np.max([alone[arm].mean(axis=0) for arm in arms], axis=0)
        rows.append(row(name, shares, result, float((best - result.mean(axis=0)).max())))
    return rows


def main() -> None:
    parser = flags(__doc__, reads_data=True)
    parser.add_argument("--seeds", type=int, default=5, help="independent runs per cell")
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--exploration", type=float, default=0.03)
    args = parser.parse_args()
    seeds = range(args.seed, args.seed + args.seeds)
    for read in READERS:
        recording = read(args.data)
        rows = table(recording, seeds=seeds, rate=args.learning_rate, floor=args.exploration)
        if not args.json:
            print(f"\n{recording.name}")
        show([{"recording": recording.name, **r} for r in rows], as_json=args.json)


if __name__ == "__main__":
    main()
