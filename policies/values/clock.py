"""Greedy on a learned clock: the default value of a refresh.

Model.  A page changes as a renewal process: its hazard depends on the relative age u = r (t - c) since
its last change c, through a profile theta shared by all pages that have shown as many changes
(profile.py); r is the page's own rate, shrunk to what pages of the same traits do (its site, its
category, its price level: whatever the caller groups by).

    prior rate     m = N/X * product of f over the traits,  f = (found + kg) / (expected + kg)
    page rate      r = k / (k/m + l-c)                                         no change found yet
                   r = min[(k+n)/(k/m + c-b), (k+n+1)/(k/m + l-b)]             n changes found
    hazard         X = Phi_z(r (t-c)) - Phi_z(r (l-c)) + signal nats,  z = min(n, 3)
    P(stale)       1 - exp(-X)
    value          V = w/r * G_z'(X),  z' = min(z+1, 3): the page's next life starts with its change
    due            c + Phi_z^-1(Phi_z(r (l-c)) + G_z'^-1(level r/w) - signal nats) / r

with b first seen, c estimated last change, l last fetch, w importance.  A flat profile gives exactly
Greedy, w/r (1 - (1+X) e^-X).

Update.  A fetch at t tells whether the page changed in (l, t].  Unchanged: that stretch of relative
age is exposure.  Changed: the first change is spread over the stretch by the present profile; counts
and the exposure before it are expectations, and c moves to the expected time of the change.
theta = (changes + alpha) / (exposure + alpha), so a profile starts flat and stays so without evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from policies.values.profile import BINS, EDGES, Floats, HazardProfile, Ints

CLASSES = 4  # pages with 0, 1, 2 and 3 or more changes found
LEVELS = 64  # half-octaves of price told apart; levels 64 apart share one
PAGE_EVENTS = 2.0  # k: prior changes a page brings from its traits
POOL_EVENTS = 10.0  # kg: changes a trait must be expected to show before it is believed half
PROFILE_EVENTS = 30.0  # alpha: changes in one bin that outweigh the Poisson profile
FIRST_GUESS_EVENTS = 1.0  # weight of the operator's guess of the overall rate

Bools = npt.NDArray[np.bool_]
Traits = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ClockPages:
    """What the clock knows of each page; one row per page, 28 bytes and 4 for each trait."""

    first_seen_at: Floats
    changed_at: Floats
    fetched_at: Floats
    changes: npt.NDArray[np.int32]
    traits: Traits  # (pages, traits): the page's site, category, price level ..., each from 0

    @classmethod
    def born(cls, at: Floats, traits: Traits) -> ClockPages:
        """Pages as their first fetch leaves them."""
        return cls(at.copy(), at.copy(), at.copy(), np.zeros(len(at), np.int32), traits)

    def take(self, rows: Ints) -> ClockPages:
        return ClockPages(*(getattr(self, field.name)[rows] for field in fields(self)))

    def put(self, rows: Ints, pages: ClockPages) -> None:
        """Write `pages` into `rows` of these columns, in place: the one way they ever change."""
        for field in fields(self):
            getattr(self, field.name)[rows] = getattr(pages, field.name)


def price_level(price: Floats) -> npt.NDArray[np.int32]:
    """Half-octave of a price, as a trait: pages of like price change alike."""
    half_octaves: Floats = np.floor(2 * np.log2(np.maximum(price, 1e-9)))
    return np.mod(half_octaves, LEVELS).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Pool:
    """Changes found in pages of each value of one trait, and the time they were watched; shape (n,).

    A second counts as much as the page's other traits make of it, so that a cheap category is not
    blamed for its price level as well: expected = N/X * watched.
    """

    found: Floats
    watched: Floats

    def add(self, trait: npt.NDArray[np.int32], found: Floats, watched: Floats) -> Pool:
        size = max(len(self.found), int(trait.max(initial=-1)) + 1)
        unseen = np.zeros(size - len(self.found))
        return Pool(
            np.append(self.found, unseen) + np.bincount(trait, found, size),
            np.append(self.watched, unseen) + np.bincount(trait, watched, size),
        )

    def multiplier(self, trait: npt.NDArray[np.int32], rate: float) -> Floats:
        """f: how much faster than `rate` such pages change; 1 for a value never seen."""
        known = (self.found + POOL_EVENTS) / (self.watched * rate + POOL_EVENTS)
        return np.append(known, 1.0)[np.minimum(trait, len(known))]


@dataclass(frozen=True, slots=True)
class Clock:
    """Everything the pages share.  Immutable: `observe` returns the next one."""

    found: float
    watched: float
    pools: tuple[Pool, ...]  # one per trait
    changes: Floats  # (CLASSES, BINS) expected changes per bin of relative age
    exposure: Floats  # (CLASSES, BINS) relative age watched per bin
    profile: HazardProfile

    @classmethod
    def start(cls, *, first_guess: float, traits: int) -> Clock:
        """Before any fetch: a flat profile and the operator's guess of changes per second."""
        blank = np.zeros((CLASSES, BINS))
        return cls(
            found=FIRST_GUESS_EVENTS,
            watched=FIRST_GUESS_EVENTS / first_guess,
            pools=(Pool(np.zeros(0), np.zeros(0)),) * traits,
            changes=blank,
            exposure=blank,
            profile=HazardProfile.of(np.ones((CLASSES, BINS))),
        )

    def prior_rates(self, pages: ClockPages) -> Floats:
        """m: changes per second expected of such pages before any was found."""
        rates = np.full(len(pages.changes), self.found / self.watched)
        for factor in self._multipliers(pages):
            rates *= factor
        return rates

    def rates(self, pages: ClockPages) -> Floats:
        """r: changes per second of each page."""
        n = pages.changes
        prior = PAGE_EVENTS / self.prior_rates(pages)
        until_change = prior + (pages.changed_at - pages.first_seen_at)
        until_fetch = until_change + (pages.fetched_at - pages.changed_at)
        found = np.minimum((PAGE_EVENTS + n) / until_change, (PAGE_EVENTS + n + 1) / until_fetch)
        return np.where(n == 0, PAGE_EVENTS / until_fetch, found)

    def hazard(
        self, pages: ClockPages, now: float | Floats, signal_nats: float | Floats = 0.0
    ) -> Floats:
        """X: nats of freshness lost since each page's last fetch."""
        return self._hazard(pages, self.rates(pages), now) + signal_nats

    def stale_probability(
        self, pages: ClockPages, now: float | Floats, signal_nats: float | Floats = 0.0
    ) -> Floats:
        return -np.expm1(-self.hazard(pages, now, signal_nats))

    def value(
        self,
        pages: ClockPages,
        now: float | Floats,
        importance: float | Floats = 1.0,
        signal_nats: float | Floats = 0.0,
    ) -> Floats:
        """V: importance-weighted seconds of freshness that a fetch now is worth."""
        rates = self.rates(pages)
        hazard = self._hazard(pages, rates, now) + signal_nats
        return importance / rates * self.profile.value(_next_class(pages), hazard)

    def due_at(
        self,
        pages: ClockPages,
        level: float | Floats,
        importance: float | Floats = 1.0,
        signal_nats: float | Floats = 0.0,
    ) -> Floats:
        """When each page's value reaches `level`; infinite where it never does."""
        rates, which = self.rates(pages), _class(pages)
        needed = self.profile.hazard_worth(_next_class(pages), level * rates / importance)
        missing = np.maximum(needed - signal_nats, 0.0)
        spent = self.profile.hazard(which, rates * (pages.fetched_at - pages.changed_at))
        never = np.isinf(missing)
        age = self.profile.age(which, spent + np.where(never, 0.0, missing))
        return np.where(never, np.inf, pages.changed_at + age / rates)

    def observe(
        self, pages: ClockPages, now: float | Floats, changed: Bools
    ) -> tuple[Clock, ClockPages]:
        """Learn from a batch of fetches of distinct pages; returns the next clock and the new rows.

        Traits stay as they are: a caller that files a page by its price level replaces them.
        """
        now = np.broadcast_to(np.asarray(now, np.float64), changed.shape)
        which, rates = _class(pages), self.rates(pages)
        spread = spread_over_bins(
            self.profile.theta[which],
            rates * (pages.fetched_at - pages.changed_at),
            rates * (now - pages.changed_at),
            changed,
        )
        moved = np.clip(pages.changed_at + spread.changed_age / rates, pages.changed_at, now)
        changed_at = np.where(changed, moved, pages.changed_at)
        watched = np.where(changed, changed_at, now) - pages.fetched_at
        return self._learned(pages, which, spread, changed, watched), replace(
            pages,
            changed_at=changed_at,
            fetched_at=now.copy(),
            changes=pages.changes + changed.astype(np.int32),
        )

    def _hazard(self, pages: ClockPages, rates: Floats, now: float | Floats) -> Floats:
        which = _class(pages)
        seen = self.profile.hazard(which, rates * (pages.fetched_at - pages.changed_at))
        return self.profile.hazard(which, rates * (now - pages.changed_at)) - seen

    def _multipliers(self, pages: ClockPages) -> list[Floats]:
        rate = self.found / self.watched
        return [pool.multiplier(pages.traits[:, i], rate) for i, pool in enumerate(self.pools)]

    def _learned(
        self, pages: ClockPages, which: Ints, spread: Spread, changed: Bools, watched: Floats
    ) -> Clock:
        found, factors = changed.astype(np.float64), self._multipliers(pages)
        together = np.prod(factors, axis=0)
        changes, exposure = self.changes.copy(), self.exposure.copy()
        np.add.at(changes, which, spread.changes)
        np.add.at(exposure, which, spread.exposure)
        return clock_from_counts(
            found=self.found + float(found.sum()),
            watched=self.watched + float(watched.sum()),
            pools=tuple(
                pool.add(pages.traits[:, i], found, watched * together / factors[i])
                for i, pool in enumerate(self.pools)
            ),
            changes=changes,
            exposure=exposure,
        )


