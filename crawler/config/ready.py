"""What a live run needs beyond valid settings, and sites straight from URLs."""

import re
from collections.abc import Sequence

from crawler.config.faults import ConfigError, Fault, written
from crawler.config.model import Config, SiteSettings, host_of, is_web_url

CONTACT = re.compile(r"https?://\w|[^\s@(+<]+@[^\s@]+\.[^\s@]+")
USER_AGENT_LINE = 'user_agent = "MyShopBot/1.0 (+https://example.org/bot)"'
SITE_LINES = '[[site]] with start = ["https://shop.example/"]'


def live_run_faults(config: Config, *, file: str = "config.toml") -> tuple[Fault, ...]:
    """Why these settings may not ask real hosts: nobody to contact, or nothing to crawl."""
    faults = []
    if not CONTACT.search(config.crawl.user_agent):
        wanted = "a live run wants a contact URL or mailbox, so that a shop can reach you"
        problem = f"{wanted}; add under [crawl]: {USER_AGENT_LINE}"
        faults.append(Fault(file, "crawl.user_agent", problem))
    if not config.site:
        faults.append(Fault(file, "site", f"a live run wants a site; add {SITE_LINES}"))
    return tuple(faults)


def sites_from_urls(urls: Sequence[str]) -> tuple[SiteSettings, ...]:
    """URLs from the command line as sites, one for each host, in the order given."""
    unfit = [url for url in urls if not is_web_url(url)]
    if unfit:
        wanted = 'want an http or https URL such as "https://shop.example/"'
        raise ConfigError(
            tuple(Fault("command line", "", f"{wanted}, got {written(url)}") for url in unfit)
        )
    starts: dict[str, list[str]] = {}
    for url in urls:
        starts.setdefault(host_of(url), []).append(url)
    return tuple(SiteSettings(name=host, start=tuple(found)) for host, found in starts.items())
