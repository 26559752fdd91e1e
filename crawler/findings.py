"""What one reply says: from status, headers and body to an outcome and facts.  Pure."""

from dataclasses import dataclass

import xxhash

from crawler.fetching.outcome import Outcome
from crawler.fetching.retry_after import retry_after
from crawler.fetching.transport import Reply
from crawler.reading.facts import PageFacts, SourceFacts, Trouble
from crawler.reading.urls import UrlRules, canonical_url

OUTCOME_OF_TROUBLE: dict[Trouble, Outcome] = {
    Trouble.BOT_WALL: Outcome.WALL,
    Trouble.CONSENT: Outcome.CONSENT,
    Trouble.SOFT_404: Outcome.SOFT_404,
    Trouble.ERROR_PAGE: Outcome.ERROR_PAGE,
    Trouble.EMPTY_SHELL: Outcome.EMPTY_SHELL,
    Trouble.PARSER_STALL: Outcome.PARSER_STALL,
    Trouble.NOT_HTML: Outcome.WRONG_TYPE,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One exchange, understood.  `page` and `source` are None when nothing new was read."""

    outcome: Outcome
    started_at: float
    duration: float
    status: int | None = None
    wire_bytes: int | None = None
    body_hash: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_after: float | None = None
    target: str | None = None
    page: PageFacts | None = None
    source: SourceFacts | None = None
    note: str | None = None


def hash_body(body: bytes) -> int:
    """64 bits, signed as SQLite keeps them."""
    digest = xxhash.xxh3_64_intdigest(body)
    return digest - (1 << 64) if digest >= 1 << 63 else digest


def find(
    reply: Reply,
    outcome: Outcome,
    *,
    started_at: float,
    body_hash: int | None = None,
    target: str | None = None,
    page: PageFacts | None = None,
    source: SourceFacts | None = None,
    note: str | None = None,
) -> Finding:
    """A finding with all that the reply's head says."""
    headers = reply.headers
    return Finding(
        outcome=outcome,
        started_at=started_at,
        duration=reply.duration,
        status=reply.status,
        wire_bytes=reply.wire_bytes,
        body_hash=body_hash,
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
        retry_after=retry_after(headers.get("retry-after"), now=started_at + reply.duration),
        target=target,
        page=page,
        source=source,
        note=note,
    )


def find_redirect(reply: Reply, *, started_at: float, rules: UrlRules) -> Finding:
    """Where a redirect leads.  One that leads to no page is the server's error."""
    location = reply.headers.get("location", "")
    target = canonical_url(location, base=reply.url, rules=rules) if location else None
    if target is not None:
        return find(reply, Outcome.REDIRECTED, started_at=started_at, target=target)
    note = f"redirect to no page: {location[:200]!r}"
    return find(reply, Outcome.CLIENT_ERROR, started_at=started_at, note=note)


def has_wanted_type(content_type: str | None, wanted: tuple[str, ...]) -> bool:
    """Servers that say nothing are given the benefit of the doubt."""
    if not content_type:
        return True
    return content_type.partition(";")[0].strip().lower() in wanted
