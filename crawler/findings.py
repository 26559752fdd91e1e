"""What one reply says: from status, headers and body to an outcome and facts.  Pure."""

from dataclasses import dataclass

import xxhash

from crawler.fetching.outcome import Outcome, outcome_of_status
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


def find_by_status(reply: Reply, *, started_at: float, rules: UrlRules) -> Finding:
    """What status and headers alone say."""
    outcome = outcome_of_status(reply.status)
    target = None
    note = None
    if outcome is Outcome.REDIRECTED:
        location = reply.headers.get("location", "")
        target = canonical_url(location, base=reply.url, rules=rules) if location else None
        if target is None:
            outcome = Outcome.CLIENT_ERROR
            note = f"redirect to no page: {location[:200]!r}"
    return Finding(
        outcome=outcome,
        started_at=started_at,
        duration=reply.duration,
        status=reply.status,
        wire_bytes=reply.wire_bytes,
        etag=reply.headers.get("etag"),
        last_modified=reply.headers.get("last-modified"),
        retry_after=retry_after(reply.headers.get("retry-after"), now=started_at + reply.duration),
        target=target,
        note=note,
    )


def has_wanted_type(content_type: str | None, wanted: tuple[str, ...]) -> bool:
    """Servers that say nothing are given the benefit of the doubt."""
    if not content_type:
        return True
    return content_type.partition(";")[0].strip().lower() in wanted
