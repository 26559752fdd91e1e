"""The shape of an address: ids, dates and slugs generalised, so that pages of a kind share a pattern.

https://shop.example/p/red-boot-1234.html?size=9  ->  shop.example/p/{slug}-{n}.html?size
"""

import re

from crawler.reading.urls import origin_of

MAX_SEGMENTS = 12

_LOCALE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2})?", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DATE = re.compile(r"(?:19|20)\d\d[-_.](?:0?[1-9]|1[0-2])(?:[-_.](?:0?[1-9]|[12]\d|3[01]))?")
_PREFIXED = re.compile(r"([a-z]{1,4})\d+", re.IGNORECASE)
_HEX = re.compile(r"(?=.*\d)[0-9a-f-]{12,}", re.IGNORECASE)
_NUMBERED = re.compile(r"(\d+)[-_](.*[a-z].*)|(.*[a-z].*)[-_](?:[a-z]{0,3})(\d+)", re.IGNORECASE)
_EXTENSION = re.compile(r"\.[a-z][a-z0-9]{1,4}$", re.IGNORECASE)
_LONG_WORD = 24


def url_pattern(url: str) -> str:
    """The pattern of a canonical URL; of bounded length, and the same for every page made the same way."""
    path, _, query = url.partition("?")
    origin = origin_of(url)
    segments = path[len(origin) :].split("/")[1:]
    shape = [origin.partition("//")[2], *(_shape(segment) for segment in segments[:MAX_SEGMENTS])]
    if len(segments) > MAX_SEGMENTS:
        shape.append("...")
    names = sorted({part.partition("=")[0][:_LONG_WORD] for part in query.split("&") if part})
    return "/".join(shape) + ("?" + "&".join(names[:MAX_SEGMENTS]) if names else "")


def _shape(segment: str) -> str:
    extension = _EXTENSION.search(segment)
    ending = extension[0].lower() if extension else ""
    return _word(segment[: len(segment) - len(ending)]) + ending


def _word(word: str) -> str:
    """A literal word, or the placeholder of what changes from page to page."""
    if word.isdigit():
        return "{year}" if _YEAR.fullmatch(word) else "{n}"
    if not word or _LOCALE.fullmatch(word):
        return word
    if _DATE.fullmatch(word):
        return "{date}"
    if prefixed := _PREFIXED.fullmatch(word):
        return prefixed[1] + "{n}"
    if _HEX.fullmatch(word):
        return "{id}"
    if numbered := _NUMBERED.fullmatch(word):
        return "{n}-{slug}" if numbered[1] else "{slug}-{n}"
    if "-" in word or "_" in word or "%" in word or "+" in word or len(word) > _LONG_WORD:
        return "{slug}"
    return "{id}" if any(letter.isdigit() for letter in word) else word
