"""What limits the next tick: the going price, what more budget would bring, hosts that cannot take more."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crawler.planning.budget import UNLIMITED
from crawler.planning.planner import MOST_PICKS, Planner, PriceList
from crawler.planning.room import Room
from crawler.planning.table import PageTable
from policies.budget import rank_within_site

MORE = 0.1  # of the budget


@dataclass(frozen=True, slots=True)
class CappedHost:
    """A host with more pages worth a fetch than politeness lets it take in a tick."""

    host_id: int
    wanted: int
    takes: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """The next tick around its cut.

    `worth`: seconds of one fresh offer that it brings.  `price`: of the last fetch that the budget pays for, 0
    when it pays for all.  `more_worth`: what `more_fetches` more would bring, by their prices below the cut.
    """

    budget: int | None
    could: int
    worth: float
    price: float
    more_fetches: int
    more_worth: float
    capped: tuple[CappedHost, ...]


def look_ahead(planner: Planner, room: Room, table: PageTable, now: float) -> Outlook:
    """Site floors are left aside: they move fetches between sites, not the price."""
    budget = room.budget(now)
    wanted = min(budget, MOST_PICKS)
    more = int(np.ceil(MORE * wanted)) if budget < UNLIMITED else 0
    prices = planner.candidates(now, wanted + more)
    ranked = _affordable(prices, room, table, now)
    listed = prices.price[ranked]
    price = float(listed[wanted - 1]) if 0 < wanted < len(listed) else 0.0
    extra = listed[wanted : wanted + more]
    return Outlook(
        budget=None if budget >= UNLIMITED else budget,
        could=len(ranked),
        worth=float(listed[:wanted].sum()),
        price=price,
        more_fetches=len(extra),
        more_worth=float(extra.sum()),
        capped=_capped(prices, room, table, now, price=price),
    )


def _affordable(prices: PriceList, room: Room, table: PageTable, now: float) -> NDArray[np.int64]:
    """Places on the list that hosts and sites can take, dearest first."""
    host, site = table.host[prices.rows], table.site[prices.rows]
    order = np.argsort(-prices.price, kind="stable")
    order = order[prices.price[order] > 0.0]
    order = order[_rank(prices, order, host) < room.by_host(now)[host[order]]]
    return order[_rank(prices, order, site) < room.by_site(now)[site[order]]]


def _rank(
    prices: PriceList, places: NDArray[np.int64], group: NDArray[np.int32]
) -> NDArray[np.int64]:
    return rank_within_site(prices.price[places], group[places].astype(np.int64))


def _capped(
    prices: PriceList, room: Room, table: PageTable, now: float, *, price: float
) -> tuple[CappedHost, ...]:
    takes = room.by_host(now)
    worth_it = table.host[prices.rows[prices.price > price]]
    wanted = np.bincount(worth_it, minlength=len(takes))
    return tuple(
        CappedHost(host_id, int(wanted[host_id]), int(takes[host_id]))
        for host_id in np.flatnonzero(wanted > takes).tolist()
    )
