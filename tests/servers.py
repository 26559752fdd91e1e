"""A server that does everything wrong, on loopback.  Raw sockets, so that it can break HTTP itself.

    async with hostile_server() as base_url:
        ... base_url + "/gzip-bomb" ...

Every path of HOSTILE_PATHS misbehaves in its own way; "/" links them all, "/fine" is an honest page.
Nothing runs for ever: each answer ends after SECONDS or BYTES, and all end with the context.
"""

import asyncio
import socket
import struct
import sys
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import brotli  # type: ignore[import-untyped, unused-ignore]  # ships no types

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SECONDS = 30.0
BYTES = 256 << 20
BOMB_BYTES = 64 << 20  # inflated; about 64 kB on the wire as gzip, under 10 kB as brotli or zstd
CHAIN_LENGTH = 30
_CHUNK = bytes(1 << 16)


class Robots(StrEnum):
    """How /robots.txt behaves."""

    ALLOW = "allow"
    FORBID = "forbid"
    SLOW_FORBID = "slow_forbid"  # forbids, after `robots_delay` seconds
    ERROR = "error"  # 503
    NEVER = "never"  # takes the request and says nothing


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the socket to mistreat."""

    path: str
    writer: asyncio.StreamWriter
    vault: str  # an address that a crawler must not be led to

    async def send(self, *parts: bytes) -> None:
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()

    async def answer(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        await self.send(_head(status, f"Content-Length: {len(body)}", *headers), body)


def _head(status: str, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
    if not any(line.startswith("Content-Type:") for line in lines):
        lines.append("Content-Type: text/html; charset=utf-8")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _fine(exchange: Exchange) -> None:
    await exchange.answer(b"<!doctype html><title>Fine</title><h1>A page like any other</h1>")


async def _index(exchange: Exchange) -> None:
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in ("/fine", *HOSTILE_PATHS))
    await exchange.answer(f"<!doctype html><title>Index</title><ul>{links}</ul>".encode())


async def _endless_body(exchange: Exchange) -> None:
    """No Content-Length, and no end."""
    await exchange.send(_head("200 OK"), b"<!doctype html><p>")
    for _ in range(BYTES // len(_CHUNK)):
        await exchange.send(b"x" * len(_CHUNK))


async def _endless_chunks(exchange: Exchange) -> None:
    """The same with chunked encoding, and a chunk extension on every chunk."""
    await exchange.send(_head("200 OK", "Transfer-Encoding: chunked"))
    for _ in range(BYTES // len(_CHUNK)):
        await exchange.send(b"10000;more=to-come\r\n", _CHUNK, b"\r\n")


async def _byte_a_second(exchange: Exchange) -> None:
    await exchange.send(_head("200 OK", "Content-Length: 100000"))
    for _ in range(int(SECONDS)):
        await exchange.send(b"x")
        await asyncio.sleep(1.0)


async def _never(exchange: Exchange) -> None:
    await asyncio.sleep(SECONDS)


async def _silent_after_headers(exchange: Exchange) -> None:
    await exchange.send(_head("200 OK", "Content-Length: 1000"))
    await asyncio.sleep(SECONDS)


async def _short_body(exchange: Exchange) -> None:
    """Ends before the promised length."""
    await exchange.send(_head("200 OK", "Content-Length: 5000"), b"<h1>Only this much</h1>")


async def _long_body(exchange: Exchange) -> None:
    """Goes on after the promised length."""
    await exchange.send(_head("200 OK", "Content-Length: 10"), b"<h1>Hi</h1>" * 100)


async def _reset(exchange: Exchange) -> None:
    """A TCP reset in the middle of the body."""
    await exchange.send(_head("200 OK", "Content-Length: 5000"), b"<h1>Half")
    connection: socket.socket = exchange.writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.writer.transport.abort()


async def _garbage(exchange: Exchange) -> None:
    await exchange.send(b"\x00\xff\xfe this is not HTTP at all\r\n\r\n")


async def _header_flood(exchange: Exchange) -> None:
    """200,000 headers, 10 MB."""
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    for start in range(0, 200_000, 1_000):
        await exchange.send(
            b"".join(b"X-Flood-%06d: %032d\r\n" % (n, n) for n in range(start, start + 1_000))
        )
    await exchange.send(b"\r\n")


async def _huge_header(exchange: Exchange) -> None:
    await exchange.send(_head("200 OK", "X-Huge: " + "x" * (4 << 20)), b"<h1>Hi</h1>")


async def _gzip_bomb(exchange: Exchange) -> None:
    await exchange.answer(_gzip(), "Content-Encoding: gzip")


async def _brotli_bomb(exchange: Exchange) -> None:
    await exchange.answer(_brotli(), "Content-Encoding: br")


async def _zstd_bomb(exchange: Exchange) -> None:
    await exchange.answer(_zstd(), "Content-Encoding: zstd")


async def _broken_gzip(exchange: Exchange) -> None:
    """A gzip frame that turns to noise."""
    await exchange.answer(_gzip()[:200] + b"noise" * 100, "Content-Encoding: gzip")


async def _redirect_loop(exchange: Exchange) -> None:
    other = "/redirect-loop" if exchange.path.endswith("back") else "/redirect-loop/back"
    await _redirect(exchange, other)


async def _redirect_chain(exchange: Exchange) -> None:
    """CHAIN_LENGTH hops, each to another page, then an honest one."""
    hop = int("0" + exchange.path.rpartition("/")[2].removeprefix("redirect-chain"))
    await _redirect(exchange, f"/redirect-chain/{hop + 1}" if hop < CHAIN_LENGTH else "/fine")


async def _redirect_to_loopback(exchange: Exchange) -> None:
    await _redirect(exchange, exchange.vault)


async def _redirect_to_metadata(exchange: Exchange) -> None:
    await _redirect(exchange, "http://169.254.169.254/latest/meta-data/")


async def _redirect_to_file(exchange: Exchange) -> None:
    await _redirect(exchange, "file:///etc/hostname")


async def _redirect_to_nowhere(exchange: Exchange) -> None:
    await exchange.answer(b"", status="302 Found")


async def _redirect(exchange: Exchange, location: str) -> None:
    await exchange.answer(b"", f"Location: {location}", status="302 Found")


async def _crossed_tags(exchange: Exchange) -> None:
    """38 kB that cost lexbor seconds and 1 GB: each <p> ends the one before across all open <b> and <i>, and then
    reopens them all.  Without ids a parser may keep three of a kind, and nothing grows."""
    tags = "".join(f"<b id={n}><i id={n}><p>" for n in range(1_660))
    await exchange.answer(b"<!doctype html><title>Crossed</title>" + tags.encode())


async def _nested_divs(exchange: Exchange) -> None:
    await exchange.answer(b"<!doctype html><title>Deep</title>" + b"<div>" * 100_000)


Behaviour = Callable[[Exchange], Awaitable[None]]

_HOSTILE: dict[str, Behaviour] = {
    "/endless-body": _endless_body,
    "/endless-chunks": _endless_chunks,
    "/byte-a-second": _byte_a_second,
    "/never": _never,
    "/silent-after-headers": _silent_after_headers,
    "/short-body": _short_body,
    "/long-body": _long_body,
    "/reset": _reset,
    "/garbage": _garbage,
    "/header-flood": _header_flood,
    "/huge-header": _huge_header,
    "/gzip-bomb": _gzip_bomb,
    "/brotli-bomb": _brotli_bomb,
    "/zstd-bomb": _zstd_bomb,
    "/broken-gzip": _broken_gzip,
    "/redirect-loop": _redirect_loop,
    "/redirect-chain": _redirect_chain,
    "/redirect-to-loopback": _redirect_to_loopback,
    "/redirect-to-metadata": _redirect_to_metadata,
    "/redirect-to-file": _redirect_to_file,
    "/redirect-to-nowhere": _redirect_to_nowhere,
    "/crossed-tags": _crossed_tags,
    "/nested-divs": _nested_divs,
}
HOSTILE_PATHS = tuple(_HOSTILE)


def _zeros() -> Iterator[bytes]:
    yield from (_CHUNK for _ in range(BOMB_BYTES // len(_CHUNK)))


@cache
def _gzip() -> bytes:
    packer = zlib.compressobj(level=9, wbits=31)
    return b"".join(map(packer.compress, _zeros())) + packer.flush()


@cache
def _brotli() -> bytes:
    packer = brotli.Compressor(quality=4)
    return b"".join([*map(packer.process, _zeros()), packer.finish()])


@cache
def _zstd() -> bytes:
    packer = zstd.ZstdCompressor()
    return b"".join(map(packer.compress, _zeros())) + packer.flush()


@asynccontextmanager
async def hostile_server(
    *,
    host: str = "127.0.0.1",
    vault_host: str = "127.0.0.9",
    robots: Robots = Robots.ALLOW,
    robots_delay: float = 1.0,
    visits: Counter[str] | None = None,
) -> AsyncIterator[str]:
    """Serve the hostile paths; gives the base URL, without a slash at its end.

    /redirect-to-loopback leads to the vault, another loopback address, so that a guard opened for
    `host` alone is put to the test.  `visits` counts requests by path, the vault's as "vault".
    """
    seen: Counter[str] = Counter() if visits is None else visits
    connections: set[asyncio.Task[None]] = set()
    vault_url = ""

    def accept(behave: Behaviour, label: str | None) -> Callable[..., None]:
        def start(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(_serve(reader, writer, behave, label, seen, vault_url))
            connections.add(task)
            task.add_done_callback(connections.discard)

        return start

    async def behave(exchange: Exchange) -> None:
        await _behaviour(exchange.path, robots, robots_delay)(exchange)

    vault = await asyncio.start_server(accept(_fine, "vault"), vault_host, 0)
    main = await asyncio.start_server(accept(behave, None), host, 0)
    vault_url = _url(vault)
    try:
        yield _url(main)
    finally:
        for server in (vault, main):
            server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


def _url(server: asyncio.Server) -> str:
    host, port = server.sockets[0].getsockname()[:2]
    return f"http://{host}:{port}"


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    behave: Behaviour,
    label: str | None,
    seen: Counter[str],
    vault_url: str,
) -> None:
    """One request, one behaviour, then the connection closes; a client that hangs up is expected."""
    try:
        with suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(SECONDS):
                request = await reader.readuntil(b"\r\n\r\n")
                path = request.split(b" ", 2)[1].decode("latin-1").partition("?")[0]
                seen[label or path] += 1
                await behave(Exchange(path, writer, vault_url))
    finally:
        writer.close()


def _behaviour(path: str, robots: Robots, robots_delay: float) -> Behaviour:
    if path == "/robots.txt":
        return _robots(robots, robots_delay)
    honest = {"/": _index, "/fine": _fine}
    first = "/" + path.split("/")[1]
    return honest.get(path) or _HOSTILE.get(first) or _missing


def _robots(robots: Robots, delay: float) -> Behaviour:
    async def answer(exchange: Exchange) -> None:
        if robots is Robots.NEVER:
            await _never(exchange)
        if robots is Robots.SLOW_FORBID:
            await asyncio.sleep(delay)
        rule = "Allow: /" if robots is Robots.ALLOW else "Disallow: /"
        status = "503 Service Unavailable" if robots is Robots.ERROR else "200 OK"
        body = f"User-agent: *\n{rule}\n".encode()
        await exchange.answer(body, "Content-Type: text/plain", status=status)

    return answer


async def _missing(exchange: Exchange) -> None:
    await exchange.answer(b"<h1>Not found</h1>", status="404 Not Found")
