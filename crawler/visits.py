"""One page: may it be fetched, fetch it, read it, store what it taught, learn from it."""

import dataclasses
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from crawler.clock import Clock
from crawler.config.model import Config
from crawler.fetching.outcome import MEANING, Fault, Outcome
from crawler.fetching.robots_cache import RobotsCache, RobotsEntry
from crawler.fetching.transport import FetchError, Request, Transport
from crawler.fetching.turns import Turns
from crawler.findings import Finding
from crawler.memory import Memory
from crawler.observation import Observation, observe, observe_refusal
from crawler.planning.hints import HINT_OF_KIND, Hint
from crawler.planning.plan import Pick, Purpose
from crawler.reader import Reader
from crawler.reading.facts import Card, SourceEntry
from crawler.reading.rules import ChangeDefinition
from crawler.reading.sources.sitemaps import next_sources
from crawler.reading.urls import host_of, page_hash
from crawler.reading.urls.aliases import Alias, judge_alias
from crawler.tally import Tally
from storage.learning import Lesson
from storage.pages import StoredPage
from storage.rows import (
    Batch,
    DroppedRow,
    HostRow,
    PageRow,
    RobotsRow,
    SignalRow,
    TickRow,
)
from storage.store import Store

_NOTE = 300  # characters: error messages quote what a stranger sent


