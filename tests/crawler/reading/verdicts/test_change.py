"""A change is a change of the offer; jumps and switches wait for a second fetch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.facts import Availability, Offer, PageFacts, PageKind, Trouble
from crawler.reading.rules import ChangeDefinition
from crawler.reading.verdicts.change import (
    ChangeVerdict,
    Held,
    Verdict,
    content_change,
    offer_change,
)

IN, OUT = Availability.IN_STOCK, Availability.OUT_OF_STOCK


def offer(
    price: float | None, currency: str | None = "EUR", stock: Availability | None = IN
) -> Offer:
    return Offer("", None if price is None else round(price * 1_000_000), currency, stock)


def test_first_sight_is_no_change() -> None:
    found = offer_change(None, offer(20))
    assert (found.verdict, found.is_change, found.price_micros) == (
        Verdict.FIRST,
        False,
        20_000_000,
    )


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (offer(20), offer(20), Verdict.SAME),
        (offer(20), offer(18), Verdict.PRICE_CHANGED),
        (offer(20), offer(2.5), Verdict.PRICE_CHANGED),
        (offer(20), offer(20, stock=OUT), Verdict.AVAILABILITY_CHANGED),
        (offer(20), offer(18, stock=OUT), Verdict.PRICE_CHANGED),
        (offer(20), offer(None), Verdict.UNREADABLE),
        (offer(20), offer(None, stock=OUT), Verdict.AVAILABILITY_CHANGED),
        (offer(None), offer(20), Verdict.FIRST),
        (offer(20), offer(20, currency=None), Verdict.SAME),
        (offer(20, stock=None), offer(20), Verdict.SAME),
    ],
)
def test_the_verdict_names_what_changed(old: Offer, new: Offer, verdict: Verdict) -> None:
    assert offer_change(old, new).verdict is verdict


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (offer(0), Verdict.HELD),
        (offer(2000), Verdict.HELD),
        (offer(0.2), Verdict.HELD),
        (offer(20_000), Verdict.HELD),
        (offer(0.02), Verdict.HELD),
        (offer(20, currency="USD"), Verdict.CURRENCY_SWITCH),
        (offer(23, currency="USD"), Verdict.CURRENCY_SWITCH),
    ],
)
def test_an_implausible_jump_is_held_until_a_second_fetch_confirms_it(
    new: Offer, verdict: Verdict
) -> None:
    old = offer(20)
    first = offer_change(old, new)
    assert (first.verdict, first.is_change) == (verdict, False)
    assert (first.price_micros, first.currency) == (old.price_micros, old.currency)
    second = offer_change(old, new, held=first.held)
    assert second.verdict is Verdict.PRICE_CHANGED
    assert (second.price_micros, second.currency) == (new.price_micros, new.currency)
    assert second.held is None


def test_a_jump_that_goes_back_leaves_no_trace() -> None:
    first = offer_change(offer(20), offer(2000))
    back = offer_change(offer(20), offer(20), held=first.held)
    assert (back.verdict, back.held) == (Verdict.SAME, None)


def test_a_different_jump_is_held_anew() -> None:
    first = offer_change(offer(20), offer(2000))
    other = offer_change(offer(20), offer(0), held=first.held)
    assert (other.verdict, other.held) == (Verdict.HELD, Held(0, "EUR"))


def test_the_operator_can_count_prices_alone() -> None:
    found = offer_change(offer(20), offer(20, stock=OUT), definition=ChangeDefinition.PRICE)
    assert (found.verdict, found.availability) == (Verdict.SAME, OUT)


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.sampled_from(["EUR", "USD", None]),
    st.booleans(),
)
def test_what_is_believed_moves_only_with_a_change(
    old: int, new: int, currency: str | None, held: bool
) -> None:
    believed = Offer("", old, "EUR", IN)
    read = Offer("", new, currency, IN)
    found: ChangeVerdict = offer_change(believed, read, held=Held(new, currency) if held else None)
    assert found.price_micros == (new if found.is_change else old)
    assert found.is_change == (found.verdict is Verdict.PRICE_CHANGED)
    if held:
        assert found.held is None  # whatever waited is confirmed or dropped


def page(text_hash: int, trouble: Trouble | None = None) -> PageFacts:
    return PageFacts("https://shop.example/", PageKind.OTHER, text_hash=text_hash, trouble=trouble)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (0, page(5), Verdict.FIRST),
        (5, page(5), Verdict.SAME),
        (5, page(6), Verdict.CONTENT_CHANGED),
        (5, page(6, Trouble.BOT_WALL), Verdict.UNREADABLE),
        (5, page(0), Verdict.UNREADABLE),
    ],
)
def test_pages_without_offers_change_with_their_main_text(
    old: int, new: PageFacts, verdict: Verdict
) -> None:
    assert content_change(old, new) is verdict
