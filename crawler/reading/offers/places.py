"""Which country does an address speak of?  By locale in the path, then by country-code domain."""

import re

from crawler.reading.markup.head import Head
from crawler.reading.rules import ReadingRules
from crawler.reading.text.currencies import currency_of_country
from crawler.reading.text.words import words
from crawler.reading.visible.prices import Habits

# Two-letter domains sold worldwide say nothing about a country.
_GENERIC = words("io co ai me tv cc ws fm gg to ly sh so eu st vc la im")
_ALIASES = {"uk": "GB"}
_PATH = re.compile(
    r"^[a-z]+://[^/]+/(?:([a-z]{2})[-_]([a-z]{2})|([a-z]{2})/([a-z]{2}))(?:/|$|\?)", re.IGNORECASE
)
_LANGUAGES = words(
    "en de fr it es pt nl pl cs sk hu ro bg ru uk tr el sv no da fi et lv lt hr sl sr ja ko zh ar he th vi id"
)
_HOST = re.compile(r"^[a-z]+://[^/?#:]*\.([a-z]{2})(?::\d+)?(?:[/?#]|$)", re.IGNORECASE)


def habits_of(url: str, head: Head, rules: ReadingRules) -> Habits:
    """How the page writes money: by its own words, its address, then the site's rules."""
    country = head.country or country_of_url(url) or rules.country
    currency = rules.currency or currency_of_country(country)
    return Habits(currency, head.language, country)


def country_of_url(url: str) -> str | None:
    """An ISO country code, or None when the address does not tell."""
    if match := _PATH.match(url):
        one, two = (match[1] or match[3]).lower(), (match[2] or match[4]).lower()
        if one in _LANGUAGES and match[1]:
            return _country(two)  # en-ca
        if two in _LANGUAGES:
            return _country(one)  # ie/en
    if (match := _HOST.match(url)) and (code := match[1].lower()) not in _GENERIC:
        return _country(code)
    return None


def _country(code: str) -> str:
    return _ALIASES.get(code, code.upper())
