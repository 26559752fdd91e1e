"""From a site's settings to the rules its pages are read by."""

from crawler.config.model import ReadingSettings, SiteSettings
from crawler.reading.html.links import LinkRules
from crawler.reading.markup.overrides import Override, whole_path
from crawler.reading.rules import ChangeDefinition, ReadingRules
from crawler.reading.urls import TRACKING, UrlRules


def reading_rules(reading: ReadingSettings, site: SiteSettings) -> ReadingRules:
    tracking = TRACKING | {
        name.lower() for name in (*reading.drop_parameters, *site.drop_parameters)
    }
    keep = frozenset(site.keep_parameters) if site.keep_parameters is not None else None
    path = whole_path(site.price_path) if site.price_path else None
    price = site.price_selector or path
    return ReadingRules(
        links=LinkRules(urls=UrlRules(tracking=tracking, keep=keep), max_links=reading.max_links),
        override=Override(price=price, currency=site.currency) if price else None,
        currency=site.currency,
        country=site.country,
        change=ChangeDefinition(reading.change),
    )
