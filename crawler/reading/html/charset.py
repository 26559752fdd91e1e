"""Which characters do these bytes mean?  The order browsers use, with a guess at the end."""

import codecs
import re
from functools import lru_cache

import cchardet

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META = re.compile(
    rb"<(?:meta|\?xml)[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE
)
_META_SPAN = 1024  # the HTML standard's prescan
_GUESS_SPAN = 32_768  # more does not change the guess, and 32 kB take 1 ms

# The Encoding standard reads these labels as their wider Windows relatives, because pages mean those.
_WIDER = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}


def decode_html(body: bytes, content_type: str | None = None) -> str | bytes:
    """The text of a page; bytes that are UTF-8 are handed back undecoded, as the parser takes them."""
    charset, skip = html_charset(body, content_type)
    if charset == "utf-8":
        return body[skip:] if skip else body
    return decode(body[skip:], charset)


def decode(body: bytes, charset: str) -> str:
    """Never raises: what cannot be read becomes U+FFFD."""
    try:
        return body.decode(charset, "replace")
    except (LookupError, ValueError, AssertionError):  # codecs fail on odd input in odd ways
        return body.decode("latin-1")


def html_charset(body: bytes, content_type: str | None = None) -> tuple[str, int]:
    """Python's name of the charset, and the length of the byte-order mark to skip."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name, len(mark)
    declared = _of_header(content_type) or _of_meta(body)
    if declared is not None:
        return declared, 0
    return ("utf-8" if _is_utf8(body) else _guess(body)), 0


@lru_cache(maxsize=256)
def known_charset(label: str) -> str | None:
    """A charset label as Python's codec for text, wider relatives preferred; None for the unknown.

    Markup must be ASCII, or UTF-16 or 32: in UTF-7 or EBCDIC it would pass every check made on bytes.
    """
    try:
        name = codecs.lookup(label.strip().lower()).name
        plain = name.startswith(("utf-16", "utf-32")) or "</a>".encode(name) == b"</a>"
    except (LookupError, ValueError):
        return None
    return _WIDER.get(name, name) if plain and name not in _NOT_CHARSETS else None


# They leave ASCII alone, and can spell it in other bytes too.
_NOT_CHARSETS = frozenset({"utf-7", "unicode-escape", "raw-unicode-escape", "charmap"})


def _of_header(content_type: str | None) -> str | None:
    found = _HEADER.search(content_type) if content_type else None
    return known_charset(found.group(1)) if found else None


def _of_meta(body: bytes) -> str | None:
    found = _META.search(body, 0, _META_SPAN)
    charset = known_charset(found.group(1).decode("latin-1")) if found else None
    # A readable meta tag disproves UTF-16; the standard takes UTF-8 then.
    return "utf-8" if charset is not None and charset.startswith("utf-16") else charset


def _is_utf8(body: bytes) -> bool:
    """Strict UTF-8, forgiving a character cut off at the very end."""
    if body.isascii():
        return True
    try:
        codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return False
    return True


def _guess(body: bytes) -> str:
    label = cchardet.detect(body[:_GUESS_SPAN])["encoding"]
    return (known_charset(label) if label else None) or "cp1252"
