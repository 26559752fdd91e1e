"""What the readers hand to the chooser: products and their prices as written, not yet believed."""

from dataclasses import dataclass

from crawler.reading.facts import Availability

MAX_OFFERS = 60  # per product; a shoe in all sizes and colours stays below


@dataclass(frozen=True, slots=True)
class FoundOffer:
    """A price as the page writes it.  `role` is price, low, high, list, unit or instalment."""

    text: str
    currency: str | None = None
    role: str = "price"
    availability: Availability | None = None
    condition: str | None = None
    seller: str | None = None
    sku: str | None = None
    gtin: str | None = None
    title: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class FoundProduct:
    """One product by one reader.  `related` marks what the page shows beside its own product."""

    source: str
    title: str | None = None
    brand: str | None = None
    gtin: str | None = None
    sku: str | None = None
    category: str | None = None
    image: str | None = None
    url: str | None = None
    availability: Availability | None = None
    offers: tuple[FoundOffer, ...] = ()
    related: bool = False
