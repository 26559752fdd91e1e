"""Listings give link, title and price of each card, and are not mistaken for offers."""

import json

import pytest

from crawler.reading.facts import PageKind
from tests.crawler.reading.pages import CARDS, ld, product, read

LISTINGS = {
    "price beside the link": CARDS,
    "all inside the link": "".join(
        f'<div class=tile><a href="/p/pot-{i}"><div class=name>Pot {i}</div><span class=price>€{i}9.99</span></a></div>'
        for i in range(1, 7)
    ),
    "former price first": "".join(
        f'<div class=tile><a href="/p/pot-{i}">Pot {i}</a><span class=price><del>€99.00</del> <b>€{i}9.99</b></span></div>'
        for i in range(1, 7)
    ),
    "no price class": "".join(
        f'<div class=tile><a href="/p/pot-{i}">Pot {i}</a><b>€{i}9.99</b></div>' for i in range(1, 7)
    ),
    "item list": ld(
        {
            "@type": "ItemList",
            "itemListElement": [
                {
                    "@type": "ListItem",
                    "item": product(f"{i}9.99") | {"name": f"Pot {i}", "url": f"https://shop.example/p/pot-{i}"},
                }
                for i in range(1, 7)
            ],
        }
    ),
    "microdata products": "".join(
        f'<div itemscope itemtype=http://schema.org/Product><a itemprop=url href="https://shop.example/p/pot-{i}"><b itemprop=name>Pot {i}</b></a>'
        f"<div itemprop=offers itemscope itemtype=http://schema.org/Offer><meta itemprop=priceCurrency content=EUR><i itemprop=price>{i}9.99</i></div></div>"
        for i in range(1, 7)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_gives_its_cards_and_no_offer(name: str) -> None:
    facts = read(f"<h1>Our pots and pans</h1><div>{LISTINGS[name]}</div>", title="Pots | Shop")
    assert facts.kind is PageKind.LISTING
    assert facts.offers == ()
    assert [(c.url, c.title, c.price_micros, c.currency) for c in facts.cards] == [
        (f"https://shop.example/p/pot-{i}", f"Pot {i}", i * 10_000_000 + 9_990_000, "EUR")
        for i in range(1, 7)
    ]


def test_related_cards_do_not_make_an_offer_page_a_listing() -> None:
    body = f"<main><h1>Kettle</h1><b class=price>€49.90</b></main><ul class=related>{CARDS}</ul>"
    facts = read(body)
    assert facts.kind is PageKind.OFFER
    assert facts.offers[0].price_micros == 49_900_000


def test_cards_are_bounded() -> None:
    many = "".join(
        f'<li class=c><a href="/p/{i}">P{i}</a><b class=price>€{i + 1}</b></li>' for i in range(900)
    )
    facts = read(f"<h1>All</h1><ul>{many}</ul>", title="All")
    assert facts.kind is PageKind.LISTING
    assert len(facts.cards) <= 200


def test_a_link_in_a_script_is_no_card() -> None:
    data = json.dumps({"items": [{"name": "Cup", "price": 3}] * 9})
    facts = read(
        f"<h1>About us</h1><p>We sell.</p><script>var x = {data}</script>", title="About us"
    )
    assert facts.cards == ()
