"""Interpolated values stand in for exact ones where every page is valued at every slot."""

from __future__ import annotations

import numpy as np

from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import PageModel
from policies.values.shared_table import SharedTable
from policies.values.table import ValueTable


def test_a_table_is_on_average_within_two_ten_thousandths_of_the_supremum() -> None:
    rng = np.random.default_rng(3)
    model = PageModel.of(
        rng.uniform(0.01, 1, 300), rng.random(300), rng.beta(0.25, 0.25, 300), rng.uniform(0.1, 0.6, 300)
    )  # fmt: skip
    table = ValueTable(model, greedy_ncis_value)
    elapsed = rng.exponential(10, 300)
    signals = rng.poisson(model.signal_rate * elapsed).astype(float)
    supremum = model.importance / model.change_rate
    error = np.abs(table(elapsed, signals) - greedy_ncis_value(model, elapsed, signals))
    assert np.mean(error / supremum) < 2e-4
    assert np.max(error / supremum) < 5e-3


def test_certain_signals_and_still_pages_have_table_values_too() -> None:
    model = PageModel.of([0.5, 0.5, 0.0], 1.0, [1.0, 0.4, 0.5], [0.3, 0.0, 0.2])
    table = ValueTable(model, greedy_ncis_value)
    for signals in (0.0, 3.0):
        state = np.full(3, 2.0), np.full(3, signals)
        np.testing.assert_allclose(table(*state), greedy_ncis_value(model, *state), atol=2e-3)


def test_one_table_serves_all_pages_and_is_exact_off_its_grid() -> None:
    rng = np.random.default_rng(4)
    model = PageModel.of(
        rng.uniform(0.01, 1, 3000), rng.random(3000), rng.beta(0.25, 0.25, 3000), rng.uniform(0.1, 0.6, 3000)
    )  # fmt: skip
    elapsed = rng.exponential(10, 3000)
    signals = rng.poisson(model.signal_rate * elapsed).astype(float)
    exact = greedy_ncis_value(model, elapsed, signals)
    value = SharedTable(u_cells=48, b_cells=48, r_cells=24).value(model, elapsed, signals)
    error = np.abs(value - exact) * model.change_rate / model.importance
    assert error.mean() < 1e-3
    assert error.max() < 0.02
    worthless = model.signal_worth < 0.002
    assert worthless.any()
    np.testing.assert_array_equal(value[worthless], exact[worthless])


def test_a_shared_table_knows_certain_signals_still_pages_and_full_recall() -> None:
    table = SharedTable(u_cells=48, b_cells=48, r_cells=24)
    model = PageModel.of([0.5, 0.5, 0.5, 0.0], 2.0, [1.0, 0.4, 0.0, 0.5], [0.3, 0.0, 0.0, 0.2])
    for elapsed in (0.0, 2.0, np.inf):
        for signals in (0.0, 3.0):
            state = np.full(4, elapsed), np.full(4, signals)
            np.testing.assert_allclose(
                table.value(model, *state), greedy_ncis_value(model, *state), atol=0.01
            )
