"""Offers with prices, clicks and impressions, simulated or recorded, for the experiments of 000.

The paper's own log is not to be had: 1.3 million offers of a shopping search engine, crawled hourly,
with daily clicks.  The simulated offers follow what it tells of them: on a day 1 offer in 21 changes
its price, 1 in 76 is clicked and 1 in 7 is shown; merchants differ; rates move by hour and weekday
and drift from month to month.  The recorded prices are real; their clicks are drawn, in the same way.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.recordings_data import PriceRecording

FloatArray = NDArray[np.float64]
STEPS_PER_DAY = 12  # the paper plans every two hours
HISTORY_DAYS = 30


@dataclass(frozen=True, slots=True)
class Offers:
    """T steps, n offers, D days.  Clicks and impressions are known by the day, as in the paper."""

    name: str
    price: NDArray[np.float32]  # (T, n), NaN while the offer is not live
    day: NDArray[np.intp]  # (T,) which day a step belongs to
    group: NDArray[np.intp]  # (n,) merchant, category or hardware
    click_rate: FloatArray  # (n,) true clicks a day, for scoring only
    clicks: FloatArray  # (D, n) counted
    impressions: FloatArray  # (D, n) counted
    warm_up: int  # steps before scores count
    first_fetch_free: bool  # else an offer is stale until its first fetch


def _demand(
    n_offers: int, n_days: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """True click rates, daily click counts and daily impression counts.

    Log-normal rates whose medians and spreads give the paper's shares of offers clicked and shown.
    """
    impression_rate = rng.lognormal(np.log(0.02), 2.2, n_offers)
    click_rate = impression_rate * rng.lognormal(np.log(0.05), 0.8, n_offers)
    clicks = rng.poisson(click_rate, (n_days, n_offers)).astype(np.float64)
    impressions = rng.poisson(impression_rate, (n_days, n_offers)) + clicks
    return click_rate, clicks, impressions


def _change_rates(
    n_offers: int, n_days: int, group: NDArray[np.intp], rng: np.random.Generator
) -> FloatArray:
    """Changes a day, of shape (D, n): merchants differ, offers differ more, both drift."""
    merchant = rng.normal(0.0, 1.2, group.max() + 1)[group]
    offer = rng.normal(0.0, 1.2, n_offers)
    months = n_days // 30 + 1
    drift = rng.normal(0.0, 0.7, (months, n_offers))
    by_day = np.log(0.007) + merchant + offer + drift[np.arange(n_days) // 30]
    weekday = np.array([0.8, 0.8, 1.0, 1.8, 1.2, 0.7, 0.7])[np.arange(n_days) % 7]
    rates: FloatArray = np.exp(by_day) * weekday[:, None]
    return rates


def simulated(n_offers: int, seed: int, *, warm_up_days: int, scored_days: int) -> Offers:
    """A month of history, then the days a policy runs unscored, then the days that count.

    The crawl starts with an empty database.  The paper does not say so, but its offer-level freshness
    of 0.07 for click-weighted crawling can only be had with offers that were never fetched at all.
    """
    rng = np.random.default_rng(seed)
    n_days = HISTORY_DAYS + warm_up_days + scored_days
    group = rng.integers(0, max(n_offers // 40, 1), n_offers)
    click_rate, clicks, impressions = _demand(n_offers, n_days, rng)
    # Merchants reprice by day: 1.5 of the daily rate at 8-20 h, 0.5 at night.
    hour = np.where((np.arange(STEPS_PER_DAY) >= 4) & (np.arange(STEPS_PER_DAY) < 10), 1.5, 0.5)
    by_step = np.repeat(_change_rates(n_offers, n_days, group, rng), STEPS_PER_DAY, axis=0)
    by_step *= np.tile(hour / STEPS_PER_DAY, n_days)[:, None]
    versions = np.cumsum(rng.random(by_step.shape) < -np.expm1(-by_step), axis=0)
    day = np.repeat(np.arange(n_days), STEPS_PER_DAY)
    start = (HISTORY_DAYS + warm_up_days) * STEPS_PER_DAY
    price = versions.astype(np.float32)
    return Offers(
        "simulated",
        price,
        day,
        group,
        click_rate,
        clicks,
        impressions,
        start,
        first_fetch_free=False,
    )


def recorded(recording: PriceRecording, seed: int) -> Offers:
    """Real prices, drawn demand; offers in random order, so that ties fall at random."""
    rng = np.random.default_rng(seed)
    day = ((recording.tick_at - recording.tick_at[0]) // 86_400.0).astype(np.intp)
    order = rng.permutation(recording.price.shape[1])
    click_rate, clicks, impressions = _demand(len(order), int(day[-1]) + 1, rng)
    price, group = recording.price[:, order], recording.group[order]
    return Offers(
        recording.name,
        price,
        day,
        group,
        click_rate,
        clicks,
        impressions,
        recording.warm_up,
        first_fetch_free=True,
    )


@dataclass(frozen=True, slots=True)
class Estimates:
    """Rates a day at the start of each day, of shape (D, n), all from the month before it."""

    change: FloatArray
    click: FloatArray
    impression: FloatArray


def _daily(offers: Offers) -> tuple[FloatArray, FloatArray]:
    """Price changes and days live, per day and offer."""
    before, after = offers.price[:-1], offers.price[1:]
    both_live = ~np.isnan(before) & ~np.isnan(after)
    changed = both_live & (before != after)
    n_days, n_offers = offers.clicks.shape
    changes, live = np.zeros((n_days, n_offers)), np.zeros((n_days, n_offers))
    np.add.at(changes, offers.day[1:], changed)
    np.add.at(live, offers.day[1:], both_live)
    return changes, live / max(float(np.median(np.bincount(offers.day))), 1.0)


def _month_before(daily: FloatArray) -> FloatArray:
    """Sums over the days [d - 30, d) for each day d."""
    total = np.concatenate([np.zeros((1, daily.shape[1])), np.cumsum(daily, axis=0)])
    days = np.arange(len(daily))
    sums: FloatArray = total[days] - total[np.maximum(days - HISTORY_DAYS, 0)]
    return sums


def by_history(offers: Offers) -> Estimates:
    """What the paper marks h: plain averages over the last month, zero where nothing was seen."""
    changes, _ = _daily(offers)
    seen_days = np.minimum(np.arange(len(changes)), HISTORY_DAYS).clip(1)[:, None]
    return Estimates(
        *(_month_before(x) / seen_days for x in (changes, offers.clicks, offers.impressions))
    )


def by_model(offers: Offers) -> Estimates:
    """In place of what the paper marks ml, a neural network on metadata and history: empirical Bayes.

    (1 + count) / (1 / group rate + days seen); the group's rate is shrunk to that of all offers by
    ten offers' worth.  It shares the network's point: smooth, and never zero for a new offer.
    """
    changes, live = _daily(offers)
    listed = np.ones_like(live)
    return Estimates(
        _shrunk(_month_before(changes), _month_before(live), offers.group),
        _shrunk(_month_before(offers.clicks), _month_before(listed), offers.group),
        _shrunk(_month_before(offers.impressions), _month_before(listed), offers.group),
    )


def _shrunk(counts: FloatArray, exposure: FloatArray, group: NDArray[np.intp]) -> FloatArray:
    n_groups = int(group.max()) + 1
    members = np.zeros((len(group), n_groups))
    members[np.arange(len(group)), group] = 1.0
    overall = (counts.sum(axis=1) + 1.0) / (exposure.sum(axis=1) + 30.0)
    typical = 10.0 * HISTORY_DAYS
    in_group = (counts @ members + overall[:, None] * typical) / (exposure @ members + typical)
    prior = in_group[:, group]
    rates: FloatArray = (1.0 + counts) / (1.0 / prior + exposure)
    return rates
