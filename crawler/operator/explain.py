"""The command explain: what is known of a page, when it will be fetched next, or why it will not."""

import argparse
import asyncio
import dataclasses
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from crawler.clock import real_time
from crawler.config import Config
from crawler.operator.ask import web_address
from crawler.operator.exits import Exit, told_errors
from crawler.operator.export import amount, moment
from crawler.operator.hindrances import Hindrance, Verdict, of_page, of_stranger
from crawler.operator.look import Look, look, next_tick
from crawler.operator.settings import load
from crawler.planning.due import due_at
from crawler.planning.hints import Quality
from crawler.planning.planner import Choices
from crawler.planning.reasons import span
from crawler.planning.terms import FirstTerms, RefreshTerms, SourceTerms, Terms, terms_of
from crawler.reading.urls import canonical_url, host_of, page_hash
from storage import reports
from storage.pages import StoredOffer, StoredPage
from storage.reports import FetchThen, SignalNow

_SHOWN_FETCHES = 5


@dataclass(frozen=True, slots=True)
class Known:
    """All that explains a known page."""

    page: StoredPage
    offers: tuple[StoredOffer, ...]
    shown_by: str | None
    alias_of: str | None
    history: list[FetchThen]
    signals: list[SignalNow]
    quality: list[Quality]
    terms: Terms
    going_price: float
    due_at: float | None


@told_errors
def explain(arguments: argparse.Namespace) -> int:
    config = load(arguments)
    facts = asyncio.run(explained(config, web_address(arguments.url), now=real_time()))
    if arguments.json:
        sys.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.writelines(line + "\n" for line in (facts["url"], *facts["sentences"]))
    return Exit.DONE


async def explained(config: Config, url: str, *, now: float) -> dict[str, Any]:
    """The verdict, the numbers, and the sentences that say both."""
    async with look(config, now) as seen:
        url = _as_stored(url, seen)
        page_id = seen.memory.table.find(page_hash(url))
        if not page_id:
            verdict = of_stranger(url, seen)
            return _facts(url, verdict, {}, [])
        tick = next_tick(seen)
        known = await _known(page_id, seen, tick.choices)
        then = dataclasses.replace(seen, now=tick.at)
        verdict = of_page(known.page, known.alias_of, then, tick.choices, known.due_at)
        return _facts(url, verdict, _numbers(known), list(_sentences(known, now)))


def _as_stored(url: str, seen: Look) -> str:
    """The address as the site's own rules write it."""
    site = seen.memory.scope.site_of_host(host_of(url))
    if site is None:
        return url
    return canonical_url(url, rules=seen.memory.rules[site.site_id].links.urls) or url


def _facts(
    url: str, hindrance: Hindrance, numbers: dict[str, Any], sentences: list[str]
) -> dict[str, Any]:
    return {
        "url": url,
        "verdict": hindrance.verdict,
        "fetched_in_next_tick": hindrance.verdict is Verdict.NEXT_TICK,
        **numbers,
        "sentences": [*sentences, hindrance.sentence],
    }


async def _known(page_id: int, seen: Look, choices: Choices) -> Known:
    stored = await seen.store.pages([page_id])
    page, offers = stored[page_id]
    alias = await seen.store.pages([page.alias_of]) if page.alias_of else {}
    memory, planning = seen.memory, seen.config.planning
    terms = terms_of(page_id, memory.learner, memory.table, seen.now, worth_new=planning.worth_new)
    return Known(
        page=page,
        offers=offers,
        shown_by=reports.shown_by(seen.connection, page_id),
        alias_of=alias[page.alias_of][0].url if page.alias_of in alias else None,
        history=reports.fetches_of(seen.connection, page_id, most=_SHOWN_FETCHES),
        signals=reports.signals_of(seen.connection, page_id),
        quality=memory.learner.hints.qualities(page.site_id),
        terms=terms,
        going_price=choices.level,
        due_at=due_at(page_id, terms, memory.learner, choices.level, seen.now, settings=planning),
    )


