"""Greedy under politeness caps against the capped continuous bound.

Each slot goes to the best page among the hosts that are ready.  Beside it a global best that loses
its slot whenever the best page's host is not ready, with the share of slots it loses.
Wanted: within 0.5 % of the bound without signals, within 2 % with signals.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from benchmarks.common import Row, flags, mean_and_error, show
from policies.refresh.continuous_optimum import capped_optimum, continuous_optimum
from policies.simulation.refresh import (
    Choose,
    Pages,
    State,
    World,
    best,
    greedily,
    regular_slots,
    simulate,
)
from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import Floats, PageModel
from policies.values.table import ValueTable


def draw_pages(n_pages: int, rng: np.random.Generator, *, signals: bool) -> PageModel:
    """The setting of 003, Figure 6."""
    change_rate, importance = rng.random(n_pages), rng.random(n_pages)
    if not signals:
        return PageModel.of(change_rate, importance)
    recall, false_rate = rng.beta(0.25, 0.25, n_pages), rng.uniform(0.1, 0.6, n_pages)
    return PageModel.of(change_rate, importance, recall, false_rate)


def draw_caps(n_hosts: int, budget: float, rng: np.random.Generator) -> Floats:
    """A third of the hosts allows half of its even share, the others up to twice."""
    even = budget / n_hosts
    tight = rng.permutation(n_hosts) < n_hosts / 3
    return np.where(tight, 0.5 * even, 2.0 * even)


def regardless(value: ValueTable) -> Choose:
    """The best page of all, ready or not."""

    def choose(now: float, state: State) -> Pages:
        return best(value(now - state.fetched_at, state.signals), 1)

    return choose


def compare(
    seed: int, n_pages: int, n_hosts: int, duration: float, *, signals: bool
) -> list[float]:
    """Uncapped optimum, capped optimum, greedy, the loser of slots, and the share it loses."""
    rng = np.random.default_rng(seed)
    budget = n_pages / 8.0
    model = draw_pages(n_pages, rng, signals=signals)
    host, cap = rng.integers(0, n_hosts, n_pages), draw_caps(n_hosts, budget, rng)
    world = World(model, host=host, host_delay=1.0 / cap)
    value = ValueTable(model, greedy_ncis_value)
    slots, edges = regular_slots(budget, duration), np.array([0.0, duration / 2, duration])
    runs = [
        simulate(world, choose, slots=slots, edges=edges, rng=np.random.default_rng(seed))
        for choose in (greedily(value), regardless(value))
    ]
    return [
        continuous_optimum(model, budget).freshness,
        capped_optimum(model, budget, host=host, host_cap=cap).freshness,
        *(float(run.expected[1]) for run in runs),
        runs[1].refused / len(slots),
    ]


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--hosts", type=int, default=15)
    parser.add_argument("--duration", type=float, default=200.0)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    rows: list[Row] = []
    for signals in (False, True):
        runs = np.array(
            [
                compare(given.seed + i, given.pages, given.hosts, given.duration, signals=signals)
                for i in range(given.runs)
            ]
        )
        gap, error = mean_and_error(100.0 * (1.0 - runs[:, 2] / runs[:, 1]))
        rows.append(
            {
                "signals": "yes" if signals else "no",
                "optimum": float(runs[:, 0].mean()),
                "capped optimum": float(runs[:, 1].mean()),
                "greedy": float(runs[:, 2].mean()),
                "below the bound, %": gap,
                "+-": error,
                "slot-losing greedy": float(runs[:, 3].mean()),
                "slots it loses, %": 100.0 * float(runs[:, 4].mean()),
            }
        )
    show(rows, as_json=given.json)


if __name__ == "__main__":
    main()
