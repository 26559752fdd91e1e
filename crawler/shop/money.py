"""How the simulated shops round and write prices.  Exact: the text holds the very micros."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Habit:
    """A currency as shops of its country use it."""

    scale: float  # of one euro, about
    step: int  # prices are multiples of this, in micros, less `ending`
    ending: int
    decimals: int
    thousands: str
    point: str
    pattern: str


_HABITS = {
    "EUR": Habit(1.0, 100_000, 10_000, 2, ".", ",", "{} €"),
    "USD": Habit(1.1, 100_000, 10_000, 2, ",", ".", "${}"),
    "GBP": Habit(0.85, 100_000, 10_000, 2, ",", ".", "£{}"),
    "CHF": Habit(0.95, 50_000, 0, 2, "’", ".", "CHF {}"),
    "SEK": Habit(11.0, 1_000_000, 0, 2, "\u00a0", ",", "{} kr"),
    "JPY": Habit(160.0, 10_000_000, 0, 0, ",", ".", "{}円"),  # the sign ¥ could be yuan
}


def shelf_price_micros(euros: NDArray[np.float64], currency: str) -> NDArray[np.int64]:
    """Prices rounded as the shop likes them (x.x9 in euros, whole tens in yen), never below one step."""
    habit = _HABITS[currency]
    steps = np.maximum(1, np.rint(euros * habit.scale * 1e6 / habit.step)).astype(np.int64)
    return steps * habit.step - habit.ending


def plain(price_micros: int, currency: str) -> str:
    """The amount as structured data writes it: `1299.90`."""
    decimals = _HABITS[currency].decimals
    units, rest = divmod(price_micros, 1_000_000)
    return f"{units}.{rest // 10 ** (6 - decimals):0{decimals}d}" if decimals else str(units)


def visible(price_micros: int, currency: str) -> str:
    """The amount as shoppers see it: `1.299,90 €`."""
    habit = _HABITS[currency]
    units, _, cents = plain(price_micros, currency).partition(".")
    grouped = f"{int(units):,}".replace(",", habit.thousands)
    return habit.pattern.format(grouped + habit.point + cents if cents else grouped)
