"""All that a run keeps in memory, taken up from the database where the last run left off."""

from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from crawler.clock import Clock
from crawler.config.model import BudgetSettings, Config, SiteSettings
from crawler.fetching.politeness import HostGate, HostPace
from crawler.planning.admission import Admission, Hosts, Patterns
from crawler.planning.budget import Allowance, Budget
from crawler.planning.hints import Hints, restore_signals
from crawler.planning.learner import Learner
from crawler.planning.planner import Planner
from crawler.planning.rhythms import Rhythms
from crawler.planning.room import Room
from crawler.planning.scope import Scope
from crawler.planning.sources import Sources, utc_offset
from crawler.planning.strategies import (
    OneRule,
    Portfolio,
    RefreshStrategy,
    strategy_of,
    teach_strategy,
)
from crawler.planning.table import PageTable
from crawler.reading.rules import ReadingRules
from crawler.site_rules import reading_rules
from storage.learning import Learned
from storage.pages import KnownPages
from storage.rows import Batch, HostMove, HostRow, RobotsRow
from storage.store import Store

_DAY = 86_400.0
_LESSONS = 100_000  # read at a time


@dataclass(frozen=True, slots=True)
class Memory:
    """Pages, hosts, scope and budget of a run."""

    scope: Scope
    table: PageTable
    hosts: Hosts
    gate: HostGate
    budget: Budget
    admission: Admission
    learner: Learner
    strategy: RefreshStrategy | None
    room: Room
    caught_up: Batch
    rules: dict[int, ReadingRules]
    robots: tuple[RobotsRow, ...]
    last_ids: dict[str, int]
    moved: tuple[HostMove, ...]


async def take_up(store: Store, config: Config, clock: Clock) -> Memory:
    """`remember` for a crawl: the settings' sites get their ids, and the pages of their hosts."""
    with clock.real_wait():
        await store.add_sites([site.name for site in config.site])
    memory = await remember(store, config, clock)
    if not memory.moved:
        return memory
    with clock.real_wait():
        await store.move_hosts(memory.moved)
    return await remember(store, config, clock)


async def remember(store: Store, config: Config, clock: Clock) -> Memory:
    """Loads the database's pages as columns; a million take about a second.  Writes nothing: a site that the
    database does not know yet (`Store.add_sites`) has no pages and is left out."""
    with clock.real_wait():
        site_ids = await store.sites()
        known = await store.known()
        host_rows = await store.hosts()
        robots = await store.robots()
        spent = await store.fetches_since(_day_of(clock.now())) if _is_limited(config) else []
        last_ids = await store.last_ids()
        cut_off = await store.was_cut_off()
        learned = await store.learned()
        signals = await store.signals()
    sites = {site_ids[site.name]: site for site in config.site if site.name in site_ids}
    scope = Scope(sites)
    table, hosts = PageTable(known), Hosts(host_rows)
    gate = _gate(config, scope, host_rows, cut_off_at=clock.now() if cut_off else None)
    budget = _budget(config, sites, spent)
    restore_signals(table, signals)
    moved = _apply_owners(scope, hosts, table)
    await _apply_site_rules(store, scope, table, clock)
    learner = _learner(config, sites, table, now=clock.now())
    strategy = strategy_of(config.planning, table, learner.rhythms)
    caught_up = await _catch_up(learner, learned, strategy, store, clock)
    return Memory(
        scope=scope,
        table=table,
        hosts=hosts,
        gate=gate,
        budget=budget,
        admission=Admission(
            scope,
            table,
            hosts,
            patterns=Patterns(learned.patterns, table.pattern[: table.size]),
            site_pages=_pages_of_sites(known),
        ),
        learner=learner,
        strategy=strategy,
        room=Room(
            table,
            hosts,
            gate,
            budget,
            tick=config.crawl.tick,
            per_host=config.politeness.per_host,
            site_ids=sorted(sites),
        ),
        caught_up=caught_up,
        rules={site_id: reading_rules(config.reading, site) for site_id, site in sites.items()},
        robots=tuple(robots),
        last_ids=last_ids,
        moved=moved,
    )


def _apply_owners(scope: Scope, hosts: Hosts, table: PageTable) -> tuple[HostMove, ...]:
    """Bars the pages of hosts that no site names any more; returns the hosts that another site names now,
    as after a run of a bare URL whose shop is given a name in the settings later."""
    owners = np.zeros(len(hosts) + 1, np.int32)
    for host_id, name in hosts.names().items():
        site = scope.site_of_host(name)
        owners[host_id] = site.site_id if site else 0
    used = slice(1, table.size)
    owner = np.where(table.host[used] >= 0, owners[table.host[used]], 0)
    table.barred[used] = owner == 0
    moved = (owner != 0) & (owner != table.site[used])
    return tuple(
        HostMove(int(owners[host]), int(host)) for host in np.unique(table.host[used][moved])
    )


