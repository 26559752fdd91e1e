"""The command robots: what a host's robots.txt lets us do."""

import argparse
import asyncio
import json
import sys

from crawler.clock import Clock
from crawler.config import Config
from crawler.crawl import live_transport
from crawler.fetching.politeness import HostGate
from crawler.fetching.robots_cache import RobotsCache, RobotsEntry
from crawler.fetching.turns import Turns
from crawler.operator.exits import Exit, OperatorError, told_errors
from crawler.operator.settings import load_for_asking
from crawler.reading.urls import canonical_url, origin_of


@told_errors
def robots(arguments: argparse.Namespace) -> int:
    config = load_for_asking(arguments)
    url = canonical_url(arguments.url)
    if url is None:
        raise OperatorError(f"want a web address, got {arguments.url!r}")
    entry = asyncio.run(_ask(config, url))
    allowed = entry.rules.allows(url)
    if arguments.json:
        sys.stdout.write(json.dumps(_facts(config, url, entry, allowed=allowed)) + "\n")
    else:
        sys.stdout.writelines(line + "\n" for line in _lines(config, url, entry, allowed=allowed))
    return Exit.DONE if allowed else Exit.NOTHING


async def _ask(config: Config, url: str) -> RobotsEntry:
    clock = Clock()
    gate = HostGate(config.politeness)
    async with live_transport(config, clock) as transport:
        cache = RobotsCache(
            config.robots,
            product_token=config.crawl.product_token,
            clock=clock,
            transport=transport,
            turns=Turns(clock, gate, per_host=1),
            gate=gate,
            on_fetched=lambda row, entry: None,
        )
        return await cache.entry(url)


def _facts(config: Config, url: str, entry: RobotsEntry, *, allowed: bool) -> dict[str, object]:
    return {
        "url": url,
        "agent": config.crawl.product_token,
        "allowed": allowed,
        "robots": f"{origin_of(url)}/robots.txt",
        "outcome": entry.outcome,
        "status": entry.status,
        "crawl_delay": entry.rules.crawl_delay,
        "sitemaps": list(entry.rules.sitemaps),
    }


def _lines(config: Config, url: str, entry: RobotsEntry, *, allowed: bool) -> list[str]:
    verdict = "may" if allowed else "may not"
    lines = [
        f"{config.crawl.product_token} {verdict} fetch {url}",
        f"{origin_of(url)}/robots.txt: {entry.outcome} (status {entry.status})",
    ]
    if entry.rules.crawl_delay is not None:
        most = config.politeness.max_crawl_delay
        over = (
            ""
            if entry.rules.crawl_delay <= most
            else f", over politeness.max_crawl_delay ({most}): the host is skipped"
        )
        lines.append(f"Crawl-delay: {entry.rules.crawl_delay:g} s{over}")
    return lines + [f"Sitemap: {sitemap}" for sitemap in entry.rules.sitemaps]
