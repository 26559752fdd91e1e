"""The captures of several archive files by page and time: which one answers a fetch?"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crawler.archives import columns
from crawler.archives.captures import Kind, Place
from crawler.archives.columns import Column, FileColumns, Told
from crawler.archives.formats import files_of

# Recorded times are rounded, and so are the durations between them.
_PRECISION = 0.001
LOST_ORIGINAL = "a revisit whose original is not in the archive"


@dataclass(frozen=True, slots=True)
class Found:
    """The row that answers a fetch.  `is_early`: nothing was captured before, so the first capture stands in."""

    row: int
    is_early: bool


@dataclass(frozen=True, slots=True)
class Located:
    """A record: in which file, and where."""

    file: int
    place: Place


class ArchiveIndex:
    """Rows are captures, sorted by page and time.  Public arrays have shape (n_captures,).

    Revisits are resolved: a row answers with `head_*` and takes its body from `body_*`.
    """

    def __init__(self, files: list[FileColumns]) -> None:
        columns.check_not_empty(files)
        self.files = files
        table = _merge(files)
        self.troubles: Counter[str] = Counter()
        for file in files:
            self.troubles.update(file.contents.troubles)
        table = _resolve(table, self.troubles)
        self.page_hash: NDArray[np.int64] = table["url_hash"]
        self.at: NDArray[np.float64] = table["at"]
        self.kind: NDArray[np.int8] = table["kind"]
        self.status: NDArray[np.int32] = table["status"]
        self.duration: NDArray[np.float64] = table["duration"]
        self.digest: NDArray[np.int64] = table["digest"]
        self.validators: NDArray[np.int64] = table["validators"]
        self.is_html: NDArray[np.int8] = table["is_html"]
        self._table = table
        self.pages, first = np.unique(self.page_hash, return_index=True)  # (n_pages,)
        self.page_start = np.append(first, len(self.page_hash))  # (n_pages + 1,)

    def __len__(self) -> int:
        return len(self.at)

    @property
    def first_at(self) -> float:
        return float(self.at.min())

    @property
    def last_at(self) -> float:
        return float(self.at.max())

    def rows_of(self, page_hash: int) -> range:
        """The captures of a page, oldest first."""
        page = int(np.searchsorted(self.pages, page_hash))
        if page == len(self.pages) or self.pages[page] != page_hash:
            return range(0)
        return range(int(self.page_start[page]), int(self.page_start[page + 1]))

    def find(self, page_hash: int, at: float) -> Found | None:
        """The newest capture not after `at`, else the first; None for a page never captured."""
        rows = self.rows_of(page_hash)
        if not rows:
            return None
        times = self.at[rows.start : rows.stop]
        before = int(np.searchsorted(times, at + _PRECISION, side="right"))
        return Found(rows.start + max(before - 1, 0), is_early=before == 0)

    def is_unchanged(self, row: int, validators: int) -> bool:
        """Would the server have said 304 to these validators?  By themselves, or by the body they stood for."""
        if not validators or self.status[row] != 200:
            return False
        if self.validators[row] == validators:
            return True
        rows = self.rows_of(int(self.page_hash[row]))
        same = slice(rows.start, rows.stop)
        asked = self.digest[same][self.validators[same] == validators]
        return bool(self.digest[row] and (asked == self.digest[row]).any())

    def head(self, row: int) -> Located:
        return self._located(row, "")

    def body(self, row: int) -> Located:
        return self._located(row, "body_")

    def _located(self, row: int, prefix: str) -> Located:
        table = self._table
        place = Place(int(table[f"{prefix}offset"][row]), int(table[f"{prefix}length"][row]))
        return Located(int(table[f"{prefix}file"][row]), place)

    def url(self, row: int) -> str:
        """The canonical URL of a capture's page."""
        file = self.files[int(self._table["url_file"][row])]
        own = int(self._table["url_row"][row])
        ends = file.columns["url_end"]
        start = int(ends[own - 1]) if own else 0
        return file.urls[start : int(ends[own])].decode("utf-8", "surrogatepass")

    def first_rows(self) -> Iterator[int]:
        """The first capture of each page, in the order of time and then of the files."""
        firsts = self.page_start[:-1]
        order = np.lexsort((self._table["url_row"][firsts], self.at[firsts]))
        yield from (int(row) for row in firsts[order])

    def recaptured(self, *, apart: float) -> float:
        """The share of pages with captures more than `apart` seconds from first to last."""
        first, last = self.at[self.page_start[:-1]], self.at[self.page_start[1:] - 1]
        return float((last - first > apart).mean())


