"""How one site's pages are read: what the operator may set."""

from dataclasses import dataclass
from enum import StrEnum

from crawler.reading.html.links import DEFAULT_LINKS, LinkRules
from crawler.reading.markup.overrides import Override, override_faults
from crawler.reading.text.currencies import CODES


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


def rule_faults(rules: ReadingRules) -> list[str]:
    """Every fault of a site's rules, for the check at start-up; none when they can be used."""
    faults = (
        [f"override.{fault}" for fault in override_faults(rules.override)] if rules.override else []
    )
    if rules.currency is not None and rules.currency not in CODES:
        faults.append(f"currency: want an ISO-4217 code such as EUR, got {rules.currency!r}")
    if rules.country is not None and not (len(rules.country) == 2 and rules.country.isalpha()):
        faults.append(f"country: want a two-letter code such as DE, got {rules.country!r}")
    return faults
