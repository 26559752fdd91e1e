"""Plain maximum likelihood and naive counts: right with much data, and wrong in the known ways."""

import numpy as np
import pytest

from policies.estimation import mle, naive
from policies.estimation.importance import clicks_from_impressions, demand_rates, importance
from policies.estimation.signal_quality import Floats


def history(
    rate: float, precision: float, *, fetches: int, seed: int, false_rate: float = 0.3
) -> tuple[Floats, Floats, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    rng = np.random.default_rng(seed)
    elapsed = rng.exponential(1.5, fetches)
    signals = rng.poisson(false_rate / (1 - precision) * elapsed).astype(float)
    changed = rng.random(fetches) > np.exp(-rate * elapsed) * (1 - precision) ** signals
    return elapsed, signals, changed


def test_maximum_likelihood_finds_the_truth_from_long_histories() -> None:
    elapsed, signals, changed = history(0.3, 0.6, fetches=20_000, seed=1)
    al, b = mle.fit(np.zeros(20_000, np.intp), elapsed, signals, changed, pages=1)
    assert al[0] == pytest.approx(0.3, rel=0.05)
    assert b[0] == pytest.approx(-np.log(0.4), rel=0.05)


def test_maximum_likelihood_is_at_least_as_likely_as_the_truth() -> None:
    page = np.repeat(np.arange(50), 30)
    parts = [history(0.2, 0.5, fetches=30, seed=s) for s in range(50)]
    elapsed, signals, changed = (np.concatenate(column) for column in zip(*parts, strict=True))
    al, b = mle.fit(page, elapsed, signals, changed, pages=50)
    best = mle.log_likelihood(al, b, page, elapsed, signals, changed)
    truth = mle.log_likelihood(
        np.full(50, 0.2), np.full(50, -np.log(0.5)), page, elapsed, signals, changed
    )
    assert np.all(best >= truth - 1e-6)


def test_plain_maximum_likelihood_believes_that_unchanged_pages_never_change() -> None:
    none = np.zeros(3)
    al, _ = mle.fit(np.zeros(3, np.intp), np.ones(3), none, none.astype(bool), pages=1)
    assert al[0] == pytest.approx(0.0, abs=1e-9)


def test_naive_precision_is_too_high() -> None:
    elapsed, signals, changed = history(0.5, 0.3, fetches=20_000, seed=2)
    counts = naive.Counts.none(1).add(np.zeros(20_000, np.intp), elapsed, signals, changed)
    assert counts.estimate().signal_precision[0, 0] > 0.3 + 0.1


def test_demand_is_shrunk_to_the_group_and_kept_where_it_is_sure() -> None:
    group = np.array([0, 0, 0, 1, 1, 1])
    clicks = np.array([1000.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    rates = demand_rates(clicks, np.full(6, 10.0), group)
    assert rates[0] == pytest.approx(100.0, rel=0.05)
    assert rates[1] > rates[3]  # a sibling of a favourite, not yet clicked
    assert np.all(rates > 0)


def test_demand_without_any_events_is_equal() -> None:
    rates = demand_rates(np.zeros(4), np.ones(4), np.zeros(4, np.int64))
    assert np.ptp(importance(rates, np.ones(4))) == 0


def test_impressions_stand_in_for_clicks_that_are_too_few() -> None:
    clicks, impressions = np.array([50.0, 0.0]), np.array([1000.0, 10.0])
    rate = clicks_from_impressions(clicks, impressions, np.array([100.0, 100.0]))
    assert rate[0] == pytest.approx(5.0, rel=0.05)
    assert 2.0 < rate[1] < 5.0


def test_importance_keeps_its_mean_and_leaves_no_page_worthless() -> None:
    worth = importance(np.array([0.0, 1.0, 99.0]), np.array([1.0, 1.0, 1.0]))
    assert worth.mean() == pytest.approx(1.0)
    assert worth.min() > 0
    assert importance(np.ones(2), np.array([3.0, 1.0])) == pytest.approx([1.5, 0.5])
