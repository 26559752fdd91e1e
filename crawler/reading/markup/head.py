"""What the head of a page says about it: title, canonical, language, robots and OpenGraph."""

import re
from dataclasses import dataclass, field

from crawler.reading.facts import Availability
from crawler.reading.html import LexborHTMLParser
from crawler.reading.markup.found import FoundOffer, FoundProduct
from crawler.reading.text.values import availability_of, clip, condition_of, gtin_of
from crawler.reading.text.words import words

MAX_METAS = 300
_LOCALE = re.compile(r"^([a-zA-Z]{2,3})(?:[-_][A-Za-z]{4})?(?:[-_]([A-Za-z]{2}))?(?:$|[-_.@])")
_TWITTER_PRICE = words("price prix preis precio prezzo preço cena цена prijs pris hinta")


_AMOUNTS = (
    ("product:sale_price:amount", "price"),
    ("product:price:amount", "price"),
    ("og:price:amount", "price"),
    ("product:price", "price"),
    ("og:price", "price"),
    ("product:original_price:amount", "list"),
)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one page; `meta` maps lower-case property or name to the first content."""

    title: str | None = None
    language: str | None = None
    country: str | None = None
    meta: dict[str, str] = field(default_factory=dict)


def read_head(tree: LexborHTMLParser) -> Head:
    """Title, language and meta of a page."""
    meta: dict[str, str] = {}
    top = tree.head
    for node in top.css("meta[content]")[:MAX_METAS] if top is not None else ():
        attributes = node.attributes
        name = attributes.get("property") or attributes.get("name") or attributes.get("http-equiv")
        content = attributes.get("content")
        if name and content:
            meta.setdefault(name.lower(), content)
    title = top.css_first("title") if top is not None else None
    root = tree.root
    language, country = _locale((root and root.attributes.get("lang")) or None)
    spoken, region = _locale(meta.get("og:locale") or meta.get("content-language"))
    return Head(
        title=clip(title.text() if title else None),
        language=language or spoken,
        country=country or region,
        meta=meta,
    )


def _locale(text: str | None) -> tuple[str | None, str | None]:
    match = _LOCALE.match((text or "").strip())
    if not match:
        return None, None
    return match[1].lower(), match[2].upper() if match[2] else None


def opengraph_product(meta: dict[str, str]) -> FoundProduct | None:
    """The product of OpenGraph and the product namespace, or None when no price is given."""
    if not any(name in meta for name, _ in _AMOUNTS):
        return None
    offers = [
        FoundOffer(
            text=amount,
            currency=meta.get(name.replace(":amount", ":currency"))
            or meta.get("og:price:currency"),
            role=role,
            availability=_availability(meta),
            condition=condition_of(meta.get("product:condition")),
        )
        for name, role in _AMOUNTS
        if (amount := clip(meta.get(name)))
    ]
    if not offers:
        return None
    if "product:sale_price:amount" in meta:
        offers = [offers[0]]
    return FoundProduct(
        source="opengraph",
        title=clip(meta.get("og:title")),
        brand=clip(meta.get("product:brand") or meta.get("og:brand")),
        gtin=gtin_of(meta.get("product:ean") or meta.get("product:gtin")),
        sku=clip(meta.get("product:retailer_item_id") or meta.get("product:retailer_part_no")),
        category=clip(meta.get("product:category")),
        image=clip(meta.get("og:image"), 2_000),
        url=clip(meta.get("og:url"), 2_000),
        availability=_availability(meta),
        offers=tuple(offers),
    )


def twitter_product(meta: dict[str, str]) -> FoundProduct | None:
    """Twitter cards write "Price" and the price as a label and a datum."""
    for number in ("1", "2"):
        label = (clip(meta.get(f"twitter:label{number}")) or "").lower()
        text = clip(meta.get(f"twitter:data{number}"))
        if text and label.rstrip(":") in _TWITTER_PRICE:
            offer = FoundOffer(text=text)
            return FoundProduct(
                source="twitter", title=clip(meta.get("twitter:title")), offers=(offer,)
            )
    return None


def _availability(meta: dict[str, str]) -> Availability | None:
    return availability_of(meta.get("product:availability") or meta.get("og:availability"))
