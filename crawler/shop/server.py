"""A simulated shop over real HTTP on loopback: one address per site, each a host of its own."""

import errno
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from aiohttp import web

from crawler.shop.respond import ShopResponse, respond
from crawler.shop.world import ShopWorld

Now = Callable[[], float]
Wait = Callable[[float], Awaitable[None]]
Served = Callable[[str, str, ShopResponse], None]


def accelerated(real_now: Now, *, starts_at: float, speed: float) -> Now:
    """Shop time that starts at `starts_at` now and runs `speed` times as fast as `real_now`."""
    began = real_now()
    return lambda: starts_at + speed * (real_now() - began)


@asynccontextmanager
async def serve_shop(
    world: ShopWorld,
    *,
    now: Now,
    wait: Wait | None = None,
    port: int = 0,
    on_served: Served | None = None,
) -> AsyncIterator[dict[str, str]]:
    """Serve every site of `world`; gives host -> origin, like {"a.test": "http://127.0.0.1:40001"}.

    Site number k listens on 127.0.0.(k+1).  `now` is the shop's time; `wait` makes slow pages slow
    (without it they answer at once); `on_served(host, target, response)` sees every exchange.
    """
    async with AsyncExitStack() as stack:
        addresses: dict[str, str] = {}
        for number, site in enumerate(world.sites):
            handler = _handler(world, site.host, addresses, now, wait, on_served)
            server = web.Server(handler)
            runner = web.ServerRunner(server, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await _listen(runner, f"127.0.0.{number + 1}", port)
            bound_host, bound_port = runner.addresses[0][:2]
            addresses[site.host] = f"http://{bound_host}:{bound_port}"
        yield addresses


async def _listen(runner: web.ServerRunner, address: str, port: int) -> None:
    """Listen on `address`, or on any port of 127.0.0.1 where the system has no other loopback (macOS)."""
    try:
        await web.TCPSite(runner, address, port).start()
    except OSError as error:
        # Python 3.13 skips addresses the system does not have, and then says so without an errno.
        if error.errno not in (errno.EADDRNOTAVAIL, None):
            raise
        await web.TCPSite(runner, "127.0.0.1", 0).start()


def _handler(
    world: ShopWorld,
    host: str,
    addresses: dict[str, str],
    now: Now,
    wait: Wait | None,
    on_served: Served | None,
) -> Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.method not in ("GET", "HEAD"):
            return web.Response(status=405, headers={"Allow": "GET, HEAD"})
        answer = respond(
            world, host, request.path_qs, request.headers, now(), origin=addresses[host]
        )
        if on_served is not None:
            on_served(host, request.path_qs, answer)
        if wait is not None:
            await wait(answer.duration)
        return web.Response(status=answer.status, headers=answer.headers, body=answer.body)

    return handle
