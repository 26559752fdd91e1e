"""Laws of the shared budget: never exceeded, floors kept, the highest prices taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from policies.budget import (
    Floats,
    Ints,
    PriceList,
    SiteFloors,
    best_at_each_site,
    first_fetch_price,
    rank_within_site,
    source_price,
    spend,
    worth_of_a_discovery,
)

N_SITES = 4
# Few distinct prices, so that ties are common.
candidates = st.lists(
    st.tuples(st.integers(0, 6).map(float), st.integers(0, N_SITES - 1)), max_size=25
)
floors = st.lists(st.integers(0, 3), min_size=N_SITES, max_size=N_SITES)


def price_list(pairs: list[tuple[float, int]]) -> PriceList:
    return PriceList(
        price=np.array([p for p, _ in pairs], np.float64),
        site=np.array([s for _, s in pairs], np.int64),
    )


def gathered(lists: list[PriceList], taken: tuple[Ints, ...]) -> tuple[Floats, Ints]:
    """Prices and sites of what was taken."""
    price = np.concatenate([one.price[index] for one, index in zip(lists, taken, strict=True)])
    site = np.concatenate([one.site[index] for one, index in zip(lists, taken, strict=True)])
    return price, site


@given(st.lists(candidates, min_size=1, max_size=3), st.integers(0, 30), floors)
def test_the_budget_is_never_exceeded_and_nothing_is_taken_twice(
    pairs: list[list[tuple[float, int]]], budget: int, floor: list[int]
) -> None:
    lists = [price_list(each) for each in pairs]
    spending = spend(lists, budget=budget, floor=np.array(floor))
    price, site = gathered(lists, spending.taken)
    worth = sum(int((each.price > 0).sum()) for each in lists)
    assert len(price) == min(budget, worth)
    assert (price > 0).all()
    assert all(len(index) == len(set(index.tolist())) for index in spending.taken)
    assert spending.spent.tolist() == np.bincount(site, minlength=N_SITES).tolist()


@given(st.lists(candidates, min_size=1, max_size=3), st.integers(0, 30), floors)
def test_every_site_gets_its_floor_or_all_it_has(
    pairs: list[list[tuple[float, int]]], budget: int, floor: list[int]
) -> None:
    lists = [price_list(each) for each in pairs]
    spending = spend(lists, budget=budget, floor=np.array(floor))
    site = np.concatenate([each.site[each.price > 0] for each in lists])
    wanted = np.minimum(floor, np.bincount(site, minlength=N_SITES))
    if wanted.sum() <= budget:
        assert (spending.spent >= wanted).all()
    else:  # fair: nobody gets a second fetch while another waits for the first
        short = spending.spent < wanted
        assert not short.any() or spending.spent.max() <= spending.spent[short].min() + 1


@given(st.lists(candidates, min_size=1, max_size=3), st.integers(0, 30))
def test_without_floors_the_highest_prices_are_taken(
    pairs: list[list[tuple[float, int]]], budget: int
) -> None:
    lists = [price_list(each) for each in pairs]
    spending = spend(lists, budget=budget, floor=np.zeros(N_SITES, np.int64))
    price, _ = gathered(lists, spending.taken)
    every = np.sort(np.concatenate([each.price for each in lists]))[::-1]
    best = every[: len(price)]
    assert np.sort(price)[::-1].tolist() == best.tolist()
    if 0 < budget < (every > 0).sum():
        assert spending.level == best[-1]
    else:
        assert spending.level == 0.0


@given(candidates, st.integers(1, 30), floors)
def test_nothing_dearer_is_left_than_what_was_taken_beyond_the_floors(
    pairs: list[tuple[float, int]], budget: int, floor: list[int]
) -> None:
    prices = price_list(pairs)
    spending = spend([prices], budget=budget, floor=np.array(floor))
    left = np.setdiff1d(np.arange(len(pairs)), spending.taken[0])
    for site in range(N_SITES):  # a site's own best come first, floor or not
        own = prices.site[spending.taken[0]] == site
        taken, missed = (
            prices.price[spending.taken[0]][own],
            prices.price[left][prices.site[left] == site],
        )
        assert not len(taken) or not len(missed) or taken.min() >= missed.max()
    if spending.level > 0 and len(left):
        assert prices.price[left].max() <= spending.level


@given(candidates)
def test_ranks_count_the_better_ones_of_the_same_site(pairs: list[tuple[float, int]]) -> None:
    prices = price_list(pairs)
    rank = rank_within_site(prices.price, prices.site)
    for i, (price, site) in enumerate(pairs):
        better = [j for j, (p, s) in enumerate(pairs) if s == site and (-p, j) < (-price, i)]
        assert rank[i] == len(better)


@given(candidates, st.data())
def test_sources_are_swapped_for_better_ones_of_the_same_site(
    pairs: list[tuple[float, int]], data: st.DataObject
) -> None:
    prices = price_list(pairs)
    taken = np.array(
        sorted(data.draw(st.sets(st.sampled_from(range(len(pairs)))))) if pairs else [], np.int64
    )
    chosen = best_at_each_site(taken, site=prices.site, score=prices.price)
    count = np.bincount(prices.site[taken], minlength=N_SITES)
    assert np.bincount(prices.site[chosen], minlength=N_SITES).tolist() == count.tolist()
    assert prices.price[chosen].sum() >= prices.price[taken].sum()


@given(st.floats(0.01, 100.0), st.floats(0.01, 500.0), st.floats(1.0, 200.0), st.floats(1.0, 200.0))
def test_a_source_is_priced_by_the_marginal_gain_of_fetching_it(
    rate: float, age: float, half_life: float, expiry: float
) -> None:
    """Gathered worth R(age) minus age * R'(age): the derivative of R / age with respect to fetches per time."""
    decay = np.log(2) / half_life + 1 / expiry
    gained = quad(lambda s: rate * np.exp(-decay * s), 0, age)[0]
    expected = 3.0 * (gained - age * rate * np.exp(-decay * age))
    price = source_price(
        worth=3.0, rate=np.array([rate]), age=np.array([age]), half_life=half_life, expiry=expiry
    )
    assert price[0] == pytest.approx(expected, rel=1e-6, abs=1e-9 * rate)


