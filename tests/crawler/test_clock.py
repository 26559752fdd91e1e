"""Virtual time: everything that waits on the loop obeys it, and real work takes none of it."""

import asyncio
import math
import time

import pytest

from crawler.clock import Clock, run_virtual

EPOCH = 1_700_000_000.0
YEAR = 365 * 86_400.0


def test_ten_years_pass_at_once() -> None:
    """Timers still come when a nanosecond is lost in the rounding of the loop's time."""

    async def main() -> float:
        clock = Clock(started_at=EPOCH)
        for year in range(1, 11):
            await clock.sleep_until(EPOCH + year * YEAR + 0.1)
        return clock.now()

    assert run_virtual(main()) == pytest.approx(EPOCH + 10 * YEAR + 0.1, abs=1e-6)


def test_the_smallest_step_of_epoch_time_is_waited_for() -> None:
    async def main() -> bool:
        clock = Clock(started_at=EPOCH)
        at = math.nextafter(EPOCH, math.inf)
        await clock.sleep_until(at)
        return clock.now() >= at

    assert run_virtual(main())


def test_sleepers_wake_in_the_order_of_their_times() -> None:
    woken: list[float] = []

    async def sleep(clock: Clock, at: float) -> None:
        await clock.sleep_until(at)
        woken.append(clock.now())

    async def main() -> None:
        clock = Clock(started_at=0.0)
        async with asyncio.TaskGroup() as tasks:
            for at in (30.0, 10.0, 20.0, 10.0):
                tasks.create_task(sleep(clock, at))

    run_virtual(main())
    assert woken == [10.0, 10.0, 20.0, 30.0]


def test_a_time_that_has_passed_is_not_waited_for() -> None:
    async def main() -> float:
        clock = Clock(started_at=100.0)
        await clock.sleep_until(50.0)
        return clock.now()

    assert run_virtual(main()) == 100.0


def test_timeouts_are_in_virtual_time() -> None:
    async def main() -> float:
        clock = Clock(started_at=0.0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60.0):
                await clock.sleep_until(3600.0)
        return clock.now()

    assert run_virtual(main()) == 60.0


def test_a_semaphore_makes_others_wait_in_virtual_time() -> None:
    async def hold(clock: Clock, places: asyncio.Semaphore) -> float:
        async with places:
            await clock.sleep_until(clock.now() + 10.0)
        return clock.now()

    async def main() -> list[float]:
        clock, places = Clock(started_at=0.0), asyncio.Semaphore(2)
        return await asyncio.gather(*(hold(clock, places) for _ in range(5)))

    assert run_virtual(main()) == [10.0, 10.0, 20.0, 20.0, 30.0]


def test_real_work_takes_no_virtual_time() -> None:
    async def main() -> tuple[float, bool]:
        clock = Clock(started_at=0.0)
        sleeper = asyncio.create_task(clock.sleep_until(1.0))
        with clock.real_wait():
            await asyncio.to_thread(time.sleep, 0.05)
            now = clock.now()
        early = sleeper.done()
        await sleeper
        return now, early

    assert run_virtual(main()) == (0.0, False)


def test_without_real_wait_virtual_time_runs_away() -> None:
    """The reason why `real_wait` is there."""

    async def main() -> float:
        clock = Clock(started_at=0.0)
        sleeper = asyncio.create_task(clock.sleep_until(1000.0))
        await asyncio.to_thread(time.sleep, 0.05)
        await sleeper
        return clock.now()

    assert run_virtual(main()) == 1000.0


def test_real_waits_nest() -> None:
    async def main() -> float:
        clock = Clock(started_at=0.0)
        sleeper = asyncio.create_task(clock.sleep_until(1.0))
        with clock.real_wait():
            with clock.real_wait():
                await asyncio.to_thread(time.sleep, 0.01)
            await asyncio.to_thread(time.sleep, 0.01)
            now = clock.now()
        await sleeper
        return now

    assert run_virtual(main()) == 0.0


def test_lingering_takes_real_time_only() -> None:
    async def linger() -> float:
        clock = Clock(started_at=0.0)
        await clock.linger(0.05)
        return clock.now()

    assert run_virtual(linger()) == 0.0
    assert asyncio.run(linger()) >= 0.05


def test_a_live_clock_tells_the_time_of_day() -> None:
    async def main() -> float:
        return Clock().now()

    assert asyncio.run(main()) == pytest.approx(time.time(), abs=1.0)


def test_a_call_at_a_time_comes_then() -> None:
    async def main() -> float:
        clock, called = Clock(started_at=500.0), asyncio.Event()
        clock.call_at(507.0, called.set)
        await called.wait()
        return clock.now()

    assert run_virtual(main()) == 507.0
