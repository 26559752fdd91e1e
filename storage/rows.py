"""The rows the crawl writes.  Named tuples, because they go to executemany as they are."""

from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple


class PageRow(NamedTuple):
    """A newly known page."""

    id: int
    url: str
    url_hash: int
    site_id: int
    host_id: int
    depth: int
    how: str
    source_id: int | None
    discovered_at: float
    pattern_id: int


class PatternRow(NamedTuple):
    """A shape of URLs."""

    id: int
    pattern: str


class StateRow(NamedTuple):
    """What the last fetch left behind of a page.  Written whole: it replaces the row before it."""

    page_id: int
    kind: str | None
    outcome: str
    fetched_at: float
    confirmed_at: float | None
    changed_at: float | None
    gone_at: float | None
    not_before: float
    fetches: int
    changes: int
    failures: int
    alias_of: int | None
    etag: str | None
    last_modified: str | None
    body_hash: int | None
    text_hash: int | None
    title: str | None


class FetchRow(NamedTuple):
    """One HTTP exchange and the reason for it."""

    id: int
    page_id: int
    tick_id: int
    started_at: float
    duration: float
    outcome: str
    status: int | None
    wire_bytes: int | None
    body_hash: int | None
    changed: int | None
    signals: int
    discovered: int
    hinted: int
    purpose: str
    strategy: str
    probability: float
    value: float | None
    reason: str
    note: str | None


class OfferRow(NamedTuple):
    """An offer as it is believed now."""

    page_id: int
    key: str
    price_micros: int | None
    currency: str | None
    availability: str | None
    title: str | None
    brand: str | None
    gtin: str | None
    sku: str | None
    seller: str | None
    condition: str | None
    category: str | None
    image: str | None
    source: str
    confidence: float
    first_seen_at: float
    changed_at: float
    gone_at: float | None
    held_price_micros: int | None
    held_currency: str | None
    held_at: float | None


class GoneRow(NamedTuple):
    """An offer that is no longer on its page."""

    gone_at: float
    page_id: int
    key: str


class PriceRow(NamedTuple):
    """A step in an offer's price history."""

    observed_at: float
    price_micros: int | None
    currency: str | None
    availability: str | None
    fetch_id: int
    page_id: int
    key: str


class SignalRow(NamedTuple):
    """A hint that a page changed at `changed_at`."""

    page_id: int
    kind: str
    changed_at: float
    seen_at: float


class HostRow(NamedTuple):
    """How a host is treated."""

    id: int
    name: str
    ready_at: float = 0.0
    crawl_delay: float = 0.0
    answer_time: float = 0.0
    caution: float = 1.0
    backoffs: int = 0
    failures: int = 0
    note: str | None = None


class HostMove(NamedTuple):
    """A host whose pages belong to another site from now on."""

    site_id: int
    host_id: int


class RobotsRow(NamedTuple):
    """A robots.txt as last fetched."""

    origin: str
    fetched_at: float
    outcome: str
    status: int | None
    body: bytes | None


class TickRow(NamedTuple):
    """One planning round."""

    id: int
    run_id: int
    started_at: float
    ended_at: float | None
    budget: int | None
    planned: int
    fetched: int
    failed: int
    changed: int
    discovered: int


class RhythmRow(NamedTuple):
    """What the planner has learned of a page that is kept fresh."""

    page_id: int
    first_seen_at: float
    changed_at: float
    fetched_at: float
    changes: int
    price_level: int


class SourceRow(NamedTuple):
    """What the planner has learned of a page that is fetched for its links; `place` keeps their order."""

    page_id: int
    place: int
    kind: int
    fetched_at: float
    learned_at: float
    found: float
    exposed: float
    hour_found: bytes
    hour_expected: bytes


class PolicyRow(NamedTuple):
    """A policy's shared state, with the last tick and fetch it has learned from."""

    name: str
    version: int
    tick_id: int
    fetch_id: int
    state: bytes


class DroppedRow(NamedTuple):
    """Links not followed, counted."""

    site_id: int
    reason: str
    links: int


@dataclass(slots=True)
class Batch:
    """Rows that become visible together or not at all."""

    patterns: list[PatternRow] = field(default_factory=list)
    pages: list[PageRow] = field(default_factory=list)
    states: list[StateRow] = field(default_factory=list)
    fetches: list[FetchRow] = field(default_factory=list)
    offers: list[OfferRow] = field(default_factory=list)
    gone: list[GoneRow] = field(default_factory=list)
    prices: list[PriceRow] = field(default_factory=list)
    signals: list[SignalRow] = field(default_factory=list)
    hosts: list[HostRow] = field(default_factory=list)
    robots: list[RobotsRow] = field(default_factory=list)
    ticks: list[TickRow] = field(default_factory=list)
    rhythms: list[RhythmRow] = field(default_factory=list)
    sources: list[SourceRow] = field(default_factory=list)
    policies: list[PolicyRow] = field(default_factory=list)
    dropped: list[DroppedRow] = field(default_factory=list)

    def add(self, other: "Batch") -> None:
        for mine, theirs in zip(_tables(self), _tables(other), strict=True):
            if theirs:
                mine.extend(theirs)

    def __bool__(self) -> bool:
        return any(_tables(self))

    def merged_over(self, older: "Batch") -> "Batch":
        """Both, the older rows first, so that these win where a row is replaced."""
        older.add(self)
        return older


BATCH_TABLES = tuple(Batch.__slots__)
_tables = attrgetter(*BATCH_TABLES)
