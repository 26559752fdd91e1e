"""000 Table 6: offer-level freshness, every offer counting the same.

The paper claims: uniform beats everything, because all others are built for clicks; predicted rates
lift every strategy over plain history, many times over; KAB5 beats LambdaCrawl by 0.34 to 1.09 %.

Why results differ: the paper's uniform wins against strategies that hardly ever visit unclicked
offers.  Empirical Bayes spreads its estimates over all offers more evenly than the paper's network
did, so change-weighted crawling and LambdaCrawl on it pass uniform.  KAB5 leans to the
change-weighted arm (see Table 5), which is why it gains in offers what it loses in clicks.  Greedy,
not in the paper, aims at clicks and still beats uniform: it never fetches what it has just fetched.
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
WEIGHTED = ("change", "click", "impression", "lambda")


def compare(result: Sweep) -> None:
    """The paper's claims against the means."""
    mean = {name: result.of(name, "offer_level").mean(axis=0) for name in result.names}
    best = np.max([mean[name] for name in PAPER], axis=0)
    print_claim(result, "uniform is the best", mean["uniform"] >= best)
    lifted = np.all([mean[f"{name}_ml"] > mean[f"{name}_h"] for name in WEIGHTED], axis=0)
    print_claim(result, "predicted rates lift all four strategies", lifted)
    print_claim(result, "KAB5 beats lambda_ml", mean["KAB5"] > mean["lambda_ml"])


def main() -> None:
    args = parse(__doc__)
    for scene, runs in scenes(args, BUDGETS):
        result = sweep(scene, {**PAPER, **OURS}, runs=runs, seed=args.seed)
        print_table(result, "offer_level", as_json=args.json)
        if not args.json:
            compare(result)


if __name__ == "__main__":
    main()
