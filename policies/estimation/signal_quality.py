"""How fast pages change by themselves and what their signals are worth, learned from own fetches.

Model (003, App. E).  A fetch after `elapsed` time with n_k signals of each kind k finds the page
unchanged with probability exp(-al * elapsed) * prod q_k^n_k: unsignalled changes come at rate al, and
a signal of kind k stands for a change with probability p_k = 1 - q_k = 1 - exp(-b_k).
al ~ Gamma and p_k ~ Beta, with means of the host or group (pooled_fit) and strengths by evidence.

Update.  An unchanged fetch adds `elapsed` to the Gamma's rate and n_k to the Beta's failures, exactly.
A changed one gives a difference of two such products; it is replaced by the Gamma and Betas of the
same means and variances (assumed-density filtering).  So a change found after a long time, which was
to be expected anyway, teaches nothing; counting expected changes (EM) would confirm whatever is
believed.  A page keeps what its fetches added to the prior, not the posterior, so that a better prior
of its host serves it at once.  Old evidence fades with `memory`.

Estimate.  al = 1 / E[1/al] = (shape - 1) / rate, the mode, because what a page is worth goes with
1/al: an overestimated rate costs more than an underestimated one, since the page is then never
looked at to learn better.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
from scipy.special import betaln, gammaln

from policies.estimation.pooled_fit import PooledFit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

STRENGTHS = (2.0, 4.0, 8.0, 16.0, 32.0)  # pseudo-events of a prior that evidence may choose
GROUP_EVENTS = 2.0  # signals by which a signal rate is shrunk to its group's
FIRST_PRECISION = 0.3  # of a signal nobody has tried
SURE = 1.0 - 1e-6  # no signal is believed beyond this: b = 13.8 nats


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the fetches of each page added to its prior; signal columns have shape (pages, kinds)."""

    unsignalled: Floats  # to the Gamma's shape: changes that no signal announced
    watched: Floats  # to its rate: time in which they were looked for
    true_signals: Floats  # to the Beta's successes
    false_signals: Floats  # to its failures
    heard: Floats  # signals, as they came
    time: Floats  # over which they came

    @classmethod
    def none(cls, pages: int, *, kinds: int) -> Evidence:
        page, signal = np.zeros(pages), np.zeros((pages, kinds))
        columns = (page, page, signal, signal, signal, page)
        return cls(*(column.copy() for column in columns))

    def take(self, rows: Ints) -> Evidence:
        return Evidence(*(getattr(self, field.name)[rows] for field in fields(self)))

    def put(self, rows: Ints, evidence: Evidence) -> None:
        """Write `evidence` into `rows` of these columns, in place: the one way they ever change."""
        for field in fields(self):
            getattr(self, field.name)[rows] = getattr(evidence, field.name)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Gamma(shape, rate) of al, (pages,), and Beta(true, false) of p, (pages, kinds)."""

    shape: Floats
    rate: Floats
    true: Floats
    false: Floats


@dataclass(frozen=True, slots=True)
class Quality:
    """Estimates per page; signal columns have shape (pages, kinds)."""

    unsignalled_rate: Floats  # al
    signal_worth: Floats  # b, nats
    signal_rate: Floats  # ga

    @property
    def change_rate(self) -> Floats:
        """Delta = al + sum ga (1 - exp(-b)): a true signal is a change."""
        signalled: Floats = self._true_rate().sum(axis=1)
        return self.unsignalled_rate + signalled

    @property
    def signal_recall(self) -> Floats:
        """Share of changes that each kind announces, (pages, kinds)."""
        recall: Floats = self._true_rate() / np.maximum(self.change_rate, 1e-300)[:, None]
        return recall

    @property
    def false_signal_rate(self) -> Floats:
        """nu = ga exp(-b), (pages, kinds)."""
        return self.signal_rate * np.exp(-self.signal_worth)

    @property
    def signal_precision(self) -> Floats:
        """Chance that a signal stands for a change, (pages, kinds)."""
        return -np.expm1(-self.signal_worth)

    def _true_rate(self) -> Floats:
        return self.signal_rate * self.signal_precision


@dataclass(frozen=True, slots=True)
class Priors:
    """What a page brings from its group; arrays of shape (groups,) and (groups, kinds)."""

    mean_rate: Floats
    rate_strength: Floats
    mean_precision: Floats
    precision_strength: Floats
    mean_signal_rate: Floats

    @classmethod
    def start(cls, groups: int, *, kinds: int, first_guess: float) -> Priors:
        """Before any fetch.

        `first_guess` should be low: a page thought to change too fast is worth no fetch
        (sup V = importance / change rate) and would never be looked at to learn better.
        """
        return cls(
            mean_rate=np.full(groups, first_guess),
            rate_strength=np.full(groups, STRENGTHS[0]),
            mean_precision=np.full((groups, kinds), FIRST_PRECISION),
            precision_strength=np.full((groups, kinds), STRENGTHS[0]),
            mean_signal_rate=np.full((groups, kinds), first_guess),
        )


def posterior(evidence: Evidence, priors: Priors, group: Ints) -> Posterior:
    """Prior of the group plus evidence of the page."""
    strength, mean = priors.rate_strength[group], priors.mean_rate[group]
    sure, precision = priors.precision_strength[group], priors.mean_precision[group]
    # Evidence gained under another prior may not take away what this one brings.
    return Posterior(
        shape=np.maximum(strength + evidence.unsignalled, 0.5 * strength),
        rate=np.maximum(strength / mean + evidence.watched, 0.1 * strength / mean),
        true=np.maximum(sure * precision + evidence.true_signals, 0.1 * sure * precision),
        false=np.maximum(
            sure * (1 - precision) + evidence.false_signals, 0.1 * sure * (1 - precision)
        ),
    )


def observe(
    evidence: Evidence,
    priors: Priors,
    group: Ints,
    *,
    elapsed: Floats,
    signals: Floats,
    changed: Bools,
    memory: float = np.inf,
) -> Evidence:
    """The evidence of pages after one fetch of each.

    `memory` is the time in which old evidence fades to a third.
    """
    keep = np.exp(-elapsed / memory)
    faded = Evidence(
        *(
            getattr(evidence, field.name)
            * (keep if getattr(evidence, field.name).ndim == 1 else keep[:, None])
            for field in fields(evidence)
        )
    )
    before = posterior(faded, priors, group)
    after = _after_fetch(before, elapsed, signals, changed)
    return Evidence(
        unsignalled=faded.unsignalled + after.shape - before.shape,
        watched=faded.watched + after.rate - before.rate,
        true_signals=faded.true_signals + after.true - before.true,
        false_signals=faded.false_signals + after.false - before.false,
        heard=faded.heard + signals,
        time=faded.time + elapsed,
    )


def _after_fetch(before: Posterior, elapsed: Floats, signals: Floats, changed: Bools) -> Posterior:
    quiet = np.exp(-before.shape * np.log1p(elapsed / before.rate))  # no unsignalled change
    empty = np.exp(betaln(before.true, before.false + signals) - betaln(before.true, before.false))
    unchanged = quiet * empty.prod(axis=1)
    z = changed[:, None]
    shape, rate = _match_gamma(before.shape, before.rate, elapsed, unchanged)
    true, false = _match_beta(before.true, before.false, signals, unchanged[:, None])
    return Posterior(
        shape=np.where(changed, shape, before.shape),
        rate=np.where(changed, rate, before.rate + elapsed),
        true=np.where(z & (signals > 0), true, before.true),
        false=np.where(z, np.where(signals > 0, false, before.false), before.false + signals),
    )


def _match_gamma(
    shape: Floats, rate: Floats, elapsed: Floats, unchanged: Floats
) -> tuple[Floats, Floats]:
    """Gamma with mean and variance of (Gamma(shape, rate) - unchanged Gamma(shape, rate+elapsed))."""
    found = np.maximum(1 - unchanged, 1e-12)
    later = rate + elapsed
    mean = (shape / rate - unchanged * shape / later) / found
    square = shape * (shape + 1) * (rate**-2 - unchanged * later**-2) / found
    variance = np.maximum(square - mean**2, 1e-300)
    # Found almost at once: the difference loses its digits, and its limit is one event more.
    sudden = found < 1e-6
    return np.where(sudden, shape + 1, mean**2 / variance), np.where(sudden, rate, mean / variance)


def _match_beta(
    true: Floats, false: Floats, signals: Floats, unchanged: Floats
) -> tuple[Floats, Floats]:
    """Beta with mean and variance of (Beta(true, false) - unchanged Beta(true, false + signals))."""
    found = np.maximum(1 - unchanged, 1e-6)
    size, later = true + false, true + false + signals
    mean = (true / size - unchanged * true / later) / found
    square = (
        true * (true + 1) * (1 / (size * (size + 1)) - unchanged / (later * (later + 1))) / found
    )
    mean = np.clip(mean, 1e-9, 1 - 1e-9)
    variance = np.clip(square - mean**2, 1e-12, mean * (1 - mean) * 0.999)
    size = mean * (1 - mean) / variance - 1
    return mean * size, (1 - mean) * size


def estimate(
    evidence: Evidence,
    priors: Priors,
    group: Ints,
    *,
    waiting: Floats | None = None,
    elapsed: Floats | None = None,
) -> Quality:
    """What to believe of pages in these groups.

    Signals are heard without a fetch: `waiting` ones came in the `elapsed` time since the last.  They
    must count for the signal rate, or pages fetched upon a signal seem to have many.
    """
    now = posterior(evidence, priors, group)
    heard = evidence.heard if waiting is None else evidence.heard + waiting
    time = evidence.time if elapsed is None else evidence.time + elapsed
    rate = np.maximum(now.shape - 1, 0.25 * now.shape) / now.rate
    precision = np.minimum(now.true / (now.true + now.false), SURE)
    expected = GROUP_EVENTS / priors.mean_signal_rate[group]
    signal_rate = (GROUP_EVENTS + heard) / (expected + time[:, None])
    return Quality(rate, -np.log1p(-precision), signal_rate)


def fit_priors(evidence: Evidence, fit: PooledFit, group: Ints) -> Priors:
    """Priors centred on the pooled fit of each group, as strong as explains its pages best.

    Strengths maximise the evidence: negative binomial for events, beta-binomial for true signals,
    with the weight of one average group on what explains all pages.
    """
    mean_rate, mean_precision = fit.means()
    mean_precision = np.clip(mean_precision, 0.01, 0.99)
    groups = len(mean_rate)
    found, watched = np.maximum(evidence.unsignalled, 0.0), np.maximum(evidence.watched, 0.0)
    true, false = np.maximum(evidence.true_signals, 0.0), np.maximum(evidence.false_signals, 0.0)
    heard, time = _sums(group, evidence.heard, groups), _sums(group, evidence.time, groups)
    pace = (heard.sum(axis=0) + 1.0) / (time.sum() + 1.0 / mean_rate.mean())
    return Priors(
        mean_rate=mean_rate,
        rate_strength=_best_strength(
            _rate_evidence(found, watched, mean_rate[group]), group, groups
        ),
        mean_precision=mean_precision,
        precision_strength=_best_strength(
            _precision_evidence(true, false, mean_precision[group]), group, groups
        ),
        mean_signal_rate=(heard + GROUP_EVENTS) / (time[:, None] + GROUP_EVENTS / pace),
    )


def _rate_evidence(found: Floats, watched: Floats, mean: Floats) -> Floats:
    """log P(events | strength) of each page; (strengths, pages).  Constants are left out."""
    rows = []
    for strength in STRENGTHS:
        rate = strength / mean
        rows.append(
            gammaln(strength + found)
            - gammaln(strength)
            - strength * np.log1p(watched / rate)
            - found * np.log(rate + watched)
        )
    return np.array(rows)


def _precision_evidence(true: Floats, false: Floats, mean: Floats) -> Floats:
    """log P(true signals | strength); (strengths, pages, kinds)."""
    mean = np.clip(mean, 1e-6, SURE)
    rows = []
    for strength in STRENGTHS:
        a, b = strength * mean, strength * (1 - mean)
        rows.append(betaln(a + true, b + false) - betaln(a, b))
    return np.array(rows)


def _best_strength(log_evidence: Floats, group: Ints, groups: int) -> Floats:
    per_group = np.array([_sums(group, row, groups) for row in log_evidence])
    total = per_group + per_group.mean(axis=1, keepdims=True)
    best: Floats = np.array(STRENGTHS)[np.argmax(total, axis=0)]
    return best


def _sums(group: Ints, values: Floats, groups: int) -> Floats:
    """Sums over the pages of each group, for columns (pages,) or (pages, kinds)."""
    if values.ndim == 1:
        return np.asarray(np.bincount(group, values, groups), np.float64)
    return np.column_stack([np.bincount(group, column, groups) for column in values.T])
