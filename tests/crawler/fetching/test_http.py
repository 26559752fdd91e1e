"""The live transport against real servers on loopback, honest and hostile."""

import asyncio
import gzip
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import brotli
import pytest
from aiohttp import web

from crawler.clock import Clock
from crawler.config.model import FetchSettings
from crawler.fetching.guard import ForbiddenAddressError
from crawler.fetching.http import HttpTransport, name_failure
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import (
    AddressForbidden,
    FetchError,
    HostError,
    PageError,
    Reply,
    Request,
)
from tests.servers import hostile_server

USER_AGENT = "TestBot/1.0 (+http://test.example/bot)"
LIMITS: dict[str, Any] = {
    "allow_networks": ["127.0.0.1/32"],
    "connect_timeout": "1s",
    "read_timeout": "300ms",
    "total_timeout": "1s",
    "max_body": "100KB",
    "max_inflated": "1MB",
    "max_header": "8KB",
}
Answer = Callable[[web.Request], web.Response]


@asynccontextmanager
async def transport(**settings: Any) -> AsyncIterator[HttpTransport]:
    fetch = FetchSettings.model_validate({**LIMITS, **settings})
    async with HttpTransport(fetch, user_agent=USER_AGENT, clock=Clock()) as opened:
        yield opened


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    async def handle(request: web.Request) -> web.Response:
        return answer(request)

    server = web.Server(handle)  # type: ignore[arg-type]
    runner = web.ServerRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def ask(answer: Answer, path: str = "/", **request: Any) -> Reply:
    async with serving(answer) as url, transport() as sender:
        return await sender.send(Request(url + path, **request))


async def failure(url: str, **settings: Any) -> FetchError:
    async with transport(**settings) as sender:
        with pytest.raises(FetchError) as raised:
            await sender.send(Request(url))
    return raised.value


async def test_a_request_names_us_and_what_we_can_decode_and_carries_no_cookie() -> None:
    seen: list[web.Request] = []

    def answer(request: web.Request) -> web.Response:
        seen.append(request)
        return web.Response(text="hello", headers={"Set-Cookie": "track=1"})

    async with serving(answer) as url, transport() as sender:
        await sender.send(Request(url + "/"))
        reply = await sender.send(Request(url + "/"))
    assert (reply.status, reply.body, reply.wire_bytes) == (200, b"hello", 5)
    headers = seen[1].headers
    assert headers["User-Agent"] == USER_AGENT
    assert headers["Accept-Encoding"] == "gzip, deflate, br, zstd"
    assert "Cookie" not in headers
    assert "If-None-Match" not in headers
    assert "If-Modified-Since" not in headers


async def test_both_validators_are_sent_and_a_304_has_no_body() -> None:
    def answer(request: web.Request) -> web.Response:
        assert request.headers["If-None-Match"] == 'W/"1"'
        assert request.headers["If-Modified-Since"] == "Mon, 01 Jan 2024 00:00:00 GMT"
        return web.Response(status=304, headers={"ETag": 'W/"1"'})

    reply = await ask(answer, etag='W/"1"', last_modified="Mon, 01 Jan 2024 00:00:00 GMT")
    assert (reply.status, reply.body, reply.headers.get("etag")) == (304, b"", 'W/"1"')


async def test_a_url_is_sent_exactly_as_it_is() -> None:
    """aiohttp would quote it once more."""
    path = "/a%2Fb/%E4%BD%A0?q=a%20b+c&empty=&x=%7E"
    seen: list[str] = []

    def answer(request: web.Request) -> web.Response:
        seen.append(request.raw_path)
        return web.Response()

    await ask(answer, path)
    assert seen == [path]


async def test_redirects_are_not_followed_here() -> None:
    reply = await ask(lambda _: web.Response(status=302, headers={"Location": "/next"}))
    assert (reply.status, reply.headers.get("Location")) == (302, "/next")


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("br", brotli.compress),
        ("identity", bytes),
        ("gzip, br", lambda body: brotli.compress(gzip.compress(body))),
    ],
)
async def test_every_encoding_we_ask_for_is_decoded(
    encoding: str, encode: Callable[[bytes], bytes]
) -> None:
    text = b"a lamp for every room, " * 100
    packed = encode(text)

    def answer(_: web.Request) -> web.Response:
        return web.Response(body=packed, headers={"Content-Encoding": encoding})

    reply = await ask(answer)
    assert reply.body == text
    assert reply.wire_bytes == len(packed)


async def test_a_body_of_exactly_the_limit_is_taken_and_one_byte_more_is_not() -> None:
    def answer(request: web.Request) -> web.Response:
        return web.Response(body=bytes(int(request.path[1:])))

    assert len((await ask(answer, "/100000")).body) == 100_000
    with pytest.raises(PageError, match=r"fetch\.max_body: want at most 100KB, got 100001 bytes"):
        await ask(answer, "/100001")


