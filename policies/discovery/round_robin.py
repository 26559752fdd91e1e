"""Every source in turn: the baseline that learns nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from policies.discovery.exposure import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRobin:
    n_sources: int
    turn: int = 0

    def choose(self, *, now: float, budget: int, rng: np.random.Generator) -> Ints:
        return (self.turn + np.arange(min(budget, self.n_sources))) % self.n_sources

    def observe(self, *, now: float, sources: Ints, discoveries: Ints) -> RoundRobin:
        return replace(self, turn=(self.turn + len(sources)) % self.n_sources)
