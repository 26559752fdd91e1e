"""Addresses that never end: which new ones are not worth knowing, and why.

A site can make endless pages by mistake: a relative link that grows, a calendar, every combination of filters.
Each refusal has a name, so that `status` can count it.  The counts of what is known already are passed in.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from crawler.reading.text.words import words


class Trap(StrEnum):
    """Why an address was not taken up."""

    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    REPEATED_SEGMENTS = "repeated_segments"
    GROWING_PATH = "growing_path"
    CALENDAR = "calendar"
    FACETS = "facets"
    SESSION_ID = "session_id"
    PATTERN_CAP = "pattern_cap"
    HOST_CAP = "host_cap"


@dataclass(frozen=True, slots=True)
class TrapRules:
    """Limits for one site; generous, because a wrong refusal loses a page for good."""

    max_length: int = 1024
    max_segments: int = 16
    max_repeats: int = 3
    max_facets: int = 4
    pages_per_calendar: int = 200
    pages_per_pattern: int = 100_000
    pages_per_host: int = 1_000_000


DEFAULT_TRAPS = TrapRules()

_Parameters = list[tuple[str, str, str]]  # name, "=", value

# Parameters that choose a page rather than narrow a list.
_CHOOSING = words(
    "id pid sku item product product_id productid prod variant v cat category"
    " page p q query search s lang language locale currency country"
)
_CALENDAR_NAMES = words(
    "date day month year week yr mon datum from to start end start_date end_date"
)
_DATE_VALUE = re.compile(r"(?:19|20)\d\d(?:[-_/.]?\d{1,2}){0,2}|\d{1,2}")
_DATE_PATH = re.compile(
    r"/(?:19|20)\d\d(?:[-/](?:0?[1-9]|1[0-2])(?:[-/](?:0?[1-9]|[12]\d|3[01]))?|/?week-?\d+)/?$"
)
_SESSION_NAME = re.compile(
    r"(?:.*[_-])?(?:sid|sess|session|sessid|session_?id|phpsessid|jsessionid)", re.IGNORECASE
)
_SESSION_VALUE = re.compile(
    r"(?=[^=]*\d)(?:[0-9a-f]{16,}|(?=.*[a-z])[A-Za-z0-9_-]{24,})", re.IGNORECASE
)
_SESSION_PATH = re.compile(r"/\([A-Z]\([a-z0-9]{20,}\)\)/|;[a-z_]+=[0-9a-f.]{16,}", re.IGNORECASE)


def trap(
    url: str,
    *,
    source: str | None = None,
    pattern_pages: int = 0,
    host_pages: int = 0,
    rules: TrapRules = DEFAULT_TRAPS,
) -> Trap | None:
    """The reason not to take up a new canonical URL, found on page `source`; None for a good one.

    `pattern_pages` and `host_pages` count the pages known with the same pattern and on the same host.
    """
    if len(url) > rules.max_length:
        return Trap.TOO_LONG
    path, _, query = url.partition("?")
    segments = [segment for segment in path.split("/")[3:] if segment]
    parameters = [part.partition("=") for part in query.split("&") if part]
    return (
        _path_trap(segments, rules)
        or _growth(segments, source)
        or _session(path, parameters)
        or _query_trap(parameters, rules)
        or _cap(path, parameters, pattern_pages, host_pages, rules)
    )


def _path_trap(segments: list[str], rules: TrapRules) -> Trap | None:
    if len(segments) > rules.max_segments:
        return Trap.TOO_DEEP
    if len(segments) >= rules.max_repeats and _cycles(segments, rules.max_repeats):
        return Trap.REPEATED_SEGMENTS
    return None


def _cycles(segments: list[str], times: int) -> bool:
    """Does a run of segments follow itself `times` times, as in /a/b/a/b/a/b?  At most 16 segments come here."""
    for length in range(1, len(segments) // times + 1):
        same = 0
        for at in range(length, len(segments)):
            same = same + 1 if segments[at] == segments[at - length] else 0
            if same >= length * (times - 1):
                return True
    return False


def _growth(segments: list[str], source: str | None) -> Trap | None:
    """A link that hangs a piece of its own page's path behind that path again: a relative link gone wrong."""
    if source is None:
        return None
    parent = [segment for segment in source.partition("?")[0].split("/")[3:] if segment]
    added = segments[len(parent) :]
    grows = len(parent) > 1 and added and segments[: len(parent)] == parent
    if grows and added == parent[-len(added) :]:
        return Trap.GROWING_PATH
    return None


def _session(path: str, parameters: _Parameters) -> Trap | None:
    if _SESSION_PATH.search(path):
        return Trap.SESSION_ID
    for name, _, value in parameters:
        if len(value) >= 16 and _SESSION_NAME.fullmatch(name) and _SESSION_VALUE.fullmatch(value):
            return Trap.SESSION_ID
    return None


def _query_trap(parameters: _Parameters, rules: TrapRules) -> Trap | None:
    """Filters multiply: each value of a narrowing parameter counts, also several in one (color=red,blue)."""
    facets = sum(
        1 + value.count(",") + value.count("%2C") + value.count("|") + value.count("%7C")
        for name, _, value in parameters
        if name.lower() not in _CHOOSING
    )
    return Trap.FACETS if facets > rules.max_facets else None


def _cap(
    path: str, parameters: _Parameters, pattern_pages: int, host_pages: int, rules: TrapRules
) -> Trap | None:
    if pattern_pages >= rules.pages_per_calendar and _is_calendar(path, parameters):
        return Trap.CALENDAR
    if pattern_pages >= rules.pages_per_pattern:
        return Trap.PATTERN_CAP
    return Trap.HOST_CAP if host_pages >= rules.pages_per_host else None


def _is_calendar(path: str, parameters: _Parameters) -> bool:
    """The address of a day, not of something that happened on it: it ends in a date."""
    return _DATE_PATH.search(path) is not None or any(
        name.lower() in _CALENDAR_NAMES and _DATE_VALUE.fullmatch(value)
        for name, _, value in parameters
    )
