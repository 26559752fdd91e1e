"""Paired differences tell a real gap from noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.archives.compare import interval


def test_an_interval_of_independent_windows_holds_the_truth_about_19_times_in_20() -> None:
    rng = np.random.default_rng(1)
    held = [(gap := interval(rng.normal(0.3, 1.0, 30))).low <= 0.3 <= gap.high for _ in range(1000)]
    assert 0.92 < np.mean(held) < 0.98


def test_windows_alike_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0.0, 1.0, 200)
    walk = np.convolve(noise, np.ones(10) / 10**0.5, "valid")
    alone, alike = interval(rng.permutation(walk)), interval(walk)
    assert alike.high - alike.low > 2 * (alone.high - alone.low)


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=40))
def test_an_interval_lies_around_its_mean(values: list[float]) -> None:
    gap = interval(np.array(values))
    assert gap.low <= gap.mean <= gap.high


def test_two_windows_are_too_few_to_tell() -> None:
    gap = interval(np.array([0.1, 0.2]))
    assert gap.mean == pytest.approx(0.15)
    assert math.isnan(gap.low)
    assert not gap.is_sure
