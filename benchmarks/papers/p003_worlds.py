"""The problem instances and policies of 003, shared by the scripts of its figures."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.common import Row, flags, mean_and_error
from policies.refresh.continuous_optimum import continuous_optimum
from policies.simulation.refresh import Choose, Hearing, World, greedily, regular_slots, simulate
from policies.values.greedy import greedy_value
from policies.values.greedy_cis import greedy_cis_value
from policies.values.greedy_ncis import approximate_value, greedy_ncis_value
from policies.values.model import Floats, PageModel
from policies.values.table import ValueTable

BUDGET = 100.0  # fetches per unit of time, one every 0.01
CELLS = 256

Policy = Callable[[PageModel], Choose]


def draw_pages(
    n_pages: int, rng: np.random.Generator, *, recall: bool = False, false_signals: bool = False
) -> PageModel:
    """Change and request rates uniform on [0, 1] (sec. 6.3); recall Beta(0.25, 0.25) (sec. 6.5);
    false signals uniform on [0.1, 0.6] (sec. 6.6).
    """
    change_rate, importance = rng.random(n_pages), rng.random(n_pages)
    recalls = rng.beta(0.25, 0.25, n_pages) if recall else 0.0
    false_rate = rng.uniform(0.1, 0.6, n_pages) if false_signals else 0.0
    return PageModel.of(change_rate, importance, recalls, false_rate)


def baseline(model: PageModel) -> float:
    """BASELINE: the optimal continuous policy that knows no signals."""
    blind = model.believing(signal_recall=0.0, false_signal_rate=0.0)
    return continuous_optimum(blind, BUDGET).freshness


def greedy(model: PageModel) -> Choose:
    return greedily(lambda elapsed, signals: greedy_value(model, elapsed))


def greedy_cis(model: PageModel) -> Choose:
    """Believes every signal; its table is that of the pages without false signals."""
    believed = model.believing(false_signal_rate=0.0)
    return greedily(ValueTable(believed, greedy_cis_value, cells=CELLS))


def greedy_ncis(model: PageModel) -> Choose:
    return greedily(ValueTable(model, greedy_ncis_value, cells=CELLS))


def approximation(terms: int) -> Policy:
    def policy(model: PageModel) -> Choose:
        def value(pages: PageModel, elapsed: Floats, signals: Floats) -> Floats:
            return approximate_value(pages, elapsed, signals, terms=terms)

        return greedily(ValueTable(model, value, cells=CELLS))

    return policy


def second_half(
    model: PageModel,
    choose: Choose,
    *,
    duration: float,
    seed: int,
    signal_delay: Callable[[np.random.Generator, int], Floats] | None = None,
    hearing: Hearing | None = None,
) -> float:
    """Freshness in the second half of a run; its expectation unless signals are delayed."""
    outcome = simulate(
        World(model, signal_delay=signal_delay),
        choose,
        slots=regular_slots(BUDGET, duration),
        edges=np.array([0.0, duration / 2, duration]),
        rng=np.random.default_rng(seed),
        hearing=hearing,
    )
    return float(outcome.fresh[1] if signal_delay is not None else outcome.expected[1])


def parse(description: str | None, *, runs: int, duration: float) -> argparse.Namespace:
    """--full takes the paper's 100 runs of 1000 units of time; --runs and --duration override."""
    parser = flags(description)
    parser.add_argument("--full", action="store_true", help="the paper's repetitions: hours")
    parser.add_argument("--runs", type=int, help=f"repetitions, {runs} unless told")
    parser.add_argument("--duration", type=float, help=f"units of time, {duration:g} unless told")
    parser.add_argument("--pages", type=int, nargs="+", help="numbers of pages")
    given = parser.parse_args()
    given.runs = given.runs or (100 if given.full else runs)
    given.duration = given.duration or (1000.0 if given.full else duration)
    return given


def accuracy_row(n_pages: int, names: Sequence[str], runs: Floats) -> Row:
    """Mean accuracy of each policy and its difference to the first, with standard errors.

    Runs have shape (n_runs, n_policies); differences are taken within a run, on the same world.
    """
    row: Row = {"m": n_pages, names[0]: float(runs[:, 0].mean())}
    for i, name in enumerate(names[1:], start=1):
        difference, error = mean_and_error(runs[:, i] - runs[:, 0])
        row[name] = float(runs[:, i].mean())
        row[f"{name} - {names[0]}"] = f"{difference:+.5f} +- {error:.5f}"
    return row


def tell(*, paper: str, here: str, why: str) -> None:
    """What was claimed, what came out, and why they differ."""
    for name, text in (("paper", paper), ("here", here), ("why", why)):
        print(textwrap.fill(f"{name}: {text}", 110, subsequent_indent="  "))
