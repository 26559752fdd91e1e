"""The command replay: the same crawl on recorded HTTP, in virtual time."""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from crawler.archives.index import ArchiveIndex, open_index
from crawler.archives.price_table import is_table
from crawler.archives.replay import Replayed, choose_sites
from crawler.archives.replay import replay as run_replay
from crawler.clock import Clock, real_time
from crawler.config import Config
from crawler.engine import Engine
from crawler.observation import Observation
from crawler.operator.exits import EXIT_OF_FINISH, Exit, OperatorError, told_errors
from crawler.operator.progress import fetch_log
from crawler.operator.settings import load
from crawler.operator.summary import summary_lines
from crawler.planning.plan import Pick

_EVERY = 5.0  # seconds between plain lines
_EVERY_LIVE = 0.25


@told_errors
def replay(arguments: argparse.Namespace) -> int:
    if _is_judged(arguments):
        from crawler.operator.judge import judge

        return judge(arguments)
    progress = ReplayProgress(sys.stderr)
    index = open_index(arguments.paths, told=progress.indexing)
    progress.clear()
    with _database(arguments.database) as path:
        config = _settings(arguments, index, path)
        try:
            with fetch_log(config.log.fetches) as log:

                def report(pick: Pick, observation: Observation) -> None:
                    log(pick, observation)
                    progress.fetched()

                result = run_replay(
                    config, index, once=arguments.once, report=report, started=progress.watch
                )
        except (KeyboardInterrupt, asyncio.CancelledError):
            sys.stderr.write("stopped at once\n")
            return Exit.INTERRUPTED
        finally:
            progress.clear()
    _tell(result, index, as_json=arguments.json)
    return EXIT_OF_FINISH[result.summary.finish]


def _is_judged(arguments: argparse.Namespace) -> bool:
    """Is a score asked for?  Of a table of prices there is nothing else to tell."""
    asked = (arguments.score, arguments.compare, arguments.report, arguments.budgets)
    return any(asked) or any(map(is_table, arguments.paths))


@contextmanager
def _database(asked: str | None) -> Iterator[Path]:
    """A new file: a replay on top of another crawl's knowledge would be a replay of neither."""
    if asked is None:
        with tempfile.TemporaryDirectory(prefix="freshet-replay-") as folder:
            yield Path(folder) / "replay.db"
        return
    path = Path(asked)
    if path.exists():
        raise OperatorError(f"--database {path}: want a new file for the replay, got one there")
    yield path


def _settings(arguments: argparse.Namespace, index: ArchiveIndex, database: Path) -> Config:
    """The operator's settings over the archive's sites; the live database and log are left alone."""
    config = load(arguments)
    config = config.model_copy(
        update={
            "crawl": config.crawl.model_copy(update={"database": database}),
            "log": config.log if arguments.log else config.log.model_copy(update={"fetches": None}),
        }
    )
    return choose_sites(config, index, arguments.start)


def _tell(result: Replayed, index: ArchiveIndex, *, as_json: bool) -> None:
    for trouble, count in index.troubles.most_common():
        sys.stderr.write(f"archive: {count} x {trouble}\n")
    if as_json:
        sys.stdout.write(json.dumps(as_rows(result, index), indent=2) + "\n")
    else:
        sys.stdout.writelines(line + "\n" for line in replay_lines(result, index))


def as_rows(result: Replayed, index: ArchiveIndex) -> dict[str, object]:
    """The result for programs."""
    summary, support = result.summary, result.support
    return {
        "finish": summary.finish.name.lower(),
        "began_at": result.began_at,
        "virtual_seconds": round(summary.duration, 3),
        "once": result.once,
        "captures": len(index),
        "captured_pages": len(index.pages),
        "fetches": summary.tally.fetches,
        "discovered": summary.tally.discovered,
        "offers": summary.tally.offers,
        "changed": summary.tally.changed,
        "outcomes": dict(sorted(summary.tally.outcomes.items())),
        "asked": support.asked,
        "answered": support.answered,
        "early": support.early,
        "troubles": dict(index.troubles),
    }


def replay_lines(result: Replayed, index: ArchiveIndex) -> Iterator[str]:
    """The result for people: the ordinary summary, and how far the archive supports it."""
    support = result.support
    ended_at = result.began_at + result.summary.duration
    how = "each page at one date: discovery only" if result.once else "discovery and refresh"
    yield f"archive: {len(index)} captures of {len(index.pages)} pages; {how}"
    yield f"virtual time: {_date(result.began_at)} to {_date(ended_at)}"
    yield from summary_lines(result.summary)
    yield (
        f"support: {support.answered} of {support.asked} fetches answered by the archive "
        f"({support.share:.1%}), {support.early} of them by a capture made later"
    )


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


class ReplayProgress:
    """A line with the virtual date, by the operator's clock: virtual hours pass in milliseconds."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._live = out.isatty()
        self._every = _EVERY_LIVE if self._live else _EVERY
        self._next_at = real_time() + self._every
        self._engine: Engine | None = None
        self._clock: Clock | None = None

    def watch(self, engine: Engine, clock: Clock) -> None:
        self._engine, self._clock = engine, clock

    def indexing(self, path: Path, done: int, size: int) -> None:
        if self._due():
            share = done / size if size else 1.0
            self._show(f"indexing {path.name}: {share:.0%} of {size / 1e6:.0f} MB")

    def fetched(self) -> None:
        if self._due():
            assert self._engine is not None
            assert self._clock is not None
            tally = self._engine.tally
            self._show(
                f"{_date(self._clock.now())}  {tally.fetches} fetched, {tally.failed} failed, "
                f"{tally.discovered} pages found, {tally.offers} offers, {tally.changed} changes"
            )

    def clear(self) -> None:
        if self._live:
            self._out.write("\r\x1b[2K")

    def _due(self) -> bool:
        now = real_time()
        if now < self._next_at:
            return False
        self._next_at = now + self._every
        return True

    def _show(self, line: str) -> None:
        self.clear()
        self._out.write(line if self._live else line + "\n")
        self._out.flush()
