"""What is wrong with a setting, in the operator's words: where, what was wanted, what was got."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from crawler.config.units import Duration, Size, UnfitError

LONGEST_GOT = 80  # characters of a refused value worth showing


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing to put right; `origin` is a file, file:line, `environment NAME` or `flag`."""

    origin: str
    path: str
    problem: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.origin, self.path, self.problem) if part)


class ConfigError(Exception):
    """The settings cannot be used; every fault found is here, not only the first."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


WANTED = {
    "bool_type": "want true or false",
    "dict_type": "want a table",
    "finite_number": "want a finite number",
    "float_type": "want a number",
    "greater_than": "want more than {gt}",
    "greater_than_equal": "want at least {ge}",
    "int_type": "want a whole number",
    "less_than_equal": "want at most {le}",
    "literal_error": "want one of {expected}",
    "missing": "want a value",
    "model_type": "want a table of settings",
    "string_type": "want text in quotes",
    "tuple_type": 'want a list such as ["..."]',
}


def describe(kind: str, message: str, context: Mapping[str, object], got: object) -> str:
    """One pydantic error (its type, message, context and input) as `want ..., got ...`."""
    error = context.get("error")
    # Only our own templates are filled in: a foreign message may hold braces of the operator's.
    wanted = WANTED[kind].format_map(context) if kind in WANTED else str(error or message)
    hint = error.hint if isinstance(error, UnfitError) else ""
    shown = "nothing" if kind == "missing" else shortened(written(got))
    return f"{wanted}, got {shown}{hint and '; '}{hint}"


def written(value: object) -> str:
    """A value as TOML writes it: durations and sizes with their unit, paths as text."""
    plain = str(value) if isinstance(value, Duration | Size) else value
    return json.dumps(plain, default=str, ensure_ascii=False).replace("\x7f", "\\u007f")


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_GOT else text[: LONGEST_GOT - 3] + "..."
