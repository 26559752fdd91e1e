"""The hostile server does what its paths say, and ends when told to."""

import asyncio
import time
import zlib
from collections import Counter

import aiohttp
import pytest

from tests import servers
from tests.servers import BOMB_BYTES, HOSTILE_PATHS, Robots, hostile_server


async def fetch(url: str, *, seconds: float = 5.0) -> tuple[int, bytes]:
    """Status and raw body of one plain GET, no redirects, no decoding."""
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with (
        aiohttp.ClientSession(auto_decompress=False, timeout=timeout) as http,
        http.get(url, allow_redirects=False) as reply,
    ):
        return reply.status, await reply.read()


async def test_the_index_links_every_path_and_the_fine_page_is_fine() -> None:
    async with hostile_server() as base:
        _, body = await fetch(base + "/")
        assert all(f'href="{path}"'.encode() in body for path in HOSTILE_PATHS)
        assert (await fetch(base + "/fine"))[0] == 200
        assert (await fetch(base + "/elsewhere"))[0] == 404


async def test_a_bomb_is_small_on_the_wire_and_large_inside() -> None:
    async with hostile_server() as base:
        for path in ("/gzip-bomb", "/brotli-bomb", "/zstd-bomb"):
            _, body = await fetch(base + path)
            assert len(body) < 100_000
        _, body = await fetch(base + "/gzip-bomb")
        unpacker = zlib.decompressobj(wbits=31)
        size = len(unpacker.decompress(body))
        assert size == BOMB_BYTES


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/short-body", aiohttp.ClientPayloadError),
        ("/reset", aiohttp.ClientError),
        ("/garbage", aiohttp.ClientError),
        ("/header-flood", aiohttp.ClientError),
        ("/huge-header", aiohttp.ClientError),
        ("/never", TimeoutError),
        ("/silent-after-headers", TimeoutError),
        ("/byte-a-second", TimeoutError),
    ],
)
async def test_a_broken_answer_breaks_a_plain_client(path: str, error: type[Exception]) -> None:
    async with hostile_server() as base:
        with pytest.raises(error):
            await fetch(base + path, seconds=0.4)


@pytest.mark.parametrize("path", ["/endless-body", "/endless-chunks"])
async def test_an_endless_body_goes_on(path: str) -> None:
    async with (
        hostile_server() as base,
        aiohttp.ClientSession() as http,
        http.get(base + path) as reply,
    ):
        got = 0
        while got < 4 << 20:
            got += len(await reply.content.readany())


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/redirect-loop", "/redirect-loop/back"),
        ("/redirect-loop/back", "/redirect-loop"),
        ("/redirect-chain", "/redirect-chain/1"),
        ("/redirect-chain/30", "/fine"),
        ("/redirect-to-metadata", "http://169.254.169.254/latest/meta-data/"),
        ("/redirect-to-nowhere", None),
    ],
)
async def test_redirects_lead_where_their_names_say(path: str, location: str | None) -> None:
    async with hostile_server() as base, aiohttp.ClientSession() as http:
        reply = await http.get(base + path, allow_redirects=False)
        assert reply.status == 302
        assert reply.headers.get("Location") == location


async def test_the_vault_counts_its_visitors() -> None:
    visits: Counter[str] = Counter()
    async with hostile_server(visits=visits) as base, aiohttp.ClientSession() as http:
        reply = await http.get(base + "/redirect-to-loopback")
        assert reply.url.host == "127.0.0.9"
    assert visits == {"/redirect-to-loopback": 1, "vault": 1}


@pytest.mark.parametrize(
    ("robots", "status", "rule"),
    [
        (Robots.ALLOW, 200, b"Allow: /"),
        (Robots.FORBID, 200, b"Disallow: /"),
        (Robots.SLOW_FORBID, 200, b"Disallow: /"),
        (Robots.ERROR, 503, b""),
    ],
)
async def test_robots_behave_as_asked(robots: Robots, status: int, rule: bytes) -> None:
    async with hostile_server(robots=robots, robots_delay=0.2) as base:
        began = time.monotonic()
        got, body = await fetch(base + "/robots.txt")
        assert got == status
        assert rule in body
        assert (time.monotonic() - began > 0.2) == (robots is Robots.SLOW_FORBID)


async def test_leaving_the_server_ends_what_is_under_way() -> None:
    async with hostile_server() as base:
        waiting = asyncio.ensure_future(fetch(base + "/never", seconds=20.0))
        await asyncio.sleep(0.1)
        began = time.monotonic()
    with pytest.raises(aiohttp.ClientError):
        await waiting
    assert time.monotonic() - began < 1.0


async def test_an_answer_ends_by_itself_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "SECONDS", 0.2)
    async with hostile_server() as base:
        with pytest.raises(aiohttp.ClientError):
            await fetch(base + "/silent-after-headers")
