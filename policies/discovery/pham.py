"""The Pham crawler (004, sec. 2.3 and 3.2.2): a baseline.

Model.  Discoveries of a fetch are linear in 35 features: mean and standard deviation of what the source
found in the past 24 h, hours since its last fetch, mean times hours, 24 hours of day and 7 days of week.
Refit by least squares every 3 h on the past 7 days.
Choice.  UCB1 picks the exploited share of the budget, a in {0.6, 0.7, 0.8, 0.9, 1.0}:
    argmax_a  mean reward_a + sqrt(2 log(pulls) / pulls_a),  every a once first,
the reward being what the whole tick found.  budget * a fetches go to the best predictions, the rest to the
most stale sources.  Overlap between sources is not modelled (004, footnote 3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from policies.discovery.exposure import HOURS, SECONDS_PER_HOUR, Floats, Ints
from policies.discovery.most_stale import most_stale

DAY = HOURS * SECONDS_PER_HOUR
N_FEATURES = 4 + HOURS + 7
SHARES = np.array([0.6, 0.7, 0.8, 0.9, 1.0])
FEATURE_WINDOW = DAY
TRAINING_WINDOW = 7 * DAY
REFIT_INTERVAL = 3 * SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLog:
    """The fetches of the training window, one row each, oldest first."""

    at: Floats  # (n,)
    source: Ints  # (n,)
    features: Floats  # (n, 35), as they were when the fetch was chosen
    found: Floats  # (n,)

    def add(self, now: float, source: Ints, features: Floats, found: Ints) -> FetchLog:
        """The same with this tick's fetches, without those that left the training window."""
        old = int(np.searchsorted(self.at, now - TRAINING_WINDOW))
        return FetchLog(
            at=np.concatenate((self.at[old:], np.full(len(source), now))),
            source=np.concatenate((self.source[old:], source)),
            features=np.concatenate((self.features[old:], features)),
            found=np.concatenate((self.found[old:], found.astype(np.float64))),
        )

    def window(self, now: float, n_sources: int) -> tuple[Floats, Floats]:
        """Mean and standard deviation of what each source found in the past day; 0 without a fetch."""
        recent = slice(int(np.searchsorted(self.at, now - FEATURE_WINDOW)), None)
        source, found = self.source[recent], self.found[recent]
        count = np.maximum(np.bincount(source, minlength=n_sources), 1)
        mean = np.bincount(source, found, n_sources) / count
        square = np.bincount(source, found**2, n_sources) / count
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pham:
    """The bandit, the regression and what they learned from."""

    started_at: float
    fetched_at: Floats  # (n_sources,), -inf before the first fetch
    share: int  # the bandit's present pull
    rewards: Floats  # (5,) summed
    pulls: Floats  # (5,)
    weights: Floats  # (35,)
    fitted_at: float
    log: FetchLog

    @classmethod
    def start(cls, n_sources: int, started_at: float) -> Pham:
        nothing = FetchLog(
            at=np.empty(0),
            source=np.empty(0, np.int64),
            features=np.empty((0, N_FEATURES)),
            found=np.empty(0),
        )
        return cls(
            started_at=started_at,
            fetched_at=np.full(n_sources, -np.inf),
            share=0,
            rewards=np.zeros(len(SHARES)),
            pulls=np.zeros(len(SHARES)),
            weights=np.zeros(N_FEATURES),
            fitted_at=-np.inf,
            log=nothing,
        )

    def choose(self, *, now: float, budget: int, rng: np.random.Generator) -> Ints:
        exploited = round(budget * SHARES[self.share])
        predicted = self.features(now) @ self.weights
        best = np.lexsort((rng.random(len(predicted)), -predicted))[:exploited]
        stale = most_stale(self.fetched_at, rng)
        explored = stale[~np.isin(stale, best)][: budget - exploited]
        return np.concatenate((best, explored))

    def observe(self, *, now: float, sources: Ints, discoveries: Ints) -> Pham:
        log = self.log.add(now, sources, self.features(now)[sources], discoveries)
        fetched_at = self.fetched_at.copy()
        fetched_at[sources] = now
        pulled = np.eye(len(SHARES))[self.share]
        rewards, pulls = self.rewards + pulled * discoveries.sum(), self.pulls + pulled
        learned = replace(
            self,
            fetched_at=fetched_at,
            share=ucb1(rewards, pulls),
            rewards=rewards,
            pulls=pulls,
            log=log,
        )
        return learned._fit(now) if now - self.fitted_at >= REFIT_INTERVAL else learned

    def features(self, now: float) -> Floats:
        """Shape (n_sources, 35).  A source never fetched is as old as the crawl."""
        n = len(self.fetched_at)
        mean, deviation = self.log.window(now, n)
        age = (now - np.maximum(self.fetched_at, self.started_at)) / SECONDS_PER_HOUR
        hour = np.eye(HOURS)[int(now // SECONDS_PER_HOUR) % HOURS]
        weekday = np.eye(7)[int(now // DAY) % 7]
        calendar = np.tile(np.concatenate((hour, weekday)), (n, 1))
        return np.column_stack((mean, deviation, age, mean * age, calendar))

    def _fit(self, now: float) -> Pham:
        weights = np.linalg.lstsq(self.log.features, self.log.found, rcond=None)[0]
        return replace(self, weights=np.asarray(weights, np.float64), fitted_at=now)


def ucb1(rewards: Floats, pulls: Floats) -> int:
    """The arm with the largest upper confidence bound (004, equation 1); an arm never pulled goes first."""
    if pulls.min() == 0:
        return int(np.argmin(pulls))
    return int(np.argmax(rewards / pulls + np.sqrt(2.0 * np.log(pulls.sum()) / pulls)))
