"""Laws of a tick's choice: budget, hosts, sites, starvation, and that a restart changes nothing."""

import sqlite3
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.config.model import BudgetSettings, PlanningSettings, PolitenessSettings
from crawler.crawl import crawl
from crawler.fetching.politeness import HostGate, HostPace
from crawler.fetching.transport import Transport
from crawler.planning.admission import Hosts
from crawler.planning.budget import Allowance, Budget
from crawler.planning.hints import Hint, Hints
from crawler.planning.learner import Learner, lesson_array
from crawler.planning.plan import Purpose
from crawler.planning.planner import Planner
from crawler.planning.reasons import reasons
from crawler.planning.rhythms import Rhythms
from crawler.planning.room import Room
from crawler.planning.sources import Sources
from crawler.planning.strategies import strategy_of
from crawler.planning.table import PageTable
from crawler.shop.settings import varied_shop
from crawler.shop.transport import ShopTransport
from crawler.shop.world import ShopWorld
from policies.estimation.site_signals import SiteSignals
from storage.learning import Lesson
from storage.rows import HostRow

NOW = 1_700_000_000.0
DAY = 86_400.0
TICK = 60.0


class World:
    """A planner over pages made up for a test."""

    def __init__(self, *, hosts: int = 3, budget: int = 10, **planning: Any) -> None:
        self.table = PageTable()
        self.hosts = Hosts([HostRow(n, f"h{n}.test") for n in range(1, hosts + 1)])
        self.gate = HostGate(PolitenessSettings())
        hints = Hints(self.table)
        rhythms = Rhythms(self.table, hints, first_guess=0.2 / DAY)
        sources = Sources(self.table, utc_offsets={}, half_life=DAY, expiry=2 * DAY)
        self.learner = Learner(
            self.table,
            rhythms=rhythms,
            sources=sources,
            hints=hints,
            worth_new=DAY,
            uses_signals=True,
        )
        allowance = Allowance.of(BudgetSettings(per_tick=budget), tick=TICK)
        room = Room(
            self.table,
            self.hosts,
            self.gate,
            Budget(allowance, {}),
            tick=TICK,
            per_host=1,
            site_ids=[1, 2],
        )
        chosen = PlanningSettings.model_validate(planning)
        strategy = strategy_of(chosen, self.table, rhythms)
        self.planner = Planner(chosen, self.table, self.learner, room, strategy=strategy, seed=1)
        self.tick_id = 0
        self.fetch_id = 0

    def add(self, count: int, *, host: int, pattern: int = 1) -> list[int]:
        start = self.table.size
        return [
            self.table.add(start + n, site=1 + host % 2, host=host, depth=1, pattern=pattern)
            for n in range(count)
        ]

    def fetch(self, rows: list[int], at: float, **told: Any) -> None:
        """Teach as if these pages had been fetched and believed."""
        lessons = []
        for row in rows:
            self.fetch_id += 1
            fields = {
                "changed": 0 if self.table.fetched_at[row] else -1,
                "signals": int(self.table.hints[row]),
                "discovered": 0,
                "hinted": 0,
                "believed": True,
                "is_offer": True,
                "price_micros": 9_000_000,
                "source_kind": 0,
                **told,
            }
            lessons.append(Lesson(self.fetch_id, row, at, tick_id=self.tick_id, **fields))
        self.planner.learn(lesson_array(lessons))
        self.table.fetched_at[rows] = at
        self.table.hints[rows] = 0

    def choose(self, now: float) -> list[Any]:
        self.tick_id += 1
        choices = self.planner.choose(now, tick_id=self.tick_id, new_only=False, most=None)
        self.last = choices
        return list(choices.chosen)


@settings(max_examples=40, deadline=None)
@given(
    new=st.lists(st.integers(0, 40), min_size=3, max_size=3),
    old=st.lists(st.integers(0, 40), min_size=3, max_size=3),
    budget=st.integers(1, 60),
    closed=st.lists(st.floats(0.0, 120.0), min_size=3, max_size=3),
    strategy=st.sampled_from(["clock", "uniform", "nutch", "lambda_crawl", "portfolio"]),
)
def test_no_tick_exceeds_the_budget_or_what_a_host_can_take(
    new: list[int], old: list[int], budget: int, closed: list[float], strategy: str
) -> None:
    world = World(budget=budget, strategy=strategy)
    for host in (1, 2, 3):
        known = world.add(old[host - 1], host=host)
        if known:
            world.fetch(known, NOW - 5 * DAY)
        world.add(new[host - 1], host=host)
        pace = HostPace(ready_at=NOW + closed[host - 1])
        world.gate.restore(f"h{host}.test", pace)
    picks = world.choose(NOW)
    assert len(picks) <= budget
    assert len({pick.page_id for pick in picks}) == len(picks)
    taken = Counter(int(world.table.host[pick.page_id]) for pick in picks)
    for host, count in taken.items():
        open_for = TICK - closed[host - 1]
        assert open_for > 0.0
        assert count <= int(open_for / 2.0) + 1
    why = reasons(tuple(picks), world.learner, world.table, NOW)
    assert all(why)
    assert all(0.0 < pick.probability <= 1.0 for pick in picks)


def test_what_a_closed_host_cannot_take_goes_to_another_in_the_same_tick() -> None:
    world = World(budget=10)
    world.add(50, host=1)
    open_rows = world.add(50, host=2)
    world.gate.restore("h1.test", HostPace(ready_at=NOW + 3600.0))
    picks = world.choose(NOW)
    assert len(picks) == 10
    assert {pick.page_id for pick in picks} <= set(open_rows)


