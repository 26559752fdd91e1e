"""What the process's exit code says, and the one place where errors become messages."""

import argparse
import functools
import sys
from collections.abc import Callable
from enum import IntEnum

from crawler.archives.captures import ArchiveError
from crawler.config import ConfigError
from crawler.engine import Finish
from storage.errors import StorageError


class Exit(IntEnum):
    """The codes that scripts may rely on."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    STORAGE = 3
    NOTHING = 4
    FAILURES = 5
    INTERRUPTED = 130


EXIT_OF_FINISH: dict[Finish, Exit] = {
    Finish.DONE: Exit.DONE,
    Finish.TIME: Exit.DONE,
    Finish.FETCHES: Exit.DONE,
    Finish.INTERRUPTED: Exit.INTERRUPTED,
    Finish.EDITED: Exit.DONE,
    Finish.NOTHING: Exit.NOTHING,
    Finish.FAILURES: Exit.FAILURES,
}


class OperatorError(Exception):
    """Something the operator asked for cannot be done; the message says what to do."""


Command = Callable[[argparse.Namespace], int]


def told_errors(command: Command) -> Command:
    """The command with the errors an operator can act on turned into a message and an exit code."""

    @functools.wraps(command)
    def told(arguments: argparse.Namespace) -> int:
        try:
            return command(arguments)
        except _TOLD as error:
            leaf = _leaf(error)
            for kind, code in _CODES:
                if isinstance(leaf, kind):
                    sys.stderr.write(f"{leaf}\n")
                    return code
            raise

    return told


_CODES: tuple[tuple[type[Exception], Exit], ...] = (
    (ConfigError, Exit.USAGE),
    (StorageError, Exit.STORAGE),
    (OperatorError, Exit.ERROR),
    (ArchiveError, Exit.ERROR),
)
_TOLD: tuple[type[BaseException], ...] = (*(kind for kind, _ in _CODES), BaseExceptionGroup)


def _leaf(error: BaseException) -> BaseException:
    """A failing task group wraps the same error once for each task that met it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
