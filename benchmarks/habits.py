"""How many fetches until the planner has followed a site that changes its habits?

    rates x8           fetches of a page until its rate is believed within a factor of two of the new one
    useless sitemap    fetches at the site until a signal is worth less than a tenth of a nat, from honest
    dead source        fetches of a source until it is expected to show less than a fifth of what it did

The planner's own books (crawler.planning.Learner) are taught fetch by fetch; medians and ninth deciles over
independent runs.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))  # for `python benchmarks/habits.py`

from benchmarks.common import Row, flags, show
from crawler.config.model import PlanningSettings
from crawler.planning.hints import Hint, Hints
from crawler.planning.learner import Learner
from crawler.planning.rhythms import Rhythms
from crawler.planning.sources import Sources
from crawler.planning.table import PageTable
from storage.learning import LESSON_COLUMNS, SOURCE_KINDS, UNKNOWN

DAY = 86_400.0
HOUR = 3_600.0
START = 1_767_571_200.0
MOST = 500  # fetches after which a run counts as not followed


class Books:
    """A planner's books over the pages of one site, taught by hand."""

    def __init__(self, pages: int) -> None:
        settings, self.table = PlanningSettings(), PageTable()
        hints = Hints(self.table)
        self.learner = Learner(
            self.table,
            rhythms=Rhythms(self.table, hints, first_guess=settings.changes_per_day / DAY),
            sources=Sources(
                self.table, utc_offsets={}, half_life=settings.half_life, expiry=settings.expiry
            ),
            hints=hints,
            worth_new=settings.worth_new,
            uses_signals=True,
        )
        self.rows = np.array(
            [self.table.add(n, site=1, host=1, depth=1, pattern=1) for n in range(pages)]
        )

    def teach(self, rows: np.ndarray[Any, np.dtype[np.int64]], at: float, **told: Any) -> None:
        lessons = np.zeros(len(rows), LESSON_COLUMNS)
        fields = {"believed": True, "is_offer": True, "price_micros": 9_000_000, **told}
        for name, values in (fields | {"page_id": rows, "at": at}).items():
            lessons[name] = values
        self.learner.learn(lessons)
        self.table.fetched_at[rows] = at


def follow_rates(
    rng: np.random.Generator, *, pages: int, rate: float, factor: float, every: float
) -> float:
    """Median over pages of the fetches until the believed rate is within a factor of two of the new one."""
    books = Books(pages)
    books.teach(books.rows, START, changed=UNKNOWN)
    for visit in range(1, 60):
        changed = rng.random(pages) < -np.expm1(-rate * every)
        books.teach(books.rows, START + visit * every, changed=changed)
    needed = np.full(pages, MOST)
    for visit in range(60, 60 + MOST):
        changed = rng.random(pages) < -np.expm1(-factor * rate * every)
        books.teach(books.rows, START + visit * every, changed=changed)
        believed = books.learner.rhythms.rates(books.rows) / (factor * rate)
        close = (believed > 0.5) & (believed < 2.0)
        needed[close] = np.minimum(needed[close], visit - 59)
        if (needed < MOST).all():
            break
    return float(np.median(needed))


def follow_sitemap(rng: np.random.Generator, *, pages: int) -> int:
    """Fetches at the site until its lastmod is worth less than 0.1 nats."""
    books, chance = Books(pages), 0.3
    books.table.signalled_at[books.rows] = START
    books.teach(books.rows, START, changed=UNKNOWN)
    day = 0
    for day in range(1, 10):
        changed = rng.random(pages) < chance
        books.teach(
            books.rows, START + day * DAY, changed=changed, signals=changed * int(Hint.LASTMOD)
        )
    for fetches in range(1, MOST):
        row = books.rows[[fetches % pages]]
        at = START + (day + 1) * DAY + fetches * DAY / pages
        books.teach(row, at, changed=rng.random(1) < chance, signals=int(Hint.LASTMOD))
        if books.learner.hints.quality.worth()[1, 0] < 0.1:
            return fetches
    return MOST


def follow_source(rng: np.random.Generator, *, sources: int, per_fetch: float) -> int:
    """Fetches of a source that has died until little is expected of it; the others live on."""
    books, dead = Books(sources), 0
    every, kinds = 4 * HOUR, {"is_offer": False, "source_kind": SOURCE_KINDS.index("listing")}
    for visit in range(60):
        found = rng.poisson(per_fetch, sources)
        books.teach(books.rows, START + visit * every, changed=UNKNOWN, discovered=found, **kinds)
    for visit in range(60, 60 + MOST):
        at = START + visit * every
        expected = books.learner.sources.expected(books.rows, at)
        if expected[dead] < per_fetch / 5:
            return visit - 60
        found = rng.poisson(per_fetch, sources)
        found[dead] = 0
        books.teach(books.rows, at, changed=UNKNOWN, discovered=found, **kinds)
    return MOST


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args()
    seeds = [np.random.default_rng((options.seed, run)) for run in range(options.runs)]
    counts = {
        "0.5 to 4 changes a day, fetched 4 times a day": [
            follow_rates(rng, pages=50, rate=0.5 / DAY, factor=8.0, every=DAY / 4) for rng in seeds
        ],
        "0.1 to 0.8 changes a day, fetched daily": [
            follow_rates(rng, pages=50, rate=0.1 / DAY, factor=8.0, every=DAY) for rng in seeds
        ],
        "0.5 to 4 changes a day, fetched daily": [
            follow_rates(rng, pages=50, rate=0.5 / DAY, factor=8.0, every=DAY) for rng in seeds
        ],
        "sitemap turns useless": [follow_sitemap(rng, pages=50) for rng in seeds],
        "source dies, 1 find a fetch": [
            follow_source(rng, sources=10, per_fetch=1.0) for rng in seeds
        ],
        "source dies, 0.2 finds a fetch": [
            follow_source(rng, sources=10, per_fetch=0.2) for rng in seeds
        ],
    }
    rows: list[Row] = [
        {
            "habit": habit,
            "median": float(np.median(np.array(n))),
            "ninth decile": float(np.quantile(np.array(n), 0.9)),
        }
        for habit, n in counts.items()
    ]
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
