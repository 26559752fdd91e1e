"""Rates keep the budget; picks keep the rates."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.refresh.filling import draw, proportional, take_best, take_due

RATES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30)


def test_what_a_heavy_page_cannot_use_goes_to_the_others_in_proportion() -> None:
    rates = proportional(np.array([100.0, 1.0, 3.0]), 2.0)
    assert rates == pytest.approx([1.0, 0.25, 0.75])


def test_pages_without_weight_are_served_last() -> None:
    assert proportional(np.array([0.0, 5.0, 0.0]), 1.0) == pytest.approx([0.0, 1.0, 0.0])
    assert proportional(np.array([0.0, 5.0, 0.0]), 2.0) == pytest.approx([0.5, 1.0, 0.5])


def test_a_broken_budget_leaves_its_fraction_to_the_next_in_line() -> None:
    assert take_best(np.array([1.0, 5.0, 3.0]), 1.25).tolist() == [0.0, 1.0, 0.25]


def test_the_longest_overdue_are_taken_first() -> None:
    elapsed, interval = np.array([5.0, 9.0, 4.0]), np.array([4.0, 4.0, 4.5])
    assert take_due(elapsed, interval, 1.0).tolist() == [0.0, 1.0, 0.0]


@given(rates=RATES, seed=st.integers(0, 2**32 - 1))
def test_the_number_of_picks_is_the_budget_rounded_up_or_down(
    rates: list[float], seed: int
) -> None:
    picks = draw(np.array(rates), np.random.default_rng(seed))
    assert abs(len(picks) - sum(rates)) < 1.0 + 1e-6
    assert len(set(picks.tolist())) == len(picks)


@given(scores=st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=30), seed=st.integers(0, 99))
def test_a_ranking_is_drawn_exactly(scores: list[float], seed: int) -> None:
    rates = take_best(np.array(scores), 3.0)
    picks = draw(rates, np.random.default_rng(seed))
    assert picks.tolist() == np.flatnonzero(rates).tolist()


def test_pages_are_drawn_as_often_as_their_rates_say() -> None:
    rates = proportional(np.random.default_rng(1).pareto(1.0, 40), 10.0)
    rng = np.random.default_rng(2)
    counts = np.zeros(40)
    for _ in range(4000):
        counts[draw(rates, rng)] += 1
    standard_error = np.sqrt(rates * (1 - rates) / 4000) + 1e-9
    assert np.abs((counts / 4000 - rates) / standard_error).max() < 4.5


@given(budget=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_a_whole_budget_is_met_to_the_fetch(budget: int, seed: int) -> None:
    rates = np.full(30, budget / 30)
    assert len(draw(rates, np.random.default_rng(seed))) == pytest.approx(budget)


class Chosen(np.random.Generator):
    """A generator whose next number is known: the unlucky ones come once in 1e16 draws."""

    def __init__(self, number: float) -> None:
        super().__init__(np.random.PCG64(0))
        self.number = number

    def random(self, *args: Any, **kwargs: Any) -> Any:
        return self.number


@pytest.mark.parametrize("start", [0.0, 2.0**-53, 0.5, 1.0 - 2.0**-53])
@pytest.mark.parametrize(("pages", "rate", "budget"), [(10, 0.1, 1), (3, 1 / 3, 1), (21, 1 / 3, 7)])
def test_rounding_of_the_sum_neither_loses_nor_adds_a_fetch(
    start: float, pages: int, rate: float, budget: int
) -> None:
    rates = np.concatenate([[0.0], np.full(pages, rate), [0.0]])
    picks = draw(rates, Chosen(start))
    assert len(picks) == budget
    assert np.all(rates[picks] > 0.0)
