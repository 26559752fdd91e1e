"""Do two titles, or two addresses, speak of the same product?"""

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text[:300].lower()))


def title_likeness(one: str | None, other: str | None, *, both: bool = False) -> float:
    """The share of the shorter title's words that the longer one holds; of `both` titles' words, if asked."""
    if not one or not other:
        return 0.0
    a, b = _words(one), _words(other)
    if not a or not b:
        return 0.0
    return 2 * len(a & b) / (len(a) + len(b)) if both else len(a & b) / min(len(a), len(b))


def same_page(one: str | None, other: str | None) -> bool:
    """Equal but for scheme, query and fragment.  The site's root matches nothing."""
    if not one or not other:
        return False
    return _core(one) == _core(other) != ""


def _core(url: str) -> str:
    path = url.split("#", 1)[0].split("?", 1)[0].split("://", 1)[-1].rstrip("/")
    return path.removeprefix("www.").lower() if "/" in path else ""
