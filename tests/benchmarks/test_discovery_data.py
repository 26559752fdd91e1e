"""The reader of the recorded news pages, on a recording of six links."""

import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.discovery_data import news, news_sites, warm_up_ticks

HOUR = 3600


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> str:
    """Three sources of two sites, three rounds of which the last comes after eight days."""
    rounds = [1000 + HOUR, 1000 + 2 * HOUR, 1000 + 8 * 24 * HOUR]
    (tmp_path / "discovery").mkdir()
    tables = {
        "sources": {"source": [0, 1, 2], "site": ["a", "b", "a"]},
        "fetches": {"source": [0, 0, 0], "t_commit": rounds},
        "links": {
            "source": [0, 0, 1, 2, 2, 2],
            "url": [50, 60, 50, 70, 50, 50],
            "t_first": [rounds[0] - 9, rounds[1] - 9, *([rounds[0] - 5] * 3), rounds[2]],
            "t_last": [
                rounds[0] - 9,
                rounds[2] - 9,
                rounds[1] - 5,
                *([rounds[0] - 5] * 2),
                rounds[2],
            ],
        },
    }
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), tmp_path / "discovery" / f"news_{name}.parquet")
    return str(tmp_path)


def test_a_fetch_of_a_round_sees_the_links_of_that_round(folder: str) -> None:
    world = news(folder)
    shown = [[world.shown(source, tick).tolist() for tick in range(3)] for source in range(3)]
    assert shown == [[[0], [1], [1]], [[0], [0], []], [[2, 0], [], [0]]]
    assert world.appeared.tolist() == [0, 1, 0]
    assert warm_up_ticks(world) == 2


def test_a_site_is_a_world_of_its_own_sources(folder: str) -> None:
    worlds = news_sites(folder, at_least=2)
    assert list(worlds) == ["a"]
    assert worlds["a"].n_sources == 2
    assert worlds["a"].shown(1, 0).tolist() == [2, 0]


def test_a_missing_recording_is_named() -> None:
    with pytest.raises(SystemExit, match=r"discovery/news_sources\.parquet"):
        news("nowhere")
