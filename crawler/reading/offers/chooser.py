"""Which of a page's prices is its price?  Weighs the readers' findings; says who won and who disagreed.

Structured data is written for machines and mostly right, but it goes stale in caches while the
printed price is what the shopper pays.  So: sources that agree win together; a structured price that
is printed only as the struck-through one loses to the price printed beside it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from crawler.reading.facts import Candidate
from crawler.reading.markup.found import FoundOffer, FoundProduct
from crawler.reading.offers.assemble import SELLABLE, priceless_offers, winning_offers
from crawler.reading.offers.choice import TRUST, Choice, Priced, Winner
from crawler.reading.text.money import Money, parse_price
from crawler.reading.text.titles import same_page, title_likeness
from crawler.reading.visible.prices import SELLING, Habits, Seen

MAX_CANDIDATES = 120
MAX_SEEN = 150
ENOUGH_SEEN = 12  # tags looked at for a structured price before it counts as not printed

LISTED = 3
_UNNAMED = 2.4  # what a product scores with a price and under half of the heading's words


def main_products(
    products: Iterable[FoundProduct], *, url: str, heading: str | None
) -> list[FoundProduct]:
    """Each source's product that this page is about; a source that shows only other products has none."""
    by_source: dict[str, list[FoundProduct]] = {}
    for product in products:
        by_source.setdefault(product.source, []).append(product)
    found = []
    for listed in by_source.values():
        scores = [_aboutness(product, url, heading) for product in listed]
        best = max(scores)
        # Many products of which none is named like the page: a listing.
        if best > (_UNNAMED if len(listed) >= LISTED else 0.0):
            found.append(listed[scores.index(best)])
    return found


def _aboutness(product: FoundProduct, url: str, heading: str | None) -> float:
    likeness = title_likeness(product.title, heading)
    score = 1.0 + 2.0 * likeness + 0.5 * bool(product.offers)
    if same_page(product.url, url) or any(same_page(offer.url, url) for offer in product.offers):
        score += 1.0
    if product.related:
        score -= 2.5
    return score


def price_of(offer: FoundOffer, habits: Habits) -> Money:
    """The amount of a structured price: a point is the decimal sign, unless it looks like thousands."""
    return parse_price(
        offer.text,
        currency_hint=offer.currency or habits.currency,
        language="en",
        country=habits.country,
    )


def choose(
    products: list[FoundProduct],
    seen: Iterable[Seen],
    habits: Habits,
    *,
    about: FoundProduct,
    explain: bool,
) -> Choice:
    """The page's offers from the main product of each source and the printed prices.

    `about` is what the rest of the page says of its product; it fills gaps and has no price.
    """
    priced = [
        Priced(product, offer, price_of(offer, habits))
        for product in products
        for offer in product.offers
    ]
    structured = [p for p in priced if p.offer.role in SELLABLE and p.money.price_micros]
    wanted = {p.money.price_micros for p in structured}
    seen = iter(seen)
    printed = _look(seen, wanted)
    winner = _winner(structured, printed)
    if winner is not None and winner.money.currency is None:
        winner = replace(
            winner, money=_with_currency(winner.money, winner.seen, priced, printed, habits)
        )
    # The prices that were not needed are shown to the operator who asks, and decide nothing.
    rest = list(islice(seen, MAX_SEEN)) if explain else []
    candidates = _candidates(priced, printed + rest)
    known = [*products, about]
    if winner is None:
        return Choice(priceless_offers(known, priced, printed), candidates, tuple(printed))
    return Choice(
        offers=winning_offers(winner, known, priced),
        candidates=candidates,
        seen=tuple(printed),
        by_markup=any(p.product.source != "state" for p in structured),
        winner=winner.seen,
    )


def _look(seen: Iterator[Seen], wanted: set[int | None]) -> list[Seen]:
    """Printed prices, only as many as the question needs: is the structured price printed?"""
    printed: list[Seen] = []
    for found in islice(seen, ENOUGH_SEEN if wanted else MAX_SEEN):
        printed.append(found)
        if found.money.price_micros in wanted and found.role in SELLING:
            break
    return printed


def _winner(structured: list[Priced], printed: list[Seen]) -> Winner | None:
    shown = best_seen(printed)
    if not structured:
        return _by_sight(shown, ()) if shown else None
    votes = _votes(structured, printed)
    amount = _ruled(structured) or max(votes, key=lambda micros: votes[micros])
    agreed = any(s.money.price_micros == amount and s.role in SELLING for s in printed)
    if (
        shown
        and not agreed
        and not _ruled(structured)
        and _sight_wins(amount, shown, structured, printed)
    ):
        return _by_sight(shown, _sources(structured))
    sources = _sources(structured, amount)
    against = tuple(source for source in _sources(structured) if source not in sources)
    if agreed:
        sources += ("visible",)
    elif shown:
        against += ("visible",)
    money = next(p.money for p in structured if p.money.price_micros == amount)
    return Winner(money, sources, against, _confidence(sources, against))


