"""The JSON-LD objects of a page, also from the broken blocks met in the wild."""

import json
import re
from typing import Any

import chompjs

from crawler.reading.html import LexborHTMLParser

MAX_BLOCKS = 40
MAX_BLOCK_CHARS = 1_000_000

_WRAPPING = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)")


def read_jsonld(tree: LexborHTMLParser) -> list[Any]:
    """Everything the page's JSON-LD blocks hold, in page order; a hopeless block gives nothing."""
    things: list[Any] = []
    for node in tree.css('script[type*="ld+json"]')[:MAX_BLOCKS]:
        things += load_loosely(node.text())
    return things


def load_loosely(text: str) -> list[Any]:
    """The values of a JSON text; trailing commas, comments, single quotes, `;` and several objects allowed."""
    text = text[:MAX_BLOCK_CHARS]
    try:
        return [json.loads(text, strict=False)]
    except (ValueError, RecursionError):
        pass
    try:
        cleaned = _WRAPPING.sub("", text)
        return list(chompjs.parse_js_objects(cleaned, loader_kwargs={"strict": False}))[:MAX_BLOCKS]
    except (ValueError, RecursionError):
        return []
