"""Products in the state that a page's scripts start from (Next.js, Nuxt, Redux, data layers)."""

import re
from collections.abc import Iterator
from typing import Any

from crawler.reading.html import LexborHTMLParser
from crawler.reading.markup.found import FoundOffer, FoundProduct
from crawler.reading.markup.jsonld import load_loosely
from crawler.reading.text.titles import title_likeness
from crawler.reading.text.values import availability_of, clip, gtin_of

MAX_SCRIPTS = 60
MAX_CHARS = 1_500_000
MAX_VALUES = 60_000
MAX_DEPTH = 24
MIN_LIKENESS = 0.6

_ASSIGNED = re.compile(
    r"(?:__NEXT_DATA__|__NUXT__|__INITIAL_STATE__|__PRELOADED_STATE__|__APOLLO_STATE__|__STATE__|__INITIAL_DATA__|"
    r"initialState|pageData|productData|product|meta|digitalData|utag_data|dataLayer(?:\.push)?)\s*(?:=|\()\s*(?=[\[{])"
)
_PRICE_KEYS = (
    "salePrice", "sale_price", "currentPrice", "current_price", "finalPrice", "final_price", "sellingPrice",
    "discountedPrice", "specialPrice", "offerPrice", "price", "Price", "unitPrice", "priceValue", "product_price",
)  # fmt: skip
_CENT_KEYS = ("priceInCents", "price_cents", "priceCents", "amountInCents")
_PRICE_OBJECTS = ("prices", "pricing", "priceInfo")
_NAME_KEYS = ("name", "title", "productName", "product_name", "displayName", "Name", "productTitle")
_AMOUNT_KEYS = ("value", "amount", "current", "price", "selling", "sale", "final", "raw", "min", "minPrice", "formatted", "text")  # fmt: skip
_CURRENCY_KEYS = (
    "currency",
    "currencyCode",
    "priceCurrency",
    "currency_code",
    "currencyIso",
    "product_currency",
)
_SKU_KEYS = ("sku", "productId", "product_id", "id", "code", "articleNumber")
_STOCK_KEYS = (
    "availability",
    "inStock",
    "in_stock",
    "isInStock",
    "available",
    "isAvailable",
    "stockStatus",
    "stock_status",
)


def state_products(tree: LexborHTMLParser, heading: str | None) -> list[FoundProduct]:
    """Objects with a price whose name is that of the page's heading; the most alike first."""
    if not heading:
        return []
    found = []
    budget = MAX_VALUES
    for state in _states(tree):
        for thing in _objects(state):
            budget -= 1
            product = _product(thing, heading)
            if product:
                found.append(product)
            if budget <= 0 or len(found) >= 20:
                return found
    return found


def _states(tree: LexborHTMLParser) -> Iterator[Any]:
    chars = 0
    for node in tree.css("script:not([src])")[:MAX_SCRIPTS]:
        kind = node.attributes.get("type") or ""
        if "ld+json" in kind:
            continue
        text = node.text()
        chars += len(text)
        if chars > MAX_CHARS:
            return
        if kind == "application/json" or node.attributes.get("id") == "__NEXT_DATA__":
            yield from load_loosely(text)
        elif "rice" in text:
            for match in list(_ASSIGNED.finditer(text))[:4]:
                yield from load_loosely(text[match.end() :])[:1]


def _objects(state: Any) -> Iterator[dict[str, Any]]:
    stack: list[tuple[Any, int]] = [(state, 0)]
    seen = 0
    while stack and seen < MAX_VALUES:
        value, depth = stack.pop()
        seen += 1
        if isinstance(value, dict):
            yield value
            children: Any = value.values()
        elif isinstance(value, list):
            children = value[:2_000]
        else:
            continue
        if depth < MAX_DEPTH:
            stack.extend(
                (child, depth + 1)
                for child in reversed(list(children))
                if isinstance(child, dict | list)
            )


def _product(thing: dict[str, Any], heading: str) -> FoundProduct | None:
    title = next((name for key in _NAME_KEYS if (name := clip(thing.get(key)))), None)
    if not title or title_likeness(title, heading, both=True) < MIN_LIKENESS:
        return None
    text, currency, role = _price(thing)
    if not text:
        return None
    stock = next((s for key in _STOCK_KEYS if (s := availability_of(thing.get(key)))), None)
    return FoundProduct(
        source="state",
        title=title,
        brand=clip(thing.get("brand")) or clip(thing.get("brandName")),
        gtin=gtin_of(thing.get("gtin")) or gtin_of(thing.get("ean")),
        sku=next((sku for key in _SKU_KEYS if (sku := clip(thing.get(key), 80))), None),
        offers=(FoundOffer(text=text, currency=currency, role=role, availability=stock),),
    )


def _price(thing: dict[str, Any]) -> tuple[str | None, str | None, str]:
    """The price as text, its currency and its role.

    A whole number in a script may count cents: on ten recorded pages of four shops with a matching
    product, seven did.  So it is "uncertain": shown as a candidate, but it decides nothing.
    """
    currency = _first(thing, _CURRENCY_KEYS)
    for key in (*_CENT_KEYS, *_PRICE_KEYS, *_PRICE_OBJECTS):
        value, cents = thing.get(key), key in _CENT_KEYS
        for _ in range(3):
            if isinstance(value, dict):
                currency = _first(value, _CURRENCY_KEYS) or currency
                cents = "centAmount" in value
                keys = ("centAmount", *_PRICE_KEYS, *_AMOUNT_KEYS)
                value = next((value[k] for k in keys if value.get(k)), None)
        text = clip(value)
        if cents and isinstance(value, int):
            return f"{value / 100:.2f}", currency, "price"
        if text and any(c.isdigit() for c in text):
            whole = isinstance(value, int) and value >= 100
            return text, currency, "uncertain" if whole else "price"
    return None, currency, "price"


def _first(thing: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((text for key in keys if (text := clip(thing.get(key)))), None)
