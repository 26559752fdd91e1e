"""003, Figure 3: discrete policies without signals against the continuous optimum.

Paper: Greedy and LDS have very similar accuracy, on par with the optimal continuous policy, for
every number of pages m at R = 100.  Wanted here: both within 0.0005 of it at m = 1000.
Differences to the paper: accuracy is integrated, not sampled by requests, and taken over the second
half of a run, since every page starts fresh.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from benchmarks.common import Row, show
from benchmarks.papers.p003_worlds import (
    BUDGET,
    accuracy_row,
    draw_pages,
    greedy,
    parse,
    second_half,
    tell,
)
from policies.refresh.continuous_optimum import continuous_optimum
from policies.refresh.low_discrepancy import EarliestDeadline

NAMES = ("BASELINE", "GREEDY", "LDS")


def run(n_pages: int, duration: float, seed: int) -> list[float]:
    model = draw_pages(n_pages, np.random.default_rng(seed))
    optimum = continuous_optimum(model, BUDGET)
    schedule = EarliestDeadline(optimum.rates)
    return [
        optimum.freshness,
        second_half(model, greedy(model), duration=duration, seed=seed),
        second_half(model, lambda now, state: schedule.next(now), duration=duration, seed=seed),
    ]


def main() -> None:
    given = parse(__doc__, runs=4, duration=200.0)
    rows: list[Row] = []
    worst = 0.0
    for n_pages in given.pages or (100, 200, 500, 750, 1000):
        runs = np.array([run(n_pages, given.duration, given.seed + i) for i in range(given.runs)])
        rows.append(accuracy_row(n_pages, NAMES, runs))
        worst = max(np.abs((runs[:, 1:] - runs[:, :1]).mean(axis=0)).max(), worst)
    show(rows, as_json=given.json)
    if not given.json:
        tell(
            paper="Greedy and LDS are on par with the optimal continuous policy for every m.",
            here=f"the same; the largest mean difference to it is {worst:.5f}.",
            why="the few ten-thousandths missing are the price of fetching only at slots.",
        )


if __name__ == "__main__":
    main()
