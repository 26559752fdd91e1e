"""What is to be fetched in a tick, and why: the data that leaves this room."""

from dataclasses import dataclass
from enum import StrEnum

from storage.pages import StoredOffer, StoredPage


class Purpose(StrEnum):
    """What a fetch is for."""

    FIRST = "first fetch"
    REFRESH = "refresh"
    DISCOVER = "discover"
    FOLLOW = "follow redirect"


@dataclass(frozen=True, slots=True)
class Pick:
    """A page chosen for this tick; the probability is kept for the reward that comes later."""

    page: StoredPage
    offers: tuple[StoredOffer, ...]
    host: str
    purpose: Purpose
    strategy: str
    probability: float
    value: float | None
    reason: str
    trail: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """One tick's picks, best first.

    `budget` None: only politeness limits.  `waiting` pages could be picked later; `next_at` is when to look.
    """

    made_at: float
    budget: int | None
    picks: tuple[Pick, ...]
    waiting: int
    next_at: float
