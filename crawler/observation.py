"""What one fetch taught, and the rows that say so.  Pure: a pick and its finding in, a batch out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from crawler.fetching.outcome import MEANING, Outcome
from crawler.findings import Finding
from crawler.planning.next_visit import not_before
from crawler.planning.plan import Pick
from crawler.reading.facts import Availability, Offer, PageKind
from crawler.reading.rules import ChangeDefinition
from crawler.reading.verdicts.change import (
    CHANGES,
    Held,
    Verdict,
    content_change,
    offer_change,
)
from storage.learning import SOURCE_KINDS, UNKNOWN, Lesson
from storage.pages import StoredOffer, StoredPage
from storage.rows import Batch, FetchRow, GoneRow, OfferRow, PriceRow, StateRow

SOURCE_KIND = "source"
_DOUBTFUL = (Verdict.HELD, Verdict.CURRENCY_SWITCH)
_SECOND_LOOK = 60.0  # seconds until a doubtful price is looked at again


@dataclass(frozen=True, slots=True)
class Observation:
    """One fetch, or one refusal to fetch, with its rows.  `changed` None: it taught nothing about change."""

    outcome: Outcome
    changed: bool | None
    fetched_at: float
    not_before: float
    duration: float = 0.0
    status: int | None = None
    wire_bytes: int = 0
    body_hash: int | None = None
    note: str | None = None
    new_offers: int = 0
    lesson: Lesson | None = None
    batch: Batch = field(default_factory=Batch)


@dataclass(slots=True)
class _Offers:
    """The offers of a page after a fetch, against those stored before it."""

    rows: list[OfferRow] = field(default_factory=list)
    prices: list[PriceRow] = field(default_factory=list)
    gone: list[GoneRow] = field(default_factory=list)
    changed: bool = False
    doubtful: bool = False
    new: int = 0


def observe_refusal(
    pick: Pick, outcome: Outcome, *, now: float, revisit: float, note: str
) -> Observation:
    """robots.txt or politeness said no: the page was not asked for."""
    again_at = not_before(outcome, now=now, failures=1, revisit=revisit)
    state = _state(pick.page, outcome, now, again_at)
    return Observation(
        outcome=outcome,
        changed=None,
        fetched_at=now,
        not_before=again_at,
        note=note,
        batch=Batch(states=[state]),
    )


def observe(
    pick: Pick,
    finding: Finding,
    *,
    fetch_id: int,
    tick_id: int,
    revisit: float,
    change: ChangeDefinition,
    signals: int,
    discovered: int,
    hinted: int,
    alias_of: int | None = None,
) -> Observation:
    """All rows of one fetch.

    `signals` were waiting for it; it showed so many new pages and brought so many signals about others.
    """
    page, outcome = pick.page, finding.outcome
    now = finding.started_at + finding.duration
    failures = 0 if MEANING[outcome].teaches_change else (page.failures or 0) + 1
    offers = _compare_offers(pick, finding, now=now, fetch_id=fetch_id, change=change)
    changed = _changed(page, finding, offers, change)
    # A held value wants a second look soon, not at the next ordinary visit.
    again_at = not_before(
        outcome,
        now=now,
        failures=max(failures, 1),
        revisit=min(revisit, _SECOND_LOOK) if offers.doubtful else revisit,
    )
    state = _state_after(page, finding, now, again_at, changed, alias_of)
    if offers.doubtful:  # the second look must see the whole page, not "unchanged"
        state = state._replace(etag=None, last_modified=None, body_hash=None)
    lesson = Lesson(
        fetch_id=fetch_id,
        page_id=page.id,
        at=now,
        changed=UNKNOWN if changed is None else int(changed),
        signals=signals,
        discovered=discovered,
        hinted=hinted,
        believed=MEANING[outcome].teaches_change,
        is_offer=state.kind == PageKind.OFFER,
        price_micros=max((row.price_micros or UNKNOWN for row in offers.rows), default=UNKNOWN),
        tick_id=tick_id,
        source_kind=_source_kind(state.kind, page.how),
    )
    fetch = _fetch_row(pick, finding, lesson)
    return Observation(
        outcome=outcome,
        changed=changed,
        fetched_at=now,
        not_before=again_at,
        duration=finding.duration,
        status=finding.status,
        wire_bytes=finding.wire_bytes or 0,
        body_hash=finding.body_hash,
        note=finding.note,
        new_offers=offers.new,
        lesson=lesson,
        batch=Batch(
            states=[state],
            fetches=[fetch],
            offers=offers.rows,
            gone=offers.gone,
            prices=offers.prices,
        ),
    )


def _changed(
    page: StoredPage, finding: Finding, offers: _Offers, change: ChangeDefinition
) -> bool | None:
    """Did the page change since its last believed fetch?  None when it cannot be said."""
    if not MEANING[finding.outcome].teaches_change or page.confirmed_at is None:
        return None
    if finding.outcome is Outcome.NOT_MODIFIED or finding.body_hash == page.body_hash:
        return False
    if finding.page is None:
        return True  # a sitemap or feed with another body
    if finding.page.offers and change is not ChangeDefinition.CONTENT:
        return None if offers.doubtful else offers.changed
    verdict = content_change(page.text_hash or 0, finding.page)
    return None if verdict in (Verdict.FIRST, Verdict.UNREADABLE) else verdict in CHANGES


def _compare_offers(
    pick: Pick, finding: Finding, *, now: float, fetch_id: int, change: ChangeDefinition
) -> _Offers:
    result = _Offers()
    stored = {offer.key: offer for offer in pick.offers}
    if finding.outcome is Outcome.GONE:
        result.gone = _gone(pick.page.id, stored, now)
    if finding.page is None or finding.outcome is not Outcome.OK:
        return result
    for offer in _under_known_keys(finding.page.offers, pick.offers):
        before = stored.pop(offer.key, None)
        _compare_offer(
            result, pick.page.id, before, offer, now=now, fetch_id=fetch_id, change=change
        )
    if finding.page.offers:  # a page that shows none at all may just not have been understood
        result.gone = _gone(pick.page.id, stored, now)
    return result


def _under_known_keys(seen: tuple[Offer, ...], stored: Sequence[StoredOffer]) -> tuple[Offer, ...]:
    """A page's only offer goes on under the key it had when the page begins or ceases to state an id."""
    live = [offer.key for offer in stored if offer.gone_at is None]
    if len(seen) == len(live) == 1 and "" in (seen[0].key, live[0]):
        return (replace(seen[0], key=live[0]),)
    return seen


