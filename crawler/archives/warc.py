"""WARC and ARC files, gzipped by record or plain: every capture with its place, damage passed over and named.

Framing is read here, not by a library, for three reasons: memory stays flat whatever the file says of itself,
reading goes on behind damage, and a record is read back by its place at the cost of that record alone.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

import xxhash

from crawler.archives.captures import (
    Capture,
    Contents,
    Exchange,
    Kind,
    Place,
    UnreadableError,
    hash_text,
    hash_validators,
    moment,
)
from crawler.archives.streams import GZIP, Member, Plain, Stream

DURATION = "freshet-duration"
OUTCOME = "freshet-outcome"
_HEAD = 1 << 16  # bytes of a record's or a reply's head
_HASHED = 64_000_000  # bytes of a body that are worth a digest: nothing larger is ever replayed
_SEARCHED = 1 << 20  # bytes looked through at a time for the next record
_HTTP_LINE = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})")
# ARC: "http://shop.example/ 127.0.0.1 20080430204825 text/html 1234"
_ARC_LINE = re.compile(rb"(\S{1,4096}) [0-9A-Fa-f.:-]+ (\d{14}) [^\r\n]*?(\d+)\r?\n")
_RECORD_START = re.compile(
    rb"WARC/[01]\.\d+\r?\n|(?<=\n)https?://\S{1,4096} [0-9A-Fa-f.:-]+ \d{14} [^\r\n]{1,200}\n"
)
_NOT_MODIFIED = "server-not-modified"

Watch = Callable[[int], None]  # told how far the reading has come, in bytes


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a record: its type, named fields in lower case, and the length of its block."""

    kind: str
    fields: dict[str, str]
    length: int


def read_captures(
    file: BinaryIO, start: int, end: int, contents: Contents, *, watch: Watch = lambda at: None
) -> Iterator[Capture]:
    """Every capture between two offsets.  What cannot be read is counted in `contents` and passed over."""
    offset, damaged = start, False
    while (offset := _skip_blank(file, offset, end)) < end:
        watch(offset)
        try:
            capture, next_at = _read_one(file, offset, end, contents)
        except UnreadableError as error:
            # What looks like a record inside a damaged stretch is part of that one trouble.
            contents.troubles[str(error)] += not damaged
            offset, damaged = _find_record(file, offset + 1, end), True
            continue
        if capture is not None:
            yield capture
        offset, damaged = next_at, False
    watch(end)


def capture_at(file: BinaryIO, place: Place) -> Capture | None:
    """The capture of the record at a place, by its heads alone; None when it is not a capture."""
    stream, head = _open(file, place.offset, place.offset + place.length)
    return _capture(stream, head, place, hashed=False)[0]


def read_exchange(file: BinaryIO, place: Place, *, limit: int) -> Exchange:
    """The reply recorded at a place.  Raises UnreadableError, also for a block of more than `limit` bytes."""
    stream, head = _open(file, place.offset, place.offset + place.length)
    if head.length > limit:
        raise UnreadableError(f"a record of {head.length} bytes, over the limit of {limit}")
    block = stream.take(head.length)
    if len(block) < head.length:
        raise UnreadableError("a record that ends too early")
    url = _target(head)
    if OUTCOME in head.fields:
        note = block.decode("utf-8", "replace").strip()
        return Exchange(url, 0, (), b"", failure=head.fields[OUTCOME], note=note)
    if head.kind == "resource":
        return Exchange(url, 200, (("content-type", head.fields.get("content-type", "")),), block)
    if not block and head.kind == "revisit":
        return Exchange(url, 200, (), b"")
    http, size = _split(block)
    return Exchange(url, _status(http), _headers(http), block[size:] if size else b"")


# -- one record --------------------------------------------------------------------------------------


def _read_one(
    file: BinaryIO, offset: int, end: int, contents: Contents
) -> tuple[Capture | None, int]:
    """The capture that begins at an offset, if it is one, and where the next record begins."""
    stream, head = _open(file, offset, end)
    block_at = stream.position if isinstance(stream, Plain) else 0
    capture, left, trouble = None, head.length, ""
    try:
        capture, left = _capture(stream, head, Place(offset, 0), hashed=True)
    except UnreadableError as error:
        trouble = str(error)
    if isinstance(stream, Member):
        next_at = _end_of_member(stream, left if not trouble else 0, contents)
    else:
        next_at = block_at + head.length
        if next_at > end:
            raise UnreadableError("a record that ends too early")
    contents.records[head.kind] += 1
    if trouble:
        contents.troubles[trouble] += 1
    if capture is not None:
        capture = replace(capture, place=Place(offset, next_at - offset))
    return capture, next_at


def _end_of_member(stream: Member, left: int, contents: Contents) -> int:
    """Where a compressed record ends, with `left` bytes of its block to go."""
    if stream.skip(left) < left:
        raise UnreadableError("a record that ends too early")
    if stream.peek(64).lstrip().startswith((b"WARC/", b"http")):
        contents.troubles["several records in one gzip member: only the first can be read"] += 1
    stream.finish()
    return stream.next_at


def _open(file: BinaryIO, offset: int, end: int) -> tuple[Stream, Head]:
    file.seek(offset)
    if file.read(3) == GZIP:
        stream: Stream = Member(file, offset, end)
    else:
        stream = Plain(file, offset, end)
    return stream, _read_head(stream)


