"""The one place that knows the HTML parser."""

from selectolax.lexbor import (
    LexborDocumentOptions,
    LexborHTMLParser,
    LexborNode,
    SelectolaxError,
)

from crawler.reading.html.charset import decode_html

__all__ = ["LexborHTMLParser", "LexborNode", "attribute", "is_selector", "parse_html"]

# Without events <selectedcontent> is not filled in, which a hostile page makes quadratic (12,000 options: 1.2 s).
_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)


def parse_html(page: str | bytes, content_type: str | None = None) -> LexborHTMLParser:
    """The tree of a page; bytes are read in the charset they declare or look like.  Never raises."""
    if isinstance(page, bytes):
        page = decode_html(page, content_type)
    if isinstance(page, str):
        page = page.encode("utf-8", "replace")  # lone surrogates cannot be parsed
    return LexborHTMLParser(page, options=_OPTIONS)


def attribute(node: LexborNode, name: str) -> str:
    """An attribute's value, stripped; "" when absent or empty."""
    return (node.attrs.get(name) or "").strip()


def is_selector(css: str) -> bool:
    """Can this CSS selector be used?"""
    try:
        LexborHTMLParser("<p>").css_first(css)
    except (SelectolaxError, ValueError):
        return False
    return True
