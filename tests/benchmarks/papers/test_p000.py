"""The experiments of 000 measure what they say: offers as described, budgets kept, truth scored."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.papers.p000_experiment import KABS, OURS, PAPER, Scene, sweep
from benchmarks.papers.p000_offers import Offers, by_history, by_model, simulated
from benchmarks.papers.p000_replay import Alone, Tick, replay


@pytest.fixture(scope="module")
def offers() -> Offers:
    return simulated(300, 1, warm_up_days=5, scored_days=5)


class Counting(Alone):
    """Uniform, remembering how many offers each step fetched."""

    def __init__(self) -> None:
        super().__init__("uniform")
        self.fetched: list[int] = []

    def pick(self, tick: Tick, rng: np.random.Generator) -> NDArray[np.intp]:
        picks = super().pick(tick, rng)
        self.fetched.append(len(picks))
        return picks


def test_simulated_offers_change_and_are_clicked_as_seldom_as_in_the_paper() -> None:
    """Per day the paper sees 1 in 21 change, 1 in 76 clicked, 1 in 7 shown."""
    offers = simulated(3000, 2, warm_up_days=30, scored_days=30)
    at_midnight = offers.price[11::12]
    changed = (at_midnight[1:] != at_midnight[:-1]).mean()
    assert changed == pytest.approx(1 / 21, rel=0.5)
    assert (offers.clicks > 0).mean() == pytest.approx(1 / 76, rel=0.5)
    assert (offers.impressions > 0).mean() == pytest.approx(1 / 7, rel=0.5)


def test_estimates_of_a_day_know_nothing_of_that_day(offers: Offers) -> None:
    day = 20
    later = replace(offers, price=offers.price.copy(), clicks=offers.clicks.copy())
    later.price[offers.day >= day] += 1000.0 * np.arange((offers.day >= day).sum())[:, None]
    later.clicks[day:] += 50.0
    for estimate in (by_history, by_model):
        assert np.array_equal(estimate(later).change[day], estimate(offers).change[day])
        assert np.array_equal(estimate(later).click[day], estimate(offers).click[day])
        assert not np.array_equal(estimate(later).click[day + 1], estimate(offers).click[day + 1])


def test_history_is_zero_for_offers_without_events_and_the_model_never_is(offers: Offers) -> None:
    assert (by_history(offers).click == 0.0).any()
    assert (by_model(offers).click > 0.0).all()


def test_no_step_fetches_more_than_its_budget(offers: Offers) -> None:
    policy = Counting()
    replay(offers, by_model(offers), policy, budget=0.05, start=360, seed=1)
    assert max(policy.fetched) == min(policy.fetched) == 15


def test_fetching_everything_leaves_only_the_changes_of_one_step_stale(offers: Offers) -> None:
    everything = replay(
        offers, by_model(offers), Alone("uniform"), budget=1.0, start=360, seed=1
    ).offer_level
    scored = offers.price[offers.warm_up - 1 :]
    assert everything == pytest.approx((scored[1:] == scored[:-1]).mean(), abs=1e-6)


def always(offers: Offers, seed: int) -> Offers:
    return offers


def test_every_policy_runs_on_both_kinds_of_offers(offers: Offers) -> None:
    start = np.where(np.arange(300) < 150, 360, 400)
    coming = np.where(np.arange(len(offers.price))[:, None] < start, np.nan, offers.price)
    listed = replace(offers, price=coming.astype(np.float32), first_fetch_free=True)
    for kind in (offers, listed):
        scene = Scene("few", partial(always, kind), 360, 12, "day", (0.2,))
        result = sweep(scene, {**PAPER, **OURS, **KABS}, runs=1, seed=1)
        for scores in (result.click_weighted, result.offer_level):
            assert np.all((scores > 0.0) & (scores < 1.0))
