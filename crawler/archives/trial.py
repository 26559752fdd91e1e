"""One replay of a recording with some settings, scored; or many of them, on all cores.

Two trials with the same seed draw the same random numbers, so that their difference is due to their settings.
"""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from crawler.archives.recording import RecordedTransport, Recording, open_recording
from crawler.archives.score import Crawled, Score, score
from crawler.archives.transport import Support
from crawler.archives.truth import Truth
from crawler.clock import Clock, real_time, run_virtual
from crawler.config import Config
from crawler.config.load import build, from_flags
from crawler.config.model import CrawlSettings, SiteSettings
from crawler.config.units import Duration
from crawler.crawl import Summary, crawl
from crawler.engine import Engine
from crawler.fetching.transport import Transport
from crawler.planning.plan import Purpose
from crawler.planning.scope import compile_site
from storage import reports
from storage.database import open_to_read

_DAY = 86_400.0
_WARM_UP = 0.25  # of the span, when nothing else is asked for


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when a crawl runs, and from when on it is judged."""

    began_at: float
    judged_at: float
    ended_at: float

    @property
    def windows(self) -> int:
        """Days, or twelfths of a shorter span: the pieces that a difference is averaged over."""
        days = round((self.ended_at - self.judged_at) / _DAY)
        return max(days, 12)


@dataclass(frozen=True, slots=True)
class Job:
    """What to replay.  `name` is for the table; `label` tells apart what has the same name."""

    name: str
    config: Config
    span: Span


@dataclass(frozen=True, slots=True)
class WeightCurve:
    """How far each strategy was followed, a row for each sample."""

    at: tuple[float, ...] = ()
    weights: tuple[dict[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """A job done."""

    name: str
    seed: int
    score: Score
    support: Support
    finish: str
    weights: WeightCurve
    seconds: float  # of real time


def span_of(truth: Truth, *, warm_up: float | None, length: float | None) -> Span:
    """The whole recording, or its first `length` seconds."""
    ended_at = min(truth.ended_at, truth.began_at + (length or np.inf))
    lead = _WARM_UP * (ended_at - truth.began_at) if warm_up is None else warm_up
    return Span(truth.began_at, min(truth.began_at + lead, ended_at), ended_at)


def with_crawl(config: Config, **changes: object) -> Config:
    """The settings with other ones in [crawl]."""
    crawl: CrawlSettings = config.crawl.model_copy(update=changes)
    return config.model_copy(update={"crawl": crawl})


def with_settings(config: Config, changes: Mapping[str, str]) -> Config:
    """The settings with others set as a flag would set them, checked whole."""
    return build(config.model_dump(), {}, from_flags(changes), file="settings").config


def run_trial(job: Job, recording: Recording) -> Trial:
    """Replays one job in a database of its own, which is thrown away."""
    with tempfile.TemporaryDirectory(prefix="freshet-replay-") as folder:
        return _run(job, recording, Path(folder) / "replay.db")


def _run(job: Job, recording: Recording, database: Path) -> Trial:
    started, span = real_time(), job.span
    length = Duration(f"{span.ended_at - span.began_at:.3f}s")
    sites = _sites(job.config, recording.sites)
    config = with_crawl(job.config, database=database, stop_after=length, max_failures=1.0)
    config = config.model_copy(update={"site": sites})
    opened: list[RecordedTransport] = []
    samples = _Samples()

    @asynccontextmanager
    async def open_transport(config: Config, clock: Clock) -> AsyncIterator[Transport]:
        async with recording.open_transport(config, clock) as transport:
            opened.append(transport)
            yield transport

    async def main() -> Summary:
        clock = Clock(span.began_at)
        return await crawl(
            config,
            clock=clock,
            open_transport=open_transport,
            report=lambda pick, observation: samples.take(clock.now()),
            started=samples.watch,
        )

    summary = run_virtual(main())
    truth = weighted(recording.truth, sites)
    judged = score(
        truth,
        read_crawl(database, truth),
        since=span.judged_at,
        until=span.ended_at,
        windows=span.windows,
    )
    return Trial(
        name=job.name,
        seed=config.crawl.seed,
        score=judged,
        support=opened[0].support,
        finish=summary.finish.name.lower(),
        weights=WeightCurve(tuple(samples.at), tuple(samples.weights)),
        seconds=real_time() - started,
    )


def _sites(config: Config, recorded: tuple[SiteSettings, ...]) -> tuple[SiteSettings, ...]:
    """The recording's sites, each with the operator's settings for it if there are any."""
    named = {site.name: site for site in config.site}
    return tuple(named.get(site.name, site) for site in recorded)


def weighted(truth: Truth, sites: tuple[SiteSettings, ...]) -> Truth:
    """With the weights of site.importance, where the recording has none of its own."""
    rules = {site.name: compile_site(0, site) for site in sites if site.importance}
    if not rules or (truth.weight != 1.0).any():
        return truth
    names = [truth.sites[number] for number in truth.site.tolist()]
    weight = [
        rules[name].importance_of(url) if name in rules else 1.0
        for url, name in zip(truth.urls, names, strict=True)
    ]
    return replace(truth, weight=np.array(weight))


def read_crawl(database: Path, truth: Truth) -> Crawled:
    """What a crawl left in its database, by the truth's numbers; pages that are no offers are passed over."""
    number = truth.number_of
    with open_to_read(database) as connection:
        prices = [
            (number[url], at, micros)
            for url, at, micros in reports.price_steps(connection)
            if url in number
        ]
        found = [(number[url], at) for url, at in reports.first_sights(connection) if url in number]
        fetches = list(reports.fetch_purposes(connection))
    return Crawled(
        offer=np.array([row[0] for row in prices], np.int64),
        at=np.array([row[1] for row in prices], np.float64),
        price_micros=np.array([row[2] for row in prices], np.int64),
        found=np.array([row[0] for row in found], np.int64),
        found_at=np.array([row[1] for row in found], np.float64),
        fetch_at=np.array([row[0] for row in fetches], np.float64),
        discovers=np.array([row[1] == Purpose.DISCOVER for row in fetches], np.bool_),
    )


