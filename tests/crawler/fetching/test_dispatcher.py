"""Carrying out picks: order, slots, what is withdrawn, and robots.txt before every single one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from crawler.clock import Clock, run_virtual
from crawler.config import Duration
from crawler.config.model import PolitenessSettings
from crawler.fetching.dispatcher import Dispatcher
from crawler.fetching.politeness import HostGate
from crawler.fetching.turns import Turns
from crawler.planning.plan import Pick, Purpose
from storage.pages import StoredPage


def pick(number: int, host: str = "a.test", trail: tuple[int, ...] = ()) -> Pick:
    rest = (None,) * (len(StoredPage._fields) - 7)
    page = StoredPage(number, f"http://{host}/{number}", 1, 1, 0, "link", 0.0, *rest)
    return Pick(
        page=page,
        offers=(),
        host=host,
        purpose=Purpose.FIRST,
        strategy="test",
        probability=1.0,
        value=None,
        reason="a test",
        trail=trail,
    )


@dataclass(slots=True)
class Visits:
    """Records what the dispatcher asks for and carries out; each visit takes `duration`."""

    clock: Clock
    gate: HostGate
    duration: float = 1.0
    forbidden: frozenset[int] = frozenset()
    asked: list[int] = field(default_factory=list)
    visited: list[tuple[float, int]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    during: Callable[[Pick], None] = lambda pick: None

    async def may_fetch(self, pick: Pick) -> bool:
        await asyncio.sleep(0)
        self.asked.append(pick.page.id)
        return pick.page.id not in self.forbidden

    async def visit(self, pick: Pick, end_turn: Callable[[], None]) -> None:
        self.visited.append((self.clock.now(), pick.page.id))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.during(pick)
        await self.clock.sleep_until(self.clock.now() + self.duration)
        self.in_flight -= 1
        self.gate.succeeded(pick.host, ended_at=self.clock.now(), duration=self.duration)
        end_turn()


@dataclass(frozen=True, slots=True)
class World:
    """A dispatcher and all it works on."""

    clock: Clock
    gate: HostGate
    visits: Visits
    dispatcher: Dispatcher


async def with_dispatcher(
    act: Callable[[World], object], *, slots: int = 8, delay: str = "2s", per_host: int = 1
) -> World:
    """Lets `act` submit picks, then waits for all of them."""
    settings = PolitenessSettings(delay=Duration(delay), adaptive=False)
    clock, gate = Clock(started_at=0.0), HostGate(settings)
    visits = Visits(clock, gate)
    async with asyncio.TaskGroup() as tasks:
        turns = Turns(clock, gate, per_host=per_host)
        dispatcher = Dispatcher(clock, turns, visits, tasks, slots=slots)
        world = World(clock, gate, visits, dispatcher)
        acted = act(world)
        if asyncio.iscoroutine(acted):
            await acted
        await dispatcher.wait(1e9, enough=lambda: False)
    return world


def test_picks_of_a_host_go_in_order_a_delay_apart() -> None:
    world = run_virtual(with_dispatcher(lambda w: w.dispatcher.submit(map(pick, range(4)))))
    assert world.visits.visited == [(0.0, 0), (3.0, 1), (6.0, 2), (9.0, 3)]


def test_hosts_do_not_wait_for_each_other() -> None:
    hosts = [pick(n, host=f"h{n}.test") for n in range(5)]
    world = run_virtual(with_dispatcher(lambda w: w.dispatcher.submit(hosts)))
    assert [at for at, _ in world.visits.visited] == [0.0] * 5


def test_never_more_than_the_slots_are_in_flight() -> None:
    hosts = [pick(n, host=f"h{n}.test") for n in range(10)]
    world = run_virtual(with_dispatcher(lambda w: w.dispatcher.submit(hosts), slots=3))
    assert world.visits.most_in_flight == 3
    assert len(world.visits.visited) == 10


def test_a_refused_pick_costs_no_turn() -> None:
    def act(world: World) -> None:
        world.visits.forbidden = frozenset({0, 1, 2})
        world.dispatcher.submit(map(pick, range(4)))

    assert run_virtual(with_dispatcher(act)).visits.visited == [(0.0, 3)]


def test_nothing_is_visited_that_was_not_asked_about() -> None:
    """Page 9 comes before page 1, which was already asked about and only waits for its turn."""

    def act(world: World) -> None:
        world.visits.forbidden = frozenset({9})

        def overtake(visited: Pick) -> None:
            if visited.page.id == 0:
                world.clock.call_at(1.5, lambda: world.dispatcher.submit_first(pick(9, trail=(0,))))

        world.visits.during = overtake
        world.dispatcher.submit([pick(0), pick(1)])

    visits = run_virtual(with_dispatcher(act)).visits
    assert visits.visited == [(0.0, 0), (3.0, 1)]
    assert 9 in visits.asked


def test_the_target_of_a_redirect_goes_first() -> None:
    def act(world: World) -> None:
        def overtake(visited: Pick) -> None:
            if visited.page.id == 0:
                world.dispatcher.submit_first(pick(9, trail=(0,)))

        world.visits.during = overtake
        world.dispatcher.submit(map(pick, range(3)))

    visited = run_virtual(with_dispatcher(act)).visits.visited
    assert [number for _, number in visited] == [0, 9, 1, 2]


def test_what_is_withdrawn_is_not_visited_and_redirects_stay() -> None:
    async def act(world: World) -> None:
        world.dispatcher.submit([*map(pick, range(4)), pick(7, trail=(0,))])
        await world.clock.sleep_until(1.5)
        taken = world.dispatcher.withdraw(follows=False)
        assert [one.page.id for one in taken] == [1, 2, 3]

    visited = run_virtual(with_dispatcher(act)).visits.visited
    assert [number for _, number in visited] == [0, 7]


def test_withdrawing_and_submitting_again_costs_no_delay() -> None:
    async def act(world: World) -> None:
        world.dispatcher.submit(map(pick, range(3)))
        for now in (0.5, 1.0, 1.5, 2.0, 2.5, 2.9):  # a tick shorter than the delay
            await world.clock.sleep_until(now)
            again = world.dispatcher.withdraw(follows=False)
            world.dispatcher.submit([replace(one) for one in again])

    visited = run_virtual(with_dispatcher(act)).visits.visited
    assert visited == [(0.0, 0), (3.0, 1), (6.0, 2)]


def test_closing_lets_what_is_in_flight_end_and_starts_nothing_more() -> None:
    async def main() -> tuple[list[tuple[float, int]], float]:
        clock, gate = Clock(started_at=0.0), HostGate(PolitenessSettings())
        gate.refused("closed.test", ended_at=0.0, retry_after=86_400.0, jitter=0.0)
        visits = Visits(clock, gate, duration=5.0)
        async with asyncio.TaskGroup() as tasks:
            dispatcher = Dispatcher(clock, Turns(clock, gate, per_host=1), visits, tasks, slots=8)
            dispatcher.submit([pick(0), pick(1), pick(2, host="closed.test")])
            await clock.sleep_until(1.0)
            assert [one.page.id for one in dispatcher.close()] == [1, 2]
            dispatcher.submit_first(pick(3, host="new.test", trail=(0,)))
        return visits.visited, clock.now()

    assert run_virtual(main()) == ([(0.0, 0)], 5.0)


def test_a_visit_that_fails_ends_the_crawl_loudly() -> None:
    def act(world: World) -> None:
        def fail(visited: Pick) -> None:
            raise RuntimeError("a bug")

        world.visits.during = fail
        world.dispatcher.submit([pick(0)])

    with pytest.raises(ExceptionGroup) as raised:
        run_virtual(with_dispatcher(act))
    assert raised.group_contains(RuntimeError, match="a bug")
