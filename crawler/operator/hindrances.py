"""Why is a page not fetched in the next tick, and what can the operator do about it?"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from crawler.fetching.outcome import MEANING, Next, Outcome
from crawler.fetching.robots_cache import interpret
from crawler.operator.export import moment
from crawler.operator.look import Look
from crawler.planning.planner import Choices
from crawler.planning.reasons import span
from crawler.planning.scope import OutOfScope, SiteScope
from crawler.reading.urls import host_of, origin_of
from storage.pages import StoredPage


class Verdict(StrEnum):
    """What decides about the next fetch."""

    NEXT_TICK = "next_tick"
    NOT_KNOWN = "not_known"
    NO_SITE = "no_site"
    OUT_OF_SCOPE = "out_of_scope"
    SITE_FULL = "site_full"
    TRAP = "trap"
    ROBOTS = "robots"
    ALIAS = "alias"
    WALL = "wall"
    RESTING = "resting"
    HOST_CLOSED = "host_closed"
    BUDGET = "budget"
    HOST_CAP = "host_cap"
    NOT_DUE = "not_due"


@dataclass(frozen=True, slots=True)
class Hindrance:
    """The verdict, and the sentence an operator can act on."""

    verdict: Verdict
    sentence: str


def of_stranger(url: str, seen: Look) -> Hindrance:
    """A URL that is no page of ours."""
    site = seen.memory.scope.site_of_host(host_of(url))
    if site is None:
        return _no_site(host_of(url), seen)
    return (
        _scope(url, site, depth=0)
        or _trap(url, site, seen)
        or _robots(url, seen)
        or Hindrance(
            Verdict.NOT_KNOWN,
            "Not known: within scope, but no page, sitemap or feed fetched so far names it. "
            "`python -m crawler seed FILE` adds it.",
        )
    )


def of_page(
    page: StoredPage, alias_of: str | None, seen: Look, choices: Choices, due_at: float | None
) -> Hindrance:
    """The first that stands in the way of a known page."""
    for choice in choices.chosen:
        if choice.page_id == page.id:
            return Hindrance(
                Verdict.NEXT_TICK,
                f"In the next tick: {choice.purpose} by {choice.strategy}, probability "
                f"{choice.probability:.2f}.",
            )
    return next(_in_the_way(page, alias_of, seen, choices, due_at))


def _in_the_way(
    page: StoredPage, alias_of: str | None, seen: Look, choices: Choices, due_at: float | None
) -> Iterator[Hindrance]:
    site = seen.memory.scope.sites.get(page.site_id)
    if site is None:
        yield _no_site(host_of(page.url), seen)
        return
    checks = (
        _scope(page.url, site, depth=page.depth),
        _robots(page.url, seen),
        _alias(page, alias_of, seen.now),
        _wall(page, seen),
        _resting(page, seen),
        _closed(host_of(page.url), seen),
        _budget(page, seen),
        _too_many(page, seen, choices, due_at),
    )
    yield from filter(None, checks)
    yield _not_due(seen, due_at, choices.level)


def _no_site(host: str, seen: Look) -> Hindrance:
    names = ", ".join(site.name for site in seen.config.site) or "none"
    return Hindrance(
        Verdict.NO_SITE,
        f"Not fetched: no site of the config has the host {host} (sites: {names}). Add it to `start` or "
        "`hosts` of a [[site]].",
    )


def _scope(url: str, site: SiteScope, *, depth: int) -> Hindrance | None:
    why = site.refuses(url, depth=depth)
    if why is None:
        return None
    settings = site.settings
    if why is OutOfScope.DEPTH:
        rule = f"it is {depth} links from the start, site.max_depth is {settings.max_depth}"
    elif why is OutOfScope.NOT_INCLUDED:
        rule = f"it fits none of site.include {list(settings.include)}"
    else:
        fitting = [pattern.pattern for pattern in site.exclude if pattern.search(url)]
        rule = f"it fits site.exclude {fitting[0]!r}"
    return Hindrance(
        Verdict.OUT_OF_SCOPE, f"Not fetched: out of scope of site {settings.name}: {rule}."
    )


def _trap(url: str, site: SiteScope, seen: Look) -> Hindrance | None:
    why = seen.memory.admission.refusal(url, site)
    if why is None:
        return None
    if why == OutOfScope.SITE_FULL:
        return Hindrance(
            Verdict.SITE_FULL,
            f"Not taken up: site {site.settings.name} has site.max_pages ({site.settings.max_pages}) pages.",
        )
    return Hindrance(
        Verdict.TRAP, f"Not taken up: addresses like this tend to have no end (trap `{why}`)."
    )


def _robots(url: str, seen: Look) -> Hindrance | None:
    origin = origin_of(url)
    row = next((row for row in seen.memory.robots if row.origin == origin), None)
    if row is None:
        return None
    entry = interpret(
        row, settings=seen.config.robots, product_token=seen.config.crawl.product_token
    )
    delay, most = entry.rules.crawl_delay, seen.config.politeness.max_crawl_delay
    if delay is not None and delay > most:
        return Hindrance(
            Verdict.ROBOTS,
            f"Not fetched: {origin}/robots.txt asks for a Crawl-delay of {delay:g} s, over "
            f"politeness.max_crawl_delay ({most}).",
        )
    if entry.rules.allows(url):
        return None
    if entry.rules.rules is None:
        return Hindrance(
            Verdict.ROBOTS,
            f"Not fetched: {origin}/robots.txt could not be had (`{entry.outcome}`); it is asked again after "
            f"{moment(entry.expires_at)}.",
        )
    return Hindrance(
        Verdict.ROBOTS,
        f"Not fetched: {origin}/robots.txt, read {moment(entry.fetched_at)}, forbids it to "
        f"{seen.config.crawl.product_token or 'us'}.",
    )


def _alias(page: StoredPage, alias_of: str | None, now: float) -> Hindrance | None:
    if alias_of is None or (page.not_before or 0.0) <= now:
        return None
    return Hindrance(
        Verdict.ALIAS,
        f"Not fetched: it is another address (`{page.outcome}`) of {alias_of}, which is fetched instead; "
        f"looked at again after {moment(page.not_before)}.",
    )


def _wall(page: StoredPage, seen: Look) -> Hindrance | None:
    again_at = max(page.not_before or 0.0, seen.memory.gate.ready_at(host_of(page.url)))
    walled = page.outcome == Outcome.WALL
    if not walled or again_at <= seen.now:
        return None
    return Hindrance(
        Verdict.WALL,
        "Not fetched: the host showed a bot wall. Prices are kept; it is left in peace until "
        f"{moment(again_at)}. Ask the shop to let your user agent in.",
    )


def _resting(page: StoredPage, seen: Look) -> Hindrance | None:
    until = float(seen.memory.table.not_before[page.id])
    opens_at = seen.memory.gate.ready_at(host_of(page.url))
    if until <= max(seen.now, opens_at) or page.outcome is None:
        return None
    if MEANING[Outcome(page.outcome)].next is Next.REFRESH:
        why = f"crawl.revisit ({seen.config.crawl.revisit}) has not passed since its last fetch"
    else:
        why = f"its last fetch ended as `{page.outcome}`, {page.failures} failures in a row"
    return Hindrance(Verdict.RESTING, f"Rests until {moment(until)}: {why}.")


def _closed(host: str, seen: Look) -> Hindrance | None:
    gate, tick = seen.memory.gate, seen.config.crawl.tick
    pace = gate.pace(host)
    if pace.ready_at < seen.now + tick:
        return None
    why = f"`{pace.note}`" if pace.note else f"{pace.failures} failures in a row"
    return Hindrance(
        Verdict.HOST_CLOSED,
        f"Not in the next tick: host {host} is closed until {moment(pace.ready_at)} ({why}).",
    )


def _budget(page: StoredPage, seen: Look) -> Hindrance | None:
    budget, now = seen.memory.budget, seen.now
    for name, table, left in (
        ("the crawl", "[budget]", budget.plannable(now)),
        ("its site", "[site.budget]", budget.site_plannable(page.site_id, now)),
    ):
        if left <= 0:
            return Hindrance(
                Verdict.BUDGET,
                f"Not in the next tick: what {table} allows {name} by now is used up; it is spread evenly "
                "over the hour and the day.",
            )
    return None


def _too_many(
    page: StoredPage, seen: Look, choices: Choices, due_at: float | None
) -> Hindrance | None:
    """Its host can take no more in a tick than is already picked."""
    memory = seen.memory
    room = int(memory.room.by_host(seen.now)[page.host_id])
    table = memory.table
    picked = sum(int(table.host[choice.page_id]) == page.host_id for choice in choices.chosen)
    if due_at is None or due_at > seen.now or picked < room:
        return None
    host = host_of(page.url)
    return Hindrance(
        Verdict.HOST_CAP,
        f"Not in the next tick: worth a fetch, but {host} takes only {room} in a tick (one each "
        f"{span(memory.gate.delay(host))}) and {picked} others come first.",
    )


def _not_due(seen: Look, due_at: float | None, level: float) -> Hindrance:
    if due_at is None:
        return Hindrance(
            Verdict.NOT_DUE,
            f"Not due: it will not be worth the going price ({span(level)}) as things stand; a signal, a "
            "lower price or more budget would change that.",
        )
    if due_at <= seen.now:
        return Hindrance(
            Verdict.NOT_DUE, "Due now, but others of at least its worth fill the next tick."
        )
    return Hindrance(
        Verdict.NOT_DUE,
        f"Due in {span(due_at - seen.now)}, at {moment(due_at)}: it reaches the going price, or "
        f"planning.max_interval ({seen.config.planning.max_interval}) is over.",
    )
