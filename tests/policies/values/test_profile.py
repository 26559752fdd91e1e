"""The profile's integrals, their inverses, and the Poisson case in closed form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from policies.values.profile import BIN_WIDTH, BINS, Floats, HazardProfile

thetas = arrays(np.float64, (2, BINS), elements=st.floats(0.01, 20.0))
ages = arrays(np.float64, 6, elements=st.floats(0.0, 8.0))
WHICH = np.array([0, 1, 0, 1, 0, 1])


@given(thetas, ages)
def test_age_undoes_hazard(theta: Floats, age: Floats) -> None:
    profile = HazardProfile.of(theta)
    assert profile.age(WHICH, profile.hazard(WHICH, age)) == pytest.approx(age, abs=1e-9)


@given(thetas, arrays(np.float64, 6, elements=st.floats(1e-9, 12.0)))
def test_hazard_worth_undoes_value(theta: Floats, hazard: Floats) -> None:
    profile = HazardProfile.of(theta)
    value = profile.value(WHICH, hazard)
    back = profile.value(WHICH, profile.hazard_worth(WHICH, value))
    assert back == pytest.approx(value, rel=1e-9, abs=1e-15)


@given(thetas, arrays(np.float64, 6, elements=st.floats(0.0, 30.0)))
def test_value_rises_with_hazard_and_stays_below_the_mean_gap(
    theta: Floats, hazard: Floats
) -> None:
    profile = HazardProfile.of(theta)
    hazard = np.sort(hazard)
    value = profile.value(np.zeros(6, np.int64), hazard)
    mean_gap = profile.unchanged[0, -1] + np.exp(-profile.spent[0, -1]) / theta[0, -1]
    assert np.all(np.diff(value) >= -1e-14)
    assert np.all((value >= 0) & (value <= mean_gap * (1 + 1e-12)))


def test_value_is_the_integral_of_its_definition() -> None:
    theta = np.linspace(0.2, 3.0, BINS)[None, :]
    profile, which = HazardProfile.of(theta), np.zeros(1, np.int64)
    for age in (0.05, 0.4, 1.0, 2.7, 4.0):
        edges = np.arange(0.0, age, BIN_WIDTH).tolist()
        survival = quad(lambda u: _survival(profile, u), 0.0, age, points=edges, limit=200)[0]
        hazard = profile.hazard(which, np.array([age]))
        expected = survival - age * float(np.exp(-hazard[0]))
        assert profile.value(which, hazard)[0] == pytest.approx(expected, rel=1e-9)


def _survival(profile: HazardProfile, age: float) -> float:
    return float(np.exp(-profile.hazard(np.zeros(1, np.int64), np.array([age]))[0]))


def test_a_flat_profile_is_greedy() -> None:
    profile = HazardProfile.of(np.ones((1, BINS)))
    hazard = np.geomspace(1e-6, 40.0, 50)
    series = hazard**2 / 2 - hazard**3 / 3 + hazard**4 / 8 - hazard**5 / 30
    expected = np.where(hazard < 1e-2, series, 1 - (1 + hazard) * np.exp(-hazard))
    assert profile.value(np.zeros(50, np.int64), hazard) == pytest.approx(expected, rel=1e-10)


def test_a_value_beyond_the_mean_gap_is_never_reached() -> None:
    profile = HazardProfile.of(np.ones((1, BINS)))
    due = profile.hazard_worth(np.zeros(3, np.int64), np.array([0.999, 1.0, 7.0]))
    assert np.isfinite(due[0])
    assert np.all(np.isinf(due[1:]))
