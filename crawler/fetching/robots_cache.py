"""Fetches, keeps and renews each origin's robots.txt by RFC 9309, one fetch however many ask."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from crawler.clock import Clock
from crawler.config.model import RobotsSettings
from crawler.fetching.outcome import Outcome, outcome_of_status
from crawler.fetching.politeness import HostGate
from crawler.fetching.retry_after import retry_after
from crawler.fetching.robots import ALLOW_ALL, DENY_ALL, RobotsRules, parse_robots
from crawler.fetching.transport import FetchError, Reply, Request, Transport
from crawler.fetching.turns import Turns
from crawler.reading.urls import canonical_url, host_of, origin_of
from storage.rows import RobotsRow

_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_DAY = 86_400.0
_RETRY_AFTER = 600.0  # a host whose robots.txt cannot be had is asked again after ten minutes


@dataclass(frozen=True, slots=True)
class RobotsEntry:
    """The rules of one origin and until when they hold."""

    rules: RobotsRules
    outcome: Outcome
    status: int | None
    fetched_at: float
    expires_at: float


class RobotsCache:
    """The rules of every origin asked for.  `on_fetched` is told of each new robots.txt, to store it."""

    def __init__(
        self,
        settings: RobotsSettings,
        *,
        product_token: str,
        clock: Clock,
        transport: Transport,
        turns: Turns,
        gate: HostGate,
        on_fetched: Callable[[RobotsRow, RobotsEntry], None],
    ) -> None:
        self._settings = settings
        self._product_token = product_token
        self._clock = clock
        self._transport = transport
        self._turns = turns
        self._gate = gate
        self._on_fetched = on_fetched
        self._entries: dict[str, RobotsEntry] = {}
        self._fetching: dict[str, asyncio.Lock] = {}

    def restore(self, row: RobotsRow) -> None:
        """Takes up what an earlier run stored, but for what our own settings forbade: they may be others."""
        if row.outcome != Outcome.FORBIDDEN_ADDRESS:
            self._keep(row)

    def known(self, url: str) -> RobotsEntry | None:
        """What is cached and still holds, without asking anybody."""
        entry = self._entries.get(origin_of(url))
        return entry if entry is not None and entry.expires_at > self._clock.now() else None

    def last_word(self, url: str) -> RobotsEntry | None:
        """What a fetch that starts now goes by.  A shorter robots.ttl may have run out while the turn was
        awaited; the RFC's day may not."""
        entry = self._entries.get(origin_of(url))
        return entry if entry is not None and self._clock.now() - entry.fetched_at < _DAY else None

    async def entry(self, url: str) -> RobotsEntry:
        """The entry for a URL's origin, fetched if there is none that still holds."""
        known = self.known(url)
        if known is not None:
            return known
        origin = origin_of(url)
        async with self._fetching.setdefault(origin, asyncio.Lock()):
            known = self.known(url)
            if known is not None:  # somebody else fetched it while we waited
                return known
            row = await self._fetch(origin)
            entry = self._keep(row)
        self._on_fetched(row, entry)
        return entry

    def _keep(self, row: RobotsRow) -> RobotsEntry:
        entry = interpret(row, settings=self._settings, product_token=self._product_token)
        self._entries[row.origin] = entry
        if entry.rules.crawl_delay is not None:
            host = host_of(row.origin + "/")
            self._gate.set_crawl_delay(host, max(0.0, entry.rules.crawl_delay))
        return entry

    async def _fetch(self, origin: str) -> RobotsRow:
        url = f"{origin}/robots.txt"
        for _ in range(_REDIRECTS + 1):
            try:
                reply = await self._ask(url)
            except FetchError as error:
                return RobotsRow(origin, self._clock.now(), error.outcome, None, None)
            outcome = outcome_of_status(reply.status)
            location = reply.headers.get("location", "")
            target = canonical_url(location, base=url) if location else None
            if outcome is Outcome.REDIRECTED and target:
                url = target
                continue
            body = reply.body[: self._settings.max_size] if outcome is Outcome.OK else None
            return RobotsRow(origin, self._clock.now(), outcome, reply.status, body)
        return RobotsRow(origin, self._clock.now(), Outcome.TOO_MANY_REDIRECTS, None, None)

    async def _ask(self, url: str) -> Reply:
        """One exchange in its own turn, so that no turn is held while waiting for another host's."""
        host = host_of(url)
        await self._turns.take(host)
        self._turns.begin(host)
        try:
            reply = await self._transport.send(Request(url))
        except FetchError:
            self._gate.failed(host, ended_at=self._clock.now())
            raise
        finally:
            self._turns.give_back(host)
        self._keep_pace(host, reply)
        return reply

    def _keep_pace(self, host: str, reply: Reply) -> None:
        now = self._clock.now()
        outcome = outcome_of_status(reply.status)
        if outcome is Outcome.THROTTLED:
            wait = retry_after(reply.headers.get("retry-after"), now=now)
            self._gate.refused(host, ended_at=now, retry_after=wait, jitter=0.0)
        elif outcome is Outcome.SERVER_ERROR:
            self._gate.failed(host, ended_at=now)
        else:
            self._gate.succeeded(host, ended_at=now, duration=reply.duration)


def interpret(row: RobotsRow, *, settings: RobotsSettings, product_token: str) -> RobotsEntry:
    """RFC 9309, 2.3.1: found: its rules; 4xx or too many redirects: allowed; 5xx or unreachable: denied."""
    outcome = Outcome(row.outcome)
    ttl: float = settings.ttl
    if outcome is Outcome.OK:
        rules = parse_robots(
            row.body or b"", product_token=product_token, max_size=settings.max_size
        )
    elif outcome is Outcome.TOO_MANY_REDIRECTS or (
        row.status is not None and _allows_all(row.status)
    ):
        rules = ALLOW_ALL
    else:
        rules, ttl = DENY_ALL, min(_RETRY_AFTER, settings.ttl)
    return RobotsEntry(rules, outcome, row.status, row.fetched_at, row.fetched_at + ttl)


def _allows_all(status: int) -> bool:
    # 429 says "too fast", not "no rules": treated as unreachable.
    return 300 <= status < 500 and status != 429
