"""Prices as the simulated shops write them."""

import numpy as np
import pytest

from crawler.shop.money import plain, shelf_price_micros, visible


@pytest.mark.parametrize(
    ("currency", "micros", "amount", "shown"),
    [
        ("EUR", 1_299_900_000, "1299.90", "1.299,90 €"),
        ("USD", 1_299_990_000, "1299.99", "$1,299.99"),
        ("GBP", 990_000, "0.99", "£0.99"),
        ("CHF", 1_299_050_000, "1299.05", "CHF 1’299.05"),
        ("SEK", 1_499_000_000, "1499.00", "1\u00a0499,00 kr"),
        ("JPY", 12_980_000_000, "12980", "12,980円"),
    ],
)
def test_a_price_is_written_as_its_country_does(
    currency: str, micros: int, amount: str, shown: str
) -> None:
    assert plain(micros, currency) == amount
    assert visible(micros, currency) == shown


@pytest.mark.parametrize("currency", ["EUR", "USD", "GBP", "CHF", "SEK", "JPY"])
def test_the_written_amount_is_the_very_price(currency: str) -> None:
    prices = shelf_price_micros(np.linspace(0.001, 3_000.0, 5_000), currency)
    assert np.all(prices > 0)
    assert [round(float(plain(int(price), currency)) * 1e6) for price in prices] == prices.tolist()
