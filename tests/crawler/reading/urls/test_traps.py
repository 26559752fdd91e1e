"""Addresses without end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.urls.traps import Trap, TrapRules, trap

S = "https://shop.example"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/" + "x" * 1100, Trap.TOO_LONG),
        ("/" + "/".join("abcdefghijklmnopq"), Trap.TOO_DEEP),
        ("/shop/shop/shop/1", Trap.REPEATED_SEGMENTS),
        ("/x/a/b/a/b/a/b", Trap.REPEATED_SEGMENTS),
        ("/a?sid=0123456789abcdef01", Trap.SESSION_ID),
        ("/a?my_session=f81d4fae7dec11d0a76500a0c91e6bf6", Trap.SESSION_ID),
        ("/(S(lit3py55t21z5v55vlm25s55))/a", Trap.SESSION_ID),
        ("/a;s=0123456789abcdef01", Trap.SESSION_ID),
        ("/l?color=red&size=9&brand=x&sort=price&dir=asc", Trap.FACETS),
        ("/l?color=red,blue,green&size=8%2C9", Trap.FACETS),
        ("/l?f[]=a&f[]=b&f[]=c&f[]=d&f[]=e", Trap.FACETS),
    ],
)
def test_a_trap_has_a_name(path: str, reason: Trap) -> None:
    assert trap(S + path) is reason


@pytest.mark.parametrize(
    "path",
    ["/", "/p/red-boot-1", "/a/b/a/b", "/1/1", "/l?color=red&size=9", "/l?id=1&page=2&q=x&lang=de&cat=5&sku=7&v=3",
     "/2024/05/12/news", "/a?sid=shoes", "/a?id=0123456789abcdef0123"],
)  # fmt: skip
def test_ordinary_addresses_pass(path: str) -> None:
    assert trap(S + path, source=S + "/p") is None


@pytest.mark.parametrize(
    ("source", "path", "grows"),
    [
        ("/men/shoes", "/men/shoes/shoes", True),
        ("/men/shoes", "/men/shoes/men/shoes", True),
        ("/men/shoes", "/men/shoes/boots", False),
        ("/men", "/men/men", False),
        ("/men/shoes", "/women/shoes", False),
    ],
)
def test_a_path_that_grows_by_its_own_end_is_a_broken_link(
    source: str, path: str, grows: bool
) -> None:
    assert (trap(S + path, source=S + source) is Trap.GROWING_PATH) == grows


@pytest.mark.parametrize(
    "path", ["/cal/2031/05", "/cal/2031-05-07", "/cal?month=5&year=2031", "/e?date=2031-05-07"]
)
def test_a_calendar_is_left_after_its_first_pages(path: str) -> None:
    assert trap(S + path, pattern_pages=10) is None
    assert trap(S + path, pattern_pages=200) is Trap.CALENDAR


def test_caps_per_pattern_and_per_host_count_what_is_known() -> None:
    rules = TrapRules(pages_per_pattern=5, pages_per_host=9)
    assert trap(S + "/a", pattern_pages=4, host_pages=8, rules=rules) is None
    assert trap(S + "/a", pattern_pages=5, rules=rules) is Trap.PATTERN_CAP
    assert trap(S + "/a", host_pages=9, rules=rules) is Trap.HOST_CAP


@given(st.text(), st.one_of(st.none(), st.text()))
def test_no_address_raises(url: str, source: str | None) -> None:
    trap(url, source=source)
    trap(f"https://shop.example/{url}", source=source, pattern_pages=1000)


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), st.integers(5, 40))
def test_no_endless_repetition_escapes(cycle: list[str], times: int) -> None:
    assert trap(f"{S}/{'/'.join(cycle * times)}") is not None
