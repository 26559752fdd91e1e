"""When a host may be asked again."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.config import Duration
from crawler.config.model import PolitenessSettings
from crawler.fetching.politeness import HostGate, HostPace

SETTINGS = PolitenessSettings(delay=Duration("2s"))


def test_the_delay_runs_from_the_end_of_a_fetch() -> None:
    gate = HostGate(SETTINGS)
    gate.started("shop", started_at=100.0)
    gate.succeeded("shop", ended_at=101.0, duration=1.0)
    assert gate.ready_at("shop") == 103.0


def test_crawl_delay_is_kept_to_the_second_when_it_is_longer() -> None:
    gate = HostGate(SETTINGS)
    gate.set_crawl_delay("shop", 7.0)
    gate.succeeded("shop", ended_at=100.0, duration=0.1)
    assert gate.ready_at("shop") == 107.0


def test_a_short_crawl_delay_does_not_shorten_our_own() -> None:
    gate = HostGate(SETTINGS)
    gate.set_crawl_delay("shop", 0.5)
    gate.succeeded("shop", ended_at=100.0, duration=0.1)
    assert gate.ready_at("shop") == 102.0


def test_retry_after_is_kept_to_the_second_even_when_shorter_than_the_back_off() -> None:
    gate = HostGate(SETTINGS)
    gate.refused("shop", ended_at=100.0, retry_after=13.0, jitter=0.9)
    assert gate.ready_at("shop") == 113.0


def test_back_off_starts_at_a_minute_doubles_and_stops_at_a_day() -> None:
    gate = HostGate(SETTINGS)
    waits: list[float] = []
    for _ in range(14):
        gate.refused("shop", ended_at=gate.ready_at("shop"), retry_after=None, jitter=0.0)
        waits.append(gate.ready_at("shop") - sum(waits))
    assert waits[:4] == [60.0, 120.0, 240.0, 480.0]
    assert waits[-1] == 86_400.0


def test_jitter_only_lengthens_the_back_off() -> None:
    gate = HostGate(SETTINGS)
    gate.refused("shop", ended_at=0.0, retry_after=None, jitter=0.5)
    assert gate.ready_at("shop") == 63.0


def test_a_success_after_a_back_off_starts_the_doubling_anew() -> None:
    gate = HostGate(SETTINGS)
    gate.refused("shop", ended_at=0.0, retry_after=None, jitter=0.0)
    gate.succeeded("shop", ended_at=60.0, duration=0.1)
    gate.refused("shop", ended_at=100.0, retry_after=None, jitter=0.0)
    assert gate.ready_at("shop") == 160.0


def test_failures_slow_us_down_and_successes_bring_the_delay_back() -> None:
    gate = HostGate(SETTINGS)
    gate.failed("shop", ended_at=0.0)
    assert gate.delay("shop") == 4.0
    for _ in range(10):
        gate.succeeded("shop", ended_at=10.0, duration=0.1)
    assert gate.delay("shop") == 2.0


def test_the_third_failure_in_a_row_closes_the_host_for_a_minute() -> None:
    gate = HostGate(SETTINGS)
    for _ in range(3):
        gate.failed("shop", ended_at=1000.0)
    assert gate.ready_at("shop") == 1060.0


def test_a_slow_host_is_asked_more_slowly() -> None:
    gate = HostGate(SETTINGS)
    gate.succeeded("shop", ended_at=100.0, duration=9.0)
    assert gate.delay("shop") == 9.0


def test_a_delay_of_zero_means_full_speed_whatever_the_answer_time() -> None:
    gate = HostGate(PolitenessSettings(delay=Duration("0s")))
    gate.succeeded("own", ended_at=100.0, duration=9.0)
    assert gate.ready_at("own") == 100.0


def test_a_restored_pace_is_as_polite_as_the_one_stored() -> None:
    gate = HostGate(SETTINGS)
    gate.restore("shop", HostPace(ready_at=500.0, crawl_delay=9.0))
    assert gate.ready_at("shop") == 500.0
    assert gate.delay("shop") == 9.0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ok", "failed", "refused"]),
            st.floats(0.0, 30.0),
            st.none() | st.floats(0.0, 1e5),
        ),
        max_size=30,
    ),
    st.floats(0.0, 60.0),
)
def test_no_host_is_ever_ready_within_its_delay(
    events: list[tuple[str, float, float | None]], crawl_delay: float
) -> None:
    gate = HostGate(SETTINGS)
    gate.set_crawl_delay("shop", crawl_delay)
    now = 0.0
    for kind, duration, retry_after in events:
        now = max(now, gate.ready_at("shop")) + duration
        if kind == "ok":
            gate.succeeded("shop", ended_at=now, duration=duration)
        elif kind == "failed":
            gate.failed("shop", ended_at=now)
        else:
            gate.refused("shop", ended_at=now, retry_after=retry_after, jitter=0.3)
        assert gate.ready_at("shop") >= now + max(2.0, crawl_delay)
        if kind == "refused" and retry_after is not None:
            assert gate.ready_at("shop") >= now + min(retry_after, 86_400.0)
