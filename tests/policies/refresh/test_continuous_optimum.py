"""The continuous optimum: budgets met, KKT conditions kept, and greedy slots come close to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.refresh.continuous_optimum import capped_optimum, continuous_optimum, thresholds
from policies.refresh.lambda_crawl import lambda_rates_continuous
from policies.refresh.low_discrepancy import EarliestDeadline
from policies.simulation.refresh import World, greedily, regular_slots, simulate
from policies.values.greedy_ncis import greedy_ncis_value
from policies.values.model import PageModel
from policies.values.table import ValueTable


def drawn(n_pages: int, seed: int, *, signals: bool) -> PageModel:
    rng = np.random.default_rng(seed)
    change_rate, importance = rng.random(n_pages), rng.random(n_pages)
    if not signals:
        return PageModel.of(change_rate, importance)
    recall, false_rate = rng.beta(0.25, 0.25, n_pages), rng.uniform(0.1, 0.6, n_pages)
    return PageModel.of(change_rate, importance, recall, false_rate)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1000), st.floats(-3, 2), st.booleans())
def test_the_budget_is_met_to_nine_digits(seed: int, log_budget: float, signals: bool) -> None:
    budget = 10.0**log_budget
    optimum = continuous_optimum(drawn(20, seed, signals=signals), budget)
    assert optimum.rates.sum() == pytest.approx(budget, rel=1e-9)
    assert np.all(optimum.rates >= 0)
    assert np.all((optimum.fresh_shares >= 0) & (optimum.fresh_shares <= 1))


def test_without_signals_it_is_lambda_crawls_continuous_form() -> None:
    model = drawn(200, 4, signals=False)
    rates = lambda_rates_continuous(model.importance, model.change_rate, 20.0)
    np.testing.assert_allclose(continuous_optimum(model, 20.0).rates, rates, atol=1e-12)


def test_every_page_is_fetched_at_the_level_or_never() -> None:
    model = drawn(200, 5, signals=True)
    optimum = continuous_optimum(model, 20.0)
    level = optimum.levels[0]
    u = thresholds(model, level)
    fetched = np.isfinite(u)
    np.testing.assert_array_equal(fetched, optimum.rates > 0)
    assert np.all((model.importance / model.change_rate)[~fetched] <= level)
    some = model.take(fetched)
    at_threshold = greedy_ncis_value(some, u[fetched] / some.unsignalled_rate, 0)
    np.testing.assert_allclose(at_threshold, level, rtol=1e-9)


def test_the_level_is_what_one_more_fetch_would_gain() -> None:
    model = drawn(40, 6, signals=True)
    step, total = 1e-3, model.importance.sum()
    low, high = (continuous_optimum(model, 6.0 + d) for d in (-step, step))
    gain = (high.freshness - low.freshness) * total / (2 * step)
    assert gain == pytest.approx(continuous_optimum(model, 6.0).levels[0], rel=1e-3)


def test_full_recall_and_certain_signals_have_an_optimum_too() -> None:
    full = PageModel.of(np.linspace(0.1, 1, 20), 1.0, 1.0, 0.2)
    certain = PageModel.of(np.linspace(0.1, 1, 20), 1.0, np.linspace(0, 1, 20), 0.0)
    for model in (full, certain):
        assert continuous_optimum(model, 5.0).rates.sum() == pytest.approx(5.0, rel=1e-9)
    all_signalled = PageModel.of(0.5, 1.0, 1.0, 0.0)
    optimum = continuous_optimum(all_signalled, 0.5)  # one fetch per change, at the moment of it
    assert optimum.freshness == pytest.approx(1.0, abs=1e-6)


def test_still_pages_are_fresh_for_nothing() -> None:
    optimum = continuous_optimum(PageModel.of([0.0, 0.5], 1.0), 1.0)
    np.testing.assert_allclose(optimum.rates, [0.0, 1.0])
    assert optimum.fresh_shares[0] == 1.0


def test_no_host_exceeds_its_cap_and_capped_hosts_have_higher_levels() -> None:
    model = drawn(120, 7, signals=True)
    host = np.arange(120) % 6
    cap = np.array([1.0, 1.0, 2.0, 9.0, 9.0, 9.0])
    optimum = capped_optimum(model, 20.0, host=host, host_cap=cap)
    load = np.bincount(host, optimum.rates)
    assert np.all(load <= cap * (1 + 1e-9))
    assert optimum.rates.sum() == pytest.approx(20.0, rel=1e-9)
    level = optimum.levels[host == 5][0]
    for h in range(6):
        is_capped = load[h] >= cap[h] * (1 - 1e-9)
        host_level = optimum.levels[host == h][0]
        assert host_level > level if is_capped else host_level == level
    assert optimum.freshness < continuous_optimum(model, 20.0).freshness


def test_earliest_deadline_keeps_every_page_within_one_fetch_of_its_rate() -> None:
    rates = np.array([0.05, 0.3, 0.65, 1.0, 2.0])
    schedule = EarliestDeadline(rates)
    counts = np.zeros(5)
    for now in regular_slots(4.0, 200.0):
        counts[schedule.next(now)] += 1
        assert np.all(np.abs(counts - rates * now) <= 1.0 + 1e-6)


@pytest.mark.parametrize(("signals", "gap"), [(False, 0.005), (True, 0.02)])
def test_greedy_among_ready_hosts_comes_close_to_the_capped_optimum(
    signals: bool, gap: float
) -> None:
    model = drawn(300, 8, signals=signals)
    host = np.arange(300) % 10
    cap = np.where(np.arange(10) < 4, 2.0, 8.0)
    bound = capped_optimum(model, 40.0, host=host, host_cap=cap).freshness
    outcome = simulate(
        World(model, host=host, host_delay=1.0 / cap),
        greedily(ValueTable(model, greedy_ncis_value)),
        slots=regular_slots(40.0, 100.0),
        edges=np.array([0.0, 50.0, 100.0]),
        rng=np.random.default_rng(1),
    )
    assert bound * (1 - gap) < outcome.expected[1] < bound * 1.005
