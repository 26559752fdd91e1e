"""Run one policy of 000 over offers and score it: click-weighted and offer-level freshness."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.p000_offers import Estimates, Offers
from policies.portfolio.exp3 import Exp3
from policies.portfolio.hedge_mix import HedgeMix, MixedPicks
from policies.portfolio.pulls import Bandit, Pull, draw_arm
from policies.refresh import (
    change_weighted,
    click_weighted,
    greedy,
    impression_weighted,
    lambda_crawl,
    oldest_first,
    uniform,
)
from policies.refresh.filling import draw
from policies.refresh.pages import FloatArray, PageColumns, Strategy, page_columns

STRATEGIES: dict[str, Strategy] = {
    "uniform": uniform.rates,
    "change": change_weighted.rates,
    "click": click_weighted.rates,
    "impression": impression_weighted.rates,
    "lambda": lambda_crawl.rates,
    "oldest": oldest_first.rates,
    "greedy": greedy.rates,
}
READS_ELAPSED = {"oldest", "greedy"}  # the others propose the same all day
KAB2 = ("click", "change")
KAB3 = (*KAB2, "uniform")
KAB4 = (*KAB3, "impression")
KAB5 = (*KAB4, "lambda")
EXPLORATION = 0.1  # the paper's choice


class Tick:
    """One step as a policy sees it; proposals that do not depend on time are kept for the day."""

    def __init__(self, pages: PageColumns, budget: float, kept: dict[str, FloatArray]) -> None:
        self.pages, self.budget, self._kept = pages, budget, kept

    def rates(self, name: str) -> FloatArray:
        if name in READS_ELAPSED:
            return STRATEGIES[name](self.pages, self.budget)
        if name not in self._kept:
            self._kept[name] = STRATEGIES[name](self.pages, self.budget)
        return self._kept[name]


class Policy(Protocol):
    """What fills each step, and what it takes from the outcome."""

    def pick(self, tick: Tick, rng: np.random.Generator) -> NDArray[np.intp]: ...

    def learn(self, importance: FloatArray, changed: NDArray[np.bool_]) -> None:
        """Importance of the picks just made, and which of them had a new price."""

    def shares(self) -> FloatArray: ...


class Alone:
    """One strategy for every step."""

    def __init__(self, name: str) -> None:
        self._name = name

    def pick(self, tick: Tick, rng: np.random.Generator) -> NDArray[np.intp]:
        return draw(tick.rates(self._name), rng)

    def learn(self, importance: FloatArray, changed: NDArray[np.bool_]) -> None:
        """Nothing to learn."""

    def shares(self) -> FloatArray:
        return np.ones(1)


class OneArmAStep:
    """000 Algorithm 1: a bandit gives each step to one strategy.

    Reward by Equation 2: the share of the clicks it fetched for that were stale.  With
    `common_total`, gains of all arms are divided by the largest gain so far instead of each by its
    own clicks.
    """

    def __init__(
        self, names: Sequence[str], bandit: Bandit | None = None, *, common_total: bool = False
    ) -> None:
        self._names = names
        self._bandit = bandit or Exp3.start(len(names), exploration=EXPLORATION)
        self._common_total = common_total
        self._largest = 0.0
        self._pull = Pull(0, 1.0)

    def pick(self, tick: Tick, rng: np.random.Generator) -> NDArray[np.intp]:
        self._pull = draw_arm(self._bandit, rng)
        return draw(tick.rates(self._names[self._pull.arm]), rng)

    def learn(self, importance: FloatArray, changed: NDArray[np.bool_]) -> None:
        gain, own_total = float(importance[changed].sum()), float(importance.sum())
        self._largest = max(self._largest, gain)
        total = self._largest if self._common_total else own_total
        reward = min(gain / total, 1.0) if total > 0.0 else 0.0
        self._bandit = self._bandit.learn(self._pull, reward)

    def shares(self) -> FloatArray:
        return self._bandit.probabilities()


class PageMix:
    """Every strategy proposes, the plan mixes page by page, Hedge moves the weights."""

    def __init__(self, names: Sequence[str], *, learning_rate: float = 0.1) -> None:
        self._names = names
        self._mix = HedgeMix.start(len(names), learning_rate=learning_rate, exploration=EXPLORATION)
        self._picks: MixedPicks | None = None

    def pick(self, tick: Tick, rng: np.random.Generator) -> NDArray[np.intp]:
        proposals = np.stack([tick.rates(name) for name in self._names])
        self._picks = self._mix.pick(proposals, tick.pages.importance, rng)
        return self._picks.pages

    def learn(self, importance: FloatArray, changed: NDArray[np.bool_]) -> None:
        assert self._picks is not None
        self._mix = self._mix.learn(self._picks, importance * changed)

    def shares(self) -> FloatArray:
        return self._mix.weights()


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the scored steps, and the arms' shares at every step."""

    click_weighted: float
    offer_level: float
    shares: FloatArray  # (steps, K)


def replay(
    offers: Offers, estimates: Estimates, policy: Policy, *, budget: float, start: int, seed: int
) -> Scores:
    """Fetch `budget` (a share of the live offers) a step from step `start` on.

    Offers are scored before the step's fetches.
    """
    rng = np.random.default_rng(seed)
    n_offers = offers.price.shape[1]
    step_days = 1.0 / max(float(np.median(np.bincount(offers.day))), 1.0)
    stored = np.full(n_offers, np.nan, dtype=np.float32)
    fetched_at = np.full(n_offers, -np.inf)
    kept: dict[str, FloatArray] = {}
    was_live, last_day = np.zeros(n_offers, dtype=bool), -1
    scores, shares = [], []
    for step in range(start, len(offers.price)):
        true, day = offers.price[step], offers.day[step]
        live = ~np.isnan(true)
        born = live & ~was_live & offers.first_fetch_free
        stored[born], fetched_at[born] = true[born], step
        here = np.flatnonzero(live)
        fresh = stored[here] == true[here]
        if step >= offers.warm_up:
            clicks = offers.click_rate[here]
            scores.append((float((clicks * fresh).sum() / clicks.sum()), float(fresh.mean())))
        if day != last_day or not np.array_equal(live, was_live):
            kept, was_live, last_day = {}, live, day
        pages = page_columns(
            (step - fetched_at[here]) * step_days,
            change_rate=estimates.change[day, here],
            importance=estimates.click[day, here],
            click_rate=estimates.click[day, here],
            impression_rate=estimates.impression[day, here],
            tick=step_days,
        )
        picks = policy.pick(Tick(pages, budget * len(here), kept), rng)
        policy.learn(pages.importance[picks], ~fresh[picks])
        stored[here[picks]], fetched_at[here[picks]] = true[here[picks]], step
        shares.append(policy.shares())
    click_weighted, offer_level = np.mean(scores, axis=0)
    return Scores(float(click_weighted), float(offer_level), np.array(shares))
