"""The architecture table as a test: who may import whom."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parent.parent
PACKAGES = {"crawler", "policies", "storage"}
MAY_IMPORT = {"policies": {"policies"}, "storage": {"storage"}, "crawler": PACKAGES}
PURE = {"policies": {"asyncio", "logging", "time", "sqlite3", "aiohttp", "pathlib", "os"}}


def imported_modules(source: str) -> set[str]:
    tree = ast.parse(source)
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_imports_only_what_the_architecture_allows(package: str) -> None:
    for path in sorted((ROOT / package).rglob("*.py")):
        imports = imported_modules(path.read_text())
        assert imports & PACKAGES <= MAY_IMPORT[package], path
        assert not imports & PURE.get(package, set()), path
