"""Products as a listing shows them: link, title and price of each repeated card."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from crawler.reading.facts import Card
from crawler.reading.html import LexborNode
from crawler.reading.markup.found import FoundProduct
from crawler.reading.text.money import Money
from crawler.reading.text.values import clip
from crawler.reading.visible.prices import SELLING, Seen

MAX_CARDS = 200
MAX_CLIMB = 8
MIN_ALIKE = 3  # cards repeat; two alike elements may be anything

_TITLE = 'h2,h3,h4,h5,[itemprop="name"],[class*="title" i],[class*="name" i]'
_HEADING = "h2,h3,h4,h5"
_LINKED_HEADING = "h2 > a[href],h3 > a[href],h4 > a[href],h5 > a[href],a[href] > h2,a[href] > h3,a[href] > h4,a[href] > h5"
# A price inside a link to another page has the role "other": in a card that is the card's own price.
_CARD_ROLES = SELLING | {"other"}


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of a page, and the elements they are, to tell whether a price is part of one."""

    cards: tuple[Card, ...] = ()
    roots: frozenset[int] = frozenset()
    titled: frozenset[int] = frozenset()  # of the roots: those that name another page in a heading


def cards_by_sight(seen: Iterable[Seen], absolute: Callable[[str], str | None]) -> Cards:
    """Cards from printed prices: the element around a price that holds a link, where such elements repeat."""
    roots: dict[int, tuple[LexborNode, str, Seen]] = {}
    for price in seen:
        if price.role not in _CARD_ROLES or not price.money.price_micros:
            continue
        found = _card_root(price.node)
        if found is not None and len(roots) < MAX_CARDS:
            root, href = found
            roots.setdefault(root.mem_id, (root, href, price))
    shapes = Counter(_shape(root) for root, _, _ in roots.values())
    titled = frozenset(
        root.mem_id for root, _, _ in roots.values() if _heading_leads_away(root, absolute)
    )
    kept = [
        (root, href, price)
        for root, href, price in roots.values()
        if root.mem_id in titled or shapes[_shape(root)] >= MIN_ALIKE
    ]
    cards = [
        Card(url, _title(root), price.money.price_micros, price.money.currency)
        for root, href, price in kept
        if (url := absolute(href))
    ]
    return Cards(_one_a_link(cards), frozenset(root.mem_id for root, _, _ in kept), titled)


def cards_by_markup(
    products: Iterable[FoundProduct],
    money_of: Callable[[FoundProduct], Money],
    absolute: Callable[[str], str | None],
) -> tuple[Card, ...]:
    """Cards from the products that structured data lists with an address of their own."""
    cards: list[Card] = []
    for product in products:
        href = product.url or next((offer.url for offer in product.offers if offer.url), None)
        url = absolute(href) if href else None
        if url and len(cards) < MAX_CARDS:
            money = money_of(product)
            cards.append(Card(url, product.title, money.price_micros, money.currency))
    return _one_a_link(cards)


def is_inside(node: LexborNode, roots: frozenset[int]) -> bool:
    """Is this element part of one of these cards?"""
    parent: LexborNode | None = node
    for _ in range(MAX_CLIMB + 1):
        if parent is None:
            return False
        if parent.mem_id in roots:
            return True
        parent = parent.parent
    return False


def _one_a_link(cards: list[Card]) -> tuple[Card, ...]:
    """The first card of each link; a price it repeats for another size adds nothing."""
    return tuple({card.url: card for card in reversed(cards)}.values())[::-1]


def _card_root(node: LexborNode) -> tuple[LexborNode, str] | None:
    """The lowest element around a price that is or holds a link, with the link's href."""
    parent: LexborNode | None = node
    for _ in range(MAX_CLIMB):
        if parent is None or parent.tag in ("body", "main", "html"):
            return None
        link = parent if parent.tag == "a" else parent.css_first("a[href]")
        href = (link.attributes.get("href") or "").strip() if link is not None else ""
        if href and not href.startswith(("#", "javascript:")):
            return parent, href
        parent = parent.parent
    return None


def _heading_leads_away(root: LexborNode, absolute: Callable[[str], str | None]) -> bool:
    """A heading that is a link to another page is that page's title: the price beside it is not ours.
    An element that holds the page's own heading is no card."""
    if root.css_first(_HEADING) is None or root.css_first("h1") is not None:
        return False
    link = root if root.tag == "a" else root.css_first(_LINKED_HEADING)
    if link is not None and link.tag != "a":
        link = link.parent
    href = (link.attributes.get("href") or "") if link is not None else ""
    return bool(href) and absolute(href) is not None


def _shape(node: LexborNode) -> str:
    """Cards of one listing share their tag and first class name."""
    names = (node.attributes.get("class") or "").split()
    parent = node.parent
    if names or parent is None:
        return f"{node.tag}.{names[0] if names else ''}"
    return f"{parent.tag}>{node.tag}"


def _title(root: LexborNode) -> str | None:
    named = root.css_first(_TITLE)
    if named is not None and (text := clip(named.text(separator=" "))):
        return text
    for link in root.css("a[href]")[:4]:
        if text := clip(link.attributes.get("title")) or clip(link.text(separator=" ")):
            return text
    image = root.css_first("img[alt]")
    return clip(image.attributes.get("alt")) if image is not None else None
