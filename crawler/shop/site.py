"""One simulated site: which offers exist, and what each of its paths shows at a moment."""

import re
from functools import cached_property, lru_cache
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

from crawler.shop import goods
from crawler.shop.assortment import (
    RHYTHMS,
    draw_base_prices,
    draw_births_and_ends,
    draw_categories,
    draw_rates,
    draw_rhythms,
)
from crawler.shop.lives import OfferLife, OfferTraits, Times, live
from crawler.shop.settings import DAY, Lastmod, ShopSettings, SiteSettings
from crawler.shop.views import (
    Card,
    FeedItem,
    FeedPage,
    GonePage,
    ListingPage,
    OfferPage,
    ShopPage,
    SitemapEntry,
    SitemapPage,
    TextPage,
)

Numbers = NDArray[np.int64]

TEXT_PAGES = ("about", "contact", "delivery", "imprint")
FORBIDDEN = ("/account/", "/checkout/", "/search")
_NEW_ARRIVALS = 12
_FEED_ITEMS = 30
_RELATED = 4


class Site:
    """The offers of one site as columns, in order of birth; an offer is its row number."""

    def __init__(self, shop: ShopSettings, settings: SiteSettings, seed: tuple[int, int]) -> None:
        self.shop = shop
        self.settings = settings
        self._seed = seed
        rng = np.random.default_rng(seed)
        self.born_at, self.gone_at = draw_births_and_ends(shop, settings, rng)
        self.rhythm = draw_rhythms(settings, len(self), rng)
        self.changes_per_day = draw_rates(settings, self.rhythm, rng)
        self.category = draw_categories(settings, self.born_at, rng)
        self.base_price = draw_base_prices(len(self), rng)
        self._lives: dict[int, OfferLife] = {}

    def __len__(self) -> int:
        return len(self.born_at)

    @property
    def host(self) -> str:
        return self.settings.host

    def life(self, number: int) -> OfferLife:
        if number not in self._lives:
            traits = OfferTraits(
                float(self.born_at[number]),
                float(self.gone_at[number]),
                RHYTHMS[self.rhythm[number]],
                float(self.changes_per_day[number]),
                float(self.base_price[number]),
            )
            rng = np.random.default_rng((*self._seed, number))
            self._lives[number] = live(self.shop, self.settings, traits, rng)
        return self._lives[number]

    def is_live(self, number: int, at: float) -> bool:
        return bool(self.born_at[number] <= at < self.gone_at[number])

    def path(self, number: int) -> str:
        return _offer_path(number)

    def find(self, path: str) -> int | None:
        """The offer whose page has this path, alive or not."""
        found = re.fullmatch(r"/p/[a-z0-9-]*?([0-9]+)\.html", path)
        number = int(found[1]) if found else -1
        return number if 0 <= number < len(self) and _offer_path(number) == path else None

    def category_path(self, category: int, page: int = 1) -> str:
        path = f"/c/{goods.slug(category_name(category))}"
        return path if page == 1 else f"{path}?page={page}"

    def page(self, target: str, at: float) -> ShopPage | None:
        """What `target` (path and query) shows at `at`; None where the site has no such page (yet)."""
        parts = urlsplit(target)
        path = parts.path
        if path == "/":
            return ListingPage("/", None, self._cards(self.newest(at, _NEW_ARRIVALS), at), 1, 1)
        if path.startswith("/p/"):
            return self._offer_page(self.find(path), at)
        if path.startswith("/c/"):
            return self._category_page(path, parts.query, at)
        if path.startswith("/sitemap"):
            return self._sitemap(path, at)
        if path == "/feed.xml":
            news = [
                (number, float(self.born_at[number])) for number in self.newest(at, _FEED_ITEMS)
            ]
            return FeedPage(path, self._items(news), is_atom=False)
        if path == "/deals.xml":
            return FeedPage(path, self._items(self.newest_drops(at, _FEED_ITEMS)), is_atom=True)
        if path.strip("/") in TEXT_PAGES or path.startswith(FORBIDDEN):
            return TextPage(path, path.strip("/").replace("/", " ").title())
        return None

    def newest(self, at: float, count: int) -> list[int]:
        """The youngest live offers, newest first."""
        end = int(np.searchsorted(self.born_at, at, "right"))
        found: list[int] = []
        while end > 0 and len(found) < count:
            start = max(0, end - 4 * count)
            alive = start + np.flatnonzero(self.gone_at[start:end] > at)
            found += alive[::-1].tolist()
            end = start
        return found[:count]

    def newest_drops(self, at: float, count: int) -> list[tuple[int, float]]:
        """The last price drops of offers still alive, newest first, each offer once."""
        drop_at, dropped = self._drops
        found: dict[int, float] = {}
        for k in range(int(drop_at.searchsorted(at, "right")) - 1, -1, -1):
            number = int(dropped[k])
            if self.is_live(number, at):
                found.setdefault(number, float(drop_at[k]))
            if len(found) == count:
                break
        return list(found.items())

    def lastmod_habit(self, at: float) -> Lastmod:
        shift = self.settings.shift
        if shift is not None and shift.lastmod is not None and at >= shift.at:
            return shift.lastmod
        return self.settings.lastmod

    def built_at(self, at: float) -> float:
        """When the sitemaps served at `at` were built."""
        return at // self.settings.sitemap_every * self.settings.sitemap_every

    def _offer_page(self, number: int | None, at: float) -> OfferPage | GonePage | None:
        if number is None or at < self.born_at[number]:
            return None
        if at >= self.gone_at[number]:
            return GonePage(number, int(self.category[number]))
        life = self.life(number)
        today = at // DAY * DAY  # shops rebuild the block of related offers once a day
        return OfferPage(
            number,
            self.path(number),
            goods.title(number),
            int(self.category[number]),
            life.price(at),
            life.old_price(at),
            life.in_stock(at),
            max(life.changed_at(at), today),
            self._cards(self._related(number, today), today),
        )

    def _related(self, number: int, at: float) -> list[int]:
        """The neighbours in the same category, by order of birth, alive at `at`."""
        row = self._by_category[int(self.category[number])]
        place = int(np.searchsorted(row, number))
        near = row[max(0, place - _RELATED) : place + _RELATED + 1].tolist()
        return [other for other in near if other != number and self.is_live(other, at)][:_RELATED]

    def _category_page(self, path: str, query: str, at: float) -> ListingPage | None:
        category = self._category_of_path.get(path)
        asked = parse_qs(query).get("page", ["1"])[0]
        if category is None or not (asked.isascii() and asked.isdigit()):
            return None
        row = self._by_category[category]
        alive = row[(self.born_at[row] <= at) & (self.gone_at[row] > at)][::-1]
        size = self.settings.listing_offers
        last = max(1, -(-len(alive) // size))
        page = int(asked)
        if not 1 <= page <= last:
            return None
        shown = alive[(page - 1) * size : page * size].tolist()
        return ListingPage(path, category, self._cards(shown, at), page, last)

    def _cards(self, numbers: list[int], at: float) -> tuple[Card, ...]:
        return tuple(
            Card(self.path(number), goods.title(number), life.price(at), life.old_price(at))
            for number in numbers
            for life in (self.life(number),)
        )

    def _items(self, news: list[tuple[int, float]]) -> tuple[FeedItem, ...]:
        return tuple(FeedItem(self.path(number), goods.title(number), at) for number, at in news)

    def _sitemap(self, path: str, at: float) -> SitemapPage | None:
        built_at = self.built_at(at)
        chunks = -(-int(np.searchsorted(self.born_at, built_at, "right")) // self._chunk)
        if path == "/sitemap.xml":
            names = ["pages", *range(1, chunks + 1)]
            entries = tuple(SitemapEntry(f"/sitemap-{name}.xml", None) for name in names)
            return SitemapPage(entries, built_at, is_index=True)
        found = re.fullmatch(r"/sitemap-(pages|[1-9][0-9]{0,8})\.xml", path)
        if found is None:
            return None
        if found[1] == "pages":
            return SitemapPage(self._fixed_entries(), built_at, is_index=False)
        if int(found[1]) > chunks:
            return None
        return SitemapPage(
            self._offer_entries(int(found[1]) - 1, built_at), built_at, is_index=False
        )

    @property
    def _chunk(self) -> int:
        return self.settings.sitemap_offers

    def _fixed_entries(self) -> tuple[SitemapEntry, ...]:
        paths = ["/", *self._category_of_path, *(f"/{name}" for name in TEXT_PAGES)]
        return tuple(SitemapEntry(path, None) for path in paths)

    def _offer_entries(self, chunk: int, built_at: float) -> tuple[SitemapEntry, ...]:
        rows = range(chunk * self._chunk, min(len(self), (chunk + 1) * self._chunk))
        useless = self.lastmod_habit(built_at) is Lastmod.USELESS
        return tuple(
            SitemapEntry(
                self.path(row), built_at if useless else self.life(row).announced(built_at)
            )
            for row in rows
            if self.is_live(row, built_at)
        )

    @cached_property
    def _drops(self) -> tuple[Times, Numbers]:
        """When a price fell, and whose, in order of time."""
        lives = [self.life(number) for number in range(len(self))]
        falls = [np.flatnonzero(np.diff(life.price_micros) < 0) + 1 for life in lives]
        at = np.concatenate([life.price_at[k] for life, k in zip(lives, falls, strict=True)])
        order = np.argsort(at, kind="stable")
        whose = np.repeat(np.arange(len(lives)), [len(k) for k in falls])
        return at[order], whose[order]

    @cached_property
    def _by_category(self) -> list[Numbers]:
        return [np.flatnonzero(self.category == k) for k in range(self.settings.categories)]

    @cached_property
    def _category_of_path(self) -> dict[str, int]:
        return {self.category_path(k): k for k in range(self.settings.categories)}


def category_name(category: int) -> str:
    turn, which = divmod(category, len(goods.CATEGORIES))
    return goods.CATEGORIES[which] if turn == 0 else f"{goods.CATEGORIES[which]} {turn + 1}"


@lru_cache(maxsize=1 << 16)
def _offer_path(number: int) -> str:
    return f"/p/{goods.slug(goods.title(number))}-{number}.html"
