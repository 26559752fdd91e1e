"""How good is a crawl of a simulated shop?  What it stored against the truth.  Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.shop.world import ShopWorld

Addresses = Mapping[str, str]  # host -> origin, as serve_shop gives them


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


def score_changes(
    world: ShopWorld,
    sightings: Iterable[Sighting],
    since: float,
    until: float,
    *,
    addresses: Addresses | None = None,
) -> Changes:
    """A change is caught by a sighting of its price at or after it and before the next one."""
    seen: dict[int, list[tuple[float, int]]] = {}
    for sighting in sightings:
        offer = world.find_offer(sighting.url, addresses)
        if offer is not None and sighting.at <= until:
            seen.setdefault(offer, []).append((sighting.at, sighting.price_micros))
    times = {offer: sorted(found) for offer, found in seen.items()}
    changes = world.changes_between(since, until)
    delays = [
        _catch(times.get(offer, []), at, until_at, micros)
        for offer, at, until_at, micros in zip(
            changes.offer.tolist(),
            changes.at.tolist(),
            changes.until_at.tolist(),
            changes.price_micros.tolist(),
            strict=True,
        )
    ]
    caught = np.array([delay for delay in delays if delay is not None])
    return Changes(len(delays), len(caught), _quantile(caught, 0.5))


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


def _catch(
    sightings: list[tuple[float, int]], at: float, until_at: float, price_micros: int
) -> float | None:
    """The delay of the first sighting that shows the change."""
    start = int(np.searchsorted([moment for moment, _ in sightings], at))
    for moment, seen_micros in sightings[start:]:
        if moment >= until_at:
            return None
        if seen_micros == price_micros:
            return moment - at
    return None


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def _quantile(values: NDArray[np.float64], share: float) -> float:
    return float(np.quantile(values, share)) if len(values) else float("nan")
