"""The captures of one archive file as columns, and the cache beside the file that keeps them.

The cache is trusted only for a file of the same size and modification time, and only if it can be read whole.
"""

import json
import os
import zipfile
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.archives.captures import ArchiveError, Capture, Contents, UnreadableError
from crawler.archives.formats import Format, format_of, read_captures
from crawler.reading.urls import canonical_url, page_hash

_VERSION = 1
_SUFFIX = ".freshet-index"
# One code of `array` a column: q is int64, d is float64, i is int32, b is int8.
_CODES = {
    "url_hash": "q",
    "refers_hash": "q",
    "at": "d",
    "kind": "b",
    "status": "i",
    "offset": "q",
    "length": "q",
    "duration": "d",
    "digest": "q",
    "validators": "q",
    "is_html": "b",
    "url_end": "q",  # where the URL ends in `urls`; it begins where the one before ends
}

Column = NDArray[Any]
Told = Callable[[Path, int, int], None]  # file, bytes done, bytes in all


@dataclass(frozen=True, slots=True)
class FileColumns:
    """The captures of one file, in the order of the file.  Arrays have shape (n_captures,)."""

    path: Path
    format: Format
    contents: Contents
    columns: dict[str, Column]
    urls: bytes
    kept: bool  # is the index kept beside the file?


def load(path: Path, *, told: Told = lambda path, done, size: None) -> FileColumns:
    """From the cache if it is the file's; else by reading the file, once."""
    kind = format_of(path)
    if kind is Format.DATABASE:  # quick to read, and its file may be older than what is in it
        return _build(path, kind, told)
    stamp = _stamp(path)
    return _cached(path, kind, stamp) or _keep(_build(path, kind, told), stamp)


def cache_of(path: Path) -> Path:
    return path.with_name(path.name + _SUFFIX)


def _stamp(path: Path) -> list[int]:
    state = path.stat()
    return [_VERSION, state.st_size, state.st_mtime_ns]


def _build(path: Path, kind: Format, told: Told) -> FileColumns:
    contents, size = Contents(), path.stat().st_size
    columns = {name: array(code) for name, code in _CODES.items()}
    urls = bytearray()
    captures = read_captures(path, kind, contents, watch=lambda at: told(path, at, size))
    try:
        for capture in captures:
            _append(capture, columns, urls, contents)
    except UnreadableError as error:
        contents.troubles[str(error)] += 1
    arrays = {name: np.array(column) for name, column in columns.items()}
    return FileColumns(path, kind, contents, arrays, bytes(urls), kept=False)


def _append(
    capture: Capture, columns: dict[str, "array[Any]"], urls: bytearray, contents: Contents
) -> None:
    url = canonical_url(capture.url)
    if url is None:
        contents.troubles["a capture of no page: its URL cannot be one"] += 1
        return
    urls += url.encode("utf-8", "surrogatepass")
    refers_to = canonical_url(capture.refers_to) if capture.refers_to else None
    row = (
        page_hash(url),
        page_hash(refers_to or url),
        capture.at,
        capture.kind,
        capture.status,
        capture.place.offset,
        capture.place.length,
        capture.duration,
        capture.digest,
        capture.validators,
        capture.is_html,
        len(urls),
    )
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)


# -- the cache ---------------------------------------------------------------------------------------


def _keep(built: FileColumns, stamp: list[int]) -> FileColumns:
    """Writes the cache beside the file, whole or not at all; a folder that is read-only goes without."""
    target = cache_of(built.path)
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    meta = {
        "stamp": stamp,
        "records": built.contents.records,
        "troubles": built.contents.troubles,
    }
    try:
        with draft.open("wb") as file:
            np.savez(
                file,
                meta=_bytes_column(json.dumps(meta).encode()),
                urls=_bytes_column(built.urls),
                **built.columns,  # type: ignore[arg-type]  # numpy's stub takes them for its flag
            )
        draft.replace(target)
    except OSError:
        draft.unlink(missing_ok=True)
        return built
    return FileColumns(
        built.path, built.format, built.contents, built.columns, built.urls, kept=True
    )


def _cached(path: Path, kind: Format, stamp: list[int]) -> FileColumns | None:
    try:
        with np.load(cache_of(path), allow_pickle=False) as stored:
            meta = json.loads(stored["meta"].tobytes())
            if meta["stamp"] != stamp:
                return None
            columns = {name: stored[name] for name in _CODES}
            urls = stored["urls"].tobytes()
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
    if not _fits(columns, urls):
        return None
    contents = Contents()
    contents.records.update(meta["records"])
    contents.troubles.update(meta["troubles"])
    return FileColumns(path, kind, contents, columns, urls, kept=True)


def _fits(columns: dict[str, Column], urls: bytes) -> bool:
    """One row for each capture in every column, and every URL inside the text."""
    ends = columns["url_end"]
    shapes = {column.shape for column in columns.values()}
    types = all(columns[name].dtype == np.dtype(code) for name, code in _CODES.items())
    inside = not len(ends) or (int(ends[-1]) == len(urls) and bool((np.diff(ends) >= 0).all()))
    return types and len(shapes) == 1 and ends.ndim == 1 and inside


def _bytes_column(data: bytes) -> Column:
    return np.frombuffer(data, dtype=np.uint8)


def joined(files: Iterable[FileColumns], name: str) -> Column:
    """One column over all files, in their order."""
    return np.concatenate([file.columns[name] for file in files])


def check_not_empty(files: list[FileColumns]) -> None:
    if not any(len(file.columns["at"]) for file in files):
        named = ", ".join(str(file.path) for file in files)
        troubles = "; ".join(sorted({text for file in files for text in file.contents.troubles}))
        raise ArchiveError(f"{named}: no capture could be read{': ' * bool(troubles)}{troubles}")