def _numbers(known: Known) -> dict[str, Any]:
    page = known.page
    return {
        "known_since": moment(page.discovered_at),
        "found": page.how,
        "shown_by": known.shown_by,
        "kind": page.kind,
        "last_outcome": page.outcome,
        "last_fetched_at": moment(page.fetched_at),
        "last_believed_at": moment(page.confirmed_at),
        "fetches": page.fetches or 0,
        "changes": page.changes or 0,
        "failures_in_a_row": page.failures or 0,
        "not_before": moment(page.not_before) if page.not_before else None,
        "offers": [
            {
                "offer": offer.key,
                "price": amount(offer.price_micros),
                "currency": offer.currency,
                "availability": offer.availability,
                "changed_at": moment(offer.changed_at),
                "gone_at": moment(offer.gone_at),
            }
            for offer in known.offers
        ],
        "terms": dataclasses.asdict(known.terms),
        "going_price_seconds": known.going_price,
        "due_at": None if known.due_at is None else moment(known.due_at),
        "signals": [signal._asdict() for signal in known.signals],
        "signal_quality": [dataclasses.asdict(quality) for quality in known.quality],
        "history": [fetch._asdict() for fetch in known.history],
    }


# -- in sentences ------------------------------------------------------------------------------------


def _sentences(known: Known, now: float) -> Iterator[str]:
    page = known.page
    by = f" on {known.shown_by}" if known.shown_by else ""
    yield f"Known for {span(now - page.discovered_at)}; found as `{page.how}`{by}."
    yield from _last_fetch(known, now)
    for offer in known.offers:
        if offer.gone_at is None:
            price = f"{amount(offer.price_micros)} {offer.currency or ''}".strip()
            yield f"Offer {offer.key}: {price}, {offer.availability or 'availability unknown'}, since {moment(offer.changed_at)}."
    yield from _terms(known.terms, now)
    yield from _signals(known)
    yield (
        f"A fetch now is worth {span(known.terms.value)} of one fresh offer; the going price is "
        f"{span(known.going_price)}."
    )


def _last_fetch(known: Known, now: float) -> Iterator[str]:
    page = known.page
    if page.fetched_at is None or not page.fetches:
        yield "Never fetched."
        return
    last = known.history[0] if known.history else None
    status = f", status {last.status}" if last and last.status else ""
    note = f" ({last.note})" if last and last.note else ""
    yield (
        f"Last fetched {span(now - page.fetched_at)} ago: `{page.outcome}`{status}{note}. "
        f"Fetches: {page.fetches}; changes found: {page.changes}; failures in a row: {page.failures}."
    )
    if last:
        yield f"It was fetched then because: {last.reason}."


def _terms(terms: Terms, now: float) -> Iterator[str]:
    match terms:
        case RefreshTerms():
            yield (
                f"Our copy still holds with probability {terms.probability_fresh:.2f}: seen "
                f"{span(now - terms.seen_at)} ago, changes every {_every(terms.changes_per_day)} (with "
                f"probability 0.9 between {_every(terms.changes_per_day_high)} and "
                f"{_every(terms.changes_per_day_low)}), importance {terms.importance:g}."
            )
        case SourceTerms():
            yield (
                f"Fetched for its links: a new page every {_every(terms.discoveries_per_day)}, "
                f"{terms.expected_discoveries:.2f} expected now, last looked {span(now - terms.seen_at)} ago."
            )
        case FirstTerms():
            again = "tried in vain; " if terms.tried else ""
            yield f"Not known yet what it holds: {again}chance of something of use {terms.prospect:.2f}."


def _every(times_a_day: float) -> str:
    return span(86_400.0 / times_a_day)


def _signals(known: Known) -> Iterator[str]:
    waiting = known.terms.signals_waiting if isinstance(known.terms, RefreshTerms) else ()
    for signal in known.signals:
        waits = "waits for a fetch" if signal.kind in waiting else "older than the last fetch"
        yield f"Signal `{signal.kind}`: says changed at {moment(signal.changed_at)}; {waits}."
    for quality in known.quality:
        yield (
            f"`{quality.kind}` signals of this site: {quality.precision:.2f} come true, "
            f"{quality.recall:.2f} of changes are announced, one is worth {quality.worth_nats:.2f} nats "
            f"(from {quality.fetches:.0f} fetches)."
        )
