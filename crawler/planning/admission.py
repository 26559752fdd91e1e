"""Turns newly seen URLs into pages, or into a count under the name of what kept them out."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from crawler.planning.scope import OutOfScope, Scope, SiteScope
from crawler.planning.table import PageTable
from crawler.reading.urls import host_of, page_hash
from crawler.reading.urls.patterns import url_pattern
from crawler.reading.urls.traps import trap
from storage.rows import Batch, DroppedRow, HostRow, PageRow, PatternRow

_REMEMBERED = 100_000  # URL strings kept to pass over a template's links at 0.05 us each

_DEEPEST = 32_767  # what a depth column holds: an endless chain of pages must not overflow it


class Hosts:
    """Names and ids of hosts.  A new name gets the next id."""

    def __init__(self, rows: Iterable[HostRow] = ()) -> None:
        self._ids = {row.name: row.id for row in rows}
        self._names = {row.id: row.name for row in rows}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, name: str) -> bool:
        return name in self._ids

    def id_of(self, name: str) -> int:
        found = self._ids.get(name)
        if found is None:
            found = len(self._ids) + 1
            self._ids[name] = found
            self._names[found] = name
        return found

    def name_of(self, host_id: int) -> str:
        return self._names[host_id]

    def names(self) -> dict[int, str]:
        return self._names


class Patterns:
    """Ids of URL patterns, and how many pages each has.  A new pattern gets the next id."""

    def __init__(self, ids: dict[str, int], pages: NDArray[np.integer]) -> None:
        self._ids = ids
        self._pages = Counter(dict(enumerate(np.bincount(pages).tolist())))

    def id_of(self, url: str, batch: Batch) -> int:
        pattern = url_pattern(url)
        found = self._ids.get(pattern)
        if found is None:
            found = len(self._ids) + 1
            self._ids[pattern] = found
            batch.patterns.append(PatternRow(found, pattern))
        return found

    def pages(self, pattern_id: int) -> int:
        return self._pages[pattern_id]

    def count(self, pattern_id: int) -> None:
        self._pages[pattern_id] += 1


class Admission:
    """The way into the page table: scope, traps, caps, and never the same URL twice."""

    def __init__(
        self,
        scope: Scope,
        table: PageTable,
        hosts: Hosts,
        *,
        patterns: Patterns,
        site_pages: dict[int, int],
    ) -> None:
        self._patterns = patterns
        self._scope = scope
        self._table = table
        self._hosts = hosts
        self._site_pages = Counter(site_pages)
        self._host_pages: Counter[str] = Counter()
        self._remembered: set[str] = set()
        self._unstored = Batch()

    def take_unstored(self) -> Batch:
        """New hosts and patterns.  They go with the very next write, whosever it is: a crash must not leave
        a page whose host or pattern is unknown."""
        unstored, self._unstored = self._unstored, Batch()
        return unstored

    def admit(
        self,
        urls: Iterable[str],
        batch: Batch,
        *,
        how: str,
        source_id: int | None,
        depth: int,
        now: float,
        source_url: str | None = None,
    ) -> list[PageRow]:
        """The pages among `urls` that are new; their rows and the drops' counts are put into `batch`."""
        depth = min(depth, _DEEPEST)
        candidates, dropped = self._in_scope(urls, depth)
        if not candidates and not dropped:  # as on most pages: their links were seen before
            return []
        new: list[PageRow] = []
        known = self._table.find_many([page_hash(url) for url, _, _ in candidates])
        for (url, host, site), page_id in zip(candidates, known, strict=True):
            if page_id:
                continue
            pattern = self._patterns.id_of(url, self._unstored)
            why = self._refusal(url, host, site, pattern, source_url)
            if why is not None:
                dropped[site.site_id, why] += 1
                continue
            if host not in self._hosts:
                self._unstored.hosts.append(HostRow(self._hosts.id_of(host), host))
            page_id, host_id = self._add(url, host, site, depth=depth, pattern=pattern)
            new.append(
                PageRow(
                    id=page_id,
                    url=url,
                    url_hash=page_hash(url),
                    site_id=site.site_id,
                    host_id=host_id,
                    depth=depth,
                    how=how,
                    source_id=source_id,
                    discovered_at=now,
                    pattern_id=pattern,
                )
            )
        batch.pages.extend(new)
        batch.dropped.extend(DroppedRow(site, why, count) for (site, why), count in dropped.items())
        return new

    def _in_scope(
        self, urls: Iterable[str], depth: int
    ) -> tuple[list[tuple[str, str, SiteScope]], Counter[tuple[int, str]]]:
        candidates: list[tuple[str, str, SiteScope]] = []
        dropped: Counter[tuple[int, str]] = Counter()
        if len(self._remembered) > _REMEMBERED:
            self._remembered.clear()
        for url in dict.fromkeys([url for url in urls if url not in self._remembered]):
            host = host_of(url)
            site = self._scope.site_of_host(host)
            why = OutOfScope.HOST if site is None else site.refuses(url, depth=depth)
            if why is not OutOfScope.DEPTH:  # a shorter way to it may be found later
                self._remembered.add(url)
            if site is not None and why is None:
                candidates.append((url, host, site))
            elif why is not None:
                dropped[site.site_id if site else 0, why] += 1
        return candidates, dropped

    def refusal(self, url: str, site: SiteScope) -> str | None:
        """What would keep a new URL within the site's scope out: a full site, a trap."""
        pattern = self._patterns.id_of(url, self._unstored)
        return self._refusal(url, host_of(url), site, pattern, None)

    def _refusal(
        self, url: str, host: str, site: SiteScope, pattern: int, source_url: str | None
    ) -> str | None:
        if self._site_pages[site.site_id] >= site.settings.max_pages:
            return OutOfScope.SITE_FULL
        return trap(
            url,
            source=source_url,
            pattern_pages=self._patterns.pages(pattern),
            host_pages=self._host_pages[host],
        )

    def _add(
        self, url: str, host: str, site: SiteScope, *, depth: int, pattern: int
    ) -> tuple[int, int]:
        """Enters the page; returns its id and its host's."""
        host_id = self._hosts.id_of(host)
        page_id = self._table.add(
            page_hash(url), site=site.site_id, host=host_id, depth=depth, pattern=pattern
        )
        self._table.importance[page_id] = site.importance_of(url)
        self._site_pages[site.site_id] += 1
        self._host_pages[host] += 1
        self._patterns.count(pattern)
        return page_id, host_id
