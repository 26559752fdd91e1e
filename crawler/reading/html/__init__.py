"""From bytes to a tree without stalling, and what any page has: links and text."""

from crawler.reading.html.costly import looks_costly
from crawler.reading.html.parser import (
    LexborHTMLParser,
    LexborNode,
    attribute,
    is_selector,
    parse_html,
)

__all__ = [
    "LexborHTMLParser",
    "LexborNode",
    "attribute",
    "is_selector",
    "looks_costly",
    "parse_html",
]