def _read_head(stream: Stream) -> Head:
    first = stream.peek(5)
    if first == b"WARC/":
        return _read_warc_head(stream)
    if not first and isinstance(stream, Member):
        stream.finish()  # raises unless the member is whole and empty
    arc = _ARC_LINE.match(stream.peek(5000))
    if arc is None:
        raise UnreadableError("bytes that are no record" if first else "an empty record")
    stream.skip(arc.end())
    url = arc[1].decode("utf-8", "replace")
    kind = "warcinfo" if url.startswith("filedesc:") else "response"
    fields = {"warc-target-uri": url, "warc-date": arc[2].decode()}
    return Head(kind, fields, int(arc[3]))


def _read_warc_head(stream: Stream) -> Head:
    lines, size = _head_lines(stream.peek)
    fields: dict[str, str] = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    length = fields.get("content-length", "")
    if not length.isascii() or not length.isdigit() or len(length) > 18:
        raise UnreadableError("a record without its length")
    stream.skip(size)
    return Head(fields.get("warc-type", "unknown").lower(), fields, int(length))


def _head_lines(peek: Callable[[int], bytes]) -> tuple[list[str], int]:
    """The lines up to the first empty one, and how many bytes they take with it."""
    for size in (1024, 8192, _HEAD):
        data = peek(size)
        head, length = _split(data)
        if length:
            return head.decode("utf-8", "replace").splitlines(), length
        if len(data) < size:
            break
    raise UnreadableError("a record whose head has no end")


def _split(data: bytes) -> tuple[bytes, int]:
    """The head, and its length with the empty line after it (0 when there is none)."""
    windows = data.find(b"\r\n\r\n")
    unix = data.find(b"\n\n", 0, windows if windows >= 0 else len(data))
    if unix >= 0:
        return data[:unix], unix + 2
    return (data[:windows], windows + 4) if windows >= 0 else (data, 0)


def _capture(
    stream: Stream, head: Head, place: Place, *, hashed: bool
) -> tuple[Capture | None, int]:
    """What the record captured, if anything, and how much of its block is still unread."""
    if not _target(head).lower().startswith(("http://", "https://")):
        return None, head.length
    if OUTCOME in head.fields:
        return _failure(head, place), head.length
    if head.kind in ("response", "revisit", "resource"):
        return _reply(stream, head, place, hashed=hashed)
    return None, head.length


def _target(head: Head) -> str:
    return head.fields.get("warc-target-uri", "").strip("<>")


def _failure(head: Head, place: Place) -> Capture:
    at = moment(head.fields.get("warc-date", ""))
    return Capture(_target(head), at, Kind.FAILURE, 0, place, _duration(head))


def _reply(stream: Stream, head: Head, place: Place, *, hashed: bool) -> tuple[Capture, int]:
    """The capture of a reply, and how much of the block is still unread."""
    fields, left = head.fields, head.length
    headers: dict[str, str] = {}
    status = 200
    if head.kind != "resource" and left:
        http, size = _split(stream.peek(min(left, _HEAD)))
        if not size and left > _HEAD:
            raise UnreadableError("a reply whose head has no end")
        status = _status(http)
        headers = dict(reversed(_headers(http)))
        left -= stream.skip(size or len(http))
    digest = _stated_digest(fields)
    if hashed and not digest and head.kind != "revisit" and left <= _HASHED:
        hasher = xxhash.xxh3_64()
        left -= stream.skip(left, hasher)
        digest = (hasher.intdigest() >> 1) or 1
    kind = _kind(head, status)
    return Capture(
        url=_target(head),
        at=moment(fields.get("warc-date", "")),
        kind=kind,
        status=status,
        place=place,
        duration=_duration(head),
        digest=digest,
        validators=hash_validators(headers.get("etag"), headers.get("last-modified")),
        is_html="html" in headers.get("content-type", fields.get("content-type", "")),
        refers_to=fields.get("warc-refers-to-target-uri", "").strip("<>"),
    ), left


def _kind(head: Head, status: int) -> Kind:
    if head.kind != "revisit":
        return Kind.RESPONSE if status != 304 else Kind.NOT_MODIFIED
    not_modified = status == 304 or _NOT_MODIFIED in head.fields.get("warc-profile", "")
    return Kind.NOT_MODIFIED if not_modified else Kind.SAME_PAYLOAD


def _status(http: bytes) -> int:
    line = _HTTP_LINE.match(http)
    if line is None:
        raise UnreadableError("a reply without a status")
    return int(line[1])


def _headers(http: bytes) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for line in http.decode("utf-8", "surrogateescape").split("\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            pairs.append((name.strip().lower(), value.strip()))
    return tuple(pairs)


def _stated_digest(fields: dict[str, str]) -> int:
    text = fields.get("warc-payload-digest", "")
    return hash_text(text.upper()) if text else 0


def _duration(head: Head) -> float:
    try:
        return min(max(0.0, float(head.fields.get(DURATION, "0"))), 86_400.0)
    except ValueError:
        return 0.0


# -- between records ---------------------------------------------------------------------------------


def _skip_blank(file: BinaryIO, offset: int, end: int) -> int:
    """The empty lines between records."""
    while offset < end:
        file.seek(offset)
        data = file.read(min(64, end - offset))
        stripped = data.lstrip(b"\r\n")
        offset += len(data) - len(stripped)
        if stripped or not data:
            break
    return offset


def _find_record(file: BinaryIO, offset: int, end: int) -> int:
    """Where the next record may begin; `end` when there is none."""
    while offset < end:
        file.seek(offset)
        data = file.read(min(_SEARCHED, end - offset))
        zipped, plain = data.find(GZIP), _RECORD_START.search(data)
        found = [at for at in (zipped, plain.start() if plain else -1) if at >= 0]
        if found:
            return offset + min(found)
        if len(data) <= 5000:
            break
        offset += len(data) - 5000  # a record may begin across the border
    return end
