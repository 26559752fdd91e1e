"""Addresses: one identity per page, its pattern, its traps, and what may stand for it."""

from crawler.reading.urls.identity import (
    DEFAULT,
    MAX_HREF,
    PLAIN,
    SESSION,
    TRACKING,
    Refusal,
    UrlRules,
    canonical_url,
    canonical_urls,
    host_name,
    host_of,
    origin_of,
    page_hash,
    registered_domain,
    whatwg_url,
    why_refused,
)

__all__ = [
    "DEFAULT",
    "MAX_HREF",
    "PLAIN",
    "SESSION",
    "TRACKING",
    "Refusal",
    "UrlRules",
    "canonical_url",
    "canonical_urls",
    "host_name",
    "host_of",
    "origin_of",
    "page_hash",
    "registered_domain",
    "whatwg_url",
    "why_refused",
]
