"""Small pages written the way shops and their platforms write them, for the reading tests."""

import json

from crawler.reading.facts import PageFacts
from crawler.reading.page import read_page
from crawler.reading.rules import DEFAULT_RULES, ReadingRules

URL = "https://shop.example/p/kettle"


def html(body: str, *, head: str = "", lang: str = "en", title: str = "Kettle | Shop") -> bytes:
    top = f"<meta charset=utf-8><title>{title}</title>{head}"
    return f"<!doctype html><html lang={lang}><head>{top}</head><body>{body}</body></html>".encode()


def read(
    body: str,
    *,
    head: str = "",
    lang: str = "en",
    title: str = "Kettle | Shop",
    url: str = URL,
    status: int = 200,
    rules: ReadingRules = DEFAULT_RULES,
    explain: bool = False,
) -> PageFacts:
    page = html(body, head=head, lang=lang, title=title)
    return read_page(page, url=url, status=status, rules=rules, explain=explain)


def ld(data: object) -> str:
    return ld_text(json.dumps(data))


def ld_text(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def product(price: object = "49.90", **more: object) -> dict[str, object]:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": "InStock"}
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Kettle",
        "offers": offer,
        **more,
    }


def price_of(facts: PageFacts) -> tuple[float | None, str | None]:
    """The main offer's price and currency, as a reader of tests would write it."""
    if not facts.offers:
        return None, None
    offer = facts.offers[0]
    amount = offer.price_micros / 1e6 if offer.price_micros is not None else None
    return amount, offer.currency


CARDS = "".join(
    f'<li class="product-card"><a href="/p/pot-{i}"><img src="{i}.jpg" alt="Pot {i}"><h3>Pot {i}</h3></a>'
    f'<span class="price">€{i}9.99</span></li>'
    for i in range(1, 7)
)
