"""How the crawl stands by its own estimate: freshness, budget, what limits it, what it has learned."""

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.operator.export import fresh_by_page
from crawler.operator.look import Look, next_tick
from crawler.planning.outlook import look_ahead
from storage import reports

_SHOWN_SOURCES = 5
_DEAD_AFTER = 5  # fetches that showed nothing new


def standing(seen: Look, sites: dict[str, int]) -> dict[str, Any]:
    """`sites`: the id of every site in the database, also of those no longer in the config."""
    return {
        "freshness": _freshness(seen, sites),
        "budget": _budget(seen),
        **_next_tick(seen),
        "strategies": [
            {"name": name, "weight": round(weight, 4)}
            for name, weight in seen.planner.weights().items()
        ],
        "signals": [
            {"site": name, **_rounded(dataclasses.asdict(quality))}
            for name, site_id in sites.items()
            for quality in seen.memory.learner.hints.qualities(site_id)
        ],
        "sources": _sources(seen),
    }


def _rounded(numbers: dict[str, Any]) -> dict[str, Any]:
    return {k: round(v, 3) if isinstance(v, float) else v for k, v in numbers.items()}


# -- freshness -----------------------------------------------------------------------------------------


def _freshness(seen: Look, sites: dict[str, int]) -> dict[str, Any]:
    """Mean probability that an offer's price still holds.  Each offer counts once."""
    counted = np.array(reports.live_offers(seen.connection), np.int64).reshape(-1, 2)
    fresh = fresh_by_page(seen)
    counted = counted[~np.isnan(fresh[counted[:, 0]])]
    pages, offers = counted[:, 0], counted[:, 1].astype(np.float64)
    probability = fresh[pages]
    table, hosts = seen.memory.table, seen.memory.hosts.names()
    site_names = {site_id: name for name, site_id in sites.items()}
    return {
        "offers": int(offers.sum()),
        "probability": _mean(probability, offers),
        "by_site": _by(site_names, table.site[pages], probability, offers),
        "by_host": _by(hosts, table.host[pages], probability, offers),
    }


def _mean(probability: NDArray[np.float64], offers: NDArray[np.float64]) -> float | None:
    return round(float(probability @ offers / offers.sum()), 4) if len(offers) else None


def _by(
    names: dict[int, str],
    group: NDArray[np.int32],
    probability: NDArray[np.float64],
    offers: NDArray[np.float64],
) -> list[dict[str, Any]]:
    """Worst first."""
    rows = []
    for number in np.unique(group).tolist():
        within = group == number
        mean = _mean(probability[within], offers[within])
        rows.append(
            {"name": names[number], "offers": int(offers[within].sum()), "probability": mean}
        )
    return sorted(rows, key=lambda row: row["probability"])


# -- budget and limits ---------------------------------------------------------------------------------


def _budget(seen: Look) -> list[dict[str, Any]]:
    """Fetches in the present windows, limited or not."""
    settings = seen.config.budget
    windows = (
        ("tick", float(seen.config.crawl.tick), settings.per_tick),
        ("hour", 3_600.0, settings.per_hour),
        ("day", 86_400.0, settings.per_day),
    )
    return [
        {
            "window": name,
            "used": reports.fetches_since(seen.connection, seen.now // seconds * seconds),
            "limit": limit,
        }
        for name, seconds, limit in windows
    ]


def _next_tick(seen: Look) -> dict[str, Any]:
    memory = seen.memory
    ahead = look_ahead(seen.planner, memory.room, memory.table, next_tick(seen).at)
    return {
        "next_tick": {
            "budget": ahead.budget,
            "could_be_fetched": ahead.could,
            "worth_seconds": round(ahead.worth, 1),
            "going_price_seconds": round(ahead.price, 1),
            "ten_percent_more": {
                "fetches": ahead.more_fetches,
                "worth_seconds": round(ahead.more_worth, 1),
                "gain": round(ahead.more_worth / ahead.worth, 4) if ahead.worth else 0.0,
            },
        },
        "hosts_capped_by_politeness": [
            {
                "name": memory.hosts.name_of(host.host_id),
                "worth_a_fetch": host.wanted,
                "takes_in_a_tick": host.takes,
                "delay_seconds": round(memory.gate.delay(memory.hosts.name_of(host.host_id)), 2),
            }
            for host in ahead.capped
        ],
    }


# -- sources -------------------------------------------------------------------------------------------


def _sources(seen: Look) -> dict[str, Any]:
    """The best by new pages, then signals; and those that brought neither since their first fetch."""
    learned = seen.memory.learner.sources
    known = [row for row in reports.sources_now(seen.connection) if row.page_id in learned]
    dead = [row for row in known if row.fetches > _DEAD_AFTER and not row.discovered + row.hinted]
    dead.sort(key=lambda row: -row.fetches)
    best = [row for row in known if row.discovered + row.hinted > 0]

    def shown(row: reports.SourceNow) -> dict[str, Any]:
        rate = float(learned.rate(np.array([row.page_id]), seen.now)[0])
        return {
            "url": row.url,
            "site": row.site,
            "fetches": row.fetches,
            "discovered": row.discovered,
            "signals": row.hinted,
            "expected_a_day": round(24.0 * rate, 2),
        }

    return {
        "known": len(known),
        "dead": len(dead),
        "best_sources": [shown(row) for row in best[:_SHOWN_SOURCES]],
        "dead_sources": [shown(row) for row in dead[:_SHOWN_SOURCES]],
    }
