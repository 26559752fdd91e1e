"""Pooled discovery, the default: elapsed time, a shared day, and a rate for every source.

Model.  What a fetch of source u finds is Poisson(discovery_rate_u * multiplier_uh * exposure_u).
Exposure (exposure.py) grows with an hour-of-day profile pooled over all sources, in the source's local
hours, levels off as links expire (48 h), and starts again at a fetch.
    discovery_rate_u ~ Gamma(prior_shape, prior_shape / mean rate of the source's group)
Groups (sitemaps, feeds, listings, other pages: whatever the caller tells apart) share their evidence, each
mean shrunk to that of all sources with the weight of one discovery, so that a page without links does not
speak against an untried sitemap.
Update, after s discoveries over exposure e, older evidence kept by `memory` (0.995) an hour:
    discovery_rate_u ~ Gamma(prior_shape + sum s, prior_shape / mean + sum multiplier_uh * e)
    multiplier_uh = (strength + sum s) / (strength + sum discovery_rate_u * e), strength 2, over fetches at h
    profile_h     = the same ratio over all sources, the s discoveries of a fetch shared out over the hours
                    of day they may have come from, by profile_h * exposure from that hour (one EM step)
A break: before a fetch is counted, the evidence for the source's rate is also kept by
    P(same) = 1 / (1 + odds(break_probability) * P(s | prior) / P(s | posterior)),  s negative binomial
so a good source that dies is left after some 8 fetches instead of 70; the price is that one that wakes after
weeks is taken up two to four days later (benchmarks/source_breaks.py).
Choice.  Draw every rate from its posterior (Thompson sampling), fetch where the draw expects most now.
A discovery counts for one source only, the first in the tick that showed it (marginal credit), so sources
that repeat others sink by themselves.  Forgetting pulls a source that is not fetched back to the pooled
mean while its exposure stays full, so a sleeping one is asked now and then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, gammaln, logit

from policies.discovery.exposure import (
    HOURS,
    SECONDS_PER_HOUR,
    Bools,
    Floats,
    Ints,
    exposure,
    exposure_by_hour,
    local_clock,
    local_hour,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledSettings:
    """The constants of the model.  Switching off any one part moves coverage of the recorded news pages by less
    than 0.01 (benchmarks/discovery.py --ablations): elapsed time is what counts."""

    expiry: float = 48.0  # hours a link stays, on average
    memory: float = 0.995  # share of the evidence kept after an hour
    prior_shape: float = 0.5
    multiplier_strength: float = 2.0  # pseudo-discoveries that hold a multiplier at 1
    profile_strength: float = 20.0  # and an hour of the profile
    break_probability: float = 0.01  # that a source has become another since its last fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """What is known of n sources, a value: arrays of shape (n,) unless said, never changed in place."""

    settings: PooledSettings
    utc_offset: Floats  # seconds, for local hours
    group: Ints  # sources of one group have one prior mean
    fetched_at: Floats  # -inf before the first fetch
    learned_at: Floats  # the time that the evidence below is as of
    found: Floats
    exposed: Floats
    hour_found: Floats  # (n, 24)
    hour_expected: Floats  # (n, 24)
    profile_found: Floats  # (24,)
    profile_expected: Floats  # (24,)
    profile_at: float

    @classmethod
    def start(
        cls,
        utc_offset: Floats,
        settings: PooledSettings | None = None,
        group: Ints | None = None,
    ) -> Pooled:
        """Nothing known yet of the sources with these offsets from UTC in seconds; there may be none.

        Without groups, all sources are of one."""
        n = len(utc_offset)
        return cls(
            settings=settings or PooledSettings(),
            utc_offset=np.asarray(utc_offset, np.float64),
            group=np.zeros(n, np.int64) if group is None else group,
            fetched_at=np.full(n, -np.inf),
            learned_at=np.zeros(n),
            found=np.zeros(n),
            exposed=np.zeros(n),
            hour_found=np.zeros((n, HOURS)),
            hour_expected=np.zeros((n, HOURS)),
            profile_found=np.zeros(HOURS),
            profile_expected=np.zeros(HOURS),
            profile_at=0.0,
        )

    def add(self, utc_offset: Floats, group: Ints | None = None) -> Pooled:
        """The same with new sources at the end."""
        new = Pooled.start(utc_offset, self.settings, group)
        return replace(
            self,
            utc_offset=np.concatenate((self.utc_offset, new.utc_offset)),
            group=np.concatenate((self.group, new.group)),
            fetched_at=np.concatenate((self.fetched_at, new.fetched_at)),
            learned_at=np.concatenate((self.learned_at, new.learned_at)),
            found=np.concatenate((self.found, new.found)),
            exposed=np.concatenate((self.exposed, new.exposed)),
            hour_found=np.concatenate((self.hour_found, new.hour_found)),
            hour_expected=np.concatenate((self.hour_expected, new.hour_expected)),
        )

    def keep(self, kept: Bools) -> Pooled:
        """The same without the sources that are False; the profile keeps what they taught."""
        return replace(
            self,
            utc_offset=self.utc_offset[kept],
            group=self.group[kept],
            fetched_at=self.fetched_at[kept],
            learned_at=self.learned_at[kept],
            found=self.found[kept],
            exposed=self.exposed[kept],
            hour_found=self.hour_found[kept],
            hour_expected=self.hour_expected[kept],
        )

    def profile(self) -> Floats:
        """How busy each local hour of the day is, mean 1."""
        strength = self.settings.profile_strength
        ratio = (strength + self.profile_found) / (strength + self.profile_expected)
        return np.asarray(ratio / ratio.mean())

    def exposure(self, now: float) -> Floats:
        """Hours of average publishing that wait on each source."""
        clock = local_clock(now, self.utc_offset)
        expiry = self.settings.expiry
        return exposure(age=self._age(now), clock=clock, profile=self.profile(), expiry=expiry)

    def rate(self, now: float) -> Floats:
        """Posterior mean of discoveries per hour of average publishing."""
        shape, inverse_scale = self._posterior(now)
        return np.asarray(shape / inverse_scale)

    def multiplier(self, now: float) -> Floats:
        """How much better than its rate a source does at this hour of its day."""
        cell = np.arange(len(self.found)), local_hour(now, self.utc_offset)
        kept, strength = self._kept(now), self.settings.multiplier_strength
        found, expected = self.hour_found[cell] * kept, self.hour_expected[cell] * kept
        return np.asarray((strength + found) / (strength + expected))

    def expected_discoveries(self, now: float) -> Floats:
        """What a fetch of each source would find now."""
        return self.rate(now) * self.multiplier(now) * self.exposure(now)

    def drawn_discoveries(self, now: float, rng: np.random.Generator) -> Floats:
        """The same with rates drawn from their posteriors: rank by this to explore as well."""
        shape, inverse_scale = self._posterior(now)
        return rng.gamma(shape, 1.0 / inverse_scale) * self.multiplier(now) * self.exposure(now)

    def choose(self, *, now: float, budget: int, rng: np.random.Generator) -> Ints:
        return np.argsort(-self.drawn_discoveries(now, rng))[:budget]

    def observe(self, *, now: float, sources: Ints, discoveries: Ints | Floats) -> Pooled:
        """Learn from this tick's fetches, each source at most once.  A source that failed found 0.

        The first fetch of a source shows its whole backlog, menus included: it starts the clock and teaches
        nothing."""
        known = np.isfinite(self.fetched_at[sources])
        fetched = replace(self, fetched_at=_with(self.fetched_at, sources, now))
        sources, found = sources[known], discoveries[known].astype(np.float64)
        waited = self.exposure(now)[sources]
        learned = fetched._fade(now, sources, found, waited)._learn(now, sources, found, waited)
        return learned._learn_profile(now, sources, found, age=self._age(now)[sources])

    def _fade(self, now: float, sources: Ints, found: Floats, waited: Floats) -> Pooled:
        """The evidence of these sources as of now: dimmed by time, that of the rate also by P(same).

        The hours are ratios to the rate and outlive a break; else a daily burst would look new every day."""
        in_time = self._kept(now)[sources]
        kept, by_hour = in_time * self._same(now, sources, found, waited), in_time[:, None]
        return replace(
            self,
            learned_at=_with(self.learned_at, sources, now),
            found=_with(self.found, sources, self.found[sources] * kept),
            exposed=_with(self.exposed, sources, self.exposed[sources] * kept),
            hour_found=_with(self.hour_found, sources, self.hour_found[sources] * by_hour),
            hour_expected=_with(self.hour_expected, sources, self.hour_expected[sources] * by_hour),
        )

    def _same(self, now: float, sources: Ints, found: Floats, waited: Floats) -> Floats:
        """P(same): a source is still the one we learned, given what this fetch found."""
        prior_shape, broken = self.settings.prior_shape, self.settings.break_probability
        shape, inverse_scale = (column[sources] for column in self._posterior(now))
        exposed = self.multiplier(now)[sources] * waited
        same = _log_probability(found, exposed, shape, inverse_scale)
        mean = self._prior_mean(now)[sources]
        other = _log_probability(found, exposed, prior_shape, prior_shape / mean)
        return np.asarray(expit(same - other - logit(broken)))

    def _learn(self, now: float, sources: Ints, found: Floats, waited: Floats) -> Pooled:
        """Rates first, then the hours by the new rates: a leap in the rate is not put down to the hour."""
        exposed = self.multiplier(now)[sources] * waited
        learned = replace(
            self,
            found=_with(self.found, sources, self.found[sources] + found),
            exposed=_with(self.exposed, sources, self.exposed[sources] + exposed),
        )
        cell = sources, local_hour(now, self.utc_offset[sources])
        expected = learned.rate(now)[sources] * waited
        return replace(
            learned,
            hour_found=_with(self.hour_found, cell, self.hour_found[cell] + found),
            hour_expected=_with(self.hour_expected, cell, self.hour_expected[cell] + expected),
        )

    def _learn_profile(self, now: float, sources: Ints, found: Floats, age: Floats) -> Pooled:
        """One EM step for the pooled day; age: hours since the fetches before these."""
        clock = local_clock(now, self.utc_offset[sources])
        by_hour = exposure_by_hour(age=age, clock=clock, expiry=self.settings.expiry)
        likely = by_hour * self.profile()
        total = likely.sum(axis=1, keepdims=True)
        share = np.divide(likely, total, out=np.zeros_like(likely), where=total > 0.0)
        kept = self._memory(now - self.profile_at)
        return replace(
            self,
            profile_found=self.profile_found * kept + found @ share,
            profile_expected=self.profile_expected * kept + self.rate(now)[sources] @ by_hour,
            profile_at=now,
        )

    def _age(self, now: float) -> Floats:
        return np.maximum(now - self.fetched_at, 0.0) / SECONDS_PER_HOUR

    def _memory(self, seconds: Floats | float) -> Floats:
        return np.asarray(self.settings.memory ** (np.maximum(seconds, 0.0) / SECONDS_PER_HOUR))

    def _kept(self, now: float) -> Floats:
        return self._memory(now - self.learned_at)

    def _posterior(self, now: float) -> tuple[Floats, Floats]:
        """Shape and inverse scale of each rate; one discovery in one hour stands in for an empty pool."""
        kept, prior_shape = self._kept(now), self.settings.prior_shape
        found, exposed = self.found * kept, self.exposed * kept
        return prior_shape + found, prior_shape / self._prior_mean(now) + exposed

    def _prior_mean(self, now: float) -> Floats:
        """Mean rate of each source's group, shrunk to that of all with the weight of one discovery."""
        kept = self._kept(now)
        found, exposed = self.found * kept, self.exposed * kept
        overall = (1.0 + found.sum()) / (1.0 + exposed.sum())
        if not self.group.any():  # one group is all sources
            return np.full(len(found), overall)
        by_group = (1.0 + np.bincount(self.group, found)) / (
            1.0 / overall + np.bincount(self.group, exposed)
        )
        return np.asarray(by_group[self.group])


def _log_probability(
    count: Floats, exposed: Floats, shape: Floats | float, inverse_scale: Floats | float
) -> Floats:
    """log P(count), count ~ Poisson(rate * exposed), rate ~ Gamma(shape, inverse_scale), up to a term
    in count and exposed alone."""
    return np.asarray(
        gammaln(shape + count)
        - gammaln(shape)
        - shape * np.log1p(exposed / inverse_scale)
        - count * np.log(inverse_scale + exposed)
    )


def _with(column: Floats, at: Ints | tuple[Ints, Ints], values: Floats | float) -> Floats:
    """A copy with these entries replaced."""
    copy = column.copy()
    copy[at] = values
    return copy
