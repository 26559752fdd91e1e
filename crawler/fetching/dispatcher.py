"""Carries out picks politely: one queue a host, so that a slow host never holds up a fast one."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

from crawler.clock import Clock
from crawler.fetching.turns import Turns
from crawler.planning.plan import Pick


class Visitor(Protocol):
    """What is done with a pick: asked before its turn, and carried out in it."""

    async def may_fetch(self, pick: Pick) -> bool:
        """Robots and the like; records the refusal itself.  No turn is held."""
        ...

    async def visit(self, pick: Pick, end_turn: Callable[[], None]) -> None:
        """One exchange and all that follows; `end_turn` lets the next one on the host begin."""
        ...


class Dispatcher:
    """Starts each pick when its host's turn has come and a slot is free.

    A slot is held until what the fetch taught is stored, so `slots` bounds what a crash can lose.
    """

    def __init__(
        self, clock: Clock, turns: Turns, visitor: Visitor, tasks: asyncio.TaskGroup, *, slots: int
    ) -> None:
        self._clock = clock
        self._turns = turns
        self._visitor = visitor
        self._tasks = tasks
        self._slots = asyncio.Semaphore(slots)
        self._queues: dict[str, deque[Pick]] = {}
        self._served: dict[str, asyncio.Task[None]] = {}
        self._started = 0
        self._closed = False
        self._changed = asyncio.Event()

    @property
    def in_flight(self) -> int:
        return self._started

    @property
    def idle(self) -> bool:
        """Nothing is in flight and nothing waits."""
        return not self._served and not self._started

    def is_dry(self, host: str) -> bool:
        """True when nothing waits for this host."""
        return not self._queues.get(host)

    def submit(self, picks: Iterable[Pick]) -> None:
        for pick in picks:
            self._queue(pick.host).append(pick)
            self._serve_host(pick.host)

    def submit_first(self, pick: Pick) -> None:
        """A pick that goes before all others of its host: the target of a redirect."""
        self._queue(pick.host).appendleft(pick)
        self._serve_host(pick.host)

    def _queue(self, host: str) -> deque[Pick]:
        return self._queues.setdefault(host, deque())

    def _serve_host(self, host: str) -> None:
        if host not in self._served and not self._closed:
            self._served[host] = self._tasks.create_task(self._serve(host))

    def withdraw(self, *, follows: bool) -> list[Pick]:
        """Takes back every pick that has not been started; targets of redirects only with `follows`."""
        taken: list[Pick] = []
        for queue in self._queues.values():
            kept = [] if follows else [pick for pick in queue if pick.trail]
            taken += [pick for pick in queue if follows or not pick.trail]
            queue.clear()
            queue.extend(kept)
        return taken

    def close(self) -> list[Pick]:
        """Takes back all that has not been started, and waits for no host's turn any more."""
        self._closed = True
        for task in self._served.values():
            task.cancel()
        return self.withdraw(follows=True)

    def wake(self) -> None:
        """Makes `wait` look again."""
        self._changed.set()

    async def wait(self, until: float, *, enough: Callable[[], bool]) -> None:
        """Returns when all submitted picks are done, at `until`, or when `enough` says so."""
        while not self.idle and self._clock.now() < until and not enough():
            await self.rest(until)

    async def rest(self, until: float) -> None:
        """Returns at `until`, or earlier when a host has nothing left to do or `wake` is called."""
        self._changed.clear()
        timer = self._clock.call_at(until, self._changed.set)
        try:
            await self._changed.wait()
        finally:
            timer.cancel()

    async def _serve(self, host: str) -> None:
        """Works off one host's queue; ends when it is empty."""
        queue = self._queue(host)
        while queue:
            pick = queue[0]
            if not await self._visitor.may_fetch(pick):
                if queue and queue[0] is pick:
                    queue.popleft()
                continue
            await self._turns.take(host)
            await self._slots.acquire()
            # While we waited the pick may have been withdrawn, or another that nobody asked robots.txt
            # about may have come before it.
            if queue and queue[0] is pick and self._turns.begin(host):
                self._started += 1
                self._tasks.create_task(self._carry_out(queue.popleft()))
            else:
                self._slots.release()
                self._turns.give_back(host)
        del self._served[host]
        self._changed.set()

    async def _carry_out(self, pick: Pick) -> None:
        turn = _Turn(self._turns, pick.host)
        try:
            await self._visitor.visit(pick, turn.end)
        finally:
            turn.end()
            self._slots.release()
            self._started -= 1
            if self.is_dry(pick.host):  # nothing else can end a tick, and looking takes 5 us
                self._changed.set()


class _Turn:
    """A turn that ends once, however often it is told to."""

    def __init__(self, turns: Turns, host: str) -> None:
        self._turns = turns
        self._host = host
        self._held = True

    def end(self) -> None:
        if self._held:
            self._held = False
            self._turns.give_back(self._host)