def _ruled(structured: list[Priced]) -> int | None:
    """The operator's own rule needs no vote."""
    first = structured[0]
    return first.money.price_micros if first.product.source == "override" else None


def _votes(structured: list[Priced], printed: list[Seen]) -> dict[int, float]:
    """Trust per amount.  A source with several prices splits its vote, the first gets the most."""
    votes: dict[int, float] = {}
    places: dict[str, int] = {}
    for priced in structured:
        source, amount = priced.product.source, priced.money.price_micros or 0
        place = places[source] = places.get(source, 0) + 1
        weight = TRUST[source] / place * (0.8 if priced.offer.role == "low" else 1.0)
        votes[amount] = votes.get(amount, 0.0) + weight
    for found in printed:
        amount = found.money.price_micros or 0
        if amount in votes and found.role in SELLING:
            votes[amount] += TRUST["visible"] / (10 if found.order is None else 1 + found.order)
    return votes


def _sight_wins(amount: int, shown: Seen, structured: list[Priced], printed: list[Seen]) -> bool:
    """Is the printed price right and the structured one not?

    Yes when the structured price is printed only as the former price beside a lower one, and when
    only script state disagrees: it may count in cents, or belong to another variant.
    """
    if all(p.product.source == "state" for p in structured):
        return shown.signed
    price = shown.money.price_micros or 0
    roles = {s.role for s in printed if s.money.price_micros == amount and s.role != "other"}
    return price < amount and roles == {"list"}


def best_seen(printed: list[Seen]) -> Seen | None:
    """The printed price most likely to be the page's: a selling price in the heading's block, soon after it."""
    selling = [seen for seen in printed if seen.role in SELLING and seen.money.price_micros]
    if not selling:
        return None
    nearest = min(seen.height for seen in selling)
    return max(selling, key=lambda seen: _sight_score(seen, nearest))


def _sight_score(seen: Seen, nearest: int) -> float:
    score = 0.8 if seen.order is None else 1.0 / (1.0 + 0.15 * seen.order)
    score += 1.2 / (1.0 + 0.5 * (seen.height - nearest))
    score += {"selling": 0.6, "regular": -0.5, "net": -0.8}.get(seen.role, 0.0)
    return score + 0.8 * seen.signed + 0.4 * seen.marked


def _by_sight(shown: Seen, against: tuple[str, ...]) -> Winner:
    confidence = min(0.75, 0.2 + 0.15 * _sight_score(shown, shown.height))
    return Winner(shown.money, ("visible",), against, round(confidence, 3), shown)


def _with_currency(
    money: Money, shown: Seen | None, priced: list[Priced], printed: list[Seen], habits: Habits
) -> Money:
    """The currency that the page names elsewhere, or the one its country uses.

    A price with a sign that several currencies share ("$") is not in the euros printed beside it.
    """
    named = [p.money.currency for p in priced]
    if shown is None or not shown.signed:
        named += [s.money.currency for s in printed]
    return replace(money, currency=next((code for code in named if code), None) or habits.currency)


def _sources(structured: list[Priced], amount: int | None = None) -> tuple[str, ...]:
    found = (p for p in structured if amount is None or p.money.price_micros == amount)
    return tuple(dict.fromkeys(p.product.source for p in found))


def _confidence(sources: tuple[str, ...], against: tuple[str, ...]) -> float:
    """One minus the chance that every agreeing source is wrong, less what speaks against them."""
    doubt = 1.0
    for source in sources:
        doubt *= 1.0 - TRUST[source]
    for source in against:
        doubt = min(1.0, doubt + 0.3 * TRUST[source])
    return round(1.0 - doubt, 3)


def _candidates(priced: list[Priced], printed: list[Seen]) -> tuple[Candidate, ...]:
    structured = [
        Candidate(
            source=p.product.source,
            text=p.offer.text[:120],
            price_micros=p.money.price_micros,
            currency=p.money.currency,
            role=p.offer.role,
            note="ambiguous" if p.money.ambiguous else (p.offer.title or p.offer.sku or ""),
        )
        for p in priced
        if p.offer.text
    ]
    visible = [
        Candidate(
            source="visible",
            text=s.text,
            price_micros=s.money.price_micros,
            currency=s.money.currency,
            role="price" if s.role in SELLING else s.role,
            note="ambiguous"
            if s.money.ambiguous
            else ("" if s.order is not None else "before the heading"),
        )
        for s in printed
    ]
    return tuple(structured + visible)[:MAX_CANDIDATES]
