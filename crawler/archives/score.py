"""How good was a crawl of a recording?  What it stored against what the recording shows.  Pure.

The crawl's copy of an offer is the newest price it stored.  Means are over time and exact, not sampled:
the time that live offers spent with a true copy, over the time that they lived.  Nothing counts before
`since`, the end of the warm-up.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from crawler.archives.truth import Floats, Ints, Truth

_NOTHING = -1  # no price: not alive, or never seen
_HOUR = 3600.0
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Crawled:
    """What a crawl left behind, by the numbers of the truth's offers.  Each group has its own length."""

    offer: Ints  # prices it stored: first sights and changes
    at: Floats
    price_micros: Ints
    found: Ints  # offers whose page it learned of
    found_at: Floats
    fetch_at: Floats  # every exchange
    discovers: Mask  # of those: made for the sake of links


@dataclass(frozen=True, slots=True)
class Segments:
    """Spans in which neither truth nor copy changes.  Arrays have shape (n_segments,)."""

    offer: Ints
    at: Floats
    until_at: Floats
    live: Mask
    known: Mask
    fresh: Mask
    stale_from: Floats  # when the copy ceased to be the true one
    is_change: Mask  # begins a new price that is not the offer's first
    row: Ints  # the truth's span

    def seconds(self, since: float, until: float) -> Floats:
        """How much of each lies in the window."""
        inside: Floats = np.minimum(self.until_at, until) - np.maximum(self.at, since)
        return np.maximum(0.0, inside)


@dataclass(frozen=True, slots=True)
class Curve:
    """Means over equal windows.  Arrays have shape (n_windows,)."""

    at: Floats  # the window's end
    freshness: Floats
    weighted: Floats
    coverage: Floats
    found: Floats  # of the offers born since the warm-up: the share found by then


@dataclass(frozen=True, slots=True)
class SiteScore:
    """One site's share in it."""

    site: str
    freshness: float
    coverage: float
    offers: int


@dataclass(frozen=True, slots=True)
class Score:
    """A crawl in numbers.  NaN where there was nothing to judge."""

    freshness: float  # of all live offers
    weighted_freshness: float  # the same, each offer by its clicks or importance
    freshness_of_known: float
    coverage: float  # live offers with a stored price
    stale_hours: float  # mean age of the prices that were no longer true
    changes: int
    caught: int  # the copy became true before the next change
    catch_hours: float  # median, of those caught
    born: int
    found: int  # while they lived
    discovery_p90_hours: float
    overhead: float  # fetches for links, for each new offer found
    fetches: int
    oracle_freshness: float  # of one that knows all and makes as many fetches at the same hours
    curve: Curve
    sites: tuple[SiteScore, ...]

    @property
    def caught_share(self) -> float:
        return _share(self.caught, self.changes)

    @property
    def found_share(self) -> float:
        return _share(self.found, self.born)

    @property
    def regret(self) -> float:
        """Freshness lost against the oracle of the recording, as a share of the oracle's."""
        return _share(self.oracle_freshness - self.freshness, self.oracle_freshness)


def score(truth: Truth, crawled: Crawled, *, since: float, until: float, windows: int) -> Score:
    """Judge a crawl over (since, until]; `windows` equal parts make the curve."""
    segments = segments_of(truth, crawled)
    seconds = segments.seconds(since, until)
    weight = truth.weight[segments.offer] * seconds
    stale = segments.known & segments.live & ~segments.fresh
    changes, delays = _catches(segments, since, until)
    born, waits = _discoveries(truth, crawled, since, until)
    inside = (crawled.fetch_at > since) & (crawled.fetch_at <= until)
    oracle = segments_of(truth, oracle_of(truth, crawled, until=until))
    return Score(
        freshness=_ratio(seconds, segments.fresh, segments.live),
        weighted_freshness=_ratio(weight, segments.fresh, segments.live),
        freshness_of_known=_ratio(seconds, segments.fresh, segments.live & segments.known),
        coverage=_ratio(seconds, segments.live & segments.known, segments.live),
        stale_hours=_mean_age(segments, stale, since, until),
        changes=changes,
        caught=len(delays),
        catch_hours=_quantile(delays, 0.5) / _HOUR,
        born=born,
        found=len(waits),
        discovery_p90_hours=_quantile(waits, 0.9) / _HOUR,
        overhead=_share(int((inside & crawled.discovers).sum()), len(waits)),
        fetches=int(inside.sum()),
        oracle_freshness=_ratio(oracle.seconds(since, until), oracle.fresh, oracle.live),
        curve=_curve(truth, crawled, segments, np.linspace(since, until, windows + 1)),
        sites=_sites(truth, segments, seconds),
    )


