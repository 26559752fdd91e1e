"""Several kinds of signals: exact against one kind, against chance, and the pooled shortcut."""

from __future__ import annotations

import numpy as np
import pytest

from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.kinds import SignalKinds, pooled_value, value_of_kinds
from policies.values.model import Floats, PageModel


def two_kinds(n_pages: int, seed: int) -> tuple[SignalKinds, Floats, Floats]:
    """A precise rare kind and a noisy frequent one."""
    rng = np.random.default_rng(seed)
    change_rate = rng.uniform(0.1, 1, n_pages)
    recall = np.stack([rng.uniform(0.1, 0.4, n_pages), rng.uniform(0.1, 0.5, n_pages)], axis=1)
    false_rate = np.stack([rng.uniform(0, 0.1, n_pages), rng.uniform(0.2, 1, n_pages)], axis=1)
    kinds = SignalKinds(change_rate, rng.random(n_pages), recall, false_rate)
    elapsed = rng.exponential(3, n_pages)
    return kinds, elapsed, rng.poisson(kinds.signal_rate * elapsed[:, None]).astype(np.float64)


def test_one_kind_is_greedy_ncis() -> None:
    rng = np.random.default_rng(1)
    model = PageModel.of(rng.random(40), rng.random(40), rng.random(40) * 0.99, rng.random(40))
    kinds = SignalKinds(
        model.change_rate, model.importance, model.signal_recall[:, None], model.false_signal_rate[:, None]
    )  # fmt: skip
    elapsed = rng.exponential(3, 40)
    signals = rng.poisson(model.signal_rate * elapsed).astype(np.float64)
    expected = greedy_ncis_value(model, elapsed, signals)
    np.testing.assert_allclose(
        value_of_kinds(kinds, elapsed, signals[:, None]), expected, rtol=1e-11
    )
    np.testing.assert_allclose(pooled_value(kinds, elapsed, signals[:, None]), expected, rtol=1e-9)


def test_a_kind_split_in_two_of_equal_worth_is_still_that_kind() -> None:
    whole = PageModel.of(np.full(5, 0.6), 1.0, 0.5, 0.4)
    parts = SignalKinds(
        whole.change_rate, whole.importance, np.tile([0.2, 0.3], (5, 1)), np.tile([0.16, 0.24], (5, 1))
    )  # fmt: skip
    elapsed, heard = (
        np.array([0.1, 1.0, 4.0, 2.0, 9.0]),
        np.array([[0, 0], [1, 0], [0, 3], [2, 2], [5, 1]]),
    )
    expected = greedy_ncis_value(whole, elapsed, heard.sum(axis=1))
    np.testing.assert_allclose(value_of_kinds(parts, elapsed, heard * 1.0), expected, rtol=1e-10)


def test_a_kind_that_says_nothing_changes_nothing() -> None:
    kinds, elapsed, signals = two_kinds(10, 2)
    deaf = SignalKinds(
        kinds.change_rate,
        kinds.importance,
        np.column_stack([kinds.signal_recall, np.zeros(10)]),
        np.column_stack([kinds.false_signal_rate, np.ones(10)]),
    )
    heard = np.column_stack([signals, np.full(10, 7.0)])
    expected = value_of_kinds(kinds, elapsed, signals)
    np.testing.assert_allclose(value_of_kinds(deaf, elapsed, heard), expected, rtol=1e-12)


def test_the_value_is_the_mean_area_between_freshness_and_its_value_now() -> None:
    """V = E int_0^T (exp(-u_t) - exp(-u)) dt, T when u_t = alpha t + sum b_k N_k(t) passes u."""
    kinds, _, _ = two_kinds(1, 3)
    elapsed, signals = np.array([1.5]), np.array([[0.0, 2.0]])
    u = kinds.lost_nats(elapsed, signals)[0]
    alpha, rng = kinds.unsignalled_rate[0], np.random.default_rng(4)
    areas = np.zeros(200_000)
    lost, running = np.zeros_like(areas), np.ones_like(areas, dtype=bool)
    rates, worth = kinds.signal_rate[0], kinds.signal_worth[0]
    while running.any():
        wait = rng.exponential(1 / rates.sum(), len(areas))
        lasting = np.where(running, np.minimum(wait, (u - lost) / alpha), 0.0)
        areas += np.exp(-lost) * -np.expm1(-alpha * lasting) / alpha - np.exp(-u) * lasting
        kind = (rng.random(len(areas)) < rates[1] / rates.sum()).astype(int)
        lost = np.where(running, lost + alpha * lasting + worth[kind], lost)
        running &= (lost < u) & (wait <= lasting)
    value = value_of_kinds(kinds, elapsed, signals)[0] / kinds.importance[0]
    assert value == pytest.approx(areas.mean(), abs=4 * areas.std() / len(areas) ** 0.5)


def test_pooling_the_signals_to_come_costs_little() -> None:
    kinds, elapsed, signals = two_kinds(150, 5)
    exact, pooled = value_of_kinds(kinds, elapsed, signals), pooled_value(kinds, elapsed, signals)
    error = np.abs(pooled - exact) * kinds.change_rate / kinds.importance
    assert error.mean() < 0.01
    assert error.max() < 0.1


def test_edges_are_defined() -> None:
    kinds = SignalKinds(
        np.array([0.0, 0.5, 0.5, 0.5]),
        np.ones(4),
        np.array([[0.5, 0.2], [0.5, 0.5], [0.0, 0.0], [0.3, 0.3]]),
        np.array([[0.1, 0.1], [0.1, 0.1], [0.0, 1.0], [0.0, 0.2]]),
    )
    for n in (0.0, 1.0, 1e6):
        for elapsed in (0.0, 2.0, np.inf):
            value = value_of_kinds(kinds, np.full(4, elapsed), np.full((4, 2), n))
            assert value[0] == 0
            assert np.all((value[1:] >= 0) & (value[1:] <= 2 * (1 + 1e-9)))
