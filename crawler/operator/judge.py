"""replay with a score: one way to crawl a recording or several, as a table, as JSON or as a page."""

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from crawler.archives.compare import BudgetRow, Row, by_budget, compare
from crawler.archives.recording import Recording, open_recording
from crawler.archives.trial import Job, Span, Trial, in_order, span_of, with_crawl, with_settings
from crawler.config import Config, Duration
from crawler.config.model import BudgetSettings, PlanningSettings
from crawler.operator.exits import Exit, OperatorError
from crawler.operator.settings import load

STRATEGIES: tuple[str, ...] = get_args(PlanningSettings.model_fields["strategy"].annotation)


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that was measured, and on what."""

    paths: tuple[Path, ...]
    config: Config
    span: Span
    between: float  # seconds between the captures of an offer
    offers: int
    rows: list[Row]
    budgets: list[BudgetRow]


def judge(arguments: argparse.Namespace) -> int:
    """Replays every variant with every seed, and tells what came of it."""
    config = load(arguments)
    paths = tuple(arguments.paths)
    try:
        judgement = _judged(arguments, config, paths, open_recording(paths, config.site))
    except KeyboardInterrupt:
        sys.stderr.write("stopped at once; nothing is told of half a comparison\n")
        return Exit.INTERRUPTED
    if arguments.report is not None:
        from crawler.operator.replay_page import page_of

        arguments.report.write_text(page_of(judgement), encoding="utf-8")
    if arguments.json:
        sys.stdout.write(json.dumps(as_json(judgement), indent=2) + "\n")
    else:
        sys.stdout.writelines(line + "\n" for line in lines(judgement))
    return Exit.DONE


def _judged(
    arguments: argparse.Namespace, config: Config, paths: tuple[Path, ...], recording: Recording
) -> Judgement:
    truth = recording.truth
    span = span_of(
        truth,
        warm_up=seconds("--warm-up", arguments.warm_up),
        length=seconds("--for", arguments.stop_after),
    )
    variants = variants_of(config, arguments.compare, arguments.budgets)
    seeds = range(config.crawl.seed, config.crawl.seed + arguments.seeds)
    jobs = [
        Job(name, with_crawl(variant, seed=seed), span)
        for name, variant in variants
        for seed in seeds
    ]
    trials = in_order(
        jobs, paths, cores=arguments.cores or os.cpu_count() or 1, told=_tell_progress
    )
    rows = compare(trials)
    return Judgement(
        paths=paths,
        config=config,
        span=span,
        between=truth.between,
        offers=len(truth.urls),
        rows=rows,
        budgets=by_budget(rows) if arguments.budgets and not arguments.compare else [],
    )


def seconds(flag: str, text: str | None) -> float | None:
    try:
        return None if text is None else float(Duration(text))
    except ValueError as error:
        raise OperatorError(f"{flag}: {error}, got {text}") from None


def variants_of(
    config: Config, strategies: str | None, budgets: str | None
) -> list[tuple[str, Config]]:
    """(name, settings) of each strategy with each budget; without either, the settings as they are."""
    variants: list[tuple[str, Config]] = [(config.planning.strategy, config)]
    if strategies:
        variants = [(name, with_strategy(config, name)) for name in _split(strategies)]
    if budgets:
        return [
            (f"{name} {factor}", with_budget(changed, factor))
            for name, changed in variants
            for factor in _split(budgets)
        ]
    return variants


def with_strategy(config: Config, name: str) -> Config:
    if name not in STRATEGIES:
        raise OperatorError(f"--compare: want any of {', '.join(STRATEGIES)}, got {name}")
    return with_settings(config, {"planning.strategy": name})


def with_budget(config: Config, factor: str) -> Config:
    """All budgets, also those of sites, times a factor such as 0.5x."""
    try:
        times = float(factor.removesuffix("x"))
    except ValueError:
        times = math.nan
    if not 0.0 < times < 1e6:
        raise OperatorError(f"--budgets: want factors such as 0.5x,1x,2x, got {factor}")
    budgets = (config.budget, *(site.budget for site in config.site))
    if all(budget == BudgetSettings() for budget in budgets):
        raise OperatorError(
            "--budgets: want a budget to multiply, got none; --set budget.per_hour=60"
        )
    sites = tuple(
        site.model_copy(update={"budget": _scaled(site.budget, times)}) for site in config.site
    )
    return config.model_copy(update={"budget": _scaled(config.budget, times), "site": sites})


def _scaled(budget: BudgetSettings, times: float) -> BudgetSettings:
    limits = budget.model_dump().items()
    return BudgetSettings(**{k: v and max(1, round(v * times)) for k, v in limits})


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _tell_progress(done: int, jobs: int, trial: Trial) -> None:
    if trial.finish == "interrupted":
        raise KeyboardInterrupt
    sys.stderr.write(
        f"{done} of {jobs}: {trial.name}, seed {trial.seed}: freshness {trial.score.freshness:.4f}, "
        f"{trial.score.fetches} fetches judged, {trial.seconds:.0f} s\n"
    )


# -- for people ----------------------------------------------------------------------------------------

COLUMNS = (
    "strategy",
    "freshness",
    "difference (95 %)",
    "weighted",
    "coverage",
    "stale h",
    "caught",
    "late h",
    "found",
    "P90 h",
    "overhead",
    "regret",
    "fetches",
    "support",
)


def lines(judgement: Judgement) -> Iterator[str]:
    span = judgement.span
    yield (
        f"recording: {judgement.offers} offers, {_date(span.began_at)} to {_date(span.ended_at)}, "
        f"judged from {_date(span.judged_at)}; a capture every {judgement.between / 3600:.1f} h"
    )
    yield from aligned([COLUMNS, *(cells(row) for row in judgement.rows)])
    if judgement.budgets:
        yield ""
        yield from aligned([BUDGET_COLUMNS, *map(budget_cells, judgement.budgets)])


def cells(row: Row) -> tuple[str, ...]:
    gap = row.difference
    return (
        row.name,
        f"{row.freshness:.4f}",
        "" if gap is None else f"{gap.mean:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]",
        f"{row.weighted_freshness:.4f}",
        f"{row.coverage:.3f}",
        f"{row.stale_hours:.1f}",
        f"{row.caught:.1%}",
        f"{row.catch_hours:.1f}",
        f"{row.found:.1%}",
        f"{row.discovery_p90_hours:.1f}",
        f"{row.overhead:.2f}",
        f"{row.regret:.1%}",
        f"{row.fetches:.0f}",
        f"{row.support:.1%}",
    )


BUDGET_COLUMNS = ("budget", "fetches", "freshness", "points per 1,000 more fetches")


def budget_cells(row: BudgetRow) -> tuple[str, ...]:
    gain = "" if math.isnan(row.gain) else f"{row.gain:+.3f}"
    return (row.name, f"{row.fetches:.0f}", f"{row.freshness:.4f}", gain)


def aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """The first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *rest in table:
        tail = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *tail])


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


# -- for programs --------------------------------------------------------------------------------------


def as_json(judgement: Judgement) -> dict[str, object]:
    return {
        "paths": [str(path) for path in judgement.paths],
        "span": asdict(judgement.span),
        "seconds_between_captures": judgement.between,
        "offers": judgement.offers,
        "rows": [_json_row(row) for row in judgement.rows],
        "budgets": [_finite(asdict(row)) for row in judgement.budgets],
        "settings": judgement.config.model_dump(mode="json"),
    }


def _json_row(row: Row) -> dict[str, object]:
    plain = {name: value for name, value in asdict(row).items() if name != "trials"}
    plain["seeds"] = [trial.seed for trial in row.trials]
    plain["sites"] = [asdict(site) for site in row.trials[0].score.sites]
    plain["curve"] = {
        name: values.tolist() for name, values in asdict(row.trials[0].score.curve).items()
    }
    finite: dict[str, object] = _finite(plain)
    return finite


def _finite(value: Any) -> Any:
    """JSON has no NaN: null instead."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