def _compare_offer(
    result: _Offers,
    page_id: int,
    before: StoredOffer | None,
    seen: Offer,
    *,
    now: float,
    fetch_id: int,
    change: ChangeDefinition,
) -> None:
    verdict = offer_change(
        _believed(before) if before else None,
        seen,
        held=_held(before) if before else None,
        definition=change,
    )
    first = before is None or verdict.verdict is Verdict.FIRST
    result.new += before is None
    result.changed |= verdict.is_change
    result.doubtful |= verdict.verdict in _DOUBTFUL
    result.rows.append(
        OfferRow(
            page_id=page_id,
            key=seen.key,
            price_micros=verdict.price_micros,
            currency=verdict.currency,
            availability=verdict.availability,
            title=seen.title,
            brand=seen.brand,
            gtin=seen.gtin,
            sku=seen.sku,
            seller=seen.seller,
            condition=seen.condition,
            category=seen.category,
            image=seen.image,
            source=seen.source,
            confidence=seen.confidence,
            first_seen_at=before.first_seen_at if before else now,
            changed_at=now if first or verdict.is_change or before is None else before.changed_at,
            gone_at=None,
            held_price_micros=verdict.held.price_micros if verdict.held else None,
            held_currency=verdict.held.currency if verdict.held else None,
            held_at=now if verdict.held else None,
        )
    )
    if first or verdict.is_change:
        result.prices.append(
            PriceRow(
                observed_at=now,
                price_micros=verdict.price_micros,
                currency=verdict.currency,
                availability=verdict.availability,
                fetch_id=fetch_id,
                page_id=page_id,
                key=seen.key,
            )
        )


