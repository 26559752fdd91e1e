"""The command plan: what the next tick would fetch and why.  Fetches nothing, changes nothing."""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from crawler.clock import real_time
from crawler.config import Config, ConfigError, Fault
from crawler.engine import plan_of
from crawler.operator.exits import Exit, told_errors
from crawler.operator.export import moment
from crawler.operator.look import Look, look, next_tick
from crawler.operator.settings import load
from crawler.planning.plan import Pick, Plan
from crawler.planning.reasons import span
from crawler.planning.terms import terms_of


@told_errors
def plan(arguments: argparse.Namespace) -> int:
    config = load(arguments)
    if not config.site:
        raise ConfigError((Fault("config.toml", "site", "want the sites to plan for, got none"),))
    facts = asyncio.run(planned(config, now=real_time()))
    if arguments.json:
        sys.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.writelines(line + "\n" for line in _lines(facts))
    return Exit.DONE


async def planned(config: Config, *, now: float) -> dict[str, Any]:
    """The plan that a run started now would begin with, once something may be fetched."""
    async with look(config, now) as seen:
        tick = next_tick(seen, most=config.crawl.max_fetches)
        made = await plan_of(tick.choices, seen.store, seen.memory, tick.at)
        return _facts(made, replace(seen, now=tick.at), level=tick.choices.level)


def _facts(made: Plan, seen: Look, *, level: float) -> dict[str, Any]:
    known = {site.settings.name for site in seen.memory.scope.sites.values()}
    return {
        "at": moment(made.made_at),
        "budget": made.budget,
        "going_price_seconds": level,
        "waiting": made.waiting,
        "look_again_at": moment(made.next_at),
        "new_sites": [site.name for site in seen.config.site if site.name not in known],
        "picks": [_pick(pick, seen) for pick in made.picks],
    }


def _pick(pick: Pick, seen: Look) -> dict[str, Any]:
    memory = seen.memory
    terms = terms_of(
        pick.page.id,
        memory.learner,
        memory.table,
        seen.now,
        worth_new=seen.config.planning.worth_new,
    )
    return {
        "url": pick.page.url,
        "site": memory.scope.sites[pick.page.site_id].settings.name,
        "purpose": pick.purpose,
        "strategy": pick.strategy,
        "probability": pick.probability,
        "value_seconds": pick.value,
        "reason": pick.reason,
        "terms": asdict(terms),
    }


def _lines(facts: dict[str, Any]) -> Iterator[str]:
    budget = "only politeness limits" if facts["budget"] is None else f"budget {facts['budget']}"
    yield (
        f"next tick, as of {facts['at']}: {len(facts['picks'])} picks ({budget}), {facts['waiting']} pages wait, "
        f"going price of a fetch {span(facts['going_price_seconds'])} of one fresh offer"
    )
    for name in facts["new_sites"]:
        yield f"site {name}: not crawled yet, the next run begins with its start URLs"
    for pick in facts["picks"]:
        yield (
            f"{pick['purpose']:11}  {pick['url']}\n    {pick['strategy']}, probability {pick['probability']:.2f}: "
            f"{pick['reason']}"
        )
    if not facts["picks"]:
        yield f"nothing may be fetched now; look again at {facts['look_again_at']}"
