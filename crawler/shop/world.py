"""All sites of a simulated shop and the exact truth about them.  Pure: time is an argument."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from crawler.shop.assortment import RHYTHMS
from crawler.shop.lives import HISTORY_DAYS, Micros, Times
from crawler.shop.settings import DAY, Rhythm, ShopSettings
from crawler.shop.site import Numbers, Site
from crawler.shop.views import ShopPage


@dataclass(frozen=True, slots=True)
class OfferColumns:
    """Every offer that ever lives, in the world's numbering.  All arrays have shape (n_offers,)."""

    site: NDArray[np.int64]
    number: Numbers  # row within the site
    born_at: Times
    gone_at: Times
    rhythm: NDArray[np.int8]  # index into settings.Rhythm
    changes_per_day: NDArray[np.float64]  # on average: own moves and sales days, before any shift


@dataclass(frozen=True, slots=True)
class LiveOffers:
    """The offers alive at a moment, with their true prices.  Arrays have shape (n_live,)."""

    offer: Numbers  # ascending
    price_micros: Micros


@dataclass(frozen=True, slots=True)
class Prices:
    """True prices and their spans: each holds in [at, until_at).  Arrays have shape (n_prices,)."""

    offer: Numbers
    at: Times
    until_at: Times  # the next change, or the end of the offer
    price_micros: Micros

    def take(self, rows: Numbers) -> "Prices":
        return Prices(self.offer[rows], self.at[rows], self.until_at[rows], self.price_micros[rows])


class ShopWorld:
    """Several living sites.  An offer has one number in the world: its site's first plus its row."""

    def __init__(self, settings: ShopSettings, *, seed: int) -> None:
        self.settings = settings
        self.seed = seed
        self.sites = tuple(
            Site(settings, site, (seed, number)) for number, site in enumerate(settings.sites)
        )
        self.first_offer = np.cumsum([0, *map(len, self.sites)])
        self._site_of_host = {site.host: number for number, site in enumerate(self.sites)}

    def site(self, host: str) -> Site | None:
        number = self._site_of_host.get(host)
        return None if number is None else self.sites[number]

    def page(self, host: str, target: str, at: float) -> ShopPage | None:
        """What a path shows at `at`; None where there is no such page (yet)."""
        site = self.site(host)
        return None if site is None else site.page(target, at)

    def addresses(self) -> dict[str, str]:
        """Where each host is when nothing is really served: host -> origin."""
        return {site.host: f"http://{site.host}" for site in self.sites}

    def find_offer(self, url: str, addresses: Mapping[str, str] | None = None) -> int | None:
        """The world's number of the offer at this URL; `addresses` as serve_shop gives them."""
        parts = urlsplit(url)
        host = self._host_of_origin(f"{parts.scheme}://{parts.netloc}", addresses)
        if host not in self._site_of_host:
            return None
        site = self._site_of_host[host]
        number = self.sites[site].find(parts.path)
        return None if number is None else int(self.first_offer[site]) + number

    def offer_url(self, offer: int, addresses: Mapping[str, str] | None = None) -> str:
        site = self.sites[int(self.columns.site[offer])]
        origin = (addresses or self.addresses())[site.host]
        return origin + site.path(int(self.columns.number[offer]))

    def price_at(self, offer: int, at: float) -> int | None:
        """The true price in micros; None when the offer is not alive."""
        site = self.sites[int(self.columns.site[offer])]
        number = int(self.columns.number[offer])
        return site.life(number).price(at) if site.is_live(number, at) else None

    def currency(self, offer: int) -> str:
        return self.sites[int(self.columns.site[offer])].settings.currency

    @cached_property
    def columns(self) -> OfferColumns:
        sizes = [len(site) for site in self.sites]
        return OfferColumns(
            site=np.repeat(np.arange(len(sizes)), sizes),
            number=np.concatenate([np.arange(size) for size in sizes]),
            born_at=np.concatenate([site.born_at for site in self.sites]),
            gone_at=np.concatenate([site.gone_at for site in self.sites]),
            rhythm=np.concatenate([site.rhythm for site in self.sites]),
            changes_per_day=np.concatenate([_mean_rate(site) for site in self.sites]),
        )

    @cached_property
    def prices(self) -> Prices:
        """Every price of every offer, offer by offer, in order of time."""
        lives = [site.life(number) for site in self.sites for number in range(len(site))]
        counts = [len(life.price_at) for life in lives]
        at = np.concatenate([life.price_at for life in lives])
        until_at = np.append(at[1:], np.inf)
        until_at[np.cumsum(counts) - 1] = self.columns.gone_at
        micros = np.concatenate([life.price_micros for life in lives])
        return Prices(np.repeat(np.arange(len(lives)), counts), at, until_at, micros)

    def live_offers(self, at: float) -> LiveOffers:
        """All offers alive at `at`, with their prices."""
        alive = np.flatnonzero((self.columns.born_at <= at) & (self.columns.gone_at > at))
        rows = self.price_rows(alive, np.full(len(alive), at))
        return LiveOffers(alive, self.prices.price_micros[rows])

    def price_rows(self, offers: Numbers, at: Times) -> Numbers:
        """For each pair of offer and time the row of `prices` that holds then; -1 when none does."""
        rows = np.searchsorted(self._price_keys, self._keys(offers, at), "right") - 1
        found = (self.prices.offer[rows] == offers) & (self.prices.until_at[rows] > at)
        return np.where(found & (rows >= 0), rows, -1)

    def change_rows(self, since: float, until: float) -> Numbers:
        """The rows of `prices` that are price changes in (since, until]: first prices are none."""
        prices = self.prices
        picked = (prices.at > since) & (prices.at <= until)
        picked[1:] &= prices.offer[1:] == prices.offer[:-1]
        picked[0] = False
        return np.flatnonzero(picked)

    def changes_between(self, since: float, until: float) -> Prices:
        """The price changes in (since, until], in order of time."""
        rows = self.change_rows(since, until)
        return self.prices.take(rows[np.argsort(self.prices.at[rows], kind="stable")])

    def price_history(self, offer: int) -> Prices:
        """All prices of one offer, the first included."""
        start, end = np.searchsorted(self.prices.offer, [offer, offer + 1])
        return self.prices.take(np.arange(start, end))

    @cached_property
    def _price_keys(self) -> Numbers:
        return self._keys(self.prices.offer, self.prices.at)

    def _keys(self, offers: Numbers, at: Times) -> Numbers:
        """One ascending integer for (offer, time).  Exact, as prices change on whole seconds only."""
        span = (self.settings.days + HISTORY_DAYS) * DAY + 10.0
        second = np.clip(np.floor(at) - self.settings.starts_at + HISTORY_DAYS * DAY, -1.0, span)
        return offers * (int(span) + 10) + second.astype(np.int64)

    def _host_of_origin(self, origin: str, addresses: Mapping[str, str] | None) -> str:
        if addresses is None:
            return origin.partition("://")[2]
        return next((host for host, served in addresses.items() if served == origin), "")


def _mean_rate(site: Site) -> NDArray[np.float64]:
    """Own moves, plus the start and the end of each weekly sale."""
    return site.changes_per_day + np.where(site.rhythm == RHYTHMS.index(Rhythm.SALE), 2 / 7, 0.0)
