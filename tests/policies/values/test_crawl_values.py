"""The crawl values of 003: exact, stable, and ordered as the theory says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.values.greedy import greedy_value
from policies.values.greedy_cis import greedy_cis_value
from policies.values.greedy_ncis import (
    approximate_value,
    fetch_rate,
    greedy_ncis_value,
    interval_freshness,
    interval_length,
)
from policies.values.model import Floats, PageModel, fresh_probability, lost_nats

# change rate, recall, false-signal rate, elapsed, signals -> V, approx-2, psi, w; 60 digits, mpmath.
HARD = np.array(
    [
        (0.8, 0.6, 0.3, 2.0, 0, 0.27440016809859376, 0.27440016809859376, 1.0126460625631221, 0.808360765125151),
        (0.8, 0.6, 0.3, 2.0, 1, 0.69052036538475437, 0.69052036538475437, 1.8481885468925142, 1.0653418342230441),
        (0.1, 0.95, 0.5, 30.0, 12, 6.7337370588752534, 2.6967944770325702, 21.685166258807862, 9.048225665275901),
        (0.5, 0.6, 0.3, 1e-9, 0, 9.9999999966666685e-20, 9.9999999966666685e-20, 9.9999999970000006e-10, 9.9999999960000006e-10),
        (0.5, 0.6, 0.3, 1e-140, 1, 0.44270833333333333, 0.44270833333333333, 1.4583333333333333, 1.171875),
        (0.01, 0.3, 2.0, 25.0, 40, 2.3678365588548731, 0.20312743216979421, 23.512711714961207, 20.957136700571302),
        (1e-5, 0.7, 0.02, 400.0, 3, 0.28026492712091365, 0.18468817786291588, 237.18005142912066, 236.92730462625887),
        (2.0, 1e-11, 0.4, 1.5, 2, 0.40042586326949976, 0.3946666694941058, 1.500000000035, 0.47510646581781058),
        (0.5, 0.9999999999990905, 0.3, 7.0, 4, 1.8615722656250512, 1.6693115234375169, 5.8223124782817239, 1.9767107692237794),
        (0.5, 0.6, 1e-120, 3.0, 0, 0.46813475988448502, 0.46813475988448502, 1.978101134198003, 1.5537396797031403),
        (3.0, 0.2, 200.0, 0.7, 160, 0.21182274186185134, 0.0086287888104413055, 0.71964477102563197, 0.2948755194207656),
        (30.0, 0.5, 0.001, 0.1, 0, 0.02011710694245945, 0.02011710694245945, 0.05178935749296523, 0.031672874573849065),
    ]
)  # fmt: skip

rates = st.one_of(st.just(0.0), st.floats(-300, 6).map(lambda power: 10.0**power), st.floats(0, 50))
recalls = st.one_of(
    st.sampled_from([0.0, 1.0, 1.0 - 2.0**-53, 5e-324]),
    st.floats(0, 1),
    st.floats(-16, -1).map(lambda power: 1.0 - 10.0**power),
)
times = st.one_of(rates, st.just(np.inf), st.floats(0, 200).map(lambda power: 10.0**power))
counts = st.one_of(st.integers(0, 5), st.integers(0, 10**12))
pages = st.tuples(rates, recalls, rates, times, counts)


def of(page: tuple[float, float, float, float, int]) -> tuple[PageModel, float, int]:
    change_rate, recall, false_rate, elapsed, signals = page
    return PageModel.of(change_rate, 1.0, recall, false_rate), elapsed, signals


def hard() -> tuple[PageModel, Floats, Floats]:
    return PageModel.of(HARD[:, 0], 1.0, HARD[:, 1], HARD[:, 2]), HARD[:, 3], HARD[:, 4]


def test_value_interval_and_freshness_match_mpmath_to_twelve_digits() -> None:
    state = hard()
    np.testing.assert_allclose(greedy_ncis_value(*state), HARD[:, 5], rtol=1e-12)
    np.testing.assert_allclose(approximate_value(*state, terms=2), HARD[:, 6], rtol=1e-12)
    np.testing.assert_allclose(interval_length(*state), HARD[:, 7], rtol=1e-12)
    np.testing.assert_allclose(interval_freshness(*state), HARD[:, 8], rtol=1e-12)
    np.testing.assert_allclose(fetch_rate(*state), 1.0 / HARD[:, 7], rtol=1e-12)


def test_many_pages_at_once_give_what_each_gives_alone() -> None:
    model, elapsed, signals = hard()
    together = greedy_ncis_value(model, elapsed, signals)
    alone = [
        greedy_ncis_value(model.take(slice(i, i + 1)), elapsed[i], signals[i])[0]
        for i in range(len(HARD))
    ]
    np.testing.assert_array_equal(together, alone)


@settings(max_examples=300, deadline=None)
@given(pages)
def test_nothing_in_the_domain_is_undefined_and_no_value_passes_its_supremum(
    page: tuple[float, float, float, float, int],
) -> None:
    model, elapsed, signals = of(page)
    value = greedy_ncis_value(model, elapsed, signals)[0]
    parts = [
        approximate_value(model, elapsed, signals, terms=3)[0],
        interval_length(model, elapsed, signals)[0],
        interval_freshness(model, elapsed, signals)[0],
        greedy_cis_value(model, elapsed, signals)[0],
        greedy_value(model, elapsed)[0],
        fresh_probability(model, elapsed, signals)[0],
    ]
    assert value >= 0
    assert all(part >= 0 for part in parts)
    if page[0] > 1e-300:  # the supremum of slower pages is beyond the largest double
        assert value * page[0] <= 1 + 1e-12


moderate = st.tuples(
    st.floats(1e-4, 20), st.floats(0, 1), st.floats(0, 30), st.floats(0, 60), st.integers(0, 30)
)


@settings(max_examples=200, deadline=None)
@given(moderate, st.floats(1.0001, 3))
def test_waiting_longer_or_one_more_signal_never_lowers_the_value(
    page: tuple[float, float, float, float, int], factor: float
) -> None:
    model, elapsed, signals = of(page)
    value = greedy_ncis_value(model, elapsed, signals)[0]
    least = value * (1 - 1e-12)
    assert greedy_ncis_value(model, elapsed * factor, signals)[0] >= least
    assert greedy_ncis_value(model, elapsed, signals + 1)[0] >= least


@settings(max_examples=200, deadline=None)
@given(moderate)
def test_value_is_fresh_time_less_what_the_interval_would_have_at_the_current_freshness(
    page: tuple[float, float, float, float, int],
) -> None:
    model, elapsed, signals = of(page)
    w = interval_freshness(model, elapsed, signals)[0]
    psi = interval_length(model, elapsed, signals)[0]
    fresh = fresh_probability(model, elapsed, signals)[0]
    expected = w - (fresh * psi if fresh > 0 else 0.0)
    assert greedy_ncis_value(model, elapsed, signals)[0] == pytest.approx(
        expected, rel=1e-9, abs=1e-11 * (w + 1)
    )


@settings(max_examples=100, deadline=None)
@given(moderate, st.integers(1, 4))
def test_more_terms_never_lower_an_approximation_and_none_passes_the_value(
    page: tuple[float, float, float, float, int], terms: int
) -> None:
    model, elapsed, signals = of(page)
    fewer = approximate_value(model, elapsed, signals, terms=terms)[0]
    more = approximate_value(model, elapsed, signals, terms=terms + 1)[0]
    assert fewer <= more * (1 + 1e-12)
    assert more <= greedy_ncis_value(model, elapsed, signals)[0] * (1 + 1e-12)


@given(st.floats(1e-3, 10), st.floats(0, 50), st.floats(0, 2), st.integers(0, 9))
def test_worthless_signals_leave_greedy(
    change_rate: float, elapsed: float, false_rate: float, signals: int
) -> None:
    model = PageModel.of(change_rate, 2.0, 0.0, false_rate)
    greedy = greedy_value(model, elapsed)
    np.testing.assert_allclose(greedy_ncis_value(model, elapsed, signals), greedy, rtol=1e-14)
    np.testing.assert_allclose(greedy_cis_value(model, elapsed, 0), greedy, rtol=1e-14)


def test_recall_next_to_none_agrees_with_greedy() -> None:
    model = PageModel.of(0.5, 1.0, 1e-13, [0.3, 3.0, 300.0, 3e5])
    np.testing.assert_allclose(
        greedy_ncis_value(model, 7.0, 2), greedy_value(model, 7.0), rtol=1e-11
    )


def test_full_recall_has_the_closed_form_of_a_staircase() -> None:
    n, false_rate = np.arange(60.0), 0.7
    model = PageModel.of(np.full(60, 0.4), 1.0, 1.0, false_rate)
    q = false_rate / (false_rate + 0.4)
    expected = ((1 - q**n) / (1 - q) - n * q**n) / (false_rate + 0.4)
    np.testing.assert_allclose(greedy_ncis_value(model, 3.0, n), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("ratio", [1e3, 1e5, 1e7])
def test_washed_out_steps_and_the_sum_meet_where_one_takes_over_from_the_other(
    ratio: float,
) -> None:
    """V'(u) = exp(-u) psi must hold across the border between the sum and its limit."""
    model = PageModel.of(np.full(2000, 1.0), 1.0, 0.9, ratio)
    tau = np.geomspace(1e-4, 3.0, 2000) * 10.0
    u = lost_nats(model, tau, 0)
    value, psi = greedy_ncis_value(model, tau, 0), interval_length(model, tau, 0)
    slope = np.exp(-u) * psi
    steps = np.diff(value)
    trapezoids = 0.5 * (slope[1:] + slope[:-1]) * np.diff(u)
    np.testing.assert_allclose(steps, trapezoids, rtol=3e-3)


