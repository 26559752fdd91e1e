"""Draw what a simulated site sells: births, ends, rhythms, categories, price levels.  Columns by seed."""

import numpy as np
from numpy.typing import NDArray

from crawler.shop.lives import Times, pace
from crawler.shop.settings import DAY, HOUR, Rhythm, ShopSettings, SiteSettings

RHYTHMS = tuple(Rhythm)


def draw_births_and_ends(
    shop: ShopSettings, site: SiteSettings, rng: np.random.Generator
) -> tuple[Times, Times]:
    """A shop in balance: births by the hour of the week, exponential lifetimes, ages to match."""
    lifetime = site.lifetime_days * DAY
    old = shop.starts_at - rng.exponential(lifetime, site.offers)
    felt = pace(shop, site, weekly=True, shifted=False)
    first, last = felt.to_activity(shop.starts_at), felt.to_activity(shop.ends_at)
    births = rng.uniform(first, last, rng.poisson(site.offers * (last - first) / lifetime))
    born_at = np.concatenate((np.sort(old), felt.to_shop(np.sort(births))))
    ends = np.maximum(born_at, shop.starts_at) + HOUR + rng.exponential(lifetime, len(born_at))
    return np.floor(born_at), np.floor(ends)


def draw_rhythms(site: SiteSettings, count: int, rng: np.random.Generator) -> NDArray[np.int8]:
    shares = {
        Rhythm.FAST: site.fast_share,
        Rhythm.CLOCKWORK: site.clockwork_share,
        Rhythm.SALE: site.sale_share,
    }
    shares[Rhythm.SLOW] = 1.0 - sum(shares.values())
    chances = [max(0.0, shares[rhythm]) for rhythm in RHYTHMS]
    return rng.choice(len(RHYTHMS), count, p=chances).astype(np.int8)


def draw_rates(
    site: SiteSettings, rhythm: NDArray[np.int8], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Own price moves a day before any shift: log-normal around the rhythm's rate."""
    centre = {
        Rhythm.FAST: site.fast_per_day,
        Rhythm.CLOCKWORK: site.clockwork_per_day,
        Rhythm.SALE: site.slow_per_day,
        Rhythm.SLOW: site.slow_per_day,
    }
    rates = np.array([centre[name] for name in RHYTHMS])[rhythm]
    return rates * np.exp(rng.normal(0.0, 0.5, len(rates)))


def draw_categories(
    site: SiteSettings, born_at: Times, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Larger and smaller categories (1/rank); dead ones get nothing born after the shift."""
    weights = 1.0 / np.arange(1, site.categories + 1)
    drawn = rng.choice(site.categories, len(born_at), p=weights / weights.sum())
    if site.shift is None or site.shift.dead_categories == 0:
        return drawn
    dead = site.shift.dead_categories
    moved = dead + drawn % (site.categories - dead)
    return np.where((born_at >= site.shift.at) & (drawn < dead), moved, drawn)


def draw_base_prices(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """In euros: half of them between 22 and 73."""
    return np.exp(rng.normal(np.log(40.0), 0.9, count)).clip(8.0, 2_000.0)
