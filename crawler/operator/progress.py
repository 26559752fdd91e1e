"""What a run shows while it goes: a live line on a terminal, plain lines elsewhere, JSON lines on request."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from crawler.clock import Clock
from crawler.engine import Engine
from crawler.fetching.outcome import Outcome
from crawler.observation import Observation
from crawler.operator.exits import OperatorError
from crawler.planning.plan import Pick
from crawler.tally import Tally

_HOST_NEWS: dict[Outcome, str] = {
    Outcome.WALL: "shows a bot wall; prices are kept, the host is left in peace and tried again later",
    Outcome.ROBOTS_UNREACHABLE: "robots.txt cannot be had; nothing is fetched until it can",
    Outcome.CRAWL_DELAY_TOO_LONG: "asks for a Crawl-delay over politeness.max_crawl_delay; skipped",
    Outcome.THROTTLED: "says that we are too fast, or that it is busy; backing off",
    Outcome.FORBIDDEN_ADDRESS: "is not at a public address; fetch.allow_networks would allow it",
    Outcome.TLS: "has a certificate that cannot be verified",
}
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
        self._told: set[tuple[str, Outcome]] = set()

    def watch(self, engine: Engine) -> None:
        """Called again when edited settings have made a new engine."""
        self.close()
        self._engine = engine
        self._again()

    def report(self, pick: Pick, observation: Observation) -> None:
        """Says once for each host what the operator should know of it."""
        advice = _HOST_NEWS.get(observation.outcome)
        if advice is None or (pick.host, observation.outcome) in self._told:
            return
        self._told.add((pick.host, observation.outcome))
        self._clear()
        self._out.write(f"{pick.host}: {advice} ({pick.page.url})\n")

    def _clear(self) -> None:
        if self._live:
            self._out.write("\r\x1b[2K")

    def _again(self) -> None:
        every = _EVERY_LIVE if self._live else _EVERY
        self._timer = self._clock.call_at(self._clock.now() + every, self._show)

    def _show(self) -> None:
        assert self._engine is not None
        line = progress_line(self._engine.tally, self._clock.now() - self._began_at)
        if self._engine.stopping:
            line += "; stopping: waiting for what is in flight"
        self._clear()
        self._out.write(line if self._live else line + "\n")
        self._out.flush()
        self._again()

    def close(self) -> None:
        if self._engine is not None:
            self._timer.cancel()
            self._clear()


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
    try:
        file = path.open("a", encoding="utf-8", errors="replace", buffering=1)
    except OSError as error:
        raise OperatorError(f"log.fetches {path}: {error.strerror}") from error
    with file:
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
