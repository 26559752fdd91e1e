"""Taking turns on a host: at most `per_host` exchanges at a time, each when the gate is open."""

import asyncio
from collections import defaultdict

from crawler.clock import Clock
from crawler.fetching.politeness import HostGate


class Turns:
    """Waits, on behalf of whoever wants to send, until the host may be asked."""

    def __init__(self, clock: Clock, gate: HostGate, *, per_host: int) -> None:
        self._clock = clock
        self._gate = gate
        self._places: dict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(per_host)
        )

    async def take(self, host: str) -> None:
        """Returns when the host may be asked.  Every `take` needs its `give_back`."""
        place = self._places[host]
        await place.acquire()
        try:
            # The gate may close again while we wait: another host's robots.txt can lead here.
            while (ready_at := self._gate.ready_at(host)) > self._clock.now():
                await self._clock.sleep_until(ready_at)
        except asyncio.CancelledError:
            place.release()
            raise

    def begin(self, host: str) -> bool:
        """Says that the exchange starts now; False when the gate has closed since `take` returned."""
        now = self._clock.now()
        if self._gate.ready_at(host) > now:
            return False
        self._gate.started(host, started_at=now)
        return True

    def give_back(self, host: str) -> None:
        self._places[host].release()
