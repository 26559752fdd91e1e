"""The command export: every price, when it was observed, and the probability that it still holds."""

import argparse
import asyncio
import csv
import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from crawler.clock import real_time
from crawler.config import Config
from crawler.operator.exits import Exit, OperatorError, told_errors
from crawler.operator.look import Look, look
from crawler.operator.settings import load
from storage.database import open_to_read
from storage.reports import PriceNow, prices_now

COLUMNS = (
    "site",
    "url",
    "offer",
    "title",
    "brand",
    "gtin",
    "sku",
    "seller",
    "condition",
    "category",
    "price",
    "currency",
    "availability",
    "observed_at",
    "age_seconds",
    "probability_valid",
    "changed_at",
    "first_seen_at",
    "gone_at",
    "source",
    "confidence",
)


@told_errors
def export(arguments: argparse.Namespace) -> int:
    config = load(arguments)
    now = real_time()
    valid = asyncio.run(_probabilities(config, now))
    with open_to_read(config.crawl.database) as connection, _output(arguments) as out:
        records = (
            record(row, now=now, probability_valid=float(valid[row.page_id]))
            for row in prices_now(connection, gone=arguments.gone)
        )
        count = write_csv(records, out) if arguments.format == "csv" else write_jsonl(records, out)
    sys.stderr.write(f"{count} prices\n")
    return Exit.DONE


@contextmanager
def _output(arguments: argparse.Namespace) -> Iterator[TextIO]:
    if arguments.output is None:
        yield sys.stdout
        return
    try:
        file = arguments.output.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise OperatorError(f"--output {arguments.output}: {error.strerror}") from error
    with file:
        yield file


async def _probabilities(config: Config, now: float) -> NDArray[np.float64]:
    async with look(config, now) as seen:
        return fresh_by_page(seen)


def fresh_by_page(seen: Look) -> NDArray[np.float64]:
    """By page id, that its prices still hold: no change since the last believed fetch.  NaN for others."""
    rhythms = seen.memory.learner.rhythms
    rows = rhythms.all_rows()
    fresh = np.full(seen.memory.table.size, np.nan)
    fresh[rows] = rhythms.fresh_probability(rows, seen.now)
    return fresh


def record(row: PriceNow, *, now: float, probability_valid: float) -> dict[str, Any]:
    """One exported price.  Amounts are decimal strings: no float ever holds money."""
    holds = row.gone_at is None and not math.isnan(probability_valid)
    return {
        "site": row.site,
        "url": row.url,
        "offer": row.key,
        "title": row.title,
        "brand": row.brand,
        "gtin": row.gtin,
        "sku": row.sku,
        "seller": row.seller,
        "condition": row.condition,
        "category": row.category,
        "price": amount(row.price_micros),
        "currency": row.currency,
        "availability": row.availability,
        "observed_at": moment(row.observed_at),
        "age_seconds": round(now - row.observed_at, 1),
        "probability_valid": round(probability_valid, 4) if holds else None,
        "changed_at": moment(row.changed_at),
        "first_seen_at": moment(row.first_seen_at),
        "gone_at": moment(row.gone_at),
        "source": row.source,
        "confidence": round(row.confidence, 3),
    }


def amount(price_micros: int | None) -> str | None:
    """12340000 is "12.34"; at least two decimals, as price lists have them."""
    if price_micros is None:
        return None
    exact = Decimal(price_micros).scaleb(-6)
    cents = exact.quantize(Decimal("0.01"))
    return f"{cents if cents == exact else exact.normalize():f}"


def moment(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def write_jsonl(records: Iterable[dict[str, Any]], out: TextIO) -> int:
    count = 0
    for count, one in enumerate(records, start=1):  # noqa: B007  the last number is the answer
        out.write(json.dumps(one, ensure_ascii=False) + "\n")
    return count


def write_csv(records: Iterable[dict[str, Any]], out: TextIO) -> int:
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    count = 0
    for count, one in enumerate(records, start=1):  # noqa: B007
        writer.writerow({key: _inert(value) for key, value in one.items()})
    return count


def _inert(value: Any) -> Any:
    """A cell that a spreadsheet would run as a formula is quoted: titles come from strangers."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" and value else value
