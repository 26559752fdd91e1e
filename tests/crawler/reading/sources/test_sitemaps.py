"""Sitemaps and feeds, well made, badly made and made to hurt."""

import gzip
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.facts import SourceEntry, SourceFacts
from crawler.reading.sources.sitemaps import (
    SourceCaps,
    looks_like_source,
    next_sources,
    read_source,
    robots_sitemaps,
)
from crawler.reading.sources.times import parse_time

URL = "https://shop.example/sitemap.xml"
NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
DAY = parse_time("2024-01-02")


def read(body: str | bytes, **caps: int) -> SourceFacts:
    body = body.encode() if isinstance(body, str) else body
    return read_source(body, URL, caps=SourceCaps(**caps))


def pages(facts: SourceFacts) -> list[str]:
    return [entry.url.removeprefix("https://shop.example") for entry in facts.entries]


def urlset(*rows: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NS}>{"".join(rows)}</urlset>'


def url(loc: str, rest: str = "") -> str:
    return f"<url><loc>{loc}</loc>{rest}</url>"


def test_every_entry_is_a_page_with_its_time() -> None:
    facts = read(
        urlset(
            url("https://shop.example/a?x=1&amp;y=2", "<lastmod>2024-01-02</lastmod>"), url("/b")
        )
    )
    assert facts == SourceFacts(
        URL,
        (
            SourceEntry("https://shop.example/a?x=1&y=2", DAY),
            SourceEntry("https://shop.example/b", None),
        ),
    )


def test_an_index_names_further_sources() -> None:
    facts = read(
        "<sm:sitemapindex xmlns:sm='s'><sm:sitemap><sm:loc>\n /1.xml.gz </sm:loc></sm:sitemap></sm:sitemapindex>"
    )
    assert facts.entries == ()
    assert [child.url for child in facts.children] == ["https://shop.example/1.xml.gz"]


def test_images_and_other_languages_are_not_taken_for_pages() -> None:
    facts = read(
        "<urlset xmlns='s' xmlns:image='i' xmlns:xhtml='x'><url><image:image><image:loc>/i.jpg</image:loc></image:image>"
        "<image:loc>/j.jpg</image:loc><xhtml:link rel='alternate' hreflang='de' href='/de/a'/><loc>/a</loc></url></urlset>"
    )
    assert pages(facts) == ["/a"]
    assert facts.dropped == {"alternate_language": 1}


def test_undeclared_namespaces_do_no_harm() -> None:
    assert pages(
        read(
            "<urlset><url><image:image><image:loc>/i</image:loc></image:image><loc>/a</loc></url></urlset>"
        )
    ) == ["/a"]


@pytest.mark.parametrize(
    ("loc", "page"),
    [
        ("/a?x=1&y=2", "/a?x=1&y=2"),
        ("/a?x=1&amp;amp;y=2", "/a?x=1&y=2"),
        ("<![CDATA[ /a?x=1&y=2 ]]>", "/a?x=1&y=2"),
        ("/caf&eacute;", "/caf&eacute;"),
        ("/a&#38;b", "/a&b"),
        ("/a\x0bb", "/ab"),
    ],
)
def test_a_broken_reference_loses_neither_its_page_nor_the_next(loc: str, page: str) -> None:
    facts = read(urlset(url(loc), url("/next")))
    assert pages(facts) == [page, "/next"]
    assert not facts.damaged


def test_an_ampersand_on_the_border_of_two_chunks_is_read() -> None:
    filler = "x" * 65_400
    for shift in range(120):
        loc = "/" + "a" * shift + "?x=1&y=2&amp;z=3&#38;w"
        body = f"<urlset><!--{filler}-->{url(loc)}</urlset>"
        assert pages(read(body)) == ["/" + "a" * shift + "?x=1&y=2&z=3&w"]


