"""Written units: what is read is what was meant, and what is printed reads back as the same."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.config.units import Duration, Size, UnfitError

finite = st.floats(min_value=0, max_value=1e12, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0s", 0),
        ("250ms", 0.25),
        ("2s", 2),
        ("0.1s", 0.1),
        ("1m30s", 90),
        ("1m 30 s", 90),
        ("1.5h", 5400),
        ("24h", 86_400),
        ("1d", 86_400),
        ("1w2d", 777_600),
    ],
)
def test_a_duration_is_read_in_seconds(text: str, seconds: float) -> None:
    assert Duration(text) == seconds


@pytest.mark.parametrize("text", ["", "2", "s", "-2s", "2 parsecs", "30s1m", "1s1s", "1e3s", "٢s"])
def test_a_duration_without_a_clear_unit_is_refused(text: str) -> None:
    with pytest.raises(UnfitError, match="duration"):
        Duration(text)


@given(finite)
def test_a_printed_duration_reads_back_as_itself(seconds: float) -> None:
    assert Duration(str(Duration(seconds))) == seconds


@given(st.integers(0, 400), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_a_duration_is_the_sum_of_its_parts(days: int, hours: int, minutes: int, rest: int) -> None:
    total = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    assert Duration(f"{days}d{hours}h{minutes}m{rest}s") == float(total)


@pytest.mark.parametrize(
    ("text", "count"),
    [("0B", 0), ("100B", 100), ("32KB", 32_000), ("500KiB", 512_000), ("1.5MB", 1_500_000)],
)
def test_a_size_is_read_in_bytes(text: str, count: int) -> None:
    assert Size(text) == count


@pytest.mark.parametrize("text", ["", "8", "8mb", "-1MB", "1.0001KB0", "8 M", "0.5B"])
def test_a_size_without_a_clear_unit_is_refused(text: str) -> None:
    with pytest.raises(UnfitError):
        Size(text)


@given(st.integers(0, 2**60))
def test_a_printed_size_reads_back_as_itself(count: int) -> None:
    assert Size(str(Size(count))) == count


def test_the_usual_values_are_printed_as_people_write_them() -> None:
    durations = [str(Duration(text)) for text in ("2s", "90s", "24h", "250ms", "0s")]
    sizes = [str(Size(text)) for text in ("500KiB", "8MB", "1024B", "0B", "1001B")]
    assert durations == ["2s", "1m30s", "1d", "0.25s", "0s"]
    assert sizes == ["500KiB", "8MB", "1KiB", "0B", "1001B"]


def test_durations_and_sizes_count_as_plain_numbers() -> None:
    assert Duration("2s") + 1 == 3.0
    assert Size("1KB") * 2 == 2000


@pytest.mark.parametrize("value", [Duration("1m30s"), Size("8MB")])
def test_units_survive_copying(value: object) -> None:
    for twin in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert twin == value
        assert type(twin) is type(value)
