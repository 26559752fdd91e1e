"""LambdaCrawl is the optimum it claims to be: budget met, KKT conditions hold, nothing beats it."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammainc

from policies.refresh.lambda_crawl import (
    lambda_rates_capped,
    lambda_rates_continuous,
    lambda_rates_per_step,
    lambda_rates_poisson,
)
from policies.refresh.pages import FloatArray

Solver = Callable[[FloatArray, FloatArray, float], FloatArray]
RATE_SOLVERS = [lambda_rates_poisson, lambda_rates_continuous]
N_PAGES = 6


def column(low: float, high: float) -> st.SearchStrategy[FloatArray]:
    values = st.lists(st.floats(low, high), min_size=N_PAGES, max_size=N_PAGES)
    return values.map(np.array)


# Reference values computed with 50 digits; mu 0 and D close to 0 or 1 included.
IMPORTANCE = np.array([5.0, 1.0, 0.2, 0.01, 0.3, 0.0, 2.0])
CHANGE = np.array([0.05, 0.5, 0.9, 0.3, 1e-6, 0.2, 0.999999])


def test_per_step_rates_match_high_precision_values() -> None:
    assert lambda_rates_per_step(IMPORTANCE, CHANGE, 0.5) == pytest.approx(
        [0.319529766, 0, 0, 0, 0.000386299, 0, 0.180083935], abs=1e-9
    )
    assert lambda_rates_per_step(IMPORTANCE, CHANGE, 3.0) == pytest.approx(
        [0.998906692, 1, 0, 0, 0.001093308, 0, 1], abs=1e-9
    )


def test_poisson_rates_match_high_precision_values() -> None:
    assert lambda_rates_poisson(IMPORTANCE, CHANGE, 0.5) == pytest.approx(
        [0.340942736, 0.05287652, 0, 0, 0.000427256, 0, 0.105753487], abs=1e-9
    )
    assert lambda_rates_poisson(IMPORTANCE, CHANGE, 3.0) == pytest.approx(
        [0.817702171, 0.727116179, 0, 0, 0.00094952, 0, 1.45423213], abs=1e-8
    )


@given(mu=column(1e-9, 1e9), change=column(1e-9, 1.0), budget=st.floats(0.01, 5.99))
def test_the_per_step_budget_is_met_even_where_pages_change_every_tick(
    mu: FloatArray, change: FloatArray, budget: float
) -> None:
    rates = lambda_rates_per_step(mu, change, budget)
    assert np.all((rates >= 0.0) & (rates <= 1.0))
    assert rates.sum() == pytest.approx(budget, rel=1e-9)


@pytest.mark.parametrize("solve", RATE_SOLVERS)
@given(mu=column(1e-6, 1e6), change=column(1e-9, 1e6), budget=st.floats(1e-3, 1e6))
def test_the_rate_budget_is_met_over_fifteen_decades_of_change_rates(
    solve: Solver, mu: FloatArray, change: FloatArray, budget: float
) -> None:
    assert solve(mu, change, budget).sum() == pytest.approx(budget, rel=1e-9)


@given(mu=column(0.01, 100.0), change=column(0.001, 0.99), budget=st.floats(0.1, 5.9))
def test_per_step_no_fetch_can_be_moved_to_a_better_page(
    mu: FloatArray, change: FloatArray, budget: float
) -> None:
    rates = lambda_rates_per_step(mu, change, budget)
    # d/d rate of mu * rate / (rate + D - rate * D)
    gain = mu * change / (rates + change - rates * change) ** 2
    could_give, could_take = gain[rates > 1e-9], gain[rates < 1.0 - 1e-9]
    assert could_take.max(initial=0.0) <= could_give.min(initial=np.inf) * (1 + 1e-6)


@given(mu=column(0.01, 100.0), change=column(0.001, 10.0), budget=st.floats(0.1, 50.0))
def test_the_next_fetch_is_worth_the_same_on_every_page_fetched(
    mu: FloatArray, change: FloatArray, budget: float
) -> None:
    rates = lambda_rates_continuous(mu, change, budget)
    fetched = rates > 0.0
    worth = mu[fetched] / change[fetched] * gammainc(2.0, change[fetched] / rates[fetched])
    assert worth == pytest.approx(worth[0], rel=1e-9)
    assert (mu / change)[~fetched].max(initial=0.0) <= worth[0] * (1 + 1e-9)


def freshness(mu: FloatArray, change: FloatArray, rates: FloatArray) -> float:
    """Click-weighted freshness of evenly spaced fetches: mu * (1 - exp(-x)) / x, x = Delta / rate."""
    x = change / np.maximum(rates, 1e-12)
    return float((mu * -np.expm1(-x) / x).sum())


def test_even_spacing_beats_the_poisson_rates_and_any_nearby_split() -> None:
    rng = np.random.default_rng(5)
    mu, change = rng.pareto(1.5, 50) + 0.1, rng.gamma(0.6, 1.0, 50) + 1e-3
    best = lambda_rates_continuous(mu, change, 20.0)
    assert freshness(mu, change, best) > freshness(
        mu, change, lambda_rates_poisson(mu, change, 20.0)
    )
    for _ in range(50):
        other = np.maximum(best + rng.normal(0, 0.05, 50), 0.0)
        assert freshness(mu, change, best) > freshness(mu, change, other * 20.0 / other.sum())


def test_the_printed_table_goes_negative_where_ours_stops_at_zero() -> None:
    """000 Table 2 without KKT handling at a tight budget, the minus sign moved out of the root."""
    rng = np.random.default_rng(3)
    mu, change = rng.pareto(1.2, 1000) + 0.01, rng.beta(0.5, 5.0, 1000) + 1e-4
    steady = 1 - change
    root = np.sqrt(mu * change)
    multiplier = ((root / steady).sum() / (10.0 + (change / steady).sum())) ** 2
    printed = (root / np.sqrt(multiplier) - change) / steady
    assert printed.sum() == pytest.approx(10.0)
    assert (printed < 0).mean() > 0.3
    assert np.clip(printed, 0, 1).sum() > 2 * 10.0
    assert lambda_rates_per_step(mu, change, 10.0).sum() == pytest.approx(10.0, rel=1e-12)


@given(
    mu=column(0.01, 100.0),
    change=column(0.001, 10.0),
    budget=st.floats(0.1, 20.0),
    cap=st.lists(st.floats(0.1, 5.0), min_size=3, max_size=3).map(np.array),
)
def test_no_host_exceeds_its_cap_and_free_hosts_share_one_level(
    mu: FloatArray, change: FloatArray, budget: float, cap: FloatArray
) -> None:
    host = np.array([0, 0, 1, 1, 2, 2])
    rates = lambda_rates_capped(mu, change, budget, host=host, host_cap=cap)
    load = np.bincount(host, rates, minlength=3)
    assert np.all(load <= cap * (1 + 1e-9))
    assert rates.sum() == pytest.approx(min(budget, cap.sum()), rel=1e-9)
    fetched = rates > 0.0
    worth = np.where(fetched, mu / change, 0.0)
    worth[fetched] *= gammainc(2.0, change[fetched] / rates[fetched])
    free = fetched & (load < cap * (1 - 1e-9))[host]
    capped = fetched & ~free
    if free.any():
        assert worth[free] == pytest.approx(worth[free][0], rel=1e-8)
        assert np.all(worth[capped] >= worth[free][0] * (1 - 1e-8))
