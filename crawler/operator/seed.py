"""The command seed: pages from a list of URLs."""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from crawler.clock import Clock
from crawler.config import Config, ConfigError, Fault
from crawler.memory import take_up
from crawler.operator.exits import Exit, OperatorError, told_errors
from crawler.operator.settings import load
from crawler.reading.urls import canonical_url
from storage.rows import Batch
from storage.store import open_store

_AT_ONCE = 10_000
_SHOWN = 20


@told_errors
def seed(arguments: argparse.Namespace) -> int:
    config = load(arguments)
    if not config.site:
        raise ConfigError(
            (Fault("config.toml", "site", "want the sites these URLs belong to, got none"),)
        )
    asyncio.run(_seed(config, arguments.file))
    return Exit.DONE


async def _seed(config: Config, name: str) -> None:
    clock = Clock()
    told = _Told()
    async with open_store(config.crawl.database, pause=_no_pause) as store:
        memory = await take_up(store, config, clock)
        for lines in _batches(name):
            batch = Batch()
            urls = [canonical_url(text) for _, text in lines]
            new = memory.admission.admit(
                [url for url in urls if url is not None],
                batch,
                how="seed",
                source_id=None,
                depth=0,
                now=clock.now(),
            )
            batch.add(memory.admission.take_unstored())
            await store.write(batch)
            told.count(lines, urls, new=len(new), batch=batch)
    told.show()


class _Told:
    """What became of the lines."""

    def __init__(self) -> None:
        self.read = 0
        self.added = 0
        self.bad: list[str] = []
        self.left_out: Counter[str] = Counter()

    def count(
        self, lines: list[tuple[int, str]], urls: list[str | None], *, new: int, batch: Batch
    ) -> None:
        self.read += len(lines)
        self.added += new
        for (number, text), url in zip(lines, urls, strict=True):
            if url is None:
                self.bad.append(f"line {number}: want a web address, got {text[:100]!r}")
        for row in batch.dropped:
            self.left_out[row.reason] += row.links
        sys.stderr.write(f"{self.read} URLs read, {self.added} new pages\n")

    def show(self) -> None:
        sys.stderr.writelines(line + "\n" for line in self.bad[:_SHOWN])
        if len(self.bad) > _SHOWN:
            sys.stderr.write(f"and {len(self.bad) - _SHOWN} more such lines\n")
        for reason, count in self.left_out.most_common():
            sys.stderr.write(f"{count} left out: {reason}\n")


async def _no_pause() -> None:
    """Whole batches arrive: there is nothing to wait for."""


def _batches(name: str) -> Iterator[list[tuple[int, str]]]:
    """Numbered lines that are neither empty nor comments."""
    try:
        file = (
            sys.stdin if name == "-" else Path(name).open(encoding="utf-8", errors="replace")  # noqa: SIM115  closed below
        )
    except OSError as error:
        raise OperatorError(f"{name}: want a list of URLs, got: {error.strerror}") from error
    with file:
        lines: list[tuple[int, str]] = []
        for number, line in enumerate(file, start=1):
            text = line.strip()
            if text and not text.startswith("#"):
                lines.append((number, text))
            if len(lines) >= _AT_ONCE:
                yield lines
                lines = []
        if lines:
            yield lines
