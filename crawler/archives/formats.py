"""Which format is a file?  By its first bytes, whatever its name says; and its captures by that format."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Protocol

from isal import isal_zlib

from crawler.archives import crawl_database, har, wacz, warc
from crawler.archives.captures import ArchiveError, Capture, Contents, Exchange, Place
from crawler.archives.crawl_database import DatabaseReader
from crawler.archives.streams import GZIP, IsalError

_BUFFER = 1 << 20
_WARC_SUFFIXES = (".warc", ".warc.gz", ".arc", ".arc.gz", ".open")
_SUFFIXES = (*_WARC_SUFFIXES, ".wacz", ".har")


class Format(StrEnum):
    """What an archive file is."""

    WARC = "WARC or ARC"
    WACZ = "WACZ"
    HAR = "HAR"
    DATABASE = "crawl database"


def format_of(path: Path) -> Format:
    """The format of a file; raises ArchiveError when it is none that can be replayed."""
    with open_archive(path) as file:
        first = file.read(4096)
    text = _inflated(first).removeprefix(b"\xef\xbb\xbf").lstrip()
    if first.startswith(b"PK\x03\x04"):
        return Format.WACZ
    if first.startswith(b"SQLite format 3\0"):
        return Format.DATABASE
    if text.startswith((b"WARC/", b"filedesc:")):
        return Format.WARC
    if text.startswith(b"{") and not first.startswith(GZIP):
        return Format.HAR
    if first and path.name.endswith(_WARC_SUFFIXES):
        return Format.WARC  # its beginning is damaged; perhaps not all of it
    got = "another" if first else "an empty file"
    raise ArchiveError(f"{path}: want a WARC, ARC, WACZ or HAR file or a crawl database, got {got}")


def _inflated(first: bytes) -> bytes:
    if not first.startswith(GZIP):
        return first
    try:
        inflated: bytes = isal_zlib.decompressobj(wbits=31).decompress(first, 4096)
    except IsalError:
        return b""
    return inflated


def open_archive(path: Path) -> BinaryIO:
    try:
        return path.open("rb", buffering=_BUFFER)
    except OSError as error:
        raise ArchiveError(f"{path}: {error.strerror}") from error


def files_of(paths: list[Path]) -> list[Path]:
    """The archive files meant: a folder stands for those in it."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.name.endswith(_SUFFIXES))
            if not inside:
                raise ArchiveError(f"{path}: want a folder with archives, got none in it")
            found += inside
        else:
            found.append(path)
    return found


def read_captures(
    path: Path, kind: Format, contents: Contents, *, watch: warc.Watch
) -> Iterator[Capture]:
    """Every capture of a file, in the order of the file."""
    if kind is Format.DATABASE:
        yield from crawl_database.read_captures(path, contents, watch=watch)
        return
    with open_archive(path) as file:
        if kind is Format.WARC:
            size = path.stat().st_size
            yield from warc.read_captures(file, 0, size, contents, watch=watch)
        elif kind is Format.WACZ:
            yield from wacz.read_captures(file, contents, watch=watch)
        else:
            yield from har.read_captures(file, contents, watch=watch)


class Reader(Protocol):
    """An open archive.  `read` gives the recorded reply at a place, or raises UnreadableError."""

    def read(self, place: Place, *, limit: int) -> Exchange: ...

    def close(self) -> None: ...


class FileReader:
    """Reads exchanges back from a file of records."""

    def __init__(self, path: Path, kind: Format) -> None:
        self._file = open_archive(path)
        self._read = har.read_exchange if kind is Format.HAR else warc.read_exchange

    def read(self, place: Place, *, limit: int) -> Exchange:
        return self._read(self._file, place, limit=limit)

    def close(self) -> None:
        self._file.close()


def open_reader(path: Path, kind: Format) -> Reader:
    return DatabaseReader(path) if kind is Format.DATABASE else FileReader(path, kind)
