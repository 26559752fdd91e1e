"""The operator's own rule for a stubborn shop: a CSS selector or a JSON path to the price."""

import re
from dataclasses import dataclass
from typing import Any

from crawler.reading.html import LexborHTMLParser, is_selector
from crawler.reading.markup.found import FoundOffer, FoundProduct
from crawler.reading.markup.jsonld import load_loosely
from crawler.reading.text.values import availability_of, clip

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
    """Where a site keeps what the readers miss.  Each is a CSS selector, optionally with ::attr(name),
    or a JSON path such as `$.product.price`, optionally after a selector of the script that holds it."""

    price: str
    currency: str | None = None
    availability: str | None = None
    title: str | None = None


def override_faults(override: Override) -> list[str]:
    """What is wrong with an override, one line for each fault; none when it can be used."""
    faults = []
    for name in ("price", "availability", "title"):
        rule = getattr(override, name)
        if rule is not None and (fault := _fault(rule)):
            faults.append(f"{name}: {fault}")
    if override.currency is not None and not re.fullmatch("[A-Z]{3}", override.currency):
        faults.append(f"currency: want a code such as EUR, got {override.currency!r}")
    return faults


def _fault(rule: str) -> str | None:
    if ("$" in rule and not rule.rstrip().endswith("]")) or rule.startswith("$"):
        match = _JSON_PATH.match(rule.strip())
        if match is None:
            return f"want a JSON path such as $.product.price, got {rule!r}"
        css = match["script"]
    else:
        css = _split(rule)[0]
    if css is None:
        return None
    if not css.strip():
        return "want a CSS selector or a JSON path, got nothing"
    return None if is_selector(css) else f"not a CSS selector: {css!r}"


def override_product(tree: LexborHTMLParser, override: Override) -> FoundProduct | None:
    """The product as the operator's rule reads it, or None when the page has no such place."""
    text = read_rule(tree, override.price)
    if not text:
        return None
    stock = (
        availability_of(read_rule(tree, override.availability)) if override.availability else None
    )
    offer = FoundOffer(text=text, currency=override.currency, availability=stock)
    title = read_rule(tree, override.title) if override.title else None
    return FoundProduct(source="override", title=title, availability=stock, offers=(offer,))


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
            value = value[int(index)] if index else value[name or quoted]
        except (KeyError, IndexError, TypeError):
            return None
    return value