@dataclass(frozen=True, slots=True)
class ClockPrices:
    """The clock's values over the columns of all pages, as lazy selection asks for them."""

    clock: Clock
    pages: ClockPages
    importance: Floats  # (pages,)
    signal_nats: Floats  # (pages,) freshness lost to signals since the last fetch

    def value(self, rows: Ints, now: float) -> Floats:
        pages = self.pages.take(rows)
        return self.clock.value(pages, now, self.importance[rows], self.signal_nats[rows])

    def due_at(self, rows: Ints, level: float | Floats) -> Floats:
        pages = self.pages.take(rows)
        return self.clock.due_at(pages, level, self.importance[rows], self.signal_nats[rows])


def clock_from_counts(
    *, found: float, watched: float, pools: tuple[Pool, ...], changes: Floats, exposure: Floats
) -> Clock:
    """A clock from the counts that were kept of it; the profile follows from them."""
    theta = (changes + PROFILE_EVENTS) / (exposure + PROFILE_EVENTS)
    return Clock(found, watched, pools, changes, exposure, HazardProfile.of(theta))


@dataclass(frozen=True, slots=True)
class Spread:
    """What a batch of fetches adds to the bins, shape (batch, BINS), and when pages changed, (batch,)."""

    changes: Floats
    exposure: Floats
    changed_age: Floats


