"""When, according to a sitemap or a feed, did a page change?  Text in, epoch seconds out, or None.

Sitemaps owe us the W3C's profile of ISO 8601 and feeds RFC 822; both deliver each other's and worse.  A time
without zone is read as UTC.  What can be read in two ways (03/04/2024) is not read.
"""

import calendar
import re
from datetime import UTC, datetime, timedelta

_ISO = re.compile(
    r"(\d{4})(?:[-/.]?(\d{1,2})(?:[-/.]?(\d{1,2}))?)?"
    r"(?:[T ]+(\d{1,2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)?"
    r"\s*(Z|UTC|GMT|[+-]\d{1,2}:?(?:\d{2})?)?(?:\[.*\])?",
    re.IGNORECASE,
)
_DAY_FIRST = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[T, ]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?"
)
_RFC822 = re.compile(
    r"(?:[a-z]{3,9}\.?,?\s+)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*\.?,?[\s-]+(\d{4}|\d{2})"
    r"(?:[\s,]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?\s*([a-z]{1,4}|[+-]\d{1,2}:?(?:\d{2})?)?(?:\s.*)?",
    re.IGNORECASE,
)
# What dates print by themselves: Unix, Java, JavaScript ("Tue Jan 02 2024 15:04:05 GMT+0100 (CET)").
_CTIME = re.compile(
    r"[a-z]{3},?\s+([a-z]{3})[a-z]*\s+(\d{1,2})\s+(?:(\d{4})\s+)?(\d{1,2}):(\d{2}):(\d{2})"
    r"(?:\s+([a-z]{1,4})?([+-]\d{4})?)?(?:\s+(\d{4}))?(?:\s.*)?",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(\d{10})(\d{3})?(?:\.\d*)?")
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_ZONES = {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
_ZONES |= {"CET": 1, "CEST": 2, "BST": 1, "MSK": 3, "JST": 9}

EARLIEST = 631_152_000.0  # 1990: before the web, so nobody's last change
LATEST = 4_102_444_800.0  # 2100


def parse_time(text: str | None) -> float | None:
    """Epoch seconds; None for what is no time, is ambiguous, or lies outside 1990 to 2100."""
    text = text.strip()[:64] if text else ""
    if not text or not text.isascii():
        return None
    try:
        found = _epoch(text) or _iso(text) or _rfc822(text) or _ctime(text) or _day_first(text)
    except (ValueError, OverflowError):  # the 31st of February, hour 25
        return None
    return found if found is not None and EARLIEST <= found < LATEST else None


def _epoch(text: str) -> float | None:
    found = _EPOCH.fullmatch(text)
    return float(found[1]) + int(found[2] or 0) / 1000 if found else None


def _iso(text: str) -> float | None:
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    part = float(f"0.{fraction}") if fraction else 0.0
    return _seconds(year, int(month or 1), day or 1, hour, minute, second, zone) + part


def _rfc822(text: str) -> float | None:
    found = _RFC822.fullmatch(text)
    if found is None:
        return None
    day, month, year, hour, minute, second, zone = found.groups()
    year = year if len(year) == 4 else f"20{year}"
    return _seconds(year, _MONTHS.get(month.lower(), 0), day, hour, minute, second, zone)


def _ctime(text: str) -> float | None:
    found = _CTIME.fullmatch(text)
    if found is None:
        return None
    month, day, early_year, hour, minute, second, zone, offset, late_year = found.groups()
    year = early_year or late_year or "0"
    return _seconds(year, _MONTHS.get(month.lower(), 0), day, hour, minute, second, offset or zone)


def _day_first(text: str) -> float | None:
    """31.12.2024 and 31/12/2024; with slashes or dashes only where no other order makes sense."""
    found = _DAY_FIRST.fullmatch(text)
    if found is None:
        return None
    day, mark, month, year, hour, minute, second = found.groups()
    if mark != "." and int(day) <= 12 and day != month:
        if int(month) <= 12:
            return None
        day, month = month, day
    return _seconds(year, int(month), day, hour, minute, second, None)


def _seconds(
    year: str,
    month: int,
    day: str | int,
    hour: str | None,
    minute: str | None,
    second: str | None,
    zone: str | None,
) -> float:
    """A leap second is the next one; hour 24 is the next day's 0."""
    midnight = datetime(int(year), month, int(day), tzinfo=UTC)
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if hours > 24 or minutes > 59 or seconds > 60:
        raise ValueError
    clock = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return (midnight + clock).timestamp() - _zone_seconds(zone)


def _zone_seconds(zone: str | None) -> int:
    if not zone:
        return 0
    if zone[0] not in "+-":
        return _ZONES.get(zone.upper(), 0) * 3600
    digits = zone[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    return (-1 if zone[0] == "-" else 1) * (int(hours) * 3600 + int(minutes) * 60)
