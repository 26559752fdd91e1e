"""All that a run keeps in memory, taken up from the database where the last run left off."""

from dataclasses import dataclass
from operator import itemgetter

from crawler.clock import Clock
from crawler.config.model import Config, SiteSettings
from crawler.fetching.politeness import HostGate, HostPace
from crawler.planning.admission import Admission, Hosts
from crawler.planning.budget import Allowance, Budget
from crawler.planning.scope import Scope
from crawler.planning.table import PageTable
from crawler.reading.rules import ReadingRules
from crawler.site_rules import reading_rules
from storage.rows import HostRow, RobotsRow
from storage.store import Store

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Pages, hosts, scope and budget of a run."""

    scope: Scope
    table: PageTable
    hosts: Hosts
    gate: HostGate
    budget: Budget
    admission: Admission
    rules: dict[int, ReadingRules]
    robots: tuple[RobotsRow, ...]
    last_ids: dict[str, int]


async def remember(store: Store, config: Config, clock: Clock) -> Memory:
    """Loads the database's pages as columns; a million take about a second."""
    with clock.real_wait():
        site_ids = await store.sites([site.name for site in config.site])
        known = await store.known()
        host_rows = await store.hosts()
        robots = await store.robots()
        site_pages = await store.site_pages()
        spent = await store.fetches_since(_day_of(clock.now()))
        last_ids = await store.last_ids()
        cut_off = await store.was_cut_off()
    sites = {site_ids[site.name]: site for site in config.site}
    scope = Scope(sites)
    table, hosts = PageTable(known), Hosts(host_rows)
    return Memory(
        scope=scope,
        table=table,
        hosts=hosts,
        gate=_gate(config, scope, host_rows, cut_off_at=clock.now() if cut_off else None),
        budget=_budget(config, sites, spent),
        admission=Admission(scope, table, hosts, site_pages=site_pages),
        rules={site_id: reading_rules(config.reading, site) for site_id, site in sites.items()},
        robots=tuple(robots),
        last_ids=last_ids,
    )


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
