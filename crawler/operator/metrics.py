"""Numbers of a running crawl in Prometheus' text format, on a local port if the operator asks for one.

The format is a dozen lines of text, so no library writes it; no label ever holds a URL.
"""

import math
from bisect import bisect_left
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TextIO

import numpy as np

from crawler.clock import Clock
from crawler.config.model import MetricsSettings
from crawler.engine import Engine
from crawler.observation import Observation
from crawler.operator.exits import OperatorError
from crawler.planning.plan import Pick

_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds
_ASKED = (
    100_000  # pages whose freshness is worked out for a scrape: 10 ms, standard error below 0.002
)
_DOWN = 3  # failures in a row after which a host is taken to be down

Labels = dict[str, str]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with its samples: (suffix of the name, labels, value)."""

    name: str
    kind: str
    help: str
    samples: list[tuple[str, Labels, float]]

    def lines(self) -> Iterator[str]:
        yield f"# HELP freshet_{self.name} {self.help}"
        yield f"# TYPE freshet_{self.name} {self.kind}"
        for suffix, labels, value in self.samples:
            written = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            inside = f"{{{written}}}" if written else ""
            yield f"freshet_{self.name}{suffix}{inside} {_number(value)}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return "+Inf" if value == math.inf else repr(float(value))


def one(name: str, kind: str, help_: str, value: float) -> Family:
    return Family(name, kind, help_, [("", {}, value)])


def each(name: str, kind: str, help_: str, samples: Iterable[tuple[Labels, float]]) -> Family:
    return Family(name, kind, help_, [("", labels, value) for labels, value in samples])


class Metrics:
    """Watches the engine, and counts how long fetches take: all else is read when somebody asks."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._engine: Engine | None = None
        self._took = [0] * (len(_BOUNDS) + 1)
        self._took_in_all = 0.0

    def watch(self, engine: Engine) -> None:
        self._engine = engine

    def report(self, pick: Pick, observation: Observation) -> None:
        if observation.lesson is not None:  # a refusal takes no time
            self._took[bisect_left(_BOUNDS, observation.duration)] += 1
            self._took_in_all += observation.duration

    def text(self) -> str:
        engine = self._engine
        if engine is None:
            return ""
        families = [
            *self._counts(engine),
            self._durations(),
            *self._freshness(engine),
            *self._limits(engine),
            *self._learned(engine),
        ]
        return "".join(line + "\n" for family in families for line in family.lines())

    def _counts(self, engine: Engine) -> Iterator[Family]:
        tally = engine.tally
        yield each(
            "fetches_total",
            "counter",
            "Fetches, and pages refused without one, by outcome.",
            (({"outcome": outcome}, count) for outcome, count in sorted(tally.outcomes.items())),
        )
        yield one("changes_total", "counter", "Fetches that found a change.", tally.changed)
        yield one(
            "discoveries_total", "counter", "Pages seen for the first time.", tally.discovered
        )
        yield one("offers_total", "counter", "Offers seen for the first time.", tally.offers)
        yield one("wire_bytes_total", "counter", "Bytes received.", tally.wire_bytes)

    def _durations(self) -> Family:
        samples: list[tuple[str, Labels, float]] = []
        upto = 0
        for bound, count in zip((*_BOUNDS, math.inf), self._took, strict=True):
            upto += count
            samples.append(("_bucket", {"le": _number(bound)}, upto))
        samples += [("_sum", {}, self._took_in_all), ("_count", {}, upto)]
        return Family("fetch_seconds", "histogram", "How long fetches took.", samples)

    def _freshness(self, engine: Engine) -> Iterator[Family]:
        """Mean over pages kept fresh; of very many, every n-th is asked."""
        memory = engine.memory
        rows = memory.learner.rhythms.all_rows()
        yield one("pages", "gauge", "Known pages.", len(memory.table))
        yield one("pages_kept_fresh", "gauge", "Pages with offers.", len(rows))
        rows = rows[:: -(-len(rows) // _ASKED) or 1]
        fresh = memory.learner.rhythms.fresh_probability(rows, self._clock.now())
        site = memory.table.site[rows]
        names = {site_id: scope.settings.name for site_id, scope in memory.scope.sites.items()}
        if len(rows):
            text = "Mean probability that what we hold of a page is still true."
            yield one("expected_freshness", "gauge", text, float(fresh.mean()))
            yield each(
                "site_expected_freshness",
                "gauge",
                "The same for each site.",
                (
                    ({"site": names[number]}, float(fresh[site == number].mean()))
                    for number in np.unique(site).tolist()
                    if number in names
                ),
            )

    def _limits(self, engine: Engine) -> Iterator[Family]:
        now, memory = self._clock.now(), engine.memory
        windows = memory.budget.overall.usage(now)
        for name, text in (("used", "Fetches used"), ("limit", "Fetches allowed")):
            yield each(
                f"budget_{name}",
                "gauge",
                f"{text} in the present window of so many seconds.",
                (({"window": f"{w.seconds:g}"}, float(getattr(w, name))) for w in windows),
            )
        paces = [memory.gate.pace(name) for name in memory.hosts.names().values()]
        blocked = sum(
            pace.ready_at > now and (pace.backoffs > 0 or pace.failures >= _DOWN) for pace in paces
        )
        yield one("hosts", "gauge", "Known hosts.", len(paces))
        yield one("hosts_blocked", "gauge", "Hosts left alone: they refuse us or fail.", blocked)
        price = memory.learner.level
        yield one("going_price_seconds", "gauge", "Worth of the last fetch paid for.", price)

    def _learned(self, engine: Engine) -> Iterator[Family]:
        hints = engine.memory.learner.hints
        learned = [
            ({"site": scope.settings.name, "kind": quality.kind}, quality)
            for site_id, scope in engine.memory.scope.sites.items()
            for quality in hints.qualities(site_id)
        ]
        yield each(
            "signal_precision",
            "gauge",
            "Share of signals that came true.",
            ((labels, quality.precision) for labels, quality in learned),
        )
        yield each(
            "signal_worth_nats",
            "gauge",
            "Freshness lost to one signal.",
            ((labels, quality.worth_nats) for labels, quality in learned),
        )
        yield each(
            "strategy_weight",
            "gauge",
            "How far each strategy is followed.",
            (({"strategy": name}, weight) for name, weight in engine.planner.weights().items()),
        )


@asynccontextmanager
async def serve_metrics(
    settings: MetricsSettings, metrics: Metrics, out: TextIO
) -> AsyncIterator[None]:
    """GET /metrics, for as long as the crawl runs; nothing at all without a port."""
    if settings.port is None:
        yield
        return
    from aiohttp import web

    async def answer(_: web.Request) -> web.Response:
        return web.Response(
            text=metrics.text(),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )

    app = web.Application()
    app.router.add_get("/metrics", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, settings.address, settings.port).start()
        except OSError as error:
            raise OperatorError(f"metrics.port {settings.port}: {error.strerror}") from error
        out.write(f"metrics at http://{settings.address}:{runner.addresses[0][1]}/metrics\n")
        yield
    finally:
        await runner.cleanup()
