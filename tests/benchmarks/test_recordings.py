"""The protocol of the recordings benchmark on a small shop written to disk."""

import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.recordings import (
    RULES,
    SHARES,
    Floats,
    Ints,
    Tick,
    found,
    freshness,
    main,
    ticks_until_change,
)
from benchmarks.recordings_data import PriceRecording, grocery


def write_auction(data: pathlib.Path) -> None:
    """Offer 7 lives throughout and changes at 20; offer 3 is born at 10 and gone after 30."""
    folder = data / "prices"
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table({"t": [0, 10, 20, 30, 40]}), folder / "auction_snapshots.parquet")
    offers = {"offer": [7, 3], "cpu": ["a", "b"], "t_first": [0, 10], "t_last": [40, 30]}
    pq.write_table(pa.table(offers), folder / "auction_offers.parquet")
    changes = {"offer": [7, 3, 7], "t": [0, 10, 20], "price": [5, 6, 4]}
    pq.write_table(pa.table(changes), folder / "auction_changes.parquet")


def written_grocery(data: pathlib.Path, days: int = 30, offers: int = 40) -> PriceRecording:
    """Prices only rise; every offer is missed on some days."""
    folder = data / "prices"
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(1)
    price = 2.0 + np.cumsum(rng.random((days, offers)) < 0.1, axis=0)
    rows = [
        {"offer": f"o{j}", "date": f"202501{i + 1:02d}", "price": float(price[i, j])}
        for i in range(days)
        for j in range(offers)
        if (i + j) % 11
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "grocery_daily.parquet")
    about = [{"offer": f"o{j}", "category": f"c{j % 3}"} for j in range(offers)]
    pq.write_table(pa.Table.from_pylist(about), folder / "grocery_offers.parquet")
    return grocery(str(data))


def test_an_auction_is_read_as_it_was_written(tmp_path: pathlib.Path) -> None:
    write_auction(tmp_path)
    (auction,) = found(str(tmp_path))
    nan = np.nan
    expected = np.array([[5, nan], [5, 6], [4, 6], [4, 6], [4, nan]], np.float32)
    assert np.array_equal(auction.price, expected, equal_nan=True)
    assert auction.traits.tolist() == [[0], [1]]
    assert ticks_until_change(auction.price)[:, 0].tolist() == [2, 1, 3, 2, 1]


def test_a_missed_day_in_a_grocery_is_not_a_change(tmp_path: pathlib.Path) -> None:
    shop = written_grocery(tmp_path)
    seen = ~np.isnan(shop.price)
    assert np.all(seen[1:] >= seen[:-1])
    assert np.all(np.diff(shop.price, axis=0)[seen[:-1]] >= 0)


class FetchesNothing:
    def born(self, offers: Ints, now: float, price: Floats) -> None: ...

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        return tick.live[:0]

    def learn(self, offers: Ints, now: float, changed: object, price: Floats) -> None: ...


class CountsFetches(FetchesNothing):
    budgets: int = 0

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        self.budgets += budget
        return tick.live[:budget]


def test_an_unfetched_offer_stays_stale_once_it_has_changed(tmp_path: pathlib.Path) -> None:
    shop = written_grocery(tmp_path)
    first = shop.price[np.argmax(shop.live, axis=0), np.arange(shop.price.shape[1])]
    fresh = [float(np.mean((row == first)[~np.isnan(row)])) for row in shop.price]
    got = freshness(shop, FetchesNothing(), share=0.1, seed=1)
    assert got == pytest.approx(np.mean(fresh[10:]))


def test_broken_fetches_are_saved_up_and_the_budget_is_kept(tmp_path: pathlib.Path) -> None:
    shop = written_grocery(tmp_path)
    rule = CountsFetches()
    freshness(shop, rule, share=0.01, seed=1)
    assert rule.budgets == int(0.01 * shop.live.sum() + 1e-9)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_repeatable_and_below_the_clairvoyant(
    name: str, tmp_path: pathlib.Path
) -> None:
    shop = written_grocery(tmp_path)
    once, again, best = (
        freshness(shop, RULES[rule](shop), share=0.1, seed=3)
        for rule in (name, name, "clairvoyant")
    )
    assert once == again <= best


def test_the_table_names_every_rule(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written_grocery(tmp_path)
    main(["--data", str(tmp_path), "--seeds", "1"])
    printed = capsys.readouterr().out
    assert all(name in printed for name in RULES)
    assert all(f"{share:.0%}" in printed for share in SHARES["grocery"])


def test_a_missing_folder_is_told_clearly() -> None:
    with pytest.raises(SystemExit, match="--data: want the folder"):
        found("/nowhere")
