"""The architecture table as a test: who may import whom."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = {"crawler", "policies", "storage"}
MAY_IMPORT = {"policies": {"policies"}, "storage": {"storage"}, "crawler": PACKAGES}
PURE = {"policies": {"asyncio", "logging", "time", "sqlite3", "aiohttp", "pathlib", "os"}}


# The rooms of crawler/reading, lowest first: a room imports from itself and from those before it.
READING = [
    "facts",
    "text",
    "urls",
    "html",
    "sources",
    "markup",
    "rules",
    "visible",
    "offers",
    "verdicts",
    "page",
]


def imported_modules(source: str) -> set[str]:
    tree = ast.parse(source)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
    return names


def packages(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_imports_only_what_the_architecture_allows(package: str) -> None:
    for path in sorted((ROOT / package).rglob("*.py")):
        imports = packages(imported_modules(path.read_text()))
        assert imports & PACKAGES <= MAY_IMPORT[package], path
        assert not imports & PURE.get(package, set()), path


@pytest.mark.parametrize("room", READING)
def test_a_room_of_reading_imports_only_from_those_below_it(room: str) -> None:
    place = ROOT / "crawler" / "reading" / room
    for path in sorted(place.rglob("*.py")) or [place.with_suffix(".py")]:
        ours = {name for name in imported_modules(path.read_text()) if name.startswith("crawler.")}
        allowed = {f"crawler.reading.{below}" for below in READING[: READING.index(room) + 1]}
        assert {".".join(name.split(".")[:3]) for name in ours} <= allowed, path
