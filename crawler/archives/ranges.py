"""What tuning may move: settings with the range or the choices of each, as the operator writes them.

planning.worth_new 1h..4d              a range; the unit is the setting's
planning.strategy clock|portfolio      choices
"""

import math
from dataclasses import dataclass

from crawler.config import Duration, keys
from crawler.config.units import Size

_WIDE = (
    20.0  # a range whose ends differ by more than this factor is searched by factors, not by steps
)


@dataclass(frozen=True, slots=True)
class Range:
    """One setting and what it may be: numbers from `low` to `high`, or one of `choices`."""

    path: str
    kind: type
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()

    @property
    def by_factors(self) -> bool:
        return self.low > 0.0 and self.high / self.low > _WIDE

    def text(self, number: float) -> str:
        """A number in the range as a flag would give it, to three digits: more is noise."""
        digits = 2 - math.floor(math.log10(abs(number))) if number else 0
        rounded = min(max(round(number, digits), self.low), self.high)
        if self.kind is Duration:
            return str(Duration(max(1.0, round(rounded))))
        return str(round(rounded)) if self.kind in (int, Size) else repr(float(rounded))


def read_range(text: str) -> Range:
    """Raises ValueError with what was wanted."""
    path, _, span = text.strip().partition(" ")
    kind = keys.type_of(path)
    if kind is None:
        raise ValueError(f"{path}: {keys.unknown_key(path)}")
    if "|" in span:
        return Range(path, kind, choices=tuple(part.strip() for part in span.split("|")))
    low, dots, high = span.partition("..")
    if not dots or kind in (str, bool, tuple):
        wanted = "choices such as a|b" if kind in (str, bool, tuple) else "a range such as 1..5"
        raise ValueError(f"{path}: want {wanted}, got {span or 'nothing'}")
    least, most = (_number(kind, end.strip(), path) for end in (low, high))
    if not least < most:
        raise ValueError(f"{path}: want a range from low to high, got {span}")
    return Range(path, kind, low=least, high=most)


def _number(kind: type, text: str, path: str) -> float:
    try:
        return float(kind(text))
    except ValueError as error:
        raise ValueError(f"{path}: {error}, got {text}") from None
