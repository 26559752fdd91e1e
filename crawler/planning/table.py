"""Every known page as columns in memory, and the way from a URL to its page."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from storage.pages import KnownPages

_COLUMNS = (
    "host",
    "site",
    "pattern",
    "depth",
    "busy",
    "tried",
    "barred",
    "hints",
    "importance",
    "fetched_at",
    "not_before",
    "signalled_at",
)
_MERGE_AT = 50_000  # new URLs kept in a dict before they join the sorted arrays


class PageTable:
    """Columns indexed by page id: 46 bytes a page, and 16 more for the lookup by URL hash.

    A row with `host` -1 is an id that was given out but never stored: a crash between two commits.
    A `barred` page is out of scope by settings that came after it.
    """

    def __init__(self, known: KnownPages | None = None) -> None:
        size = int(known.pages["id"][-1]) + 1 if known is not None and len(known.pages) else 1
        self.size = size
        self._allocate(max(1024, size + size // 4))
        self._hashes: NDArray[np.int64] = np.empty(0, np.int64)
        self._ids: NDArray[np.int64] = np.empty(0, np.int64)
        self._recent: dict[int, int] = {}
        if known is not None and len(known.pages):
            self._fill(known)

    def _allocate(self, capacity: int) -> None:
        self.host = np.full(capacity, -1, np.int32)
        self.site = np.zeros(capacity, np.int32)
        self.pattern = np.zeros(capacity, np.int32)
        self.depth = np.zeros(capacity, np.int16)
        self.busy = np.zeros(capacity, np.bool_)
        self.tried = np.zeros(capacity, np.bool_)
        self.barred = np.zeros(capacity, np.bool_)
        self.hints = np.zeros(capacity, np.uint8)
        self.importance = np.ones(capacity, np.float32)
        self.signalled_at = np.zeros(capacity, np.float64)
        self.fetched_at = np.zeros(capacity, np.float64)
        self.not_before = np.zeros(capacity, np.float64)

    def _fill(self, known: KnownPages) -> None:
        pages, states = known.pages, known.states
        ids = pages["id"]
        self.host[ids] = pages["host_id"]
        self.site[ids] = pages["site_id"]
        self.pattern[ids] = pages["pattern_id"]
        self.depth[ids] = pages["depth"]
        self.fetched_at[states["page_id"]] = states["fetched_at"]
        self.not_before[states["page_id"]] = states["not_before"]
        self.tried[states["page_id"]] = True
        order = np.argsort(pages["url_hash"])
        self._hashes = pages["url_hash"][order]
        self._ids = ids[order]

    def __len__(self) -> int:
        return int(np.count_nonzero(self.host[: self.size] >= 0))

    def find(self, url_hash: int) -> int:
        """The id of the page with this hash, or 0."""
        return int(self.find_many([url_hash])[0])

    def find_many(self, url_hashes: Sequence[int]) -> NDArray[np.int64]:
        """The id of each hash's page, or 0.  Sorted arrays for the many, a dict for the new."""
        wanted = np.array(url_hashes, np.int64)
        found = np.zeros(len(wanted), np.int64)
        if len(self._hashes):
            places = np.searchsorted(self._hashes, wanted)
            places[places == len(self._hashes)] = 0
            hits = self._hashes[places] == wanted
            found[hits] = self._ids[places[hits]]
        if self._recent:
            recent = self._recent
            for index in np.flatnonzero(found == 0).tolist():
                found[index] = recent.get(url_hashes[index], 0)
        return found

    def add(self, url_hash: int, *, site: int, host: int, depth: int, pattern: int) -> int:
        """A new page; returns its id."""
        page_id = self.size
        if page_id >= len(self.host):
            self._grow()
        self.size += 1
        self.host[page_id] = host
        self.site[page_id] = site
        self.depth[page_id] = depth
        self.pattern[page_id] = pattern
        self._recent[url_hash] = page_id
        if len(self._recent) >= _MERGE_AT:
            self._merge()
        return page_id

    def _grow(self) -> None:
        before = {name: getattr(self, name) for name in _COLUMNS}
        self._allocate(len(self.host) * 3 // 2)
        for name, column in before.items():
            getattr(self, name)[: len(column)] = column

    def _merge(self) -> None:
        hashes = np.fromiter(self._recent.keys(), np.int64, len(self._recent))
        ids = np.fromiter(self._recent.values(), np.int64, len(self._recent))
        all_hashes = np.concatenate((self._hashes, hashes))
        order = np.argsort(all_hashes, kind="stable")
        self._hashes = all_hashes[order]
        self._ids = np.concatenate((self._ids, ids))[order]
        self._recent = {}
