"""The live transport: one HTTP exchange by aiohttp, every limit set, every failure named."""

import socket
import ssl
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import aiohttp
from yarl import URL

from crawler.clock import Clock
from crawler.config.model import FetchSettings
from crawler.fetching.guard import AddressGuard, ForbiddenAddressError
from crawler.fetching.inflate import ACCEPT_ENCODING, BadEncodingError, TooLargeError, inflate
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import (
    AddressForbidden,
    FetchError,
    HostError,
    PageError,
    Reply,
    Request,
    Wire,
)

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5"
_MAX_HEADERS = 128


class HttpTransport:
    """Sends requests on pooled connections.  `async with` it: connections close with it.

    `keep_wire` hands each exchange over as it was sent too, for a recording.
    """

    def __init__(
        self, settings: FetchSettings, *, user_agent: str, clock: Clock, keep_wire: bool = False
    ) -> None:
        self._settings = settings
        self._keep_wire = keep_wire
        self._clock = clock
        self._guard = AddressGuard(settings.allow_networks)
        self._timeout = aiohttp.ClientTimeout(
            total=settings.total_timeout,
            sock_connect=settings.connect_timeout,
            sock_read=settings.read_timeout,
        )
        connector = aiohttp.TCPConnector(
            limit=0,  # the dispatcher's slots are the limit
            ttl_dns_cache=int(settings.dns_cache),
            dns_cache_max_size=100_000,
            socket_factory=self._open_socket,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers={
                "User-Agent": user_agent,
                "Accept": _ACCEPT,
                "Accept-Encoding": ACCEPT_ENCODING,
            },
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            timeout=self._timeout,
            max_field_size=settings.max_header,
            max_line_size=settings.max_header,
            max_headers=_MAX_HEADERS,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._session.close()

    async def send(self, request: Request) -> Reply:
        started_at = self._clock.now()
        try:
            return await self._exchange(request, started_at)
        except FetchError as error:
            error.duration = self._clock.now() - started_at
            raise
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            named = name_failure(error, request.url)
            named.duration = self._clock.now() - started_at
            raise named from error

    async def _exchange(self, request: Request, started_at: float) -> Reply:
        headers: dict[str, str] = {}
        if request.etag:
            headers["If-None-Match"] = request.etag
        if request.last_modified:
            headers["If-Modified-Since"] = request.last_modified
        url = URL(request.url, encoded=True)  # already canonical: aiohttp must not quote it again
        async with self._session.get(url, headers=headers, allow_redirects=False) as response:
            raw = await self._read(response)
            body = self._inflate(raw, response.headers.get("content-encoding", ""))
            return Reply(
                url=request.url,
                status=response.status,
                headers=response.headers,
                body=body,
                wire_bytes=len(raw),
                duration=self._clock.now() - started_at,
                wire=_wire(response, raw) if self._keep_wire else None,
            )

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        limit = self._settings.max_body
        if (response.content_length or 0) > limit:
            raise self._too_large(f"{response.content_length} bytes announced")
        parts: list[bytes] = []
        size = 0
        while part := await response.content.readany():
            parts.append(part)
            size += len(part)
            if size > limit:
                raise self._too_large(f"{size} bytes and more to come")
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _inflate(self, raw: bytes, encoding: str) -> bytes:
        if not encoding or not raw:
            return raw
        try:
            return inflate(raw, encoding, limit=self._settings.max_inflated)
        except TooLargeError as error:
            raise PageError(Outcome.TOO_LARGE, f"fetch.max_inflated: {error}") from error
        except BadEncodingError as error:
            raise PageError(Outcome.BAD_ENCODING, str(error)) from error

    def _too_large(self, got: str) -> PageError:
        limit = self._settings.max_body
        return PageError(Outcome.TOO_LARGE, f"fetch.max_body: want at most {limit}, got {got}")

    def _open_socket(self, address: Any) -> socket.socket:
        family, kind, protocol, _, where = address
        self._guard.check(where[0])
        return socket.socket(family, kind, protocol)


def _wire(response: aiohttp.ClientResponse, body: bytes) -> Wire:
    asked, version = response.request_info, response.version
    http = f"{version.major}.{version.minor}" if version else "1.1"
    sent = [(name.encode(), value.encode()) for name, value in asked.headers.items()]
    return Wire(
        _head(f"{asked.method} {asked.url.raw_path_qs} HTTP/1.1", sent),
        _head(f"HTTP/{http} {response.status} {response.reason or ''}", response.raw_headers),
        body,
    )


def _head(line: str, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    lines = [line.encode("utf-8", "surrogateescape")]
    for name, value in headers:
        # aiohttp has put the chunks together: with its own name the header would be untrue.
        chunked = name.lower() == b"transfer-encoding"
        lines.append((b"X-Archive-Orig-" if chunked else b"") + name + b": " + value)
    return b"\r\n".join(lines) + b"\r\n\r\n"


def name_failure(error: Exception, url: str) -> FetchError:
    """The FetchError for what aiohttp raised.  The order matters: aiohttp's classes overlap."""
    message = f"{url}: {str(error) or type(error).__name__}"
    if isinstance(error, TimeoutError):
        return HostError(Outcome.TIMEOUT, message)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return HostError(Outcome.DNS, message)
    if isinstance(error, (aiohttp.ClientSSLError, ssl.SSLError)):
        return HostError(Outcome.TLS, message)
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, ForbiddenAddressError):
            return AddressForbidden(Outcome.FORBIDDEN_ADDRESS, f"{url}: {error.os_error}")
        return HostError(Outcome.REFUSED, message)
    if isinstance(error, aiohttp.ClientPayloadError):
        if "ConnectionResetError" in message:  # aiohttp keeps no more of it than this
            return HostError(Outcome.RESET, message)
        return PageError(Outcome.TRUNCATED, message)
    if isinstance(error, aiohttp.ClientResponseError):
        return _name_bad_response(error, message)
    if isinstance(error, (aiohttp.ServerDisconnectedError, OSError)):
        return HostError(Outcome.RESET, message)
    return PageError(Outcome.BAD_HTTP, message)


def _name_bad_response(error: aiohttp.ClientResponseError, message: str) -> PageError:
    # aiohttp has no class of its own for these; the texts are those of its parser's limits.
    too_large = (
        "got more than" in error.message.lower() or "too many headers" in error.message.lower()
    )
    return PageError(Outcome.HEADERS_TOO_LARGE if too_large else Outcome.BAD_HTTP, message)
