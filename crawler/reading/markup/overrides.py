"""The operator's own rule for a stubborn shop: a CSS selector or a JSON path to the price."""

import re
from dataclasses import dataclass
from typing import Any

from crawler.reading.html import LexborHTMLParser, is_selector
from crawler.reading.markup.found import FoundOffer, FoundProduct
from crawler.reading.markup.jsonld import load_loosely
from crawler.reading.text.values import clip

# script#state $.product.price   or, in any JSON script of the page,   $.offers[0].price
_JSON_PATH = re.compile(
    r"^(?:(?P<script>[^$]*\S)\s+)?\$(?P<path>(?:\.[\w-]+|\[\d+\]|\[\"[^\"]+\"\])+)$"
)
_STEP = re.compile(r"\.([\w-]+)|\[(\d+)\]|\[\"([^\"]+)\"\]")
_SELECTOR_WITH_ATTRIBUTE = re.compile(
    r"^(?P<css>.*?)(?:::attr\((?P<attribute>[\w-]+)\))?$", re.DOTALL
)
MAX_SCRIPTS = 60


@dataclass(frozen=True, slots=True)
class Override:
    """Where a site keeps the price that the readers miss: a CSS selector, optionally with ::attr(name),
    or a JSON path such as `$.product.price`, optionally after a selector of the script that holds it."""

    price: str
    currency: str | None = None


def is_selector_rule(rule: str) -> bool:
    """`em.price` or `i[data-now]::attr(data-now)`."""
    css = _split(rule)[0]
    return bool(css.strip()) and is_selector(css)


def whole_path(path: str) -> str:
    """A JSON path with its root: `offers.0.price` is short for `$.offers.0.price`."""
    return path if "$" in path else f"$.{path.strip()}"


def is_json_path(path: str) -> bool:
    """`offers.0.price`, `$.offers[0].price`, or `script#state $.price` where only one script is meant."""
    match = _JSON_PATH.match(whole_path(path).strip())
    return match is not None and (match["script"] is None or is_selector(match["script"]))


def override_product(tree: LexborHTMLParser, override: Override) -> FoundProduct | None:
    """The product as the operator's rule reads it, or None when the page has no such place."""
    text = read_rule(tree, override.price)
    if not text:
        return None
    offer = FoundOffer(text=text, currency=override.currency)
    return FoundProduct(source="override", offers=(offer,))


def read_rule(tree: LexborHTMLParser, rule: str) -> str | None:
    """The text at a rule's place."""
    if match := _JSON_PATH.match(rule.strip()):
        return _read_json(tree, match["script"] or "script", match["path"])
    css, attribute = _split(rule)
    node = tree.css_first(css)
    if node is None:
        return None
    return clip(node.attributes.get(attribute) if attribute else node.text(separator=" "))


def _split(rule: str) -> tuple[str, str | None]:
    match = _SELECTOR_WITH_ATTRIBUTE.match(rule.strip())
    return (match["css"], match["attribute"]) if match else (rule, None)


def _read_json(tree: LexborHTMLParser, css: str, path: str) -> str | None:
    for node in tree.css(css)[:MAX_SCRIPTS]:
        for value in load_loosely(node.text()):
            if text := clip(_at(value, path)):
                return text
    return None


def _at(value: Any, path: str) -> Any:
    for name, index, quoted in _STEP.findall(path):
        try:
            if index or (name.isdigit() and isinstance(value, list)):
                value = value[int(index or name)]
            else:
                value = value[name or quoted]
        except (KeyError, IndexError, TypeError):
            return None
    return value
