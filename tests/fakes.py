"""A transport that answers from a function, and crawls on it in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.crawl import Summary, crawl
from crawler.fetching.transport import FetchError, Reply, Request, Transport

STARTED_AT = 1_700_000_000.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the fake says, and how long it takes to say it."""

    body: str | bytes = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    duration: float = 0.1


Behaviour = Callable[[str, float], Answer | FetchError]


@dataclass(slots=True)
class FakeTransport:
    """Answers by `behave(url, seconds since the start)`; `sent` is every request with its time."""

    clock: Clock
    behave: Behaviour
    sent: list[tuple[float, str]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    async def send(self, request: Request) -> Reply:
        at = self.clock.now() - STARTED_AT
        self.sent.append((at, request.url))
        self.requests.append(request)
        answer = self.behave(request.url, at)
        if isinstance(answer, FetchError):
            raise answer
        await self.clock.sleep_until(self.clock.now() + answer.duration)
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        headers = {"content-type": "text/html", **answer.headers}
        return Reply(request.url, answer.status, headers, body, len(body), answer.duration)

    def times(self, prefix: str) -> list[float]:
        """When pages whose URL starts so were asked for; robots.txt not counted."""
        return [
            at
            for at, url in self.sent
            if url.startswith(prefix) and not url.endswith("/robots.txt")
        ]


def config_for(database: Path, start: list[str], **tables: Any) -> Config:
    """Settings for a test crawl.  Keyword tables are merged over what every test needs."""
    settings: dict[str, Any] = {
        "crawl": {
            "user_agent": "TestBot/1.0 (+http://test.example/bot)",
            "database": str(database),
        },
        "site": [{"name": "test", "start": start}],
    }
    for name, table in tables.items():
        settings[name] = {**settings[name], **table} if name == "crawl" else table
    return Config.model_validate(settings)


def crawl_virtually(
    config: Config,
    behave: Behaviour,
    *,
    once: bool = False,
    started_at: float = STARTED_AT,
    edits: Mapping[float, Config] | None = None,
) -> tuple[Summary, FakeTransport]:
    """A whole run in virtual time.  `edits`: new settings, by seconds since STARTED_AT."""
    made: list[FakeTransport] = []
    waiting = dict(edits or {})

    async def main() -> Summary:
        clock = Clock(started_at)
        transport = FakeTransport(clock, behave)
        made.append(transport)

        def edit() -> Config | None:
            due = [at for at in waiting if at <= clock.now() - STARTED_AT]
            return waiting.pop(min(due)) if due else None

        @asynccontextmanager
        async def open_fake(_: Config, __: Clock) -> AsyncIterator[Transport]:
            yield transport

        return await crawl(config, clock=clock, open_transport=open_fake, once=once, edit=edit)

    return run_virtual(main()), made[0]


def page(*links: str, title: str = "A page", text: str = "Some words to read.") -> str:
    """A plain HTML page with links."""
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    return (
        f"<!doctype html><html><title>{title}</title><body><h1>{title}</h1><p>{text}</p>{anchors}"
    )


def offer_page(price: str, *, currency: str = "EUR", name: str = "Lamp") -> str:
    """A product page with one JSON-LD offer."""
    return (
        f"<!doctype html><html><title>{name}</title><script type='application/ld+json'>"
        f'{{"@context":"https://schema.org","@type":"Product","name":"{name}","sku":"L1","offers":'
        f'{{"@type":"Offer","price":"{price}","priceCurrency":"{currency}",'
        f'"availability":"https://schema.org/InStock"}}}}</script>'
        f"<body><h1>{name}</h1><p>A fine {name.lower()} for every room.</p>"
    )


async def settle() -> None:
    """Lets every task that can run do so."""
    for _ in range(10):
        await asyncio.sleep(0)
