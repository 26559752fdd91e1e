"""XML from strangers as a stream of records: no tree, no entities, no network, whatever the size.

Sitemaps and feeds are lists of records (<url>, <sitemap>, <item>, <entry>) with flat fields.  A record is handed
over when it ends; nothing is kept, so 50 MB take as little memory as 50 kB.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from lxml import etree

# Longer fields are no address and no time; a text node of megabytes is cut while it streams.
MAX_FIELD = 16_384
MAX_DEPTH = 64
# libxml2 holds a tag until it ends: a million attributes would take 200 MB.
MAX_UNBROKEN = 1_048_576

# An & that begins no built-in reference is meant literally: without this libxml2 drops the word behind it, and with
# it no entity of a document's own can ever be expanded.
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
_LONGEST_REFERENCE = 10
# Not allowed in XML in any encoding that contains ASCII; libxml2 would stop there.
_CONTROLS = bytes(set(range(32)) - {9, 10, 13})


@dataclass(slots=True)
class Record:
    """One element of the list.  Fields in a foreign namespace are named `*name`; names are in lower case."""

    name: str
    fields: dict[str, str] = field(default_factory=dict)
    alternates: int = 0


class _HostileError(Exception):
    """The document is made to hurt, so reading stops; what was found so far counts."""


class _Target:
    """lxml's parser target: called for every tag, keeps one record."""

    def __init__(self, records: frozenset[str], found: Callable[[Record], None]) -> None:
        self.root = ""
        self.count = 0
        self.closed = False
        self._records = records
        self._found = found
        self._depth = 0
        self._record: Record | None = None
        self._record_depth = 0
        self._namespace = ""
        self._field = ""
        self._text: list[str] = []
        self._room = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _HostileError
        namespace, _, name = tag.rpartition("}")
        name = name.lower()
        if not self.root:
            self.root = name
        if self._record is None:
            if name in self._records:
                self._record, self._record_depth = Record(name), self._depth
                self._namespace = namespace
        elif self._depth == self._record_depth + 1:
            self._start_field(name if namespace == self._namespace else f"*{name}", attributes)

    def _start_field(self, name: str, attributes: dict[str, str]) -> None:
        assert self._record is not None
        self._text, self._room = [], MAX_FIELD
        self._field = name
        if name.endswith("link") and "href" in attributes:
            self._field = ""
            self._link(name, attributes)
        elif name == "guid" and attributes.get("isPermaLink", "true").lower() == "false":
            self._field = ""

    def _link(self, name: str, attributes: dict[str, str]) -> None:
        """Atom's link is an attribute; a sitemap's xhtml:link names the same page in another language."""
        assert self._record is not None
        if "hreflang" in attributes and name == "*link":
            self._record.alternates += 1
        elif attributes.get("rel", "alternate") == "alternate":
            self._record.fields.setdefault(name, attributes["href"][:MAX_FIELD])

    def data(self, text: str) -> None:
        if self._field and self._room > 0:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def end(self, tag: str) -> None:
        if self._record is not None:
            if self._depth == self._record_depth + 1 and self._field:
                self._record.fields.setdefault(self._field, "".join(self._text).strip())
                self._field = ""
            elif self._depth == self._record_depth:
                self._found(self._record)
                self._record = None
                self.count += 1
        self._depth -= 1
        self.closed = self._depth == 0

    def close(self) -> None:
        """lxml asks for it."""


def read_records(
    chunks: Iterable[bytes], records: frozenset[str], found: Callable[[Record], None]
) -> bool:
    """Call `found` for each record; False when the document is damaged and records may be missing."""
    target = _Target(records, found)
    parser = etree.XMLParser(
        target=target,  # type: ignore[arg-type]  # the stubs ask for bytes and comments too
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    endings = re.compile(rb"</(?:[\w.-]+:)?(?:" + "|".join(sorted(records)).encode() + rb")\s*>")
    ended = 0
    try:
        for chunk in _escaped(chunks):
            ended += len(endings.findall(chunk))
            parser.feed(chunk)
        closed = target.closed  # by the document itself; at close() lxml closes what is open
        parser.close()
    except (etree.XMLSyntaxError, etree.ParserError, LookupError, ValueError, _HostileError):
        return False
    return closed and ended <= target.count


def _escaped(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The document with bare ampersands escaped and control characters removed, in pieces."""
    rest = b""
    unbroken = 0
    for chunk in chunks:
        unbroken = unbroken + len(chunk) if b">" not in chunk else 0
        if unbroken > MAX_UNBROKEN:
            raise _HostileError
        piece = rest + chunk.translate(None, _CONTROLS)
        cut = piece.rfind(b"&", max(0, len(piece) - _LONGEST_REFERENCE))
        piece, rest = (piece[:cut], piece[cut:]) if cut >= 0 else (piece, b"")
        yield _BARE_AMPERSAND.sub(b"&amp;", piece)
    yield _BARE_AMPERSAND.sub(b"&amp;", rest)
