"""A table of prices as a recording: CSV or Parquet with an offer, a time and a price in each row.

Tables are told apart by their columns.  One with prices makes a site; those named after it describe it:

    offer, time, price            prices: the first sight of an offer and each change, or every snapshot
    offer, anything else          details: name, brand, category, currency, clicks; t_last, when last seen
    time, no offer                snapshots: the moments at which the recording looked

An empty price means gone.  Without t_last an offer stays for good: that a snapshot lacks it may be the
snapshot's fault.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.archives.captures import ArchiveError
from crawler.archives.truth import Floats, Ints, Truth

SUFFIXES = (".csv", ".parquet")
_OFFER = ("offer", "url", "id", "sku")
_TIME = ("t", "time", "at", "date", "observed_at")
_LAST = ("t_last", "last_seen_at", "gone_at")
_TITLE = ("title", "name")
_WEIGHT = ("clicks", "importance", "weight_of_offer")
_MOST_GROUPS = 200  # a column with more values than this is no category
_GONE = -1

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class PriceTable:
    """One site made of a table.  Tuples have an item for each offer, in the truth's numbering."""

    host: str
    titles: tuple[str, ...]
    brands: tuple[str, ...]
    currencies: tuple[str, ...]
    groups: tuple[str, ...]
    group: Ints  # (n_offers,) place in `groups`
    truth: Truth

    @property
    def origin(self) -> str:
        return f"http://{self.host}"


