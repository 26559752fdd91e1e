"""HAR: what a browser's network panel saves.  One entry in memory at a time.

The file is mapped and its structure scanned as bytes, so that an entry is found again by its place.
"""

import base64
import binascii
import json
import mmap
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import xxhash

from crawler.archives.captures import (
    Capture,
    Contents,
    Exchange,
    Kind,
    Place,
    UnreadableError,
    hash_validators,
    moment,
)
from crawler.archives.warc import Watch

_ENTRY_MOST = 64_000_000
# Strings as a whole, so that braces in them do not count.  Possessive: no state is kept a character.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]|"', re.DOTALL)
_ENTRIES = b'"entries"'


def read_captures(
    file: BinaryIO, contents: Contents, *, watch: Watch = lambda at: None
) -> Iterator[Capture]:
    """Every GET that was answered, with a body or without."""
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for place in _entries(data, contents):
            watch(place.offset)
            contents.records["entry"] += 1
            try:
                capture = _capture(_load(data[place.offset : place.offset + place.length]), place)
            except UnreadableError as error:
                contents.troubles[str(error)] += 1
            else:
                contents.records["response"] += 1
                yield capture


def read_exchange(file: BinaryIO, place: Place, *, limit: int) -> Exchange:
    """The reply of one entry.  HAR keeps bodies decoded: coding and charset headers are made to agree."""
    if place.length > max(limit, _ENTRY_MOST):
        raise UnreadableError(f"an entry of {place.length} bytes, over the limit of {limit}")
    file.seek(place.offset)
    entry = _load(file.read(place.length))
    response = _table(entry, "response")
    body, is_text = _body(response)
    headers = _headers(response)
    kept = [(name, value) for name, value in headers if name not in _OF_THE_WIRE]
    if is_text:
        kept = [
            (name, _as_utf8(value) if name == "content-type" else value) for name, value in kept
        ]
    return Exchange(_url(entry), _status(response), tuple(kept), body)


_OF_THE_WIRE = ("content-encoding", "transfer-encoding", "content-length")


def _as_utf8(content_type: str) -> str:
    return content_type.partition(";")[0].strip() + "; charset=utf-8"


def _entries(data: mmap.mmap, contents: Contents) -> Iterator[Place]:
    """The place of each object in the array log.entries."""
    key = data.find(_ENTRIES)
    if key < 0:
        raise UnreadableError("a JSON file that is no HAR: it has no entries")
    depth, start = 0, 0
    for token in _TOKEN.finditer(data, key + len(_ENTRIES)):
        mark = token[0]
        if mark in (b"{", b"["):
            depth += 1
            if depth == 2:
                start = token.start()
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth == 1:
                yield Place(start, token.end() - start)
            elif depth <= 0:
                return
    contents.troubles["a HAR that ends too early"] += 1


def _load(text: bytes) -> dict[str, Any]:
    if len(text) > _ENTRY_MOST:
        raise UnreadableError(f"an entry of more than {_ENTRY_MOST} bytes")
    try:
        entry = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError("an entry that is no JSON") from None
    if not isinstance(entry, dict):
        raise UnreadableError("an entry that is no object")
    return entry


def _capture(entry: dict[str, Any], place: Place) -> Capture:
    request, response = _table(entry, "request"), _table(entry, "response")
    if request.get("method") != "GET":
        raise UnreadableError("a request that is no GET")
    headers = dict(reversed(_headers(response)))
    status = _status(response)
    body, _ = _body(response)
    if not body and status == 200:
        raise UnreadableError("a page without a body")
    return Capture(
        url=_url(entry),
        at=moment(str(entry.get("startedDateTime", ""))),
        kind=Kind.NOT_MODIFIED if status == 304 else Kind.RESPONSE,
        status=status,
        place=place,
        duration=_seconds(entry.get("time")),
        digest=(xxhash.xxh3_64_intdigest(body) >> 1) or 1,
        validators=hash_validators(headers.get("etag"), headers.get("last-modified")),
        is_html="html" in headers.get("content-type", ""),
    )


def _table(entry: dict[str, Any], name: str) -> dict[str, Any]:
    table = entry.get(name)
    if not isinstance(table, dict):
        raise UnreadableError(f"an entry without its {name}")
    return table


def _url(entry: dict[str, Any]) -> str:
    return str(_table(entry, "request").get("url", ""))


def _status(response: dict[str, Any]) -> int:
    status = response.get("status")
    if not isinstance(status, int) or not 100 <= status <= 999:
        raise UnreadableError("a request that got no answer")
    return status


def _seconds(milliseconds: object) -> float:
    known = isinstance(milliseconds, int | float) and 0 <= milliseconds <= 86_400_000
    return float(milliseconds) / 1000 if known else 0.0  # type: ignore[arg-type]


def _headers(response: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    listed = response.get("headers")
    return tuple(
        (str(header.get("name", "")).lower(), str(header.get("value", "")))
        for header in (listed if isinstance(listed, list) else [])
        if isinstance(header, dict)
    )


def _body(response: dict[str, Any]) -> tuple[bytes, bool]:
    """The body, and whether it was kept as text."""
    content = response.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    if not isinstance(text, str) or not isinstance(content, dict):
        return b"", False
    if content.get("encoding") != "base64":
        return text.encode("utf-8", "replace"), True
    try:
        return base64.b64decode(text), False
    except binascii.Error:
        raise UnreadableError("a body that is no base64") from None
