"""Which URLs become pages: scope, depth, caps, and never the same one twice."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from crawler.config.model import SiteSettings
from crawler.planning.admission import Admission, Hosts, Patterns
from crawler.planning.scope import OutOfScope, Scope
from crawler.planning.table import PageTable
from storage.rows import Batch


class World:
    """An admission over an empty table."""

    def __init__(self, **site: Any) -> None:
        settings = SiteSettings.model_validate({"start": ["http://a.test/"], **site})
        self.table, self.hosts = PageTable(), Hosts()
        self.batch = Batch()
        self.admission = Admission(
            Scope({1: settings}),
            self.table,
            self.hosts,
            patterns=Patterns({}, np.zeros(0, np.int64)),
            site_pages={},
        )

    def admit(self, *urls: str, depth: int = 0) -> list[str]:
        new = self.admission.admit(
            urls, self.batch, how="link", source_id=None, depth=depth, now=1.0
        )
        return [row.url for row in new]

    @property
    def dropped(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for row in self.batch.dropped:
            counts[row.reason] += row.links
        return counts


def test_a_url_becomes_a_page_once() -> None:
    world = World()
    assert world.admit("http://a.test/1", "http://a.test/1", "http://a.test/2") == [
        "http://a.test/1",
        "http://a.test/2",
    ]
    assert world.admit("http://a.test/2", "http://a.test/3") == ["http://a.test/3"]
    assert [row.id for row in world.batch.pages] == [1, 2, 3]


def test_other_hosts_are_counted_not_followed() -> None:
    world = World(hosts=["cdn.test"])
    assert world.admit("http://other.test/", "http://cdn.test/x", "http://a.test.evil/") == [
        "http://cdn.test/x"
    ]
    assert world.dropped == {OutOfScope.HOST: 2}


def test_include_and_exclude_are_searched_in_the_url() -> None:
    world = World(include=["/lamp/"], exclude=["colour=red"])
    urls = ["http://a.test/lamp/1", "http://a.test/lamp/1?colour=red", "http://a.test/chair/1"]
    assert world.admit(*urls) == ["http://a.test/lamp/1"]
    assert world.dropped == {OutOfScope.EXCLUDED: 1, OutOfScope.NOT_INCLUDED: 1}


def test_a_page_too_deep_is_taken_when_a_shorter_way_to_it_is_found() -> None:
    world = World(max_depth=2)
    assert world.admit("http://a.test/x", depth=3) == []
    assert world.dropped == {OutOfScope.DEPTH: 1}
    assert world.admit("http://a.test/x", depth=2) == ["http://a.test/x"]


def test_a_site_is_full_at_its_cap() -> None:
    world = World(max_pages=3)
    assert len(world.admit(*(f"http://a.test/{n}" for n in range(10)))) == 3
    assert world.dropped == {OutOfScope.SITE_FULL: 7}


@pytest.mark.parametrize("depth", [32_767, 32_768, 1_000_000])
def test_an_endless_chain_of_pages_does_not_overflow_the_depth(depth: int) -> None:
    world = World()
    assert world.admit("http://a.test/page/99999", depth=depth) == ["http://a.test/page/99999"]
    assert world.batch.pages[0].depth == 32_767
    assert world.table.depth[1] == 32_767


def test_a_new_host_is_stored_with_its_first_page() -> None:
    world = World(hosts=["b.test"])
    world.admit("http://a.test/1", "http://b.test/1", "http://a.test/2")
    unstored = world.admission.take_unstored()
    assert [(row.id, row.name) for row in unstored.hosts] == [(1, "a.test"), (2, "b.test")]
    assert [row.host_id for row in world.batch.pages] == [1, 2, 1]
    assert world.admission.take_unstored().hosts == []


def test_the_first_site_that_names_a_host_owns_it() -> None:
    sites = [
        SiteSettings.model_validate({"start": [f"http://{h}.test/"], "hosts": ["c.test"]})
        for h in "ab"
    ]
    scope = Scope(dict(enumerate(sites, start=1)))
    owners = [scope.site_of_host(f"{h}.test") for h in "abcd"]
    assert [owner.site_id if owner else None for owner in owners] == [1, 2, 1, None]