def spread_over_bins(theta: Floats, since: Floats, until: Floats, changed: Bools) -> Spread:
    """Expected counts and exposure per bin of stretches (since, until] of relative age.

    In a changed stretch the first change has density theta exp(-Phi): bin j holds it with
    q_j = S_j (1 - exp(-h_j)) / (1 - exp(-sum h)), S_j the survival until bin j, h_j its hazard, and
    the mean age within the bin is that of an exponential cut off at the bin's end.
    """
    left = np.maximum(EDGES, since[:, None])
    right = np.minimum(np.append(EDGES[1:], np.inf), until[:, None])
    length = np.maximum(right - left, 0.0)
    hazard = theta * length
    survival = np.exp(hazard - np.cumsum(hazard, axis=1))
    mass = survival * -np.expm1(-hazard)
    # A stretch without length (fetched twice at once) cannot place its change: it stays at `until`.
    total = np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    first = mass / total * changed[:, None]
    within = length * _mean_of_cut_exponential(hazard)
    later = first[:, ::-1].cumsum(axis=1)[:, ::-1] - first
    before_change = first * within + later * length
    placed = first.sum(axis=1) > 0
    age = np.where(placed, (first * (left + within)).sum(axis=1), until)
    return Spread(first, np.where(changed[:, None], before_change, length), age)


def _mean_of_cut_exponential(hazard: Floats) -> Floats:
    """Mean position in (0, 1) of an exponential with this hazard over the unit stretch, cut at 1."""
    safe = np.maximum(hazard, 1e-4)
    return np.where(hazard < 1e-4, 0.5 - hazard / 12, 1 / safe - 1 / np.expm1(safe))


def _class(pages: ClockPages) -> Ints:
    return np.minimum(pages.changes, CLASSES - 1).astype(np.int64)


def _next_class(pages: ClockPages) -> Ints:
    return np.minimum(pages.changes + 1, CLASSES - 1).astype(np.int64)
