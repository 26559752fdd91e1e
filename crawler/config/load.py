"""From the file, the environment and the flags to one Config, or to every fault at once."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from crawler.config import keys
from crawler.config.faults import ConfigError, Fault, describe, written
from crawler.config.lines import line_numbers
from crawler.config.model import Config, site_name

DEFAULT = "default"
FLAG = "flag"
# Variables with our prefix that are no settings: where the benchmarks find their recordings.
OTHER_VARIABLES = {"FRESHET_DATA"}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and where each came from: `default`, file:line, `environment NAME` or `flag`."""

    config: Config
    origins: dict[str, str]


@dataclass(frozen=True, slots=True)
class Override:
    """One setting from outside the file, still as text."""

    origin: str
    path: str
    text: str


def load_config(
    path: Path | None, *, environment: Mapping[str, str], flags: Mapping[str, str]
) -> Loaded:
    """Flag over environment over file over default.  Without a path there is no file.

    `flags` maps dotted paths to text: {"politeness.delay": "1s"}.
    """
    tree, origins = read_file(path) if path else ({}, {})
    overrides = [*from_environment(environment), *from_flags(flags)]
    return build(tree, origins, overrides, file=str(path or "settings"))


def build(
    tree: dict[str, Any], origins: Mapping[str, str], overrides: Sequence[Override], *, file: str
) -> Loaded:
    """Settle a parsed file and what goes before it; `tree` is changed in place."""
    faults = [fault for override in overrides for fault in apply(override, tree)]
    written_at = {**origins, **{override.path: override.origin for override in overrides}}
    try:
        config = Config.model_validate(tree)
    except ValidationError as error:
        faults += faults_of(error, written_at, file)
    faults += duplicate_names(tree.get("site"), written_at, file)
    if faults:
        raise ConfigError(tuple(faults))
    return Loaded(config, {key: written_at.get(key, DEFAULT) for key, _ in keys.values(config)})


def read_file(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The parsed file and the origin, file:line, of each path in it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        tree = tomllib.loads(text)
    except FileNotFoundError:
        raise unreadable(path, "no such file; name another with --config FILE") from None
    except OSError as error:
        raise unreadable(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise unreadable(path, f"want UTF-8 text, got another byte at {error.start}") from None
    except ValueError as error:  # TOMLDecodeError, and a number of over 4300 digits
        raise unreadable(path, f"not TOML: {error}") from None
    return tree, {key: f"{path}:{line}" for key, line in line_numbers(text).items()}


def unreadable(path: Path, problem: str) -> ConfigError:
    return ConfigError((Fault(origin=str(path), path="", problem=problem),))


def from_environment(environment: Mapping[str, str]) -> list[Override]:
    """Settings named like FRESHET_POLITENESS__DELAY, in a fixed order."""
    names = sorted(name for name in environment if name.startswith(keys.PREFIX))
    return [
        Override(f"environment {name}", keys.path_of(name), environment[name])
        for name in names
        if name not in OTHER_VARIABLES
    ]


def from_flags(flags: Mapping[str, str]) -> list[Override]:
    return [Override(FLAG, path, text) for path, text in flags.items()]


def apply(override: Override, tree: dict[str, Any]) -> list[Fault]:
    """Put one override into the tree, in place; the faults that kept it out."""
    kind = keys.type_of(override.path)
    if kind is None:
        return [unknown(override)]
    *tables, key = override.path.split(".")
    table: Any = tree
    for name in tables:
        table = step_into(table, name)
        if table is None:
            return [Fault(override.origin, override.path, "no such site; count from 0")]
    if isinstance(table, dict):
        table[key] = keys.from_text(kind, override.text)
    return []


def unknown(override: Override) -> Fault:
    """The complaint about a setting that does not exist, in the spelling it was given."""
    if override.origin == FLAG:
        return Fault(FLAG, override.path, keys.unknown_key(override.path))
    return Fault(override.origin, "", keys.unknown_variable(keys.variable(override.path)))


def step_into(table: Any, name: str) -> Any:
    """The table below, made if missing; None for a site beyond the next one.

    What is no table (a fault of the file, reported by its own path) is handed back as it is.
    """
    if isinstance(table, list) and name.isdecimal():
        position = int(name)
        if position == len(table):
            table.append({})
        return table[position] if position < len(table) else None
    if isinstance(table, dict):
        return table.setdefault(name, [] if name == "site" else {})
    return table


def faults_of(error: ValidationError, origins: Mapping[str, str], file: str) -> list[Fault]:
    """Every error of the model in the operator's words."""
    faults = []
    for detail in error.errors(include_url=False):
        path = ".".join(map(str, detail["loc"]))
        if detail["type"] == "extra_forbidden":
            problem = keys.unknown_key(path)
        elif path == "site":
            problem = "want tables headed [[site]], with double brackets"
        else:
            problem = describe(
                detail["type"], detail["msg"], detail.get("ctx", {}), detail["input"]
            )
        faults.append(Fault(nearest_origin(path, origins, file), path, problem))
    return faults


def nearest_origin(path: str, origins: Mapping[str, str], file: str) -> str:
    """Where the setting, or else the closest table around it, was written."""
    while path and path not in origins:
        path = path.rpartition(".")[0]
    return origins.get(path, file)


def duplicate_names(sites: Any, origins: Mapping[str, str], file: str) -> list[Fault]:
    """Two sites of one name; looked for in the raw tables so that no other fault hides it."""
    faults, first = [], dict[str, int]()
    tables = sites if isinstance(sites, list) else []
    for position, table in enumerate(tables):
        name = site_name(table) if isinstance(table, dict) else ""
        if name and first.setdefault(name, position) != position:
            path = f"site.{position}.name"
            problem = f"want a name of its own, got {written(name)} as site.{first[name]}"
            faults.append(Fault(nearest_origin(path, origins, file), path, problem))
    return faults
