"""What choosing a page's price works with and ends in.  No behaviour."""

from dataclasses import dataclass

from crawler.reading.facts import Candidate, Offer
from crawler.reading.markup.found import FoundOffer, FoundProduct
from crawler.reading.text.money import Money
from crawler.reading.visible.prices import Seen

# How far each reader's price is believed alone: set by judgement, not fitted.  What "page" says are only
# words around the product.
TRUST = {
    "override": 0.99,
    "json-ld": 0.85,
    "microdata": 0.80,
    "rdfa": 0.75,
    "opengraph": 0.75,
    "twitter": 0.60,
    "state": 0.55,
    "visible": 0.60,
    "page": 0.0,
}


@dataclass(frozen=True, slots=True)
class Priced:
    """A structured price with its amount."""

    product: FoundProduct
    offer: FoundOffer
    money: Money


@dataclass(frozen=True, slots=True)
class Winner:
    """The chosen amount, who found it, who found another, and the printed price if sight alone chose."""

    money: Money
    sources: tuple[str, ...]
    against: tuple[str, ...]
    confidence: float
    seen: Seen | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """The page's offers, main one first, and every price that was considered.

    `by_markup`: structured data says that the page is about one product with a price.  `winner` is the
    printed price that was chosen, if sight alone chose.
    """

    offers: tuple[Offer, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    seen: tuple[Seen, ...] = ()
    by_markup: bool = False
    winner: Seen | None = None
