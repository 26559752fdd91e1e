"""Pages of a kind share a pattern."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.urls.patterns import url_pattern


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", "/"),
        ("/p/red-boot-1234.html?size=9&color=red", "/p/{slug}-{n}.html?color&size"),
        ("/1234-red-boot", "/{n}-{slug}"),
        ("/dress-p03697272.html", "/{slug}-{n}.html"),
        ("/en-us/c/shoes/", "/en-us/c/shoes/"),
        ("/dp/B08N5WRWNW", "/dp/{id}"),
        ("/item/77", "/item/{n}"),
        ("/p77", "/p{n}"),
        ("/2024/05/some-news", "/{year}/{n}/{slug}"),
        ("/cal/2024-05-12", "/cal/{date}"),
        ("/x/550e8400-e29b-41d4-a716-446655440000", "/x/{id}"),
        ("/caf%C3%A9", "/{slug}"),
    ],
)
def test_ids_dates_and_slugs_are_generalised(path: str, pattern: str) -> None:
    assert url_pattern("https://t.example:81" + path) == "t.example:81" + pattern


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_products_that_differ_in_their_number_share_a_pattern(one: int, other: int) -> None:
    assert url_pattern(f"https://s.example/p/boot-{one}.html") == url_pattern(
        f"https://s.example/p/boot-{other}.html"
    )


@given(st.text(max_size=3000))
def test_any_address_has_a_short_pattern(text: str) -> None:
    assert len(url_pattern(f"https://s.example/{text}")) < 1000
    url_pattern(text)