def test_a_source_never_fetched_is_worth_all_it_can_hold() -> None:
    price = source_price(
        worth=2.0,
        rate=np.array([3.0, 3.0]),
        age=np.array([np.inf, 0.0]),
        half_life=24.0,
        expiry=48.0,
    )
    assert price == pytest.approx([6.0 / (np.log(2) / 24 + 1 / 48), 0.0])


def test_a_first_fetch_is_worth_its_chance_of_an_offer() -> None:
    assert first_fetch_price(worth=5.0, offer_chance=np.array([0.0, 0.2, 1.0])) == pytest.approx(
        [0, 1, 5]
    )


def test_a_discovery_is_worth_what_is_left_after_its_first_fetch() -> None:
    chances = np.array([0.1, 0.9])
    assert worth_of_a_discovery(worth=10.0, offer_chance=chances, level=0.0) == pytest.approx(5.0)
    assert worth_of_a_discovery(worth=10.0, offer_chance=chances, level=5.0) == pytest.approx(2.0)
    assert worth_of_a_discovery(worth=10.0, offer_chance=chances, level=9.5) == 0.0


def test_a_floor_below_one_fetch_a_tick_is_saved_up() -> None:
    floors, given_out = SiteFloors(np.zeros(2)), np.zeros(2, np.int64)
    for _ in range(40):
        floors = floors.grow(share=0.1, budget=5)
        given_out += floors.floor()
        floors = floors.pay(floors.floor())
    assert given_out.tolist() == [10, 10]


def test_a_site_that_could_not_be_fetched_does_not_hoard() -> None:
    floors = SiteFloors(np.zeros(1))
    for _ in range(100):
        floors = floors.grow(share=0.5, budget=6)
    assert floors.floor().tolist() == [3]
