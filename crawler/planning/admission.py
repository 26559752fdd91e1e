"""Turns newly seen URLs into pages, or into a count under the name of what kept them out."""

from collections import Counter
from collections.abc import Iterable

from crawler.planning.scope import OutOfScope, Scope, SiteScope
from crawler.planning.table import PageTable
from crawler.reading.patterns import url_pattern
from crawler.reading.traps import trap
from crawler.reading.urls import host_of, page_hash
from storage.rows import Batch, DroppedRow, HostRow, PageRow

_REMEMBERED = 100_000  # URL strings kept to pass over a template's links at 0.05 us each


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


class Admission:
    """The way into the page table: scope, traps, caps, and never the same URL twice."""

    def __init__(
        self,
        scope: Scope,
        table: PageTable,
        hosts: Hosts,
        *,
        site_pages: dict[int, int],
    ) -> None:
        self._scope = scope
        self._table = table
        self._hosts = hosts
        self._site_pages = Counter(site_pages)
        self._pattern_pages: Counter[str] = Counter()
        self._host_pages: Counter[str] = Counter()
        self._remembered: set[str] = set()

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
        candidates, dropped = self._in_scope(urls, depth)
        new: list[PageRow] = []
        known = self._table.find_many([page_hash(url) for url, _, _ in candidates])
        for (url, host, site), page_id in zip(candidates, known, strict=True):
            if page_id:
                continue
            why = self._refusal(url, host, site, source_url)
            if why is not None:
                dropped[site.site_id, why] += 1
                continue
            if host not in self._hosts:  # stored with its first page: a crash must not part the two
                batch.hosts.append(HostRow(self._hosts.id_of(host), host))
            new.append(
                self._add(url, host, site, how=how, source_id=source_id, depth=depth, now=now)
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
        for url in urls:
            if url in self._remembered:
                continue
            self._remembered.add(url)
            host = host_of(url)
            site = self._scope.site_of_host(host)
            if site is None:
                dropped[0, OutOfScope.HOST] += 1
                continue
            why = site.refuses(url, depth=depth)
            if why is not None:
                dropped[site.site_id, why] += 1
            else:
                candidates.append((url, host, site))
        return candidates, dropped

    def _refusal(self, url: str, host: str, site: SiteScope, source_url: str | None) -> str | None:
        if self._site_pages[site.site_id] >= site.settings.max_pages:
            return OutOfScope.SITE_FULL
        pattern = url_pattern(url)
        why = trap(
            url,
            source=source_url,
            pattern_pages=self._pattern_pages[pattern],
            host_pages=self._host_pages[host],
        )
        if why is None:
            self._pattern_pages[pattern] += 1
            self._host_pages[host] += 1
        return why

    def _add(
        self,
        url: str,
        host: str,
        site: SiteScope,
        *,
        how: str,
        source_id: int | None,
        depth: int,
        now: float,
    ) -> PageRow:
        url_hash, host_id = page_hash(url), self._hosts.id_of(host)
        page_id = self._table.add(url_hash, site=site.site_id, host=host_id, depth=depth)
        self._site_pages[site.site_id] += 1
        return PageRow(page_id, url, url_hash, site.site_id, host_id, depth, how, source_id, now)
