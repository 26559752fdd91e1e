"""Products and offers from schema.org objects, whichever syntax they were written in."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from crawler.reading.facts import Availability
from crawler.reading.markup.found import MAX_OFFERS, FoundOffer, FoundProduct
from crawler.reading.text.values import availability_of, clip, condition_of, gtin_of
from crawler.reading.text.words import words

Thing = dict[str, Any]

MAX_DEPTH = 12
MAX_THINGS = 4_000
MAX_PRODUCTS = 200

_PRODUCT_TYPES = words(
    "product productgroup productmodel individualproduct someproducts vehicle car book"
)
_OFFER_TYPES = frozenset({"offer", "aggregateoffer"})
# Other products than the page's own hang below these.
_RELATED_KEYS = words(
    "isrelatedto issimilarto isaccessoryorsparepartfor isconsumablefor itemlistelement itemoffered "
    "addon hasoffercatalog makesoffer offeredby"
)
_SKIPPED_KEYS = words(
    "review reviews aggregaterating image potentialaction publisher author comment"
)
_GTIN_KEYS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "ean", "isbn")
_LIST_PRICES = words("listprice strikethroughprice srp msrp regularprice")
_TEXT_KEYS = ("name", "@value", "value", "@id")
_UNIT_KEYS = ("referenceQuantity", "eligibleQuantity")


def products_of(things: list[Any], source: str) -> list[FoundProduct]:
    """Every product in the objects, the page's own before related ones."""
    walked = list(_walk(things))
    by_id = {str(thing["@id"]): thing for thing, _ in walked if "@id" in thing and len(thing) > 1}
    found = []
    members: set[int] = set()  # variants are read with their group
    for thing, related in walked:
        if id(thing) in members or not _is_product(thing):
            continue
        members.update(id(variant) for variant in _variants(thing, by_id))
        found.append(_product(thing, by_id, source, related))
        if len(found) == MAX_PRODUCTS:
            break
    return sorted(found, key=lambda product: product.related)


def things_named(things: list[Any], name: str) -> list[Thing]:
    """The objects of one type, e.g. "breadcrumblist", in page order."""
    return [thing for thing, _ in _walk(things) if name in types_of(thing)]


def types_of(thing: Thing) -> set[str]:
    """Type names in lower case, without the address before them."""
    return {
        str(name).rsplit("/", 1)[-1].rsplit(":", 1)[-1].lower()
        for name in as_list(thing.get("@type"))
    }


