"""Which site does a URL belong to, and may it be crawled?  Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

from crawler.config.model import SiteSettings, weight_and_pattern
from crawler.reading.urls import canonical_url, host_of


class OutOfScope(StrEnum):
    """Why a URL is not ours to crawl."""

    HOST = "other_host"
    NOT_INCLUDED = "not_included"
    EXCLUDED = "excluded"
    DEPTH = "too_deep"
    SITE_FULL = "site_full"


@dataclass(frozen=True, slots=True)
class SiteScope:
    """One site's rules, compiled."""

    site_id: int
    settings: SiteSettings
    start: tuple[str, ...]
    sitemaps: tuple[str, ...]
    hosts: frozenset[str]
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]
    importance: tuple[tuple[float, re.Pattern[str]], ...]

    @property
    def has_rules(self) -> bool:
        """Whether one page of the site may be treated otherwise than the next."""
        limits = self.settings.max_depth is not None
        return bool(limits or self.include or self.exclude or self.importance)

    def importance_of(self, url: str) -> float:
        """The weight of the first rule that fits; 1 without one."""
        for weight, pattern in self.importance:
            if pattern.search(url):
                return weight
        return 1.0

    def refuses(self, url: str, *, depth: int) -> OutOfScope | None:
        """None for what the operator named: `include` is about what is found from there."""
        if url in self.start or url in self.sitemaps:
            return None
        if self.settings.max_depth is not None and depth > self.settings.max_depth:
            return OutOfScope.DEPTH
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return OutOfScope.NOT_INCLUDED
        if any(pattern.search(url) for pattern in self.exclude):
            return OutOfScope.EXCLUDED
        return None


class Scope:
    """All sites, found by host.  The first site that names a host owns it."""

    def __init__(self, sites: dict[int, SiteSettings]) -> None:
        self.sites = {site_id: compile_site(site_id, site) for site_id, site in sites.items()}
        self._by_host: dict[str, SiteScope] = {}
        for site in self.sites.values():
            for host in site.hosts:
                self._by_host.setdefault(host, site)

    def site_of_host(self, host: str) -> SiteScope | None:
        return self._by_host.get(host)


def compile_site(site_id: int, settings: SiteSettings) -> SiteScope:
    start, sitemaps = _canonical(settings.start), _canonical(settings.sitemaps)
    return SiteScope(
        site_id=site_id,
        settings=settings,
        start=start,
        sitemaps=sitemaps,
        hosts=frozenset([*map(host_of, (*start, *sitemaps)), *settings.hosts]),
        include=tuple(re.compile(pattern) for pattern in settings.include),
        exclude=tuple(re.compile(pattern) for pattern in settings.exclude),
        importance=tuple(filter(None, map(weight_and_pattern, settings.importance))),
    )


def _canonical(urls: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, map(canonical_url, urls)))
