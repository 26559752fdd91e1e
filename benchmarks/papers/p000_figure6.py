"""000 Figure 6: KAB with two to five arms against LambdaCrawl.

The paper claims: KAB2 (clicks, changes) is on a par with LambdaCrawl in clicks and behind it in offers;
adding uniform (KAB3) lifts both and passes LambdaCrawl in clicks; adding impressions (KAB4) lifts
offers; adding LambdaCrawl itself (KAB5) is best; all differences shrink as the budget grows.

Why results differ: see Table 5.  With the printed reward all four lean to the change-weighted arm,
so more arms help mostly by taking time away from it.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

import numpy as np

from benchmarks.papers.p000_experiment import (
    KABS,
    PAPER,
    Sweep,
    parse,
    print_claim,
    print_table,
    scenes,
    sweep,
)

BUDGETS = (0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9)


def compare(result: Sweep) -> None:
    """The paper's claims against the means."""
    clicks = {name: result.of(name, "click_weighted").mean(axis=0) for name in result.names}
    offers = {name: result.of(name, "offer_level").mean(axis=0) for name in result.names}
    lifted = (clicks["KAB3"] > clicks["KAB2"]) & (offers["KAB3"] > offers["KAB2"])
    print_claim(result, "uniform lifts KAB3 over KAB2 in clicks and offers", lifted)
    print_claim(result, "KAB3 passes lambda_ml in clicks", clicks["KAB3"] > clicks["lambda_ml"])
    best = np.max([clicks[name] for name in KABS], axis=0)
    print_claim(result, "KAB5 is the best in clicks", clicks["KAB5"] >= best)


def main() -> None:
    args = parse(__doc__)
    for scene, runs in scenes(args, BUDGETS):
        policies = {"lambda_ml": PAPER["lambda_ml"], **KABS}
        result = sweep(scene, policies, runs=runs, seed=args.seed)
        for metric in ("click_weighted", "offer_level"):
            print_table(result, metric, as_json=args.json, against="lambda_ml")
        if not args.json:
            compare(result)


if __name__ == "__main__":
    main()
