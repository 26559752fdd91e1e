"""The prices a shopper sees, in page order from the product heading on, each with its role."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from crawler.reading.html import LexborHTMLParser, LexborNode
from crawler.reading.text.money import Money, PriceMatch, find_prices
from crawler.reading.text.roles import STRUCK_STYLE, STRUCK_TAGS, role_of_names, role_of_text
from crawler.reading.text.words import words

MAX_NODES = 400
MAX_TEXT = 300  # a block with more text is no price tag
MAX_UNNAMED = 70  # without a name, more words are prose that mentions an amount
MAX_CLIMB = 7
MAX_DEPTH = 200
MAX_CHARS = 2_000_000  # of text looked at: nested wrappers named "price" are read again and again

SELLING = frozenset({"price", "selling", "regular", "net"})
# Each selector costs about 8 us on a page of 66 KB, so the rarer ones wait.
_USUAL = '[class*="price" i],[id*="price" i]'
_RARER = (
    '[itemprop="price"],[data-price],[data-testid*="price" i],[data-test*="price" i],[data-qa*="price" i],[class*="preis" i],'
    '[class*="prix" i],[class*="precio" i],[class*="prezzo" i],[class*="preco" i],[class*="cena" i],[class*="prijs" i],'
    '[class*="amount" i],[class*="cost" i]'
)
_HEADINGS = frozenset({"h1", "h2", "h3"})
_NOT_TAGS = words("h1 script style input select option body form template noscript textarea")
_CUT = "\x1f"
# Roles that an element further out may still change.
_OPEN = frozenset({None, "selling", "regular", "net"})
_DIGIT = re.compile(r"\d")
_CUT_NUMBER = re.compile(r"\d[.,]\d|.?\d[.,]")  # "21," + "99" or "21" + ",99"
_MEASURE = re.compile(r"\d\s?(?:cm|mm|m|kg|g|ml|l|pcs|gab|x|star|review|%)\b|%", re.IGNORECASE)
_HIDDEN = re.compile(r"display:\s*none|visibility:\s*hidden", re.IGNORECASE)
_SIGNS = re.compile(
    "[$€£¥₹₽₴₺₪₩₫฿₱]|\\b(?:zł|Kč|kr|lei|руб|грн|Ft|TL|CHF|EUR|USD|GBP|원|円)\\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Habits:
    """How this page writes money."""

    currency: str | None
    language: str | None
    country: str | None


@dataclass(frozen=True, slots=True)
class Heading:
    """The product heading with what encloses it: the nearest element first, by its height above the heading.

    An element that also encloses the heading is never "another product", and the lower the first
    element that encloses both a price and the heading, the surer the price belongs to the product.
    """

    node: LexborNode | None
    enclosing: dict[int, int]


@dataclass(frozen=True, slots=True)
class Seen:
    """A printed price.

    `order` counts the price tags since the heading, from 0 (None: printed before it); `height` is how
    far above the heading the first element is that encloses both.
    """

    node: LexborNode
    text: str
    money: Money
    role: str
    order: int | None
    height: int
    signed: bool
    marked: bool


def heading_at(node: LexborNode | None) -> Heading:
    """The heading with the elements around it."""
    enclosing: dict[int, int] = {}
    parent = node
    while parent is not None and len(enclosing) < MAX_DEPTH:
        parent = parent.parent
        if parent is not None:
            enclosing[parent.mem_id] = len(enclosing)
    return Heading(node, enclosing)


def usual_prices(tree: LexborHTMLParser, heading: Heading, habits: Habits) -> Iterator[Seen]:
    """Price tags whose class or id says "price"."""
    return _named_prices(tree, _USUAL, heading, habits)


def rarer_prices(tree: LexborHTMLParser, heading: Heading, habits: Habits) -> Iterator[Seen]:
    """Price tags named in other words or by attributes made for tests."""
    return _named_prices(tree, _RARER, heading, habits)


def _named_prices(
    tree: LexborHTMLParser, names: str, heading: Heading, habits: Habits
) -> Iterator[Seen]:
    """Tags down from the heading, then up from it."""
    tag = heading.node.tag if heading.node is not None else None
    nodes = tree.css(f"{tag},{names}" if tag in _HEADINGS else names)
    start = _place(nodes, heading)
    scan = _Scan(heading, habits)
    order = 0
    for node in nodes[start : start + MAX_NODES]:
        for seen in scan.tag(node, order, marked=True):
            order += 1
            yield seen
    for node in reversed(nodes[max(0, start - MAX_NODES) : start]):
        yield from scan.tag(node, None, marked=True)


def unnamed_prices(tree: LexborHTMLParser, heading: Heading, habits: Habits) -> Iterator[Seen]:
    """Price tags found by their text alone: an element that holds little but an amount and a sign."""
    if tree.body is None:
        return
    past = heading.node is None
    scan = _Scan(heading, habits)
    order = 0
    for node in tree.body.traverse(include_text=True):
        if not past and heading.node is not None and node.mem_id == heading.node.mem_id:
            past = True
        block = _price_block(node) if node.is_text_node else None
        if block is None:
            continue
        for seen in scan.tag(block, order if past else None, marked=False):
            order += 1
            yield seen
        if order >= MAX_NODES:
            return


def _place(nodes: list[LexborNode], heading: Heading) -> int:
    """Where the tags after the heading begin."""
    if heading.node is None:
        return 0
    wanted = heading.node.mem_id
    return next((i for i, node in enumerate(nodes) if node.mem_id == wanted), 0)


def _price_block(node: LexborNode) -> LexborNode | None:
    """The element of a text with a currency sign; the one around it when the amount stands beside."""
    text = node.text_content
    if not text or text.isspace() or len(text) > MAX_TEXT or not _SIGNS.search(text):
        return None
    parent = node.parent
    if parent is None or parent.tag in _NOT_TAGS:
        return None
    return parent if any(c.isdigit() for c in text) else parent.parent or parent


class _Scan:
    """One pass over price tags: remembers which were read, and stops when too much text was read."""

    def __init__(self, heading: Heading, habits: Habits) -> None:
        self.heading = heading
        self.habits = habits
        self.read: set[int] = set()
        self.chars = 0

    def tag(self, node: LexborNode, order: int | None, *, marked: bool) -> list[Seen]:
        """The prices of one tag.  A tag inside one already read is skipped; a block of text is no tag."""
        if node.tag in _NOT_TAGS or self.chars > MAX_CHARS:
            return []
        raw = node.text(separator=_CUT)
        self.chars += len(raw)
        if len(raw) > 4 * MAX_TEXT:
            return []
        text = join_pieces(raw)
        matches = self.matches(text)
        limit = MAX_TEXT if marked else MAX_UNNAMED
        if not matches or len(text) > limit or self.is_inside_read(node):
            return []
        self.read.add(node.mem_id)
        if len(matches) == 1:
            seen = self.seen(node, text, matches[0], order, marked)
            return [replace(seen, role="list") if self.is_former_inside(node, matches[0]) else seen]
        parts = list(self.parts(node)) or [(node, text, matches)]
        return _tell_former(
            [
                self.seen(part, part_text, match, order, marked)
                for part, part_text, part_matches in parts
                for match in part_matches
            ]
        )

    def matches(self, text: str) -> list[PriceMatch]:
        """Amounts with a currency; else a bare amount, where nothing else is written."""
        if not _DIGIT.search(text):
            return []
        habits = self.habits
        matches = find_prices(
            text, currency=habits.currency, language=habits.language, country=habits.country
        )
        signed = [match for match in matches if match.signed]
        return signed or [match for match in matches[:1] if _is_bare_price(text, match)]

    def parts(
        self, node: LexborNode, depth: int = 0
    ) -> Iterator[tuple[LexborNode, str, list[PriceMatch]]]:
        """The child elements that hold the prices, as deep as each still holds a whole price."""
        for child in node.iter(include_text=False):
            text = join_pieces(child.text(separator=_CUT))
            matches = self.matches(text)
            if len(matches) == 1:
                yield child, text, matches
            elif matches and depth < MAX_CLIMB:
                yield from self.parts(child, depth + 1)

    def is_former_inside(self, node: LexborNode, match: PriceMatch) -> bool:
        """Is the tag's one price struck out, or named a former price, by an element inside the tag?"""
        for _ in range(MAX_CLIMB):
            inner = next((c for c in node.iter(include_text=False) if self.holds(c, match)), None)
            if inner is None:
                return False
            if _role_of_element(inner, 0, None) == "list":
                return True
            node = inner
        return False

    def holds(self, node: LexborNode, match: PriceMatch) -> bool:
        found = self.matches(join_pieces(node.text(separator=_CUT)))
        return len(found) == 1 and found[0].money == match.money and found[0].signed == match.signed

    def is_inside_read(self, node: LexborNode) -> bool:
        parent = node if self.read else None
        for _ in range(MAX_CLIMB):
            if parent is None:
                return False
            if parent.mem_id in self.read:
                return True
            parent = parent.parent
        return False

    def seen(
        self, node: LexborNode, text: str, match: PriceMatch, order: int | None, marked: bool
    ) -> Seen:
        role, height = _place_role(node, self.heading)
        return Seen(
            node=node,
            text=text[:120],
            money=match.money,
            role=role_of_text(text[: match.start], text[match.end :]) or role,
            order=order,
            height=height,
            signed=match.signed,
            marked=marked,
        )


