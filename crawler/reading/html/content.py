"""The text of a page that a visitor reads, and a fingerprint of it.  Changes the tree: call it last."""

from xxhash import xxh3_64_intdigest

from crawler.reading.html import LexborHTMLParser

_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe"]
# Menus, banners and footers change with every campaign and say nothing about this page.
_BOILERPLATE = ["nav", "header", "footer", "aside", "form", "button", "select"]
_63_BITS = (1 << 63) - 1  # fits SQLite's signed integer


def visible_text(tree: LexborHTMLParser) -> str:
    """What a visitor sees without running scripts, in one line."""
    tree.strip_tags(_UNSEEN)
    return " ".join(tree.body.text(separator=" ").split()) if tree.body is not None else ""


def main_text_hash(tree: LexborHTMLParser) -> int:
    """A fingerprint of the main text, without boilerplate; 0 for a page without text."""
    tree.strip_tags(_UNSEEN + _BOILERPLATE)
    main = tree.css_first('main,[role="main"],article') or tree.body
    text = " ".join(main.text(separator=" ").split()) if main is not None else ""
    return xxh3_64_intdigest(text.encode("utf-8", "replace")) & _63_BITS if text else 0
