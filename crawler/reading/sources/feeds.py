"""What RSS and Atom records say: which page, and when it changed."""

from dataclasses import dataclass

from crawler.reading.sources.times import parse_time
from crawler.reading.sources.xml_records import Record

RECORDS = frozenset({"item", "entry"})
ROOTS = frozenset({"rss", "feed", "rdf"})

# A change is worth more than a birth: updated before published.  `*` marks Dublin Core and Atom inside RSS.
_TIMES = (
    "updated",
    "modified",
    "*updated",
    "*modified",
    "pubdate",
    "published",
    "issued",
    "*date",
    "date",
)
_LINKS = ("link", "*origlink", "*link", "guid", "id")


@dataclass(frozen=True, slots=True)
class FeedItem:
    """A page's address as the feed spells it, and the latest time it gives."""

    href: str
    changed_at: float | None


def read_item(record: Record) -> FeedItem | None:
    """None for a record that names no page."""
    fields = record.fields
    href = next((fields[name] for name in _LINKS if fields.get(name)), None)
    if href is None:
        return None
    times = (parse_time(fields.get(name)) for name in _TIMES)
    return FeedItem(href, next((time for time in times if time is not None), None))
