"""What every benchmark shares: its flags, standard errors, and printing rows as a table or JSON."""

import argparse
import json
import os
import pathlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Row = dict[str, str | int | float]


def flags(description: str | None, *, reads_data: bool = False) -> argparse.ArgumentParser:
    """A parser with --seed and --json, and --data for benchmarks that read recordings."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    if reads_data:
        default = os.environ.get("FRESHET_DATA", "")
        parser.add_argument("--data", default=default, help="folder of recordings ($FRESHET_DATA)")
    return parser


def recording(folder: str, name: str) -> pathlib.Path:
    """A file of the recordings, or an exit that says how to name their folder."""
    path = pathlib.Path(folder) / name
    if not folder or not path.exists():
        raise SystemExit(f"--data: want the folder of recordings holding {name}, got {folder!r}")
    return path


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and its standard error over the first axis of independent runs."""
    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return float(values.mean()), spread / len(values) ** 0.5


def show(rows: Sequence[Row], *, as_json: bool) -> None:
    """Rows of equal keys as an aligned table, or as JSON."""
    if as_json:
        print(json.dumps(list(rows), indent=1))
        return
    cells = [list(rows[0])] + [[_text(value) for value in row.values()] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    for line in cells:
        first = line[0].ljust(widths[0])
        print("  ".join([first, *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]))


def _text(value: str | int | float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
