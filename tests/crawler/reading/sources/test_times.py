"""Time stamps as sitemaps and feeds write them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.sources.times import EARLIEST, LATEST, parse_time

DAY = datetime(2024, 1, 2, tzinfo=UTC).timestamp()
MOMENT = datetime(2024, 1, 2, 15, 4, 5, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC).timestamp()),
        ("2024-01", datetime(2024, 1, 1, tzinfo=UTC).timestamp()),
        ("2024-01-02", DAY),
        ("2024-01-02T15:04Z", MOMENT - 5),
        ("2024-01-02T15:04:05Z", MOMENT),
        ("2024-01-02T16:04:05+01:00", MOMENT),
        ("2024-01-02T15:04:05.25Z", MOMENT + 0.25),
        ("2024-01-02T10:04:05-05:00", MOMENT),
    ],
)
def test_the_forms_of_the_w3c_are_read(text: str, at: float) -> None:
    assert parse_time(text) == at


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-02 15:04:05",
        " 2024-01-02T15:04:05 ",
        "2024-01-02t15:04:05z",
        "2024-01-02T15:04:05+0000",
        "2024-01-02T15:04:05+00",
        "2024-01-02 15:04:05 UTC",
        "2024-01-02T15:04:05Z[UTC]",
        "2024-1-2T15:04:05Z",
        "2024/01/02 15:04:05",
        "20240102T150405Z",
        "1704207845",
        "1704207845000",
        "Tue, 02 Jan 2024 15:04:05 GMT",
        "Tue, 2 Jan 24 15:04:05 +0000",
        "02 Jan 2024 10:04:05 EST",
        "Tuesday, 02-Jan-24 15:04:05 UTC",
        "Tue Jan 02 15:04:05 UTC 2024",
        "Tue Jan  2 15:04:05 2024",
        "Tue Jan 02 2024 16:04:05 GMT+0100 (Central European Standard Time)",
        "02.01.2024 15:04:05",
        "2024-01-02T15:04:05,000Z",
    ],
)
def test_the_wrong_forms_met_in_the_wild_are_read_too(text: str) -> None:
    assert parse_time(text) == MOMENT


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2024-12-31T24:00:00Z", datetime(2025, 1, 1, tzinfo=UTC).timestamp()),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC).timestamp()),
        ("31/12/2024", datetime(2024, 12, 31, tzinfo=UTC).timestamp()),
        ("12/31/2024", datetime(2024, 12, 31, tzinfo=UTC).timestamp()),
    ],
)
def test_odd_but_clear_times_are_read(text: str, at: float) -> None:
    assert parse_time(text) == at


@pytest.mark.parametrize(
    "text",
    ["", " ", None, "0000-00-00", "2024-02-31", "2024-13-01", "2024-01-02T25:00Z", "03/04/2024", "never", "1970-01-01",
     "2124-01-01", "٢٠٢٤-01-02", "2024-01-02T15:04:05+99:99:99", "12", "Tue, 02 Foo 2024 15:04:05 GMT"],
)  # fmt: skip
def test_no_time_and_two_possible_times_are_none(text: str | None) -> None:
    assert parse_time(text) is None


@given(st.one_of(st.text(), st.text(alphabet="0123456789-:T +.Z/JanFeb,", max_size=40)))
def test_no_text_raises(text: str) -> None:
    at = parse_time(text)
    assert at is None or 6e8 < at < 4.2e9


@given(st.floats(EARLIEST, LATEST - 1))
def test_what_python_writes_is_read_back(at: float) -> None:
    assert parse_time(datetime.fromtimestamp(at, UTC).isoformat()) == pytest.approx(at, abs=1e-5)
