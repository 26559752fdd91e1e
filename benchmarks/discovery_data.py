"""The recorded news pages as a world of links: 138 sources of 12 sites, seen about hourly for six weeks.

Files are those of the recordings folder, in `discovery/`.  Ticks are the recorded rounds; a round that
failed is a longer tick.  A link seen in several spells is several intervals, so a crawl sees it only when
it was there.
"""

import numpy as np
import pyarrow.parquet as pq

from benchmarks.common import recording
from policies.discovery.exposure import Bools, Floats, Ints
from policies.simulation.discovery import LinkWorld, link_world

UTC_OFFSET = 3600.0  # all sites are German
WARM_UP = 7 * 86_400.0


def news(folder: str) -> LinkWorld:
    """All sources as one world."""
    return _world(folder, np.ones(len(_sites(folder)), np.bool_))


def news_sites(folder: str, *, at_least: int) -> dict[str, LinkWorld]:
    """A world for each site with that many sources; one recorded site never showed a link."""
    sites = _sites(folder)
    names, counts = np.unique(sites, return_counts=True)
    worlds = {str(name): _world(folder, sites == name) for name in names[counts >= at_least]}
    return {name: world for name, world in worlds.items() if len(world.target)}


def warm_up_ticks(world: LinkWorld) -> int:
    """Ticks in the first week."""
    return int(np.searchsorted(world.tick_at, world.tick_at[0] + WARM_UP))


def _sites(folder: str) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    table = pq.read_table(recording(folder, "discovery/news_sources.parquet"))
    by_source = dict(zip(table["source"].to_pylist(), table["site"].to_pylist(), strict=True))
    return np.array([by_source[source] for source in range(len(by_source))], np.str_)


def _world(folder: str, chosen: Bools) -> LinkWorld:
    """The chosen sources, renumbered from 0."""
    fetches = pq.read_table(recording(folder, "discovery/news_fetches.parquet"))
    links = pq.read_table(recording(folder, "discovery/news_links.parquet"))
    rounds: Floats = np.unique(fetches["t_commit"].to_numpy()).astype(np.float64)
    source: Ints = links["source"].to_numpy().astype(np.int64)
    held = chosen[source]
    # A page is fetched within the minutes before its round is committed.
    first, last = (
        np.searchsorted(rounds, links[name].to_numpy()) for name in ("t_first", "t_last")
    )
    return link_world(
        tick_at=rounds,
        n_sources=int(chosen.sum()),
        source=(np.cumsum(chosen) - 1)[source[held]],
        target=links["url"].to_numpy()[held].astype(np.int64),
        first=first[held],
        last=last[held],
    )
