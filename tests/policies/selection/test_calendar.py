"""The calendar against a plain dictionary of due times."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.selection.calendar import BUCKETS, Calendar

moves = st.lists(
    st.tuples(
        st.integers(0, 9),  # row
        st.one_of(st.floats(0.0, 3.0 * BUCKETS), st.just(np.inf), st.just(np.nan)),  # delay
        st.floats(0.0, BUCKETS / 3),  # time that passes
    ),
    max_size=60,
)


@given(moves)
@settings(max_examples=200)
def test_every_due_row_is_near_and_none_that_was_dropped(
    steps: list[tuple[int, float, float]],
) -> None:
    calendar = Calendar(now=0.0, width=1.0)
    calendar.grow(10)
    expected: dict[int, float] = {}
    now = 0.0
    for row, delay, passed in steps:
        rows = np.array([row])
        if np.isnan(delay):
            calendar.drop(rows)
            expected.pop(row, None)
        else:
            calendar.put(rows, np.array([now + delay]))
            expected[row] = now + delay
        now += passed
        near, due_at = calendar.near(now)
        assert len(set(near.tolist())) == len(near)
        assert all(expected[r] == due for r, due in zip(near.tolist(), due_at, strict=True))
        assert {r for r, due in expected.items() if due <= now} <= set(near.tolist())
        assert all(expected[r] < now + 2.0 + 1e-9 for r in near.tolist())


def test_entries_of_moved_rows_do_not_pile_up() -> None:
    calendar = Calendar(now=0.0, width=1.0)
    calendar.grow(1000)
    rng = np.random.default_rng(1)
    rows = np.arange(1000)
    for tick in range(2000):
        moved = rng.choice(rows, 50, replace=False)
        calendar.put(moved, tick * 0.5 + rng.uniform(0, 40, 50))
        calendar.near(tick * 0.5)
    # 100,000 moves were made; 80 buckets with at most 127 parts of a few rows are left of them.
    assert calendar.nbytes() < 200_000
