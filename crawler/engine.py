"""The crawl: plan, fetch, read, store, learn, one tick after the other until there is a reason to stop.

plan    Planner.choose, then the chosen pages' rows           crawler/planning
fetch   Dispatcher: robots, host turns, slots; Transport      crawler/fetching
read    bytes to facts                                        crawler/reading
store   one batch an observation, committed whole             storage
learn   the hosts' pace, the page table, the tally            crawler/visits.py
"""

import asyncio
from collections.abc import Callable, Sequence
from enum import StrEnum

from crawler.clock import Clock
from crawler.config.model import Config
from crawler.fetching.dispatcher import Dispatcher
from crawler.fetching.transport import Transport
from crawler.fetching.turns import Turns
from crawler.memory import Memory, planner_of
from crawler.observation import Observation
from crawler.planning.learner import lesson_array
from crawler.planning.plan import Pick, Plan
from crawler.planning.planner import Choices
from crawler.planning.reasons import reasons
from crawler.tally import Tally
from crawler.visits import Visits
from storage.rows import TickRow
from storage.store import Store

_SHORTEST_ROUND = 0.25  # seconds before new pages for an idle host may cut a tick short
_FEW_FETCHES = 100  # too early to judge the share of failures


class Finish(StrEnum):
    """Why a run ended."""

    DONE = "every known page was fetched"
    TIME = "crawl.stop_after was reached"
    FETCHES = "crawl.max_fetches was reached"
    INTERRUPTED = "interrupted"
    EDITED = "the settings were edited"
    NOTHING = "nothing could be crawled"
    FAILURES = "too many fetches failed (crawl.max_failures)"


