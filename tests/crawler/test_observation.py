"""What a fetch leaves behind: rows that continue the history of the same offer."""

from dataclasses import replace

import pytest

from crawler.fetching.outcome import Outcome
from crawler.findings import Finding
from crawler.observation import Observation, observe
from crawler.planning.plan import Pick, Purpose
from crawler.reading.facts import Offer, PageFacts, PageKind
from crawler.reading.rules import ChangeDefinition
from storage.pages import StoredOffer, StoredPage

URL = "https://shop.example/p/kettle"


def stored_page() -> StoredPage:
    unknown = dict.fromkeys(StoredPage._fields)
    known = {"id": 1, "url": URL, "site_id": 1, "host_id": 1, "depth": 0, "how": "link"}
    return StoredPage(**{**unknown, **known, "discovered_at": 0.0, "confirmed_at": 10.0})  # type: ignore[arg-type]


def stored(key: str, gone_at: float | None = None) -> StoredOffer:
    return StoredOffer(key, 5_000_000, "EUR", "in_stock", 5.0, 5.0, gone_at, None, None, None)


def look(before: list[StoredOffer], *keys: str) -> Observation:
    """A fetch that shows an offer for each key, each a little dearer than before."""
    pick = Pick(
        stored_page(), tuple(before), "shop.example", Purpose.REFRESH, "age", 1.0, None, "due"
    )
    offer = Offer("", 5_500_000, "EUR", None)
    offers = tuple(replace(offer, key=key) for key in keys)
    finding = Finding(
        Outcome.OK, 100.0, 1.0, page=PageFacts(URL, PageKind.OFFER, offers=offers), body_hash=1
    )
    return observe(
        pick,
        finding,
        fetch_id=1,
        tick_id=1,
        revisit=3600.0,
        change=ChangeDefinition.OFFER,
        signals=0,
        discovered=0,
        hinted=0,
    )


@pytest.mark.parametrize(
    ("before", "seen"),
    [
        ([stored("")], "K-1"),
        ([stored("K-1")], ""),
        ([stored("K-1")], "K-1"),
        ([stored("K-1"), stored("K-2", gone_at=50.0)], ""),
    ],
    ids=["states its id at last", "states it no more", "states it still", "the other is gone"],
)
def test_the_only_offer_of_a_page_goes_on_under_its_key(
    before: list[StoredOffer], seen: str
) -> None:
    observation = look(before, seen)
    [row] = observation.batch.offers
    assert (row.key, row.first_seen_at, row.price_micros) == (before[0].key, 5.0, 5_500_000)
    assert (observation.changed, observation.new_offers) == (True, 0)
    assert not observation.batch.gone


@pytest.mark.parametrize(
    ("before", "seen"),
    [
        ([stored("K-1")], ["K-2"]),
        ([stored("")], ["K-1", "K-2"]),
        ([stored("", gone_at=9.0)], ["K-1"]),
    ],
    ids=["another product", "two now", "back as another"],
)
def test_another_offer_is_not_taken_for_the_one_before(
    before: list[StoredOffer], seen: list[str]
) -> None:
    observation = look(before, *seen)
    assert [row.key for row in observation.batch.offers] == seen
    assert observation.new_offers == len(seen)
    assert [row.key for row in observation.batch.gone] == [o.key for o in before if not o.gone_at]