def segments_of(truth: Truth, crawled: Crawled) -> Segments:
    """Truth and copies as one row of steps, offer by offer; an offer's end is a step to "nothing true"."""
    ends = np.flatnonzero(np.append(truth.at[1:] != truth.until_at[:-1], True) | _is_last(truth))
    n_spans, n_ends = len(truth.at), len(ends)
    offer = np.concatenate((truth.offer, truth.offer[ends], crawled.offer))
    at = np.concatenate((truth.at, truth.until_at[ends], crawled.at))
    value = np.concatenate((truth.price_micros, np.full(n_ends, _NOTHING), crawled.price_micros))
    row = np.concatenate((np.arange(n_spans), np.full(n_ends + len(crawled.at), -1)))
    kind = np.repeat([0, 0, 1], [n_spans, n_ends, len(crawled.at)])
    # At one moment: first what is true, then what was read of it; an end before a new beginning.
    order = np.lexsort((row >= 0, kind, at, offer))
    offer, at, value, row, kind = offer[order], at[order], value[order], row[order], kind[order]

    first = np.diff(offer, prepend=-1) != 0
    true_price = _latest(value, first, kind == 0)
    copy = _latest(value, first, kind == 1)
    live, fresh = true_price != _NOTHING, (copy == true_price) & (true_price != _NOTHING)
    stale = live & ~fresh & (copy != _NOTHING)
    begins = stale & ~np.append(False, stale[:-1] & ~first[1:])
    start = np.maximum.accumulate(np.where(begins, np.arange(len(at)), 0))
    is_change = row >= 0
    is_change[is_change] = ~truth.is_first[row[is_change]]
    return Segments(
        offer=offer,
        at=at,
        until_at=np.where(np.append(first[1:], True), np.inf, np.append(at[1:], np.inf)),
        live=live,
        known=copy != _NOTHING,
        fresh=fresh,
        stale_from=at[start],
        is_change=is_change,
        row=_latest(row, first, row >= 0),
    )


def oracle_of(truth: Truth, crawled: Crawled, *, until: float) -> Crawled:
    """What one would store that knows every price to come: the stale offers that stay true longest.

    It makes as many fetches in each hour as the crawl made, and needs none to find a page.
    """
    hours, fetches = np.unique(np.floor(crawled.fetch_at / _HOUR), return_counts=True)
    copy = np.full(len(truth.urls), _NOTHING, np.int64)
    taken: list[Ints] = []
    for hour, most in zip(hours.tolist(), fetches.tolist(), strict=True):
        now = max(hour * _HOUR, truth.began_at)
        live = truth.live_spans(now)
        stale = live[copy[truth.offer[live]] != truth.price_micros[live]]
        gain = (np.minimum(truth.until_at[stale], until) - now) * truth.weight[truth.offer[stale]]
        best = stale[np.argsort(-gain, kind="stable")[:most]]
        copy[truth.offer[best]] = truth.price_micros[best]
        taken.append(best)
    rows = np.concatenate([np.zeros(0, np.int64), *taken])
    times = np.repeat(np.maximum(hours * _HOUR, truth.began_at), [len(best) for best in taken])
    return replace(
        crawled, offer=truth.offer[rows], at=times, price_micros=truth.price_micros[rows]
    )


