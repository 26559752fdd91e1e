"""Pages that change, signal and are asked for; a policy that fetches; freshness integrated exactly.

Events are drawn, never rounded to ticks: changes at Poisson times, each signalled with the page's
recall, false signals beside them.  `simulate` walks the slots: it counts the signals that arrived,
asks `choose(now, state)` for pages, and tells `learn` what each fetch saw.  Freshness is not
sampled by requests but integrated over time from the event log, weighted by importance: once as it
happened (`fresh`) and once as its expectation given signals and fetches (`expected`), which has
the same mean and far less noise.  The world's events do not depend on the policy: the same seed
gives every policy the same world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from policies.simulation.integration import Ledger
from policies.values.model import Floats, PageModel

Pages: TypeAlias = NDArray[np.intp]

EVENTS_AT_ONCE = 2_000_000  # about 100 MB while a block is sorted


@dataclass(frozen=True, slots=True)
class World:
    """The truth about pages (n_pages,) and, if hosts have limits, hosts (n_hosts,)."""

    model: PageModel
    host: Pages | None = None  # host of each page
    host_delay: Floats | None = None  # least time between two fetches of a host
    signal_delay: Callable[[Generator, int], Floats] | None = None  # draws so many delays


@dataclass(slots=True)
class State:
    """What a crawler knows at a slot.  Arrays are live: read them, do not keep them."""

    fetched_at: Floats  # (n_pages,)
    signals: Floats  # (n_pages,), arrived since the last fetch
    ready_at: Floats  # (n_hosts,), when a host may be asked again
    host: Pages | None = None

    def ready(self, now: float) -> NDArray[np.bool_] | None:
        """Which pages may be fetched now; None if all."""
        if self.host is None:
            return None
        # A slot that falls on the very end of a delay is not lost to rounding.
        return (self.ready_at <= now + 1e-9)[self.host]


@dataclass(frozen=True, slots=True)
class Observation:
    """What the fetches of one slot taught, shape (n_fetched,)."""

    now: float
    pages: Pages
    elapsed: Floats
    signals: Floats
    changed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Freshness and fetches between edges; the first axis is the window."""

    edges: Floats  # (n_windows + 1,)
    fresh: Floats  # (n_windows,), share of requests that met a fresh copy
    expected: Floats  # (n_windows,), its expectation; NaN when signals are delayed
    fetches: NDArray[np.int64]  # (n_windows, n_pages)
    refused: int  # picks lost because their host was not ready


@dataclass(frozen=True, slots=True)
class Hearing:
    """How signals that come late are counted."""

    ignore_within: float = 0.0  # 003, App. C: deaf for so long after a fetch
    by_stamp: bool = False  # count a signal only if its own time is after the fetch


Choose: TypeAlias = Callable[[float, State], Pages]
Learn: TypeAlias = Callable[[Observation], None]


def regular_slots(rate: float, duration: float, start: float = 0.0) -> Floats:
    """The discrete class of 003: one fetch every 1/rate."""
    return start + np.arange(1, round(rate * duration) + 1) / rate


def best(values: Floats, count: int, allowed: NDArray[np.bool_] | None = None) -> Pages:
    """The `count` pages of highest value among those allowed, in no particular order."""
    if allowed is not None:
        values = np.where(allowed, values, -np.inf)
        count = min(count, int(np.count_nonzero(allowed)))
    if count == 0:
        return np.empty(0, dtype=np.intp)
    if count == 1:
        return np.array([np.argmax(values)])
    return np.argpartition(values, -count)[-count:]


def greedily(value: Callable[[Floats, Floats], Floats], count: int = 1) -> Choose:
    """Algorithm 1 of 003: fetch the pages whose value of (elapsed, signals) is highest."""

    def choose(now: float, state: State) -> Pages:
        return best(value(now - state.fetched_at, state.signals), count, state.ready(now))

    return choose


def simulate(
    world: World,
    choose: Choose,
    *,
    slots: Floats,
    edges: Floats,
    rng: Generator,
    learn: Learn | None = None,
    hearing: Hearing | None = None,
) -> Outcome:
    """Run `choose` at every slot from a fresh copy of every page at edges[0] to edges[-1].

    Edges part the windows freshness is reported for: [0, T/2, T] gives a warm-up and a second half.
    """
    run = _Run(world, choose, learn, hearing, rng, float(edges[0]))
    windows = [run.window(start, end, slots) for start, end in pairwise(edges)]
    fresh, expected, fetches = zip(*windows, strict=True)
    return Outcome(
        edges=np.asarray(edges, dtype=np.float64),
        fresh=np.array(fresh),
        expected=np.array(expected),
        fetches=np.array(fetches),
        refused=run.refused,
    )


@dataclass(slots=True)
class _Events:
    """Times and pages, sorted by time."""

    at: Floats
    page: Pages
    stamp: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def none(cls) -> _Events:
        return cls(np.empty(0), np.empty(0, dtype=np.intp), np.empty(0))


