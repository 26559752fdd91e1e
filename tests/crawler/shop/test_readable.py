"""The crawler's own reader gets the truth from every template of the simulated shop."""

from dataclasses import replace

import pytest

from crawler.reading.facts import Availability, PageKind, Trouble
from crawler.reading.page import read_page
from crawler.shop.respond import respond
from crawler.shop.settings import DAY, Vanish, Wall, varied_shop
from crawler.shop.world import ShopWorld

START = 1_700_000_000.0
WALL = Wall(START + 5 * DAY, START + 6 * DAY)
SETTINGS = varied_shop(starts_at=START, days=10, offers=25)
SETTINGS = replace(
    SETTINGS,
    sites=tuple(
        replace(site, busy_share=0.0, walls=(WALL,), vanish=Vanish.SOFT) for site in SETTINGS.sites
    ),
)
WORLD = ShopWorld(SETTINGS, seed=9)
SITES = pytest.mark.parametrize("number", range(len(WORLD.sites)))


@SITES
def test_price_currency_and_stock_are_read_as_they_are(number: int) -> None:
    site, at = WORLD.sites[number], START + 3 * DAY
    alive = [row for row in range(len(site)) if site.is_live(row, at)]
    for row in alive:
        reply = respond(WORLD, site.host, site.path(row), {}, at)
        facts = read_page(reply.body, url=f"http://{site.host}{site.path(row)}")
        (offer,) = facts.offers
        in_stock = site.life(row).in_stock(at)
        assert facts.kind is PageKind.OFFER
        assert offer.price_micros == site.life(row).price(at)
        assert offer.currency == site.settings.currency
        assert offer.availability is (
            Availability.IN_STOCK if in_stock else Availability.OUT_OF_STOCK
        )


@SITES
def test_a_listing_gives_every_card_with_its_price(number: int) -> None:
    site, at = WORLD.sites[number], START + 3 * DAY
    reply = respond(WORLD, site.host, site.category_path(0), {}, at)
    facts = read_page(reply.body, url=f"http://{site.host}{site.category_path(0)}")
    alive = [row for row in range(len(site)) if site.category[row] == 0 and site.is_live(row, at)]
    shown = alive[::-1][: site.settings.listing_offers]
    read = {card.url: card.price_micros for card in facts.cards}
    assert facts.kind is PageKind.LISTING
    assert read == {
        f"http://{site.host}{site.path(row)}": site.life(row).price(at) for row in shown
    }


@SITES
def test_walls_and_apologies_are_named_and_hold_no_offer(number: int) -> None:
    site = WORLD.sites[number]
    gone = int(site.gone_at.argmin())
    url = f"http://{site.host}{site.path(gone)}"
    for at, trouble in (
        (WALL.starts_at, Trouble.BOT_WALL),
        (float(site.gone_at[gone]), Trouble.SOFT_404),
    ):
        reply = respond(WORLD, site.host, site.path(gone), {}, at)
        facts = read_page(reply.body, url=url, status=reply.status)
        assert reply.status == 200
        assert facts.trouble is trouble
        assert facts.offers == ()
