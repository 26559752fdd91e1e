"""Recorded prices as arrays: what every offer cost at every tick, for replaying refresh rules.

Files are those of the recordings folder, in `prices/`.  Ticks are the snapshot times; an offer is live
from its first sight until it is gone.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks.common import recording

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class PriceRecording:
    """One shop.  T ticks, n offers."""

    name: str
    tick_at: NDArray[np.float64]  # (T,) seconds
    price: NDArray[np.float32]  # (T, n), NaN while the offer is not live
    group: NDArray[np.intp]  # (n,) what the shop itself tells apart: hardware, category, region
    traits: NDArray[np.int32]  # (n, k) all that it tells apart, coded from 0
    warm_up: int  # ticks before scores count

    @property
    def live(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.price)


def _columns(folder: str, name: str, *columns: str) -> list[NDArray[np.object_]]:
    table = pq.read_table(recording(folder, f"prices/{name}.parquet"), columns=list(columns))
    return [table[column].to_numpy() for column in columns]


def _codes(values: NDArray[np.object_]) -> NDArray[np.intp]:
    codes: NDArray[np.intp] = np.unique(values, return_inverse=True)[1]
    return codes.astype(np.intp)


def _traits(folder: str, name: str, *columns: str) -> NDArray[np.int32]:
    """Codes of those columns of an offers file that it has; other shops describe offers by less."""
    table = pq.read_table(recording(folder, f"prices/{name}.parquet"))
    present = [column for column in columns if column in table.column_names]
    codes = [_codes(table[column].to_numpy().astype(str)) for column in present]
    return np.column_stack([np.zeros((len(table), 0), np.int32), *codes]).astype(np.int32)


def _ticks_within(tick_at: NDArray[np.float64], days: float) -> int:
    return int(np.searchsorted(tick_at, tick_at[0] + days * DAY))


def _prices_from_changes(
    tick_at: NDArray[np.float64],
    row: NDArray[np.intp],
    column: NDArray[np.intp],
    price: NDArray[np.float64],
    n_offers: int,
) -> NDArray[np.float32]:
    """Carry each recorded price forward to the next one of its offer."""
    prices = np.full((len(tick_at), n_offers), np.nan, dtype=np.float32)
    prices[row, column] = price
    last_known = np.where(np.isnan(prices), 0, np.arange(len(tick_at))[:, None])
    np.maximum.accumulate(last_known, axis=0, out=last_known)
    return np.take_along_axis(prices, last_known, axis=0)


def auction(folder: str) -> PriceRecording:
    """Servers at hourly falling prices; most offers live less than a day."""
    (snapshot_at,) = _columns(folder, "auction_snapshots", "t")
    tick_at = np.unique(snapshot_at.astype(np.float64))
    offer, changed_at, price = _columns(folder, "auction_changes", "offer", "t", "price")
    known, cpu, last_at = _columns(folder, "auction_offers", "offer", "cpu", "t_last")
    order = np.argsort(known)
    column = order[np.searchsorted(known[order], offer)]
    row = np.searchsorted(tick_at, changed_at.astype(np.float64))
    prices = _prices_from_changes(tick_at, row, column, price.astype(np.float64), len(known))
    prices[tick_at[:, None] > last_at.astype(np.float64)[None, :]] = np.nan
    traits = _traits(folder, "auction_offers", "cpu", "fixed_price")
    return PriceRecording(
        "auction", tick_at, prices, _codes(cpu), traits, _ticks_within(tick_at, days=7)
    )


def gpu(folder: str) -> PriceRecording:
    """A GPU rental market on a 6.9 h clock, after two early snapshots weeks apart.

    Delistings are not recorded: offers stay for good.
    """
    (snapshot_at,) = _columns(folder, "gpu_snapshots", "t")
    tick_at = np.unique(snapshot_at.astype(np.float64))
    offer, changed_at, price = _columns(folder, "gpu_changes", "offer", "t", "price")
    merchant, accelerator = _columns(folder, "gpu_offers", "merchant", "accelerator")
    row = np.searchsorted(tick_at, changed_at.astype(np.float64))
    column, n_offers = offer.astype(np.intp), len(merchant)
    prices = _prices_from_changes(tick_at, row, column, price.astype(np.float64), n_offers)
    group = _codes(np.array([f"{m} {a}" for m, a in zip(merchant, accelerator, strict=True)]))
    traits = _traits(folder, "gpu_offers", "merchant", "accelerator")
    return PriceRecording("gpu", tick_at, prices, group, traits, _ticks_within(tick_at, days=60))


def grocery(folder: str) -> PriceRecording:
    """A supermarket seen daily; half of the changes fall on Thursdays.

    An offer missing on a day is one the visit missed more often than one delisted (1,086 gaps are
    followed by the offer's return), so its last price holds.
    """
    offer, date, price = _columns(folder, "grocery_daily", "offer", "date", "price")
    known, category = _columns(folder, "grocery_offers", "offer", "category")
    described = _traits(folder, "grocery_offers", "category", "brand")
    names, column = np.unique(offer, return_inverse=True)
    dates, row = np.unique(date, return_inverse=True)
    row_of = {name: i for i, name in enumerate(known)}
    about = np.array([row_of[name] for name in names])
    iso = [f"{d[:4]}-{d[4:6]}-{d[6:]}" for d in dates]
    tick_at = np.array(iso, dtype="datetime64[s]").astype(np.float64)
    prices = _prices_from_changes(tick_at, row, column, price.astype(np.float64), len(names))
    return PriceRecording(
        "grocery",
        tick_at,
        prices,
        _codes(category)[about],
        described[about],
        _ticks_within(tick_at, days=10),
    )
