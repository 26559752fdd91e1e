"""003, Figure 12: Greedy when the budget changes from 100 to 150 and back.

m = 1000 pages, t <= 400; the budget is 150 between t = 133 and t = 266.
Paper: accuracy rises to the level of a constant budget of 150 and falls back, without any
recomputation.  Accuracy here is integrated over windows of 10 units of time (the paper: the last
1000 fetches); the optimum of each budget is printed beside it.
"""

from __future__ import annotations

import pathlib
import sys
from itertools import pairwise

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from benchmarks.common import Row, mean_and_error, show
from benchmarks.papers.p003_worlds import draw_pages, greedy, parse, tell
from policies.refresh.continuous_optimum import continuous_optimum
from policies.simulation.refresh import World, regular_slots, simulate
from policies.values.model import Floats, PageModel

LOW, HIGH = 100.0, 150.0
UP, DOWN, END = 133.0, 266.0, 400.0
EDGES = np.concatenate(
    [np.linspace(0, UP, 14), np.linspace(UP, DOWN, 14)[1:], np.linspace(DOWN, END, 14)[1:]]
)


def slots_of(rates: tuple[float, float, float]) -> Floats:
    """Slots for a budget in each third."""
    starts, ends = (0.0, UP, DOWN), (UP, DOWN, END)
    thirds = zip(rates, starts, ends, strict=True)
    return np.concatenate([regular_slots(rate, end - start, start) for rate, start, end in thirds])


def over_time(model: PageModel, rates: tuple[float, float, float], seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    slots = slots_of(rates)
    return simulate(World(model), greedy(model), slots=slots, edges=EDGES, rng=rng).expected


def main() -> None:
    given = parse(__doc__, runs=2, duration=END)
    n_pages = (given.pages or [1000])[0]
    optima, curves = [], []
    for seed in range(given.seed, given.seed + given.runs):
        model = draw_pages(n_pages, np.random.default_rng(seed))
        optima.append([continuous_optimum(model, budget).freshness for budget in (LOW, HIGH)])
        budgets = ((LOW, HIGH, LOW), (LOW, LOW, LOW), (HIGH, HIGH, HIGH))
        curves.append([over_time(model, rates, seed) for rates in budgets])
    low, high = np.mean(optima, axis=0)
    changing = np.array(curves)
    rows: list[Row] = []
    for window, (start, end) in enumerate(pairwise(EDGES)):
        mean, error = mean_and_error(changing[:, 0, window] - changing[:, 1, window])
        rows.append(
            {
                "from": float(start),
                "to": float(end),
                "changing": float(changing[:, 0, window].mean()),
                "always 100": float(changing[:, 1, window].mean()),
                "always 150": float(changing[:, 2, window].mean()),
                "changing - always 100": f"{mean:+.5f} +- {error:.5f}",
            }
        )
    show(rows, as_json=given.json)
    if not given.json:
        means = changing[:, 0].mean(axis=0)
        settled = [
            float(np.abs(means[i] - level)) for i, level in ((12, low), (25, high), (38, low))
        ]
        tell(
            paper="accuracy moves to the new optimum by itself when the budget changes.",
            here=f"at the end of each third it is within {max(settled):.4f} of the optimum for its "
            f"budget ({low:.4f} and {high:.4f}); the first window after the rise has "
            f"{means[13] - low:+.4f}, the fourth {means[16] - low:+.4f} of a final {high - low:+.4f}.",
            why="no difference.",
        )


if __name__ == "__main__":
    main()
