"""How good is a crawl of a simulated shop?  What it stored against the truth.  Pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.shop.lives import Micros, Times
from crawler.shop.site import Numbers
from crawler.shop.world import ShopWorld

Addresses = Mapping[str, str]  # host -> origin, as serve_shop gives them
_NOTHING = -1  # no price: not alive, or never seen


@dataclass(frozen=True, slots=True)
class StoredPrice:
    """What the crawl believes about a page: its newest price, or that it is gone."""

    url: str
    price_micros: int | None
    currency: str | None
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Sighting:
    """One price the crawl read, and when."""

    url: str
    at: float
    price_micros: int


@dataclass(frozen=True, slots=True)
class FirstSight:
    """When the crawl learned that a page exists."""

    url: str
    at: float


@dataclass(frozen=True, slots=True)
class Freshness:
    """Counts of offers at one moment."""

    live: int
    known: int  # live, with a stored price
    fresh: int  # of the known: price and currency are the true ones
    ghosts: int  # stored with a price and not as gone, though the shop has them no more

    @property
    def coverage(self) -> float:
        return _share(self.known, self.live)

    @property
    def freshness(self) -> float:
        """Share of all live offers whose stored price is the true one."""
        return _share(self.fresh, self.live)

    @property
    def freshness_of_known(self) -> float:
        return _share(self.fresh, self.known)


@dataclass(frozen=True, slots=True)
class Changes:
    """Price changes of a span, and how many of them the crawl saw before they were over."""

    happened: int
    caught: int
    median_delay: float  # seconds from change to sighting, of those caught; NaN for none

    @property
    def share(self) -> float:
        return _share(self.caught, self.happened)


@dataclass(frozen=True, slots=True)
class Discovery:
    """Offers born in a span, and how many of them the crawl found while they lived."""

    born: int
    found: int
    median_delay: float  # seconds from birth to first sight, of those found; NaN for none
    p90_delay: float

    @property
    def share(self) -> float:
        return _share(self.found, self.born)


def score_freshness(
    world: ShopWorld,
    stored: Iterable[StoredPrice],
    at: float,
    *,
    addresses: Addresses | None = None,
) -> Freshness:
    """Compare what is stored with what is true at `at`.  URLs that are no offers are passed over."""
    live = world.live_offers(at)
    truth = dict(zip(live.offer.tolist(), live.price_micros.tolist(), strict=True))
    known = fresh = ghosts = 0
    for page in stored:
        offer = world.find_offer(page.url, addresses)
        if offer is None or page.price_micros is None or page.gone:
            continue
        if offer not in truth:
            ghosts += 1
            continue
        known += 1
        fresh += page.price_micros == truth[offer] and page.currency == world.currency(offer)
    return Freshness(len(truth), known, fresh, ghosts)


def score_mean_freshness(
    world: ShopWorld,
    sightings: Iterable[Sighting],
    since: float,
    until: float,
    *,
    addresses: Addresses | None = None,
) -> float:
    """Freshness averaged over (since, until] and all offers live in it: exact, not sampled.

    The crawl's copy of an offer is the newest sighting.  The mean is the time that live offers spent
    with a true copy, over the time that they lived.
    """
    seen = _columns(world, sightings, until, addresses)
    prices = world.prices
    # Truth and copies as one row of steps, offer by offer; a price's end is a step to "nothing true".
    ends = np.flatnonzero(np.append(prices.offer[1:] != prices.offer[:-1], True))
    offer = np.concatenate((prices.offer, prices.offer[ends], seen.offer))
    at = np.concatenate((prices.at, prices.until_at[ends], seen.at))
    nothing = np.full(len(ends), _NOTHING)
    value = np.concatenate((prices.price_micros, nothing, seen.price_micros))
    is_copy = np.arange(len(offer)) >= len(prices.offer) + len(ends)
    order = np.lexsort((at, offer))
    offer, at, value, is_copy = offer[order], at[order], value[order], is_copy[order]

    true_price = _latest(value, offer, ~is_copy)
    copy = _latest(value, offer, is_copy)
    same_offer = np.append(offer[1:] == offer[:-1], False)
    next_at = np.where(same_offer, np.append(at[1:], until), until)
    seconds = np.maximum(0.0, np.minimum(next_at, until) - np.maximum(at, since))
    live = true_price != _NOTHING
    fresh = live & (copy == true_price)
    return float(seconds[fresh].sum() / seconds[live].sum()) if seconds[live].any() else math.nan


def score_changes(
    world: ShopWorld,
    sightings: Iterable[Sighting],
    since: float,
    until: float,
    *,
    addresses: Addresses | None = None,
) -> Changes:
    """A change is caught by a sighting of its price at or after it and before the next one."""
    seen = _columns(world, sightings, until, addresses)
    rows = world.price_rows(seen.offer, seen.at)
    right = (rows >= 0) & (world.prices.price_micros[rows] == seen.price_micros)
    first_seen = np.full(len(world.prices.at), np.inf)
    np.minimum.at(first_seen, rows[right], seen.at[right])
    happened = world.change_rows(since, until)
    delays = first_seen[happened] - world.prices.at[happened]
    caught = delays[np.isfinite(delays)]
    return Changes(len(happened), len(caught), _quantile(caught, 0.5))


def score_discovery(
    world: ShopWorld,
    first_sights: Iterable[FirstSight],
    since: float,
    until: float,
    *,
    addresses: Addresses | None = None,
) -> Discovery:
    """Offers born in (since, until] and the delay until each was first seen, if it then still lived."""
    columns = world.columns
    born = (columns.born_at > since) & (columns.born_at <= until)
    first = np.full(len(born), np.inf)
    for sight in first_sights:
        offer = world.find_offer(sight.url, addresses)
        if offer is not None and sight.at <= until:
            first[offer] = min(first[offer], sight.at)
    found = born & (first < columns.gone_at)
    delays = np.maximum(0.0, first[found] - columns.born_at[found])
    return Discovery(
        int(born.sum()), int(found.sum()), _quantile(delays, 0.5), _quantile(delays, 0.9)
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """Sightings as columns, of shape (n_sightings,)."""

    offer: Numbers
    at: Times
    price_micros: Micros


def _columns(
    world: ShopWorld, sightings: Iterable[Sighting], until: float, addresses: Addresses | None
) -> _Seen:
    """The sightings up to `until` that are of offers."""
    rows = [
        (offer, sighting.at, sighting.price_micros)
        for sighting in sightings
        for offer in (world.find_offer(sighting.url, addresses),)
        if offer is not None and sighting.at <= until
    ]
    offers, times, micros = zip(*rows, strict=True) if rows else ((), (), ())
    return _Seen(
        np.array(offers, np.int64), np.array(times, np.float64), np.array(micros, np.int64)
    )


def _latest(value: Micros, offer: Numbers, counts: NDArray[np.bool_]) -> Micros:
    """At each row the value of the last row that counts and is of the same offer."""
    last = np.maximum.accumulate(np.where(counts, np.arange(len(value)), -1))
    known = (last >= 0) & (offer[last] == offer)
    return np.where(known, value[last], _NOTHING)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _quantile(values: NDArray[np.float64], share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else math.nan
