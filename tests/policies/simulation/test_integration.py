"""Fresh time from event logs, whole or in pieces."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from policies.simulation.integration import Ledger
from policies.values.model import Floats, PageModel

MODEL = PageModel.of([0.5, 0.8], [1.0, 3.0], [0.4, 0.5], [0.2, 0.3])
FETCHED_AT, FETCHED = np.array([2.0, 5.0, 6.0]), np.array([0, 1, 0])
EVENT_AT, EVENT_PAGE = np.array([1.0, 3.0, 4.0, 5.5, 7.0]), np.array([0, 1, 0, 0, 1])


def between(start: float, end: float, at: Floats) -> np.typing.NDArray[np.bool_]:
    return (at > start) & (at <= end)


def pieces(edges: list[float], *, likely: bool) -> float:
    ledger, total = Ledger.fresh(MODEL), 0.0
    integrate = ledger.likely_time if likely else ledger.fresh_time
    for start, end in itertools.pairwise(edges):
        fetches, events = between(start, end, FETCHED_AT), between(start, end, EVENT_AT)
        total += integrate(
            start, end, FETCHED_AT[fetches], FETCHED[fetches], EVENT_AT[events], EVENT_PAGE[events]
        )
    return total


def test_fresh_time_is_from_each_fetch_to_the_next_change() -> None:
    first = 1.0 + (4.0 - 2.0) + (8.0 - 6.0)  # changed at 1, 4, 5.5; fetched at 2, 6
    second = 3.0 + (7.0 - 5.0)  # changed at 3, 7; fetched at 5
    assert pieces([0.0, 8.0], likely=False) == pytest.approx(first + 3 * second, rel=1e-12)


@pytest.mark.parametrize("likely", [False, True])
def test_a_cut_in_time_changes_nothing(likely: bool) -> None:
    whole = pieces([0.0, 8.0], likely=likely)
    for cut in (0.5, 2.0, 3.5, 4.5, 5.7, 7.5):
        assert pieces([0.0, cut, 8.0], likely=likely) == pytest.approx(whole, rel=1e-12)


def test_likely_time_integrates_the_probability_of_freshness() -> None:
    step = 1e-4
    at = np.arange(0.0, 8.0, step) + step / 2
    total = 0.0
    for page in (0, 1):
        fetches = np.append(0.0, FETCHED_AT[page == FETCHED])
        signals = EVENT_AT[page == EVENT_PAGE]
        last = fetches[np.searchsorted(fetches, at) - 1]
        heard = np.searchsorted(signals, at) - np.searchsorted(signals, last)
        u = MODEL.unsignalled_rate[page] * (at - last) + MODEL.signal_worth[page] * heard
        total += MODEL.importance[page] * float(np.exp(-u).sum()) * step
    assert pieces([0.0, 8.0], likely=True) == pytest.approx(total, rel=1e-3)
