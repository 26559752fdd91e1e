"""The seam to the outside: one request in, one reply out, or one error of this tree.

    FetchError             the exchange gave no reply; `outcome` names why
    +-- HostError          the host is at fault: try it again later
    +-- PageError          this page is at fault: the host is fine
    +-- AddressForbidden   we may not connect there at all

A transport does exactly one exchange.  Redirects, robots.txt, politeness and budgets are not its business.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from crawler.fetching.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Request:
    """What to ask for.  Validators make it conditional."""

    url: str
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Wire:
    """An exchange as it was sent, for a recording.  Heads end with their empty line; `body` is still encoded."""

    request_head: bytes
    reply_head: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the body inflated, header names in lower case.  `wire` only when it is recorded."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    wire_bytes: int
    duration: float
    wire: Wire | None = field(default=None, repr=False)


class FetchError(Exception):
    """No reply.  `duration` is how long it took to fail."""

    def __init__(self, outcome: Outcome, message: str, *, duration: float = 0.0) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.duration = duration


class HostError(FetchError):
    """Try this host again later; the page is not at fault."""


class PageError(FetchError):
    """This page cannot be had as it is; the host answers."""


class AddressForbidden(FetchError):
    """The name leads to an address the operator has not allowed."""


class Transport(Protocol):
    """One HTTP exchange: aiohttp, a recorded archive or a simulated shop."""

    async def send(self, request: Request) -> Reply: ...
