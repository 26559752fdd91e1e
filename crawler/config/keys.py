"""Settings by dotted path, such as `politeness.delay` or `site.0.start`: list, find, name, read from text."""

import difflib
import functools
import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from crawler.config.model import Config, Settings, SiteSettings

PREFIX = "FRESHET_"
POSITION = re.compile(r"^site\.\d+\.")


@functools.cache
def setting_types() -> Mapping[str, type]:
    """The type of every setting by path; sites stand under `site.N`."""
    return dict(fields_below(Config, ""))


def fields_below(table: type[Settings], prefix: str) -> Iterator[tuple[str, type]]:
    for name, field in table.model_fields.items():
        kind = plain_type(field.annotation)
        if name == "site":
            yield from fields_below(SiteSettings, f"{prefix}site.N.")
        elif issubclass(kind, Settings):
            yield from fields_below(kind, f"{prefix}{name}.")
        else:
            yield prefix + name, kind


def plain_type(annotation: object) -> type:
    """The class behind `Annotated[X, ...]`, `X | None`, `Literal[...]` and `tuple[X, ...]`."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return plain_type(typing.get_args(annotation)[0])
    if origin in {types.UnionType, typing.Union}:
        return plain_type(typing.get_args(annotation)[0])
    if origin is typing.Literal:
        return str
    return origin or (annotation if isinstance(annotation, type) else str)


def values(table: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every setting of a config with its value, in the order of the model."""
    for name in type(table).model_fields:
        value, path = getattr(table, name), prefix + name
        if isinstance(value, Settings):
            yield from values(value, f"{path}.")
        elif name == "site":
            for index, site in enumerate(value):
                yield from values(site, f"{path}.{index}.")
        else:
            yield path, value


def type_of(path: str) -> type | None:
    """The type of a setting, None if there is no such setting."""
    return setting_types().get(POSITION.sub("site.N.", path))


def variable(path: str) -> str:
    """The environment variable of a setting: FRESHET_POLITENESS__DELAY."""
    return PREFIX + path.upper().replace(".", "__")


def path_of(name: str) -> str:
    """The setting of an environment variable."""
    return name.removeprefix(PREFIX).lower().replace("__", ".")


def unknown_key(path: str) -> str:
    """The complaint about a path that is no setting, with the one probably meant."""
    meant = max(known_paths(), key=lambda known: likeness(path, known))
    hint = f"; did you mean {at_position_of(path, meant)}?" if likeness(path, meant) else ""
    return f"unknown key{hint}"


def unknown_variable(name: str) -> str:
    """The complaint about an environment variable that is no setting."""
    known = [variable(at_position_of(path_of(name), path)) for path in setting_types()]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return f"unknown variable{'; did you mean ' + close[0] + '?' if close else ''}"


def known_paths() -> list[str]:
    """Settings and the tables they stand in."""
    tables = {path.rpartition(".")[0] for path in setting_types()}
    return [*setting_types(), *sorted(tables), "site"]


def likeness(path: str, known: str) -> float:
    """How well two paths agree: the last word counts fully, the table before it by a fifth.

    So the right word in the wrong table is found: `crawl.max_pages` was meant for a site, not for
    `crawl.max_failures`, which a third would choose.  Words less alike
    than 0.6, difflib's own bound for a close match, do not agree at all.
    """
    table, _, word = POSITION.sub("site.N.", path).rpartition(".")
    known_table, _, known_word = known.rpartition(".")
    alike = similarity(word, known_word)
    return alike + similarity(table, known_table) / 5 if alike >= 0.6 else 0.0


def similarity(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def at_position_of(path: str, known: str) -> str:
    """`site.N.delay` with the position that `path` has, or the first."""
    position = POSITION.match(path)
    return known.replace("site.N.", position[0] if position else "site.0.")


def from_text(kind: type, text: str) -> object:
    """A value from a flag or the environment, as the file would hold it; unreadable text stays text."""
    try:
        if kind is bool:
            return {"true": True, "false": False}.get(text.lower(), text)
        if kind in {int, float}:
            return kind(text)
        if kind is tuple:
            return list_from(text)
    except ValueError:
        pass
    return text


def list_from(text: str) -> object:
    """A TOML array, or items between commas."""
    if text.strip().startswith("["):
        return tomllib.loads(f"items = {text}")["items"]
    return [item.strip() for item in text.split(",") if item.strip()]
