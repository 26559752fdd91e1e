"""Rhythms of one who knows how the simulated shop works, though not what happens next.

It knows each offer's rhythm and rate, the hours of the week, sales days, campaigns, and how far each site's
signals can be trusted; when prices move it learns from its fetches and signals like everybody else.

    X       nats of freshness lost since the last fetch
            Poisson      rate * activity that passed, what the site's sitemap was silent about taken off
            clockwork    -log P(no change | last change seen, gap normal with 5 %)
            sale         certain when a sales day began or ended in between; a campaign by its share
    worth   h G(X), h how long the new copy will hold; G(X) = 1 - (1 + X) exp(-X), for clockwork 1 - exp(-X)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from crawler.planning.hints import Hint, Hints
from crawler.planning.rhythms import Rhythms
from crawler.planning.table import PageTable
from crawler.reading.urls.identity import page_hash
from crawler.shop.assortment import RHYTHMS
from crawler.shop.lives import WEEK, pace
from crawler.shop.settings import DAY, HOUR, Lastmod, Rhythm
from crawler.shop.world import ShopWorld
from storage.rows import RhythmRow

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

CERTAIN = 5.0  # nats
_JITTER = 0.05
_FIRST_MONDAY = 4 * DAY
_CLOCKWORK, _SALE = RHYTHMS.index(Rhythm.CLOCKWORK), RHYTHMS.index(Rhythm.SALE)


class OracleRhythms(Rhythms):
    """In place of the learned ones in an otherwise unchanged planner."""

    def __init__(self, world: ShopWorld, table: PageTable, hints: Hints) -> None:
        super().__init__(table, hints, first_guess=1.0 / DAY)
        self._world = world
        self._hashes = [page_hash(world.offer_url(n)) for n in range(len(world.columns.site))]
        self._sitemaps = [page_hash(f"http://{site.host}/sitemap-1.xml") for site in world.sites]
        self._paces = [pace(world.settings, s.settings, weekly=True) for s in world.sites]
        self._change: dict[int, float] = {}  # clockwork offers: the last change, as far as known
        self._doubt: dict[int, float] = {}  # and its standard deviation

    def observe(
        self, rows: Rows, at: Floats, changed: NDArray[np.bool_], price_micros: Rows
    ) -> list[RhythmRow]:
        since = self.pages(rows).fetched_at
        for k in np.flatnonzero(changed & (self._offers(rows) >= 0)).tolist():
            self._place_change(int(self._offers(rows)[k]), since=since[k], until=at[k])
        return super().observe(rows, at, changed, price_micros)

    def value(self, rows: Rows, now: float) -> Floats:
        offers = self._offers(rows)
        known = offers >= 0  # the rest are pages mistaken for offers
        worth = np.zeros(len(rows))
        worth[known] = self._value(rows[known], offers[known], now)
        return worth

    def _offers(self, rows: Rows) -> Rows:
        ids = self._table.find_many(self._hashes)
        offer_of = np.full(self._table.size, -1)
        offer_of[ids[ids > 0]] = np.flatnonzero(ids > 0)
        return offer_of[rows]

    def _place_change(self, offer: int, *, since: float, until: float) -> None:
        """A clockwork change lies a whole number of periods after the last, and between two fetches."""
        period = DAY / float(self._world.columns.changes_per_day[offer])
        middle, last = (since + until) / 2, self._change.get(offer)
        doubt = (until - since) / 12**0.5
        if last is not None:
            periods = max(1.0, round((middle - last) / period))
            guess = last + period * periods
            if since <= guess <= until:
                drift = (self._doubt[offer] ** 2 + periods * (_JITTER * period) ** 2) ** 0.5
                middle, doubt = guess, min(doubt, drift)
        self._change[offer], self._doubt[offer] = middle, doubt

    def _value(self, rows: Rows, offers: Rows, now: float) -> Floats:
        columns = self._world.columns
        fetched_at = self.pages(rows).fetched_at
        rate = columns.changes_per_day[offers] / DAY
        rhythm = columns.rhythm[offers]
        own = np.where(rhythm == _SALE, rate - 2 / WEEK, rate)
        hazard = self._poisson(rows, offers, own, fetched_at, now)
        hazard, ticking = self._clockwork(offers, rhythm, hazard, 1 / rate, fetched_at, now)
        sale, holds = self._sales(offers, rhythm, fetched_at, now)
        hazard = hazard + sale + self._nats(rows, offers, own)
        worth = np.where(ticking, -np.expm1(-hazard), -np.expm1(-hazard) - hazard * np.exp(-hazard))
        return np.asarray(np.minimum(1 / own, holds) * worth)

    def _poisson(
        self, rows: Rows, offers: Rows, rate: Floats, fetched_at: Floats, now: float
    ) -> Floats:
        """Where the sitemap told of no change before it was last read, only unannounced ones count."""
        hazard = np.zeros(len(rows))
        heard = self._table.fetched_at[self._table.find_many(self._sitemaps)]
        for number, site in enumerate(self._world.sites):
            mine = self._world.columns.site[offers] == number
            felt = self._paces[number]
            recall = {
                Lastmod.HONEST: 1.0,
                Lastmod.NOISY: site.settings.signal_recall,
                Lastmod.USELESS: 0.0,
            }[site.lastmod_habit(now)]
            told_at = site.built_at(float(heard[number])) if heard[number] else 0.0
            listened = np.clip(told_at, fetched_at[mine], now)
            ages = np.interp([now], felt.shop, felt.activity) - np.interp(
                np.stack((fetched_at[mine], listened)), felt.shop, felt.activity
            )
            hazard[mine] = rate[mine] * ((1 - recall) * (ages[0] - ages[1]) + ages[1])
        return hazard

    def _clockwork(
        self,
        offers: Rows,
        rhythm: NDArray[np.int8],
        hazard: Floats,
        period: Floats,
        fetched_at: Floats,
        now: float,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Offers whose last change is known tick from there; the phase of others is open: Poisson."""
        last = np.array([self._change.get(offer, np.nan) for offer in offers.tolist()])
        doubt = np.array([self._doubt.get(offer, 0.0) for offer in offers.tolist()])
        ticking = (rhythm == _CLOCKWORK) & np.isfinite(last)
        spread = np.hypot(_JITTER * period, doubt)
        before, after = ((at - last - period) / spread for at in (fetched_at, now))
        # -log of P(gap beyond now | gap beyond the last fetch), by the normal's upper tail
        lost = np.minimum(log_ndtr(-before) - log_ndtr(-after), CERTAIN)
        return np.where(ticking, lost, hazard), ticking

    def _sales(
        self, offers: Rows, rhythm: NDArray[np.int8], fetched_at: Floats, now: float
    ) -> tuple[Floats, Floats]:
        """Nats lost to sales and campaigns that began or ended since, and how long till the next does."""
        nats, holds = np.zeros(len(offers)), np.full(len(offers), np.inf)
        for number, site in enumerate(self._world.sites):
            mine = self._world.columns.site[offers] == number
            on_sale = mine & (rhythm == _SALE)
            starts = _FIRST_MONDAY + site.settings.sale_weekday * DAY
            starts -= site.settings.utc_offset_hours * HOUR
            phase, then = (now - starts) % WEEK, (fetched_at - starts) % WEEK
            nats[on_sale & ((then < DAY) != (phase < DAY))] += CERTAIN
            holds[on_sale] = DAY - phase if phase < DAY else WEEK - phase
            for campaign in site.settings.campaigns:
                runs = campaign.starts_at <= now < campaign.ends_at
                ran = (campaign.starts_at <= fetched_at) & (fetched_at < campaign.ends_at)
                nats[mine & (ran != runs)] -= np.log1p(-campaign.share)
        return nats, holds

    def _nats(self, rows: Rows, offers: Rows, rate: Floats) -> Floats:
        """What the waiting signals are worth: a listing's or a feed's price is sure, a lastmod as good as its site."""
        worth = np.zeros(len(rows))
        waiting = self._table.hints[rows]
        for number, site in enumerate(self._world.sites):
            settings = site.settings
            mine = self._world.columns.site[offers] == number
            # Every sitemap also announces stock, which is no change of price: 2 flips in a cycle.
            flips = 2 * settings.out_of_stock_share / (settings.restock_days * DAY)
            noisy = settings.lastmod is Lastmod.NOISY
            recall = settings.signal_recall if noisy else 1.0
            false = recall * flips + noisy * settings.false_signals_per_day / DAY
            if settings.lastmod is not Lastmod.USELESS:
                signalled = mine & ((waiting & Hint.LASTMOD) != 0)
                worth[signalled] = np.log1p(recall * rate[signalled] / false)
        sure = (waiting & (Hint.LISTING_PRICE | Hint.FEED)) != 0
        return np.where(sure, CERTAIN, np.minimum(worth, CERTAIN))
