"""Would this page stall the HTML parser?  Told from its bytes in linear time, before parsing.

The HTML standard makes three things quadratic, and lexbor follows it:
- every start tag looks through the open elements: 100,000 nested <div> take 9 s;
- unclosed formatting elements (<b>, <font> ...) are opened again in every new block: 3,000 <p><font size=N>,
  50 kB, take 3 s and 1.2 GB;
- every attribute of a tag is compared with those before it: 12,000 in one tag take 0.2 s.
A first look counts tags for all pages (20 us for 66 KB).  Its bounds on the first two hold whatever the page does;
the pages above them (long listings, text full of <b>) get a second look, 1 us a tag, that knows what is closed.
"""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

SMALL = 4096  # bytes: no page this small takes 50 ms
MAX_REOPENED = 250_000  # formatting elements opened again: 0.3 us and 350 bytes each
MAX_NESTED = 150_000_000  # sum over the tags of the start tags before them: 0.2 s if all stay open
MAX_SEARCHED = 40_000_000  # sum over the tags of the elements open around them: 2 ns each
LONG_TAG = 16_384  # bytes
LONG_GAP = 4_096  # bytes without a <: a long tag has such a gap, unless < fills its quoted values
MANY_NULS = 2_048  # in UTF-16, whose tags are not told here, this is room for 400 tags
MAX_ATTRIBUTES = 4_000
MAX_ODDITIES = 50  # <html> and <body> again (attributes are merged), <title> in <title> in <svg>

_SPACE = b" \t\n\r\f/"