@pytest.mark.parametrize(
    ("path", "kind", "outcome"),
    [
        ("/endless-body", PageError, Outcome.TOO_LARGE),
        ("/endless-chunks", PageError, Outcome.TOO_LARGE),
        ("/byte-a-second", HostError, Outcome.TIMEOUT),
        ("/never", HostError, Outcome.TIMEOUT),
        ("/silent-after-headers", HostError, Outcome.TIMEOUT),
        ("/short-body", PageError, Outcome.TRUNCATED),
        ("/reset", HostError, Outcome.RESET),
        ("/garbage", PageError, Outcome.BAD_HTTP),
        ("/header-flood", PageError, Outcome.HEADERS_TOO_LARGE),
        ("/huge-header", PageError, Outcome.HEADERS_TOO_LARGE),
        ("/gzip-bomb", PageError, Outcome.TOO_LARGE),
        ("/brotli-bomb", PageError, Outcome.TOO_LARGE),
        ("/zstd-bomb", PageError, Outcome.TOO_LARGE),
        ("/broken-gzip", PageError, Outcome.BAD_ENCODING),
    ],
)
async def test_each_hostile_answer_has_its_name(
    path: str, kind: type[FetchError], outcome: Outcome
) -> None:
    async with hostile_server() as url:
        error = await failure(url + path)
    assert (type(error), error.outcome) == (kind, outcome)
    assert 0.0 <= error.duration < 5.0


async def test_a_trickle_that_never_pauses_ends_at_the_total_timeout() -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        try:
            for _ in range(100):
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.05)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(trickle, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        error = await failure(f"http://127.0.0.1:{port}/")
    assert error.outcome is Outcome.TIMEOUT
    assert error.duration == pytest.approx(1.0, abs=0.7)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_closed_port_is_a_refusal() -> None:
    assert (await failure(f"http://127.0.0.1:{free_port()}/")).outcome is Outcome.REFUSED


async def test_plain_http_where_tls_is_wanted_is_a_tls_failure() -> None:
    async with serving(lambda _: web.Response()) as url:
        error = await failure(url.replace("http:", "https:") + "/")
    assert (type(error), error.outcome) == (HostError, Outcome.TLS)


async def test_a_name_that_does_not_exist_is_a_dns_failure() -> None:
    assert (await failure("http://no-such-host.invalid/")).outcome is Outcome.DNS


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.2/",  # only 127.0.0.1 is allowed
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.2]/",
        "http://0.0.0.0/",
    ],
)
async def test_an_address_that_is_not_allowed_is_not_connected_to(url: str) -> None:
    error = await failure(url)
    assert (type(error), error.outcome) == (AddressForbidden, Outcome.FORBIDDEN_ADDRESS)
    assert "fetch.allow_networks" in str(error)


def resolving_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> None:
    """Lookups give these addresses, one list each time, the last for ever."""
    turns = iter(answers)
    last = [answers[-1]]

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        addresses = next(turns, last[0])
        return [
            (socket.AF_INET6 if ":" in a else socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port))
            for a in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


async def test_a_name_that_leads_inside_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving_to(monkeypatch, ["127.0.0.2"])
    assert (await failure("http://innocent.test/")).outcome is Outcome.FORBIDDEN_ADDRESS


async def test_a_name_all_of_whose_addresses_lead_inside_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolving_to(monkeypatch, ["127.0.0.2", "10.0.0.1"])
    assert (await failure("http://innocent.test/")).outcome is Outcome.FORBIDDEN_ADDRESS


async def test_a_name_that_changes_its_address_is_refused_at_the_second_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DNS rebinding: an allowed address for the first fetch, another for the second."""

    def answer(_: web.Request) -> web.Response:
        response = web.Response(text="fine")
        response.force_close()
        return response

    async with serving(answer) as url, transport(dns_cache="0s") as sender:
        resolving_to(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
        rebound = url.replace("127.0.0.1", "rebind.test") + "/"
        assert (await sender.send(Request(rebound))).status == 200
        with pytest.raises(AddressForbidden):
            await sender.send(Request(rebound))


def connector_error(error: OSError) -> aiohttp.ClientConnectorError:
    key: Any = aiohttp.client_reqrep.ConnectionKey("a.test", 80, False, True, None, None, None)
    return aiohttp.ClientConnectorError(key, error)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (TimeoutError(), Outcome.TIMEOUT),
        (aiohttp.ServerTimeoutError("slow"), Outcome.TIMEOUT),
        (connector_error(ForbiddenAddressError("inside")), Outcome.FORBIDDEN_ADDRESS),
        (connector_error(ConnectionRefusedError(111, "refused")), Outcome.REFUSED),
        (aiohttp.ClientPayloadError("half"), Outcome.TRUNCATED),
        (aiohttp.ServerDisconnectedError(), Outcome.RESET),
        (ConnectionResetError(104, "reset"), Outcome.RESET),
        (ssl.SSLError("bad record"), Outcome.TLS),
        (aiohttp.InvalidURL("http://"), Outcome.BAD_HTTP),
        (ValueError("odd"), Outcome.BAD_HTTP),
    ],
)
def test_whatever_is_raised_gets_a_name_and_a_message(error: Exception, outcome: Outcome) -> None:
    named = name_failure(error, "http://a.test/")
    assert named.outcome is outcome
    assert str(named).startswith("http://a.test/: ")
    assert len(str(named)) > len("http://a.test/: ")
