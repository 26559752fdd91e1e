"""The planner's books follow a site that changes its habits."""

import numpy as np

from benchmarks.habits import DAY, follow_rates, follow_sitemap, follow_source


def test_a_page_whose_rate_grows_eightfold_is_followed_within_80_fetches() -> None:
    rng = np.random.default_rng(1)
    needed = follow_rates(rng, pages=30, rate=0.5 / DAY, factor=8.0, every=DAY / 4)
    assert 5 <= needed <= 80


def test_a_sitemap_that_turns_useless_loses_its_worth_within_100_fetches() -> None:
    needed = [follow_sitemap(np.random.default_rng(seed), pages=30) for seed in range(3)]
    assert 5 <= np.median(needed) <= 100


def test_a_source_that_dies_is_left_within_70_fetches() -> None:
    needed = [
        follow_source(np.random.default_rng(seed), sources=8, per_fetch=1.0) for seed in range(3)
    ]
    assert 2 <= np.median(needed) <= 70
