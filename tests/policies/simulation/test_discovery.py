"""A crawl sees exactly the links of its ticks, and the metrics are 004's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.discovery.pooled import Pooled
from policies.discovery.round_robin import RoundRobin
from policies.discovery.thompson import Thompson
from policies.simulation.discovery import (
    Crawl,
    LinkWorld,
    NewsDomain,
    crawl,
    generate,
    link_world,
    normalised_regret,
    oracle_crawl,
    score,
)

SMALL = NewsDomain(n_sources=12, n_ticks=150, targets_per_hour=6.0)


def tiny_world() -> LinkWorld:
    """Source 0 shows targets 7 and 9, source 1 shows 9 later and for longer; 8 is never seen."""
    return link_world(
        tick_at=3600.0 * np.arange(6.0),
        n_sources=2,
        source=np.array([1, 0, 0, 0]),
        target=np.array([9, 7, 9, 8]),
        first=np.array([2, 0, 1, 4]),
        last=np.array([5, 3, 1, 3]),
    )


def test_a_fetch_sees_the_links_that_hold_the_tick() -> None:
    world = tiny_world()
    shown = [[world.shown(source, tick).tolist() for tick in range(6)] for source in range(2)]
    assert shown == [[[0], [0, 1], [0], [0], [], []], [[], [], [1], [1], [1], [1]]]
    assert world.appeared.tolist() == [0, 1]


def test_both_sources_of_a_tick_get_credit_unless_it_is_marginal() -> None:
    world = link_world(
        tick_at=np.zeros(1),
        n_sources=2,
        source=np.array([0, 1]),
        target=np.array([0, 0]),
        first=np.array([0, 0]),
        last=np.array([0, 0]),
    )
    credited = []

    class Listener(RoundRobin):
        def observe(
            self, *, now: float, sources: np.ndarray, discoveries: np.ndarray
        ) -> "Listener":
            credited.append(discoveries.tolist())
            return self

    for marginal in (True, False):
        crawl(
            world,
            Listener(n_sources=2),
            budget=2,
            rng=np.random.default_rng(0),
            marginal=marginal,
        )
    assert credited == [[1, 0], [1, 1]]


def test_the_metrics_by_hand() -> None:
    world = tiny_world()
    done = Crawl(world=world, discovered=np.array([0, 4]), fetches=np.full(6, 1))
    judged = score(done, from_tick=1)
    assert judged.coverage == 1.0
    assert judged.overhead == 5.0
    assert judged.hours_to_discovery_p90 == 3.0
    best = Crawl(world=world, discovered=np.array([0, 1]), fetches=np.full(6, 1))
    assert normalised_regret(done, best, from_tick=0).tolist() == [0, 50, 50, 50, 0, 0]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6))
def test_no_crawl_discovers_before_it_appears_or_beyond_its_budget(seed: int, budget: int) -> None:
    rng = np.random.default_rng(seed)
    world = generate(NewsDomain(n_sources=8, n_ticks=60, targets_per_hour=4.0), rng)
    for policy in (Pooled.start(np.zeros(8)), Thompson.start(8), RoundRobin(n_sources=8)):
        done = crawl(world, policy, budget=budget, rng=rng, marginal=True)
        found = done.discovered >= 0
        assert (done.discovered[found] >= world.appeared[found]).all()
        assert done.fetches.max() <= budget


def test_fetching_every_source_every_tick_discovers_all_at_once() -> None:
    world = generate(SMALL, np.random.default_rng(1))
    done = crawl(
        world, RoundRobin(n_sources=12), budget=12, rng=np.random.default_rng(0), marginal=True
    )
    np.testing.assert_array_equal(done.discovered, world.appeared)
    np.testing.assert_array_equal(oracle_crawl(world, budget=12).discovered, world.appeared)


def test_the_generator_publishes_at_its_rate_and_rhythm() -> None:
    domain = NewsDomain(n_ticks=24 * 40, targets_per_hour=20.0, day_swing=0.5, fleeting=0.25)
    world = generate(domain, np.random.default_rng(2))
    by_hour = np.bincount((world.appeared - 1) % 24, minlength=24) / 40
    expected = 20.0 * (1.0 - 0.5 * np.cos((np.arange(24) + 0.5) * np.pi / 12))
    # Links of less than a tick are never seen: about 1/24 of those that stay a day.
    assert by_hour == pytest.approx(expected * 0.98, rel=0.15)
    assert by_hour.sum() == pytest.approx(480 * 0.98, rel=0.02)


def test_with_many_poor_sources_learning_beats_a_sweep_and_the_oracle_beats_learning() -> None:
    domain = NewsDomain(n_sources=60, n_ticks=24 * 12, targets_per_hour=6.0, fleeting=0.0)
    world, rng = generate(domain, np.random.default_rng(3)), np.random.default_rng(4)
    blind, pooled = (
        score(crawl(world, policy, budget=2, rng=rng, marginal=True), from_tick=120).coverage
        for policy in (RoundRobin(n_sources=60), Pooled.start(np.zeros(60)))
    )
    best = score(oracle_crawl(world, budget=2), from_tick=120).coverage
    assert blind < pooled < best
