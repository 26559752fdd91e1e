"""The command run: the crawl itself."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from crawler.archives.record import recorded
from crawler.clock import Clock
from crawler.config import Config
from crawler.crawl import Summary, crawl, live_transport
from crawler.engine import Engine
from crawler.observation import Observation
from crawler.operator.command_line import CONFIG
from crawler.operator.edits import Edits, heard_on_sighup
from crawler.operator.exits import EXIT_OF_FINISH, Exit, told_errors
from crawler.operator.metrics import Metrics, serve_metrics
from crawler.operator.progress import Progress, fetch_log
from crawler.operator.settings import config_path, load_for_live
from crawler.operator.summary import summary_lines
from crawler.planning.plan import Pick


@told_errors
def run(arguments: argparse.Namespace) -> int:
    config = load_for_live(arguments)
    try:
        summary = run_loop(config, lambda: _crawl(config, arguments))
    except (KeyboardInterrupt, asyncio.CancelledError):
        sys.stderr.write(
            "stopped at once; all that was stored is safe, what was in flight is fetched again\n"
        )
        return Exit.INTERRUPTED
    sys.stderr.writelines(line + "\n" for line in summary_lines(summary))
    return EXIT_OF_FINISH[summary.finish]


async def _crawl(config: Config, arguments: argparse.Namespace) -> Summary:
    clock = Clock()
    open_transport = recorded(arguments.record) if arguments.record else live_transport
    progress, metrics = Progress(clock, sys.stderr), Metrics(clock)
    edits = Edits(
        config,
        config_path(arguments) or CONFIG,
        load=lambda: load_for_live(arguments),
        out=sys.stderr,
    )
    try:
        with fetch_log(config.log.fetches) as log, heard_on_sighup(edits):

            def report(pick: Pick, observation: Observation) -> None:
                log(pick, observation)
                progress.report(pick, observation)
                metrics.report(pick, observation)

            def started(engine: Engine) -> None:
                progress.watch(engine)
                metrics.watch(engine)

            async with serve_metrics(config.metrics, metrics, sys.stderr):
                return await crawl(
                    config,
                    clock=clock,
                    open_transport=open_transport,
                    once=arguments.once,
                    report=report,
                    started=started,
                    edit=edits.take,
                )
    finally:
        progress.close()


def run_loop(config: Config, main: Callable[[], Coroutine[Any, Any, Summary]]) -> Summary:
    """Runs on uvloop where the settings ask for it."""
    factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    if config.fetch.uvloop:
        try:
            import uvloop
        except ImportError:
            raise SystemExit(
                'fetch.uvloop: want the package uvloop, got none; `pip install "freshet[fast]"`'
            ) from None
        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main())
