"""A search for better settings by replay: on a training span, confirmed on a later one that it never saw.

Every trial replays the same recording with the same seeds, so that two trials differ by their settings alone.
A trial that is poor with its first seed is given up.  The study lies in a SQLite file: it can be stopped and
taken up again.
"""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from crawler.archives.captures import ArchiveError
from crawler.archives.compare import Difference, paired_difference
from crawler.archives.ranges import Range
from crawler.archives.recording import open_recording
from crawler.archives.trial import Job, Span, Trial, run_trial, with_crawl, with_settings
from crawler.archives.truth import Truth
from crawler.config import Config

if TYPE_CHECKING:
    import optuna

# What may be sought, and the curve of a score that its gain is confirmed on.
GOALS = {"freshness": "freshness", "weighted_freshness": "weighted"}
_TRAINING = 0.6  # of the recording; the rest confirms
_WARM_UP = 0.25  # of the training span


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched, on what, for what."""

    paths: tuple[Path, ...]
    config: Config
    ranges: tuple[Range, ...]
    goal: str
    trials: int
    seeds: int
    study: Path
    training: Span
    unseen: Span

    @property
    def name(self) -> str:
        """The same question has the same name, so that its study is taken up again."""
        question = [
            [str(path.resolve()) for path in self.paths],
            self.config.model_dump(mode="json"),
            [repr(range_) for range_ in self.ranges],
            [self.goal, self.seeds, repr(self.training)],
        ]
        return f"tune-{xxhash.xxh3_64_hexdigest(json.dumps(question).encode())}"


@dataclass(frozen=True, slots=True)
class Step:
    """One trial of the search, done or given up."""

    number: int
    value: float
    given_up: bool
    best: float
    current: float
    changes: dict[str, str]


@dataclass(frozen=True, slots=True)
class Tuned:
    """What came of it.  `changes` are the best settings of the training span; None: none beat the current."""

    current: float
    best: float
    changes: dict[str, str] | None
    unseen_current: float = float("nan")
    unseen_best: float = float("nan")
    gain: Difference | None = None  # on the unseen span

    @property
    def is_confirmed(self) -> bool:
        return self.gain is not None and self.gain.low > 0.0


def spans_of(truth: Truth, *, length: float | None) -> tuple[Span, Span]:
    """Training is the first part of the recording.  The unseen span is the rest: a crawl runs up to it, to
    have learned what there is to learn, and is judged only there."""
    ended_at = min(truth.ended_at, truth.began_at + (length or float("inf")))
    cut = truth.began_at + _TRAINING * (ended_at - truth.began_at)
    judged_at = truth.began_at + _WARM_UP * (cut - truth.began_at)
    return Span(truth.began_at, judged_at, cut), Span(truth.began_at, cut, ended_at)


def tune(search: Search, *, cores: int, told: Callable[[Step], None]) -> Tuned:
    """Searches until `trials` are done, counting those of earlier runs, and confirms the winner."""
    study = _open_study(search)
    with _workers(search, cores) as submit:
        current = _current(search, study, submit)
        _search(search, study, submit, current, cores=cores, told=told)
        best = _best(study, current)
        changes = _changed(search, study.best_trial.user_attrs["changes"]) if best > current else {}
        if not changes:
            return Tuned(current, best, None)
        return _confirmed(search, submit, current, best, changes)


Submit = Callable[[Job], "Future[Trial]"]


@contextmanager
def _workers(search: Search, cores: int) -> Iterator[Submit]:
    """A process for each core; with one core, this one."""
    if cores <= 1:
        yield lambda job: _at_once(job, search.paths)
        return
    pool: Executor
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        try:
            yield lambda job: pool.submit(_work, job, search.paths)
        finally:
            pool.shutdown(cancel_futures=True)


def _work(job: Job, paths: tuple[Path, ...]) -> Trial:
    trial = run_trial(job, open_recording(paths, job.config.site))
    if trial.finish == "interrupted":
        raise KeyboardInterrupt
    return trial


def _at_once(job: Job, paths: tuple[Path, ...]) -> "Future[Trial]":
    done: Future[Trial] = Future()
    done.set_result(_work(job, paths))
    return done


def _open_study(search: Search) -> "optuna.Study":
    try:
        import optuna
    except ImportError:
        raise ArchiveError('tune: want the package optuna; `pip install "freshet[tune]"`') from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=f"sqlite:///{search.study}",
        study_name=search.name,
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=search.config.crawl.seed, n_startup_trials=8),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
        load_if_exists=True,
    )
    for trial in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
        # Left behind by a run that was stopped: its replays are lost.
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return study


def _current(search: Search, study: "optuna.Study", submit: Submit) -> float:
    """How good the present settings are in training; measured once for a study."""
    if "current" not in study.user_attrs:
        jobs = [submit(job) for job in _jobs(search, search.config, search.training)]
        study.set_user_attr("current", _mean(search, [job.result() for job in jobs]))
    return float(study.user_attrs["current"])


def _jobs(search: Search, config: Config, span: Span) -> list[Job]:
    first = search.config.crawl.seed
    seeds = range(first, first + search.seeds)
    return [Job("tune", with_crawl(config, seed=seed), span) for seed in seeds]


def _mean(search: Search, trials: list[Trial]) -> float:
    values: list[float] = [getattr(trial.score, search.goal) for trial in trials]
    return sum(values) / len(values)


@dataclass(slots=True)
class _Running:
    """A trial of the study, the replays it still needs and those it has."""

    trial: "optuna.Trial"
    changes: dict[str, str]
    jobs: list[Job]
    done: list[Trial]


def _search(
    search: Search,
    study: "optuna.Study",
    submit: Submit,
    current: float,
    *,
    cores: int,
    told: Callable[[Step], None],
) -> None:
    """Keeps every core busy with the next replay of some trial."""
    running: dict[Future[Trial], _Running] = {}
    left = search.trials - _finished(study)
    while left > 0 or running:
        while left > 0 and len(running) < cores:
            asked = _ask(search, study)
            running[submit(asked.jobs.pop(0))] = asked
            left -= 1
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in finished:
            own = running.pop(future)
            own.done.append(future.result())
            value = _mean(search, own.done)
            own.trial.report(value, len(own.done))
            given_up = bool(own.jobs) and own.trial.should_prune()
            if own.jobs and not given_up:
                running[submit(own.jobs.pop(0))] = own
                continue
            _close(study, own, value, given_up=given_up)
            told(
                Step(own.trial.number, value, given_up, _best(study, current), current, own.changes)
            )


def _finished(study: "optuna.Study") -> int:
    return sum(trial.state.name in ("COMPLETE", "PRUNED") for trial in study.trials)


def _ask(search: Search, study: "optuna.Study") -> _Running:
    trial = study.ask()
    changes = {range_.path: _suggest(trial, range_) for range_ in search.ranges}
    trial.set_user_attr("changes", changes)
    config = with_settings(search.config, changes)
    return _Running(trial, changes, _jobs(search, config, search.training), [])


def _suggest(trial: "optuna.Trial", range_: Range) -> str:
    if range_.choices:
        return str(trial.suggest_categorical(range_.path, range_.choices))
    number = trial.suggest_float(range_.path, range_.low, range_.high, log=range_.by_factors)
    return range_.text(number)


def _close(study: "optuna.Study", own: _Running, value: float, *, given_up: bool) -> None:
    from optuna.trial import TrialState

    if given_up:
        study.tell(own.trial, state=TrialState.PRUNED)
    else:
        study.tell(own.trial, value)


def _best(study: "optuna.Study", current: float) -> float:
    done = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    return max([current, *(trial.value for trial in done if trial.value is not None)])


def _changed(search: Search, changes: dict[str, str]) -> dict[str, str]:
    """Those of the changes that change anything."""
    return {
        path: text
        for path, text in changes.items()
        if with_settings(search.config, {path: text}) != search.config
    }


def _confirmed(
    search: Search, submit: Submit, current: float, best: float, changes: dict[str, str]
) -> Tuned:
    """The winner against the present settings on the span that the search has not seen."""
    winner = with_settings(search.config, changes)
    theirs = [submit(job) for job in _jobs(search, winner, search.unseen)]
    ours = [submit(job) for job in _jobs(search, search.config, search.unseen)]
    won, present = [job.result() for job in theirs], [job.result() for job in ours]
    return Tuned(
        current=current,
        best=best,
        changes=changes,
        unseen_current=_mean(search, present),
        unseen_best=_mean(search, won),
        gain=paired_difference(won, present, of=GOALS[search.goal]),
    )
