"""How one site's pages are read: what the operator may set."""

from dataclasses import dataclass
from enum import StrEnum

from crawler.reading.html.links import DEFAULT_LINKS, LinkRules
from crawler.reading.markup.overrides import Override


class ChangeDefinition(StrEnum):
    """What the operator calls a change of a page."""

    OFFER = "offer"  # price or availability; main text for pages without offers
    PRICE = "price"  # price alone; main text for pages without offers
    CONTENT = "content"  # main text


@dataclass(frozen=True, slots=True)
class ReadingRules:
    """A site's reading rules.  `currency` and `country` hold where the page itself does not say."""

    links: LinkRules = DEFAULT_LINKS
    override: Override | None = None
    currency: str | None = None
    country: str | None = None
    change: ChangeDefinition = ChangeDefinition.OFFER


DEFAULT_RULES = ReadingRules()
