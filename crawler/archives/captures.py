"""What an archive holds: captures, where they lie, and what of it could not be read.  Data only."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import IntEnum

import xxhash


class ArchiveError(Exception):
    """An archive that cannot be used at all, or a recording that cannot go on; the message says why."""


class Kind(IntEnum):
    """What was recorded of a fetch."""

    RESPONSE = 0
    SAME_PAYLOAD = 1  # a revisit: headers of its own, the body of an earlier capture
    NOT_MODIFIED = 2  # a 304: the whole reply of an earlier capture
    FAILURE = 3  # no reply, by a name of `Outcome`


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record lies: bytes `offset` to `offset + length` of an archive file."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Capture:
    """One recorded fetch.  0 in `digest` or `validators` means unknown."""

    url: str
    at: float
    kind: Kind
    status: int
    place: Place
    duration: float = 0.0
    digest: int = 0
    validators: int = 0
    is_html: bool = False
    refers_to: str = ""  # the URL whose body a revisit repeats


@dataclass(slots=True)
class Contents:
    """What was met in an archive file: records by type, and what could not be used, by reason."""

    records: Counter[str] = field(default_factory=Counter)
    troubles: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A capture as read back: the reply as recorded, its body still content-encoded."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    failure: str = ""  # the outcome's name, when there was no reply
    note: str = ""


class UnreadableError(ValueError):
    """A record that cannot be read; the message is the reason it is counted under."""


def hash_text(text: str) -> int:
    """63 bits, so that they fit any column; never 0, which means unknown."""
    return (xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) >> 1) or 1


def hash_validators(etag: str | None, last_modified: str | None) -> int:
    return hash_text(f"{etag or ''}\n{last_modified or ''}") if etag or last_modified else 0


def moment(text: str) -> float:
    """Epoch seconds of an ISO 8601 date or of the 14 digits (and more) of ARC and CDX."""
    try:
        if text[:14].isdigit():
            return _of_digits(text)
        parsed = datetime.fromisoformat(text)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise UnreadableError("a record without a date that can be read") from None


def _of_digits(text: str) -> float:
    parts = (text[0:4], text[4:6], text[6:8], text[8:10], text[10:12], text[12:14])
    year, month, day, hour, minute, second = map(int, parts)
    whole = datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    fraction = text[14:20]
    return whole + int(fraction) / 10 ** len(fraction) if fraction.isdigit() else whole
