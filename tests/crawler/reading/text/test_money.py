"""Amounts and currencies are read as the shop means them, or called ambiguous."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.text.currencies import currency_of
from crawler.reading.text.money import Money, find_prices, parse_price


def micros(amount: str) -> int:
    return int(Decimal(amount) * 1_000_000)


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("CHF 1’299.–", "1299", "CHF"),
        ("USD 0.005", "0.005", "USD"),
        ("SKU 12345 €9.99", "9.99", "EUR"),
        ("was £20 now £15", "15", "GBP"),
        ("￥１，２３４", "1234", None),
        ("１２３４ 円", "1234", "JPY"),
        ("1.299,00 €", "1299", "EUR"),
        ("1 299,50 zł", "1299.50", "PLN"),
        ("1\u202f299,50 €", "1299.50", "EUR"),
        ("12,34,567 ₹", "1234567", "INR"),
        ("$1,190.00 AUD", "1190", "AUD"),
        ("NZD $100.70", "100.70", "NZD"),
        ("R$ 2.499,90", "2499.90", "BRL"),
        ("Rp 221.000", "221000", "IDR"),
        ("8.000.000 ₫", "8000000", "VND"),
        ("1.899,- Kč", "1899", "CZK"),
        ("35€ 99", "35.99", "EUR"),
        ("36. 24 €", "36.24", "EUR"),
        (".75 €", "0.75", "EUR"),
        ("statt 4.50 CHF 2.25", "2.25", "CHF"),
        ("٣٫٥٠ €", "3.50", "EUR"),
        ("Free!", "0", None),
    ],
)
def test_a_price_is_read_as_written(text: str, amount: str, currency: str | None) -> None:
    assert parse_price(text) == Money(micros(amount), currency)


@pytest.mark.parametrize("text", ["2 for $5", "1,234", "$3.340", "3 x 30 €", "1.234 KWD"])
def test_two_readings_are_ambiguous_never_a_guess(text: str) -> None:
    price = parse_price(text)
    assert price.ambiguous
    assert price.price_micros is None


@pytest.mark.parametrize(
    ("text", "language", "country", "amount"),
    [
        ("1.299 €", "de", None, "1299"),
        ("1,299 €", "en", "IE", "1299"),
        ("$3.340", "es", "CL", "3340"),
        ("$16,500", "en", "US", "16500"),
        ("1,299 €", "de", None, None),
        ("1.299 €", "en", "IE", None),
    ],
)
def test_thousands_follow_the_page_language(
    text: str, language: str, country: str | None, amount: str | None
) -> None:
    price = parse_price(text, language=language, country=country)
    assert price.price_micros == (None if amount is None else micros(amount))
    assert price.ambiguous == (amount is None)


@pytest.mark.parametrize(
    ("country", "currency"),
    [("US", "USD"), ("CA", "CAD"), ("CL", "CLP"), ("AU", "AUD"), (None, None)],
)
def test_a_dollar_belongs_to_its_country(country: str | None, currency: str | None) -> None:
    assert parse_price("$19.99", country=country).currency == currency
    assert currency_of("kr", "NO") == "NOK"


def test_the_text_names_the_currency_before_the_hint() -> None:
    assert parse_price("£54.17", currency_hint="USD").currency == "GBP"
    assert parse_price("54.17", currency_hint="USD").currency == "USD"


@pytest.mark.parametrize("text", ["MX924 IX", "Sheet Set", "", "-15%", "Ph. Eur. USP", None])
def test_no_price_is_found_where_there_is_none(text: str | None) -> None:
    assert parse_price(text).price_micros is None


@given(st.integers(0, 10**9), st.sampled_from(["EUR", "USD", "PLN", "CHF"]))
def test_every_amount_survives_both_ways_of_writing(cents: int, currency: str) -> None:
    whole, rest = divmod(cents, 100)
    grouped = f"{whole:,}"
    point = parse_price(f"{currency} {grouped}.{rest:02d}")
    comma = parse_price(f"{grouped.replace(',', '.')},{rest:02d} {currency}")
    assert point == comma == Money(cents * 10_000, currency)


@given(st.text(max_size=500))
def test_any_text_gives_money_within_bounds(text: str) -> None:
    price = parse_price(text)
    assert price.price_micros is None or 0 <= price.price_micros < 2**63
    assert not (price.ambiguous and price.price_micros is not None)
    assert all(0 <= m.start <= m.end <= len(text) for m in find_prices(text))