def _is_last(truth: Truth) -> Mask:
    return np.append(truth.is_first[1:], True)


def _latest(value: Ints, first: Mask, wanted: Mask) -> Ints:
    """For each row the value of the newest wanted row of its offer, itself included; NOTHING before any."""
    place = np.arange(len(value))
    newest = np.maximum.accumulate(np.where(wanted, place, -1))
    start = np.maximum.accumulate(np.where(first, place, 0))
    return np.where(newest >= start, value[newest], _NOTHING)


def _catches(segments: Segments, since: float, until: float) -> tuple[int, Floats]:
    """Changes in (since, until], and how late the copy was true again, for those where it was in time.

    A copy that is true at once, because an old price came back, counts as caught without delay.
    """
    picked = segments.is_change & (segments.at > since) & (segments.at <= until)
    seen = segments.fresh & (segments.at <= until)
    first_fresh = np.full(int(segments.row.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first_fresh, segments.row[seen], segments.at[seen])
    delays = first_fresh[segments.row[picked]] - segments.at[picked]
    return int(picked.sum()), delays[np.isfinite(delays)]


def _first_seen(truth: Truth, crawled: Crawled) -> Floats:
    """(n_offers,) When the crawl learned of each offer; inf for never."""
    seen = np.full(len(truth.urls), np.inf)
    np.minimum.at(seen, crawled.found, crawled.found_at)
    return seen


def _discoveries(truth: Truth, crawled: Crawled, since: float, until: float) -> tuple[int, Floats]:
    """Offers born in (since, until], and how long it took to find those found while they lived."""
    new = (truth.born_at > since) & (truth.born_at <= until)
    seen = _first_seen(truth, crawled)
    found = new & (seen <= np.minimum(truth.gone_at, until))
    return int(new.sum()), (seen - truth.born_at)[found]


def _curve(truth: Truth, crawled: Crawled, segments: Segments, edges: Floats) -> Curve:
    rows = []
    weight = truth.weight[segments.offer]
    seen, since = _first_seen(truth, crawled), float(edges[0])
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        seconds = segments.seconds(start, end)
        born = (truth.born_at > since) & (truth.born_at <= end)
        rows.append(
            (
                _ratio(seconds, segments.fresh, segments.live),
                _ratio(seconds * weight, segments.fresh, segments.live),
                _ratio(seconds, segments.known & segments.live, segments.live),
                _share(
                    int((born & (seen <= np.minimum(end, truth.gone_at))).sum()), int(born.sum())
                ),
            )
        )
    return Curve(edges[1:], *np.array(rows, np.float64).reshape(-1, 4).T)


def _sites(truth: Truth, segments: Segments, seconds: Floats) -> tuple[SiteScore, ...]:
    scores = []
    site_of = truth.site[segments.offer]
    for number, name in enumerate(truth.sites):
        own = np.where(site_of == number, seconds, 0.0)
        scores.append(
            SiteScore(
                site=name,
                freshness=_ratio(own, segments.fresh, segments.live),
                coverage=_ratio(own, segments.known & segments.live, segments.live),
                offers=len(np.unique(segments.offer[(own > 0) & segments.live])),
            )
        )
    return tuple(scores)


def _mean_age(segments: Segments, stale: Mask, since: float, until: float) -> float:
    """Hours since the copy ceased to be true, over all the time that copies were not."""
    start = np.maximum(segments.at, since)[stale]
    end = np.minimum(segments.until_at, until)[stale]
    spent = np.maximum(0.0, end - start)
    ages = (start + end) / 2 - segments.stale_from[stale]
    return float((ages * spent).sum() / spent.sum()) / _HOUR if spent.sum() else math.nan


def _ratio(seconds: Floats, part: Mask, whole: Mask) -> float:
    total = float(seconds[whole].sum())
    return float(seconds[part & whole].sum()) / total if total else math.nan


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _quantile(values: Floats, share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else math.nan
