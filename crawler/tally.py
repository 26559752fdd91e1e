"""Counts of what a run did, for progress lines and the closing summary."""

from collections import Counter
from dataclasses import dataclass, field, replace

from crawler.fetching.outcome import MEANING, Fault, Outcome


@dataclass(slots=True)
class Tally:
    """Everything counted since the run began."""

    fetches: int = 0
    believed: int = 0
    failed: int = 0
    changed: int = 0
    discovered: int = 0
    offers: int = 0
    wire_bytes: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)

    def count_fetch(self, outcome: Outcome, *, changed: bool, wire_bytes: int) -> None:
        self.fetches += 1
        self.outcomes[outcome] += 1
        self.believed += MEANING[outcome].teaches_change
        self.failed += MEANING[outcome].fault in (Fault.HOST, Fault.PAGE)
        self.changed += changed
        self.wire_bytes += wire_bytes

    def count_refusal(self, outcome: Outcome) -> None:
        """Not fetched at all: robots.txt, a Crawl-delay too long."""
        self.outcomes[outcome] += 1

    def copy(self) -> "Tally":
        return replace(self, outcomes=self.outcomes.copy())
