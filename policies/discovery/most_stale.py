"""The sources not fetched for the longest time first; ties, as at the start, at random.

With a constant budget this is round robin in a random order; it differs when sources fail, come or go.
It is also the exploring half of the Pham crawler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from policies.discovery.exposure import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class MostStale:
    fetched_at: Floats  # (n_sources,), -inf before the first fetch

    @classmethod
    def start(cls, n_sources: int) -> MostStale:
        return cls(fetched_at=np.full(n_sources, -np.inf))

    def choose(self, *, now: float, budget: int, rng: np.random.Generator) -> Ints:
        return most_stale(self.fetched_at, rng)[:budget]

    def observe(self, *, now: float, sources: Ints, discoveries: Ints) -> MostStale:
        fetched_at = self.fetched_at.copy()
        fetched_at[sources] = now
        return MostStale(fetched_at=fetched_at)


def most_stale(fetched_at: Floats, rng: np.random.Generator) -> Ints:
    """All sources, longest unfetched first, ties at random."""
    return np.lexsort((rng.random(len(fetched_at)), fetched_at))
