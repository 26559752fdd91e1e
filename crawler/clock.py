"""The one place that reads time: epoch seconds on the event loop's own clock, real or virtual.

Live, loop time is the machine's monotonic clock.  In replay and simulation the loop's selector adds the
time it would have waited to its clock instead of waiting (`virtual_loop`), so timeouts, semaphores and
task groups obey virtual time unchanged.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

T = TypeVar("T")
_NO_HOLD = nullcontext()


class Clock:
    """Epoch time for one event loop.  `started_at` is the epoch time of the clock's creation."""

    def __init__(self, started_at: float | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        epoch = time.time() if started_at is None else started_at
        self._offset = epoch - self._loop.time()
        selector = getattr(self._loop, "_selector", None)
        self._selector = selector if isinstance(selector, VirtualSelector) else None

    @property
    def virtual(self) -> bool:
        return self._selector is not None

    def now(self) -> float:
        return self._offset + self._loop.time()

    async def sleep_until(self, at: float) -> None:
        await asyncio.sleep(max(0.0, at - self.now()))

    async def linger(self, seconds: float) -> None:
        """A pause that is only worth taking in real time; virtual time stands still for it."""
        await asyncio.sleep(0.0 if self._selector else seconds)

    def call_at(self, at: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        return self._loop.call_at(at - self._offset, callback)

    def real_wait(self) -> AbstractContextManager[None]:
        """Wrap an await on another thread or process, whose work takes no virtual time.

        Without it a virtual loop looks idle while the thread works, and its time runs away.
        """
        return _NO_HOLD if self._selector is None else self._selector.hold()


class VirtualSelector(selectors.DefaultSelector):
    """A selector whose waits pass at once on its own clock, except while real work is awaited."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.held = 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        self.held += 1
        try:
            yield
        finally:
            self.held -= 1

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or (self.held and timeout > 0):
            return super().select(None)
        events = super().select(0)
        if not events and timeout > 0:
            self.time += timeout
        return events


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on virtual time, starting at zero."""

    def __init__(self) -> None:
        self._virtual = VirtualSelector()
        super().__init__(self._virtual)
        # asyncio's nanosecond is lost in rounding after 194 days of virtual time, and no timer would ever
        # be due again.  This lasts 17 years, and is below what epoch seconds can tell apart (240 ns).
        self._clock_resolution = 5e-8

    def time(self) -> float:
        return self._virtual.time

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109  asyncio's own
        """Python 3.12 gives threads a time limit to end in, which virtual time would pass at once."""
        self._virtual.held += 1
        try:
            await super().shutdown_default_executor()
        finally:
            self._virtual.held -= 1


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


def real_time() -> float:
    """Epoch seconds now, for code outside any event loop (a report, an export)."""
    return time.time()


def cpu_time() -> float:
    """CPU seconds this process has used."""
    return time.process_time()
