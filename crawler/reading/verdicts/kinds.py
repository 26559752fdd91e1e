"""What kind of page is this?  Judged by what it shows: one product, many products, or neither."""

from crawler.reading.facts import Offer, PageKind
from crawler.reading.offers.choice import Choice
from crawler.reading.visible.cards import Cards, is_in_card

LISTING_CARDS = 4


def offers_of(choice: Choice, cards: Cards) -> tuple[Offer, ...]:
    """The page's own offers.  A price read by sight from one of many cards is the card's, not the page's."""
    if choice.by_markup or choice.winner is None or len(cards.cards) < LISTING_CARDS:
        return choice.offers
    return () if is_in_card(choice.winner.node, cards) else choice.offers


def kind_of(offers: tuple[Offer, ...], cards: Cards) -> PageKind:
    """An offer page has an offer of its own; a listing has cards and none."""
    if offers:
        return PageKind.OFFER
    return PageKind.LISTING if len(cards.cards) >= LISTING_CARDS - 1 else PageKind.OTHER
