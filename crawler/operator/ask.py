"""Asks one live host one question, as politely as a crawl would."""

from dataclasses import dataclass

from crawler.clock import Clock
from crawler.config import Config
from crawler.crawl import live_transport
from crawler.fetching.politeness import HostGate
from crawler.fetching.robots_cache import RobotsCache, RobotsEntry
from crawler.fetching.transport import FetchError, Reply, Request
from crawler.fetching.turns import Turns
from crawler.operator.exits import OperatorError
from crawler.reading.urls import canonical_url, host_of


@dataclass(frozen=True, slots=True)
class Answer:
    """The host's rules, and its reply if it was asked for the page and the rules allow it."""

    robots: RobotsEntry
    reply: Reply | None


def web_address(text: str) -> str:
    url = canonical_url(text)
    if url is None:
        raise OperatorError(f"want a web address, got {text!r}")
    return url


async def ask(config: Config, url: str, *, fetch: bool) -> Answer:
    """robots.txt always; the page, with `fetch`, when robots.txt allows it."""
    clock = Clock()
    gate = HostGate(config.politeness)
    turns = Turns(clock, gate, per_host=1)
    async with live_transport(config, clock) as transport:
        cache = RobotsCache(
            config.robots,
            product_token=config.crawl.product_token,
            clock=clock,
            transport=transport,
            turns=turns,
            gate=gate,
            on_fetched=lambda row, entry: None,
        )
        entry = await cache.entry(url)
        if not fetch or not entry.rules.allows(url):
            return Answer(entry, None)
        await turns.take(host_of(url))
        try:
            return Answer(entry, await transport.send(Request(url)))
        except FetchError as error:
            raise OperatorError(f"{error.outcome}: {error}") from error