def _formatting_starts() -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which two bytes after < may begin a formatting element that can differ from its like.

    Without attributes at most three alike stay in the list (the standard's "Noah's Ark" clause), so one-letter
    names count with a space behind them only.  <a> and <nobr> close their predecessor and do not count.
    """
    starts = np.zeros(65_536, dtype=np.bool_)
    for letter in b"bisuBISU":
        starts[[letter << 8 | space for space in _SPACE]] = True
    for name in (b"em", b"tt", b"bi", b"co", b"fo", b"sm", b"st"):  # big, code, font, small, strong
        for first in (name[0], name[0] - 32):
            starts[[first << 8 | name[1], first << 8 | name[1] - 32]] = True
    return starts


_FORMATTING_START = _formatting_starts()
_FORMATTING_NAMES = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
_ALONE = frozenset({b"a", b"nobr"})  # a new one closes the one before
_FORMATTING = re.compile(
    rb"<(b|i|s|u|em|tt|big|code|font|small|strike|strong)(?=[\s/>])", re.IGNORECASE
)


def looks_costly(body: bytes) -> bool:
    """True for a page to be parsed elsewhere, under a deadline."""
    if len(body) < SMALL:
        return False
    if b"\0" in body and body.count(b"\0") > MANY_NULS:
        return True
    octets = np.frombuffer(body, dtype=np.uint8)
    tags = np.flatnonzero(octets[:-2] == 0x3C)  # positions of <
    letters = octets[tags + 1]
    pairs = letters.astype(np.uint16) << 8 | octets[tags + 2]
    formatting = _FORMATTING_START[pairs]
    suspicious = _may_nest(letters) or (
        np.count_nonzero(formatting) * len(tags) > MAX_REOPENED
        and _reopened(body, tags, formatting) * len(tags) > MAX_REOPENED
    )
    return (suspicious and _walk_is_long(body)) or _has_long_tag(body, tags)


def _may_nest(letters: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> bool:
    """Are there enough start tags, if none is ever closed?  `letters` stand behind each <."""
    most = len(letters) * (len(letters) + 1) // 2  # if all of them were
    if most <= MAX_NESTED:  # as on most pages
        return False
    lower = letters | 0x20
    starts = (lower >= ord("a")) & (lower <= ord("z"))
    return bool(np.cumsum(starts).sum() > MAX_NESTED)


def _reopened(
    body: bytes,
    tags: np.ndarray[tuple[int], np.dtype[np.intp]],
    formatting: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> int:
    """How many formatting elements can be open for ever: at most three of each spelling.

    One whose end tag is the very next tag (<i class="icon"></i>, <b>text</b>) cannot.
    """
    spellings: Counter[bytes] = Counter()
    unique = 0
    following = np.append(tags[1:], len(body))
    for start, end in zip(tags[formatting].tolist(), following[formatting].tolist(), strict=True):
        name = _FORMATTING.match(body, start)
        if name is None:
            continue
        spelling, closed, _ = body[start : min(end, start + 256)].partition(b">")
        if not closed or spelling.count(b'"') % 2 or spelling.count(b"'") % 2:
            unique += 1  # it goes on beyond what we saw
        elif not _closes(body, end, name[1]):
            spellings[spelling] += 1
    return sum(min(times, 3) for times in spellings.values()) + unique


def _closes(body: bytes, at: int, name: bytes) -> bool:
    return body[at : at + 3 + len(name)].lower() == b"</" + name.lower() + b">"


# A tag as the standard's tokenizer ends it: quotes count behind = only.  Possessive, so linear.
_REST = rb"""[^>=]*+(?:=\s*+(?:"[^"]*+"|'[^']*+')?+[^>=]*+)*+>"""
_TAG = re.compile(rb"<[a-z]" + _REST, re.IGNORECASE)
_TOKEN = re.compile(
    rb"<(?:(/?)([a-z][^\s/>]*+)(" + _REST + rb")|!--|!\[CDATA\[|[!?/][^>]*+>)", re.IGNORECASE
)
# What these hold is text, except inside <svg> and <math>.
_TEXT_END = {
    name: re.compile(rb"</" + name + rb"(?=[\s/>])", re.IGNORECASE)
    for name in b"script style textarea title xmp iframe noembed noframes".split()
}
_FOREIGN = frozenset({b"svg", b"math"})
_TEXT_IN_TEXT = b"?"
_ODDITIES = frozenset({b"html", b"body", _TEXT_IN_TEXT})
_VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
# No other end tag reaches beyond these.  Cells count inside a table only; elsewhere the parser ignores them.
_CELLS = frozenset(b"td th caption".split())
_BOUNDARY = _CELLS | frozenset(b"table template object applet marquee".split())


class _Frame:
    """The elements open since a boundary; formatting ones apart, with or without attributes."""

    __slots__ = ("formatting", "name", "open")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.open: list[bytes] = []
        self.formatting: list[tuple[bytes, bool]] = []


class _Walk:
    """The parser's open elements, never fewer than it has: an end tag in doubt closes nothing.

    A formatting element stays until its own end tag, also when the block around it ends: the parser will open
    it again.  `attributed` counts those with attributes; of the others only three alike come back.
    """

    __slots__ = ("attributed", "frames", "height")

    def __init__(self) -> None:
        self.frames = [_Frame(b"")]
        self.height = 0
        self.attributed = 0

    def start(self, name: bytes, rest: bytes) -> None:
        if name in _BOUNDARY:
            self._enter(name)
        elif name in _FORMATTING_NAMES:
            if name in _ALONE:
                self.end(name)
            attributed = len(rest) > 2
            self.frames[-1].formatting.append((name, attributed))
            self.attributed += attributed
            self.height += 1
        elif name not in _VOID:
            self.frames[-1].open.append(name)
            self.height += 1

    def end(self, name: bytes) -> None:
        """Close the nearest element of that name; 64 levels are looked at."""
        if name in _BOUNDARY:
            self._leave(name)
        elif name in _FORMATTING_NAMES:
            formatting = self.frames[-1].formatting
            for depth in range(len(formatting) - 1, max(len(formatting) - 65, -1), -1):
                if formatting[depth][0] == name:
                    self.attributed -= formatting.pop(depth)[1]
                    self.height -= 1
                    return
        else:
            elements = self.frames[-1].open
            for depth in range(len(elements) - 1, max(len(elements) - 65, -1), -1):
                if elements[depth] == name:
                    self.height -= len(elements) - depth
                    del elements[depth:]
                    return

    def _enter(self, name: bytes) -> None:
        if name in _CELLS:
            if self.frames[-1].name in _CELLS:
                self._leave(self.frames[-1].name)
            if self.frames[-1].name != b"table":
                return
        self.frames.append(_Frame(name))
        self.height += 1

    def _leave(self, name: bytes) -> None:
        """Out of the nearest such boundary of eight, with all inside it; a cell's end stays in its table."""
        for depth in range(len(self.frames) - 1, max(len(self.frames) - 9, 0), -1):
            if self.frames[depth].name == name:
                for frame in self.frames[depth:]:
                    self.height -= 1 + len(frame.open) + len(frame.formatting)
                    self.attributed -= sum(attributed for _, attributed in frame.formatting)
                del self.frames[depth:]
                return
            if name != b"table" and self.frames[depth].name == b"table":
                return


def _walk_is_long(body: bytes) -> bool:
    """Walk the tags and add up what the parser would search and open again."""
    walk = _Walk()
    searched = reopened = oddities = 0
    for slash, name, rest in _tags(body):
        if slash:
            walk.end(name)
        else:
            walk.start(name, rest)
        searched += walk.height
        reopened += walk.attributed
        oddities += name in _ODDITIES
        if searched > MAX_SEARCHED or reopened > MAX_REOPENED or oddities > MAX_ODDITIES:
            return True
        if len(rest) > LONG_TAG and _attributes(rest) > MAX_ATTRIBUTES:
            return True
    return False


def _tags(body: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Slash, name and rest of every tag.  An end tag that may be mere text to the parser is left out."""
    at = 0
    text_until = 0
    foreign = False
    while at < len(body):
        for token in _TOKEN.finditer(body, at):
            slash, name, rest = token.groups()
            at = token.end()
            if name is None:
                if token[0] == b"<!--":
                    at = _after(body, b"-->", at)
                    break
                if token[0][:3] == b"<![" and at > text_until:
                    text_until = _after(body, b"]]>", at)
                continue
            name = name.lower()
            if name in _TEXT_END and not slash:
                if at <= text_until:
                    yield b"", _TEXT_IN_TEXT, rest
                ending = _TEXT_END[name].search(body, at)
                text_until = ending.start() if ending else len(body)
                if not foreign:
                    at = text_until
                    break
            elif not slash or at > text_until:
                foreign = foreign or name in _FOREIGN
                yield slash, name, rest
        else:
            return


def _after(body: bytes, mark: bytes, at: int) -> int:
    found = body.find(mark, at)
    return found + len(mark) if found >= 0 else len(body)


def _has_long_tag(body: bytes, tags: np.ndarray[tuple[int], np.dtype[np.intp]]) -> bool:
    suspects = tags[:-1][tags[1:] - tags[:-1] > LONG_GAP].tolist() + tags[-1:].tolist()
    return any(_many_attributes(body, tag) for tag in suspects)


def _many_attributes(body: bytes, tag: int) -> bool:
    found = _TAG.match(body, tag)
    if found is None or found.end() - tag <= LONG_TAG:
        return False
    return _attributes(found[0]) > MAX_ATTRIBUTES


def _attributes(tag: bytes) -> int:
    """At most this many: what stands between white space, outside quoted values."""
    return len(re.sub(rb"""=\s*+(?:"[^"]*+"|'[^']*+')""", b"= ", tag).split())
