"""When an offer is repriced, restocked and announced: exact times by seed.  Pure: no clock.

All times are whole seconds, so that a Last-Modified header, which has whole seconds, never lies.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crawler.shop.money import shelf_price_micros
from crawler.shop.settings import DAY, HOUR, Lastmod, Rhythm, ShopSettings, SiteSettings

Times = NDArray[np.float64]
Micros = NDArray[np.int64]

WEEK = 7 * DAY
_MONDAY = 4 * DAY  # the epoch was a Thursday; the first Monday came four days later
HISTORY_DAYS = 14.0  # offers older than the shop's start have moved for so long before it
_CLOCK_JITTER = 0.05
_PRICE_SPREAD = 0.08  # standard deviation of the log price around the offer's level
_SALE_FACTOR = 0.8

# Relative activity by the local hour: quiet nights, a burst of repricing in the morning.
_HOURS = np.array([2, 1, 1, 1, 1, 2, 5, 9, 14, 16, 12, 9, 7, 7, 8, 9, 8, 6, 5, 4, 4, 3, 3, 2.0])
_DAYS = np.array([1.2, 1.1, 1.1, 1.2, 1.1, 0.7, 0.6])
_WEEK_PROFILE = np.outer(_DAYS, _HOURS).ravel()
_WEEK_PROFILE = _WEEK_PROFILE / _WEEK_PROFILE.mean()


@dataclass(frozen=True, slots=True)
class Pace:
    """Time as a rhythm feels it: `activity` seconds pass per second, 1 on average.

    A Poisson process at constant rate in activity time has the wanted hour-of-week profile in shop time.
    """

    shop: Times
    activity: Times

    def to_activity(self, at: float) -> float:
        return float(np.interp(at, self.shop, self.activity))

    def to_shop(self, activity: Times) -> Times:
        return np.interp(activity, self.activity, self.shop)


@lru_cache(maxsize=64)
def pace(shop: ShopSettings, site: SiteSettings, *, weekly: bool, shifted: bool = True) -> Pace:
    """The site's pace; `weekly` follows the hours of the week, `shifted` its change of habits."""
    first = shop.starts_at - HISTORY_DAYS * DAY
    edges = np.arange(first, shop.ends_at + HOUR, HOUR)
    speed = np.ones(len(edges) - 1)
    if weekly:
        local = edges[:-1] + site.utc_offset_hours * HOUR - _MONDAY
        speed = _WEEK_PROFILE[(local % WEEK // HOUR).astype(int)]
    if shifted and site.shift is not None:
        speed = np.where(edges[:-1] >= site.shift.at, speed * site.shift.rate_factor, speed)
    return Pace(edges, np.concatenate(([0.0], np.cumsum(speed * HOUR))))


@dataclass(frozen=True, slots=True)
class OfferLife:
    """Everything that ever happens to one offer.  The first price holds from `price_at[0]`."""

    price_at: Times  # shape (n_prices,), ascending
    price_micros: Micros  # shape (n_prices,), neighbours differ
    stock_at: Times  # flips between in stock and out of stock, starting in stock
    announced_at: Times  # the time stamps a sitemap knows, by the site's honesty

    def price(self, at: float) -> int:
        return int(self.price_micros[max(0, self._price_index(at))])

    def old_price(self, at: float) -> int | None:
        """The price before this one, where the shop can boast of it: at least 2 % higher."""
        index = self._price_index(at)
        if index < 1:
            return None
        now, before = int(self.price_micros[index]), int(self.price_micros[index - 1])
        return before if before * 100 >= now * 102 else None

    def in_stock(self, at: float) -> bool:
        return int(self.stock_at.searchsorted(at, "right")) % 2 == 0

    def changed_at(self, at: float) -> float:
        """The last change of price or stock up to `at`."""
        price_at = self.price_at[max(0, self._price_index(at))]
        flips = int(self.stock_at.searchsorted(at, "right"))
        return float(max(price_at, self.stock_at[flips - 1]) if flips else price_at)

    def announced(self, at: float) -> float:
        """The lastmod that a sitemap built at `at` shows."""
        count = int(self.announced_at.searchsorted(at, "right"))
        return float(self.announced_at[count - 1] if count else self.price_at[0])

    def _price_index(self, at: float) -> int:
        return int(self.price_at.searchsorted(at, "right")) - 1


@dataclass(frozen=True, slots=True)
class OfferTraits:
    """What an offer is born with."""

    born_at: float
    gone_at: float
    rhythm: Rhythm
    changes_per_day: float
    base_price: float  # in euros, before currency and rounding


def live(
    shop: ShopSettings, site: SiteSettings, traits: OfferTraits, rng: np.random.Generator
) -> OfferLife:
    """One whole life, drawn from `rng`."""
    begin = max(traits.born_at, shop.starts_at - HISTORY_DAYS * DAY)
    end = min(traits.gone_at, shop.ends_at)
    moves = _own_moves(shop, site, traits, begin, end, rng)
    price_at, price_micros = _prices(site, traits, begin, end, moves, rng)
    stock_at = _stock_flips(site, begin, end, rng)
    changes = np.union1d(price_at, stock_at)
    announced_at = _announcements(site, changes, begin, end, rng)
    return OfferLife(price_at, price_micros, stock_at, announced_at)


def _own_moves(
    shop: ShopSettings,
    site: SiteSettings,
    traits: OfferTraits,
    begin: float,
    end: float,
    rng: np.random.Generator,
) -> Times:
    clockwork = traits.rhythm is Rhythm.CLOCKWORK
    felt = pace(shop, site, weekly=not clockwork)
    first, last = felt.to_activity(begin), felt.to_activity(end)
    if clockwork:
        period = DAY / traits.changes_per_day
        count = int(1.1 * max(0.0, last - first) / period) + 5  # enough to run past the end
        gaps = period * (1.0 + _CLOCK_JITTER * rng.standard_normal(count))
        moments = first + (rng.random() - 1.0) * period + np.cumsum(gaps)
        moments = moments[(moments > first) & (moments < last)]
    else:
        count = rng.poisson(traits.changes_per_day * max(0.0, last - first) / DAY)
        moments = rng.uniform(first, max(first, last), count)
    return _between(felt.to_shop(np.sort(moments)), begin, end)


def _prices(
    site: SiteSettings,
    traits: OfferTraits,
    begin: float,
    end: float,
    moves: Times,
    rng: np.random.Generator,
) -> tuple[Times, Micros]:
    edges = [np.array([begin]), moves]
    periods = []
    if traits.rhythm is Rhythm.SALE:
        periods += [(start, start + DAY, _SALE_FACTOR) for start in _sale_days(site, begin, end)]
    coins = rng.random(len(site.campaigns))
    periods += [
        (np.floor(campaign.starts_at), np.floor(campaign.ends_at), campaign.factor)
        for campaign, coin in zip(site.campaigns, coins, strict=True)
        if coin < campaign.share
    ]
    edges += [_between(np.array(period[:2]), begin, end) for period in periods]
    times = np.unique(np.concatenate(edges))
    levels = np.exp(_PRICE_SPREAD * rng.standard_normal(len(moves) + 1))
    prices = traits.base_price * levels[np.searchsorted(moves, times, "right")]
    for starts_at, ends_at, factor in periods:
        prices[(times >= starts_at) & (times < ends_at)] *= factor
    micros = shelf_price_micros(prices, site.currency)
    keep = np.concatenate(([True], micros[1:] != micros[:-1]))
    return times[keep], micros[keep]


def _sale_days(site: SiteSettings, begin: float, end: float) -> Iterator[float]:
    """The local midnights at which the weekly sales day starts."""
    offset = _MONDAY + site.sale_weekday * DAY - site.utc_offset_hours * HOUR
    start = offset + (begin - offset) // WEEK * WEEK
    while start < end:
        yield start
        start += WEEK


def _stock_flips(site: SiteSettings, begin: float, end: float, rng: np.random.Generator) -> Times:
    """Alternating exponential spells: in stock first, then out for `restock_days` on average."""
    share = site.out_of_stock_share
    if share <= 0.0:
        return np.empty(0)
    out = site.restock_days * DAY
    pairs = 2 + int(2 * (end - begin) * share / out)
    spells = rng.exponential((out * (1.0 - share) / share, out), (pairs, 2)).ravel()
    return _between(begin + np.cumsum(spells), begin, end)


def _announcements(
    site: SiteSettings, changes: Times, begin: float, end: float, rng: np.random.Generator
) -> Times:
    """What an honest sitemap stamps, thinned and mixed with false alarms where the site is noisy.

    USELESS needs no stamps, but keeps the honest ones for a site that shifts from or to it.
    """
    if site.lastmod is not Lastmod.NOISY:
        return changes
    told = changes[rng.random(len(changes)) < site.signal_recall]
    count = rng.poisson(site.false_signals_per_day * max(0.0, end - begin) / DAY)
    return np.union1d(told, _between(rng.uniform(begin, max(begin, end), count), begin, end))


def _between(times: Times, begin: float, end: float) -> Times:
    """Whole seconds strictly after `begin` and before `end`, ascending, no two alike."""
    whole = np.unique(np.floor(times))
    return whole[(whole > begin) & (whole < end)]
