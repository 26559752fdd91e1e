"""robots.txt by RFC 9309: asked once, obeyed by all, renewed after a day; in virtual time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.fetching.outcome import Outcome
from crawler.fetching.politeness import HostGate
from crawler.fetching.robots_cache import RobotsCache
from crawler.fetching.transport import FetchError, HostError
from crawler.fetching.turns import Turns
from storage.rows import RobotsRow
from tests.fakes import STARTED_AT, Answer, FakeTransport

URL = "http://a.test/page"
FORBID = "User-agent: *\nDisallow: /\n"
ALLOW = "User-agent: *\nAllow: /\n"
DAY = 86_400.0

Behaviour = Callable[[str, float], Answer | FetchError]


@dataclass(slots=True)
class World:
    """A cache and all it works on; `told` is every robots.txt it fetched."""

    clock: Clock
    transport: FakeTransport
    gate: HostGate
    cache: RobotsCache
    told: list[RobotsRow] = field(default_factory=list)

    async def allows(self, url: str = URL) -> bool:
        return (await self.cache.entry(url)).rules.allows(url)

    async def wait(self, seconds: float) -> None:
        await self.clock.sleep_until(self.clock.now() + seconds)

    @property
    def asked(self) -> list[str]:
        return [url for _, url in self.transport.sent]


def in_world(behave: Behaviour, act: Callable[[World], Awaitable[None]], **robots: str) -> World:
    async def main() -> World:
        clock = Clock(STARTED_AT)
        transport = FakeTransport(clock, behave)
        config = Config.model_validate({"robots": robots})
        gate = HostGate(config.politeness)
        told: list[RobotsRow] = []
        cache = RobotsCache(
            config.robots,
            product_token="TestBot",
            clock=clock,
            transport=transport,
            turns=Turns(clock, gate, per_host=1),
            gate=gate,
            on_fetched=lambda row, entry: told.append(row),
        )
        world = World(clock, transport, gate, cache, told)
        await act(world)
        return world

    return run_virtual(main())


@pytest.mark.parametrize("seconds", [0.1, 30.0])
def test_a_hundred_at_once_ask_a_forbidding_host_for_its_rules_once_and_get_no_leave(
    seconds: float,
) -> None:
    """The slow answer is the point: nobody may slip through while it is on its way."""

    async def act(world: World) -> None:
        urls = [f"http://a.test/{n}" for n in range(100)]
        assert not any(await asyncio.gather(*(world.allows(url) for url in urls)))

    world = in_world(lambda url, at: Answer(FORBID, duration=seconds), act)
    assert world.asked == ["http://a.test/robots.txt"]
    assert len(world.told) == 1


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        *((status, True) for status in (204, 301, 401, 403, 404, 410)),
        *((status, False) for status in (200, 429, 500, 502, 503, 599)),
    ],
)
def test_each_status_means_what_the_rfc_says(status: int, allowed: bool) -> None:
    async def act(world: World) -> None:
        assert await world.allows() is allowed

    body = "" if status == 204 else FORBID
    in_world(lambda url, at: Answer(body, status=status), act)


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.DNS, Outcome.REFUSED, Outcome.TLS])
def test_a_host_that_cannot_be_reached_forbids_and_is_asked_again_after_ten_minutes(
    outcome: Outcome,
) -> None:
    def behave(url: str, at: float) -> Answer | FetchError:
        return HostError(outcome, "no answer") if at < 300 else Answer(ALLOW)

    async def act(world: World) -> None:
        assert not await world.allows()
        await world.wait(590.0)
        assert not await world.allows()
        assert len(world.asked) == 1
        await world.wait(20.0)
        assert await world.allows()

    in_world(behave, act)


@pytest.mark.parametrize(("redirects", "allowed"), [(1, False), (5, False), (6, True)])
def test_five_redirects_are_followed_and_a_sixth_means_there_are_no_rules(
    redirects: int, allowed: bool
) -> None:
    """They may lead to other hosts."""

    def behave(url: str, at: float) -> Answer:
        hop = 0 if url.endswith("robots.txt") else int(url.rpartition("/")[2])
        if hop < redirects:
            target = f"http://h{hop + 1}.test/{hop + 1}"
            return Answer(status=302, headers={"location": target})
        return Answer(FORBID)

    async def act(world: World) -> None:
        assert await world.allows() is allowed

    assert len(in_world(behave, act).asked) == min(redirects, 5) + 1


def test_a_redirect_without_a_target_means_there_are_no_rules() -> None:
    async def act(world: World) -> None:
        assert await world.allows()

    assert len(in_world(lambda url, at: Answer(status=302), act).asked) == 1


def test_rules_hold_for_a_day_and_are_asked_for_again_then() -> None:
    def behave(url: str, at: float) -> Answer:
        return Answer(ALLOW if at < DAY / 2 else FORBID)

    async def act(world: World) -> None:
        assert await world.allows()
        await world.wait(DAY - 10.0)
        assert await world.allows()
        assert world.cache.last_word(URL) is not None
        assert len(world.asked) == 1
        await world.wait(20.0)
        assert world.cache.known(URL) is None
        assert world.cache.last_word(URL) is None
        assert not await world.allows()

    assert len(in_world(behave, act).asked) == 2


def test_a_shorter_time_to_live_is_kept_but_does_not_stop_a_fetch_that_waited_for_its_turn() -> (
    None
):
    async def act(world: World) -> None:
        await world.allows()
        await world.wait(61.0)
        assert world.cache.known(URL) is None
        assert world.cache.last_word(URL) is not None

    in_world(lambda url, at: Answer(ALLOW), act, ttl="1m")


def test_a_stored_robots_txt_is_taken_up_for_what_is_left_of_its_day() -> None:
    async def act(world: World) -> None:
        stored = RobotsRow("http://a.test", STARTED_AT - DAY / 2, "ok", 200, FORBID.encode())
        world.cache.restore(stored)
        assert not await world.allows()
        assert world.asked == []
        await world.wait(DAY / 2 + 1)
        assert await world.allows()

    assert in_world(lambda url, at: Answer(ALLOW), act).asked == ["http://a.test/robots.txt"]


def test_each_scheme_and_port_has_its_own_rules() -> None:
    def behave(url: str, at: float) -> Answer:
        return Answer(FORBID if url.startswith("https") else ALLOW)

    async def act(world: World) -> None:
        assert await world.allows("http://a.test/x")
        assert not await world.allows("https://a.test/x")
        assert await world.allows("http://a.test:8080/x")

    assert len(in_world(behave, act).asked) == 3


def test_crawl_delay_reaches_the_gate_and_a_negative_one_does_not() -> None:
    def behave(url: str, at: float) -> Answer:
        return Answer(ALLOW + f"Crawl-delay: {'-5' if 'b.test' in url else '11'}\n")

    async def act(world: World) -> None:
        await world.allows()
        await world.allows("http://b.test/")
        assert world.gate.delay("a.test") == 11.0
        assert world.gate.delay("b.test") == 2.0

    in_world(behave, act)


def test_a_busy_robots_txt_closes_its_host_for_as_long_as_it_says() -> None:
    async def act(world: World) -> None:
        await world.allows()
        assert world.gate.ready_at("a.test") - world.clock.now() == pytest.approx(1234.0)

    headers = {"retry-after": "1234"}
    in_world(lambda url, at: Answer(status=429, headers=headers), act)


def test_robots_txt_waits_for_its_turn_like_any_fetch() -> None:
    async def act(world: World) -> None:
        world.gate.refused("a.test", ended_at=world.clock.now(), retry_after=50.0, jitter=0.0)
        await world.allows()

    world = in_world(lambda url, at: Answer(ALLOW), act)
    assert world.transport.sent[0][0] == pytest.approx(50.0)


def test_no_more_than_the_cap_is_kept() -> None:
    huge = "#" * (600 << 10) + "\n" + FORBID

    async def act(world: World) -> None:
        assert await world.allows()

    [row] = in_world(lambda url, at: Answer(huge), act).told
    assert row.body is not None
    assert len(row.body) == 500 << 10
