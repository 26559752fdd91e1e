"""Exposure is the integral it says it is, for any age, clock and profile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policies.discovery.exposure import (
    Floats,
    exposure,
    exposure_by_hour,
    local_clock,
    local_hour,
)

ages = st.floats(0.0, 400.0)
clocks = st.floats(0.0, 23.999)
expiries = st.floats(2.0, 500.0)
profiles = arrays(np.float64, 24, elements=st.floats(0.0, 5.0))


def integrated(age: float, clock: float, profile: Floats, expiry: float) -> float:
    """The same hour by hour, backwards from now."""
    total, ago = 0.0, 0.0
    until = clock % 1.0  # back to the last full hour
    while ago < age:
        end = min(until, age)
        hour = int(np.floor(clock - (ago + end) / 2)) % 24
        total += profile[hour] * expiry * (np.exp(-ago / expiry) - np.exp(-end / expiry))
        ago, until = end, until + 1.0
    return float(total)


def one(age: float, clock: float, profile: Floats, expiry: float) -> float:
    return float(
        exposure(age=np.array([age]), clock=np.array([clock]), profile=profile, expiry=expiry)[0]
    )


@given(ages, clocks, profiles, expiries)
def test_the_closed_form_is_the_integral(
    age: float, clock: float, profile: Floats, expiry: float
) -> None:
    assert one(age, clock, profile, expiry) == pytest.approx(
        integrated(age, clock, profile, expiry), rel=1e-9, abs=1e-9
    )


@given(st.floats(0.0, 1e6), clocks, expiries)
def test_a_flat_day_gives_the_textbook_saturation(age: float, clock: float, expiry: float) -> None:
    expected = -expiry * np.expm1(-age / expiry)
    assert one(age, clock, np.ones(24), expiry) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(ages, ages, clocks, profiles, expiries)
def test_exposure_never_falls_with_age_and_is_bounded_by_its_limit(
    age: float, more: float, clock: float, profile: Floats, expiry: float
) -> None:
    younger, older = one(age, clock, profile, expiry), one(age + more, clock, profile, expiry)
    limit = one(np.inf, clock, profile, expiry)
    assert younger <= older * (1 + 1e-9) + 1e-9
    assert older <= limit * (1 + 1e-9) + 1e-9


@given(ages, clocks, profiles, expiries)
def test_the_parts_by_hour_of_day_add_up(
    age: float, clock: float, profile: Floats, expiry: float
) -> None:
    parts = exposure_by_hour(age=np.array([age]), clock=np.array([clock]), expiry=expiry)
    assert float(parts[0] @ profile) == pytest.approx(one(age, clock, profile, expiry), rel=1e-9)


def test_local_hours_follow_the_offset() -> None:
    eleven_at_night = 23 * 3600.0
    offsets = np.array([0.0, 3600.0, -7200.0, 5.5 * 3600.0])
    assert local_hour(eleven_at_night, offsets).tolist() == [23, 0, 21, 4]


@given(st.floats(-1e10, 1e10), st.floats(-50_000.0, 50_000.0))
def test_the_local_clock_stays_within_the_day(now: float, offset: float) -> None:
    clock = local_clock(now, np.array([offset]))
    assert 0.0 <= clock[0] < 24.0
