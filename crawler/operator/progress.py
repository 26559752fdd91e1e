"""What a run shows while it goes: a live line on a terminal, plain lines elsewhere, JSON lines on request."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from crawler.clock import Clock
from crawler.engine import Engine
from crawler.observation import Observation
from crawler.planning.plan import Pick
from crawler.tally import Tally

_EVERY = 10.0  # seconds between plain lines
_EVERY_LIVE = 0.25


class Progress:
    """Watches the engine.  `show` is called by a timer on the event loop, so it costs nothing a page."""

    def __init__(self, clock: Clock, out: TextIO) -> None:
        self._clock = clock
        self._out = out
        self._live = out.isatty()
        self._began_at = clock.now()
        self._engine: Engine | None = None

    def watch(self, engine: Engine) -> None:
        self._engine = engine
        self._again()

    def _again(self) -> None:
        every = _EVERY_LIVE if self._live else _EVERY
        self._timer = self._clock.call_at(self._clock.now() + every, self._show)

    def _show(self) -> None:
        assert self._engine is not None
        line = progress_line(self._engine.tally, self._clock.now() - self._began_at)
        if self._engine.stopping:
            line += "; stopping: waiting for what is in flight"
        if self._live:
            self._out.write(f"\r\x1b[2K{line}")
        else:
            self._out.write(line + "\n")
        self._out.flush()
        self._again()

    def close(self) -> None:
        if self._engine is not None:
            self._timer.cancel()
            if self._live:
                self._out.write("\r\x1b[2K")


def progress_line(tally: Tally, elapsed: float) -> str:
    rate = tally.fetches / elapsed if elapsed > 0 else 0.0
    return (
        f"{elapsed:6.0f} s  {tally.fetches} fetched ({rate:.1f}/s), {tally.failed} failed, "
        f"{tally.discovered} pages found, {tally.offers} offers, {tally.changed} changes"
    )


@contextmanager
def fetch_log(path: Path | None) -> Iterator[Callable[[Pick, Observation], None]]:
    """A function that appends one JSON line for each fetch to `path`; does nothing without one."""
    if path is None:
        yield lambda pick, observation: None
        return
    with path.open("a", encoding="utf-8", buffering=1) as file:
        yield lambda pick, observation: print(fetch_line(pick, observation), file=file)


def fetch_line(pick: Pick, observation: Observation) -> str:
    """One fetch attempt, or one refusal to attempt it, as JSON."""
    return json.dumps(
        {
            "at": round(observation.fetched_at - observation.duration, 3),
            "outcome": observation.outcome,
            "status": observation.status,
            "bytes": observation.wire_bytes,
            "url": pick.page.url,
            "discovered": pick.page.how,
            "duration": round(observation.duration, 4),
            "digest": None
            if observation.body_hash is None
            else f"{observation.body_hash & (2**64 - 1):016x}",
            "changed": observation.changed,
            "purpose": pick.purpose,
            "strategy": pick.strategy,
            "probability": pick.probability,
            "value": pick.value,
            "reason": pick.reason,
            "note": observation.note,
        },
        ensure_ascii=False,
    )
