"""A mix of rules keeps the budget of one rule and follows the rule that finds the changes."""

import numpy as np
import pytest

from benchmarks.portfolio import MixRule
from benchmarks.recordings import Bools, Floats, Ints, Tick, freshness
from benchmarks.recordings_data import PriceRecording

N_OFFERS, N_TICKS = 60, 200


class Fixed:
    """Always the same offers, in turn."""

    def __init__(self, offers: Ints) -> None:
        self.offers, self.turn = offers, 0

    def born(self, offers: Ints, now: float, price: Floats) -> None: ...

    def pick(self, tick: Tick, budget: int, rng: np.random.Generator) -> Ints:
        self.turn += budget
        return np.take(self.offers, np.arange(self.turn - budget, self.turn), mode="wrap")

    def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None: ...


@pytest.fixture(name="partly_moving")
def partly_moving_shop() -> PriceRecording:
    """The first ten offers change their price at every tick, the others never."""
    price = np.zeros((N_TICKS, N_OFFERS), np.float32)
    price[:, :10] = np.arange(N_TICKS)[:, None]
    group = np.zeros(N_OFFERS, np.intp)
    traits = np.zeros((N_OFFERS, 1), np.int32)
    return PriceRecording(
        "partly moving", np.arange(N_TICKS, dtype=np.float64) * 3600.0, price, group, traits, 0
    )


def test_the_mix_follows_the_rule_that_finds_the_changes(partly_moving: PriceRecording) -> None:
    moving, still = Fixed(np.arange(10)), Fixed(np.arange(10, N_OFFERS))
    mix = MixRule([still, moving], learning_rate=0.3, exploration=0.03)
    freshness(partly_moving, mix, share=0.1, seed=1)
    assert mix.mix.weights()[1] > 0.95


def test_the_mix_fetches_as_much_as_one_rule_would(partly_moving: PriceRecording) -> None:
    fetched: list[int] = []

    class Counting(MixRule):
        def learn(self, offers: Ints, now: float, changed: Bools, price: Floats) -> None:
            fetched.append(len(offers))
            super().learn(offers, now, changed, price)

    rules = [Fixed(np.arange(20)), Fixed(np.arange(N_OFFERS))]
    freshness(
        partly_moving, Counting(rules, learning_rate=0.3, exploration=0.03), share=0.1, seed=2
    )
    assert set(fetched) == {6}