def _is_bare_price(text: str, match: PriceMatch) -> bool:
    """An amount without a currency is a price only where little else is written: no "30 x 30 cm"."""
    rest = text[: match.start] + text[match.end :]
    cents = text[match.start : match.end].rstrip()[-3:-2] in (".", ",")
    limit = 25 if cents else 12
    return len(rest) <= limit and not _DIGIT.search(rest) and not _MEASURE.search(text)


def _tell_former(found: list[Seen]) -> list[Seen]:
    """Two selling prices in one tag: the higher is the former price (or the top of a range)."""
    selling = [seen for seen in found if seen.role in SELLING and seen.signed]
    if any(seen.role == "net" for seen in selling):
        return found  # with and without tax
    amounts = [seen.money.price_micros or 0 for seen in selling]
    # A fifth of the price and less is a fee, an instalment or points, not a reduced price.
    if len(selling) != 2 or amounts[0] == amounts[1] or min(amounts) * 5 <= max(amounts):
        return found
    former = max(selling, key=lambda seen: seen.money.price_micros or 0)
    return [replace(seen, role="list") if seen is former else seen for seen in found]


def join_pieces(raw: str) -> str:
    """Text pieces as a shopper reads them: cents set apart in their own element are cents."""
    if _CUT not in raw:
        return " ".join(raw.split())
    text = ""
    for piece in raw.split(_CUT):
        part = " ".join(piece.split())
        if not part:
            continue
        if text and text[-1].isdigit() and len(part) == 2 and part.isdigit():
            text += "." + part
        elif _CUT_NUMBER.fullmatch(text[-2:] + part[0]):
            text += part
        else:
            text += f" {part}" if text else part
    return text


