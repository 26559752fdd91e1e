"""How many fetches go to a good source after it dies, and to it again after it wakes.

20 sources, 2 fetches an hour.  One finds 3 links an hour and the others 0.3; after ten days it finds nothing, after
sixteen more it wakes.  An average source gets 4.8 fetches in two days.  Rows: the pooled policy as it is, and without
weighing breaks.  Numbers are fetches of that source in two days, mean over runs.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(
    0, str(pathlib.Path(__file__).parent.parent)
)  # for `python benchmarks/source_breaks.py`

from benchmarks.common import Row, flags, show
from policies.discovery.exposure import Floats
from policies.discovery.pooled import Pooled, PooledSettings

N_SOURCES, BUDGET = 20, 2
DIES, WAKES, END = 240, 624, 816  # hours
TWO_DAYS = 48


def fetches(settings: PooledSettings, seed: int) -> Floats:
    """Fetches of the good source by two days, from its death on."""
    rng, policy = np.random.default_rng(seed), Pooled.start(np.zeros(N_SOURCES), settings)
    fetched, last = np.zeros(END), np.zeros(N_SOURCES)
    rate = np.full(N_SOURCES, 0.3)
    for hour in range(END):
        rate[0] = 0.0 if DIES <= hour < WAKES else 3.0
        sources = policy.choose(now=hour * 3600.0, budget=BUDGET, rng=rng)
        found = rng.poisson(rate[sources] * (hour - last[sources]))
        last[sources] = hour
        fetched[hour] = 0 in sources
        policy = policy.observe(now=hour * 3600.0, sources=sources, discoveries=found)
    return np.asarray(fetched[DIES:].reshape(-1, TWO_DAYS).sum(axis=1))


def row(name: str, settings: PooledSettings, seeds: range) -> Row:
    runs = np.array([fetches(settings, seed) for seed in seeds])
    mean, error = runs.mean(axis=0), runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    periods = [f"dead {2 * i}-{2 * i + 2} d" for i in range(8)]
    periods += [f"awake {2 * i}-{2 * i + 2} d" for i in range(4)]
    texts = [f"{m:.1f} ±{e:.1f}" for m, e in zip(mean, error, strict=True)]
    return {"policy": name, **dict(zip(periods, texts, strict=True))}


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    seeds = range(100 + options.seed, 100 + options.seed + options.runs)
    off = PooledSettings(break_probability=1e-12)
    rows = [row("pooled", PooledSettings(), seeds), row("no breaks", off, seeds)]
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
