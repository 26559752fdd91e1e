"""Did an offer change, or does the page only look different?  Pure: stored facts and new ones in, verdict out.

The engine keeps for each offer what it believes and, at most, one value that waits for a second
fetch.  A jump that is more often a reading error than a price (to nothing, by a factor of 100 or
1000, into another currency) is held: it becomes the price when the next fetch shows it again.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from crawler.reading.facts import Availability, Offer, PageFacts
from crawler.reading.rules import ChangeDefinition


class Verdict(StrEnum):
    """What a fetch taught about an offer or a page."""

    FIRST = "first"
    SAME = "same"
    PRICE_CHANGED = "price_changed"
    AVAILABILITY_CHANGED = "availability_changed"
    CONTENT_CHANGED = "content_changed"
    HELD = "held"
    CURRENCY_SWITCH = "currency_switch"
    UNREADABLE = "unreadable"


CHANGES = frozenset({Verdict.PRICE_CHANGED, Verdict.AVAILABILITY_CHANGED, Verdict.CONTENT_CHANGED})


class Believed(Protocol):
    """What the storage holds about an offer: a row or an Offer."""

    @property
    def price_micros(self) -> int | None: ...
    @property
    def currency(self) -> str | None: ...
    @property
    def availability(self) -> Availability | None: ...


@dataclass(frozen=True, slots=True)
class Held:
    """A price seen once that needs a second fetch."""

    price_micros: int
    currency: str | None


@dataclass(frozen=True, slots=True)
class ChangeVerdict:
    """The verdict, what to believe from now on, what to hold, and why in words for the operator."""

    verdict: Verdict
    price_micros: int | None
    currency: str | None
    availability: Availability | None
    held: Held | None = None
    why: str = ""

    @property
    def is_change(self) -> bool:
        """Does it count as a change: for price history and for the learned rates?"""
        return self.verdict in CHANGES


# A sale takes off up to about 90 %; shops that lose the decimal separator are off by exactly these.
_SLIPS = (100, 1000)
_SLIP_TOLERANCE = 0.02


def offer_change(
    believed: Believed | None,
    new: Offer,
    *,
    held: Held | None = None,
    definition: ChangeDefinition = ChangeDefinition.OFFER,
) -> ChangeVerdict:
    """Compare an offer as stored with the same offer as just read.

    `believed` is None at first sight.  `held` is what the previous fetch of this page left waiting.
    A price that was not read leaves the believed one; nothing is learned about it.
    """
    if believed is None:
        return _believe(Verdict.FIRST, new, new, "first sight")
    if new.price_micros is None:
        return _without_price(believed, new, held)
    if believed.price_micros is None:
        return _believe(Verdict.FIRST, new, believed, "first price")
    if _same_price(believed, new):
        return _same(believed, new, definition)
    doubt = _doubt(believed, new)
    fresh = Held(new.price_micros, new.currency)
    if doubt and held != fresh:
        verdict = Verdict.CURRENCY_SWITCH if _switched(believed, new) else Verdict.HELD
        return ChangeVerdict(
            verdict, believed.price_micros, believed.currency, believed.availability, fresh, doubt
        )
    why = "confirmed by a second fetch" if doubt else "price"
    return _believe(Verdict.PRICE_CHANGED, new, believed, why)


def content_change(old_hash: int, new: PageFacts) -> Verdict:
    """The verdict on the main text of a page; a page without text teaches nothing."""
    if new.trouble is not None or new.text_hash == 0:
        return Verdict.UNREADABLE
    if old_hash == 0:
        return Verdict.FIRST
    return Verdict.SAME if old_hash == new.text_hash else Verdict.CONTENT_CHANGED


def _same_price(believed: Believed, new: Offer) -> bool:
    """Equal amounts are equal prices when one side does not know its currency."""
    return believed.price_micros == new.price_micros and not _switched(believed, new)


def _switched(believed: Believed, new: Offer) -> bool:
    return bool(believed.currency and new.currency and believed.currency != new.currency)


def _doubt(believed: Believed, new: Offer) -> str:
    """Why the new price is more likely a reading error, a geo switch or a placeholder; "" if it is not."""
    old, price = believed.price_micros or 0, new.price_micros or 0
    if _switched(believed, new):
        return f"currency {believed.currency} became {new.currency}"
    if price == 0:
        return "the price fell to nothing"
    if old == 0:
        return ""
    ratio = max(old, price) / min(old, price)
    for slip in _SLIPS:
        if abs(ratio / slip - 1.0) <= _SLIP_TOLERANCE:
            return f"the price moved by a factor of {slip}"
    return f"the price moved by a factor of {ratio:.0f}" if ratio > _SLIPS[0] else ""


def _without_price(believed: Believed, new: Offer, held: Held | None) -> ChangeVerdict:
    """Sold-out pages often hide the price: availability is learned, the price stays."""
    moved = bool(
        new.availability and believed.availability and new.availability != believed.availability
    )
    verdict = Verdict.AVAILABILITY_CHANGED if moved else Verdict.UNREADABLE
    return ChangeVerdict(
        verdict,
        believed.price_micros,
        believed.currency,
        new.availability or believed.availability,
        held,
        "ambiguous price" if new.ambiguous else "no price",
    )


def _same(believed: Believed, new: Offer, definition: ChangeDefinition) -> ChangeVerdict:
    moved = bool(
        new.availability and believed.availability and new.availability != believed.availability
    )
    counts = moved and definition is not ChangeDefinition.PRICE
    verdict = Verdict.AVAILABILITY_CHANGED if counts else Verdict.SAME
    return _believe(verdict, new, believed, "availability" if counts else "")


def _believe(verdict: Verdict, new: Offer, old: Believed, why: str) -> ChangeVerdict:
    """Believe the new offer; what it does not say stays as it was."""
    return ChangeVerdict(
        verdict,
        new.price_micros if new.price_micros is not None else old.price_micros,
        new.currency or old.currency,
        new.availability or old.availability,
        None,
        why,
    )
