"""What the page says of its product beside the product's own markup: title, brand, image, breadcrumb."""

import re
from dataclasses import replace

from crawler.reading.facts import Offer
from crawler.reading.html import LexborHTMLParser
from crawler.reading.markup.found import FoundProduct
from crawler.reading.markup.head import Head
from crawler.reading.text.currencies import CODES, fits_sign
from crawler.reading.text.values import clip
from crawler.reading.urls import whatwg_url

MAX_STEPS = 8
# "currency":"CLP", currencyCode='CLP', \"priceCurrency\":\"CLP\"
_CURRENCY = re.compile(rb"urrency(?:Code)?[\"'\\\s]{0,4}[:=,][\"'\\\s]{1,4}([A-Z]{3})\b")
_TRAIL = '[class*="breadcrumb" i]'


def read_details(
    tree: LexborHTMLParser, head: Head, heading: str | None, *, category: bool
) -> FoundProduct:
    """The words around the product.  Looking for the breadcrumb costs 10 us: only where it is wanted."""
    meta = head.meta
    return FoundProduct(
        "page",
        title=heading,
        brand=clip(meta.get("product:brand") or meta.get("og:brand")),
        category=_trail(tree, heading) if category else None,
        image=meta.get("og:image"),
    )


def with_absolute_image(offers: tuple[Offer, ...], url: str) -> tuple[Offer, ...]:
    """Shops also write an image's address without scheme or host."""
    image = offers[0].image if offers else None
    if not image or image.startswith(("https://", "http://")):
        return offers
    return tuple(replace(offer, image=whatwg_url(image, url)) for offer in offers)


def with_named_currency(offers: tuple[Offer, ...], page: bytes, printed: str) -> tuple[Offer, ...]:
    """A price whose sign many currencies share is in the one that the page's scripts name, if they name one."""
    if not offers or offers[0].price_micros is None or offers[0].currency is not None:
        return offers
    named = {found.decode() for found in _CURRENCY.findall(page)} & CODES
    if len(named) != 1 or not fits_sign(printed, *named):
        return offers
    return tuple(replace(o, currency=o.currency or min(named)) for o in offers)


def _trail(tree: LexborHTMLParser, heading: str | None) -> str | None:
    """The breadcrumb's steps, without the page itself: "Home > Kitchen > Kettles"."""
    trail = tree.css_first(_TRAIL)
    if trail is None:
        return None
    links = trail.css("a")[:MAX_STEPS]
    steps = dict.fromkeys(step for node in links if (step := clip(node.text(), 60)))
    return clip(" > ".join(step for step in steps if step != heading))
