"""WACZ: a zip of WARC files with an index.  The index is used; nothing is unpacked.

Only stored (uncompressed) WARC members are read, in place, so a zip bomb has nothing to inflate and no path
in the zip is ever written to.  Index lines are read as a stream and each is checked against its record's head.
"""

import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, BinaryIO

from crawler.archives import warc
from crawler.archives.captures import Capture, Contents, Kind, Place, UnreadableError

_LINE = 1 << 16
_INDEX_MOST = 1_000_000_000  # inflated bytes of index: some 3 million lines
_LOCAL_HEADER = 30
_INDEXES = (".cdxj", ".cdx", ".cdx.gz", ".cdxj.gz")


def read_captures(
    file: BinaryIO, contents: Contents, *, watch: warc.Watch = lambda at: None
) -> Iterator[Capture]:
    """By the index as far as it is right; then, if it was missing or wrong, by reading the WARCs through."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = _stored_warcs(archive, file, contents)
            seen: set[int] = set()
            trouble = ""
            try:
                for capture in _by_index(archive, file, members):
                    contents.records[_record_type(capture)] += 1
                    seen.add(capture.place.offset)
                    watch(capture.place.offset)
                    yield capture
            except UnreadableError as error:
                trouble = str(error)
            if trouble:
                contents.troubles[f"{trouble}: its WARC files were read through"] += 1
                contents.records.clear()
                yield from _read_through(file, members, contents, seen, watch)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise UnreadableError(f"a zip that cannot be read ({error})") from None


def _read_through(
    file: BinaryIO, members: dict[str, Place], contents: Contents, seen: set[int], watch: warc.Watch
) -> Iterator[Capture]:
    for place in members.values():
        end = place.offset + place.length
        for capture in warc.read_captures(file, place.offset, end, contents, watch=watch):
            if capture.place.offset not in seen:
                yield capture


def _record_type(capture: Capture) -> str:
    return "response" if capture.kind is Kind.RESPONSE else "revisit"


def _stored_warcs(archive: zipfile.ZipFile, file: BinaryIO, contents: Contents) -> dict[str, Place]:
    """Where the bytes of each WARC in the zip lie, by its name without folders."""
    found: dict[str, Place] = {}
    for info in archive.infolist():
        name = PurePosixPath(info.filename).name
        if not name.endswith((".warc", ".warc.gz", ".arc", ".arc.gz")):
            continue
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            contents.troubles["a WARC compressed by the zip: it cannot be read in place"] += 1
            continue
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        if len(header) < _LOCAL_HEADER or header[:4] != b"PK\x03\x04":
            contents.troubles["a zip member that is not where the zip says"] += 1
            continue
        names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        found[name] = Place(info.header_offset + _LOCAL_HEADER + names, info.file_size)
    return found


def _by_index(
    archive: zipfile.ZipFile, file: BinaryIO, members: dict[str, Place]
) -> Iterator[Capture]:
    """The captures the index names; raises UnreadableError at the first line that its record belies."""
    lines = _index_lines(archive)
    if lines is None:
        raise UnreadableError("a WACZ without an index")
    try:
        for line in lines:
            if not line.startswith(b"!") and line.strip():
                capture = _of_line(file, members, line)
                if capture is not None:
                    yield capture
    except (OSError, EOFError, zlib.error, ValueError, TypeError, zipfile.BadZipFile):
        raise UnreadableError("a WACZ whose index is wrong") from None


def _index_lines(archive: zipfile.ZipFile) -> Iterator[bytes] | None:
    """The lines of the CDXJ index, plain or gzipped; None when there is none."""
    for info in archive.infolist():
        path = PurePosixPath(info.filename)
        if path.parent.name == "indexes" and path.name.endswith(_INDEXES):
            member = archive.open(info)
            return _capped_lines(gzip.GzipFile(fileobj=member) if path.suffix == ".gz" else member)
    return None


def _capped_lines(lines: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    size = 0
    while line := lines.readline(_LINE):
        size += len(line)
        if size > _INDEX_MOST:
            raise EOFError
        yield line


def _of_line(file: BinaryIO, members: dict[str, Place], line: bytes) -> Capture | None:
    """The capture of one line: `urlkey timestamp {"url": ..., "filename": ..., "offset": ..., "length": ...}`."""
    fields = json.loads(line.split(b" ", 2)[-1])
    member = members.get(PurePosixPath(fields["filename"]).name)
    offset, length = int(fields["offset"]), int(fields["length"])
    if member is None or not 0 <= offset <= offset + length <= member.length:
        raise ValueError("the line points out of its file")
    capture = warc.capture_at(file, Place(member.offset + offset, length))
    if capture is not None and capture.url != fields["url"]:
        raise ValueError("the line points to another record")
    return capture
