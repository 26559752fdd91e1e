"""Archives for tests: crawls of the simulated shop recorded by our own recorder, and WARC text by hand."""

import gzip
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from crawler.archives.index import ArchiveIndex, open_index
from crawler.archives.record import RecordingTransport, WarcFiles, settings_text
from crawler.archives.replay import choose_sites, replay
from crawler.clock import Clock, run_virtual
from crawler.config import Config
from crawler.crawl import Summary, crawl
from crawler.fetching.transport import Transport
from crawler.operator.replay import as_rows
from crawler.shop.settings import varied_shop
from crawler.shop.transport import ShopTransport
from crawler.shop.world import ShopWorld
from tests.fakes import STARTED_AT, config_for

DATE = "2024-03-01T12:00:00Z"


def shop_config(database: Path, world: ShopWorld, *, days: float = 1.0, **tables: Any) -> Config:
    """So many days of a gentle crawl of every site of a world; every hour is a tick."""
    start = [f"http://{site.host}/" for site in world.sites]
    tables.setdefault("budget", {"per_hour": 40})
    times = {"tick": "1h", "revisit": "6h", "stop_after": f"{days}d"}
    crawl_table = {**times, **tables.pop("crawl", {})}
    return config_for(database, start, crawl=crawl_table, **tables)


def small_world(*, days: float = 4.0, sites: int = 2, offers: int = 12) -> ShopWorld:
    return ShopWorld(
        varied_shop(starts_at=STARTED_AT, days=days, sites=sites, offers=offers), seed=3
    )


def record_shop(
    folder: Path, config: Config, world: ShopWorld, *, max_size: int = 1_000_000_000
) -> Summary:
    """Crawls a world in virtual time and records all of it."""

    @asynccontextmanager
    async def open_recorded(config: Config, clock: Clock) -> AsyncIterator[Transport]:
        files = WarcFiles(folder, settings=settings_text(config), max_size=max_size)
        try:
            yield RecordingTransport(ShopTransport(world, clock), files, clock)
        finally:
            files.close()

    async def main() -> Summary:
        return await crawl(config, clock=Clock(STARTED_AT), open_transport=open_recorded)

    return run_virtual(main())


def replay_config(database: Path, index: ArchiveIndex, **tables: Any) -> Config:
    """Settings for a replay that starts where the archive does."""
    config = config_for(database, ["http://nowhere.test/"], **tables)
    return choose_sites(config, index, ())


def response(
    url: str,
    body: bytes = b"<p>hello",
    *,
    date: str = DATE,
    head: str = "HTTP/1.1 200 OK\r\nContent-Type: text/html",
    kind: str = "response",
    fields: str = "",
) -> bytes:
    """One WARC record, by hand: what a recorder other than ours may have written."""
    block = head.encode() + b"\r\n\r\n" + body
    return (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: {date}\r\n{fields}"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    ).encode() + block


def warc(*records: bytes, zipped: bool = True) -> bytes:
    whole = [record + b"\r\n\r\n" for record in records]
    return b"".join(gzip.compress(record) if zipped else record for record in whole)


def index_of(folder: Path, data: bytes, name: str = "test.warc.gz") -> ArchiveIndex:
    path = folder / name
    path.write_bytes(data)
    return open_index([path])


GOLDEN = Path(__file__).parent / "crawler" / "archives" / "golden"


def golden_report(folder: Path) -> dict[str, object]:
    """What replaying the golden archive comes to, with settings that spend a small budget."""
    path = Path(shutil.copy(GOLDEN / "shop.warc.gz", folder))  # the index is kept beside it
    index = open_index([path])
    tables = {"crawl": {"tick": "1h", "revisit": "3h"}, "budget": {"per_hour": 8}}
    return as_rows(replay(replay_config(folder / "golden.db", index, **tables), index), index)


def make_golden() -> None:
    """Records the archive anew if there is none, and writes its report: `python -m tests.recordings`."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not (GOLDEN / "shop.warc.gz").exists():
            world = small_world(sites=1, offers=5)
            config = shop_config(
                folder / "a.db", world, days=1.25, budget={"per_hour": 3}, crawl={"revisit": "8h"}
            )
            record_shop(folder / "w", config, world)
            (made,) = (folder / "w").iterdir()
            GOLDEN.mkdir(exist_ok=True)
            shutil.copy(made, GOLDEN / "shop.warc.gz")
        text = json.dumps(golden_report(folder), indent=2)
        (GOLDEN / "report.json").write_text(text + "\n")


if __name__ == "__main__":
    make_golden()
