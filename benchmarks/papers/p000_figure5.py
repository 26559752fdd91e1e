"""000 Figure 5: how KAB5 shares its steps among its five arms.

The paper claims: after 1,000 steps the click-weighted arm leads, LambdaCrawl is second, both above
the 0.2 they started with; with more budget the shares are closer together.

Why results differ: the reward of Equation 2 is the share of an arm's clicks that were stale, which is
highest where prices change most, so the change-weighted arm takes the lead, after uniform has led as
long as many offers wait for their first fetch.  With one total for all arms ("one total") clicks,
impressions and LambdaCrawl stand above 0.2 at 1 % budget, much as in the paper.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

import numpy as np

from benchmarks.common import Row, show
from benchmarks.papers.p000_experiment import OURS, PAPER, Scene, parse, percent, scenes
from benchmarks.papers.p000_offers import by_model
from benchmarks.papers.p000_replay import KAB5, replay

BUDGETS = (0.01, 0.1)
STEPS = (1, 100, 300, 1000)
POLICIES = {"KAB5": PAPER["KAB5"], **{k: OURS[k] for k in ("KAB5, one total", "page mix of 5")}}


def shares(scene: Scene, *, runs: int, seed: int) -> list[Row]:
    """Arm shares after some steps: mean over runs, and the largest standard error of the row."""
    rows: list[Row] = []
    for name, make in POLICIES.items():
        for budget in BUDGETS:
            traces = []
            for run in range(runs):
                offers = scene.make(seed * 1000 + run)
                start, step_budget = scene.start, budget / scene.steps
                scores = replay(
                    offers, by_model(offers), make(), budget=step_budget, start=start, seed=run
                )
                traces.append(scores.shares[[min(s, len(scores.shares)) - 1 for s in STEPS]])
            mean, spread = np.mean(traces, axis=0), np.std(traces, axis=0, ddof=1)
            for i, step in enumerate(STEPS):
                row: Row = {"policy": name, "budget": percent(budget), "step": step}
                row.update({arm: float(mean[i, k]) for k, arm in enumerate(KAB5)})
                rows.append({**row, "s.e. up to": float(spread[i].max() / runs**0.5)})
    return rows


def main() -> None:
    args = parse(__doc__)
    for scene, runs in scenes(args, BUDGETS):
        if not args.json:
            print(f"\n{scene.name}: share of each arm, budget per {scene.per}")
        show(shares(scene, runs=runs, seed=args.seed), as_json=args.json)


if __name__ == "__main__":
    main()
