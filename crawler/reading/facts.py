"""What reading a page can teach: the data that leaves this room.  No behaviour."""

from dataclasses import dataclass, field
from enum import StrEnum


class PageKind(StrEnum):
    """What a page shows, judged by its content."""

    OFFER = "offer"
    LISTING = "listing"
    OTHER = "other"


class Trouble(StrEnum):
    """Why a page that arrived whole must not be believed.  None of these is a price change."""

    BOT_WALL = "bot_wall"
    CONSENT = "consent_page"
    SOFT_404 = "soft_404"
    ERROR_PAGE = "error_page"
    EMPTY_SHELL = "empty_shell"
    PARSER_STALL = "parser_stall"
    NOT_HTML = "not_html"


class Availability(StrEnum):
    """Schema.org's ItemAvailability, folded to what a shopper can act on."""

    IN_STOCK = "in_stock"
    OUT_OF_STOCK = "out_of_stock"
    PREORDER = "preorder"
    BACKORDER = "backorder"
    DISCONTINUED = "discontinued"
    IN_STORE_ONLY = "in_store_only"
    LIMITED = "limited"


@dataclass(frozen=True, slots=True)
class Offer:
    """One product for one price on one page.

    `key` tells the offers of a page apart and is stable between fetches, whether or not the others are
    still shown: SKU or GTIN, else the variant's words, "" where the page gives none of them.  A price that could be read in two ways has `price_micros` None and `ambiguous` True.
    """

    key: str
    price_micros: int | None
    currency: str | None
    availability: Availability | None
    title: str | None = None
    brand: str | None = None
    gtin: str | None = None
    sku: str | None = None
    seller: str | None = None
    condition: str | None = None
    category: str | None = None
    image: str | None = None
    source: str = ""
    confidence: float = 0.0
    ambiguous: bool = False
    disagreeing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One price found on the page, by one reader, before anything is chosen."""

    source: str
    text: str
    price_micros: int | None
    currency: str | None
    role: str = "price"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A product as a listing shows it: evidence about the page it links to."""

    url: str
    title: str | None
    price_micros: int | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class PageFacts:
    """All that one HTML page says.  URLs are absolute and canonical, without duplicates, in page order."""

    url: str
    kind: PageKind
    title: str | None = None
    language: str | None = None
    country: str | None = None
    canonical: str | None = None
    outlinks: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    offers: tuple[Offer, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    text_hash: int = 0
    trouble: Trouble | None = None
    follow: bool = True
    dropped_links: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A page that a sitemap or feed names, with the time it claims for its last change."""

    url: str
    changed_at: float | None


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """All that one sitemap, sitemap index or feed says."""

    url: str
    entries: tuple[SourceEntry, ...] = ()
    children: tuple[SourceEntry, ...] = ()
    dropped: dict[str, int] = field(default_factory=dict)
    damaged: bool = False
