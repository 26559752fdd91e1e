"""003, Figure 8: many pages, real-world-like parameters, and estimates that are wrong.

Paper: 100,000 URLs of a published crawl with importance and change rates; 5 % of them have good
signals, the others poor ones; 5000 fetches a step for 200 steps, 10 runs.  Precision and recall
are corrupted by mixing in uniform noise with weight p.  Greedy-CIS+ believes the signals of pages
with precision > 0.7 and recall > 0.6 and ignores all others: close to Greedy-NCIS when the
numbers are right, less robust when they are not.
Here: that crawl is not to be had.  Importance is log-normal (sigma 1.5), change rates log-normal
with median one in 20 steps (sigma 1.5), good signals have precision in [0.7, 0.95] and recall in
[0.6, 0.95], poor ones Beta(1.2, 2.5) each, after the paper's histogram (few above 0.8).  Pages with
good signals are 6.8 times as important, so that they hold 26 % of it, as in the published crawl.
The default has 10,000 URLs and 500 fetches a step for 80 steps.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from benchmarks.common import Row, show
from benchmarks.papers.p003_worlds import accuracy_row, parse, tell
from policies.simulation.refresh import Choose, World, greedily, simulate
from policies.values.greedy import greedy_value
from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import Floats, PageModel

NAMES = ("GREEDY", "GREEDY-CIS+", "GREEDY-NCIS")


def with_precision(pages: PageModel, precision: Floats, recall: Floats) -> PageModel:
    """Signals of this precision and recall: nu = recall Delta (1 - precision) / precision."""
    false_rate = recall * pages.change_rate * (1.0 - precision) / precision
    return PageModel(pages.change_rate, pages.importance, recall, false_rate)


def draw_quality(good: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Precision and recall of pages with good and with poor signals."""
    n_pages = len(good)
    precision = np.where(good, rng.uniform(0.7, 0.95, n_pages), rng.beta(1.2, 2.5, n_pages))
    recall = np.where(good, rng.uniform(0.6, 0.95, n_pages), rng.beta(1.2, 2.5, n_pages))
    return np.clip(precision, 0.01, 0.99), np.clip(recall, 0.01, 0.99)


def greedy_cis_plus(believed: PageModel, precision: Floats, count: int) -> Choose:
    """Noiseless signals where they look good, none where they do not."""
    good = (precision > 0.7) & (believed.signal_recall > 0.6)
    recall = np.where(good, believed.signal_recall, 0.0)
    pages = PageModel(believed.change_rate, believed.importance, recall, np.zeros(len(recall)))
    return greedily(lambda elapsed, n: greedy_ncis_value(pages, elapsed, n), count)


def run(n_pages: int, noise: float, steps: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    good = rng.random(n_pages) < 0.05
    importance = rng.lognormal(0, 1.5, n_pages) * np.where(good, 6.8, 1.0)
    pages = PageModel.of(0.05 * rng.lognormal(0, 1.5, n_pages), importance)
    precision, recall = draw_quality(good, rng)
    world = World(with_precision(pages, precision, recall))
    seen_precision = (1 - noise) * precision + noise * rng.random(n_pages)
    seen_recall = (1 - noise) * recall + noise * rng.random(n_pages)
    believed = with_precision(pages, seen_precision, seen_recall)
    count = n_pages // 20
    policies = [
        greedily(lambda elapsed, n: greedy_value(pages, elapsed), count),
        greedy_cis_plus(believed, seen_precision, count),
        greedily(lambda elapsed, n: greedy_ncis_value(believed, elapsed, n), count),
    ]
    slots, edges = np.arange(1.0, steps + 1.0), np.array([0.0, steps / 2, steps])
    return [
        float(
            simulate(
                world, choose, slots=slots, edges=edges, rng=np.random.default_rng(seed)
            ).expected[1]
        )
        for choose in policies
    ]


def main() -> None:
    given = parse(__doc__, runs=3, duration=80.0)
    if given.full:
        given.runs, given.duration = 10, 200.0
    n_pages = (given.pages or [100_000 if given.full else 10_000])[0]
    rows: list[Row] = []
    gains = []
    for noise in (0.0, 0.1, 0.2):
        seeds = range(given.seed, given.seed + given.runs)
        runs = np.array([run(n_pages, noise, int(given.duration), seed) for seed in seeds])
        rows.append({"noise p": noise, **accuracy_row(n_pages, NAMES, runs)})
        mean = runs.mean(axis=0)
        gains.append(
            f"p = {noise}: CIS+ {mean[1] - mean[0]:+.4f}, NCIS {mean[2] - mean[0]:+.4f} against Greedy"
        )
    show(rows, as_json=given.json)
    if not given.json:
        tell(
            paper="Greedy-CIS+ is close to Greedy-NCIS when precision and recall are right and loses "
            "more when they are not.",
            here="; ".join(gains) + ".",
            why="the pages are synthetic, and Greedy-CIS+ is not close: it has the gain of the good "
            "signals only, about half of all.  Poor signals on 19 pages in 20 are worth something too, "
            "how much depends on a histogram the paper shows without numbers.  In proportion it does "
            "lose more to noise.  The paper prints recall = (1-p) recall + xi; p xi is meant.",
        )


if __name__ == "__main__":
    main()
