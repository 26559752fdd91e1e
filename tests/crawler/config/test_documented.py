"""config.toml and docs/configuration.md name every setting, with the default it has."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from crawler.config import Config, SiteSettings, load_config
from crawler.config.faults import written
from crawler.config.keys import setting_types, values

ROOT = Path(__file__).parents[3]
FILE = ROOT / "config.toml"
DOCS = (ROOT / "docs/configuration.md").read_text()
# A prose comment has a space after its "#", a setting has none.
COMMENTED = re.compile(r"^#(?=\[|\w+ = )", re.MULTILINE)
SITE = SiteSettings(name="shop.example", start=("https://shop.example/",))


def defaults() -> dict[str, object]:
    return dict(values(Config(site=(SITE,))))


def file_lines() -> dict[str, str]:
    """Path -> line of config.toml that shows it."""
    found, table = {}, ""
    for line in COMMENTED.sub("", FILE.read_text()).split("\n"):
        if line.startswith("["):
            table = line.strip("[]").replace("site", "site.0")
        elif " = " in line and not line.startswith("#"):
            found[f"{table}.{line.split(' = ')[0]}"] = line
    return found


def test_config_toml_is_valid_and_changes_nothing() -> None:
    assert load_config(FILE, environment={}, flags={}).config == Config()


def test_config_toml_is_valid_with_every_setting_taken_in(tmp_path: Path) -> None:
    whole = tmp_path / "config.toml"
    whole.write_text(COMMENTED.sub("", FILE.read_text()))
    loaded = load_config(whole, environment={}, flags={})
    assert "default" not in loaded.origins.values()


def test_config_toml_holds_every_setting_in_order() -> None:
    assert list(file_lines()) == list(defaults())


@pytest.mark.parametrize("path", list(defaults()))
def test_config_toml_shows_the_default(path: str) -> None:
    line, default = file_lines()[path], defaults()[path]
    shown: Any = next(iter(tomllib.loads(line).values()))
    stated = re.search(r"# default: (.*)$", line)
    if path in {"site.0.name", "site.0.start"}:
        assert stated
    elif default is None:
        assert stated
        assert stated[1] == "none"
    elif stated:
        assert stated[1] == written(default)
    else:
        kind = type(default)
        assert (tuple(shown) if kind is tuple else kind(shown)) == default  # type: ignore[call-arg]


@pytest.mark.parametrize("path", list(setting_types()))
def test_the_docs_explain_every_setting_with_its_default(path: str) -> None:
    row = re.search(rf"^\| `{re.escape(path)}` \| (.*?) \| (.+) \|$", DOCS, re.MULTILINE)
    assert row, path
    default = defaults()[path.replace(".N", ".0")]
    if path in {"site.N.name", "site.N.start", "fetch.content_types"}:
        assert row[1]
    elif default is None:
        assert row[1] == "none"
    else:
        shown = next(iter(tomllib.loads(f"x = {row[1].strip('`')}").values()))
        kind: Any = type(default)
        assert kind(shown) == default


def test_the_docs_explain_no_setting_that_is_not() -> None:
    assert set(re.findall(r"^\| `([a-z_.N]+)` \|", DOCS, re.MULTILINE)) == set(setting_types())
