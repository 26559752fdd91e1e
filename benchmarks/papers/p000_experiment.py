"""The experiments of 000: which policies, on which offers, at which budgets, and how to print them."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import Row, flags, show
from benchmarks.papers.p000_offers import (
    HISTORY_DAYS,
    STEPS_PER_DAY,
    Offers,
    by_history,
    by_model,
    recorded,
    simulated,
)
from benchmarks.papers.p000_replay import (
    KAB2,
    KAB3,
    KAB4,
    KAB5,
    Alone,
    OneArmAStep,
    PageMix,
    Policy,
    replay,
)
from benchmarks.recordings_data import auction, gpu, grocery
from policies.portfolio.exp3_ix import Exp3IX
from policies.portfolio.exp3_plus_plus import Exp3PlusPlus

FloatArray = NDArray[np.float64]
Make = Callable[[], Policy]

# The name's ending tells the estimates used: _h plain history, otherwise empirical Bayes.
PAPER: dict[str, Make] = {
    "uniform": lambda: Alone("uniform"),
    "change_h": lambda: Alone("change"),
    "click_h": lambda: Alone("click"),
    "impression_h": lambda: Alone("impression"),
    "lambda_h": lambda: Alone("lambda"),
    "change_ml": lambda: Alone("change"),
    "click_ml": lambda: Alone("click"),
    "impression_ml": lambda: Alone("impression"),
    "lambda_ml": lambda: Alone("lambda"),
    "KAB5": lambda: OneArmAStep(KAB5),
}
OURS: dict[str, Make] = {
    "KAB5, one total": lambda: OneArmAStep(KAB5, common_total=True),
    "KAB5, EXP3-IX": lambda: OneArmAStep(KAB5, Exp3IX.start(5)),
    "KAB5, EXP3++": lambda: OneArmAStep(KAB5, Exp3PlusPlus.start(5)),
    "page mix of 5": lambda: PageMix(KAB5),
    "greedy": lambda: Alone("greedy"),
    "KAB5 + greedy": lambda: OneArmAStep((*KAB5, "greedy")),
    "mix of 5 + greedy": lambda: PageMix((*KAB5, "greedy")),
}
KABS: dict[str, Make] = {
    "KAB2": lambda: OneArmAStep(KAB2),
    "KAB3": lambda: OneArmAStep(KAB3),
    "KAB4": lambda: OneArmAStep(KAB4),
    "KAB5": lambda: OneArmAStep(KAB5),
}


@dataclass(frozen=True, slots=True)
class Scene:
    """Offers to run on; budgets are shares of the live offers per `per`."""

    name: str
    make: Callable[[int], Offers]
    start: int
    steps: int  # in a budget's unit
    per: str
    budgets: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Freshness of every policy at every budget in every run."""

    scene: Scene
    names: tuple[str, ...]
    click_weighted: FloatArray  # (runs, policies, budgets)
    offer_level: FloatArray

    def of(self, name: str, metric: str) -> FloatArray:
        values: FloatArray = getattr(self, metric)[:, self.names.index(name)]
        return values


def parse(description: str | None) -> argparse.Namespace:
    parser = flags(description, reads_data=True)
    parser.add_argument("--full", action="store_true", help="100 runs, as the paper does")
    parser.add_argument("--runs", type=int, help="runs on simulated offers (recorded: half)")
    parser.add_argument("--offers", type=int, default=1500, help="simulated offers")
    args = parser.parse_args()
    args.runs = args.runs or (100 if args.full else 6)
    return args


def scenes(args: argparse.Namespace, daily: tuple[float, ...]) -> Iterator[tuple[Scene, int]]:
    """The simulated offers, then the recorded prices if there are any; each with its runs."""

    def simulate(seed: int) -> Offers:
        return simulated(args.offers, seed, warm_up_days=60, scored_days=31)

    start = HISTORY_DAYS * STEPS_PER_DAY
    yield Scene("simulated offers", simulate, start, STEPS_PER_DAY, "day", daily), args.runs
    if not args.data:
        return
    tight = (0.01, 0.02, 0.05, 0.1, 0.2)
    for read in (auction, gpu, grocery):
        recording = read(args.data)
        replayed = partial(recorded, recording)
        yield Scene(recording.name, replayed, 0, 1, "tick", tight), max(args.runs // 2, 2)


def sweep(scene: Scene, policies: dict[str, Make], *, runs: int, seed: int) -> Sweep:
    """Every run has its own offers; within a run all policies see the same ones."""
    shape = (runs, len(policies), len(scene.budgets))
    click_weighted, offer_level = np.empty(shape), np.empty(shape)
    for run in range(runs):
        offers = scene.make(seed * 1000 + run)
        history, model = by_history(offers), by_model(offers)
        for i, (name, make) in enumerate(policies.items()):
            estimates = history if name.endswith("_h") else model
            for j, budget in enumerate(scene.budgets):
                scores = replay(
                    offers,
                    estimates,
                    make(),
                    budget=budget / scene.steps,
                    start=scene.start,
                    seed=seed * 1000 + run,
                )
                click_weighted[run, i, j] = scores.click_weighted
                offer_level[run, i, j] = scores.offer_level
    return Sweep(scene, tuple(policies), click_weighted, offer_level)


def percent(share: float) -> str:
    return f"{100 * share:g}%"


def cell(values: FloatArray, *, signed: bool = False) -> str:
    """Mean and, in brackets, its standard error in units of the last digit."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():{'+' if signed else ''}.4f}({1e4 * error:.0f})"


def print_table(result: Sweep, metric: str, *, as_json: bool, against: str = "") -> None:
    """One row a policy, one column a budget; with `against`, paired differences to that policy."""
    if as_json:
        show(_long_rows(result, metric), as_json=True)
        return
    print(f"\n{result.scene.name}: {metric.replace('_', '-')} freshness", end="")
    print(f"{' minus that of ' + against if against else ''}, budget per {result.scene.per}")
    rows: list[Row] = []
    for name in result.names:
        if name == against:
            continue
        values = result.of(name, metric)
        if against:
            values = values - result.of(against, metric)
        row: Row = {"policy": name}
        for j, budget in enumerate(result.scene.budgets):
            row[percent(budget)] = cell(values[:, j], signed=bool(against))
        rows.append(row)
    show(rows, as_json=False)


def _long_rows(result: Sweep, metric: str) -> list[Row]:
    return [
        {
            "offers": result.scene.name,
            "policy": name,
            "budget": budget,
            "metric": metric,
            "mean": float(result.of(name, metric)[:, j].mean()),
            "standard_error": float(
                result.of(name, metric)[:, j].std(ddof=1) / len(result.click_weighted) ** 0.5
            ),
        }
        for name in result.names
        for j, budget in enumerate(result.scene.budgets)
    ]


def print_claim(result: Sweep, claim: str, holds: Sequence[bool] | NDArray[np.bool_]) -> None:
    """A claim of the paper, and at how many budgets it came out."""
    where = [percent(b) for b, yes in zip(result.scene.budgets, holds, strict=True) if yes]
    verdict = "everywhere" if len(where) == len(holds) else f"at {', '.join(where) or 'no budget'}"
    print(f"  paper: {claim}\n   here: {verdict}")
