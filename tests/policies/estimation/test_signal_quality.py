"""Learning rates and signal quality from (elapsed, signals, changed)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import dblquad
from scipy.special import betaln, gammaln

from policies.estimation.pooled_fit import PooledFit
from policies.estimation.signal_quality import (
    Evidence,
    Floats,
    Posterior,
    Priors,
    _after_fetch,
    estimate,
    fit_priors,
    observe,
    posterior,
)

ONE = np.zeros(1, np.int64)


def fetched(
    rate: Floats,
    precision: Floats,
    group: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    *,
    fetches: int,
    seed: int,
    memory: float = np.inf,
    evidence: Evidence | None = None,
    fit: PooledFit | None = None,
) -> tuple[Evidence, Priors, PooledFit]:
    """Fetch every page at random times, with signals at rate 0.4, and learn."""
    rng = np.random.default_rng(seed)
    pages, groups = len(rate), int(group.max()) + 1
    evidence = evidence or Evidence.none(pages, kinds=1)
    fit = fit or PooledFit.start(groups, kinds=1, rate=0.1, worth=0.36)
    priors = fit_priors(evidence, fit, group)
    for _ in range(fetches):
        elapsed = rng.exponential(2.0, pages)
        signals = rng.poisson(0.4 * elapsed)[:, None].astype(float)
        quiet = np.exp(-rate * elapsed) * (1 - precision) ** signals[:, 0]
        changed = rng.random(pages) > quiet
        evidence = observe(
            evidence,
            priors,
            group,
            elapsed=elapsed,
            signals=signals,
            changed=changed,
            memory=memory,
        )
        fit = fit.remember(group, elapsed, signals, changed).refit()
        priors = fit_priors(evidence, fit, group)
    return evidence, priors, fit


def test_hosts_are_told_apart_with_a_dozen_fetches_per_page() -> None:
    group = np.repeat(np.arange(4), 50)
    rate = np.array([0.1, 0.1, 0.6, 0.6])[group]
    precision = np.array([0.1, 0.8, 0.1, 0.8])[group]
    evidence, priors, _ = fetched(rate, precision, group, fetches=12, seed=1)
    assert priors.mean_rate == pytest.approx([0.1, 0.1, 0.6, 0.6], rel=0.4)
    assert priors.mean_precision[:, 0] == pytest.approx([0.1, 0.8, 0.1, 0.8], abs=0.15)
    believed = estimate(evidence, priors, group)
    assert np.abs(np.log(believed.unsignalled_rate / rate)).mean() < 0.5


def test_a_page_unlike_its_host_is_believed_after_many_fetches() -> None:
    group = np.zeros(40, np.int64)
    rate = np.full(40, 0.1)
    rate[0] = 1.0
    evidence, priors, _ = fetched(rate, np.full(40, 0.3), group, fetches=80, seed=2)
    believed = estimate(evidence, priors, group).unsignalled_rate
    assert believed[0] > 0.5  # shrunk, but far from its siblings
    assert np.median(believed[1:]) == pytest.approx(0.1, rel=0.4)


def test_evidence_fades_so_that_a_site_which_turns_fast_is_followed() -> None:
    group = np.repeat(np.arange(2), 20)
    slow, fast, precision = np.full(40, 0.05), np.full(40, 0.4), np.full(40, 0.5)
    evidence, _, fit = fetched(slow, precision, group, fetches=40, seed=3, memory=30.0)
    evidence, priors, _ = fetched(
        fast, precision, group, fetches=30, seed=4, memory=30.0, evidence=evidence, fit=fit
    )
    assert estimate(evidence, priors, group).unsignalled_rate.mean() > 0.25


fetches = st.lists(
    st.tuples(st.floats(1e-9, 1e6), st.integers(0, 50), st.booleans()), min_size=1, max_size=40
)


@given(fetches)
@settings(max_examples=150)
def test_nothing_seen_makes_a_page_starve_or_blow_up(seen: list[tuple[float, int, bool]]) -> None:
    evidence, priors = Evidence.none(1, kinds=1), Priors.start(1, kinds=1, first_guess=0.1)
    fit = PooledFit.start(1, kinds=1, rate=0.1, worth=0.36)
    for elapsed, signals, changed in seen:
        evidence = observe(
            evidence,
            priors,
            ONE,
            elapsed=np.array([elapsed]),
            signals=np.array([[float(signals)]]),
            changed=np.array([changed]),
        )
        told = np.array([elapsed]), np.array([[float(signals)]]), np.array([changed])
        fit = fit.remember(ONE, *told).refit()
        priors = fit_priors(evidence, fit, ONE)
        believed = estimate(evidence, priors, ONE)
        for column in (believed.unsignalled_rate, believed.signal_worth, believed.signal_rate):
            assert np.all(np.isfinite(column) & (column > 0))
        assert np.all(believed.signal_recall <= 1 + 1e-12)


def test_a_changed_fetch_gives_the_moments_of_the_exact_posterior() -> None:
    before = Posterior(np.array([2.5]), np.array([4.0]), np.array([[1.2]]), np.array([[2.0]]))
    after = _after_fetch(before, np.array([3.0]), np.array([[2.0]]), np.array([True]))

    def density(p: float, al: float) -> float:
        gamma = np.exp(1.5 * np.log(al) - 4.0 * al + 2.5 * np.log(4.0) - gammaln(2.5))
        beta = np.exp(0.2 * np.log(p) + 1.0 * np.log1p(-p) - betaln(1.2, 2.0))
        return float(gamma * beta * (1 - np.exp(-al * 3.0) * (1 - p) ** 2))

    def moment(i: int, j: int) -> float:
        return float(dblquad(lambda p, al: al**i * p**j * density(p, al), 1e-9, 12, 1e-9, 1)[0])

    total = moment(0, 0)
    mean_al, mean_p = moment(1, 0) / total, moment(0, 1) / total
    variance_al = moment(2, 0) / total - mean_al**2
    variance_p = moment(0, 2) / total - mean_p**2
    size = float(after.true[0, 0] + after.false[0, 0])
    assert after.shape[0] / after.rate[0] == pytest.approx(mean_al, rel=1e-4)
    assert after.shape[0] / after.rate[0] ** 2 == pytest.approx(variance_al, rel=1e-4)
    assert after.true[0, 0] / size == pytest.approx(mean_p, rel=1e-4)
    assert mean_p * (1 - mean_p) / (size + 1) == pytest.approx(variance_p, rel=1e-3)


@given(arrays(np.float64, 3, elements=st.floats(0.01, 100.0)))
def test_an_unchanged_fetch_is_exact(elapsed: Floats) -> None:
    before = Posterior(np.full(3, 2.0), np.full(3, 5.0), np.ones((3, 1)), np.full((3, 1), 2.0))
    after = _after_fetch(before, elapsed, np.full((3, 1), 4.0), np.zeros(3, np.bool_))
    assert after.shape == pytest.approx(before.shape)
    assert after.rate == pytest.approx(5.0 + elapsed)
    assert after.false[:, 0] == pytest.approx(np.full(3, 6.0))


def test_a_change_that_was_to_be_expected_teaches_nothing() -> None:
    before = Posterior(np.array([3.0]), np.array([3.0]), np.array([[1.0]]), np.array([[1.0]]))
    after = _after_fetch(before, np.array([1e6]), np.zeros((1, 1)), np.array([True]))
    assert after.shape[0] == pytest.approx(3.0, rel=1e-3)
    assert after.rate[0] == pytest.approx(3.0, rel=1e-3)


def test_signals_heard_since_the_last_fetch_count_for_the_signal_rate() -> None:
    evidence, priors = Evidence.none(1, kinds=2), Priors.start(1, kinds=2, first_guess=0.1)
    waiting, elapsed = np.array([[40.0, 0.0]]), np.array([100.0])
    rate = estimate(evidence, priors, ONE, waiting=waiting, elapsed=elapsed).signal_rate
    assert rate[0, 0] == pytest.approx(0.35, rel=0.05)
    assert rate[0, 1] < 0.02


def test_quality_adds_up_to_the_model_of_the_crawl_values() -> None:
    """Delta = al + ga (1 - e^-b), nu = ga e^-b, recall = ga (1 - e^-b) / Delta, for every kind."""
    evidence, priors, _ = fetched(
        np.full(5, 0.3), np.full(5, 0.4), np.zeros(5, np.int64), fetches=5, seed=6
    )
    now = estimate(evidence, priors, np.zeros(5, np.int64))
    true_rate = now.signal_recall[:, 0] * now.change_rate
    assert true_rate + now.false_signal_rate[:, 0] == pytest.approx(now.signal_rate[:, 0])
    assert np.log1p(true_rate / now.false_signal_rate[:, 0]) == pytest.approx(
        now.signal_worth[:, 0]
    )
    assert now.change_rate - true_rate == pytest.approx(now.unsignalled_rate)


def test_a_new_prior_serves_pages_at_once() -> None:
    evidence = Evidence.none(2, kinds=1)
    group = np.array([0, 1])
    priors = Priors(
        np.array([0.1, 0.9]),
        np.full(2, 4.0),
        np.full((2, 1), 0.5),
        np.full((2, 1), 2.0),
        np.ones((2, 1)),
    )
    assert posterior(evidence, priors, group).shape / posterior(
        evidence, priors, group
    ).rate == pytest.approx([0.1, 0.9])


def test_a_change_found_at_once_is_one_event_more() -> None:
    before = Posterior(np.array([3.0]), np.array([3.0]), np.array([[1.0]]), np.array([[1.0]]))
    after = _after_fetch(before, np.array([1e-9]), np.zeros((1, 1)), np.array([True]))
    assert after.shape[0] == pytest.approx(4.0)
    assert after.rate[0] == pytest.approx(3.0)
