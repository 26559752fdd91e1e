"""What a planning tick costs: CPU and memory of choosing, explaining and learning, by the number of known pages.

A synthetic memory: pages of many hosts and patterns with mixed rhythms, a tenth of them never fetched, one in a
thousand a source.  Every tick chooses a thousand pages, then learns from their fetches.  `value all` is the
control: the same value function over every page kept fresh.
"""

from __future__ import annotations

import gc
import pathlib
import resource
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))  # for `python benchmarks/planning.py`

from benchmarks.common import Row, flags, show
from crawler.config.model import BudgetSettings, PlanningSettings, PolitenessSettings
from crawler.fetching.politeness import HostGate
from crawler.planning.admission import Hosts
from crawler.planning.budget import Allowance, Budget
from crawler.planning.hints import Hints
from crawler.planning.learner import Learner
from crawler.planning.planner import Planner
from crawler.planning.reasons import reasons
from crawler.planning.rhythms import Rhythms
from crawler.planning.room import Room
from crawler.planning.sources import Sources
from crawler.planning.table import PageTable
from storage.learning import LESSON_COLUMNS, RHYTHM_COLUMNS
from storage.pages import PAGE_COLUMNS, STATE_COLUMNS, KnownPages
from storage.rows import HostRow

NOW = 1_767_571_200.0
DAY = 86_400.0
TICK = 60.0
HOSTS = 500
SITES = 50
PATTERNS = 300


def known_pages(count: int, rng: np.random.Generator) -> KnownPages:
    pages = np.zeros(count, PAGE_COLUMNS)
    pages["id"] = np.arange(1, count + 1)
    pages["url_hash"] = rng.integers(-(2**63), 2**63 - 1, count)
    pages["host_id"] = rng.integers(1, HOSTS + 1, count)
    pages["site_id"] = pages["host_id"] % SITES + 1
    pages["pattern_id"] = rng.integers(1, PATTERNS + 1, count)
    fetched = pages["id"][pages["id"] % 10 != 0]
    states = np.zeros(len(fetched), STATE_COLUMNS)
    states["page_id"] = fetched
    states["fetched_at"] = NOW - rng.uniform(0, 20 * DAY, len(fetched))
    return KnownPages(pages, states)


def rhythms_of(known: KnownPages, rng: np.random.Generator) -> NDArray[Any]:
    rows = known.states[known.states["page_id"] % 1000 != 1]
    rhythms = np.zeros(len(rows), RHYTHM_COLUMNS)
    rhythms["page_id"] = rows["page_id"]
    rhythms["first_seen_at"] = NOW - 60 * DAY
    rhythms["fetched_at"] = rows["fetched_at"]
    rhythms["changes"] = rng.poisson(rng.gamma(0.5, 6.0, len(rows)))
    gone_by = rng.uniform(0, 1, len(rows)) * (rows["fetched_at"] - rhythms["first_seen_at"])
    rhythms["changed_at"] = rhythms["first_seen_at"] + gone_by * (rhythms["changes"] > 0)
    rhythms["price_level"] = rng.integers(0, 20, len(rows))
    return rhythms


def build(count: int, rng: np.random.Generator) -> tuple[Planner, Learner, PageTable]:
    known = known_pages(count, rng)
    table = PageTable(known)
    hosts = Hosts([HostRow(number, f"host{number}.test") for number in range(1, HOSTS + 1)])
    gate = HostGate(PolitenessSettings())
    hints = Hints(table)
    sources = Sources(table, utc_offsets={}, half_life=DAY, expiry=2 * DAY)
    looked = known.states["page_id"][known.states["page_id"] % 1000 == 1]
    sources.add(looked, np.zeros(len(looked), np.int64))
    rhythms = Rhythms(table, hints, first_guess=0.2 / DAY)
    rhythms.restore(rhythms_of(known, rng))
    learner = Learner(
        table, rhythms=rhythms, sources=sources, hints=hints, worth_new=DAY, uses_signals=True
    )
    room = Room(
        table,
        hosts,
        gate,
        Budget(Allowance.of(BudgetSettings(per_tick=1000), tick=TICK), {}),
        tick=TICK,
        per_host=1,
        site_ids=list(range(1, SITES + 1)),
    )
    planner = Planner(PlanningSettings(), table, learner, room, strategy=None, seed=1)
    return planner, learner, table


def lessons_of(rows: list[int], now: float, tick: int, rng: np.random.Generator) -> NDArray[Any]:
    lessons = np.zeros(len(rows), LESSON_COLUMNS)
    lessons["fetch_id"] = tick * 10_000 + np.arange(len(rows))
    lessons["page_id"] = rows
    lessons["at"] = now
    lessons["changed"] = rng.random(len(rows)) < 0.3
    lessons["believed"] = lessons["is_offer"] = True
    lessons["price_micros"] = 10_000_000
    return lessons


def resident_bytes() -> int:
    """Memory of this process right now, all garbage gone."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def measure(count: int, ticks: int, seed: int) -> Row:
    rng = np.random.default_rng(seed)
    before = resident_bytes()
    planner, learner, table = build(count, rng)
    costs = np.zeros((ticks, 3))
    for tick in range(ticks):
        now = NOW + tick * TICK
        clock = [time.process_time()]
        choices = planner.choose(now, tick_id=tick, new_only=False, most=None)
        clock.append(time.process_time())
        reasons(choices.chosen, learner, table, now)
        clock.append(time.process_time())
        rows = [choice.page_id for choice in choices.chosen]
        table.fetched_at[rows] = now
        table.not_before[rows] = now + 3600.0
        planner.learn(lessons_of(rows, now, tick, rng))
        learner.state(tick_id=tick)
        clock.append(time.process_time())
        costs[tick] = np.diff(clock)
    resident = resident_bytes() - before
    started = time.process_time()
    learner.rhythms.value(learner.rhythms.all_rows(), NOW)
    value_all = time.process_time() - started
    settled = np.median(costs[1:], axis=0) * 1e3
    return {
        "pages": count,
        "picks": len(choices.chosen),
        "first tick ms": round(float(costs[0].sum() * 1e3), 1),
        "choose ms": round(float(settled[0]), 1),
        "reasons ms": round(float(settled[1]), 1),
        "learn ms": round(float(settled[2]), 1),
        "tick ms": round(float(np.median(costs[1:].sum(axis=1)) * 1e3), 1),
        "value all ms": round(value_all * 1e3, 1),
        "bytes a page": round(resident / count),
    }


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--pages", default="100000,1000000")
    parser.add_argument("--ticks", type=int, default=15)
    options = parser.parse_args()
    rows = [measure(int(text), options.ticks, options.seed) for text in options.pages.split(",")]
    show(rows, as_json=options.json)


if __name__ == "__main__":
    main()
