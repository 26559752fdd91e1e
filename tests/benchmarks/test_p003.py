"""The scripts that repeat 003 run, and their figures have the shape the paper gives them."""

from __future__ import annotations

import numpy as np

from benchmarks import capped, vectors
from benchmarks.papers import (
    p003_figure3,
    p003_figure4,
    p003_figure6,
    p003_figure8,
    p003_figure11,
    p003_figure13_14,
)


def test_greedy_and_lds_are_next_to_the_optimum() -> None:
    optimum, greedy, lds = p003_figure3.run(200, duration=30.0, seed=1)
    assert abs(greedy - optimum) < 0.001
    assert abs(lds - optimum) < 0.001


def test_signals_help_those_who_know_what_they_are_worth() -> None:
    _, greedy, cis, optimum = p003_figure4.run(100, duration=20.0, seed=1)
    assert greedy < cis < optimum + 0.02
    _, greedy, cis, ncis, one, two = p003_figure6.run(200, duration=20.0, seed=1)
    assert max(greedy, cis, one) < ncis
    assert one < two


def test_late_signals_cost_more_the_later_they_come() -> None:
    _, at_once, slots_late, *_ = p003_figure11.run(60, 0.01, duration=30.0, seed=2)
    _, _, units_late, *_ = p003_figure11.run(60, 1.0, duration=30.0, seed=2)
    assert units_late < slots_late < at_once + 0.01


def test_noisy_estimates_keep_greedy_ncis_ahead() -> None:
    greedy, plus, ncis = p003_figure8.run(1000, noise=0.1, steps=30, seed=1)
    assert greedy < plus < ncis


def test_counting_intervals_is_biased_and_the_fit_is_not() -> None:
    truth, rng = np.array([0.5, 0.6]), np.random.default_rng(1)
    seen = p003_figure13_14.observe(0.2, truth, 1.0, 100_000.0, rng)
    assert np.all(p003_figure13_14.count_intervals(*seen[1:]) - truth > 0.1)
    np.testing.assert_allclose(p003_figure13_14.fit(*seen), truth, atol=0.03)


def test_capped_greedy_stays_under_its_bound_and_a_careless_one_loses_slots() -> None:
    optimum, bound, greedy, careless, lost = capped.compare(1, 120, 6, 30.0, signals=False)
    assert careless < greedy < bound * 1.01 < optimum * 1.01
    assert lost > 0.3


def test_reference_rows_are_compared_column_by_column() -> None:
    row = {"Delta": 0.5, "lam": 0.0, "nu": 0.0, "tau": 1e4, "n": 0}
    digits = {"V": "2.0", "psi": "1.0e+4", "w": "1.0", "V1": None, "V2": None, "V3": None}
    worst = {
        str(line["column"]): line["worst relative error"]
        for line in vectors.crawl_value_rows([row | digits, row | digits | {"V1": "2.0"}])
    }
    assert worst["V"] == worst["psi"] == 0
    assert "V2" not in worst
    assert worst["w"] == 1.0
