"""Taking turns on a host, in virtual time."""

import asyncio
import itertools
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from crawler.clock import Clock, run_virtual
from crawler.config import Duration
from crawler.config.model import PolitenessSettings
from crawler.fetching.politeness import HostGate
from crawler.fetching.turns import Turns


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange as it went."""

    host: str
    started_at: float
    ended_at: float


@dataclass(frozen=True, slots=True)
class Wish:
    """Somebody who wants to ask a host: when, and how long the answer takes."""

    host: str
    at: float
    duration: float


def carry_out(wishes: list[Wish], *, delay: float, per_host: int) -> list[Exchange]:
    """Every wish by the rules, all of them at once."""
    done: list[Exchange] = []

    async def ask(clock: Clock, gate: HostGate, turns: Turns, wish: Wish) -> None:
        await clock.sleep_until(wish.at)
        await turns.take(wish.host)
        while not turns.begin(wish.host):
            turns.give_back(wish.host)
            await turns.take(wish.host)
        started_at = clock.now()
        await clock.sleep_until(started_at + wish.duration)
        done.append(Exchange(wish.host, started_at, clock.now()))
        gate.succeeded(wish.host, ended_at=clock.now(), duration=wish.duration)
        turns.give_back(wish.host)

    async def main() -> None:
        settings = PolitenessSettings(delay=Duration(f"{delay}s"), adaptive=False)
        clock, gate = Clock(started_at=0.0), HostGate(settings)
        turns = Turns(clock, gate, per_host=per_host)
        async with asyncio.TaskGroup() as tasks:
            for wish in wishes:
                tasks.create_task(ask(clock, gate, turns, wish))

    run_virtual(main())
    return sorted(done, key=lambda exchange: exchange.started_at)


WISHES = st.lists(
    st.builds(Wish, st.sampled_from(["a", "b"]), st.floats(0.0, 20.0), st.floats(0.0, 10.0)),
    max_size=12,
)


@given(WISHES, st.sampled_from([0.0, 0.5, 2.0, 7.0]), st.integers(1, 3))
def test_no_host_is_asked_within_its_delay_nor_more_than_per_host_at_once(
    wishes: list[Wish], delay: float, per_host: int
) -> None:
    done = carry_out(wishes, delay=delay, per_host=per_host)
    assert len(done) == len(wishes)
    for host in ("a", "b"):
        turns = [exchange for exchange in done if exchange.host == host]
        for earlier, later in itertools.pairwise(turns):
            assert later.started_at - earlier.started_at >= delay - 1e-6
        for exchange in turns:
            at_once = [t for t in turns if t.started_at <= exchange.started_at < t.ended_at]
            assert len(at_once) <= per_host
            before = [t.ended_at for t in turns if t.ended_at <= exchange.started_at]
            if t_last := max((t for t in before if t < exchange.started_at), default=None):
                assert exchange.started_at - t_last >= delay - 1e-6


def test_one_host_does_not_wait_for_another() -> None:
    done = carry_out([Wish("a", 0.0, 100.0), Wish("b", 0.0, 1.0)], delay=2.0, per_host=1)
    assert {(one.host, one.started_at) for one in done} == {("a", 0.0), ("b", 0.0)}


def test_a_turn_given_back_unused_costs_no_delay() -> None:
    async def main() -> float:
        clock, gate = Clock(started_at=0.0), HostGate(PolitenessSettings(delay=Duration("9s")))
        turns = Turns(clock, gate, per_host=1)
        await turns.take("a")
        turns.give_back("a")
        await turns.take("a")
        return clock.now()

    assert run_virtual(main()) == 0.0


def test_a_turn_does_not_begin_when_the_host_has_closed_meanwhile() -> None:
    async def main() -> bool:
        clock, gate = Clock(started_at=0.0), HostGate(PolitenessSettings())
        turns = Turns(clock, gate, per_host=2)
        await turns.take("a")
        gate.refused("a", ended_at=0.0, retry_after=30.0, jitter=0.0)
        return turns.begin("a")

    assert run_virtual(main()) is False


def test_a_cancelled_wait_frees_its_place() -> None:
    async def main() -> float:
        clock, gate = Clock(started_at=0.0), HostGate(PolitenessSettings())
        gate.refused("a", ended_at=0.0, retry_after=100.0, jitter=0.0)
        turns = Turns(clock, gate, per_host=1)
        waiting = asyncio.create_task(turns.take("a"))
        await clock.sleep_until(1.0)
        waiting.cancel()
        await turns.take("a")
        return clock.now()

    assert run_virtual(main()) == 100.0
