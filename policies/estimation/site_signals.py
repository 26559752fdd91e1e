"""What signals are worth, learned per site and kind from own fetches.

Model.  A fetch finds a change with probability 1 - exp(-X), where
    X = (1 - coverage) * hazard + sum over kinds k with a waiting signal of worth_k
`hazard` is what the change model says without signals.  Of the fetches of a site with a signal of kind k
waiting, let p be the share that found a change and q the mean probability by the hazard alone; then
    worth_k = log((1 - q) / (1 - p)), at least 0: freshness in nats lost to one signal
A signal that comes whatever happens has p = q and is worth nothing.  `coverage` is how much better a
change is announced than the lack of one,
    coverage = P(signal | changed) - P(signal | unchanged)
so that a page of a well announced site is not asked as if nobody would tell.
`gain` is what a signal of a kind brings: over the fetches it caused, found / rate - price, with
`price` what the fetch would have brought elsewhere; shared over all signals that came, acted on or not.
Update.  Counts fade by `memory` with each fetch of the site that taught; precision starts from
`PRIOR_PRECISION` with the weight of two fetches (optimistic), coverage from 0 with the weight of five.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

PRIOR_PRECISION = 0.6
PRIOR_FETCHES = 2.0
COVERAGE_FETCHES = 5.0
MOST_COVERAGE = 0.95
MOST_NATS = 5.0


@dataclass(frozen=True, slots=True)
class SiteSignals:
    """Faded counts; arrays of shape (n_sites, n_kinds) unless said."""

    signalled: Floats  # fetches with a signal of the kind waiting
    confirmed: Floats  # of these: found a change
    expected: Floats  # of these: sum of the probabilities by hazard alone
    changes: Floats  # (n_sites, 2) fetches of pages that ever get signals: unchanged, changed
    announced: Floats  # (n_sites, 2) of these: with any signal waiting
    brought: Floats  # signals that came
    gained: Floats  # seconds of freshness that they brought
    memory: float = 0.97

    @classmethod
    def start(cls, sites: int, kinds: int, *, memory: float = 0.97) -> SiteSignals:
        blank, pair = np.zeros((sites, kinds)), np.zeros((sites, 2))
        return cls(blank, blank, blank, pair, pair, blank, blank, memory)

    def grow(self, sites: int) -> SiteSignals:
        """The same with room for more sites."""
        more = ((0, max(0, sites - len(self.signalled))), (0, 0))
        return replace(
            self,
            signalled=np.pad(self.signalled, more),
            confirmed=np.pad(self.confirmed, more),
            expected=np.pad(self.expected, more),
            changes=np.pad(self.changes, more),
            announced=np.pad(self.announced, more),
            brought=np.pad(self.brought, more),
            gained=np.pad(self.gained, more),
        )

    def precision(self) -> Floats:
        """P(changed | signal), with the prior."""
        prior = PRIOR_FETCHES * PRIOR_PRECISION
        return np.asarray((self.confirmed + prior) / (self.signalled + PRIOR_FETCHES))

    def worth(self) -> Floats:
        """Nats of freshness lost to one signal of each kind."""
        by_hazard = self.expected / (self.signalled + PRIOR_FETCHES)
        ratio = (1.0 - np.minimum(by_hazard, 0.999)) / (1.0 - np.minimum(self.precision(), 0.9933))
        return np.asarray(np.clip(np.log(ratio), 0.0, MOST_NATS))

    def coverage(self) -> Floats:
        """How much of the change at each site (n_sites,) its signals announce."""
        unchanged, changed = (self.announced / (self.changes + COVERAGE_FETCHES)).T
        return np.asarray(np.clip(changed - unchanged, 0.0, MOST_COVERAGE))

    def recall(self) -> Floats:
        """P(any signal | changed), (n_sites,), with the prior."""
        return self.announced[:, 1] / (self.changes[:, 1] + COVERAGE_FETCHES)

    def gain(self, guess: float) -> Floats:
        """Seconds of freshness that one signal of each kind brings; `guess` has the weight of two."""
        mean = (self.gained + PRIOR_FETCHES * guess) / (self.brought + PRIOR_FETCHES)
        return np.maximum(mean, 0.0)

    def bring(self, *, site: Ints, kind: Ints, count: Floats) -> SiteSignals:
        """Signals that came, shapes (n,)."""
        brought = self.brought.copy()
        np.add.at(brought, (site, kind), count)
        return replace(self, brought=brought)

    def observe(
        self,
        *,
        site: Ints,
        waiting: Bools,
        covered: Bools,
        hazard: Floats,
        changed: Bools,
        gained: Floats,
    ) -> SiteSignals:
        """Learn from a batch of fetches; `waiting` has shape (n, n_kinds), the rest (n,)."""
        sites = len(self.signalled)
        found = changed.astype(np.float64)
        by_hazard = -np.expm1(-hazard)
        kept = self.memory ** np.bincount(site, minlength=sites).astype(np.float64)[:, None]
        pair = np.stack((~changed, changed), axis=1) & covered[:, None]
        heard = np.asarray(waiting.any(axis=1))
        return replace(
            self,
            signalled=self.signalled * kept + _by_site(site, waiting, sites),
            confirmed=self.confirmed * kept + _by_site(site, waiting * found[:, None], sites),
            expected=self.expected * kept + _by_site(site, waiting * by_hazard[:, None], sites),
            changes=self.changes * kept + _by_site(site, pair, sites),
            announced=self.announced * kept + _by_site(site, pair & heard[:, None], sites),
            brought=self.brought * kept,
            gained=self.gained * kept + _by_site(site, waiting * gained[:, None], sites),
        )


def _by_site(site: Ints, rows: NDArray[np.generic], sites: int) -> Floats:
    total = np.zeros((sites, rows.shape[1]))
    np.add.at(total, site, rows.astype(np.float64))
    return total
