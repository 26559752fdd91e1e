"""Laws every refresh strategy keeps, and what each prefers."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.refresh import (
    change_weighted,
    click_weighted,
    fixed_interval,
    greedy,
    impression_weighted,
    lambda_crawl,
    nutch,
    oldest_first,
    stormcrawler,
    uniform,
)
from policies.refresh.pages import FloatArray, PageColumns, Strategy, page_columns

SPENDS_ALL: dict[str, Strategy] = {
    "uniform": uniform.rates,
    "oldest first": oldest_first.rates,
    "change-weighted": change_weighted.rates,
    "click-weighted": click_weighted.rates,
    "impression-weighted": impression_weighted.rates,
    "Greedy": greedy.rates,
    "LambdaCrawl per step": lambda_crawl.rates,
    "LambdaCrawl continuous": lambda_crawl.rates_continuous,
}
MAY_LEAVE_BUDGET: dict[str, Strategy] = {
    "Nutch": nutch.rates,
    "StormCrawler": stormcrawler.rates,
    "fixed interval": partial(fixed_interval.rates, interval=5.0),
}
ANY_RATE = st.one_of(st.just(0.0), st.floats(1e-12, 1e6))
N_PAGES = 7


def column() -> st.SearchStrategy[list[float]]:
    return st.lists(ANY_RATE, min_size=N_PAGES, max_size=N_PAGES)


@st.composite
def any_pages(draw: st.DrawFn) -> PageColumns:
    return page_columns(
        draw(column()),
        change_rate=draw(column()),
        importance=draw(column()),
        click_rate=draw(column()),
        impression_rate=draw(column()),
        interval=draw(column()),
        tick=draw(st.floats(1e-3, 1e3)),
    )


@pytest.mark.parametrize("strategy", [*SPENDS_ALL.values(), *MAY_LEAVE_BUDGET.values()])
@given(pages=any_pages(), budget=st.floats(0.0, 10.0))
def test_rates_are_chances_and_never_exceed_the_budget(
    strategy: Strategy, pages: PageColumns, budget: float
) -> None:
    rates = strategy(pages, budget)
    assert rates.shape == (N_PAGES,)
    assert np.all((rates >= 0.0) & (rates <= 1.0))
    assert rates.sum() <= budget + 1e-9


@pytest.mark.parametrize("strategy", SPENDS_ALL.values())
@given(pages=any_pages(), budget=st.floats(0.0, 10.0))
def test_the_whole_budget_is_spent_while_there_are_pages(
    strategy: Strategy, pages: PageColumns, budget: float
) -> None:
    assert strategy(pages, budget).sum() == pytest.approx(min(budget, N_PAGES), abs=1e-9)


@pytest.mark.parametrize("strategy", [*SPENDS_ALL.values(), *MAY_LEAVE_BUDGET.values()])
def test_no_pages_means_no_rates(strategy: Strategy) -> None:
    assert len(strategy(page_columns(np.empty(0)), 3.0)) == 0


def test_one_number_serves_as_a_column_for_all_pages() -> None:
    pages = page_columns([1.0, 2.0, 3.0], importance=2.0)
    assert pages.importance.tolist() == [2.0, 2.0, 2.0]
    assert pages.importance.strides == (0,)


def test_weighted_strategies_are_proportional_to_their_column() -> None:
    pages = page_columns(np.ones(3), click_rate=[1.0, 2.0, 5.0], impression_rate=[6.0, 1.0, 1.0])
    assert click_weighted.rates(pages, 0.8) == pytest.approx([0.1, 0.2, 0.5])
    assert impression_weighted.rates(pages, 0.8) == pytest.approx([0.6, 0.1, 0.1])


def test_change_weighted_goes_by_the_chance_of_a_change_within_a_tick() -> None:
    pages = page_columns(np.ones(2), change_rate=[0.1, 40.0], tick=2.0)
    expected = (1 - np.exp(-0.2)) / (1 - np.exp(-0.2) + 1.0)
    assert change_weighted.rates(pages, 1.0)[0] == pytest.approx(expected)


def test_oldest_first_takes_the_pages_fetched_longest_ago() -> None:
    pages = page_columns([3.0, 9.0, 1.0, 7.0])
    assert oldest_first.rates(pages, 2.0).tolist() == [0.0, 1.0, 0.0, 1.0]


def test_lambda_crawl_spends_on_pages_of_no_known_worth_only_what_is_left() -> None:
    pages = page_columns(np.ones(4), change_rate=[0.1, 0.1, 0.0, 0.1], importance=[1, 1, 1, 0])
    tight, ample = lambda_crawl.rates(pages, 1.0), lambda_crawl.rates(pages, 3.0)
    assert tight == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert ample == pytest.approx([1.0, 1.0, 0.5, 0.5])


def share_fresh(pages: PageColumns, rates: FloatArray) -> float:
    """Importance-weighted freshness of evenly spaced fetches at these rates."""
    x = pages.change_rate / np.maximum(rates, 1e-9)
    fresh = -np.expm1(-x) / x
    return float((pages.importance * fresh).sum() / pages.importance.sum())


def test_greedy_settles_within_a_thousandth_of_the_continuous_optimum() -> None:
    rng = np.random.default_rng(3)
    change, importance = rng.gamma(1.0, 0.05, 40) + 0.002, rng.pareto(2.0, 40) + 0.2
    pages = page_columns(np.zeros(40), change_rate=change, importance=importance)
    elapsed, fetched = np.zeros(40), np.zeros(40)
    for _ in range(6000):
        elapsed += 1.0
        picked = greedy.rates(replace(pages, elapsed=elapsed), 2.0) > 0.5
        fetched += picked
        elapsed[picked] = 0.0
    optimum = share_fresh(pages, lambda_crawl.rates_continuous(pages, 2.0))
    assert share_fresh(pages, fetched / 6000) == pytest.approx(optimum, abs=0.001)
    assert share_fresh(pages, uniform.rates(pages, 2.0)) < optimum - 0.05


def test_interval_rules_leave_pages_alone_that_are_not_due() -> None:
    pages = page_columns([3.0, 9.0, 1.0, 7.0], interval=[4.0, 8.0, 0.5, 8.0])
    assert nutch.rates(pages, 4.0).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert stormcrawler.rates(pages, 1.0).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert fixed_interval.rates(pages, 4.0, interval=5.0).tolist() == [0.0, 1.0, 0.0, 1.0]


def test_nutch_and_stormcrawler_adapt_by_their_documented_factors_within_bounds() -> None:
    interval, changed = np.array([10.0, 10.0, 1.0, 99.0]), np.array([True, False, True, False])
    bounds = {"shortest": 1.0, "longest": 100.0}
    assert nutch.next_interval(interval, changed, **bounds) == pytest.approx([8, 14, 1, 100])
    assert stormcrawler.next_interval(interval, changed, **bounds) == pytest.approx([5, 15, 1, 100])


def settled_hit_share(step: FloatArray) -> float:
    """Share of changed fetches at which ln(step) averages to zero."""
    return float(np.log(step[1]) / (np.log(step[1]) - np.log(step[0])))


def test_at_rest_nutch_finds_a_change_in_60_percent_and_stormcrawler_in_37() -> None:
    both = np.array([True, False])
    wide = {"shortest": 1e-9, "longest": 1e9}
    assert settled_hit_share(nutch.next_interval(np.ones(2), both, **wide)) == pytest.approx(
        0.60, abs=0.005
    )
    assert settled_hit_share(stormcrawler.next_interval(np.ones(2), both, **wide)) == pytest.approx(
        0.37, abs=0.005
    )
