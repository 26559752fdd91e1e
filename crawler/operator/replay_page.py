"""A replay's scores as one HTML page that needs nothing else: opens offline, runs no script."""

from collections.abc import Sequence
from html import escape

import numpy as np

from crawler.archives.compare import Row
from crawler.config import keys
from crawler.config.faults import written
from crawler.operator.charts import Line, chart
from crawler.operator.judge import (
    BUDGET_COLUMNS,
    COLUMNS,
    Judgement,
    budget_cells,
    cells,
    lines,
)

_DAY = 86_400.0
_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;font-size:13px;margin:1rem 0;display:block;overflow-x:auto}
td,th{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}
td:first-child,th:first-child{text-align:left}
figure{margin:1.5rem 0}figcaption{font-weight:600}svg{width:100%;height:auto}svg text{font-size:12px}
code{white-space:pre-wrap}
"""
_MEANING = """
<p><b>freshness</b>: share of the time that live offers lived in which the stored price was the true one;
<b>weighted</b>: each offer by its clicks or importance. <b>stale h</b>: mean age of prices no longer true.
<b>caught</b>: price changes stored before the next one; <b>late h</b>: median delay. <b>found</b>: new offers found
while they lived; <b>P90 h</b>: hours to discovery, 90th percentile; <b>overhead</b>: fetches for links for each new
offer. <b>regret</b>: freshness lost against an oracle that knows every price and makes as many fetches.
<b>support</b>: share of the fetches that the recording could answer. Differences are to the first row, between
replays with the same random numbers, with 95 % intervals over days. True is what the recording shows: it knows nothing
between its captures.</p>
"""


def page_of(judgement: Judgement) -> str:
    head = next(iter(lines(judgement)))
    names = ", ".join(path.name for path in judgement.paths)
    parts = [
        f"<h1>Replay of {escape(names)}</h1><p>{escape(head)}</p>",
        _table([COLUMNS, *(cells(row) for row in judgement.rows)]),
        _MEANING,
        _curves(judgement),
        _budgets(judgement),
        "<h2>Sites</h2>" + _sites(judgement.rows),
        "<h2>Settings</h2>" + _settings(judgement),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Replay</title>'
        f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _curves(judgement: Judgement) -> str:
    rows, began_at = judgement.rows, judgement.span.began_at
    freshness = [_mean_line(row, "freshness", began_at) for row in rows]
    coverage = [_mean_line(row, "coverage", began_at) for row in rows]
    found = [_mean_line(row, "found", began_at) for row in rows]
    drawn = [
        chart(freshness, title="Freshness", x_label="days since the beginning"),
        chart(coverage, title="Live offers with a stored price", x_label="days"),
        chart(found, title="New offers found, of those born since the warm-up", x_label="days"),
    ]
    for row in rows:
        weights = _weight_lines(row, began_at)
        if len(weights) > 1:
            title = f"Weights of the strategies in {row.name}"
            drawn.append(chart(weights, title=title, x_label="days"))
    return "".join(drawn)


def _mean_line(row: Row, name: str, began_at: float) -> Line:
    curves = [getattr(trial.score.curve, name) for trial in row.trials]
    at = row.trials[0].score.curve.at
    return Line(row.name, ((at - began_at) / _DAY).tolist(), np.mean(curves, axis=0).tolist())


def _weight_lines(row: Row, began_at: float) -> list[Line]:
    """Of the first seed: weights are looked at when something is fetched, so not at the same moments."""
    curve = row.trials[0].weights
    names = list(curve.weights[0]) if curve.weights else []
    days = [(at - began_at) / _DAY for at in curve.at]
    return [Line(name, days, [sample[name] for sample in curve.weights]) for name in names]


def _budgets(judgement: Judgement) -> str:
    if not judgement.budgets:
        return ""
    return "<h2>Budgets</h2>" + _table([BUDGET_COLUMNS, *map(budget_cells, judgement.budgets)])


def _sites(rows: Sequence[Row]) -> str:
    head = ("site", "strategy", "offers", "freshness", "coverage")
    body = [
        (site.site, row.name, str(site.offers), f"{site.freshness:.4f}", f"{site.coverage:.3f}")
        for row in rows
        for site in row.trials[0].score.sites
    ]
    return _table([head, *body])


def _settings(judgement: Judgement) -> str:
    settings = [f"{path} = {written(value)}" for path, value in keys.values(judgement.config)]
    return f"<code>{escape(chr(10).join(settings))}</code>"


def _table(table: Sequence[Sequence[str]]) -> str:
    head, *body = table
    titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines_ = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body
    )
    return f"<table><tr>{titles}</tr>{lines_}</table>"
