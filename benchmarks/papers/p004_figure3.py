"""004, Figure 3: normalised cumulative regret against the oracle over time, at the smallest budget.

Paper: both crawlers are under 20 % within days; Pham reaches about 10 % after 75 h and drifts back to 15 %;
Thompson falls smoothly to about 6 % after seven weeks.

Came out: the same on generated domains without fleeting links: Pham 12 % after 75 h and 14 % at the end, Thompson
smoothly to 7 %.  On five recorded sites Pham ends at 12 %, Thompson at 8 %; with all recorded sources as one,
19 % and 22 %.  Pooled ends at 5 %, 2 % and 6 %.

Why they differ: with fleeting links the oracle takes what nobody can foresee, which adds about 11 % to everyone;
for 138 sources as one domain see Figure 2 (Thompson gets 1.4 fetches for each of its rates).
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))  # for running as a script

from benchmarks.common import Row, show
from benchmarks.papers.p004_domains import (
    LEARNERS,
    Setting,
    crawls,
    explain,
    options,
    oracle_crawls,
    settings,
    with_error,
)
from policies.simulation.discovery import normalised_regret

TICKS = (24, 75, 168, 336, 672, -1)


def rows(setting: Setting, seed: int) -> list[Row]:
    """Regret at some ticks.  What the first tick shows is not new."""
    budget = setting.budgets[0]
    best = oracle_crawls(setting, budget)
    table: list[Row] = []
    for crawler in LEARNERS:
        done = crawls(crawler, setting, budget, seed)
        pairs = zip(done, best, strict=True)
        regret = np.array([normalised_regret(one, ideal, from_tick=1) for one, ideal in pairs])
        line: Row = {"setting": setting.name, "fetches/h": budget, "crawler": crawler.name}
        names = ("end" if tick < 0 else f"tick {tick}" for tick in TICKS)
        line |= {n: with_error(regret[:, t], 1) for n, t in zip(names, TICKS, strict=True)}
        table.append(line)
    return table


def main() -> None:
    chosen = options(__doc__)
    table = [line for setting in settings(chosen) for line in rows(setting, chosen.seed)]
    explain(__doc__, chosen)
    show(table, as_json=chosen.json)


if __name__ == "__main__":
    main()
