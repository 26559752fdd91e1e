"""The simulated shop over real HTTP."""

import aiohttp
import numpy as np
from aiohttp import web

from crawler.shop.money import visible
from crawler.shop.respond import ShopResponse
from crawler.shop.server import _listen, accelerated, serve_shop
from crawler.shop.settings import DAY, varied_shop
from crawler.shop.world import ShopWorld

START = 1_700_000_000.0
WORLD = ShopWorld(varied_shop(starts_at=START, days=7, sites=3, offers=30), seed=2)


async def test_each_site_is_a_host_of_its_own_and_serves_its_own_pages() -> None:
    async with serve_shop(WORLD, now=lambda: START) as addresses, aiohttp.ClientSession() as http:
        hosts = {origin.split(":")[1] for origin in addresses.values()}
        assert len(hosts) == 3
        for site in WORLD.sites:
            origin = addresses[site.host]
            async with http.get(f"{origin}/robots.txt") as reply:
                assert f"Sitemap: {origin}/sitemap.xml" in await reply.text()
            async with http.get(f"{origin}/sitemap-1.xml") as reply:
                assert reply.status == 200
                assert (
                    f"<loc>{origin}{site.path(site.newest(START, 1)[0])}</loc>"
                    in await reply.text()
                )
            async with http.post(origin) as reply:
                assert reply.status == 405


async def test_conditional_requests_and_gzip_work_over_the_wire() -> None:
    async with serve_shop(WORLD, now=lambda: START) as addresses:
        origin = addresses["garden.shop.test"]
        async with aiohttp.ClientSession(auto_decompress=False) as http:
            async with http.get(f"{origin}/about", headers={"Accept-Encoding": "gzip"}) as reply:
                assert reply.headers["Content-Encoding"] == "gzip"
                etag = reply.headers["ETag"]
            async with http.get(f"{origin}/about", headers={"If-None-Match": etag}) as reply:
                assert reply.status == 304
                assert await reply.read() == b""


async def test_shop_time_runs_faster_and_prices_move_with_it() -> None:
    real = 1_000.0
    now = accelerated(lambda: real, starts_at=START, speed=DAY)
    change = WORLD.changes_between(START + DAY / 2, START + DAY).take(np.array([0]))
    offer, at, price = int(change.offer[0]), float(change.at[0]), int(change.price_micros[0])
    site = WORLD.sites[int(WORLD.columns.site[offer])]
    shown = visible(price, site.settings.currency)
    async with serve_shop(WORLD, now=now) as addresses, aiohttp.ClientSession() as http:
        url = WORLD.offer_url(offer, addresses)
        for seconds, there in ((-1.0, False), (1.0, True)):
            real = 1_000.0 + (at + seconds - START) / DAY
            async with http.get(url) as reply:
                main = (await reply.text()).split("<main", 1)[1].split("</main>", 1)[0]
                assert (f'"price">{shown}<' in main) == there


async def test_slow_pages_wait_and_every_exchange_is_seen() -> None:
    waited: list[float] = []
    seen: list[tuple[str, str, int]] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    def note(host: str, target: str, response: ShopResponse) -> None:
        seen.append((host, target, response.status))

    served = serve_shop(WORLD, now=lambda: START, wait=wait, on_served=note)
    async with served as addresses, aiohttp.ClientSession() as http:
        await http.get(addresses["tools.shop.test"] + "/c/tools?page=999")
    assert seen == [("tools.shop.test", "/c/tools?page=999", 404)]
    assert len(waited) == 1
    assert waited[0] > 0


async def test_a_system_with_one_loopback_address_serves_by_port() -> None:
    async def nothing(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response()

    runner = web.ServerRunner(web.Server(nothing))
    await runner.setup()
    try:
        await _listen(runner, "192.0.2.1", 0)  # an address that no machine has
        assert runner.addresses[0][0] == "127.0.0.1"
    finally:
        await runner.cleanup()
