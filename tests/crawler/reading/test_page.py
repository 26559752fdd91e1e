"""Whatever the bytes, reading a page ends soon, in facts within bounds."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.reading.facts import PageFacts, PageKind
from crawler.reading.offers.chooser import MAX_CANDIDATES
from crawler.reading.page import read_page
from tests.crawler.reading.pages import CARDS, URL, html, ld, product

PAGES = [
    html(
        "<h1>Kettle</h1><div class=price><del>€59.90</del> <b>€49.90</b></div>", head=ld(product())
    ),
    html(f"<h1>Pots</h1><ul>{CARDS}</ul>"),
    html(
        '<div itemscope itemtype="http://schema.org/Product"><h1 itemprop=name>Kettle</h1>'
        "<div itemprop=offers itemscope><b itemprop=price>49,90</b></div></div>"
        '<script>window.__INITIAL_STATE__={"name":"Kettle","price":{"value":1}}</script>'
    ),
]
PIECES = [
    "<h1>Kettle</h1>", "<div class=price>", "€", "49", ",90", "</div>", "<del>", "</del>", "<a href=/x>", "</a>", "<li>",
    '<script type="application/ld+json">', "{", "}", '"@type":"Product"', ",", '"offers":', '"price":', "[", "]", "</script>",
    "<div itemscope itemprop=offers>", "<b itemprop=price>", "9" * 30, "\x00", "\ud800", "<!--", "-->", "<table><p>", "&#x110000;",
]  # fmt: skip


def check(facts: PageFacts) -> None:
    assert len(facts.candidates) <= MAX_CANDIDATES
    assert len(facts.cards) <= 200
    assert len(facts.offers) <= 61
    assert all(o.price_micros is None or 0 <= o.price_micros < 2**63 for o in facts.offers)
    assert all(0.0 <= o.confidence <= 1.0 for o in facts.offers)
    assert len({o.key for o in facts.offers}) == len(facts.offers)
    assert facts.trouble is None or not facts.offers


@given(st.binary(max_size=400))
def test_any_bytes_give_facts(body: bytes) -> None:
    check(read_page(body, url=URL))


@settings(max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_heap_of_markup_gives_facts(pieces: list[str]) -> None:
    check(read_page("".join(pieces).encode("utf-8", "replace"), url=URL, explain=True))


@pytest.mark.parametrize("page", PAGES)
def test_mutated_pages_give_facts(page: bytes) -> None:
    rng = random.Random(7)
    for _ in range(150):
        broken = bytearray(page)
        for _ in range(rng.randint(1, 20)):
            at = rng.randrange(len(broken))
            cut = at + rng.randint(0, 30)
            broken[at:cut] = rng.choice([b"", b"<", b'"', b"\xff", b"{", broken[at:cut] * 2])
        check(read_page(bytes(broken), url=URL))


HOSTILE = {
    "one long price": "<h1>x</h1><b class=price>" + "1.2," * 200_000,
    "nested price tags": "<h1>x</h1>" + "<div class=price>" * 400 + "€1 " * 50_000,
    "many price tags": "<h1>x</h1>" + "<b class=price>€1.99</b>" * 30_000,
    "many signs": "<h1>x</h1>" + "<i>€</i>" * 30_000,
    "dots": "<h1>x</h1><b class=price>$" + "." * 300_000,
    "digits": "<h1>x</h1><b class=price>" + "1 " * 200_000,
    "headings": "<h1>x y z</h1>" * 30_000,
    "scopes": '<div itemscope itemtype="Product" itemprop=offers>' * 400
    + "<b itemprop=price>1</b>" * 5_000,
    "json list": '<script type="application/ld+json">['
    + '{"@type":"Product","offers":{"price":1}},' * 20_000
    + "{}]</script>",
    "json numbers": '<script type="application/ld+json">{"price":' + "9" * 400_000 + "}</script>",
    "broken json": '<script type="application/ld+json">' + "{'a':" * 20_000 + "</script>",
    "many scripts": "<script>var product = {price:" * 500,
    "one long text": "<h1>x</h1><p>" + "captcha cookies consent 404 error " * 30_000,
    "one long class": '<h1>x</h1><b class="price ' + "oldPrice " * 40_000 + '">€1</b>',
    "one long title": "<title>" + "404 " * 100_000 + "</title>",
    "many cards": "<h1>x</h1>"
    + '<li class=c><a href="/p">P</a><b class=price>€3</b></li>' * 10_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_does_not_stall_the_reader(name: str) -> None:
    page = html(HOSTILE[name])
    start = time.process_time()
    check(read_page(page, url=URL))
    assert time.process_time() - start < 2.0


def test_a_listing_of_two_products_is_no_offer() -> None:
    body = (
        b"<!doctype html><title>Books</title><main><h1>Books</h1><ul>"
        b'<li class="card"><a href="/p/1"><h3>Stool</h3></a><s>8,29 EUR</s> <b class="price">7,69 EUR</b></li>'
        b'<li class="card"><h3><a href="/p/2">Notebook</a></h3><b class="price">22,89 EUR</b></li></ul></main>'
    )
    facts = read_page(body, url="http://shop.test/c/books")
    assert facts.kind is PageKind.LISTING
    assert facts.offers == ()
    assert [(card.url, card.price_micros) for card in facts.cards] == [
        ("http://shop.test/p/1", 7_690_000),
        ("http://shop.test/p/2", 22_890_000),
    ]


def test_a_product_whose_heading_links_to_itself_keeps_its_price() -> None:
    body = (
        b'<!doctype html><title>Stool</title><div class="product"><h2><a href="/p/1">Stool</a></h2>'
        b'<b class="price">7,69 EUR</b><a href="/delivery">Delivery</a></div>'
    )
    facts = read_page(body, url="http://shop.test/p/1")
    assert [offer.price_micros for offer in facts.offers] == [7_690_000]
