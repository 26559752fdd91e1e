"""One budget for refreshes, discovery and first fetches: price them all in one currency, cut at the budget.

Prices are what one more fetch of this kind is worth at its present interval, so equal prices at the cut mean
that no fetch could be moved with profit.  With g(x) = 1 - (1 + x) exp(-x):
    refresh      worth_fresh * V, V any value of policies.values; for Greedy importance / rate * g(rate * elapsed)
    source       worth_of_a_discovery * discovery_rate / decay * g(decay * age),
                 decay = ln 2 / half_life + 1 / expiry
    first fetch  worth_new * P(the page holds an offer)
A discovery loses half its worth in `half_life`, and its link goes after `expiry`.  The source's price is that of
the refresh with decay for the change rate: waiting age gathers rate / decay * (1 - exp(-decay * age)), and
g is that minus age times its slope.

The merged cut says how many fetches go to discovery; which sources they go to is `best_at_each_site` by what
is expected there now.  A floor per site keeps the worst site from starving.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def source_price(
    *, worth: Floats | float, rate: Floats, age: Floats, half_life: float, expiry: float
) -> Floats:
    """What fetching each source is worth; rate, age, half_life and expiry in one unit of time.

    A source never fetched (age inf) is worth all it can hold."""
    decay = np.log(2.0) / half_life + 1.0 / expiry
    return np.asarray(worth * rate / decay * gammainc(2.0, decay * age))


def worth_of_a_discovery(*, worth: float, offer_chance: Floats, level: float) -> float:
    """What finding a page is worth when its first fetch must still be paid at the going price `level`:
    mean of max(worth * chance - level, 0) over such pages.  Without the cost, sources are overpaid whenever
    fetches are dear: up to 2 % of all value (benchmarks/one_budget.py)."""
    if not len(offer_chance):
        return worth
    return float(np.maximum(worth * offer_chance - level, 0.0).mean())


def first_fetch_price(*, worth: Floats | float, offer_chance: Floats) -> Floats:
    """What the first fetch of each new page is worth."""
    return np.asarray(worth * offer_chance)


@dataclass(frozen=True, slots=True)
class PriceList:
    """Candidates of one purpose: what each is worth and its site (0 to n_sites - 1).  Shape (n,)."""

    price: Floats
    site: Ints


@dataclass(frozen=True, slots=True)
class Spending:
    """Which candidates of each list are taken, dearest first, and the price of the last one."""

    taken: tuple[Ints, ...]
    level: float  # going price of a fetch; 0 when the budget was not used up
    spent: Ints  # (n_sites,) fetches


def spend(lists: Sequence[PriceList], *, budget: int, floor: Ints) -> Spending:
    """Take the highest prices of all lists together, at most `budget`, after each site's floor (n_sites,).

    A floor is filled with the site's own best.  When the floors alone exceed the budget, every site gets its
    first fetch before any gets its second.  What is worth nothing is never taken."""
    price = np.concatenate([each.price for each in lists])
    site = np.concatenate([each.site for each in lists])
    worth = np.flatnonzero(price > 0.0)
    rank = rank_within_site(price[worth], site[worth])
    by_floor = rank < floor[site[worth]]
    # Floors first, by rank then price; then the rest by price alone.
    order = np.lexsort((-price[worth], np.where(by_floor, rank, len(worth)), ~by_floor))
    taken = worth[order[:budget]]
    free = taken[~by_floor[order[:budget]]]
    level = float(price[free[-1]]) if len(free) and len(worth) > budget else 0.0
    return Spending(
        taken=_by_list(
            taken[np.argsort(-price[taken], kind="stable")], [len(each.price) for each in lists]
        ),
        level=level,
        spent=np.bincount(site[taken], minlength=len(floor)),
    )


def best_at_each_site(taken: Ints, *, site: Ints, score: Floats) -> Ints:
    """As many candidates of each site as are taken, the ones with the highest score; best first."""
    count = np.bincount(site[taken], minlength=int(site.max(initial=0)) + 1)
    chosen = np.flatnonzero(rank_within_site(score, site) < count[site])
    return chosen[np.argsort(-score[chosen], kind="stable")]


def rank_within_site(value: Floats, site: Ints) -> Ints:
    """0 for the highest value of each site, 1 for the next; ties by position."""
    order = np.lexsort((-value, site))
    ordered = site[order]
    starts = np.searchsorted(ordered, ordered)
    rank = np.empty(len(value), np.int64)
    rank[order] = np.arange(len(value)) - starts
    return rank


@dataclass(frozen=True, slots=True)
class SiteFloors:
    """What each site is owed: a share of an even split, saved up so that less than a fetch a tick counts too."""

    owed: Floats  # (n_sites,) fetches

    def grow(self, *, share: float, budget: int) -> SiteFloors:
        """A tick later.  A site that could take nothing, say because its host backs off, saves no more than one
        tick's due or one fetch: it must not come back with a claim on everything."""
        due = share * budget / max(len(self.owed), 1)
        return SiteFloors(np.minimum(self.owed + due, np.maximum(due, 1.0)))

    def floor(self) -> Ints:
        return np.floor(self.owed + 1e-9).astype(np.int64)

    def pay(self, spent: Ints) -> SiteFloors:
        return SiteFloors(np.maximum(self.owed - spent, 0.0))


def _by_list(taken: Ints, lengths: Sequence[int]) -> tuple[Ints, ...]:
    """Positions in the concatenation as positions in each list, order kept."""
    ends = np.cumsum(lengths)
    return tuple(
        taken[(taken >= end - length) & (taken < end)] - (end - length)
        for end, length in zip(ends, lengths, strict=True)
    )
