"""The pages that are fetched for their links: what each is expected to show now."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from crawler.planning.table import PageTable
from policies.budget import source_price
from policies.discovery.exposure import SECONDS_PER_HOUR
from policies.discovery.pooled import Pooled
from storage.rows import SourceRow

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class Sources:
    """Pooled discovery over the pages without offers: home, categories, sitemaps, feeds, and the rest."""

    def __init__(
        self, table: PageTable, *, utc_offsets: dict[int, float], half_life: float, expiry: float
    ) -> None:
        self._table = table
        self._utc_offsets = utc_offsets
        self._half_life = half_life / SECONDS_PER_HOUR
        self._expiry = expiry / SECONDS_PER_HOUR
        self.pooled = Pooled.start(np.zeros(0))
        self.page_ids: Rows = np.zeros(0, np.int64)
        self._index: dict[int, int] = {}
        self._place: dict[int, int] = {}  # a number for life: the order in which draws are made

    def restore(self, rows: list[SourceRow]) -> None:
        kinds = np.array([row.kind for row in rows], np.int64)
        self.add(np.array([row.page_id for row in rows], np.int64), kinds)
        self._place = {row.page_id: row.place for row in rows}
        self.pooled = replace(
            self.pooled,
            fetched_at=np.array([row.fetched_at for row in rows]),
            learned_at=np.array([row.learned_at for row in rows]),
            found=np.array([row.found for row in rows]),
            exposed=np.array([row.exposed for row in rows]),
            hour_found=_hours([row.hour_found for row in rows]),
            hour_expected=_hours([row.hour_expected for row in rows]),
        )

    def __contains__(self, page_id: int) -> bool:
        return page_id in self._index

    def add(self, rows: Rows, kinds: NDArray[np.integer]) -> None:
        """New sources with their kinds; those known already keep what was learned of them."""
        is_new = np.array([row not in self._index for row in rows.tolist()], np.bool_)
        new = rows[is_new]
        self._index.update({row: len(self._index) + i for i, row in enumerate(new.tolist())})
        last = max(self._place.values(), default=0)
        self._place.update({row: last + 1 + i for i, row in enumerate(new.tolist())})
        self.page_ids = np.concatenate((self.page_ids, new))
        offsets = [self._utc_offsets.get(int(site), 0.0) for site in self._table.site[new]]
        pooled = self.pooled.add(np.array(offsets), kinds[is_new].astype(np.int64))
        group = pooled.group.copy()
        group[self._places(rows)] = kinds
        self.pooled = replace(pooled, group=group)

    def forget(self, rows: Rows) -> None:
        """Pages that turned out to hold an offer, or are gone."""
        gone = np.isin(self.page_ids, rows)
        if gone.any():
            self.pooled = self.pooled.keep(~gone)
            self.page_ids = self.page_ids[~gone]
            self._index = {row: i for i, row in enumerate(self.page_ids.tolist())}

    def mask(self, rows: Rows) -> NDArray[np.bool_]:
        """Which of these sorted rows are sources."""
        found = np.zeros(len(rows), np.bool_)
        places = np.searchsorted(rows, self.page_ids)
        inside = places < len(rows)
        places = places[inside]
        found[places[rows[places] == self.page_ids[inside]]] = True
        return found

    def price(self, rows: Rows, now: float, *, worth: float) -> Floats:
        """What a fetch of each source is worth, in the unit of `worth`: one discovery."""
        index = self._places(rows)
        age = np.maximum(now - self.pooled.fetched_at[index], 0.0) / SECONDS_PER_HOUR
        rate = self.pooled.rate(now)[index]
        return source_price(
            worth=worth, rate=rate, age=age, half_life=self._half_life, expiry=self._expiry
        )

    def rate(self, rows: Rows, now: float) -> Floats:
        """Discoveries an hour."""
        return self.pooled.rate(now)[self._places(rows)]

    def fetched_at(self, rows: Rows) -> Floats:
        return self.pooled.fetched_at[self._places(rows)]

    def expected(self, rows: Rows, now: float) -> Floats:
        return self.pooled.expected_discoveries(now)[self._places(rows)]

    def drawn(self, rows: Rows, now: float, rng: np.random.Generator) -> Floats:
        """What each is expected to show, by a draw: the uncertain get their chance."""
        return self.pooled.drawn_discoveries(now, rng)[self._places(rows)]

    def _places(self, rows: Rows) -> NDArray[np.int64]:
        return np.array([self._index[row] for row in rows.tolist()], np.int64)

    def observe(self, rows: Rows, *, now: float, discoveries: Floats) -> list[SourceRow]:
        """Sources fetched in this tick; each at most once."""
        index = self._places(rows)
        self.pooled = self.pooled.observe(now=now, sources=index, discoveries=discoveries)
        return [self._stored(row, i) for row, i in zip(rows.tolist(), index.tolist(), strict=True)]

    def _stored(self, page_id: int, index: int) -> SourceRow:
        pooled = self.pooled
        return SourceRow(
            page_id=page_id,
            place=self._place[page_id],
            kind=int(pooled.group[index]),
            fetched_at=float(pooled.fetched_at[index]),
            learned_at=float(pooled.learned_at[index]),
            found=float(pooled.found[index]),
            exposed=float(pooled.exposed[index]),
            hour_found=pooled.hour_found[index].tobytes(),
            hour_expected=pooled.hour_expected[index].tobytes(),
        )


def _hours(blobs: list[bytes]) -> Floats:
    return np.array([np.frombuffer(blob) for blob in blobs]).reshape(len(blobs), 24)


def utc_offset(timezone: str, now: float) -> float:
    """Seconds that the site's clock is ahead of UTC."""
    offset = datetime.fromtimestamp(now, ZoneInfo(timezone)).utcoffset()
    return offset.total_seconds() if offset is not None else 0.0
