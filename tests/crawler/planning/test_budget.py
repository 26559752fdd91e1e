"""The budget is never exceeded, in any window, whatever the order of things."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawler.config.model import BudgetSettings
from crawler.planning.budget import UNLIMITED, Allowance, Budget

HOUR, DAY = 3600.0, 86_400.0


def allowance(tick: float = 60.0, **limits: int) -> Allowance:
    return Allowance.of(BudgetSettings(**limits), tick=tick)


LIMIT = st.none() | st.integers(1, 20)
TIMES = st.lists(st.floats(0.0, 2 * DAY), max_size=200).map(sorted)


@given(TIMES, st.tuples(LIMIT, LIMIT, LIMIT), LIMIT, st.sampled_from([10.0, 60.0, 7.3]))
def test_no_window_ever_sees_more_than_its_limit(
    times: list[float],
    limits: tuple[int | None, int | None, int | None],
    site_limit: int | None,
    tick: float,
) -> None:
    settings = BudgetSettings(per_tick=limits[0], per_hour=limits[1], per_day=limits[2])
    site = Allowance.of(BudgetSettings(per_hour=site_limit), tick=tick)
    budget = Budget(Allowance.of(settings, tick=tick), {1: site})
    spent = [(number % 2, at) for number, at in enumerate(times) if budget.take(number % 2, at)]
    for length, limit in zip((tick, HOUR, DAY), limits, strict=True):
        windows = Counter(int(at // length) for _, at in spent)
        assert limit is None or all(count <= limit for count in windows.values())
    windows = Counter(int(at // HOUR) for site_id, at in spent if site_id == 1)
    assert site_limit is None or all(count <= site_limit for count in windows.values())


@given(st.lists(st.floats(0.0, DAY), max_size=50).map(sorted), st.floats(0.0, DAY))
def test_a_restart_remembers_what_was_spent(times: list[float], now: float) -> None:
    """Spending and being told of it afterwards leave the same."""
    limits = {"per_tick": 3, "per_hour": 10, "per_day": 30}
    live, restored = Budget(allowance(**limits), {}), Budget(allowance(**limits), {})
    for at in times:
        if live.take(1, at):
            restored.restore(1, at)
    later = max([now, *times])
    assert live.overall.left(later) == restored.overall.left(later)
    assert live.plannable(later) == restored.plannable(later)


def test_a_site_without_room_does_not_cost_the_others_anything() -> None:
    budget = Budget(allowance(per_hour=10), {1: allowance(per_hour=1)})
    assert budget.take(1, 0.0)
    assert not budget.take(1, 1.0)
    assert budget.overall.left(1.0) == 9
    assert budget.take(2, 1.0)


def test_an_hours_fetches_are_spread_over_the_hour() -> None:
    hourly = allowance(tick=60.0, per_hour=120)
    assert hourly.plannable(0.0) == 2
    assert hourly.plannable(1800.0) == 62
    assert hourly.plannable(3599.0) == 120


def test_without_limits_only_politeness_holds() -> None:
    assert allowance().plannable(0.0) == UNLIMITED
    assert allowance().left(0.0) == UNLIMITED


def test_a_new_window_begins_with_all_of_its_fetches() -> None:
    budget = Budget(allowance(per_hour=2), {})
    taken = [budget.take(1, at) for at in (0.0, 1.0, 2.0, HOUR, HOUR + 1.0, HOUR + 2.0)]
    assert taken == [True, True, False, True, True, False]