@dataclass(slots=True)
class _Samples:
    """The strategies' weights, looked at once in six virtual hours."""

    at: list[float] = field(default_factory=list)
    weights: list[dict[str, float]] = field(default_factory=list)
    engine: Engine | None = None

    def watch(self, engine: Engine) -> None:
        self.engine = engine

    def take(self, now: float) -> None:
        if self.engine is not None and (not self.at or now - self.at[-1] >= _DAY / 4):
            self.at.append(now)
            self.weights.append(self.engine.planner.weights())


def run_trials(
    jobs: Sequence[Job], paths: tuple[Path, ...], *, cores: int
) -> Iterator[tuple[int, Trial]]:
    """Each job's place and its trial, as they are done.  Processes, as a replay keeps a core busy."""
    if cores <= 1 or len(jobs) <= 1:
        yield from ((place, _work(job, paths)) for place, job in enumerate(jobs))
        return
    with ProcessPoolExecutor(min(cores, len(jobs)), mp_context=get_context("spawn")) as pool:
        places = {pool.submit(_work, job, paths): place for place, job in enumerate(jobs)}
        try:
            for done in as_completed(places):
                yield places[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _work(job: Job, paths: tuple[Path, ...]) -> Trial:
    return run_trial(job, open_recording(paths, job.config.site))


def in_order(
    jobs: Sequence[Job],
    paths: tuple[Path, ...],
    *,
    cores: int,
    told: Callable[[int, int, Trial], None] = lambda done, all_, trial: None,
) -> list[Trial]:
    """All trials, in the order of the jobs."""
    trials: dict[int, Trial] = {}
    for place, trial in run_trials(jobs, paths, cores=cores):
        trials[place] = trial
        told(len(trials), len(jobs), trial)
    return [trials[place] for place in range(len(jobs))]
