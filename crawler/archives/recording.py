"""Something recorded that a crawl can be replayed on: its sites, its transport, and what it shows to be true."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from crawler.archives.captured import truth_of
from crawler.archives.captures import ArchiveError
from crawler.archives.index import ArchiveIndex, open_index
from crawler.archives.price_table import PriceTable, is_table, read_tables
from crawler.archives.replay import choose_sites
from crawler.archives.tables import TableTransport
from crawler.archives.transport import ArchiveTransport, Support
from crawler.archives.truth import Truth
from crawler.clock import Clock
from crawler.config import Config
from crawler.config.model import SiteSettings
from crawler.fetching.transport import Reply, Request


class RecordedTransport(Protocol):
    """A transport that counts how far the recording could answer."""

    support: Support

    async def send(self, request: Request) -> Reply: ...


class Recording(Protocol):
    """What a crawl is replayed on and judged by."""

    @property
    def truth(self) -> Truth: ...

    @property
    def sites(self) -> tuple[SiteSettings, ...]: ...

    def open_transport(
        self, config: Config, clock: Clock
    ) -> AbstractAsyncContextManager[RecordedTransport]: ...


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables of prices, each a site."""

    tables: list[PriceTable]
    truth: Truth
    sites: tuple[SiteSettings, ...]

    @asynccontextmanager
    async def open_transport(
        self, config: Config, clock: Clock
    ) -> AsyncIterator[RecordedTransport]:
        yield TableTransport(self.tables, clock)


@dataclass(frozen=True, slots=True)
class Archive:
    """Recorded HTTP."""

    index: ArchiveIndex
    truth: Truth
    sites: tuple[SiteSettings, ...]

    @asynccontextmanager
    async def open_transport(
        self, config: Config, clock: Clock
    ) -> AsyncIterator[RecordedTransport]:
        async with ArchiveTransport(self.index, clock, limits=config.fetch) as transport:
            yield transport


@lru_cache(maxsize=1)
def open_recording(paths: tuple[Path, ...], sites: tuple[SiteSettings, ...]) -> Recording:
    """Opened once in each process that replays it.  `sites` are the operator's, for archives that hold them."""
    if all(map(is_table, paths)):
        return _of_tables(read_tables(paths))
    if any(map(is_table, paths)):
        tables = ", ".join(str(path) for path in paths if is_table(path))
        raise ArchiveError(f"{tables}: want tables or archives, got both")
    index = open_index(list(paths))
    config = choose_sites(Config(site=sites), index, ())
    return Archive(index, truth_of(index, config), config.site)


def _of_tables(tables: list[PriceTable]) -> Tables:
    sites = tuple(SiteSettings(name=t.host, start=(f"{t.origin}/",)) for t in tables)
    return Tables(tables, joined([table.truth for table in tables]), sites)


def joined(truths: Sequence[Truth]) -> Truth:
    """Several sites' truths as one, their offers numbered on."""
    sizes = [len(truth.urls) for truth in truths]
    first = np.cumsum([0, *sizes[:-1]])
    n_sites = np.cumsum([0, *(len(truth.sites) for truth in truths[:-1])])
    return Truth(
        urls=tuple(url for truth in truths for url in truth.urls),
        sites=tuple(site for truth in truths for site in truth.sites),
        site=np.concatenate([t.site + n for t, n in zip(truths, n_sites, strict=True)]),
        weight=np.concatenate([truth.weight for truth in truths]),
        offer=np.concatenate([t.offer + n for t, n in zip(truths, first, strict=True)]),
        at=np.concatenate([truth.at for truth in truths]),
        until_at=np.concatenate([truth.until_at for truth in truths]),
        price_micros=np.concatenate([truth.price_micros for truth in truths]),
        captured_at=np.unique(np.concatenate([truth.captured_at for truth in truths])),
        between=float(np.median([truth.between for truth in truths])),
    )
