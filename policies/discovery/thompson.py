"""The Thompson crawler of 004, Figure 1: a baseline.

Model.  What source u finds at hour of day h is Poisson(discovery_rate_uh), independent of how long ago it
was fetched; discovery_rate_uh (lambda) ~ Gamma(prior_shape, prior_rate) (alpha, beta; both 1 in 004).
Choice.  Draw every rate of this hour from its posterior, fetch the largest.
Update, after s discoveries:  found_uh += s, fetches_uh += 1, so that
    discovery_rate_uh ~ Gamma(prior_shape + found_uh, prior_rate + fetches_uh).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from policies.discovery.exposure import HOURS, SECONDS_PER_HOUR, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Thompson:
    """Counts by source and hour of day (UTC), shape (n_sources, 24)."""

    found: Floats
    fetches: Floats
    prior_shape: float = 1.0
    prior_rate: float = 1.0

    @classmethod
    def start(cls, n_sources: int) -> Thompson:
        return cls(found=np.zeros((n_sources, HOURS)), fetches=np.zeros((n_sources, HOURS)))

    def choose(self, *, now: float, budget: int, rng: np.random.Generator) -> Ints:
        hour = _hour(now)
        shape = self.prior_shape + self.found[:, hour]
        rate = self.prior_rate + self.fetches[:, hour]
        drawn = rng.gamma(shape, 1.0 / rate)
        return np.argsort(-drawn)[:budget]

    def observe(self, *, now: float, sources: Ints, discoveries: Ints) -> Thompson:
        hour = _hour(now)
        found, fetches = self.found.copy(), self.fetches.copy()
        np.add.at(found[:, hour], sources, discoveries)
        np.add.at(fetches[:, hour], sources, 1.0)
        return replace(self, found=found, fetches=fetches)


def _hour(now: float) -> int:
    return int(now // SECONDS_PER_HOUR) % HOURS