def test_new_pages_of_a_fruitful_pattern_come_before_those_of_a_barren_one() -> None:
    world = World(budget=5, hosts=1)
    fruitful, barren = world.add(30, host=1, pattern=1), world.add(30, host=1, pattern=2)
    world.fetch(fruitful[:10], NOW - 10.0)
    world.fetch(barren[:10], NOW - 10.0, is_offer=False)
    world.table.not_before[fruitful[:10] + barren[:10]] = NOW + DAY
    picks = world.choose(NOW)
    assert {pick.page_id for pick in picks} <= set(fruitful[10:])


def test_a_page_that_changes_often_is_refreshed_before_one_that_does_not() -> None:
    world = World(budget=1, hosts=1)
    fast, slow = world.add(2, host=1)
    world.fetch([fast, slow], NOW - 20 * DAY)
    for day in range(19, 0, -1):
        world.fetch([fast], NOW - day * DAY, changed=1)
        world.fetch([slow], NOW - day * DAY, changed=0)
    assert [pick.page_id for pick in world.choose(NOW)] == [fast]


def test_a_signal_brings_a_page_forward() -> None:
    world = World(budget=1, hosts=1)
    rows = world.add(20, host=1)
    world.fetch(rows, NOW - DAY)
    world.table.signalled_at[rows[7]] = NOW
    world.table.hints[rows[7]] = Hint.LASTMOD
    assert [pick.page_id for pick in world.choose(NOW)] == [rows[7]]


def test_a_signal_that_never_comes_true_fades() -> None:
    world = World(hosts=1)
    rows = world.add(50, host=1)
    world.fetch(rows, NOW - 100 * DAY)
    world.table.signalled_at[rows] = NOW
    worth = []
    for day in range(6):
        world.table.hints[rows] = Hint.LASTMOD
        world.fetch(rows, NOW - (90 - day) * DAY, changed=0)
        worth.append(float(world.learner.hints.quality.worth()[2, 0]))
    assert SiteSignals.start(1, 4).worth()[0, 0] > 0.5
    assert worth[-1] < 0.02


def test_no_page_waits_longer_than_the_maximum_revisit_interval() -> None:
    """However little a page is worth: here one that never changed among twenty that always do."""
    world = World(budget=1, hosts=1, max_interval="5d")
    rows = world.add(21, host=1)
    world.fetch(rows, NOW)
    longest = 0.0
    for tick in range(1, 400):
        now = NOW + tick * 3600.0
        for pick in world.choose(now):
            waited = now - float(world.table.fetched_at[pick.page_id])
            longest = max(longest, waited)
            world.fetch([pick.page_id], now, changed=int(pick.page_id != rows[0]))
    # One fetch a tick: 21 pages may come up in the same tick, so the last waits 21 ticks more.
    assert longest <= 5 * DAY + 21 * 3600.0
    assert world.table.fetched_at[rows[0]] > NOW + 5 * DAY


def test_every_site_gets_its_floor() -> None:
    world = World(budget=10, hosts=2, site_floor=0.4)
    rich, poor = world.add(40, host=1), world.add(40, host=2)
    world.fetch(rich + poor, NOW - 30 * DAY)
    for day in range(29, 0, -2):
        world.fetch(rich, NOW - day * DAY, changed=1)
        world.fetch(poor, NOW - day * DAY, changed=0)
    picks = world.choose(NOW)
    assert sum(pick.page_id in set(poor) for pick in picks) >= 2


def test_sources_are_fetched_for_what_they_show() -> None:
    world = World(budget=1, hosts=1)
    good, bad = world.add(2, host=1)
    for hours in range(200, 0, -4):
        world.fetch([good], NOW - hours * 3600.0, is_offer=False, changed=-1, discovered=3)
        world.fetch([bad], NOW - hours * 3600.0, is_offer=False, changed=-1, discovered=0)
    picks = world.choose(NOW)
    assert [(pick.page_id, pick.purpose) for pick in picks] == [(good, Purpose.DISCOVER)]


def shop_config(database: Path, hours: int) -> Config:
    return Config.model_validate(
        {
            "crawl": {
                "user_agent": "TestBot/1.0 (+http://test.example/)",
                "database": str(database),
                "tick": "1h",
                "revisit": "30m",
                "stop_after": f"{hours}h",
            },
            "budget": {"per_tick": 8},
            "site": [
                {"start": ["http://garden.shop.test/"]},
                {"start": ["http://tools.shop.test/"]},
            ],
        }
    )


def crawl_shop(database: Path, *, began_at: float, hours: int) -> None:
    world = ShopWorld(varied_shop(starts_at=NOW, days=10, sites=2, offers=20), seed=3)

    @asynccontextmanager
    async def simulated(_: Config, clock: Clock) -> AsyncIterator[Transport]:
        yield ShopTransport(world, clock)

    async def main() -> None:
        config = shop_config(database, hours)
        await crawl(config, clock=Clock(began_at), open_transport=simulated)

    run_virtual(main())


def fetched(database: Path) -> list[tuple[str, str, str]]:
    query = (
        "SELECT url, purpose, outcome FROM fetch JOIN page ON page.id = page_id ORDER BY fetch.id"
    )
    with closing(sqlite3.connect(database)) as connection, connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("hours", [5])
def test_a_crawl_in_pieces_fetches_the_same_as_one_in_a_whole(tmp_path: Path, hours: int) -> None:
    """All that the planner knows is in the database: stopping and starting again changes nothing."""
    hour = NOW // 3600.0 * 3600.0
    crawl_shop(tmp_path / "whole.db", began_at=hour, hours=6 * hours)
    for piece in range(6):
        began_at = hour + piece * hours * 3600.0
        crawl_shop(tmp_path / "pieces.db", began_at=began_at, hours=hours)
    whole, pieces = fetched(tmp_path / "whole.db"), fetched(tmp_path / "pieces.db")
    assert len(whole) > 150
    assert pieces == whole