def as_list(value: Any) -> list[Any]:
    """Schema.org allows one value where several may stand, and the other way round."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _walk(things: list[Any]) -> Iterator[tuple[Thing, bool]]:
    """Objects in page order with whether they belong to another product; bounded in depth and number."""
    stack: list[tuple[Any, int, bool]] = [(things, 0, False)]
    seen = 0
    while stack and seen < MAX_THINGS:
        value, depth, related = stack.pop()
        if depth > MAX_DEPTH:
            continue
        if isinstance(value, list):
            stack.extend((item, depth + 1, related) for item in reversed(value[:MAX_THINGS]))
        elif isinstance(value, dict):
            seen += 1
            yield value, related
            stack.extend(
                (child, depth + 1, related or key.lower() in _RELATED_KEYS)
                for key, child in reversed(value.items())
                if isinstance(child, dict | list) and key.lower() not in _SKIPPED_KEYS
            )


def _is_product(thing: Thing) -> bool:
    kinds = types_of(thing)
    if kinds & _PRODUCT_TYPES:
        return True
    # Events, courses, apps, rooms: whatever is sold here has offers and a name.
    return bool(thing.get("offers")) and bool(thing.get("name")) and not kinds & _OFFER_TYPES


def _variants(thing: Thing, by_id: dict[str, Thing]) -> list[Thing]:
    variants = [_resolve(item, by_id) for item in as_list(thing.get("hasVariant"))[:MAX_OFFERS]]
    return [item for item in variants if isinstance(item, dict)]


def _resolve(value: Any, by_id: dict[str, Thing]) -> Any:
    """Follow {"@id": ...} to the object it names, once."""
    if isinstance(value, dict) and set(value) <= {"@id", "@type"}:
        return by_id.get(str(value.get("@id")), value)
    return value


def _product(thing: Thing, by_id: dict[str, Thing], source: str, related: bool) -> FoundProduct:
    offers = list(_offers(thing.get("offers"), by_id))
    for variant in _variants(thing, by_id):
        offers += _variant_offers(variant, by_id)
    if not offers and clip(thing.get("price")):
        offers = [_offer(thing)]
    return FoundProduct(
        source=source,
        title=text_of(thing.get("name")),
        brand=text_of(thing.get("brand")) or text_of(thing.get("manufacturer")),
        gtin=_gtin(thing),
        sku=text_of(thing.get("sku")) or text_of(thing.get("productID")),
        category=text_of(thing.get("category")),
        image=_image(thing.get("image")),
        url=text_of(thing.get("url")) or text_of(thing.get("@id")),
        availability=availability_of(text_of(thing.get("availability"))),
        offers=tuple(offers[:MAX_OFFERS]),
        related=related,
    )


def _variant_offers(variant: Thing, by_id: dict[str, Thing]) -> Iterator[FoundOffer]:
    sku, gtin = text_of(variant.get("sku")), _gtin(variant)
    name = text_of(variant.get("name"))
    for offer in _offers(variant.get("offers"), by_id):
        yield replace(
            offer,
            sku=offer.sku or sku,
            gtin=offer.gtin or gtin,
            title=offer.title or name,
            url=offer.url or text_of(variant.get("url")),
        )


def _offers(value: Any, by_id: dict[str, Thing], depth: int = 0) -> Iterator[FoundOffer]:
    for item in as_list(value)[:MAX_OFFERS]:
        thing = _resolve(item, by_id)
        if not isinstance(thing, dict):
            continue
        currency = text_of(thing.get("priceCurrency"))
        inner = list(_offers(thing.get("offers"), by_id, depth + 1)) if depth < 2 else []
        if clip(thing.get("price")) or thing.get("priceSpecification"):
            yield _offer(thing)
        elif not inner and clip(thing.get("lowPrice")):
            yield _offer(thing, key="lowPrice", role=_low_role(thing))
        elif not inner and (clip(thing.get("availability")) or clip(thing.get("highPrice"))):
            yield _offer(thing, key="highPrice", role="high")
        for offer in inner:
            yield replace(offer, currency=offer.currency or currency)


def _low_role(thing: Thing) -> str:
    """A range from a price to the same price is a price."""
    low, high = clip(thing.get("lowPrice")), clip(thing.get("highPrice"))
    return "price" if high in (None, low) else "low"


def _offer(thing: Thing, key: str = "price", role: str = "price") -> FoundOffer:
    text, currency = clip(thing.get(key)), text_of(thing.get("priceCurrency"))
    if not text:
        text, currency, role = _specified(thing, currency)
    return FoundOffer(
        text=text or "",
        currency=currency or text_of(thing.get("pricecurrency")),
        role=role,
        availability=_availability(thing),
        condition=condition_of(text_of(thing.get("itemCondition"))),
        seller=text_of(thing.get("seller")) or text_of(thing.get("offeredBy")),
        sku=text_of(thing.get("sku")),
        gtin=_gtin(thing),
        title=text_of(thing.get("name")),
        url=text_of(thing.get("url")),
    )


def _availability(thing: Thing) -> Availability | None:
    for value in as_list(thing.get("availability")):
        if state := availability_of(text_of(value)):
            return state
    level = thing.get("inventoryLevel")
    value = level.get("value") if isinstance(level, dict) else level
    return availability_of(bool(value)) if isinstance(value, int) else None


def _specified(thing: Thing, currency: str | None) -> tuple[str | None, str | None, str]:
    """The price of a priceSpecification: the selling price before a list price or a unit price."""
    best: tuple[str | None, str | None, str] = (None, currency, "price")
    for spec in as_list(thing.get("priceSpecification")):
        if not isinstance(spec, dict):
            continue
        text = clip(spec.get("price")) or clip(spec.get("minPrice"))
        kind = str(spec.get("priceType", "")).rsplit("/", 1)[-1].lower()
        role = "list" if kind in _LIST_PRICES else "price"
        if any(spec.get(key) for key in _UNIT_KEYS):
            role = "unit"
        if text and (best[0] is None or (best[2] != "price" and role == "price")):
            best = (text, text_of(spec.get("priceCurrency")) or currency, role)
    return best


def text_of(value: Any) -> str | None:
    """The text of a value that may be a list, an object with a name, or an object with a value."""
    if value is None:
        return None
    for _ in range(3):
        if isinstance(value, list):
            value = value[0] if value else None
        elif isinstance(value, dict):
            value = next((value[key] for key in _TEXT_KEYS if key in value), None)
        else:
            break
    return clip(value)


def _image(value: Any) -> str | None:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, dict):
        first = first.get("url") or first.get("contentUrl")
    return clip(first, 2_000)


def _gtin(thing: Thing) -> str | None:
    codes = (gtin_of(text_of(thing[key])) for key in _GTIN_KEYS if key in thing)
    return next((code for code in codes if code), None)
