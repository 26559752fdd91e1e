"""Several ways to crawl one recording side by side, with paired differences and their intervals.  Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from crawler.archives.score import Score
from crawler.archives.trial import Trial

Floats = NDArray[np.float64]
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean paired difference and its 95 % interval; NaN bounds when there is too little to tell."""

    mean: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One way to crawl: means over its seeds, and its difference to the first row."""

    name: str
    trials: tuple[Trial, ...]
    freshness: float
    weighted_freshness: float
    difference: Difference | None  # of freshness; none for the first row itself
    coverage: float
    stale_hours: float
    caught: float
    catch_hours: float
    found: float
    discovery_p90_hours: float
    overhead: float
    regret: float
    fetches: float
    support: float


def compare(trials: Sequence[Trial]) -> list[Row]:
    """A row for each name, in order of first mention; the first is what the others are compared with."""
    by_name: dict[str, list[Trial]] = {}
    for trial in trials:
        by_name.setdefault(trial.name, []).append(trial)
    base = next(iter(by_name.values()))
    return [
        _row(name, own, None if own is base else paired_difference(own, base))
        for name, own in by_name.items()
    ]


def paired_difference(
    own: Sequence[Trial], base: Sequence[Trial], *, of: str = "freshness"
) -> Difference:
    """Of one of a score's curves, between trials of the same seed over the same windows of time.

    Each window (a day) gives one difference, averaged over the seeds; the interval is Student's over the
    windows.  Neighbouring windows are alike, so their number n counts as n(1 - r)/(1 + r), where r is the
    correlation of neighbours.
    """
    by_seed = {trial.seed: getattr(trial.score.curve, of) for trial in base}
    pairs = [getattr(t.score.curve, of) - by_seed[t.seed] for t in own if t.seed in by_seed]
    return interval(np.mean(pairs, axis=0))


def interval(values: Floats) -> Difference:
    """Mean and interval of a series whose neighbours may be alike."""
    values = values[np.isfinite(values)]
    n = len(values)
    if n < 3:
        return Difference(float(values.mean()) if n else math.nan, math.nan, math.nan)
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    if spread == 0.0:
        return Difference(mean, mean, mean)
    centred = values - mean
    likeness = max(0.0, float((centred[1:] * centred[:-1]).sum() / (centred**2).sum()))
    counted = max(2.0, n * (1.0 - likeness) / (1.0 + likeness))
    reach = float(stats.t.ppf((1 + _LEVEL) / 2, counted - 1.0)) * spread / math.sqrt(counted)
    return Difference(mean, mean - reach, mean + reach)


def _row(name: str, trials: list[Trial], difference: Difference | None) -> Row:
    scores = [trial.score for trial in trials]
    return Row(
        name=name,
        trials=tuple(trials),
        freshness=_mean(scores, "freshness"),
        weighted_freshness=_mean(scores, "weighted_freshness"),
        difference=difference,
        coverage=_mean(scores, "coverage"),
        stale_hours=_mean(scores, "stale_hours"),
        caught=_mean(scores, "caught_share"),
        catch_hours=_mean(scores, "catch_hours"),
        found=_mean(scores, "found_share"),
        discovery_p90_hours=_mean(scores, "discovery_p90_hours"),
        overhead=_mean(scores, "overhead"),
        regret=_mean(scores, "regret"),
        fetches=_mean(scores, "fetches"),
        support=float(np.mean([trial.support.share for trial in trials])),
    )


def _mean(scores: Sequence[Score], name: str) -> float:
    return float(np.mean([getattr(score, name) for score in scores]))


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """What one budget buys, and what the step from the smaller one before it bought."""

    name: str
    fetches: float
    freshness: float
    gain: float  # freshness points for each further 1,000 fetches; NaN for the smallest


def by_budget(rows: Sequence[Row]) -> list[BudgetRow]:
    """Rows of one strategy in order of their fetches."""
    ordered = sorted(rows, key=lambda row: row.fetches)
    result: list[BudgetRow] = []
    for row in ordered:
        gain = math.nan
        if result and row.fetches > result[-1].fetches:
            more = row.fetches - result[-1].fetches
            gain = 1e5 * (row.freshness - result[-1].freshness) / more
        result.append(BudgetRow(row.name, row.fetches, row.freshness, gain))
    return result