class _Run:
    """One simulation under way."""

    def __init__(
        self,
        world: World,
        choose: Choose,
        learn: Learn | None,
        hearing: Hearing | None,
        rng: Generator,
        start: float,
    ) -> None:
        n_pages = len(world.model)
        n_hosts = 0 if world.host_delay is None else len(world.host_delay)
        self.world, self.choose, self.learn, self.rng = world, choose, learn, rng
        self.hearing = hearing
        fetched_at = np.full(n_pages, start)
        self.state = State(fetched_at, np.zeros(n_pages), np.full(n_hosts, start), world.host)
        self.changed_at = np.full(n_pages, -np.inf)
        self.late = _Events.none()
        self.ledger = Ledger.fresh(world.model)
        self.refused = 0

    def window(
        self, start: float, end: float, slots: Floats
    ) -> tuple[float, float, NDArray[np.int64]]:
        """Freshness, its expectation and the fetches of each page in (start, end]."""
        model = self.world.model
        rate = float((model.change_rate + model.false_signal_rate).sum())
        blocks = max(1, int(np.ceil(rate * (end - start) / EVENTS_AT_ONCE)))
        bounds = np.linspace(start, end, blocks + 1)
        fetches = np.zeros(len(model), dtype=np.int64)
        fresh = expected = 0.0
        for low, high in pairwise(bounds):
            inside = slots[(slots > low) & (slots <= high)]
            some, likely, pages = self._block(float(low), float(high), inside)
            fresh, expected = fresh + some, expected + likely
            fetches += np.bincount(pages, minlength=len(fetches))
        scale = float(model.importance.sum()) * (end - start)
        return fresh / scale, expected / scale, fetches

    def _block(self, start: float, end: float, slots: Floats) -> tuple[float, float, Pages]:
        changes, signals = self._draw(start, end)
        fetched_at, fetched = self._walk(slots, changes, signals)
        self._hear(signals, int(np.searchsorted(signals.at, slots[-1])) if len(slots) else 0, None)
        fresh = self.ledger.fresh_time(start, end, fetched_at, fetched, changes.at, changes.page)
        if self.world.signal_delay is not None:
            return fresh, np.nan, fetched
        likely = self.ledger.likely_time(start, end, fetched_at, fetched, signals.at, signals.page)
        return fresh, likely, fetched

    def _draw(self, start: float, end: float) -> tuple[_Events, _Events]:
        """Changes of this block, and the signals that arrive in it."""
        model, rng = self.world.model, self.rng
        changes = _poisson(model.change_rate, start, end, rng)
        true = rng.random(len(changes.at)) < model.signal_recall[changes.page]
        false = _poisson(model.false_signal_rate, start, end, rng)
        stamp = np.concatenate([changes.at[true], false.at, self.late.stamp])
        page = np.concatenate([changes.page[true], false.page, self.late.page])
        at = stamp
        if self.world.signal_delay is not None:
            new = len(stamp) - len(self.late.at)
            at = np.concatenate([stamp[:new] + self.world.signal_delay(rng, new), self.late.at])
        order = np.argsort(at, kind="stable")
        split = int(np.searchsorted(at[order], end, side="right"))
        now, later = order[:split], order[split:]
        self.late = _Events(at[later], page[later], stamp[later])
        return changes, _Events(at[now], page[now], stamp[now])

    def _walk(self, slots: Floats, changes: _Events, signals: _Events) -> tuple[Floats, Pages]:
        """The slots of a block in turn; returns when which page was fetched."""
        heard = np.searchsorted(signals.at, slots)
        changed = np.searchsorted(changes.at, slots)
        times, pages = [], []
        signals_before = changes_before = 0
        for slot, now in enumerate(slots.tolist()):
            self._hear(signals, signals_before, int(heard[slot]))
            done = slice(changes_before, int(changed[slot]))
            self.changed_at[changes.page[done]] = changes.at[done]
            signals_before, changes_before = int(heard[slot]), int(changed[slot])
            picks = self._fetch(now)
            times.append(np.full(len(picks), now))
            pages.append(picks)
        rest = slice(changes_before, None)
        self.changed_at[changes.page[rest]] = changes.at[rest]
        if not pages:
            return np.empty(0), np.empty(0, dtype=np.intp)
        return np.concatenate(times), np.concatenate(pages)

    def _hear(self, signals: _Events, start: int, stop: int | None) -> None:
        page = signals.page[start:stop]
        if not len(page):
            return
        if self.hearing is not None:
            fetched_at = self.state.fetched_at[page]
            counts = signals.at[start:stop] >= fetched_at + self.hearing.ignore_within
            if self.hearing.by_stamp:
                counts &= signals.stamp[start:stop] > fetched_at
            page = page[counts]
        np.add.at(self.state.signals, page, 1.0)

    def _fetch(self, now: float) -> Pages:
        state = self.state
        picks = self._polite(now, self.choose(now, state))
        if self.learn is not None and len(picks):
            fetched_at = state.fetched_at[picks]
            changed = self.changed_at[picks] > fetched_at
            self.learn(
                Observation(now, picks, now - fetched_at, state.signals[picks].copy(), changed)
            )
        state.fetched_at[picks] = now
        state.signals[picks] = 0.0
        return picks

    def _polite(self, now: float, picks: Pages) -> Pages:
        """The picks whose host is ready, at most one per host; the others' slots are lost."""
        if self.world.host is None or self.world.host_delay is None:
            return picks
        hosts, first = np.unique(self.world.host[picks], return_index=True)
        ready = self.state.ready_at[hosts] <= now + 1e-9
        self.state.ready_at[hosts[ready]] = now + self.world.host_delay[hosts[ready]]
        kept = picks[first[ready]]
        self.refused += len(picks) - len(kept)
        return kept


def _poisson(rate: Floats, start: float, end: float, rng: Generator) -> _Events:
    """Events of independent Poisson processes, one per page."""
    page = np.repeat(np.arange(len(rate)), rng.poisson(rate * (end - start)))
    at = rng.uniform(start, end, len(page))
    order = np.argsort(at)
    return _Events(at[order], page[order], at[order])