class Visits:
    """Carries out picks for the dispatcher.

    `follow` is told of a redirect's target to fetch next; `found_work` of new pages on a host;
    `report` of every observation, for logs and progress.
    """

    def __init__(
        self,
        config: Config,
        *,
        clock: Clock,
        transport: Transport,
        turns: Turns,
        store: Store,
        memory: Memory,
        report: Callable[[Pick, Observation], None],
        tally: Tally,
    ) -> None:
        self._config = config
        self._clock = clock
        self._transport = transport
        self._store = store
        self._memory = memory
        self._report = report
        self._change = ChangeDefinition(config.reading.change)
        self._reader = Reader(config, clock, memory.rules)
        self._jitter = random.Random(config.crawl.seed)  # noqa: S311  spreads retries, guards nothing
        self._fetch_id = memory.last_ids["fetch"]
        self._sent = tally.fetches
        self._loose = Batch()
        self._lessons: list[Lesson] = []
        self._claims: Counter[str] = Counter()  # pages that name an address as their canonical one
        self.tally = tally
        self.tick_id = memory.last_ids["tick"]
        self.follow: Callable[[Pick], None] = lambda pick: None
        self.found_work: Callable[[str], None] = lambda host: None
        self._robots = RobotsCache(
            config.robots,
            product_token=config.crawl.product_token,
            clock=clock,
            transport=transport,
            turns=turns,
            gate=memory.gate,
            on_fetched=self._robots_fetched,
        )
        for row in memory.robots:
            self._robots.restore(row)

    # -- before the turn ---------------------------------------------------------------------------

    async def may_fetch(self, pick: Pick) -> bool:
        """Robots and Crawl-delay.  A refusal is recorded with its reason and costs no fetch."""
        entry = await self._robots.entry(pick.page.url)
        outcome = self._robots_verdict(pick.page.url, entry)
        if outcome is None:
            return True
        observation = observe_refusal(
            pick,
            outcome,
            now=self._clock.now(),
            revisit=self._config.crawl.revisit,
            note=f"robots.txt: {entry.outcome}",
        )
        await self._settle(pick, observation)
        return False

    def _robots_verdict(self, url: str, entry: RobotsEntry) -> Outcome | None:
        delay = entry.rules.crawl_delay
        if delay is not None and delay > self._config.politeness.max_crawl_delay:
            return Outcome.CRAWL_DELAY_TOO_LONG
        if entry.rules.allows(url):
            return None
        if entry.outcome is Outcome.FORBIDDEN_ADDRESS:
            return entry.outcome
        return Outcome.ROBOTS if entry.rules.rules is not None else Outcome.ROBOTS_UNREACHABLE

    def _robots_fetched(self, row: RobotsRow, entry: RobotsEntry) -> None:
        self._loose.robots.append(row)
        self.admit(entry.rules.sitemaps, how="sitemap", source_id=None, depth=0)

    # -- in its turn -------------------------------------------------------------------------------

    async def visit(self, pick: Pick, end_turn: Callable[[], None]) -> None:
        if not self._may_send(pick):
            self._memory.table.busy[pick.page.id] = False
            return
        self._sent += 1
        finding = await self._fetch(pick)
        self._keep_pace(pick.host, finding)
        end_turn()
        batch = Batch()
        finding, target = self._resolve_redirect(pick, finding, batch)
        if target is None:
            finding, target = self._resolve_canonical(pick, finding, batch)
        self._discover(pick, finding, batch)
        await self._signal_by_cards(finding, batch)
        self._fetch_id += 1
        observation = observe(
            pick,
            finding,
            fetch_id=self._fetch_id,
            tick_id=self.tick_id,
            revisit=self._config.crawl.revisit,
            change=self._change,
            alias_of=target.id if target is not None else None,
            signals=int(self._memory.table.hints[pick.page.id]),
            discovered=len(batch.pages),
            hinted=sum(self._is_news(signal) for signal in batch.signals),
        )
        observation.batch.add(batch)
        await self._settle(pick, observation)
        if target is not None and not self._memory.table.fetched_at[target.id]:
            self._follow(pick, target)

    def _may_send(self, pick: Pick) -> bool:
        """Asked again when the turn has come: robots.txt may have changed, the budget been spent."""
        entry, most = self._robots.last_word(pick.page.url), self._config.crawl.max_fetches
        return (
            entry is not None
            and self._robots_verdict(pick.page.url, entry) is None
            and (most is None or self._sent < most)
            and self._memory.budget.take(pick.page.site_id, self._clock.now())
        )

    async def _fetch(self, pick: Pick) -> Finding:
        page, started_at = pick.page, self._clock.now()
        request = Request(page.url, etag=page.etag, last_modified=page.last_modified)
        try:
            reply = await self._transport.send(request)
        except FetchError as error:
            return Finding(
                outcome=error.outcome,
                started_at=started_at,
                duration=error.duration,
                note=str(error)[:_NOTE],
            )
        try:
            return await self._reader.read(pick, reply, started_at=started_at)
        except Exception as error:  # noqa: BLE001  one page we cannot read must not end the crawl
            return Finding(
                outcome=Outcome.UNREADABLE,
                started_at=started_at,
                duration=reply.duration,
                status=reply.status,
                wire_bytes=reply.wire_bytes,
                note=f"{type(error).__name__}: {error}"[:_NOTE],
            )

    def _keep_pace(self, host: str, finding: Finding) -> None:
        gate, ended_at = self._memory.gate, finding.started_at + finding.duration
        if finding.outcome in (Outcome.THROTTLED, Outcome.WALL):
            gate.refused(
                host,
                ended_at=ended_at,
                retry_after=finding.retry_after,
                jitter=self._jitter.random(),
                note=finding.outcome,
            )
        elif (
            MEANING[finding.outcome].fault is Fault.HOST or finding.outcome is Outcome.SERVER_ERROR
        ):
            gate.failed(host, ended_at=ended_at)
        else:
            gate.succeeded(host, ended_at=ended_at, duration=finding.duration)

    # -- redirects ---------------------------------------------------------------------------------

    def _resolve_redirect(
        self, pick: Pick, finding: Finding, batch: Batch
    ) -> tuple[Finding, PageRow | None]:
        """Judges a redirect by its target.  The target is a page of its own: robots, scope, politeness and
        budget are asked again when its turn comes."""
        if finding.outcome is not Outcome.REDIRECTED or finding.target is None:
            return finding, None
        if len(pick.trail) >= self._config.fetch.max_redirects:
            return dataclasses.replace(finding, outcome=Outcome.TOO_MANY_REDIRECTS), None
        target = self._page_of(finding.target, pick, batch)
        if target is None:
            return dataclasses.replace(finding, outcome=Outcome.REDIRECTED_AWAY), None
        if target.id == pick.page.id or target.id in pick.trail:
            return dataclasses.replace(finding, outcome=Outcome.REDIRECT_LOOP), None
        return finding, target

    def _page_of(self, url: str, pick: Pick, batch: Batch) -> PageRow | None:
        """The page at `url`, new or known; None when it is out of scope."""
        page = pick.page
        new = self._admit([url], batch, how="redirect", source_id=page.id, depth=page.depth)
        if new:
            return new[0]
        url_hash = page_hash(url)
        page_id = self._memory.table.find(url_hash)
        if not page_id:
            return None
        table = self._memory.table
        return PageRow(
            page_id,
            url,
            url_hash,
            int(table.site[page_id]),
            int(table.host[page_id]),
            int(table.depth[page_id]),
            "redirect",
            page.id,
            self._clock.now(),
            int(table.pattern[page_id]),
        )

    def _follow(self, pick: Pick, target: PageRow) -> None:
        if self._memory.table.busy[target.id]:
            return
        self._memory.table.busy[target.id] = True
        page = StoredPage(
            target.id,
            target.url,
            target.site_id,
            target.host_id,
            target.depth,
            target.how,
            target.discovered_at,
            *(None,) * (len(StoredPage._fields) - 7),
        )
        self.follow(
            dataclasses.replace(
                pick,
                page=page,
                offers=(),
                host=host_of(target.url),
                purpose=Purpose.FOLLOW,
                reason=f"{pick.page.url} redirects here",
                trail=(*pick.trail, pick.page.id),
            )
        )

    def _resolve_canonical(
        self, pick: Pick, finding: Finding, batch: Batch
    ) -> tuple[Finding, PageRow | None]:
        """A page that names another address as its proper one is an alias of it, if that can be believed."""
        url = finding.page.canonical if finding.page is not None else None
        verdict = judge_alias(pick.page.url, url, claims=self._claims[url or ""])
        if url is None or verdict is Alias.SAME:
            return finding, None
        if verdict is not Alias.ALIAS:
            batch.dropped.append(DroppedRow(pick.page.site_id, verdict, 1))
            return finding, None
        target = self._page_of(url, pick, batch)
        if target is None:
            return finding, None
        self._claims[url] += 1
        return dataclasses.replace(finding, outcome=Outcome.ALIAS), target

    # -- discoveries and signals -------------------------------------------------------------------

    def admit(self, urls: Iterable[str], *, how: str, source_id: int | None, depth: int) -> None:
        """Lets URLs from outside a fetch in: start URLs, sitemaps named by robots.txt."""
        self._admit(urls, self._loose, how=how, source_id=source_id, depth=depth)

    def _admit(
        self,
        urls: Iterable[str],
        batch: Batch,
        *,
        how: str,
        source_id: int | None,
        depth: int,
        source_url: str | None = None,
    ) -> list[PageRow]:
        new = self._memory.admission.admit(
            urls,
            batch,
            how=how,
            source_id=source_id,
            depth=depth,
            now=self._clock.now(),
            source_url=source_url,
        )
        self.tally.discovered += len(new)
        for host in {host_of(row.url) for row in new}:
            self.found_work(host)
        return new

    def _discover(self, pick: Pick, finding: Finding, batch: Batch) -> None:
        page = pick.page

        def admit(urls: Iterable[str], how: str) -> None:
            depth = page.depth + 1
            self._admit(urls, batch, how=how, source_id=page.id, depth=depth, source_url=page.url)

        if finding.page is not None and finding.page.follow:
            admit(finding.page.outlinks, "link")
            admit(finding.page.feeds, "feed")
            self._count_dropped(page.site_id, finding.page.dropped_links, batch)
        if finding.source is not None:
            source = finding.source
            children, too_deep = next_sources(source, page.depth, known=())
            admit([child.url for child in children], "sitemap")
            admit(
                [entry.url for entry in source.entries],
                "feed entry" if _is_feed(page) else "sitemap entry",
            )
            self._signal(source.entries, batch, kind="feed" if _is_feed(page) else "lastmod")
            self._count_dropped(page.site_id, {**source.dropped, **too_deep}, batch)

    def _count_dropped(self, site_id: int, dropped: Mapping[str, int], batch: Batch) -> None:
        batch.dropped.extend(DroppedRow(site_id, why, count) for why, count in dropped.items())

    def _signal(self, entries: Sequence[SourceEntry], batch: Batch, *, kind: str) -> None:
        """A time stamp newer than any we knew of is a hint that the page changed."""
        stamped = [entry for entry in entries if entry.changed_at is not None]
        table, now = self._memory.table, self._clock.now()
        ids = table.find_many([page_hash(entry.url) for entry in stamped])
        for entry, page_id in zip(stamped, ids, strict=True):
            changed_at = _moment_meant(entry.changed_at or 0.0, now)
            if page_id and changed_at > table.signalled_at[page_id]:
                table.signalled_at[page_id] = changed_at
                self._hint(int(page_id), kind, changed_at, batch)

    async def _signal_by_cards(self, finding: Finding, batch: Batch) -> None:
        """A listing that shows another price than we hold is a hint that the product's page changed."""
        cards = [card for card in finding.page.cards if card.price_micros] if finding.page else []
        if not cards:
            return
        ids = self._memory.table.find_many([page_hash(card.url) for card in cards]).tolist()
        if self._clock.virtual:
            await self.flush()
        with self._clock.real_wait():
            held = await self._store.single_prices([page_id for page_id in ids if page_id])
        now = self._clock.now()
        for card, page_id in zip(cards, ids, strict=True):
            if page_id not in held or not _differs(card, *held[page_id]):
                continue
            if not self._memory.table.hints[page_id] & Hint.LISTING_PRICE:
                self._hint(page_id, "listing_price", now, batch)

    def _hint(self, page_id: int, kind: str, changed_at: float, batch: Batch) -> None:
        """A signal counts by its own time stamp: older than our last look, it is no news."""
        signal = SignalRow(page_id, kind, changed_at, self._clock.now())
        batch.signals.append(signal)
        if self._is_news(signal):
            self._memory.table.hints[page_id] |= HINT_OF_KIND[kind]

    def _is_news(self, signal: SignalRow) -> bool:
        fetched_at = float(self._memory.table.fetched_at[signal.page_id])
        return 0.0 < fetched_at < signal.changed_at

    # -- store and learn ---------------------------------------------------------------------------

    async def flush(self) -> None:
        """Stores what no observation has taken along."""
        if self._loose:
            await self._write(Batch())

    def add_tick(self, row: TickRow) -> None:
        self._loose.ticks.append(row)

    def keep(self, batch: Batch) -> None:
        """Rows that are stored with the next write."""
        self._loose.add(batch)

    def take_lessons(self) -> list[Lesson]:
        """What the fetches since the last call taught, for the planner."""
        lessons, self._lessons = self._lessons, []
        return lessons

    async def _settle(self, pick: Pick, observation: Observation) -> None:
        """Store, then learn: memory never runs ahead of the database."""
        observation.batch.hosts.append(self._host_row(pick.page.host_id, pick.host))
        if (
            self._clock.virtual
        ):  # nothing can be lost that could not be run again: one commit a tick
            self._loose.add(observation.batch)
        else:
            await self._write(observation.batch)
        self._learn(pick, observation)

    async def _write(self, batch: Batch) -> None:
        loose, self._loose = self._loose, Batch()
        loose.add(self._memory.admission.take_unstored())
        loose.add(batch)
        with self._clock.real_wait():
            await self._store.write(loose)

    def keep_paces(self) -> None:
        """A robots.txt may have been the last thing a host was asked for: the next run must know."""
        for host_id, host in self._memory.hosts.names().items():
            self._loose.hosts.append(self._host_row(host_id, host))

    def _host_row(self, host_id: int, host: str) -> HostRow:
        pace = self._memory.gate.pace(host)
        return HostRow(
            host_id,
            host,
            pace.ready_at,
            pace.crawl_delay,
            pace.answer_time,
            pace.caution,
            pace.backoffs,
            pace.failures,
            pace.note,
        )

    def _learn(self, pick: Pick, observation: Observation) -> None:
        table, page_id = self._memory.table, pick.page.id
        table.busy[page_id] = False
        table.fetched_at[page_id] = observation.fetched_at
        table.not_before[page_id] = observation.not_before
        if observation.lesson is not None:
            self._lessons.append(observation.lesson)
            if observation.lesson.believed:
                table.hints[page_id] = 0
            self.tally.count_fetch(
                observation.outcome,
                changed=bool(observation.changed),
                wire_bytes=observation.wire_bytes,
            )
        else:
            self.tally.count_refusal(observation.outcome)
        self.tally.offers += observation.new_offers
        self._report(pick, observation)


def _is_feed(page: StoredPage) -> bool:
    return page.how == "feed"


def _moment_meant(changed_at: float, now: float) -> float:
    """Shops round lastmod to the day, so midnight means some time of that day, at the latest now."""
    return min(changed_at + 86_399.0, now) if changed_at % 86_400.0 == 0.0 else changed_at


def _differs(card: Card, price_micros: int, currency: str | None) -> bool:
    """Not a change when the listing is in another currency than the page was."""
    same_currency = card.currency is None or currency is None or card.currency == currency
    return same_currency and card.price_micros != price_micros
