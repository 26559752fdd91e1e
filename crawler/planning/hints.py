"""Signals that wait for a fetch: which pages have one, and what it is worth."""

from dataclasses import dataclass
from enum import IntFlag
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.planning.table import PageTable
from policies.estimation.site_signals import SiteSignals
from storage.learning import SOURCE_KINDS


class Hint(IntFlag):
    """A kind of signal.  The bit is what the table and `fetch.signals` hold."""

    LASTMOD = 1
    FEED = 2
    LISTING_PRICE = 4
    PING = 8


HINT_OF_KIND = {hint.name.lower(): hint for hint in Hint if hint.name}
STAMPED = ("lastmod", "feed")  # kinds that carry a time stamp of their own
_BITS = np.array([hint.value for hint in Hint])
# Which signals a source brings, by its kind (storage.learning.SOURCE_KINDS): its column in SiteSignals.
_BROUGHT = np.array([2, 2, 0, 1])
_SITEMAP = SOURCE_KINDS.index("sitemap")


def waiting_kinds(mask: NDArray[np.integer]) -> NDArray[np.bool_]:
    """The bits of each mask as columns, shape (n, kinds)."""
    return np.asarray((mask[:, None] & _BITS) != 0)


def restore_signals(table: PageTable, signals: NDArray[Any]) -> None:
    """Takes up what earlier runs stored: the newest signal of each kind about each page."""
    for kind, hint in HINT_OF_KIND.items():
        of_kind = signals[signals["kind"] == kind.encode()]
        rows = of_kind["page_id"]
        if kind in STAMPED:
            table.signalled_at[rows] = np.maximum(table.signalled_at[rows], of_kind["changed_at"])
        table.hints[rows[of_kind["waits"]]] |= np.uint8(hint)


@dataclass(frozen=True, slots=True)
class Quality:
    """What a site's signals of one kind have been worth so far.  `recall` is that of all kinds together."""

    kind: str
    fetches: float
    precision: float
    recall: float
    worth_nats: float


class Hints:
    """Worth of the waiting signals, and how far a site's silence can be trusted."""

    def __init__(self, table: PageTable) -> None:
        self._table = table
        self.quality = SiteSignals.start(1, len(_BITS))
        self._heard_at: dict[int, float] = {}  # when a sitemap of each site was last read

    def hear(self, rows: NDArray[np.int64], source_kind: NDArray[np.integer], at: float) -> None:
        """Sources were read; what sitemaps did not announce until then has not been announced."""
        for site in self._table.site[rows[source_kind == _SITEMAP]].tolist():
            self._heard_at[site] = max(at, self._heard_at.get(site, 0.0))

    def heard_at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Until when each page's change would have been announced."""
        site = self._table.site[rows]
        by_site = np.zeros(int(site.max(initial=0)) + 1)
        for known, at in self._heard_at.items():
            if known < len(by_site):
                by_site[known] = at
        return by_site[site]

    def nats(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Freshness lost to the signals that wait for each page."""
        site = self._table.site[rows]
        worth = self._quality(site).worth()[site]
        return np.asarray((waiting_kinds(self._table.hints[rows]) * worth).sum(axis=1))

    def told(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The share of each page's changes that its site would have announced."""
        site = self._table.site[rows]
        covered = self._table.signalled_at[rows] > 0.0
        return np.where(covered, self._quality(site).coverage()[site], 0.0)

    def observe(
        self,
        rows: NDArray[np.int64],
        *,
        waiting: NDArray[np.integer],
        hazard: NDArray[np.float64],
        changed: NDArray[np.bool_],
        gained: NDArray[np.float64],
    ) -> None:
        """Learn from fetches that told whether their page changed."""
        site = self._table.site[rows].astype(np.int64)
        self.quality = self._quality(site).observe(
            site=site,
            waiting=waiting_kinds(waiting),
            covered=self._table.signalled_at[rows] > 0.0,
            hazard=hazard,
            changed=changed,
            gained=gained,
        )

    def bring(
        self,
        rows: NDArray[np.int64],
        *,
        source_kind: NDArray[np.integer],
        count: NDArray[np.integer],
        guess: float,
    ) -> NDArray[np.float64]:
        """Sources that brought so many signals; returns the seconds of freshness expected of them."""
        site, kind = self._table.site[rows].astype(np.int64), _BROUGHT[source_kind]
        self.quality = self._quality(site).bring(
            site=site, kind=kind, count=count.astype(np.float64)
        )
        return np.asarray(self.quality.gain(guess)[site, kind] * count)

    def qualities(self, site_id: int) -> list[Quality]:
        """Each kind of signal that a fetch of this site was able to check."""
        learned = self.quality.grow(site_id + 1)
        precision, worth, recall = learned.precision(), learned.worth(), learned.recall()
        return [
            Quality(
                kind=(hint.name or "").lower(),
                fetches=float(learned.signalled[site_id, place]),
                precision=float(precision[site_id, place]),
                recall=float(recall[site_id]),
                worth_nats=float(worth[site_id, place]),
            )
            for place, hint in enumerate(Hint)
            if learned.signalled[site_id, place] > 0.0
        ]

    def _quality(self, site: NDArray[np.integer]) -> SiteSignals:
        return self.quality.grow(int(site.max(initial=0)) + 1)
