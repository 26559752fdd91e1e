"""Durations and sizes with their unit written: "2s", "1m30s", "24h", "500KiB", "8MB"."""

import math
import re
from decimal import Decimal
from typing import Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

SECONDS = {
    "w": Decimal(604_800),
    "d": Decimal(86_400),
    "h": Decimal(3_600),
    "m": Decimal(60),
    "s": Decimal(1),
    "ms": Decimal("0.001"),
}
BYTES = {
    "TiB": 1024**4,
    "TB": 1000**4,
    "GiB": 1024**3,
    "GB": 1000**3,
    "MiB": 1024**2,
    "MB": 1000**2,
    "KiB": 1024,
    "KB": 1000,
    "B": 1,
}
NUMBER = r"(\d+(?:\.\d+)?)\s*"
# Each unit at most once, the larger first: "1h30m" but not "30m1h", so that a slip is caught.
DURATION = re.compile(r"\s*".join(f"(?:{NUMBER}({unit}))?" for unit in SECONDS), re.ASCII)
SIZE = re.compile(f"{NUMBER}({'|'.join(BYTES)})", re.ASCII)


class UnfitError(ValueError):
    """A validator refuses a value: what it wanted, and a hint that follows what it got."""

    def __init__(self, wanted: str, *, hint: str = "") -> None:
        super().__init__(wanted)
        self.hint = hint


class Duration(float):
    """Seconds, as a float that is written with its unit.  Never negative, never infinite."""

    def __new__(cls, value: str | float) -> Self:
        seconds = seconds_of(value) if isinstance(value, str) else float(value)
        if not 0 <= seconds < math.inf:
            raise UnfitError('want a duration such as "2s"')
        return super().__new__(cls, seconds)

    def __str__(self) -> str:
        if not self.is_integer():
            return f"{Decimal(float.__repr__(self)):f}s"
        rest, parts = int(self), []
        for unit in ("d", "h", "m", "s"):
            count, rest = divmod(rest, int(SECONDS[unit]))
            parts += [f"{count}{unit}"] if count else []
        return "".join(parts) or "0s"

    def __repr__(self) -> str:
        return f'Duration("{self}")'

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.accept, serialization=core_schema.to_string_ser_schema()
        )

    @classmethod
    def accept(cls, value: object) -> Self:
        """A setting as read from a file: text with a unit, since a bare number hides it."""
        if isinstance(value, cls | str):
            return cls(value)
        raise UnfitError('want a duration such as "2s"', hint=unit_hint(value, "s", "seconds"))


class Size(int):
    """Bytes, as an int that is written with its unit.  KB, MB, ... are decimal, KiB, MiB, ... binary."""

    def __new__(cls, value: str | int) -> Self:
        count = bytes_of(value) if isinstance(value, str) else value
        if count < 0:
            raise UnfitError('want a size such as "8MB"')
        return super().__new__(cls, count)

    def __str__(self) -> str:
        # The unit that leaves the smallest whole number: 512,000 is 500KiB, 8,000,000 is 8MB.
        fitting = [unit for unit, size in BYTES.items() if self and self % size == 0]
        unit = max(fitting, key=BYTES.__getitem__, default="B")
        return f"{int(self) // BYTES[unit]}{unit}"

    def __repr__(self) -> str:
        return f'Size("{self}")'

    @classmethod
    def __get_pydantic_core_schema__(cls, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.accept, serialization=core_schema.to_string_ser_schema()
        )

    @classmethod
    def accept(cls, value: object) -> Self:
        """A setting as read from a file: text with a unit, since a bare number hides it."""
        if isinstance(value, cls | str):
            return cls(value)
        raise UnfitError('want a size such as "8MB"', hint=unit_hint(value, "B", "bytes"))


def seconds_of(text: str) -> float:
    match = DURATION.fullmatch(text.strip())
    if match is None or not text.strip():
        raise UnfitError(
            'want a duration such as "2s"', hint="units are w, d, h, m, s, ms, largest first"
        )
    counts = match.groups()[::2]
    terms = zip(counts, SECONDS.values(), strict=True)
    return float(sum(Decimal(count) * unit for count, unit in terms if count))


def bytes_of(text: str) -> int:
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise UnfitError(
            'want a size such as "8MB"', hint="units are B, KB, MB, GB, TB, KiB, MiB, GiB, TiB"
        )
    count = Decimal(match[1]) * BYTES[match[2]]
    if count != int(count):
        raise UnfitError("want a whole number of bytes")
    return int(count)


def unit_hint(value: object, unit: str, name: str) -> str:
    """What to write instead of a bare number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return f'write "{value}{unit}" if {name} are meant'
