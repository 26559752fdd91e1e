"""Ranked lists under caps: laws for any input."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from policies.selection.caps import best_under_caps, rank_within

cases = st.integers(0, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.floats(0, 10), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.lists(st.integers(0, 6), min_size=5, max_size=5),
        st.integers(1, 30),
    )
)


@given(cases)
def test_budget_and_caps_hold_and_no_slot_is_lost(
    case: tuple[list[float], list[int], list[bool], list[int], int],
) -> None:
    value, host, lead = np.array(case[0]), np.array(case[1], np.int32), np.array(case[2], np.bool_)
    cap, budget = np.array(case[3]), case[4]
    chosen = best_under_caps(value, budget, lead=lead, host=host, host_cap=cap)
    taken = np.bincount(host[chosen], minlength=5)
    could = np.minimum(np.bincount(host, minlength=5), cap)
    assert len(set(chosen.tolist())) == len(chosen)
    assert np.all(taken <= cap)
    assert len(chosen) == min(budget, could.sum())
    for left in set(range(len(value))) - set(chosen.tolist()):
        open_host = taken[host[left]] < cap[host[left]]
        rivals = (
            chosen if open_host and len(chosen) == budget else chosen[host[chosen] == host[left]]
        )
        before = lead[rivals] > lead[left]
        alike = (lead[rivals] == lead[left]) & (value[rivals] >= value[left])
        assert np.all(before | alike) or (lead[left] and np.all(lead[rivals]))


def test_rank_counts_from_the_best_of_each_group() -> None:
    rank = rank_within(np.array([1, 0, 1, 1]), np.array([2.0, 9.0, 5.0, 3.0]))
    assert rank.tolist() == [2, 0, 0, 1]
