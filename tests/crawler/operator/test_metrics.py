"""The numbers of a running crawl, as Prometheus reads them."""

import re
import signal
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.crawl import Summary, crawl
from crawler.fetching.transport import Transport
from crawler.operator.metrics import Metrics, each
from tests.crawler.operator.small_shop import shop, small_config
from tests.fakes import STARTED_AT, FakeTransport
from tests.processes import FAST, ROOT, served, small_shop, start

SAMPLE = re.compile(
    r'(freshet_[a-z_]+)(\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})? (\S+)'
)
COMMENT = re.compile(r"# (HELP freshet_[a-z_]+ .+|TYPE freshet_[a-z_]+ (counter|gauge|histogram))")


def samples(text: str) -> dict[str, float]:
    """Name and labels -> value; every line must be a comment or a sample."""
    found = {}
    for line in text.splitlines():
        if COMMENT.fullmatch(line):
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        found[match[1] + (match[2] or "")] = float(match[3])
    return found


def measured(config: Config) -> tuple[Summary, str]:
    """A virtual crawl, and what would be scraped at its end."""

    async def main() -> tuple[Summary, str]:
        clock = Clock(STARTED_AT)
        metrics = Metrics(clock)

        @asynccontextmanager
        async def open_fake(_: Config, __: Clock) -> AsyncIterator[Transport]:
            yield FakeTransport(clock, shop)

        summary = await crawl(
            config,
            clock=clock,
            open_transport=open_fake,
            report=metrics.report,
            started=metrics.watch,
        )
        return summary, metrics.text()

    return run_virtual(main())


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Summary, str]:
    return measured(small_config(tmp_path_factory.mktemp("metrics") / "test.db"))


def test_the_counts_are_those_of_the_crawl(scraped: tuple[Summary, str]) -> None:
    tally, found = scraped[0].tally, samples(scraped[1])
    for outcome, count in tally.outcomes.items():
        assert found[f'freshet_fetches_total{{outcome="{outcome}"}}'] == count
    assert found["freshet_changes_total"] == tally.changed > 0
    assert found["freshet_discoveries_total"] == tally.discovered == found["freshet_pages"]
    assert found["freshet_pages_kept_fresh"] == 8


def test_the_histogram_counts_every_fetch_once(scraped: tuple[Summary, str]) -> None:
    found = samples(scraped[1])
    buckets = [value for name, value in found.items() if name.startswith("freshet_fetch_seconds_b")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == found["freshet_fetch_seconds_count"] == scraped[0].tally.fetches
    assert found['freshet_fetch_seconds_bucket{le="0.05"}'] == 0
    mean = found["freshet_fetch_seconds_sum"] / found["freshet_fetch_seconds_count"]
    assert mean == pytest.approx(0.1)  # the fake takes so long


def test_freshness_budget_and_hosts_are_told(scraped: tuple[Summary, str]) -> None:
    found = samples(scraped[1])
    assert 0.8 < found["freshet_expected_freshness"] < 1.0
    by_site = found['freshet_site_expected_freshness{site="test"}']
    assert by_site == found["freshet_expected_freshness"]
    assert found['freshet_budget_limit{window="3600"}'] == 60
    assert 0 < found['freshet_budget_used{window="3600"}'] <= 60
    assert (found["freshet_hosts"], found["freshet_hosts_blocked"]) == (2, 1)
    assert found['freshet_signal_precision{site="test",kind="lastmod"}'] > 0.7
    assert found['freshet_strategy_weight{strategy="clock"}'] == 1.0


def test_no_label_holds_a_url(scraped: tuple[Summary, str]) -> None:
    assert "http" not in scraped[1]
    assert "/" not in scraped[1]


def test_a_label_may_hold_any_text() -> None:
    family = each("x", "gauge", "help", [({"site": 'a "quoted" \\ name\n'}, 1.0)])
    assert list(family.lines())[-1] == r'freshet_x{site="a \"quoted\" \\ name\n"} 1.0'
    samples("\n".join(family.lines()))


def test_every_metric_is_in_the_docs(scraped: tuple[Summary, str]) -> None:
    docs = (ROOT / "docs" / "operating.md").read_text()
    names = re.findall("^# TYPE (freshet_[a-z_]+)", scraped[1], re.MULTILINE)
    assert len(names) > 10
    assert [name for name in names if f"`{name}`" not in docs] == []


def test_a_running_crawl_can_be_scraped(tmp_path: Path) -> None:
    with served(small_shop(5), delay=0.05) as site:
        process = start("run", site.url, *FAST, "--set", "metrics.port=0", folder=tmp_path)
        assert process.stderr is not None
        told = process.stderr.readline()
        url = told.removeprefix("metrics at ").strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", url), told
        with urllib.request.urlopen(url, timeout=10.0) as reply:
            samples(reply.read().decode())
            assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(url.removesuffix("metrics"), timeout=10.0)
        taken = url.rpartition(":")[2].removesuffix("/metrics")
        other = start(
            *("run", site.url, *FAST, "--set", f"metrics.port={taken}", "--database", "o.db"),
            folder=tmp_path,
        )
        _, refused = other.communicate(timeout=30.0)
        assert other.returncode == 1
        assert f"metrics.port {taken}: " in refused
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30.0)
    assert process.returncode == 130