def open_index(paths: list[Path], *, told: Told = lambda path, done, size: None) -> ArchiveIndex:
    """The index of all archives named; built where no cache beside the file fits it."""
    return ArchiveIndex([columns.load(path, told=told) for path in files_of(paths)])


# -- merging and resolving ---------------------------------------------------------------------------

_SHARED = (
    "url_hash",
    "refers_hash",
    "at",
    "kind",
    "status",
    "offset",
    "length",
    "duration",
    "digest",
    "validators",
    "is_html",
)


def _merge(files: list[FileColumns]) -> dict[str, Column]:
    """All files' rows by page and time; equal times keep the order of the files."""
    table = {name: columns.joined(files, name) for name in _SHARED}
    sizes = [len(file.columns["at"]) for file in files]
    table["file"] = np.repeat(np.arange(len(files), dtype=np.int32), sizes)
    table["url_row"] = np.concatenate([np.arange(size) for size in sizes])
    order = np.lexsort((table["at"], table["url_hash"]))
    table = {name: column[order] for name, column in table.items()}
    table["url_file"] = table["file"].copy()
    for name in ("file", "offset", "length"):
        table[f"body_{name}"] = table[name].copy()
    return table


def _resolve(table: dict[str, Column], troubles: Counter[str]) -> dict[str, Column]:
    """Each revisit takes what it repeats from its original; one without an original is left out."""
    kind = table["kind"]
    lost = np.zeros(len(kind), dtype=bool)
    originals = _by_digest(table)
    for row in np.flatnonzero((kind == Kind.SAME_PAYLOAD) | (kind == Kind.NOT_MODIFIED)):
        origin = _original(table, int(row), originals, lost)
        if origin is None:
            lost[row] = True
            continue
        names = ["body_file", "body_offset", "body_length", "digest"]
        if kind[row] == Kind.NOT_MODIFIED:
            names += ["file", "offset", "length", "status", "validators", "is_html"]
        for name in names:
            table[name][row] = table[name][origin]
    if lost.any():
        troubles[LOST_ORIGINAL] += int(lost.sum())
        return {name: column[~lost] for name, column in table.items()}
    return table


def _by_digest(table: dict[str, Column]) -> dict[int, int]:
    """The first response with each digest.  Only asked for by revisits, so only built when there are any."""
    kind = table["kind"]
    if not (kind == Kind.SAME_PAYLOAD).any():
        return {}
    rows = np.flatnonzero((kind == Kind.RESPONSE) & (table["digest"] != 0))[::-1]
    return {int(table["digest"][row]): int(row) for row in rows}


def _original(
    table: dict[str, Column], row: int, originals: dict[int, int], lost: Column
) -> int | None:
    if table["kind"][row] == Kind.SAME_PAYLOAD and table["digest"][row] in originals:
        return originals[int(table["digest"][row])]
    # Else the last capture before it of the page it refers to: its own, if it names none.
    wanted = 200 if table["kind"][row] == Kind.NOT_MODIFIED else table["status"][row]
    page, at = table["refers_hash"][row], table["at"][row]
    start, stop = np.searchsorted(table["url_hash"], (page, page + 1))
    for earlier in range(int(stop) - 1, int(start) - 1, -1):
        whole = table["kind"][earlier] == Kind.RESPONSE or (earlier < row and not lost[earlier])
        if whole and table["status"][earlier] == wanted and table["at"][earlier] <= at:
            return earlier
    return None
