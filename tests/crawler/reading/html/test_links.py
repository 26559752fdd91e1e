"""The links of a page."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.html import parse_html
from crawler.reading.html.links import LinkRules, Links, read_links

URL = "https://shop.example/men/shoes"


def links(page: str | bytes, **rules: int) -> Links:
    return read_links(parse_html(page), URL, LinkRules(**rules))  # type: ignore[arg-type]


def test_outlinks_are_canonical_unique_and_in_page_order() -> None:
    page = '<a href="b">1</a><a href=/a#x>2</a><area href=/c><a href="/men/b">3</a><a href="#top"><a name=x>'
    assert links(page).outlinks == (
        "https://shop.example/men/b",
        "https://shop.example/a",
        "https://shop.example/c",
    )


def test_a_base_moves_relative_links() -> None:
    page = '<base href="//cdn.example/deep/"><a href=x></a><a href="/y"></a>'
    assert links(page).outlinks == ("https://cdn.example/deep/x", "https://cdn.example/y")
    assert links("<base href='mailto:x'><a href=x></a>").outlinks == ("https://shop.example/men/x",)


def test_what_is_dropped_has_a_reason_and_a_count() -> None:
    page = (
        "<a href='mailto:x'></a><a href='tel:1'></a><a href='http://['></a><a href='/n' rel='x NoFollow'></a>"
        f"<a href='/{'x' * 3000}'></a><a href=/1></a><a href=/2></a><a href=/3></a>"
    )
    found = links(page, max_links=2)
    assert found.outlinks == ("https://shop.example/1", "https://shop.example/2")
    assert found.dropped == {
        "not_http": 2,
        "malformed": 1,
        "too_long": 1,
        "nofollow": 1,
        "over_cap": 1,
    }


def test_nofollow_can_be_ignored() -> None:
    page = "<meta name=Robots content='index, NOFOLLOW'><a rel=nofollow href=/n></a>"
    assert links(page) == Links(follow=False)
    assert links(page, obey_nofollow=False).outlinks == ("https://shop.example/n",)
    assert links("<meta name=robots content=none><a href=/n></a>").follow is False


def test_a_part_of_an_image_can_ask_not_to_be_followed() -> None:
    found = links("<map><area rel='noopener NoFollow' href=/a><area href=/b></map>")
    assert found == Links(outlinks=("https://shop.example/b",), dropped={"nofollow": 1})


def test_a_nofollow_without_an_href_drops_nothing() -> None:
    found = links("<a rel=nofollow>x</a><a href=/b>y</a>")
    assert found == Links(outlinks=("https://shop.example/b",))


def test_the_head_names_the_page_its_feeds_and_its_neighbours() -> None:
    page = """<head><link rel=canonical href="/men/shoes?utm_source=x">
        <link rel="alternate" type="application/rss+xml" href="/feed"><link rel=alternate hreflang=de href=/de>
        <link rel=next href="?page=2"><link rel=stylesheet href=/css></head>"""
    assert links(page) == Links(
        outlinks=("https://shop.example/men/shoes?page=2",),
        feeds=("https://shop.example/feed",),
        canonical=URL,
    )


def test_two_canonicals_that_differ_say_nothing() -> None:
    assert links("<link rel=canonical href=/a><link rel=canonical href=/b>").canonical is None
    assert links("<link rel=canonical href=/a><link rel=canonical href=/a#x>").canonical is not None


def test_a_canonical_in_the_body_is_not_believed() -> None:
    assert links("<body><p>review<link rel=canonical href=/evil>").canonical is None


@given(
    st.lists(
        st.one_of(
            st.text(),
            st.sampled_from(
                ["<base href='", "'>", "<a href=", "<link rel=canonical href=", " rel=next>"]
            ),
        )
    )
)
def test_no_page_makes_link_reading_fail(pieces: list[str]) -> None:
    found = links("".join(pieces))
    assert all(url.startswith(("http://", "https://")) for url in found.outlinks)
