"""Scores against what can be reckoned by hand, and the laws they keep."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.archives.score import Crawled, Score, score, segments_of
from crawler.archives.truth import Truth
from tests.crawler.archives.recorded_prices import HOUR, truth_of

END = 10 * HOUR


def crawled(
    prices: list[tuple[int, float, int]],
    *,
    found: list[tuple[int, float]] | None = None,
    fetches: list[tuple[float, bool]] | None = None,
) -> Crawled:
    seen = found if found is not None else [(offer, at) for offer, at, _ in prices]
    made = fetches if fetches is not None else [(at, False) for _, at, _ in prices]
    return Crawled(
        offer=np.array([row[0] for row in prices], np.int64),
        at=np.array([row[1] for row in prices], np.float64),
        price_micros=np.array([row[2] for row in prices], np.int64),
        found=np.array([row[0] for row in seen], np.int64),
        found_at=np.array([row[1] for row in seen], np.float64),
        fetch_at=np.array([row[0] for row in made], np.float64),
        discovers=np.array([row[1] for row in made], np.bool_),
    )


def judged(truth: Truth, seen: Crawled, *, since: float = 0.0) -> Score:
    return score(truth, seen, since=since, until=END, windows=5)


ONE = truth_of([(0, 0.0, 4 * HOUR, 10), (0, 4 * HOUR, np.inf, 12)], until=END)


def test_freshness_is_the_share_of_an_offers_life_with_the_true_price() -> None:
    result = judged(ONE, crawled([(0, 1 * HOUR, 10), (0, 6 * HOUR, 12)]))
    assert result.freshness == pytest.approx((3 + 4) / 10)
    assert result.coverage == pytest.approx(9 / 10)
    assert result.freshness_of_known == pytest.approx(7 / 9)


def test_a_stale_price_ages_from_the_change_that_made_it_so() -> None:
    result = judged(ONE, crawled([(0, 1 * HOUR, 10), (0, 6 * HOUR, 12)]))
    assert result.stale_hours == pytest.approx(1.0)  # from 0 to 2 hours, evenly


def test_a_change_is_caught_when_stored_before_the_next_and_its_delay_is_kept() -> None:
    result = judged(ONE, crawled([(0, 1 * HOUR, 10), (0, 6 * HOUR, 12)]))
    assert (result.changes, result.caught) == (1, 1)
    assert result.catch_hours == pytest.approx(2.0)
    missed = judged(ONE, crawled([(0, 1 * HOUR, 10)]))
    assert (missed.changes, missed.caught) == (1, 0)


def test_what_lies_before_the_warm_ups_end_does_not_count() -> None:
    result = judged(ONE, crawled([(0, 1 * HOUR, 10), (0, 6 * HOUR, 12)]), since=5 * HOUR)
    assert result.freshness == pytest.approx(4 / 5)
    assert result.changes == 0
    assert result.fetches == 1


def test_an_offer_that_is_gone_is_neither_fresh_nor_stale() -> None:
    truth = truth_of([(0, 0.0, 5 * HOUR, 10), (1, 0.0, np.inf, 20)], until=END)
    result = judged(truth, crawled([(0, 0.0, 10), (1, 0.0, 20)]))
    assert result.freshness == 1.0


def test_an_offer_is_found_in_time_only_while_it_lives() -> None:
    truth = truth_of(
        [(0, 0.0, np.inf, 1), (1, 2 * HOUR, 4 * HOUR, 1), (2, 2 * HOUR, np.inf, 1)], until=END
    )
    seen = crawled(
        [],
        found=[(0, 0.0), (1, 5 * HOUR), (2, 5 * HOUR)],
        fetches=[(HOUR, True), (5 * HOUR, True), (6 * HOUR, False)],
    )
    result = judged(truth, seen)
    # Offer 0 is what the first capture shows: not new.
    assert (result.born, result.found) == (2, 1)
    assert result.discovery_p90_hours == pytest.approx(3.0)
    assert result.overhead == pytest.approx(2.0)


def test_weights_move_freshness_towards_the_offers_that_matter() -> None:
    truth = truth_of([(0, 0.0, np.inf, 1), (1, 0.0, np.inf, 1)], until=END)
    heavy = replace(truth, weight=np.array([3.0, 1.0]))
    result = judged(heavy, crawled([(0, 0.0, 1)]))
    assert result.freshness == pytest.approx(0.5)
    assert result.weighted_freshness == pytest.approx(0.75)


def test_a_crawl_that_stored_nothing_has_a_score() -> None:
    result = judged(ONE, crawled([]))
    assert result.freshness == 0.0
    assert math.isnan(result.stale_hours)


def test_the_oracle_takes_the_price_that_stays_true_longest() -> None:
    truth = truth_of(
        [(0, 0.0, 2 * HOUR, 1), (0, 2 * HOUR, np.inf, 2), (1, 0.0, np.inf, 5)], until=END
    )
    result = judged(truth, crawled([(0, 0.0, 1)]))
    assert result.oracle_freshness == pytest.approx(0.5)  # all of offer 1
    assert result.regret == pytest.approx((0.5 - 0.1) / 0.5)


times = st.integers(0, 9).map(lambda hour: hour * HOUR)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Truth, Crawled]:
    spans: list[tuple[int, float, float, int]] = []
    for offer in range(draw(st.integers(1, 4))):
        starts = sorted(draw(st.sets(times, min_size=1, max_size=5)))
        ends = [*starts[1:], np.inf]
        prices = draw(st.lists(st.integers(1, 3), min_size=len(starts), max_size=len(starts)))
        spans += [(offer, *row) for row in zip(starts, ends, prices, strict=True)]
    truth = truth_of(spans, until=END)
    n_offers = len(truth.urls)
    rows = draw(st.lists(st.tuples(st.integers(0, n_offers - 1), times), unique=True, max_size=12))
    seen = []
    for offer, at in sorted(rows, key=lambda row: row[1]):
        held = truth.live_spans(at)
        held = held[truth.offer[held] == offer]
        if len(held):
            seen.append((offer, at, int(truth.price_micros[held[0]])))
    return truth, crawled(seen)


@given(worlds())
def test_segments_cover_each_offers_life_exactly(world: tuple[Truth, Crawled]) -> None:
    truth, seen = world
    segments = segments_of(truth, seen)
    lived = (np.minimum(truth.until_at, END) - truth.at).sum()
    assert segments.seconds(0.0, END)[segments.live].sum() == pytest.approx(lived)
    assert not (segments.fresh & ~segments.live).any()


@given(worlds())
def test_scores_are_shares_and_no_crawl_beats_the_oracle_with_all_it_can_use(
    world: tuple[Truth, Crawled],
) -> None:
    truth, seen = world
    result = judged(truth, seen)
    assert 0.0 <= result.freshness <= result.coverage <= 1.0
    assert result.caught <= result.changes
    hourly = [(at, False) for at in np.arange(0.0, END, HOUR).tolist() for _ in truth.urls]
    rich = judged(
        truth,
        replace(
            seen,
            fetch_at=np.array([at for at, _ in hourly])[:],
            discovers=np.zeros(len(hourly), np.bool_),
        ),
    )
    assert rich.oracle_freshness == pytest.approx(1.0)
