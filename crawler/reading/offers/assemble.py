"""The offers of a page, put together from the winning price and what each source knows of the product."""

from collections.abc import Iterable

from crawler.reading.facts import Availability, Offer
from crawler.reading.markup.found import FoundOffer, FoundProduct
from crawler.reading.offers.choice import TRUST, Priced, Winner
from crawler.reading.text.money import NOTHING, Money
from crawler.reading.visible.prices import SELLING, Seen

SELLABLE = frozenset({"price", "low"})
UNCERTAIN = 0.2
_NO_OFFER = FoundOffer("")


def winning_offers(
    winner: Winner, products: list[FoundProduct], priced: list[Priced]
) -> tuple[Offer, ...]:
    """The main offer with the winning price, then the product's variants."""
    facts = _merge(products)
    chosen = _chosen(winner, priced)
    variants = _variants(priced, chosen)
    found = chosen.offer if chosen else _NO_OFFER
    main = _offer(
        facts,
        found,
        key=_key(found) if variants else None,
        money=winner.money,
        availability=found.availability or _availability(products, priced),
        source=winner.sources[0],
        confidence=winner.confidence,
        disagreeing=winner.against,
    )
    return (main, *(_variant_offer(facts, p, winner.confidence) for p in variants))


def priceless_offers(
    products: list[FoundProduct], priced: list[Priced], printed: list[Seen]
) -> tuple[Offer, ...]:
    """A product without a believable price is still an offer when its price or stock is spoken of.

    A price of nothing is a placeholder on a sold-out page; elsewhere it may be a gift, believed little.
    """
    unsure = [p.money for p in priced if p.money.ambiguous or p.offer.role == "uncertain"]
    unsure += [s.money for s in printed if s.money.ambiguous and s.role in SELLING]
    stock = _availability(products, priced)
    free = next((p for p in priced if p.money.price_micros == 0), None)
    if not unsure and not priced and stock is None:
        return ()
    facts = _merge(products)
    if free and stock is not Availability.OUT_OF_STOCK:
        return (
            _offer(
                facts,
                free.offer,
                money=free.money,
                availability=stock,
                source=free.product.source,
                confidence=UNCERTAIN,
            ),
        )
    money = Money(None, unsure[0].currency, ambiguous=True) if unsure else NOTHING
    return (_offer(facts, _NO_OFFER, money=money, availability=stock, confidence=UNCERTAIN),)


def _offer(
    facts: FoundProduct,
    found: FoundOffer,
    *,
    money: Money,
    availability: Availability | None,
    confidence: float,
    key: str | None = None,
    source: str = "",
    disagreeing: tuple[str, ...] = (),
) -> Offer:
    """What the offer itself says goes before what its product says.

    The only offer of a page has the same key as it had among others: the id it or its product states.
    """
    return Offer(
        key=key or found.sku or found.gtin or facts.sku or facts.gtin or "",
        price_micros=money.price_micros,
        currency=money.currency,
        availability=availability,
        title=found.title or facts.title,
        brand=facts.brand,
        gtin=found.gtin or facts.gtin,
        sku=found.sku or facts.sku,
        seller=found.seller,
        condition=found.condition,
        category=facts.category,
        image=facts.image,
        source=source,
        confidence=confidence,
        ambiguous=money.ambiguous,
        disagreeing=disagreeing,
    )


def _variant_offer(facts: FoundProduct, p: Priced, confidence: float) -> Offer:
    return _offer(
        facts,
        p.offer,
        key=_key(p.offer),
        money=p.money,
        availability=p.offer.availability,
        source=p.product.source,
        confidence=round(min(confidence, TRUST[p.product.source]), 3),
    )


def _chosen(winner: Winner, priced: list[Priced]) -> Priced | None:
    """The structured offer with the winning price; of several variants one that can be bought.

    A printed price that beat the markup is the price of the markup's first offer, so that the offer
    keeps its key.
    """
    usable = [p for p in priced if p.offer.role in SELLABLE]
    equal = [p for p in usable if p.money.price_micros == winner.money.price_micros]
    buyable = (p for p in equal if p.offer.availability is Availability.IN_STOCK)
    return next(buyable, None) or next(iter(equal or usable), None)


def _variants(priced: list[Priced], chosen: Priced | None) -> list[Priced]:
    """The other offers of the chosen one's product, when they can be told apart by a stable name."""
    if chosen is None or not _key(chosen.offer):
        return []
    known = {_key(chosen.offer)}
    variants = []
    for p in priced:
        key = _key(p.offer)
        if p.product is chosen.product and key and key not in known and p.offer.role == "price":
            known.add(key)
            variants.append(p)
    return variants


def _key(offer: FoundOffer) -> str:
    """What tells an offer from the others of its product; words only where no id is given."""
    return offer.sku or offer.gtin or offer.title or offer.seller or ""


def _merge(products: list[FoundProduct]) -> FoundProduct:
    """The product's facts: for each field the first source that knows it, in order of trust."""
    title = brand = gtin = sku = category = image = None
    for product in sorted(products, key=lambda product: -TRUST[product.source]):
        title = title or product.title
        brand = brand or product.brand
        gtin = gtin or product.gtin or _only(offer.gtin for offer in product.offers)
        sku = sku or product.sku or _only(offer.sku for offer in product.offers)
        category = category or product.category
        image = image or product.image
    return FoundProduct("", title, brand, gtin, sku, category, image)


def _availability(products: list[FoundProduct], priced: list[Priced]) -> Availability | None:
    """In stock when any offer is; else what the first says."""
    known = [p.offer.availability for p in priced if p.offer.availability]
    if Availability.IN_STOCK in known:
        return Availability.IN_STOCK
    known += [product.availability for product in products if product.availability]
    return known[0] if known else None


def _only(values: Iterable[str | None]) -> str | None:
    known = {value for value in values if value}
    return known.pop() if len(known) == 1 else None