def is_table(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES


def read_tables(paths: Sequence[Path]) -> list[PriceTable]:
    """The sites that these tables make, in their order."""
    sites: list[tuple[Path, Columns, list[Columns]]] = []
    for path in paths:
        columns = _read(path)
        if _named(columns, _OFFER) and "price" in columns and _named(columns, _TIME):
            sites.append((path, columns, []))
        elif sites and (_named(columns, _OFFER) or _named(columns, _TIME)):
            sites[-1][2].append(columns)
        else:
            wanted = "columns offer, time and price, or details after such a table"
            raise ArchiveError(f"{path}: want {wanted}, got {', '.join(columns) or 'none'}")
    return [_site(path, prices, others) for path, prices, others in sites]


def _site(path: Path, prices: Columns, others: list[Columns]) -> PriceTable:
    ids, offer = np.unique(_column(prices, _OFFER).astype(str), return_inverse=True)
    at, micros = times(_column(prices, _TIME)), _micros(prices["price"])
    if len(at) == 0:
        raise ArchiveError(f"{path}: want at least one row, got none")
    details = _details(ids, [table for table in others if _named(table, _OFFER)])
    moments = [times(_column(t, _TIME)) for t in others if not _named(t, _OFFER)]
    captured_at = np.unique(np.concatenate([*moments, at]))
    group, groups = _groups(details, len(ids))
    host = _host(path)
    truth = _truth(host, ids, offer.astype(np.int64), at, micros, captured_at, details)
    return PriceTable(
        host=host,
        titles=_texts(details, _TITLE, ids),
        brands=_texts(details, ("brand", "merchant"), np.full(len(ids), "")),
        currencies=_texts(details, ("currency",), np.full(len(ids), "EUR")),
        groups=groups,
        group=group,
        truth=truth,
    )


def _truth(
    host: str,
    ids: NDArray[Any],
    offer: Ints,
    at: Floats,
    micros: Ints,
    captured_at: Floats,
    details: Columns,
) -> Truth:
    order = np.lexsort((at, offer))
    offer, at, micros = offer[order], at[order], micros[order]
    # A row that repeats the price before it says nothing new.
    new = (np.diff(offer, prepend=-1) != 0) | (np.diff(micros, prepend=_GONE) != 0)
    offer, at, micros = offer[new], at[new], micros[new]
    is_last = np.append(np.diff(offer) != 0, True)
    until_at = np.where(is_last, _ends(details, captured_at, len(ids))[offer], np.append(at[1:], 0))
    held = (micros != _GONE) & (until_at > at)
    kept, offer = np.unique(offer[held], return_inverse=True)
    if len(kept) != len(ids):
        missing = ids[np.setdiff1d(np.arange(len(ids)), kept)[0]]
        raise ArchiveError(f"offer {missing}: want at least one price that held, got none")
    gaps = np.diff(captured_at)
    return Truth(
        urls=tuple(f"http://{host}/offer/{number}" for number in range(len(ids))),
        sites=(host,),
        site=np.zeros(len(ids), np.int64),
        weight=_weights(details, len(ids)),
        offer=offer.astype(np.int64),
        at=at[held],
        until_at=until_at[held],
        price_micros=micros[held],
        captured_at=captured_at,
        between=float(np.median(gaps)) if len(gaps) else 0.0,
    )


def _ends(details: Columns, captured_at: Floats, n_offers: int) -> Floats:
    """An offer is gone from the first snapshot after the one that showed it last."""
    if not _named(details, _LAST):
        return np.full(n_offers, np.inf)
    column = _column(details, _LAST).copy()
    unknown = column.astype(str) == ""
    column[unknown] = captured_at[-1]
    following = np.append(captured_at, np.inf)
    return following[np.searchsorted(captured_at, times(column), "right")]


def _details(ids: NDArray[Any], tables: list[Columns]) -> Columns:
    """Every detail column with a row for each offer; an offer that a table lacks has empty text."""
    found: Columns = {}
    for table in tables:
        known = _column(table, _OFFER).astype(str)
        order = np.argsort(known, kind="stable")
        place = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
        rows = order[place]
        missing = known[rows] != ids
        for name, column in table.items():
            values = column[rows].astype(object)
            values[missing] = ""
            found[name] = values
    return found


def _groups(details: Columns, n_offers: int) -> tuple[Ints, tuple[str, ...]]:
    """The first text column with some, but not too many, different values; else one group for all."""
    for name, column in details.items():
        texts = column.astype(str)
        if name in _OFFER or all(map(_is_number, texts[:100].tolist())):
            continue
        groups, group = np.unique(texts, return_inverse=True)
        if 2 <= len(groups) <= _MOST_GROUPS:
            return group.astype(np.int64), tuple(map(str, groups))
    return np.zeros(n_offers, np.int64), ("all",)


def _weights(details: Columns, n_offers: int) -> Floats:
    if not _named(details, _WEIGHT):
        return np.ones(n_offers)
    return _column(details, _WEIGHT).astype(np.float64)


# -- columns -----------------------------------------------------------------------------------------


def _read(path: Path) -> Columns:
    try:
        return _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_csv(path)
    except OSError as error:
        raise ArchiveError(f"{path}: {error.strerror or error}") from error


def _read_csv(path: Path) -> Columns:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        names = [name.strip().lower() for name in next(rows, [])]
        whole = [row for row in rows if row]
    if any(len(row) != len(names) for row in whole):
        raise ArchiveError(f"{path}: want {len(names)} values in each row, got a row with others")
    cells = np.array(whole, dtype=object).reshape(len(whole), len(names))
    return {name: cells[:, place] for place, name in enumerate(names)}


def _read_parquet(path: Path) -> Columns:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ArchiveError(f"{path}: want the package pyarrow to read Parquet, got none") from None
    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise ArchiveError(f"{path}: want a Parquet file, got another: {error}") from error
    return {name.lower(): table[name].to_numpy() for name in table.column_names}


def times(column: NDArray[Any]) -> Floats:
    """Epoch seconds of numbers, or of dates as 20251009, 2025-10-09 or with a time of day (UTC)."""
    if np.issubdtype(column.dtype, np.datetime64):
        return column.astype("datetime64[ms]").astype(np.float64) / 1000.0
    if column.dtype != object:
        return column.astype(np.float64)
    texts, place = np.unique(column.astype(str), return_inverse=True)
    return np.array([_time(text) for text in texts.tolist()], np.float64)[place]


def _time(text: str) -> float:
    if re.fullmatch(r"(19|20)\d{6}", text):
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    elif _is_number(text):
        return float(text)
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise ArchiveError(f"time: want epoch seconds or a date, got {text!r}") from None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def _micros(column: NDArray[Any]) -> Ints:
    """Millionths; a price that is empty or no number means gone."""
    if column.dtype == object:
        numbers = [float(text) if _is_number(str(text)) else np.nan for text in column.tolist()]
        column = np.array(numbers, np.float64)
    prices = column.astype(np.float64)
    return np.where(np.isfinite(prices), np.rint(np.nan_to_num(prices) * 1e6), _GONE).astype(
        np.int64
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", text) is not None


def _named(columns: Columns, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def _column(columns: Columns, names: Sequence[str]) -> NDArray[Any]:
    name = _named(columns, names)
    assert name is not None
    return columns[name]


def _texts(details: Columns, names: Sequence[str], fallback: NDArray[Any]) -> tuple[str, ...]:
    name = _named(details, names)
    texts = fallback.astype(str) if name is None else details[name].astype(str)
    return tuple(text or str(other) for text, other in zip(texts, fallback, strict=True))


def _host(path: Path) -> str:
    """A host name that nobody has: auction_changes.parquet is auction-changes.test."""
    label = re.sub("[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "table"
    return f"{label[:60]}.test"