def _gone(page_id: int, missing: dict[str, StoredOffer], now: float) -> list[GoneRow]:
    return [GoneRow(now, page_id, key) for key, offer in missing.items() if offer.gone_at is None]


def _believed(offer: StoredOffer) -> Offer:
    return Offer(
        key=offer.key,
        price_micros=offer.price_micros,
        currency=offer.currency,
        availability=Availability(offer.availability) if offer.availability else None,
    )


def _held(offer: StoredOffer) -> Held | None:
    if offer.held_price_micros is None:
        return None
    return Held(offer.held_price_micros, offer.held_currency)


def _state(page: StoredPage, outcome: Outcome, now: float, again_at: float) -> StateRow:
    """The state row with nothing learned: what was believed before stays."""
    return StateRow(
        page_id=page.id,
        kind=page.kind,
        outcome=outcome,
        fetched_at=now,
        confirmed_at=page.confirmed_at,
        changed_at=page.changed_at,
        gone_at=page.gone_at,
        not_before=again_at,
        fetches=page.fetches or 0,
        changes=page.changes or 0,
        failures=page.failures or 0,
        alias_of=page.alias_of,
        etag=page.etag,
        last_modified=page.last_modified,
        body_hash=page.body_hash,
        text_hash=page.text_hash,
        title=page.title,
    )


def _state_after(
    page: StoredPage,
    finding: Finding,
    now: float,
    again_at: float,
    changed: bool | None,
    alias_of: int | None,
) -> StateRow:
    """The state row after a fetch.  What a fetch that is not believed showed is not kept."""
    outcome = finding.outcome
    if not MEANING[outcome].teaches_change:
        return _state(page, outcome, now, again_at)._replace(
            fetches=(page.fetches or 0) + 1,
            failures=(page.failures or 0) + 1,
            alias_of=alias_of,
            gone_at=(page.gone_at or now) if outcome is Outcome.GONE else None,
        )
    # A 304 may leave out the validators it confirms.
    kept = page if outcome is Outcome.NOT_MODIFIED else None
    facts = finding.page
    return StateRow(
        page_id=page.id,
        kind=_kind_after(page, finding),
        outcome=outcome,
        fetched_at=now,
        confirmed_at=now,
        changed_at=now if changed or page.confirmed_at is None else page.changed_at,
        gone_at=None,
        not_before=again_at,
        fetches=(page.fetches or 0) + 1,
        changes=(page.changes or 0) + bool(changed),
        failures=0,
        alias_of=alias_of,
        etag=finding.etag or (kept and kept.etag),
        last_modified=finding.last_modified or (kept and kept.last_modified),
        body_hash=page.body_hash if finding.body_hash is None else finding.body_hash,
        text_hash=page.text_hash if facts is None else facts.text_hash,
        title=page.title if facts is None else facts.title,
    )


def _kind_after(page: StoredPage, finding: Finding) -> str | None:
    if finding.page is not None:
        return finding.page.kind
    return SOURCE_KIND if finding.source is not None else page.kind


def _source_kind(kind: str | None, how: str) -> int:
    if kind == SOURCE_KIND:
        return SOURCE_KINDS.index("feed" if how == "feed" else "sitemap")
    return SOURCE_KINDS.index("listing" if kind == PageKind.LISTING else "other")


def _fetch_row(pick: Pick, finding: Finding, lesson: Lesson) -> FetchRow:
    return FetchRow(
        id=lesson.fetch_id,
        page_id=lesson.page_id,
        tick_id=lesson.tick_id,
        started_at=finding.started_at,
        duration=finding.duration,
        outcome=finding.outcome,
        status=finding.status,
        wire_bytes=finding.wire_bytes,
        body_hash=finding.body_hash,
        changed=None if lesson.changed == UNKNOWN else lesson.changed,
        signals=lesson.signals,
        discovered=lesson.discovered,
        hinted=lesson.hinted,
        purpose=pick.purpose,
        strategy=pick.strategy,
        probability=pick.probability,
        value=pick.value,
        reason=pick.reason,
        note=finding.note,
    )
