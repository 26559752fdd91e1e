"""How far are the crawl values and the LambdaCrawl rates from reference digits?

Reads a JSON file of reference rows and prints the worst relative error per column:
- {"rows": [{"Delta", "lam", "nu", "tau", "n", "V", "V1", "V2", "V3", "psi", "w"}]}: crawl values,
  importance 1; a column that is null where it is not defined is skipped there.
- {"discrete_...": {"mu", "delta", "b", "rho", "lam"}, "poisson_...": {"rho", "lam"}}: LambdaCrawl;
  a Poisson case takes mu, delta and b from the discrete case of the same suffix.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from benchmarks.common import Row, flags, show
from policies.refresh.lambda_crawl import lambda_rates_per_step, lambda_rates_poisson
from policies.values.greedy_ncis import (
    approximate_value,
    greedy_ncis_value,
    interval_freshness,
    interval_length,
)
from policies.values.model import Floats, PageModel


def crawl_value_rows(rows: list[dict[str, Any]]) -> list[Row]:
    def column(name: str) -> Floats:
        return np.array([float(row[name]) for row in rows])

    model = PageModel.of(column("Delta"), 1.0, column("lam"), column("nu"))
    state = column("tau"), column("n")
    ours = {"V": greedy_ncis_value(model, *state)}
    ours |= {f"V{j}": approximate_value(model, *state, terms=j) for j in (1, 2, 3)}
    ours |= {"psi": interval_length(model, *state), "w": interval_freshness(model, *state)}
    given = [name for name in ours if any(row.get(name) is not None for row in rows)]
    return [_worst_row(name, ours[name], rows) for name in given]


def _worst_row(name: str, ours: Floats, rows: list[dict[str, Any]]) -> Row:
    given = [i for i, row in enumerate(rows) if row.get(name) is not None]
    truth = np.array([float(rows[i][name]) for i in given])
    errors = relative_errors(ours[given], truth)
    worst = int(np.argmax(errors))
    return {
        "column": name,
        "rows": len(given),
        "worst relative error": float(errors[worst]),
        "at row": given[worst],
        "tag": str(rows[given[worst]].get("tag", "")),
        "NaN": int(np.isnan(ours).sum()),
    }


def relative_errors(ours: Floats, truth: Floats) -> Floats:
    """|ours - truth| / |truth|; absolute where the truth is 0, infinite for NaN."""
    scale = np.where(truth == 0, 1.0, np.abs(truth))
    errors = np.abs(ours - truth) / scale
    return np.where(np.isnan(errors), np.inf, errors)


def lambda_rows(cases: dict[str, dict[str, Any]]) -> list[Row]:
    return [_lambda_row(name, cases) for name in cases]


def _lambda_row(name: str, cases: dict[str, dict[str, Any]]) -> Row:
    kind, suffix = name.split("_", 1)
    given = cases[f"discrete_{suffix}"]
    mu, change, budget = np.array(given["mu"]), np.array(given["delta"]), float(given["b"])
    solve = lambda_rates_per_step if kind == "discrete" else lambda_rates_poisson
    rates = solve(mu, change, budget)
    steady = 1.0 - change if kind == "discrete" else 1.0
    inside = (rates > 0) & ((rates < 1) | (kind != "discrete"))
    multipliers = (mu * change / (rates * steady + change) ** 2)[inside]
    wanted = float(cases[name]["lam"])
    return {
        "case": name,
        "pages": len(rates),
        "worst rate error (absolute)": float(np.abs(rates - np.array(cases[name]["rho"])).max()),
        "worst multiplier error": float(np.abs(multipliers / wanted - 1).max()),
        "budget error": abs(float(rates.sum()) - budget),
    }


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    reference = json.loads(arguments.file.read_text())
    rows = crawl_value_rows(reference["rows"]) if "rows" in reference else lambda_rows(reference)
    show(rows, as_json=arguments.json)


if __name__ == "__main__":
    main()
