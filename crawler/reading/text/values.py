"""Small values that shops write in many ways: availability, condition, GTIN, clipped text."""

import re

from crawler.reading.facts import Availability

_AVAILABILITY = {
    "instock": Availability.IN_STOCK,
    "onlineonly": Availability.IN_STOCK,
    "available": Availability.IN_STOCK,
    "availablefororder": Availability.IN_STOCK,
    "availableforpurchase": Availability.IN_STOCK,
    "limitedavailability": Availability.LIMITED,
    "lowstock": Availability.LIMITED,
    "outofstock": Availability.OUT_OF_STOCK,
    "oos": Availability.OUT_OF_STOCK,
    "soldout": Availability.OUT_OF_STOCK,
    "notavailable": Availability.OUT_OF_STOCK,
    "unavailable": Availability.OUT_OF_STOCK,
    "notinstock": Availability.OUT_OF_STOCK,
    "preorder": Availability.PREORDER,
    "presale": Availability.PREORDER,
    "backorder": Availability.BACKORDER,
    "madetoorder": Availability.BACKORDER,
    "discontinued": Availability.DISCONTINUED,
    "instoreonly": Availability.IN_STORE_ONLY,
}
_CONDITIONS = {"new": "new", "used": "used", "refurbished": "refurbished", "damaged": "damaged"}
_NOT_LETTERS = re.compile(r"[^a-z]+")
MAX_VALUE = 300


def clip(value: object, limit: int = MAX_VALUE) -> str | None:
    """A JSON or attribute value as one short line of text, or None when there is nothing to show."""
    if not isinstance(value, str):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        value = str(value)
    return " ".join(value[: 4 * limit].split())[:limit] or None


def availability_of(value: object) -> Availability | None:
    """Schema.org's words, with or without the address before them, and what OpenGraph writes."""
    if isinstance(value, bool):
        return Availability.IN_STOCK if value else Availability.OUT_OF_STOCK
    text = clip(value)
    if not text:
        return None
    word = text.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1].lower()
    return _AVAILABILITY.get(_NOT_LETTERS.sub("", word))


def condition_of(value: object) -> str | None:
    """new, used, refurbished or damaged."""
    text = clip(value)
    if not text:
        return None
    word = text.rstrip("/").rsplit("/", 1)[-1].lower()
    return _CONDITIONS.get(_NOT_LETTERS.sub("", word).removesuffix("condition"))


def gtin_of(value: object) -> str | None:
    """A GTIN-8, -12, -13 or -14 whose check digit is right; anything else is no GTIN."""
    digits = re.sub(r"[\s-]", "", clip(value, 40) or "")
    if len(digits) not in (8, 12, 13, 14) or not (digits.isascii() and digits.isdigit()):
        return None
    if not digits.strip("0"):
        return None
    # GS1: weights 3, 1, 3, ... from the digit before the check digit, towards the left.
    total = sum(int(d) * (3 if i % 2 == 0 else 1) for i, d in enumerate(reversed(digits[:-1])))
    return digits if (10 - total % 10) % 10 == int(digits[-1]) else None
