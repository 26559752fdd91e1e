"""Which heading names the page's subject?"""

from crawler.reading.html import LexborHTMLParser, LexborNode
from crawler.reading.text.titles import title_likeness
from crawler.reading.text.values import clip

MAX_HEADINGS = 60
_OTHERS = 'h2,h3,[itemprop="name"],[class*="title" i],[class*="name" i]'


def main_heading(tree: LexborHTMLParser, title: str | None) -> LexborNode | None:
    """The only top heading, or the one most like the title; shops also put it into an h2 or a div."""
    headings = tree.css("h1")[:MAX_HEADINGS]
    if len(headings) == 1:
        return headings[0]
    best = max(headings, key=lambda node: _part_of(node, title), default=None)
    if best is not None and _part_of(best, title) >= 0.8:
        return best
    others = tree.css(_OTHERS)[:MAX_HEADINGS]
    other = max(others, key=lambda node: _alike(node, title), default=None)
    return other if other is not None and _alike(other, title) >= 0.6 else best


def heading_text(node: LexborNode | None) -> str | None:
    """A heading's words, kept apart where elements part them."""
    return clip(node.text(separator=" ")) if node is not None else None


def _part_of(node: LexborNode, title: str | None) -> float:
    """How far a top heading is part of the title: "Chinos" of "Esprit Chinos - camel - Shop"."""
    return title_likeness(heading_text(node), title)


def _alike(node: LexborNode, title: str | None) -> float:
    return title_likeness(heading_text(node), title, both=True)
