"""The command robots: what a host's robots.txt lets us do."""

import argparse
import asyncio
import json
import sys

from crawler.config import Config
from crawler.fetching.robots_cache import RobotsEntry
from crawler.operator.ask import ask, web_address
from crawler.operator.exits import Exit, told_errors
from crawler.operator.settings import load_for_asking
from crawler.reading.urls import origin_of


@told_errors
def robots(arguments: argparse.Namespace) -> int:
    config = load_for_asking(arguments)
    url = web_address(arguments.url)
    entry = asyncio.run(ask(config, url, fetch=False)).robots
    allowed = entry.rules.allows(url)
    if arguments.json:
        sys.stdout.write(json.dumps(_facts(config, url, entry, allowed=allowed)) + "\n")
    else:
        sys.stdout.writelines(line + "\n" for line in _lines(config, url, entry, allowed=allowed))
    return Exit.DONE if allowed else Exit.NOTHING


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
