"""The simulated shop as a transport: the same pages as over HTTP, in virtual time and without sockets."""

from multidict import CIMultiDict

from crawler.clock import Clock
from crawler.fetching.inflate import inflate
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import HostError, Reply, Request
from crawler.reading.urls import host_of, origin_of
from crawler.shop.respond import respond
from crawler.shop.world import ShopWorld

_MOST = 32_000_000


class ShopTransport:
    """Answers for every site of a world at its own host name.  Shop time is the clock's."""

    def __init__(self, world: ShopWorld, clock: Clock) -> None:
        self._world = world
        self._clock = clock

    async def send(self, request: Request) -> Reply:
        host = host_of(request.url)
        if self._world.site(host) is None:
            raise HostError(Outcome.DNS, f"{request.url}: no such shop")
        target = request.url.removeprefix(origin_of(request.url))
        asked = {"if-none-match": request.etag, "if-modified-since": request.last_modified}
        answer = respond(
            self._world,
            host,
            target,
            {name: value for name, value in asked.items() if value},
            self._clock.now(),
        )
        await self._clock.sleep_until(self._clock.now() + answer.duration)
        headers = CIMultiDict(answer.headers)
        encoding = headers.get("content-encoding", "")
        body = inflate(answer.body, encoding, limit=_MOST) if encoding else answer.body
        return Reply(request.url, answer.status, headers, body, len(answer.body), answer.duration)
