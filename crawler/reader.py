"""From a pick and its reply to a finding: the cheapest way that is safe."""

from crawler.apart import ApartReader
from crawler.clock import Clock
from crawler.config.model import Config
from crawler.fetching.outcome import Outcome, outcome_of_status
from crawler.fetching.transport import Reply
from crawler.findings import (
    OUTCOME_OF_TROUBLE,
    Finding,
    find,
    find_redirect,
    has_wanted_type,
    hash_body,
)
from crawler.planning.plan import Pick
from crawler.reading.facts import PageFacts
from crawler.reading.html.costly import looks_costly
from crawler.reading.page import read_page
from crawler.reading.rules import ReadingRules
from crawler.reading.sources.sitemaps import looks_like_source, read_source


class Reader:
    """Reads replies.  An unchanged body is not read again; a page that might stall the parser is read apart."""

    def __init__(self, config: Config, clock: Clock, rules: dict[int, ReadingRules]) -> None:
        self._content_types = config.fetch.content_types
        self._rules = rules
        self._apart = ApartReader(clock, deadline=config.fetch.parse_deadline)

    async def read(self, pick: Pick, reply: Reply, *, started_at: float) -> Finding:
        rules = self._rules[pick.page.site_id]
        outcome = outcome_of_status(reply.status)
        if outcome is Outcome.REDIRECTED:
            return find_redirect(reply, started_at=started_at, rules=rules.links.urls)
        if outcome is not Outcome.OK:
            return find(reply, outcome, started_at=started_at)
        content_type = reply.headers.get("content-type")
        if not has_wanted_type(content_type, self._content_types):
            note = f"fetch.content_types does not name {(content_type or '')[:100]!r}"
            return find(reply, Outcome.WRONG_TYPE, started_at=started_at, note=note)
        body_hash = hash_body(reply.body)
        if body_hash == pick.page.body_hash:
            return find(reply, outcome, started_at=started_at, body_hash=body_hash)
        if looks_like_source(reply.body, content_type):
            source = read_source(reply.body, reply.url, content_type, rules.links.urls)
            return find(reply, outcome, started_at=started_at, body_hash=body_hash, source=source)
        facts = await self._read_page(reply, content_type, rules)
        if facts.trouble is not None:
            return find(reply, OUTCOME_OF_TROUBLE[facts.trouble], started_at=started_at)
        return find(reply, outcome, started_at=started_at, body_hash=body_hash, page=facts)

    async def _read_page(
        self, reply: Reply, content_type: str | None, rules: ReadingRules
    ) -> PageFacts:
        read = self._apart.read if looks_costly(reply.body) else _read_here
        return await read(
            reply.body, url=reply.url, content_type=content_type, status=reply.status, rules=rules
        )


async def _read_here(
    body: bytes, *, url: str, content_type: str | None, status: int, rules: ReadingRules
) -> PageFacts:
    return read_page(body, url=url, content_type=content_type, status=status, rules=rules)
