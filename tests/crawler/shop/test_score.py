"""The score: a perfect crawl scores 1, a frozen one what the truth leaves of it."""

import math

import numpy as np
import pytest

from crawler.shop.score import (
    FirstSight,
    Sighting,
    StoredPrice,
    score_changes,
    score_discovery,
    score_freshness,
    score_mean_freshness,
)
from crawler.shop.settings import DAY, varied_shop
from crawler.shop.world import ShopWorld

START = 1_700_000_000.0
WORLD = ShopWorld(varied_shop(starts_at=START, days=14, offers=40), seed=4)


def snapshot(at: float) -> list[StoredPrice]:
    live = WORLD.live_offers(at)
    return [
        StoredPrice(WORLD.offer_url(offer), price, WORLD.currency(offer))
        for offer, price in zip(live.offer.tolist(), live.price_micros.tolist(), strict=True)
    ]


def test_a_perfect_copy_is_wholly_fresh() -> None:
    score = score_freshness(WORLD, snapshot(START), START)
    assert score.freshness == score.coverage == score.freshness_of_known == 1.0
    assert score.ghosts == 0


def test_an_old_copy_is_stale_by_what_changed() -> None:
    later = START + 3 * DAY
    score = score_freshness(WORLD, snapshot(START), later)
    now = {page.url: page.price_micros for page in snapshot(later)}
    old = {page.url: page.price_micros for page in snapshot(START)}
    assert score.fresh == sum(now[url] == old[url] for url in now.keys() & old.keys())
    assert score.ghosts == len(old.keys() - now.keys()) > 0
    assert score.live == len(now)


def test_a_wrong_currency_is_not_fresh_and_a_page_known_as_gone_is_no_ghost() -> None:
    wrong = [StoredPrice(page.url, page.price_micros, "XXX") for page in snapshot(START)]
    assert score_freshness(WORLD, wrong, START).fresh == 0
    later = START + 10 * DAY
    gone = [
        StoredPrice(page.url, page.price_micros, page.currency, gone=True)
        for page in snapshot(START)
    ]
    assert score_freshness(WORLD, gone, later).ghosts == 0
    other = [StoredPrice("http://garden.shop.test/about", 5, "EUR")]
    assert score_freshness(WORLD, other, START).known == 0


def sightings(delay: float) -> list[Sighting]:
    changes = WORLD.changes_between(START, START + 7 * DAY)
    return [
        Sighting(WORLD.offer_url(offer), at + delay, price)
        for offer, at, price in zip(
            changes.offer.tolist(), changes.at.tolist(), changes.price_micros.tolist(), strict=True
        )
    ]


def test_changes_seen_at_once_are_all_caught() -> None:
    score = score_changes(WORLD, sightings(0.0), START, START + 7 * DAY)
    assert score.share == 1.0
    assert score.median_delay == 0.0


def test_a_change_seen_after_the_next_one_is_missed() -> None:
    changes = WORLD.changes_between(START, START + 7 * DAY)
    hour = 3_600.0
    in_time = np.sum(
        (changes.until_at - changes.at > hour) & (changes.at + hour <= START + 7 * DAY)
    )
    score = score_changes(WORLD, sightings(hour), START, START + 7 * DAY)
    assert 0 < score.caught < score.happened
    assert score.caught == pytest.approx(in_time, rel=0.02)  # a price may come back within the hour
    assert score.median_delay == pytest.approx(hour)


def everything(at: float) -> list[Sighting]:
    live = WORLD.live_offers(at)
    return [
        Sighting(WORLD.offer_url(offer), at, price)
        for offer, price in zip(live.offer.tolist(), live.price_micros.tolist(), strict=True)
    ]


def test_mean_freshness_is_the_average_of_many_moments() -> None:
    since, until = START + DAY, START + 3 * DAY
    sweeps = everything(START) + everything(START + 2 * DAY)
    moments = np.arange(since, until, 600.0) + 0.5
    sampled = []
    for at in moments.tolist():
        stored = {s.url: s for s in sweeps if s.at <= at}
        known = [
            StoredPrice(s.url, s.price_micros, WORLD.currency(WORLD.find_offer(s.url) or 0))
            for s in stored.values()
        ]
        sampled.append(score_freshness(WORLD, known, at))
    average = sum(s.fresh for s in sampled) / sum(s.live for s in sampled)
    exact = score_mean_freshness(WORLD, sweeps, since, until)
    assert 0.3 < exact < 0.95
    assert exact == pytest.approx(average, abs=0.003)


def test_mean_freshness_is_one_for_a_crawl_that_sees_everything_at_once() -> None:
    prices = WORLD.prices
    every = [
        Sighting(WORLD.offer_url(offer), at, price)
        for offer, at, price in zip(
            prices.offer.tolist(), prices.at.tolist(), prices.price_micros.tolist(), strict=True
        )
    ]
    assert score_mean_freshness(WORLD, every, START, START + 14 * DAY) == pytest.approx(1.0)
    assert score_mean_freshness(WORLD, [], START, START + 14 * DAY) == 0.0


def test_discovery_counts_births_and_their_delays() -> None:
    born = WORLD.columns.born_at
    fresh = np.flatnonzero((born > START) & (born <= START + 10 * DAY)).tolist()
    sights = [FirstSight(WORLD.offer_url(offer), born[offer] + 600.0) for offer in fresh[::2]]
    score = score_discovery(WORLD, sights, START, START + 10 * DAY)
    assert score.born == len(fresh)
    assert score.found == len(sights)
    assert score.median_delay == score.p90_delay == 600.0


def test_a_page_seen_after_its_offer_ended_is_not_found() -> None:
    columns = WORLD.columns
    short = np.flatnonzero((columns.born_at > START) & (columns.gone_at < START + 10 * DAY))
    late = [FirstSight(WORLD.offer_url(int(k)), float(columns.gone_at[k])) for k in short]
    assert len(late) > 5
    assert score_discovery(WORLD, late, START, START + 10 * DAY).found == 0


def test_an_empty_crawl_scores_without_fault() -> None:
    assert score_freshness(WORLD, [], START).freshness == 0.0
    assert score_changes(WORLD, [], START, START).share != 0.0
    assert math.isnan(score_changes(WORLD, [], START, START + DAY).median_delay)
    assert score_discovery(WORLD, [], START, START + DAY).found == 0
