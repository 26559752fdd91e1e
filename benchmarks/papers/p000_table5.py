"""000 Table 5: click-weighted freshness of the recrawl strategies and of KAB5.

The paper claims: change-weighted crawling is far the worst; clicks or impressions beat uniform at
tight budgets; LambdaCrawl on predicted rates is the best single strategy; KAB5 beats it by 0.15 to
0.93 % at every budget.

Why results differ: the paper's offers are not to be had, and estimates are empirical Bayes instead
of a neural network.  LambdaCrawl on plain history (lambda_h) fetches only offers that were both
clicked and repriced within the month while it can, and leaves the others stale; the paper's does
not, and it does not say how zeros were smoothed.  The reward of Equation 2 is divided by the arm's
own clicks, so it pays for the share of hits, which is highest for the change-weighted arm; KAB5
follows that arm and stays behind LambdaCrawl at tight budgets.  Dividing all arms by one total ("one
total", "page mix") brings it level or above.  On the recordings click rates are drawn too sparsely
to be learned in weeks, so impressions, which come more often, tell more.  Greedy, which the paper
does not have, beats all of them: rates tell how often to fetch a page, Greedy also when.

Numbers in brackets are standard errors over runs in units of the last digit; they include the spread
between worlds, which the comparisons, made on the same worlds, do not suffer from.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

import numpy as np

from benchmarks.papers.p000_experiment import (
    OURS,
    PAPER,
    Sweep,
    parse,
    print_claim,
    print_table,
    scenes,
    sweep,
)

BUDGETS = tuple(i / 10 for i in range(1, 10))


def compare(result: Sweep) -> None:
    """The paper's claims against the means."""
    mean = {name: result.of(name, "click_weighted").mean(axis=0) for name in result.names}
    single = [mean[name] for name in PAPER if name != "KAB5"]
    print_claim(result, "change_h is the worst", mean["change_h"] <= np.min(single, axis=0))
    demand_wins = np.minimum(mean["click_ml"], mean["impression_ml"]) > mean["uniform"]
    print_claim(result, "click_ml and impression_ml beat uniform", demand_wins)
    print_claim(result, "lambda_ml beats lambda_h", mean["lambda_ml"] > mean["lambda_h"])
    print_claim(
        result, "lambda_ml is the best single strategy", mean["lambda_ml"] >= np.max(single, axis=0)
    )
    print_claim(result, "KAB5 beats lambda_ml", mean["KAB5"] > mean["lambda_ml"])


def main() -> None:
    args = parse(__doc__)
    for scene, runs in scenes(args, BUDGETS):
        result = sweep(scene, {**PAPER, **OURS}, runs=runs, seed=args.seed)
        print_table(result, "click_weighted", as_json=args.json)
        if not args.json:
            compare(result)


if __name__ == "__main__":
    main()
