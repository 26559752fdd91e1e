"""The way from a URL to its page, for a few pages and for many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crawler.planning.table
from crawler.planning.table import PageTable
from storage.pages import PAGE_COLUMNS, STATE_COLUMNS, KnownPages

HASHES = st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=60)


def known(hashes: list[int], *, first_id: int = 1, gap: int = 1) -> KnownPages:
    ids = range(first_id, first_id + gap * len(hashes), gap)
    pages = np.zeros(len(hashes), PAGE_COLUMNS)
    pages["id"], pages["url_hash"] = list(ids), hashes
    pages["host_id"] = pages["site_id"] = 1
    states = np.array([(ids[0], 50.0, 60.0)] if hashes else [], STATE_COLUMNS)
    return KnownPages(pages, states)


@given(HASHES, st.integers(0, 60), st.integers(1, 3))
@settings(max_examples=50)
def test_every_page_is_found_whether_stored_before_or_added_since(
    hashes: list[int], stored: int, gap: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crawler.planning.table, "_MERGE_AT", 7)  # merges happen in this test
        table = PageTable(known(hashes[:stored], gap=gap))
        new = {h: table.add(h, site=1, host=1, depth=0, pattern=0) for h in hashes[stored:]}
    old = {h: 1 + gap * n for n, h in enumerate(hashes[:stored])}
    assert table.find_many(hashes).tolist() == [{**old, **new}[h] for h in hashes]
    assert len(set({**old, **new}.values())) == len(hashes)
    assert len(table) == len(hashes)
    absent = [h ^ 1 for h in hashes if h ^ 1 not in hashes]
    assert not table.find_many(absent).any()


def test_what_is_known_of_a_page_survives_growth() -> None:
    table = PageTable()
    for number in range(5_000):
        page_id = table.add(number, site=2, host=3, depth=number % 100, pattern=4)
        table.fetched_at[page_id] = number
    assert table.fetched_at[1:5_001].tolist() == list(range(5_000))
    assert table.depth[5_000] == 99
    assert set(table.host[1:5_001].tolist()) == {3}


def test_a_restart_goes_on_with_the_next_id_and_the_last_state() -> None:
    table = PageTable(known([10, 20, 30], first_id=7))
    assert (table.fetched_at[7], table.not_before[7]) == (50.0, 60.0)
    assert table.add(40, site=1, host=1, depth=0, pattern=0) == 10


def test_an_id_that_was_never_stored_is_no_page() -> None:
    table = PageTable(known([10, 20], gap=5))
    assert len(table) == 2
    assert table.host[2] == -1
