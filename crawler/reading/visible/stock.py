"""Can the product be bought?  Read from buttons and words near the heading, when markup is silent."""

import re

from crawler.reading.facts import Availability
from crawler.reading.html import LexborHTMLParser, LexborNode
from crawler.reading.text.stock_words import StockWords, stock_words

MAX_BUTTONS = 80
BLOCK_TEXT = 6_000  # characters around the heading that speak of this product
NEAR = 1_000  # a "sold out" this early is about the product, later perhaps about a size

_BUTTONS = (
    'button,input[type="submit"],input[type="button"],[role="button"],[class*="add-to-cart" i],[class*="addtocart" i],'
    '[id*="add-to-cart" i],[id*="addtocart" i],[class*="buy" i]'
)
_PRESSED = frozenset({"button", "input", "a"})
_CLOSED = re.compile(r"disabled|inactive|sold-?out|unavailable", re.IGNORECASE)


def availability_by_sight(
    tree: LexborHTMLParser, heading: LexborNode | None, language: str | None
) -> Availability | None:
    """What the words and buttons of the heading's block say; a button that can be pressed decides."""
    block = _block(heading) if heading is not None else tree.body
    if block is None:
        return None
    text = block.text(separator=" ")[:BLOCK_TEXT].lower()
    words = stock_words(language)
    # Plain finds in lower-case text cost 0.4 ms where one pattern of all alternatives took 3 ms.
    out = min((at for phrase in words.sold_out if (at := text.find(phrase)) >= 0), default=None)
    if _can_buy(block, words) and not (out is not None and out < NEAR):
        return Availability.IN_STOCK
    if out is not None:
        return Availability.OUT_OF_STOCK
    return Availability.IN_STOCK if any(phrase in text for phrase in words.in_stock) else None


def _block(heading: LexborNode) -> LexborNode | None:
    """The lowest element around the heading with a button in it; the page's main part otherwise."""
    block = heading.parent
    for _ in range(8):
        if block is None or block.tag in ("body", "main"):
            break
        if block.css_first('button,input[type="submit"],[class*="cart" i],form') is not None:
            return block.parent or block
        block = block.parent
    return block


def _can_buy(block: LexborNode, words: StockWords) -> bool:
    for node in block.css(_BUTTONS)[:MAX_BUTTONS]:
        attributes = node.attributes
        if "disabled" in attributes or attributes.get("aria-disabled") == "true":
            continue
        if _CLOSED.search(attributes.get("class") or "") or _only_holds_buttons(node):
            continue
        names = (attributes.get(name) or "" for name in ("value", "title", "aria-label"))
        label = " ".join((node.text(separator=" ")[:200], *names)).lower()
        if any(phrase in label for phrase in words.buy):
            return True
    return False


def _only_holds_buttons(node: LexborNode) -> bool:
    """A block named "buy-box" cannot be pressed; the buttons in it speak for themselves."""
    return node.tag not in _PRESSED and node.css_first("button,input,a") is not None
