"""From a pick and its reply to a finding: the cheapest way that is safe."""

import dataclasses

from crawler.apart import ApartReader
from crawler.clock import Clock
from crawler.config.model import Config
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import Reply
from crawler.findings import (
    OUTCOME_OF_TROUBLE,
    Finding,
    find_by_status,
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
        finding = find_by_status(reply, started_at=started_at, rules=rules.links.urls)
        if finding.outcome is not Outcome.OK:
            return finding
        content_type = reply.headers.get("content-type")
        if not has_wanted_type(content_type, self._content_types):
            note = f"fetch.content_types does not name {(content_type or '')[:100]!r}"
            return dataclasses.replace(finding, outcome=Outcome.WRONG_TYPE, note=note)
        finding = dataclasses.replace(finding, body_hash=hash_body(reply.body))
        if finding.body_hash == pick.page.body_hash:
            return finding
        if looks_like_source(reply.body, content_type):
            source = read_source(reply.body, reply.url, content_type, rules.links.urls)
            return dataclasses.replace(finding, source=source)
        return await self._read_page(finding, reply, content_type, rules)

    async def _read_page(
        self, finding: Finding, reply: Reply, content_type: str | None, rules: ReadingRules
    ) -> Finding:
        read = self._apart.read if looks_costly(reply.body) else _read_here
        facts = await read(
            reply.body, url=reply.url, content_type=content_type, status=reply.status, rules=rules
        )
        if facts.trouble is not None:
            outcome = OUTCOME_OF_TROUBLE[facts.trouble]
            return dataclasses.replace(finding, outcome=outcome, body_hash=None)
        return dataclasses.replace(finding, page=facts)


async def _read_here(
    body: bytes, *, url: str, content_type: str | None, status: int, rules: ReadingRules
) -> PageFacts:
    return read_page(body, url=url, content_type=content_type, status=status, rules=rules)