async def _apply_site_rules(store: Store, scope: Scope, table: PageTable, clock: Clock) -> None:
    """Known pages by the rules of today, which may be others than when they were found."""
    for site in scope.sites.values():
        if not site.has_rules:
            continue
        with clock.real_wait():
            urls = await store.urls(site.site_id)
        for page_id, url in urls:
            table.importance[page_id] = site.importance_of(url)
            table.barred[page_id] |= site.refuses(url, depth=int(table.depth[page_id])) is not None


def planner_of(config: Config, memory: Memory) -> Planner:
    """The planner of a crawl with these settings."""
    return Planner(
        config.planning,
        memory.table,
        memory.learner,
        memory.room,
        strategy=memory.strategy,
        seed=config.crawl.seed,
    )


def _learner(
    config: Config, sites: dict[int, SiteSettings], table: PageTable, *, now: float
) -> Learner:
    planning, hints = config.planning, Hints(table)
    return Learner(
        table,
        rhythms=Rhythms(table, hints, first_guess=planning.changes_per_day / _DAY),
        sources=Sources(
            table,
            utc_offsets={
                site_id: utc_offset(site.timezone, now) for site_id, site in sites.items()
            },
            half_life=planning.half_life,
            expiry=planning.expiry,
        ),
        hints=hints,
        worth_new=planning.worth_new,
        uses_signals=planning.strategy in ("clock", "portfolio"),
    )


async def _catch_up(
    learner: Learner,
    learned: Learned,
    strategy: RefreshStrategy | None,
    store: Store,
    clock: Clock,
) -> Batch:
    """Takes up the stored state and learns from every fetch after it: those whose tick was cut off by a
    crash, or all of history when there is no state of this version.  Interval rules, whose state is a
    number for each page, always learn from all of history."""
    if not learner.restore(learned):
        learner.start_anew()
    caught_up = Batch()
    if isinstance(strategy, Portfolio):
        strategy.restore(learner.strategy_weights)
    after = 0 if isinstance(strategy, OneRule) else learner.fetch_id
    while True:
        with clock.real_wait():
            lessons = await store.lessons(after=after, most=_LESSONS)
        if len(lessons) == 0:
            return caught_up
        after = int(lessons["fetch_id"][-1])
        for tick_id in np.unique(lessons["tick_id"]).tolist():
            tick = lessons[lessons["tick_id"] == tick_id]
            if strategy is not None:
                teach_strategy(strategy, tick)
            new = tick[tick["fetch_id"] > learner.fetch_id]
            caught_up = learner.learn(new).merged_over(caught_up)


def _pages_of_sites(known: KnownPages) -> dict[int, int]:
    return dict(enumerate(np.bincount(known.pages["site_id"]).tolist()))


def _is_limited(config: Config) -> bool:
    """Does a budget count what was fetched before this run?"""
    budgets = (config.budget, *(site.budget for site in config.site))
    return any(budget != BudgetSettings() for budget in budgets)


def _day_of(now: float) -> float:
    return now // _DAY * _DAY


def _gate(
    config: Config, scope: Scope, rows: list[HostRow], *, cut_off_at: float | None
) -> HostGate:
    gate = HostGate(config.politeness)
    for row in rows:
        gate.restore(
            row.name,
            HostPace(
                ready_at=row.ready_at,
                crawl_delay=row.crawl_delay,
                answer_time=row.answer_time,
                caution=row.caution,
                backoffs=row.backoffs,
                failures=row.failures,
                note=row.note,
            ),
        )
    for site in scope.sites.values():
        if site.settings.delay is not None:
            for host in site.hosts:
                gate.set_delay(host, site.settings.delay)
    if cut_off_at is not None:  # a killed run may have asked any host a moment ago
        for row in rows:
            gate.started(row.name, started_at=cut_off_at)
    return gate


def _budget(
    config: Config, sites: dict[int, SiteSettings], spent: list[tuple[int, float]]
) -> Budget:
    tick = config.crawl.tick
    budget = Budget(
        Allowance.of(config.budget, tick=tick),
        {site_id: Allowance.of(site.budget, tick=tick) for site_id, site in sites.items()},
    )
    for site_id, started_at in sorted(spent, key=itemgetter(1)):
        budget.restore(site_id, started_at)
    return budget
