"""From a command's arguments to its settings."""

import argparse
import os
from pathlib import Path

from crawler.config import Config, ConfigError, Fault, live_run_faults, load_config, sites_from_urls
from crawler.operator.command_line import CONFIG

# Flags that stand for a setting.
_NAMED = {
    "database": "crawl.database",
    "stop_after": "crawl.stop_after",
    "max_fetches": "crawl.max_fetches",
    "log": "log.fetches",
}


def config_path(arguments: argparse.Namespace) -> Path | None:
    """The file asked for, ./config.toml if there is one, or none."""
    if arguments.config is not None:
        asked: Path = arguments.config
        return asked
    return CONFIG if CONFIG.exists() else None


def flags(arguments: argparse.Namespace) -> dict[str, str]:
    """--set and its short forms as dotted paths.  A later flag wins."""
    found: dict[str, str] = {}
    for text in getattr(arguments, "set", []):
        key, equals, value = text.partition("=")
        if not equals:
            fault = Fault("flag", key, f"want --set KEY=VALUE, got --set {text}")
            raise ConfigError((fault,))
        found[key.strip()] = value.strip()
    for name, key in _NAMED.items():
        value = getattr(arguments, name, None)
        if value is not None:
            found[key] = str(value)
    return found


def load(arguments: argparse.Namespace) -> Config:
    """The settings for a command; raises ConfigError with every fault."""
    path = config_path(arguments)
    loaded = load_config(path, environment=os.environ, flags=flags(arguments))
    return loaded.config


def load_for_live(arguments: argparse.Namespace) -> Config:
    """The settings for a crawl of real hosts; URLs on the command line replace the sites."""
    config = load(arguments)
    if arguments.urls:
        config = config.model_copy(update={"site": sites_from_urls(arguments.urls)})
    _refuse(live_run_faults(config, file=_file(arguments)))
    return config


def load_for_asking(arguments: argparse.Namespace) -> Config:
    """The settings for a command that asks one real host, whatever the sites are."""
    config = load(arguments)
    faults = live_run_faults(config, file=_file(arguments))
    _refuse(tuple(fault for fault in faults if fault.path != "site"))
    return config


def _file(arguments: argparse.Namespace) -> str:
    return str(config_path(arguments) or CONFIG)


def _refuse(faults: tuple[Fault, ...]) -> None:
    if faults:
        raise ConfigError(faults)
