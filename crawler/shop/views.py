"""What a path of a simulated site shows at a moment, before it becomes HTML or XML."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Card:
    """An offer as another page shows it."""

    path: str
    title: str
    price_micros: int
    old_price_micros: int | None


@dataclass(frozen=True, slots=True)
class OfferPage:
    """An offer at a moment."""

    number: int
    path: str
    title: str
    category: int
    price_micros: int
    old_price_micros: int | None
    in_stock: bool
    changed_at: float
    related: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class GonePage:
    """An offer that the shop no longer has."""

    number: int
    category: int


@dataclass(frozen=True, slots=True)
class ListingPage:
    """The home page (category None) or one page of a category, newest offers first."""

    path: str
    category: int | None
    cards: tuple[Card, ...]
    number: int
    last: int


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page without offers: about us, or the corner that robots.txt forbids."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """A path with the time the site claims for its last change."""

    path: str
    changed_at: float | None


@dataclass(frozen=True, slots=True)
class SitemapPage:
    """A sitemap, or the index of all sitemaps."""

    entries: tuple[SitemapEntry, ...]
    built_at: float
    is_index: bool


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An offer in a feed, with the time of the news."""

    path: str
    title: str
    at: float


@dataclass(frozen=True, slots=True)
class FeedPage:
    """News as a feed, newest first: arrivals as RSS, or price drops as Atom."""

    path: str
    items: tuple[FeedItem, ...]
    is_atom: bool


ShopPage = OfferPage | GonePage | ListingPage | TextPage | SitemapPage | FeedPage
