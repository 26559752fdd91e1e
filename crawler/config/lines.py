"""On which line of a TOML file is each setting?  tomllib does not say, so it is asked statement by statement."""

import tomllib
from collections.abc import Iterator
from typing import Any


def line_numbers(text: str) -> dict[str, int]:
    """Dotted path -> line, for every table and setting of a text that is valid TOML."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, statement in statements(text):
        parsed = tomllib.loads(statement)
        if statement.lstrip().startswith("["):
            table = enter(parsed, counts)
            lines.setdefault(table, number)
        else:
            lines |= {join(table, path): number for path in paths(parsed)}
    return lines


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Each header or assignment with its first line; one over several lines is whole once it parses."""
    begun: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        begun.append(line)
        # Only a closing bracket or quote can end a longer statement: saves parsing long lists again and again.
        may_end = len(begun) == 1 or any(mark in line for mark in ("]", '"""', "'''"))
        if may_end and is_whole("\n".join(begun)):
            yield number - len(begun) + 1, "\n".join(begun)
            begun = []


def is_whole(statement: str) -> bool:
    try:
        tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return False
    return True


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Every path below a parsed value; items of a list by their position."""
    if path:
        yield path
    items = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else items:
        yield from paths(item, join(path, str(key)))


def enter(header: dict[str, Any], counts: dict[str, int]) -> str:
    """The full path of a header; `[[site]]` counts up, `[site.budget]` belongs to the last site."""
    path, below = "", header
    while below:
        [(key, value)] = below.items()
        path = join(path, key)
        if isinstance(value, list):
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = join(path, str(counts[path]))
        below = value[0] if isinstance(value, list) else value
    return path


def join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
