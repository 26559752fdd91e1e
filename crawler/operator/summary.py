"""The closing lines of a run."""

from collections.abc import Iterator

from crawler.crawl import Summary
from crawler.fetching.outcome import MEANING, Fault


def summary_lines(summary: Summary) -> Iterator[str]:
    tally = summary.tally
    yield f"finished: {summary.finish}"
    yield (
        f"{tally.fetches} fetches in {summary.duration:.1f} s, {tally.wire_bytes / 1e6:.1f} MB; "
        f"{tally.discovered} pages found, {tally.offers} new offers, {tally.changed} changes"
    )
    for outcome, count in tally.outcomes.most_common():
        meaning = MEANING[outcome]
        fault = "" if meaning.fault is Fault.NOBODY else f" (at fault: {meaning.fault})"
        yield f"  {count:7} {outcome}{fault}: {meaning.next}"