class Engine:
    """One run over one database, with one set of settings.  `run` returns when there is a reason to; `stop`
    gives it one, and so does `edit`, asked before each tick, when it has new settings: they are in `edited`."""

    def __init__(
        self,
        config: Config,
        *,
        clock: Clock,
        transport: Transport,
        store: Store,
        memory: Memory,
        once: bool,
        report: Callable[[Pick, Observation], None],
        edit: Callable[[], Config | None],
        tally: Tally,
        started_at: float,
    ) -> None:
        self._crawl = config.crawl
        self._clock = clock
        self._store = store
        self.memory = memory
        self._once = once
        self._slots = config.politeness.slots
        self._turns = Turns(clock, memory.gate, per_host=config.politeness.per_host)
        self._visits = Visits(
            config,
            clock=clock,
            transport=transport,
            turns=self._turns,
            store=store,
            memory=memory,
            report=report,
            tally=tally,
        )
        self.tally = tally
        self.planner = planner_of(config, memory)
        self._edit = edit
        self.edited: Config | None = None
        self._stopping = asyncio.Event()
        self._hosts_with_work: set[str] = set()
        self._started_at = started_at

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ends the run as soon as what is in flight has been stored."""
        self._stopping.set()
        self._dispatcher.wake()

    async def run(self, run_id: int) -> Finish:
        """Ticks until there is a reason to stop, then lets what is in flight end and be stored."""
        async with asyncio.TaskGroup() as tasks:
            self._dispatcher = Dispatcher(
                self._clock, self._turns, self._visits, tasks, slots=self._slots
            )
            self._visits.follow = self._dispatcher.submit_first
            self._visits.found_work = self._found_work
            self._visits.keep(self.memory.caught_up)
            self._sow()
            finish = await self._tick_on(run_id)
            self._release(self._dispatcher.close())
        self._visits.keep_paces()
        await self._visits.flush()
        if finish is Finish.EDITED and self.stopping:  # asked to stop while the last fetches ended
            return Finish.INTERRUPTED
        if self._got_nothing() and finish not in (Finish.INTERRUPTED, Finish.EDITED):
            return Finish.NOTHING
        return finish

    def _got_nothing(self) -> bool:
        """Something was tried, and nothing of it could be believed."""
        return bool(self.tally.outcomes) and self.tally.believed == 0

    async def _tick_on(self, run_id: int) -> Finish:
        while (finish := self._reason_to_stop()) is None:
            plan = await self._plan()
            if plan.picks:
                await self._tick(run_id, plan)
            elif self._is_done(plan):
                return Finish.DONE
            else:
                await self._idle(plan.next_at)
        return finish

    def _sow(self) -> None:
        """The start URLs and sitemaps the operator named."""
        for site in self.memory.scope.sites.values():
            self._visits.admit(site.start, how="start", source_id=None, depth=0)
            self._visits.admit(site.sitemaps, how="sitemap", source_id=None, depth=0)

    def _reason_to_stop(self) -> Finish | None:
        crawl, tally = self._crawl, self.tally
        if self._stopping.is_set():
            return Finish.INTERRUPTED
        if self._clock.now() >= self._ends_at():
            return Finish.TIME
        if crawl.max_fetches is not None and tally.fetches >= crawl.max_fetches:
            return Finish.FETCHES
        if tally.fetches >= _FEW_FETCHES and tally.failed > crawl.max_failures * tally.fetches:
            return Finish.FAILURES
        self.edited = self._edit()
        return None if self.edited is None else Finish.EDITED

    def _ends_at(self) -> float:
        if self._crawl.stop_after is None:
            return float("inf")
        return self._started_at + self._crawl.stop_after

    def _is_done(self, plan: Plan) -> bool:
        """With --once: nothing new is left, not even on a host that is closed for now."""
        return self._once and plan.waiting == 0 and self._dispatcher.idle

    # -- one tick ----------------------------------------------------------------------------------

    async def _plan(self) -> Plan:
        """Learn from what was fetched, then choose; new pages must be stored before they can be picked."""
        learned = self.planner.learn(lesson_array(self._visits.take_lessons()))
        await self._visits.flush()
        now, memory = self._clock.now(), self.memory
        choices = self.planner.choose(
            now,
            tick_id=self._visits.tick_id + 1,
            new_only=self._once,
            most=self._fetches_left(),
        )
        # One batch, so that a crash keeps either both or neither: then the lessons are learned again.
        learned.policies.append(memory.learner.state(tick_id=self._visits.tick_id))
        self._visits.keep(learned)
        with self._clock.real_wait():
            return await plan_of(choices, self._store, memory, now)

    async def _tick(self, run_id: int, plan: Plan) -> None:
        self._visits.tick_id += 1
        tick_id, before = self._visits.tick_id, self.tally.copy()
        self._visits.add_tick(_tick_row(tick_id, run_id, plan, None, before, before))
        self.memory.table.busy[[pick.page.id for pick in plan.picks]] = True
        self._hosts_with_work.clear()
        self._dispatcher.submit(plan.picks)
        self._clock.call_at(plan.made_at + _SHORTEST_ROUND, self._dispatcher.wake)
        end = min(plan.made_at + self._crawl.tick, self._ends_at())
        await self._dispatcher.wait(end, enough=lambda: self._cut_short(plan))
        self._release(self._dispatcher.withdraw(follows=False))
        ended_at = self._clock.now()
        self._visits.add_tick(_tick_row(tick_id, run_id, plan, ended_at, before, self.tally))

    def _cut_short(self, plan: Plan) -> bool:
        """A tick ends early when we are asked to stop, or when a host is idle and has new pages."""
        if self._stopping.is_set():
            return True
        if self._clock.now() < plan.made_at + _SHORTEST_ROUND:
            return False
        return any(self._dispatcher.is_dry(host) for host in self._hosts_with_work)

    def _found_work(self, host: str) -> None:
        self._hosts_with_work.add(host)
        if self._dispatcher.is_dry(host):
            self._dispatcher.wake()

    def _release(self, picks: Sequence[Pick]) -> None:
        self.memory.table.busy[[pick.page.id for pick in picks]] = False

    def _fetches_left(self) -> int | None:
        most = self._crawl.max_fetches
        if most is None:
            return None
        return max(0, most - self.tally.fetches - self._dispatcher.in_flight)

    async def _idle(self, until: float) -> None:
        """Nothing may be fetched now: wait for the next chance, for what is in flight, or to be stopped."""
        wake_at = min(max(until, self._clock.now() + 0.01), self._ends_at())
        if not self._stopping.is_set():
            await self._dispatcher.rest(wake_at)


async def plan_of(choices: Choices, store: Store, memory: Memory, now: float) -> Plan:
    """The choices with their pages' rows and, in words, why."""
    why = reasons(choices.chosen, memory.learner, memory.table, now)
    rows = await store.pages([choice.page_id for choice in choices.chosen])
    picks = tuple(
        Pick(
            page=rows[choice.page_id][0],
            offers=rows[choice.page_id][1],
            host=memory.hosts.name_of(rows[choice.page_id][0].host_id),
            purpose=choice.purpose,
            strategy=choice.strategy,
            probability=choice.probability,
            value=choice.value,
            reason=reason,
        )
        for choice, reason in zip(choices.chosen, why, strict=True)
        if choice.page_id in rows
    )
    # A page found while the flush went on may not be stored yet: its turn is the next plan.
    late = len(choices.chosen) - len(picks)
    next_at = now if late else choices.next_at
    return Plan(now, choices.budget, picks, choices.waiting + late, next_at)


def _tick_row(
    tick_id: int, run_id: int, plan: Plan, ended_at: float | None, before: Tally, after: Tally
) -> TickRow:
    return TickRow(
        id=tick_id,
        run_id=run_id,
        started_at=plan.made_at,
        ended_at=ended_at,
        budget=plan.budget,
        planned=len(plan.picks),
        fetched=after.fetches - before.fetches,
        failed=after.failed - before.failed,
        changed=after.changed - before.changed,
        discovered=after.discovered - before.discovered,
    )
