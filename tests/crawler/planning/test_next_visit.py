"""When a page may be fetched again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetching.outcome import MEANING, Next, Outcome
from crawler.planning.next_visit import not_before

DAY = 86_400.0


def test_every_outcome_has_a_meaning() -> None:
    assert set(MEANING) == set(Outcome)


@given(st.sampled_from(list(Outcome)), st.integers(1, 10_000), st.floats(1.0, 1e6))
def test_no_page_is_fetched_again_at_once_and_none_waits_for_ever(
    outcome: Outcome, failures: int, revisit: float
) -> None:
    wait = not_before(outcome, now=1e9, failures=failures, revisit=revisit) - 1e9
    assert wait >= min(60.0, revisit) - 1e-6
    assert wait <= max(30 * DAY, revisit) + 1e-6 or MEANING[outcome].next is Next.DROP


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.SERVER_ERROR, Outcome.WALL])
def test_retries_start_at_a_minute_double_and_stop_at_a_day(outcome: Outcome) -> None:
    waits = [not_before(outcome, now=0.0, failures=n, revisit=1.0) for n in (1, 2, 3, 12, 1000)]
    assert waits == [60.0, 120.0, 240.0, DAY, DAY]


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.ROBOTS, Outcome.REDIRECTED])
def test_a_page_that_is_no_use_rests_a_day_then_longer(outcome: Outcome) -> None:
    waits = [not_before(outcome, now=0.0, failures=n, revisit=1.0) for n in (1, 2, 6, 1000)]
    assert waits == [DAY, 2 * DAY, 30 * DAY, 30 * DAY]


def test_a_believed_page_is_due_after_the_revisit_time() -> None:
    assert not_before(Outcome.OK, now=100.0, failures=1, revisit=30.0) == 130.0
