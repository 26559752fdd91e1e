"""What kind of page is this?  Judged by what it shows: one product, many products, or neither."""

from crawler.reading.facts import Offer, PageKind
from crawler.reading.offers.choice import Choice
from crawler.reading.visible.cards import Cards, is_inside

LISTING_CARDS = 4


def offers_of(choice: Choice, cards: Cards) -> tuple[Offer, ...]:
    """The page's own offers.  A price read by sight from a card is the card's, not the page's: one whose
    heading leads to another page, or one of many alike."""
    if choice.by_markup or choice.winner is None:
        return choice.offers
    roots = cards.roots if len(cards.cards) >= LISTING_CARDS else cards.titled
    return () if is_inside(choice.winner.node, roots) else choice.offers


def kind_of(offers: tuple[Offer, ...], cards: Cards) -> PageKind:
    """An offer page has an offer of its own; a listing has cards and none."""
    if offers:
        return PageKind.OFFER
    many = len(cards.cards) >= LISTING_CARDS - 1
    return PageKind.LISTING if many or cards.titled else PageKind.OTHER
