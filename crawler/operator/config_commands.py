"""The commands check-config and show-config: are the settings right, and where did each come from?"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from crawler.config import ConfigError, Loaded, live_run_faults, load_config
from crawler.config.faults import written
from crawler.config.keys import values

USAGE_OR_CONFIG = 2  # exit code


def check_config(
    path: Path | None,
    *,
    environment: Mapping[str, str],
    flags: Mapping[str, str],
    out: TextIO,
    err: TextIO,
) -> int:
    """Say that the settings are fine and what a live run still wants, or every fault."""
    loaded = load_or_tell(path, environment, flags, err)
    if loaded is None:
        return USAGE_OR_CONFIG
    sites = len(loaded.config.site)
    out.write(f"{path or 'settings'}: fine, {sites} {'site' if sites == 1 else 'sites'}\n")
    wanting = live_run_faults(loaded.config, file=str(path or "settings"))
    out.writelines(f"not yet ready to run: {fault}\n" for fault in wanting)
    return 0


def show_config(
    path: Path | None,
    *,
    environment: Mapping[str, str],
    flags: Mapping[str, str],
    as_json: bool,
    out: TextIO,
    err: TextIO,
) -> int:
    """Every value with its origin, as TOML that could be a config file, or as JSON."""
    loaded = load_or_tell(path, environment, flags, err)
    if loaded is None:
        return USAGE_OR_CONFIG
    text = as_json_text(loaded) if as_json else "\n".join(toml_lines(loaded))
    out.write(text + "\n")
    return 0


def load_or_tell(
    path: Path | None, environment: Mapping[str, str], flags: Mapping[str, str], err: TextIO
) -> Loaded | None:
    try:
        return load_config(path, environment=environment, flags=flags)
    except ConfigError as error:
        err.write(f"{error}\n")
        return None


def as_json_text(loaded: Loaded) -> str:
    """{"politeness.delay": {"value": "2s", "origin": "default"}, ...}"""
    settings = {
        path: {"value": json.loads(written(value)), "origin": loaded.origins[path]}
        for path, value in values(loaded.config)
    }
    return json.dumps(settings, indent=2, ensure_ascii=False)


def toml_lines(loaded: Loaded) -> Iterator[str]:
    """A line for each value, its origin beside it; what is unset stands as a comment."""
    shown = ""
    for path, value in values(loaded.config):
        table, _, key = path.rpartition(".")
        if table != shown:
            yield from ([""] if shown else []) + [header(table)]
            shown = table
        setting = f"# {key} is not set" if value is None else f"{key} = {written(value)}"
        yield f"{setting:<39} # {loaded.origins[path]}"


def header(table: str) -> str:
    """[politeness], [[site]] for a site itself, [site.budget] for a table in it."""
    words = [word for word in table.split(".") if not word.isdecimal()]
    return "[[site]]" if words == ["site"] else f"[{'.'.join(words)}]"
