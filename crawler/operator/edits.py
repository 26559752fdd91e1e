"""Settings that are edited while the crawl runs: taken over between two ticks, or refused and kept as they were."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from crawler.config import Config, ConfigError, Fault
from crawler.config.keys import values

# Opened once for the whole crawl.
_FIXED = ("crawl.database", "fetch.uvloop", "log.", "metrics.")

Stamp = tuple[int, int, int]


class Edits:
    """Watches the settings file; `load` reads and checks all settings as at the start."""

    def __init__(
        self, config: Config, path: Path, *, load: Callable[[], Config], out: TextIO
    ) -> None:
        self._config = config
        self._path = path
        self._load = load
        self._out = out
        self._stamp = _stamp(path)
        self._asked = False

    def ask(self) -> None:
        """Look at the file before the next tick, even if it seems unchanged."""
        self._asked = True

    def take(self) -> Config | None:
        """The new settings if there are any that hold."""
        stamp, asked = _stamp(self._path), self._asked
        if stamp == self._stamp and not asked:
            return None
        self._stamp, self._asked = stamp, False
        try:
            config = self._load()
            changed = _differences(self._config, config)
            _refuse_fixed(self._path, changed)
        except ConfigError as error:
            self._out.write(f"{error}\nthe settings stay as they were\n")
            return None
        if not changed:
            self._out.write(f"{self._path}: read again, no setting changed\n" if asked else "")
            return None
        self._out.write(f"{self._path}: taken over: {', '.join(changed)}\n")
        self._config = config
        return config


def _stamp(path: Path) -> Stamp | None:
    """What a write or a replacement of the file changes."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _differences(old: Config, new: Config) -> list[str]:
    """Paths of the settings that are not the same."""
    before, after = dict(values(old)), dict(values(new))
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )


def _refuse_fixed(path: Path, changed: list[str]) -> None:
    problem = "cannot change while the crawl runs; stop it and start it again"
    faults = tuple(Fault(str(path), name, problem) for name in changed if name.startswith(_FIXED))
    if faults:
        raise ConfigError(faults)


@contextmanager
def heard_on_sighup(edits: Edits) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, edits.ask)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGHUP)
