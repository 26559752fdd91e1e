"""Microdata and RDFa Lite as schema.org objects, the same shape that JSON-LD has."""

from typing import Any

from crawler.reading.html import LexborHTMLParser, LexborNode
from crawler.reading.markup.schema_org import Thing

MAX_NODES = 2_000
MAX_CLIMB = 60

_VALUE_ATTRIBUTES = {
    "meta": "content",
    "link": "href",
    "a": "href",
    "img": "src",
    "time": "datetime",
    "data": "value",
    "meter": "value",
}


def read_microdata(tree: LexborHTMLParser) -> list[Any]:
    """Objects from itemscope/itemprop.  Properties outside any scope form one object without a type."""
    return _read(tree, scope="itemscope", kind="itemtype", prop="itemprop")


def read_rdfa(tree: LexborHTMLParser) -> list[Any]:
    """Objects from typeof/property (RDFa Lite).  OpenGraph's property names are not ours to read."""
    return [t for t in _read(tree, scope="typeof", kind="typeof", prop="property") if "@type" in t]


def _read(tree: LexborHTMLParser, *, scope: str, kind: str, prop: str) -> list[Any]:
    things: dict[int, Thing] = {}
    roots: list[Any] = []
    stray: Thing = {}
    for node in tree.css(f"[{scope}],[{prop}]")[:MAX_NODES]:
        if node.mem_id in things:
            continue  # an element that matches both selectors comes twice
        attributes = node.attributes
        owner = _owner(node, scope, things)
        value: Any = None
        if scope in attributes:
            value = things[node.mem_id] = _typed(attributes.get(kind))
            if prop not in attributes or owner is None:
                roots.append(value)
        target = stray if owner is None else owner
        for name in (attributes.get(prop) or "").split():
            key = name.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
            _add(target, key, value if value is not None else _value(node))
    if "price" in stray or "lowPrice" in stray:
        roots.append(stray)
    return roots


def _owner(node: LexborNode, scope: str, things: dict[int, Thing]) -> Thing | None:
    """The object of the nearest enclosing scope."""
    parent = node.parent
    for _ in range(MAX_CLIMB):
        if parent is None:
            return None
        if (thing := things.get(parent.mem_id)) is not None:
            return thing
        parent = parent.parent
    return None


def _typed(kinds: str | None) -> Thing:
    return {"@type": (kinds or "").split()}


def _add(thing: Thing, key: str, value: Any) -> None:
    """Repeated properties become a list, as JSON-LD writes them."""
    if key not in thing:
        thing[key] = value
    elif isinstance(thing[key], list) and key != "@type":
        thing[key].append(value)
    else:
        thing[key] = [thing[key], value]


def _value(node: LexborNode) -> str:
    attributes = node.attributes
    if content := attributes.get("content"):
        return content
    named = attributes.get(_VALUE_ATTRIBUTES.get(node.tag or "", ""))
    return (named or node.text(separator=" ")).strip()[:2_000]
