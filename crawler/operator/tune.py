"""The command tune: searches settings by replay, tells the gain and writes the settings."""

import argparse
import os
import sys
from collections.abc import Iterator

from crawler.archives.ranges import Range, read_range
from crawler.archives.recording import open_recording
from crawler.archives.trial import with_settings
from crawler.archives.tune import GOALS, Search, Step, Tuned, spans_of, tune
from crawler.config import Config, keys
from crawler.config.faults import written
from crawler.operator.exits import Exit, OperatorError, told_errors
from crawler.operator.judge import seconds
from crawler.operator.settings import load

DEFAULTS = (
    "planning.strategy clock|portfolio|greedy|oldest_first",
    "planning.worth_new 1h..4d",
    "planning.half_life 2h..7d",
    "planning.site_floor 0..0.5",
    "planning.changes_per_day 0.02..5",
    "planning.exploration 0.01..0.5",
)


@told_errors
def tune_command(arguments: argparse.Namespace) -> int:
    config = load(arguments)
    search = _search(arguments, config)
    try:
        tuned = tune(search, cores=arguments.cores or os.cpu_count() or 1, told=_tell)
    except KeyboardInterrupt:
        sys.stderr.write(f"stopped; the same command goes on from {search.study}\n")
        return Exit.INTERRUPTED
    sys.stdout.writelines(line + "\n" for line in verdict(search, tuned))
    if tuned.is_confirmed:
        arguments.output.write_text(fragment(search, tuned), encoding="utf-8")
        sys.stdout.write(f"written to {arguments.output}; put its lines into your config.toml\n")
    return Exit.DONE


def _search(arguments: argparse.Namespace, config: Config) -> Search:
    ranges = tuple(map(_range, arguments.vary or DEFAULTS))
    if arguments.goal not in GOALS:
        raise OperatorError(f"--goal: want one of {', '.join(GOALS)}, got {arguments.goal}")
    paths = tuple(arguments.paths)
    truth = open_recording(paths, config.site).truth
    training, unseen = spans_of(truth, length=seconds("--for", arguments.stop_after))
    return Search(
        paths=paths,
        config=config,
        ranges=ranges,
        goal=arguments.goal,
        trials=arguments.trials,
        seeds=arguments.seeds,
        study=arguments.study,
        training=training,
        unseen=unseen,
    )


def _range(text: str) -> Range:
    try:
        return read_range(text)
    except ValueError as error:
        raise OperatorError(f"--vary: {error}") from None


def _tell(step: Step) -> None:
    how = "given up" if step.given_up else f"{step.value:.4f}"
    settings = ", ".join(f"{path}={text}" for path, text in step.changes.items())
    sys.stderr.write(
        f"trial {step.number + 1}: {how}; best {step.best:.4f}, current {step.current:.4f}; {settings}\n"
    )


def verdict(search: Search, tuned: Tuned) -> Iterator[str]:
    """What the search found, in plain words."""
    goal = search.goal.replace("_", " ")
    if tuned.changes is None or tuned.gain is None:
        yield f"nothing beats the current settings ({goal} {tuned.current:.4f} in training): keep them"
        return
    gain = tuned.gain
    yield f"training: {goal} {tuned.current:.4f} now, {tuned.best:.4f} with"
    for path, text in tuned.changes.items():
        yield f"  {path} = {text}"
    yield (
        f"unseen span: {tuned.unseen_current:.4f} now, {tuned.unseen_best:.4f} then; "
        f"gain {gain.mean:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]"
    )
    if not tuned.is_confirmed:
        yield "the gain is not sure on the unseen span: nothing beats the current settings, keep them"


def fragment(search: Search, tuned: Tuned) -> str:
    """The winning settings as TOML, with what they were measured to gain."""
    assert tuned.gain is not None
    gain, tables = tuned.gain, dict[str, list[str]]()
    for path, value in _values(search, tuned):
        table, _, key = path.rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {written(value)}")
    lines = [
        f"# Found by replay of {', '.join(path.name for path in search.paths)}.",
        f"# {search.goal} on a span the search had not seen: {tuned.unseen_current:.4f} before, "
        f"{tuned.unseen_best:.4f} with these.",
        f"# Gain {gain.mean:+.4f}, 95 % interval {gain.low:+.4f} to {gain.high:+.4f}.",
    ]
    for table, settings in tables.items():
        lines += ["", f"[{table}]", *settings]
    return "\n".join(lines) + "\n"


def _values(search: Search, tuned: Tuned) -> Iterator[tuple[str, object]]:
    changes = tuned.changes or {}
    values = dict(keys.values(with_settings(search.config, changes)))
    yield from ((path, values[path]) for path in changes)
