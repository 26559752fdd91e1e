"""The archive as a transport: a fetch gets what was recorded at that time, and says so when nothing was."""

from collections import OrderedDict
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from multidict import CIMultiDict

from crawler.archives.captures import Exchange, Kind, UnreadableError, hash_validators
from crawler.archives.formats import open_reader
from crawler.archives.index import ArchiveIndex, Located
from crawler.clock import Clock
from crawler.config.model import FetchSettings
from crawler.fetching.inflate import BadEncodingError, TooLargeError, inflate
from crawler.fetching.outcome import MEANING, Fault, Outcome
from crawler.fetching.transport import (
    AddressForbidden,
    FetchError,
    HostError,
    PageError,
    Reply,
    Request,
)
from crawler.reading.urls import page_hash

_CACHED = 64_000_000  # bytes of inflated bodies kept for pages that are asked for again


@dataclass(slots=True)
class Support:
    """How far the archive could answer.  robots.txt is not counted."""

    asked: int = 0
    answered: int = 0
    early: int = 0  # of those answered: by a capture made after the time of the fetch

    @property
    def share(self) -> float:
        return self.answered / self.asked if self.asked else 0.0


class ArchiveTransport:
    """Answers from an index at the clock's time.  `async with` it: the archive files close with it."""

    def __init__(self, index: ArchiveIndex, clock: Clock, *, limits: FetchSettings) -> None:
        self._index = index
        self._clock = clock
        self._limits = limits
        self._readers = [open_reader(file.path, file.format) for file in index.files]
        self._cache: OrderedDict[int, Reply] = OrderedDict()
        self._cached = 0
        self.support = Support()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for reader in self._readers:
            reader.close()

    async def send(self, request: Request) -> Reply:
        is_robots = request.url.endswith("/robots.txt")
        found = self._index.find(page_hash(request.url), self._clock.now())
        self.support.asked += not is_robots
        if found is None:
            return self._nothing(request.url, is_robots=is_robots)
        self.support.answered += not is_robots
        self.support.early += found.is_early and not is_robots
        duration = float(self._index.duration[found.row])
        if duration:
            await self._clock.sleep_until(self._clock.now() + duration)
        try:
            return self._reply(request, found.row, duration)
        except FetchError as error:
            error.duration = duration
            raise

    def capture(self, row: int) -> Reply:
        """A capture as it was recorded, whatever the time."""
        return self._read(self._index.url(row), row, 0.0)

    def _nothing(self, url: str, *, is_robots: bool) -> Reply:
        """Not a 404, which would be the shop's word.  A robots.txt that was not recorded forbids nothing."""
        if is_robots:
            return Reply(url, 404, {}, b"", 0, 0.0)
        raise PageError(Outcome.NOT_CAPTURED, f"{url}: never captured in the archive")

    def _reply(self, request: Request, row: int, duration: float) -> Reply:
        index = self._index
        if index.is_unchanged(row, hash_validators(request.etag, request.last_modified)):
            kept = {"etag": request.etag, "last-modified": request.last_modified}
            headers = {name: value for name, value in kept.items() if value}
            return Reply(request.url, 304, headers, b"", 0, duration)
        reply = self._cache.get(row)
        if reply is None:
            reply = self._read(request.url, row, duration)
            self._keep(row, reply)
        else:
            self._cache.move_to_end(row)
        return reply

    def _keep(self, row: int, reply: Reply) -> None:
        self._cache[row] = reply
        self._cached += len(reply.body)
        while self._cached > _CACHED:
            _, oldest = self._cache.popitem(last=False)
            self._cached -= len(oldest.body)

    def _read(self, url: str, row: int, duration: float) -> Reply:
        index = self._index
        head = index.head(row)
        exchange = self._exchange(url, head)
        if exchange.failure:
            raise _recorded_failure(url, exchange)
        if index.kind[row] == Kind.SAME_PAYLOAD:
            whole = self._exchange(url, index.body(row))
            body, headers = whole.body, CIMultiDict(exchange.headers or whole.headers)
        else:
            body, headers = exchange.body, CIMultiDict(exchange.headers)
        return Reply(
            url=url,
            status=exchange.status,
            headers=headers,
            body=self._inflate(url, body, headers),
            wire_bytes=len(body),
            duration=duration,
        )

    def _exchange(self, url: str, located: Located) -> Exchange:
        reader = self._readers[located.file]
        try:
            return reader.read(located.place, limit=self._limits.max_inflated)
        except UnreadableError as error:
            too_large = "over the limit" in str(error)
            outcome = Outcome.TOO_LARGE if too_large else Outcome.TRUNCATED
            raise PageError(outcome, f"{url}: {error}") from error

    def _inflate(self, url: str, body: bytes, headers: CIMultiDict[str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            body = unchunk(body)
        encoding = headers.get("content-encoding", "")
        if not encoding or not body:
            return body
        try:
            return inflate(body, encoding, limit=self._limits.max_inflated)
        except TooLargeError as error:
            raise PageError(Outcome.TOO_LARGE, f"fetch.max_inflated: {url}: {error}") from error
        except BadEncodingError as error:
            # Some recorders keep the header of what they have already inflated.
            if body.lstrip()[:1] in (b"<", b"{", b"["):
                return body
            raise PageError(Outcome.BAD_ENCODING, f"{url}: {error}") from error


def _recorded_failure(url: str, exchange: Exchange) -> FetchError:
    """The error as the crawl that recorded it met it."""
    try:
        outcome = Outcome(exchange.failure)
    except ValueError:
        return PageError(Outcome.BAD_HTTP, f"{url}: recorded as {exchange.failure[:100]!r}")
    note = exchange.note or url
    if outcome is Outcome.FORBIDDEN_ADDRESS:
        return AddressForbidden(outcome, note)
    of_the_host = MEANING[outcome].fault is Fault.HOST
    return HostError(outcome, note) if of_the_host else PageError(outcome, note)


def unchunk(body: bytes) -> bytes:
    """The body without its chunk lines; as it is when it has none, as most recorders leave it."""
    parts: list[bytes] = []
    at = 0
    while True:
        line_end = body.find(b"\r\n", at, at + 1024)
        size = body[at:line_end].split(b";")[0].strip() if line_end > 0 else b""
        try:
            length = int(size, 16)
        except ValueError:
            return b"".join(parts) if parts else body
        start = line_end + 2
        if length <= 0:
            return b"".join(parts)
        parts.append(body[start : start + length])
        at = start + length + 2
