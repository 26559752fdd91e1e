"""CPU, speed and memory of a whole crawl of one local site: this crawler, Scrapy, Crawlee and a bare loop.

Each crawler runs in a process of its own, one after the other, `--repeat` times around; the medians are shown.
CPU is what counts: the machine's other work and the server's share move pages/s about.  Then every page is
asked for again, unchanged, to tell what a 304 costs.
"""

import contextlib
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

from benchmarks.common import Row, flags, show
from benchmarks.rivals.job import Used

ROOT = pathlib.Path(__file__).parent.parent
PEERS = {"scrapy": "scrapy_parsel", "crawlee": "crawlee_parsel"}


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl by one rival."""

    rival: str
    refresh: bool
    used: Used


@contextlib.contextmanager
def served(pages: int, seed: int) -> Iterator[int]:
    """The local site in a process of its own; gives its port."""
    command = [sys.executable, "-m", "benchmarks.local_site", f"--pages={pages}", f"--seed={seed}"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.kill()


def run_rival(rival: str, port: int, database: pathlib.Path, *, refresh: bool = False) -> Run:
    command = [sys.executable, "-m", f"benchmarks.rivals.{rival}"]
    command += [f"--port={port}", f"--database={database}"] + ["--refresh"] * refresh
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return Run(rival, refresh, Used(**json.loads(done.stdout.splitlines()[-1])))


def race(rivals: list[str], port: int, repeat: int) -> Iterator[Run]:
    """Every rival in turn, `repeat` times around, each on a fresh database."""
    for _ in range(repeat):
        for rival in rivals:
            with tempfile.TemporaryDirectory() as folder:
                database = pathlib.Path(folder) / "crawl.db"
                yield run_rival(rival, port, database)
                if rival in ("freshet", "bare_loop"):
                    yield run_rival(rival, port, database, refresh=True)


def medians(runs: list[Run], pages: int) -> Row:
    """One line of the table.  What a first pass fetches beside the site's pages (sitemaps) is part of its cost."""
    if runs[0].refresh:
        pages = int(statistics.median(run.used.pages for run in runs))
    cpu = statistics.median(run.used.cpu for run in runs) / pages
    return {
        "crawler": runs[0].rival,
        "pass": "304" if runs[0].refresh else "first",
        "pages": pages,
        "cpu_s_per_1000": cpu * 1000,
        "pages_per_s": pages / statistics.median(run.used.seconds for run in runs),
        "peak_mb": statistics.median(run.used.peak_bytes for run in runs) / 1e6,
        "planning_share": statistics.median(run.used.planning_cpu / run.used.cpu for run in runs),
        "reading_share": statistics.median(run.used.reading_cpu / run.used.cpu for run in runs),
    }


def with_ratios(rows: list[Row]) -> list[Row]:
    """How much CPU each takes for one second of ours, pass by pass."""
    ours = {
        row["pass"]: float(row["cpu_s_per_1000"]) for row in rows if row["crawler"] == "freshet"
    }
    return [{**row, "cpu_ratio": float(row["cpu_s_per_1000"]) / ours[row["pass"]]} for row in rows]


def installed_rivals() -> list[str]:
    """Ours, the bare loop, and those of the peers that are there."""
    rivals = ["freshet", "bare_loop"]
    for package, rival in PEERS.items():
        if importlib.util.find_spec(package):
            rivals.append(rival)
        else:
            sys.stderr.write(
                f'{package} is not installed: left out; pip install "freshet[peers]"\n'
            )
    return rivals


def main() -> None:
    parser = flags(__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--repeat", type=int, default=3)
    names = ["freshet", "bare_loop", *PEERS.values()]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="CRAWLER")
    arguments = parser.parse_args()
    rivals = [rival for rival in installed_rivals() if rival in {*arguments.only, "freshet"}]
    groups: dict[tuple[bool, str], list[Run]] = {}
    with served(arguments.pages, arguments.seed) as port:
        for run in race(rivals, port, arguments.repeat):
            groups.setdefault((run.refresh, run.rival), []).append(run)
    rows = [medians(groups[key], arguments.pages) for key in sorted(groups)]
    show(with_ratios(rows), as_json=arguments.json)


if __name__ == "__main__":
    main()
