"""The commands and their flags.  Only argparse is imported here, so that --help answers at once."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

CONFIG = Path("config.toml")

Arguments = argparse.Namespace
if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def run_command(argv: Sequence[str]) -> int:
    """Parses and carries out one command; returns the exit code."""
    arguments = parser().parse_args(list(argv) or ["run"])
    command: Callable[[Arguments], int] = arguments.command
    try:
        return command(arguments)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m crawler",
        description="Freshet keeps a database of shop prices fresh within a fetch budget.",
        epilog="Without a command: run.",
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_replay(commands)
    _add_tune(commands)
    _add_demo(commands)
    _add_plan(commands)
    _add_explain(commands)
    _add_status(commands)
    _add_export(commands)
    _add_seed(commands)
    _add_robots(commands)
    _add_extract(commands)
    _add_config_commands(commands)
    _add(commands, "version", _version, "print the version")
    return top


def _add(
    commands: "Commands",
    name: str,
    command: Callable[[Arguments], int],
    description: str,
) -> argparse.ArgumentParser:
    sub = commands.add_parser(name, help=description, description=description)
    sub.set_defaults(command=command)
    return sub


def _add_settings(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="settings (default: config.toml, if there is one)",
    )
    sub.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="one setting, over file and environment: --set politeness.delay=1s",
    )
    sub.add_argument("--database", metavar="FILE", help="the same as --set crawl.database=FILE")


def _add_run(commands: "Commands") -> None:
    sub = _add(
        commands, "run", _run, "crawl until stopped; Ctrl-C drains and saves, twice stops at once"
    )
    sub.add_argument(
        "urls", nargs="*", metavar="URL", help="crawl these instead of the config's sites"
    )
    sub.add_argument(
        "--once", action="store_true", help="stop when every known page has been fetched once"
    )
    sub.add_argument(
        "--for", dest="stop_after", metavar="TIME", help="stop after this long: --for 10m"
    )
    sub.add_argument("--max-fetches", metavar="N", help="stop after so many fetches")
    sub.add_argument("--log", metavar="FILE", help="append one JSON line for each fetch")
    sub.add_argument(
        "--record", type=Path, metavar="DIR", help="keep every exchange in WARC files, for replay"
    )
    _add_settings(sub)


def _add_replay(commands: "Commands") -> None:
    sub = _add(
        commands, "replay", _replay, "the same crawl on recorded HTTP, in virtual time; asks nobody"
    )
    sub.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="WARC, ARC, WACZ or HAR files, or folders of them; or tables of prices (CSV, Parquet)",
    )
    sub.add_argument(
        "--start",
        action="append",
        default=[],
        metavar="URL",
        help="begin here (default: the config's sites if recorded, else every host's first page)",
    )
    sub.add_argument(
        "--once", action="store_true", help="stop when every known page has been fetched once"
    )
    sub.add_argument(
        "--for", dest="stop_after", metavar="TIME", help="virtual time (default: the archive's)"
    )
    sub.add_argument("--max-fetches", metavar="N", help="stop after so many fetches")
    sub.add_argument("--log", metavar="FILE", help="append one JSON line for each fetch")
    sub.add_argument("--json", action="store_true", help="print the result as JSON")
    _add_judging(sub)
    _add_settings(sub)


def _add_judging(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--score", action="store_true", help="judge by what the archive shows")
    sub.add_argument(
        "--compare", metavar="NAMES", help="score several strategies: --compare clock,uniform,nutch"
    )
    sub.add_argument(
        "--budgets", metavar="FACTORS", help="score several budgets: --budgets 0.5x,1x,2x"
    )
    sub.add_argument("--report", type=Path, metavar="FILE", help="write a page with curves (HTML)")
    sub.add_argument(
        "--seeds", type=_count, default=1, metavar="N", help="replays of each, by seed (default: 1)"
    )
    sub.add_argument("--cores", type=_count, metavar="N", help="replays at a time (default: all)")
    sub.add_argument("--warm-up", metavar="TIME", help="not judged (default: the first quarter)")


def _add_tune(commands: "Commands") -> None:
    sub = _add(
        commands,
        "tune",
        _tune,
        "search better settings by replay, and confirm them on a later span",
    )
    sub.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="as for replay")
    sub.add_argument(
        "--vary",
        action="append",
        metavar="RANGE",
        help='what may move: --vary "planning.worth_new 1h..4d" (default: what matters in planning)',
    )
    sub.add_argument("--goal", default="freshness", help="or weighted_freshness (by importance)")
    sub.add_argument("--trials", type=_count, default=40, metavar="N", help="default: 40")
    sub.add_argument("--seeds", type=_count, default=2, metavar="N", help="replays of each (2)")
    sub.add_argument("--for", dest="stop_after", metavar="TIME", help="only the recording's first")
    sub.add_argument(
        "--study", type=Path, default=Path("tune.db"), metavar="FILE", help="to stop and go on from"
    )
    sub.add_argument(
        "--output", type=Path, default=Path("tuned.toml"), metavar="FILE", help="what was found"
    )
    sub.add_argument("--cores", type=_count, metavar="N", help="replays at a time (default: all)")
    sub.add_argument("--config", type=Path, metavar="FILE", help="settings (default: config.toml)")
    sub.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="one setting")


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError(f"want a number from 1 to 1000, got {text}")
    return number


def _positive(text: str) -> float:
    number = float(text)
    if not 0.0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"want a number above 0, got {text}")
    return number


def _add_demo(commands: "Commands") -> None:
    sub = _add(commands, "demo", _demo, "crawl a living shop on loopback, and score the crawl")
    sub.add_argument("--seed", type=int, default=1, help="which shop (default: 1)")
    sub.add_argument(
        "--seconds", type=_positive, default=30.0, help="how long to crawl (default: 30)"
    )
    sub.add_argument(
        "--days", type=_positive, default=14.0, help="shop days in that time (default: 14)"
    )
    sub.add_argument("--database", type=Path, metavar="FILE", help="keep the database here")
    sub.add_argument("--json", action="store_true", help="print the score as JSON")


def _add_plan(commands: "Commands") -> None:
    sub = _add(
        commands, "plan", _plan, "the next tick's picks, with the reason for each; fetches nothing"
    )
    sub.add_argument("--json", action="store_true", help="for programs")
    _add_settings(sub)


def _add_explain(commands: "Commands") -> None:
    sub = _add(
        commands,
        "explain",
        _explain,
        "what is known of a page, when it will be fetched next, or why not",
    )
    sub.add_argument("url", metavar="URL")
    sub.add_argument("--json", action="store_true", help="for programs")
    _add_settings(sub)


def _add_status(commands: "Commands") -> None:
    sub = _add(commands, "status", _status, "what is known, and how the last fetches went")
    sub.add_argument("--json", action="store_true", help="for programs")
    _add_settings(sub)


def _add_export(commands: "Commands") -> None:
    sub = _add(
        commands,
        "export",
        _export,
        "every price, when it was observed, the probability that it holds",
    )
    sub.add_argument("--format", choices=("jsonl", "csv"), default="jsonl", help="default: jsonl")
    sub.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
    sub.add_argument("--gone", action="store_true", help="also offers no longer on their pages")
    _add_settings(sub)


def _add_seed(commands: "Commands") -> None:
    sub = _add(
        commands, "seed", _seed, "add pages from a list of URLs, one a line (- for standard input)"
    )
    sub.add_argument("file", metavar="FILE")
    _add_settings(sub)


def _add_robots(commands: "Commands") -> None:
    sub = _add(commands, "robots", _robots, "may we fetch this URL, and how fast?  Asks the host")
    sub.add_argument("url", metavar="URL")
    sub.add_argument("--json", action="store_true", help="for programs")
    _add_settings(sub)


def _add_extract(commands: "Commands") -> None:
    sub = _add(commands, "extract", _extract, "what a page says: every price, the winner, and why")
    sub.add_argument(
        "pages", nargs="+", metavar="URL|FILE", help=".html or .html.gz files, or web addresses"
    )
    sub.add_argument("--url", metavar="URL", help="the address of a single file's page")
    sub.add_argument("--json", action="store_true", help="one object a page")
    _add_settings(sub)


def _add_config_commands(commands: "Commands") -> None:
    sub = _add(
        commands, "check-config", _check_config, "are the settings right?  Reports every fault"
    )
    _add_settings(sub)
    sub = _add(commands, "show-config", _show_config, "every setting and where its value came from")
    sub.add_argument("--json", action="store_true", help="for programs")
    _add_settings(sub)


# Each command imports what it needs when it is called.


def _run(arguments: Arguments) -> int:
    from crawler.operator.run import run

    return run(arguments)


def _replay(arguments: Arguments) -> int:
    from crawler.operator.replay import replay

    return replay(arguments)


def _tune(arguments: Arguments) -> int:
    from crawler.operator.tune import tune_command

    return tune_command(arguments)


def _demo(arguments: Arguments) -> int:
    from crawler.operator.demo import demo

    return demo(arguments)


def _plan(arguments: Arguments) -> int:
    from crawler.operator.plan import plan

    return plan(arguments)


def _explain(arguments: Arguments) -> int:
    from crawler.operator.explain import explain

    return explain(arguments)


def _status(arguments: Arguments) -> int:
    from crawler.operator.status import status

    return status(arguments)


def _export(arguments: Arguments) -> int:
    from crawler.operator.export import export

    return export(arguments)


def _seed(arguments: Arguments) -> int:
    from crawler.operator.seed import seed

    return seed(arguments)


def _robots(arguments: Arguments) -> int:
    from crawler.operator.robots import robots

    return robots(arguments)


def _extract(arguments: Arguments) -> int:
    from crawler.operator.extract import extract

    return extract(arguments)


def _check_config(arguments: Arguments) -> int:
    from crawler.operator.config_commands import check_config
    from crawler.operator.settings import config_path, flags

    return check_config(
        config_path(arguments),
        environment=os.environ,
        flags=flags(arguments),
        out=sys.stdout,
        err=sys.stderr,
    )


def _show_config(arguments: Arguments) -> int:
    from crawler.operator.config_commands import show_config
    from crawler.operator.settings import config_path, flags

    return show_config(
        config_path(arguments),
        environment=os.environ,
        flags=flags(arguments),
        as_json=arguments.json,
        out=sys.stdout,
        err=sys.stderr,
    )


def _version(_: Arguments) -> int:
    from crawler import __version__

    sys.stdout.write(f"freshet {__version__}\n")
    return 0
