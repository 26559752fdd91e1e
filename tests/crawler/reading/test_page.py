"""A page's facts: what it is, what it sells, where it leads."""

import json

import pytest

from crawler.reading.facts import Availability, PageFacts, PageKind, Trouble
from crawler.reading.page import read_page

URL = "https://shop.example/p/kettle"


def page(body: str, head: str = "", lang: str = "en") -> bytes:
    return f"<!doctype html><html lang={lang}><head><title>Kettle | Shop</title>{head}</head><body>{body}</body></html>".encode()


def read(body: str, head: str = "", lang: str = "en", url: str = URL) -> PageFacts:
    return read_page(page(body, head, lang), url=url)


def ld(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


PRODUCT = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Kettle",
    "sku": "K-1",
    "gtin13": "4006381333931",
    "brand": {"@type": "Brand", "name": "Acme"},
    "offers": {
        "@type": "Offer",
        "price": "49.90",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
        "itemCondition": "https://schema.org/NewCondition",
        "seller": {"@type": "Organization", "name": "Shop"},
    },
}


def test_json_ld_gives_the_whole_offer() -> None:
    facts = read("<h1>Kettle</h1><a href=/c/kettles>Kettles</a>", ld(PRODUCT))
    assert facts.kind is PageKind.OFFER
    [offer] = facts.offers
    assert (offer.price_micros, offer.currency) == (49_900_000, "EUR")
    assert offer.availability is Availability.IN_STOCK
    assert (offer.title, offer.brand, offer.gtin) == ("Kettle", "Acme", "4006381333931")
    assert (offer.sku, offer.seller, offer.condition) == ("K-1", "Shop", "new")
    assert (offer.source, offer.key) == ("json-ld", "")
    assert facts.outlinks == ("https://shop.example/c/kettles",)


def test_a_page_that_is_no_html_is_named() -> None:
    facts = read_page(b"%PDF-1.7 ...", url=URL, content_type="application/pdf")
    assert facts.trouble is Trouble.NOT_HTML


@pytest.mark.parametrize(
    "body", [b"", b"\x00\xff\xfe", b"<", b"<html", b"<!--", "\ud800".encode("utf-8", "replace")]
)
def test_any_bytes_give_facts(body: bytes) -> None:
    assert read_page(body, url=URL).offers == ()
