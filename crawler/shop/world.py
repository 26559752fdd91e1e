"""All sites of a simulated shop and the exact truth about them.  Pure: time is an argument."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from crawler.shop.lives import Micros, Times
from crawler.shop.settings import ShopSettings
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
    changes_per_day: NDArray[np.float64]  # own moves: without sales days, campaigns and shifts


@dataclass(frozen=True, slots=True)
class LiveOffers:
    """The offers alive at a moment, with their true prices.  Arrays have shape (n_live,)."""

    offer: Numbers  # ascending
    price_micros: Micros


@dataclass(frozen=True, slots=True)
class PriceChanges:
    """True price changes in order of time.  A change holds until `until_at`; shape (n_changes,)."""

    offer: Numbers
    at: Times
    until_at: Times
    price_micros: Micros


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
            changes_per_day=np.concatenate([site.changes_per_day for site in self.sites]),
        )

    def live_offers(self, at: float) -> LiveOffers:
        """All offers alive at `at`: one pass over the columns of all prices."""
        alive = np.flatnonzero((self.columns.born_at <= at) & (self.columns.gone_at > at))
        passed = np.add.reduceat(self._prices.at <= at, self._first_price[:-1])
        latest = self._first_price[:-1] + np.maximum(passed, 1) - 1
        return LiveOffers(alive, self._prices.price_micros[latest[alive]])

    def changes_between(self, since: float, until: float) -> PriceChanges:
        """The price changes in (since, until], first prices of new offers not counted."""
        prices = self._prices
        picked = (prices.at > since) & (prices.at <= until)
        picked[self._first_price[:-1]] = False
        rows = np.flatnonzero(picked)
        rows = rows[np.argsort(prices.at[rows], kind="stable")]
        return PriceChanges(
            prices.offer[rows], prices.at[rows], prices.until_at[rows], prices.price_micros[rows]
        )

    def price_history(self, offer: int) -> PriceChanges:
        """All prices of one offer, the first included."""
        row = slice(int(self._first_price[offer]), int(self._first_price[offer + 1]))
        prices = self._prices
        return PriceChanges(
            prices.offer[row], prices.at[row], prices.until_at[row], prices.price_micros[row]
        )

    def _host_of_origin(self, origin: str, addresses: Mapping[str, str] | None) -> str:
        if addresses is None:
            return origin.partition("://")[2]
        return next((host for host, served in addresses.items() if served == origin), "")

    @cached_property
    def _lives(self) -> list[tuple[Times, Micros]]:
        lives = (site.life(number) for site in self.sites for number in range(len(site)))
        return [(life.price_at, life.price_micros) for life in lives]

    @cached_property
    def _first_price(self) -> Numbers:
        return np.cumsum([0, *(len(times) for times, _ in self._lives)])

    @cached_property
    def _prices(self) -> PriceChanges:
        """Every price of every offer, offer by offer, in order of time."""
        at = np.concatenate([times for times, _ in self._lives])
        until_at = np.append(at[1:], np.inf)
        until_at[self._first_price[1:] - 1] = self.columns.gone_at
        offer = np.repeat(np.arange(len(self._lives)), np.diff(self._first_price))
        return PriceChanges(
            offer, at, until_at, np.concatenate([micros for _, micros in self._lives])
        )