def _place_role(node: LexborNode, heading: Heading) -> tuple[str, int]:
    """The role by what encloses a price (struck out, named, in a link elsewhere), and its height."""
    role: str | None = None
    parent: LexborNode | None = node
    for level in range(MAX_DEPTH):
        if parent is None:
            break
        if (height := heading.enclosing.get(parent.mem_id)) is not None:
            return role or "price", height
        if level < MAX_CLIMB and role in _OPEN:
            role = _role_of_element(parent, level, role)
        parent = parent.parent
    return role or "price", MAX_DEPTH


def _role_of_element(node: LexborNode, level: int, role: str | None) -> str | None:
    """What this enclosing element makes of the price; nearer elements have spoken before."""
    attributes = node.attributes
    style = attributes.get("style") or ""
    if level < 3 and (node.tag in STRUCK_TAGS or STRUCK_STYLE.search(style)):
        return "list"
    if node.tag in ("footer", "nav", "aside") or _HIDDEN.search(style):
        return "other"
    if node.tag == "a" and _leaves(attributes.get("href")):
        return "other"
    named = role_of_names(f"{attributes.get('class') or ''} {attributes.get('id') or ''}")
    return named if named == "other" or (role is None and level < 3) else role


def _leaves(href: str | None) -> bool:
    return bool(href) and not (href or "").startswith(("#", "javascript:"))