def test_a_certain_signal_is_worth_the_whole_supremum() -> None:
    model = PageModel.of([0.5, 0.25], 1.0, [0.6, 1.0], 0.0)
    np.testing.assert_allclose(greedy_ncis_value(model, 0.1, 1), [2.0, 4.0], rtol=1e-15)


def test_approximation_falls_short_by_the_power_of_false_signals() -> None:
    model = PageModel.of(0.2, 1.0, 0.7, 1.0)
    for terms in (1, 2, 3):
        supremum = (1 - (1.0 / 1.2) ** terms) / 0.2
        assert approximate_value(model, 1e6, 0, terms=terms)[0] == pytest.approx(
            supremum, rel=1e-12
        )


@pytest.mark.parametrize("change_rate", [1e-12, 1e-6, 1e-3])
def test_a_long_staircase_of_small_steps_keeps_its_digits(change_rate: float) -> None:
    """Full recall: V = q^n / gamma times the sum of exp(j b) - 1, j = 1..n."""
    n, false_rate = 500, 0.7
    model = PageModel.of(change_rate, 1.0, 1.0, false_rate)
    b = np.log1p(change_rate / false_rate)
    steps = np.expm1(b * np.arange(1, n + 1)).sum()
    expected = np.exp(-n * b) / (false_rate + change_rate) * steps
    assert greedy_ncis_value(model, 3.0, n)[0] == pytest.approx(expected, rel=1e-12)
