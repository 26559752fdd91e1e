"""The same crawl over an archive, in virtual time: which sites, from when to when, and one run of it."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from crawler.archives.captures import ArchiveError
from crawler.archives.index import ArchiveIndex
from crawler.archives.transport import ArchiveTransport, Support
from crawler.clock import Clock, run_virtual
from crawler.config import Config, sites_from_urls
from crawler.config.model import SiteSettings
from crawler.config.units import Duration
from crawler.crawl import Report, Summary, crawl
from crawler.engine import Engine
from crawler.fetching.transport import Transport
from crawler.reading.urls import canonical_url, host_of, origin_of, page_hash

_FIRST_PAGES = 3


@dataclass(frozen=True, slots=True)
class Replayed:
    """One run over an archive.  `once`: the archive shows each page at one date, so it was only discovered."""

    summary: Summary
    support: Support
    began_at: float
    once: bool


def replay(
    config: Config,
    index: ArchiveIndex,
    *,
    once: bool = False,
    report: Report = lambda pick, observation: None,
    started: Callable[[Engine, Clock], None] = lambda engine, clock: None,
) -> Replayed:
    """Runs the settings over the archive, from its first capture to its last, or to `crawl.stop_after`."""
    began_at = index.first_at
    once = once or index.recaptured(apart=config.crawl.revisit) == 0.0
    if not once:
        config = _until_the_end(config, index)
    made: list[ArchiveTransport] = []

    @asynccontextmanager
    async def open_transport(config: Config, clock: Clock) -> AsyncIterator[Transport]:
        async with ArchiveTransport(index, clock, limits=config.fetch) as transport:
            made.append(transport)
            yield transport

    async def main() -> Summary:
        clock = Clock(began_at)
        return await crawl(
            config,
            clock=clock,
            open_transport=open_transport,
            once=once,
            report=report,
            started=lambda engine: started(engine, clock),
        )

    summary = run_virtual(main())
    return Replayed(summary, made[0].support, began_at, once)


def _until_the_end(config: Config, index: ArchiveIndex) -> Config:
    if config.crawl.stop_after is not None:
        return config
    span = Duration(f"{index.last_at - index.first_at:.3f}s")
    return config.model_copy(update={"crawl": config.crawl.model_copy(update={"stop_after": span})})


def choose_sites(config: Config, index: ArchiveIndex, asked: Sequence[str]) -> Config:
    """The sites asked for, else the config's if the archive has any of their start pages, else all it has."""
    sites = sites_from_urls(asked) or config.site
    if not any(_captured(url, index) for site in sites for url in site.start):
        if asked:
            raise ArchiveError(f"--start: want a page in the archive, got {' '.join(asked)}")
        sites = sites_in(index)
    return config.model_copy(update={"site": sites})


def _captured(url: str, index: ArchiveIndex) -> bool:
    canonical = canonical_url(url)
    return canonical is not None and bool(index.rows_of(page_hash(canonical)))


def sites_in(index: ArchiveIndex) -> tuple[SiteSettings, ...]:
    """A site for each host with a readable page: its home page, if that was captured, and its first pages.

    More than one, because a home page may be no more than a script that leads to the next.
    """
    starts: dict[str, list[str]] = {}
    for row in index.first_rows():
        if not index.is_html[row] or not 200 <= index.status[row] < 400:
            continue
        url = index.url(row)
        found = starts.setdefault(host_of(url), [])
        if len(found) < _FIRST_PAGES or url == f"{origin_of(url)}/":
            found.append(url)
    if not starts:
        raise ArchiveError(
            "the archive holds no HTML page to start from; name one with --start URL"
        )
    return tuple(SiteSettings(name=host, start=tuple(urls)) for host, urls in starts.items())