@pytest.mark.parametrize("times", [1, 2])
def test_packed_sources_are_unpacked(times: int) -> None:
    body = urlset(url("/a")).encode()
    for _ in range(times):
        body = gzip.compress(body)
    assert looks_like_source(body)
    assert pages(read(body)) == ["/a"]
    assert pages(
        read(gzip.compress(b"<urlset>") + gzip.compress(b"<url><loc>/a</loc></url></urlset>"))
    ) == ["/a"]


def test_a_cut_off_source_keeps_what_came_and_says_so() -> None:
    whole = urlset(*(url(f"/{i}") for i in range(20_000))).encode()
    for body in (whole[:-3000], gzip.compress(whole)[:-3000], gzip.compress(whole)[:-4] + b"oops"):
        facts = read(body)
        assert facts.damaged
        assert len(facts.entries) > 1000
    for body in (whole, gzip.compress(whole)):
        assert not read(body).damaged
        assert len(read(body).entries) == 20_000
    addresses = b"".join(b"https://shop.example/%d\n" % i for i in range(5_000))
    assert read(gzip.compress(addresses)[:-3000]).damaged
    assert not read(gzip.compress(addresses)).damaged


def test_nesting_deeper_than_any_source_ends_the_reading() -> None:
    assert pages(read(urlset("<x>" * 20 + "</x>" * 20, url("/a")))) == ["/a"]
    assert read(urlset("<x>" * 100 + "</x>" * 100, url("/a"))) == SourceFacts(URL, damaged=True)


def test_a_wrong_end_tag_is_reported() -> None:
    assert read(urlset(url("/a", "</oops>"), url("/b"))).damaged


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso-8859-1"])
def test_other_encodings_are_read(encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    body = (
        f'<?xml version="1.0" encoding="{name}"?><urlset><url><loc>/é</loc></url></urlset>'.encode(
            encoding
        )
    )
    assert pages(read(body)) == ["/%C3%A9"]


def test_a_list_of_addresses_is_a_sitemap() -> None:
    body = b"\xef\xbb\xbfhttps://shop.example/a\r\n\r\n  https://shop.example/b?utm_source=x\nnonsense\nmailto:x"
    assert looks_like_source(body, "text/plain")
    facts = read(body)
    assert pages(facts) == ["/a", "/b"]
    assert facts.dropped == {"no_address": 2}


def test_rss_items_are_pages_with_times() -> None:
    facts = read(
        """<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="d"><channel><link>https://shop.example/</link>
        <atom:link rel="self" href="/feed"/><item><title>x</title><link>/1</link><pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate></item>
        <item><guid>https://shop.example/2</guid><dc:date>2024-01-02</dc:date></item><item><guid isPermaLink="false">/3</guid></item>
        </channel></rss>"""
    )
    assert facts.entries == (
        SourceEntry("https://shop.example/1", DAY),
        SourceEntry("https://shop.example/2", DAY),
    )
    assert facts.dropped == {"no_address": 1}


def test_atom_entries_are_pages_with_times() -> None:
    facts = read(
        """<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="edit" href="/e"/><link href="/1"/>
        <published>2023-01-01</published><updated>2024-01-02T00:00:00Z</updated></entry></feed>"""
    )
    assert facts.entries == (SourceEntry("https://shop.example/1", DAY),)


def test_rss_may_bring_its_old_doctype() -> None:
    doctype = '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://127.0.0.1:1/rss.dtd">'
    assert pages(read(f"{doctype}<rss><channel><item><link>/1</link></item></channel></rss>")) == [
        "/1"
    ]


BOMB = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))


