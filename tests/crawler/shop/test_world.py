"""The simulated world: exact, repeatable, and as varied as it claims."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.shop.assortment import RHYTHMS
from crawler.shop.lives import OfferLife
from crawler.shop.settings import (
    DAY,
    HOUR,
    Campaign,
    Lastmod,
    Rhythm,
    Shift,
    ShopSettings,
    SiteSettings,
    varied_shop,
)
from crawler.shop.site import Site
from crawler.shop.views import FeedPage, GonePage, ListingPage, OfferPage, SitemapPage
from crawler.shop.world import ShopWorld

START = 1_700_000_000.0
WORLD = ShopWorld(varied_shop(starts_at=START, days=28, offers=60), seed=7)


def one_site(**dials: object) -> Site:
    dials = {"offers": 200, **dials}
    site = replace(SiteSettings("one.test"), **dials)  # type: ignore[arg-type]
    return ShopWorld(ShopSettings((site,), START, days=28), seed=3).sites[0]


def lives(site: Site, rhythm: Rhythm) -> list[OfferLife]:
    rows = np.flatnonzero(site.rhythm == RHYTHMS.index(rhythm))
    return [site.life(int(row)) for row in rows]


def test_the_same_seed_gives_the_same_world_in_any_order_of_asking() -> None:
    twin = ShopWorld(WORLD.settings, seed=7)
    for offer in reversed(range(len(twin.columns.site))):
        twin.price_at(offer, START + DAY)
    mine, theirs = WORLD.changes_between(0, np.inf), twin.changes_between(0, np.inf)
    assert np.array_equal(mine.at, theirs.at)
    assert np.array_equal(mine.price_micros, theirs.price_micros)


def test_another_seed_gives_another_world() -> None:
    other = ShopWorld(WORLD.settings, seed=8)
    assert not np.array_equal(
        WORLD.live_offers(START).price_micros, other.live_offers(START).price_micros
    )


@settings(max_examples=60, deadline=None)
@given(after=st.floats(0, 28 * DAY), pick=st.integers(0, 10_000))
def test_columns_history_and_single_queries_tell_the_same_price(after: float, pick: int) -> None:
    at = START + after
    live = WORLD.live_offers(at)
    row = pick % len(live.offer)
    offer, price = int(live.offer[row]), int(live.price_micros[row])
    assert WORLD.price_at(offer, at) == price
    history = WORLD.price_history(offer)
    holds = (history.at <= at) & (history.until_at > at)
    assert history.price_micros[holds].tolist() == [price]


def test_changes_between_holds_every_change_and_nothing_else() -> None:
    changes = WORLD.changes_between(START, START + 7 * DAY)
    assert len(changes.at) > 500
    assert np.all(np.diff(changes.at) >= 0)
    for k in range(len(changes.at)):
        offer, at = int(changes.offer[k]), float(changes.at[k])
        assert WORLD.price_at(offer, at) == changes.price_micros[k]
        assert WORLD.price_at(offer, at - 1) not in (None, changes.price_micros[k])
    prices = dict(zip(*_live(START), strict=True))
    prices |= dict(zip(changes.offer.tolist(), changes.price_micros.tolist(), strict=True))
    still = dict(zip(*_live(START + 7 * DAY), strict=True))
    old = [offer for offer in still if WORLD.columns.born_at[offer] <= START]
    assert [prices[offer] for offer in old] == [still[offer] for offer in old]


def _live(at: float) -> tuple[list[int], list[int]]:
    live = WORLD.live_offers(at)
    return live.offer.tolist(), live.price_micros.tolist()


def test_no_price_holds_before_birth_nor_after_the_end() -> None:
    columns = WORLD.columns
    offers = np.flatnonzero((columns.born_at > START) & (columns.gone_at < START + 28 * DAY))
    born, gone = columns.born_at[offers], columns.gone_at[offers]
    for outside in (born - 1, gone, gone + DAY, np.full(len(offers), np.inf)):
        assert np.all(WORLD.price_rows(offers, outside) == -1)
    for inside in (born, born + 0.5, gone - 1, gone - 0.001):
        rows = WORLD.price_rows(offers, inside)
        assert np.array_equal(WORLD.prices.offer[rows], offers)
        assert np.all((WORLD.prices.at[rows] <= inside) & (inside < WORLD.prices.until_at[rows]))


def test_every_moment_is_a_whole_second() -> None:
    changes = WORLD.changes_between(-np.inf, np.inf)
    assert np.all(changes.at == np.floor(changes.at))
    assert np.all(WORLD.columns.born_at == np.floor(WORLD.columns.born_at))


def test_clockwork_gaps_are_even_and_poisson_gaps_are_not() -> None:
    site = one_site(clockwork_share=0.5, fast_share=0.5, sale_share=0.0)

    def spread(life: OfferLife) -> float:
        gaps = np.diff(life.price_at[1:])
        return float(gaps.std() / gaps.mean()) if len(gaps) > 20 else np.nan

    assert np.nanmedian([spread(life) for life in lives(site, Rhythm.CLOCKWORK)]) < 0.1
    assert np.nanmedian([spread(life) for life in lives(site, Rhythm.FAST)]) > 0.7


def test_prices_move_at_the_stated_rate_and_by_the_local_hour() -> None:
    site = one_site(fast_share=1.0, clockwork_share=0.0, sale_share=0.0, utc_offset_hours=6.0)
    moved = np.concatenate([life.price_at[1:] for life in lives(site, Rhythm.FAST)])
    days = np.array([min(g, START + 28 * DAY) for g in site.gone_at]) - np.maximum(
        site.born_at, START - 14 * DAY
    )
    expected = float((site.changes_per_day * days / DAY).sum())
    assert 0.9 < len(moved) / expected < 1.02  # a few draws round to the price there was
    hours = (moved + 6 * HOUR) % DAY // HOUR
    assert np.mean(hours == 9) > 5 * np.mean(hours == 2)


def test_the_weekly_sale_is_on_its_day_and_the_campaign_is_shop_wide() -> None:
    campaign = Campaign(START + 9.5 * DAY, START + 12 * DAY, share=1.0, factor=0.7)
    site = one_site(
        fast_share=0.0,
        clockwork_share=0.0,
        sale_share=0.5,
        slow_per_day=1e-6,
        campaigns=(campaign,),
    )
    starts = np.concatenate([life.price_at[1:] for life in lives(site, Rhythm.SALE)])
    thursdays = (starts // DAY) % 7 == 0  # the epoch was a Thursday
    assert np.mean(thursdays | (np.isin(starts, [campaign.starts_at, campaign.ends_at]))) > 0.4
    alive = [n for n in range(len(site)) if site.is_live(n, START + 9 * DAY)]
    dropped = [
        site.life(n).price(START + 10 * DAY) < site.life(n).price(START + 9 * DAY) for n in alive
    ]
    assert np.mean(dropped) > 0.95


def test_a_shift_multiplies_the_rate_and_kills_sources() -> None:
    shift = Shift(START + 14 * DAY, rate_factor=8.0, lastmod=Lastmod.USELESS, dead_categories=2)
    site = one_site(
        fast_share=1.0, clockwork_share=0.0, sale_share=0.0, fast_per_day=0.5, shift=shift
    )
    moved = np.concatenate([life.price_at[1:] for life in lives(site, Rhythm.FAST)])
    before = np.sum((moved > START) & (moved < shift.at))
    after = np.sum(moved >= shift.at)
    assert 6 < after / before < 10
    assert np.all(site.category[site.born_at >= shift.at] >= 2)
    assert np.any(site.category[(site.born_at > START) & (site.born_at < shift.at)] < 2)
    assert site.lastmod_habit(shift.at - 1) is Lastmod.HONEST
    assert site.lastmod_habit(shift.at) is Lastmod.USELESS


def test_offers_come_and_go_in_balance() -> None:
    sizes = [len(WORLD.live_offers(START + day * DAY).offer) for day in range(28)]
    assert min(sizes) > 0.75 * 300
    assert max(sizes) < 1.25 * 300
    born = WORLD.columns.born_at
    assert np.sum((born > START) & (born < START + 28 * DAY)) > 100


def test_an_offer_page_comes_and_goes_with_its_offer() -> None:
    site = WORLD.sites[0]
    number = int(np.flatnonzero((site.born_at > START) & (site.gone_at < START + 28 * DAY))[0])
    path, born, gone = site.path(number), float(site.born_at[number]), float(site.gone_at[number])
    assert site.page(path, born - 1) is None
    assert isinstance(site.page(path, born), OfferPage)
    assert isinstance(site.page(path, gone - 1), OfferPage)
    assert isinstance(site.page(path, gone), GonePage)


def test_every_live_offer_is_on_exactly_one_category_page_and_in_the_sitemap() -> None:
    site, at = WORLD.sites[1], START + 6 * DAY + 5
    listed: list[str] = []
    for category in range(site.settings.categories):
        number, last = 1, 1
        while number <= last:
            page = site.page(site.category_path(category, number), at)
            assert isinstance(page, ListingPage)
            listed += [card.path for card in page.cards]
            number, last = number + 1, page.last
    alive = [site.path(n) for n in range(len(site)) if site.is_live(n, at)]
    assert sorted(listed) == sorted(alive)
    assert site.page(site.category_path(0, last + 100), at) is None

    index = site.page("/sitemap.xml", at)
    assert isinstance(index, SitemapPage)
    maps = [site.page(entry.path, at) for entry in index.entries]
    named = {e.path for m in maps if isinstance(m, SitemapPage) for e in m.entries}
    built = [site.path(n) for n in range(len(site)) if site.is_live(n, site.built_at(at))]
    assert set(built) <= named


def test_home_and_feed_show_the_newest_first() -> None:
    site, at = WORLD.sites[2], START + 10 * DAY
    feed, home = site.page("/feed.xml", at), site.page("/", at)
    assert isinstance(feed, FeedPage)
    assert isinstance(home, ListingPage)
    alive = [n for n in range(len(site)) if site.is_live(n, at)]
    assert [item.path for item in feed.items] == [site.path(n) for n in alive[::-1][:30]]
    assert [item.at for item in feed.items] == site.born_at[alive[::-1][:30]].tolist()
    assert [card.path for card in home.cards] == [site.path(n) for n in alive[::-1][:12]]


def test_the_deals_are_the_last_drops_of_live_offers() -> None:
    site, at = WORLD.sites[0], START + 10 * DAY
    page = site.page("/deals.xml", at)
    assert isinstance(page, FeedPage)
    drops = {}
    for number in (n for n in range(len(site)) if site.is_live(n, at)):
        life = site.life(number)
        falls = life.price_at[1:][(np.diff(life.price_micros) < 0) & (life.price_at[1:] <= at)]
        if len(falls):
            drops[site.path(number)] = float(falls[-1])
    newest = sorted(drops.values(), reverse=True)[:30]
    assert [item.at for item in page.items] == newest
    assert all(drops[item.path] == item.at for item in page.items)


def _announced(habit: Lastmod, days: int) -> tuple[float, float]:
    """Precision and recall of lastmod against true changes, day by day."""
    site = one_site(lastmod=habit, offers=80, fast_share=0.0)
    hits = claims = changes = 0
    for day in range(1, days):
        at = site.built_at(START + day * DAY)
        page = site.page("/sitemap-1.xml", at)
        assert isinstance(page, SitemapPage)
        for entry in page.entries:
            number = site.find(entry.path)
            assert number is not None
            changed = site.life(number).changed_at(at) > at - DAY
            claimed = entry.changed_at is not None and entry.changed_at > at - DAY
            hits, claims, changes = (
                hits + (changed and claimed),
                claims + claimed,
                changes + changed,
            )
    return hits / claims, hits / changes


def test_honest_noisy_and_useless_sitemaps_differ_measurably() -> None:
    honest, noisy, useless = (_announced(habit, 20) for habit in Lastmod)
    assert honest == (1.0, 1.0)
    assert 0.4 < noisy[0] < 0.9
    assert 0.5 < noisy[1] < 0.95
    assert useless[1] == 1.0
    assert useless[0] < noisy[0] - 0.1


@pytest.mark.parametrize("target", ["/p/nothing-3.html", "/p/", "/c/none", "/c/garden?page=0",
    "/c/garden?page=²", "/sitemap-99.xml", "/nowhere", "/p/x-99999999999999999999.html"])  # fmt: skip
def test_there_is_no_such_page(target: str) -> None:
    assert WORLD.page("garden.shop.test", target, START) is None


def test_urls_and_offers_map_both_ways() -> None:
    addresses = {site.host: f"http://127.0.0.{k}:8000" for k, site in enumerate(WORLD.sites, 1)}
    for offer in range(0, len(WORLD.columns.site), 37):
        assert WORLD.find_offer(WORLD.offer_url(offer)) == offer
        assert WORLD.find_offer(WORLD.offer_url(offer, addresses), addresses) == offer
    assert WORLD.find_offer("http://elsewhere.test/p/x-1.html") is None
    assert WORLD.find_offer("http://127.0.0.9:8000/", addresses) is None
