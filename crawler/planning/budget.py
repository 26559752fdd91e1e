"""How many fetches are left?  Windows of a tick, an hour and a day.  Pure: time is an argument."""

import math
from dataclasses import dataclass, field

from crawler.config.model import BudgetSettings

UNLIMITED = 1 << 40


@dataclass(slots=True)
class _Window:
    """At most `limit` fetches in each span of `length` seconds since the epoch."""

    length: float
    limit: int
    index: int = -1
    used: int = 0

    def left(self, now: float) -> int:
        return self.limit - (self.used if self.index == int(now // self.length) else 0)

    def spread(self, now: float, tick: float) -> int:
        """What may be planned now so that the window's fetches are spread evenly over it."""
        used = self.limit - self.left(now)
        share = min(1.0, (now % self.length + tick) / self.length)
        return max(0, math.floor(self.limit * share + 1e-9) - used)

    def spend(self, now: float) -> None:
        index = int(now // self.length)
        if index != self.index:
            self.index, self.used = index, 0
        self.used += 1

    def ends_at(self, now: float) -> float:
        return (now // self.length + 1) * self.length


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used of one window's fetches."""

    seconds: float
    limit: int
    used: int


@dataclass(slots=True)
class Allowance:
    """The budget of the crawl or of one site: the tightest window holds."""

    tick: float
    windows: list[_Window] = field(default_factory=list)

    @classmethod
    def of(cls, settings: BudgetSettings, *, tick: float) -> "Allowance":
        limits = (
            (tick, settings.per_tick),
            (3600.0, settings.per_hour),
            (86400.0, settings.per_day),
        )
        return cls(tick, [_Window(length, limit) for length, limit in limits if limit is not None])

    @property
    def limited(self) -> bool:
        return bool(self.windows)

    def plannable(self, now: float) -> int:
        """How many fetches a tick starting now may plan."""
        return min((window.spread(now, self.tick) for window in self.windows), default=UNLIMITED)

    def left(self, now: float) -> int:
        """The hard limit at the moment of sending."""
        if not self.windows:
            return UNLIMITED
        return min(window.left(now) for window in self.windows)

    def usage(self, now: float) -> list[Usage]:
        """The windows that hold, shortest first."""
        return [Usage(w.length, w.limit, w.limit - w.left(now)) for w in self.windows]

    def spend(self, now: float) -> None:
        for window in self.windows:
            window.spend(now)

    def more_at(self, now: float) -> float:
        """When there may be more to plan than now: the next tick's start at the latest."""
        return min((w.ends_at(now) for w in self.windows), default=now)


class Budget:
    """The overall allowance and one per site.  Every exchange is paid for before it is sent."""

    def __init__(self, overall: Allowance, sites: dict[int, Allowance]) -> None:
        self.overall = overall
        self.sites = sites

    def plannable(self, now: float) -> int:
        return self.overall.plannable(now)

    def site_plannable(self, site_id: int, now: float) -> int:
        site = self.sites.get(site_id)
        return UNLIMITED if site is None else site.plannable(now)

    def take(self, site_id: int, now: float) -> bool:
        """Pays for one fetch, or says that there is nothing left."""
        site = self.sites.get(site_id, self.overall)
        if self.overall.left(now) <= 0 or site.left(now) <= 0:
            return False
        self.overall.spend(now)
        if site is not self.overall:
            site.spend(now)
        return True

    def restore(self, site_id: int, started_at: float) -> None:
        """Counts a fetch made before a restart.  Call in time order."""
        self.overall.spend(started_at)
        if site_id in self.sites:
            self.sites[site_id].spend(started_at)