@pytest.mark.parametrize(
    "doctype",
    [
        f'<!DOCTYPE urlset [<!ENTITY e0 "x">{BOMB}]>',
        '<!DOCTYPE urlset [<!ENTITY e11 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/x.dtd">',
        '<!-- --><!DOCTYPE rss [<!ENTITY e11 "boom">]>',
    ],
)
@pytest.mark.parametrize("root", ["urlset", "rss"])
def test_entities_are_inert(doctype: str, root: str) -> None:
    facts = read(
        f"{doctype}<{root}><url><loc>/&e11;</loc></url><item><link>/&e11;</link></item></{root}>"
    )
    assert facts.entries == ()
    assert facts.dropped == {"doctype": 1}
    assert facts.damaged


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"<!DOCTYPE html><html>",
        b"<html></html>",
        b"words, not links",
        b"<",
        b"\x1f\x8b",
    ],
)
def test_a_page_is_no_source(body: bytes) -> None:
    assert not looks_like_source(body, "application/xml")
    assert read(body).dropped == {"not_a_source": 1}


def test_a_page_named_twice_keeps_its_latest_time() -> None:
    rows = [url("/a", f"<lastmod>{day}</lastmod>") for day in ("2024-01-01", "2024-01-02", "never")]
    assert read(urlset(*rows)).entries == (SourceEntry("https://shop.example/a", DAY),)


def test_entries_above_the_cap_are_counted() -> None:
    facts = read(urlset(*(url(f"/{i}") for i in range(30))), entries=10)
    assert len(facts.entries) == 10
    assert facts.dropped == {"over_cap": 20}


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(b"<urlset>" + b" " * 30_000_000, 1),
        gzip.compress(gzip.compress(b"<urlset><url><loc>" + b"x" * 30_000_000, 1)),
        b"<urlset>" + b"<url>" * 2_000_000,
        b"<urlset " + b"".join(b"a%d='' " % i for i in range(500_000)) + b">",
        b"http://shop.example/" + b"x" * 10_000_000,
    ],
    ids=["spaces", "packed twice", "deep", "attributes", "one line"],
)
def test_no_source_fills_the_memory(body: bytes) -> None:
    tracemalloc.start()
    facts = read(body, inflated_bytes=20_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert facts.entries == ()
    assert facts.damaged or facts.dropped
    assert peak < 3_000_000


def test_index_loops_and_towers_end() -> None:
    facts = SourceFacts(
        URL,
        children=tuple(
            SourceEntry(u, None) for u in (URL, "https://shop.example/1", "https://shop.example/2")
        ),
    )
    fresh, dropped = next_sources(facts, 0, {"https://shop.example/1"})
    assert [child.url for child in fresh] == ["https://shop.example/2"]
    assert dropped == {"loop": 2}
    assert next_sources(facts, 3, set()) == ((), {"too_deep": 3})


def test_robots_names_sitemaps_outside_its_groups() -> None:
    robots = b"\xef\xbb\xbfSitemap: /a.xml # ours\nUser-agent: *\nDisallow: /\nSITEMAP:https://shop.example/b.xml\nsitemap:\nSitemap: ftp://x/"
    assert robots_sitemaps(robots, "https://shop.example/robots.txt") == (
        "https://shop.example/a.xml",
        "https://shop.example/b.xml",
    )


MARKUP = [
    "<urlset>",
    "</urlset>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<![CDATA[",
    "]]>",
    "&",
    "&amp;",
    "<?xml?>",
    "<rss>",
]
MARKUP += [
    "<item>",
    "<link href='/x'/>",
    "<!DOCTYPE x [",
    "<!--",
    "-->",
    "http://a.example/",
    "\n",
    "\x1f\x8b",
    "\x00",
]


@given(
    st.one_of(
        st.binary(),
        st.lists(st.one_of(st.sampled_from(MARKUP), st.text())).map(
            lambda p: "".join(p).encode("utf-8", "replace")
        ),
    )
)
def test_no_bytes_raise(body: bytes) -> None:
    for packed in (body, gzip.compress(body), b"<urlset>" + body):
        facts = read(packed)
        assert all(entry.url.startswith("http") for entry in facts.entries)
        looks_like_source(packed, "text/plain")
    robots_sitemaps(body, URL)
