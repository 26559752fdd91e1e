"""The command status: what is known, how the last day's fetches went, what was left out and why."""

import argparse
import asyncio
import json
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

from crawler.clock import real_time
from crawler.config import Config
from crawler.operator.exits import Exit, told_errors
from crawler.operator.export import moment
from crawler.operator.look import look
from crawler.operator.settings import load
from crawler.operator.standing import standing
from crawler.planning.reasons import span
from storage import reports

_DAY = 86_400.0


@told_errors
def status(arguments: argparse.Namespace) -> int:
    config = load(arguments)
    facts = asyncio.run(status_facts(config, now=real_time()))
    if arguments.json:
        sys.stdout.write(json.dumps(facts, indent=2) + "\n")
    else:
        show(facts)
    return Exit.DONE


async def status_facts(config: Config, *, now: float) -> dict[str, Any]:
    async with look(config, now) as seen:
        facts = gather(seen.connection, config, now=now)
        return facts | standing(seen, await seen.store.sites())


def gather(connection: sqlite3.Connection, config: Config, *, now: float) -> dict[str, Any]:
    run = reports.last_run(connection)
    return {
        "database": str(config.crawl.database),
        "last_run": None
        if run is None
        else {
            "id": run.id,
            "started_at": moment(run.started_at),
            "ended_at": moment(run.ended_at),
            "finish": run.finish or "still running, or killed",
        },
        "sites": [
            {
                "name": site.name,
                "pages": site.pages,
                "fetched": site.fetched,
                "offers": site.offers,
                "gone": site.gone,
                "oldest_age_seconds": None
                if site.oldest_at is None
                else round(now - site.oldest_at),
                "newest_age_seconds": None
                if site.newest_at is None
                else round(now - site.newest_at),
            }
            for site in reports.sites_now(connection)
        ],
        "price_changes_last_day": reports.price_changes_since(connection, now - _DAY),
        "fetches_last_day": reports.outcomes_since(connection, now - _DAY),
        "pages_by_last_outcome": reports.states_now(connection),
        "hosts": [
            {
                "name": host.name,
                "pages": host.pages,
                "crawl_delay": host.crawl_delay,
                "closed_for_seconds": max(0.0, round(host.ready_at - now, 1)),
                "failures_in_a_row": host.failures,
                "note": host.note or "",
            }
            for host in reports.hosts_now(connection)
        ],
        "links_not_followed": [
            {"site": site, "reason": reason, "links": links}
            for site, reason, links in reports.dropped_links(connection)
        ],
    }


def show(facts: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    run = facts["last_run"]
    said = (
        f"last run {run['id']}: {run['started_at']} to {run['ended_at'] or 'now'}, {run['finish']}"
        if run
        else "no run yet"
    )
    console.print(escape(f"{facts['database']}: {said}"), highlight=False, soft_wrap=True)
    for line in _standing_lines(facts):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for title, rows in (
        ("Sites", facts["sites"]),
        ("Freshness by site", facts["freshness"]["by_site"]),
        ("Freshness by host", facts["freshness"]["by_host"]),
        ("Hosts", facts["hosts"]),
        ("Hosts capped by politeness", facts["hosts_capped_by_politeness"]),
        ("Strategies", facts["strategies"]),
        ("Signals", facts["signals"]),
        ("Best sources", facts["sources"]["best_sources"]),
        ("Dead sources", facts["sources"]["dead_sources"]),
        ("Links not followed", facts["links_not_followed"]),
    ):
        if rows:
            console.print(_table(title, rows))
    for title, counts in (
        ("Fetches in the last day", facts["fetches_last_day"]),
        ("Pages by their last outcome", facts["pages_by_last_outcome"]),
    ):
        if counts:
            console.print(_table(title, [{"outcome": k, "count": v} for k, v in counts.items()]))
    console.print(
        f"price changes in the last day: {facts['price_changes_last_day']}", highlight=False
    )


def _standing_lines(facts: dict[str, Any]) -> Iterator[str]:
    fresh, tick = facts["freshness"], facts["next_tick"]
    if fresh["offers"]:
        yield (
            f"freshness, estimated: {fresh['probability']:.3f} of {fresh['offers']} offers still have the price "
            "we hold"
        )
    yield "fetches: " + ", ".join(
        f"{window['used']} of {window['limit'] or 'any number'} this {window['window']}"
        for window in facts["budget"]
    )
    more = tick["ten_percent_more"]
    if more["fetches"]:
        yield (
            f"going price of a fetch: {span(tick['going_price_seconds'])} of one fresh offer; 10 % more budget "
            f"({more['fetches']} fetches) would add {100 * more['gain']:.2g} % to what the next tick brings"
        )
    else:
        yield "10 % more budget would bring nothing now: all that is due and that hosts can take is fetched"


def _table(title: str, rows: list[dict[str, Any]]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in rows[0]:
        numeric = not isinstance(rows[0][name], str)
        justify: Any = "right" if numeric else "left"
        table.add_column(name.replace("_", " "), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*("" if value is None else escape(str(value)) for value in row.values()))
    return table
