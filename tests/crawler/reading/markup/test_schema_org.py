"""Structured data is read in every syntax shops write it, also broken."""

import pytest

from crawler.reading.facts import Availability, PageKind
from tests.crawler.reading.pages import ld, ld_text, price_of, product, read

H1 = "<h1>Kettle</h1>"


def test_json_ld_gives_the_whole_offer() -> None:
    data = product(
        sku="K-1",
        gtin13="4006381333931",
        brand={"@type": "Brand", "name": "Acme"},
        category="Home > Kitchen",
        image=["https://shop.example/k.jpg"],
    )
    data["offers"] = {
        "@type": "Offer",
        "price": 49.9,
        "priceCurrency": "EUR",
        "availability": "https://schema.org/OutOfStock",
        "itemCondition": "https://schema.org/RefurbishedCondition",
        "seller": {"@type": "Organization", "name": "Shop"},
    }
    facts = read(H1, head=ld(data))
    [offer] = facts.offers
    assert facts.kind is PageKind.OFFER
    assert (offer.price_micros, offer.currency) == (49_900_000, "EUR")
    assert offer.availability is Availability.OUT_OF_STOCK
    assert (offer.title, offer.brand, offer.gtin) == ("Kettle", "Acme", "4006381333931")
    assert (offer.sku, offer.seller, offer.condition) == ("K-1", "Shop", "refurbished")
    assert (offer.category, offer.image) == ("Home > Kitchen", "https://shop.example/k.jpg")
    assert (offer.source, offer.key) == ("json-ld", "K-1")


def test_a_gtin_with_a_wrong_check_digit_is_dropped() -> None:
    assert read(H1, head=ld(product(gtin13="4006381333932"))).offers[0].gtin is None


@pytest.mark.parametrize(
    "text",
    [
        '{"@type":"Product","name":"Kettle","offers":{"price":"49.90","priceCurrency":"EUR",},}',
        "{'@type':'Product','name':'Kettle','offers':{'price':'49.90','priceCurrency':'EUR'}}",
        '{"@type":"Product",/* kettle */"name":"Kettle","offers":{"price":49.90,"priceCurrency":"EUR"}};',
        '//<![CDATA[\n{"@type":"Product","name":"Kettle","offers":{"price":"49.90","priceCurrency":"EUR"}}\n//]]>',
        '{"@type":"WebSite"}{"@type":"Product","name":"Kettle","offers":{"price":"49.90","priceCurrency":"EUR"}}',
        '{"@type":"Product","name":"Kettle","description":"two\nlines","offers":{"price":"49.90","priceCurrency":"EUR"}}',
        '<!-- {"@type":"Product","name":"Kettle","offers":{"price":"49.90","priceCurrency":"EUR"}} -->',
    ],
)
def test_broken_json_ld_is_read(text: str) -> None:
    assert price_of(read(H1, head=ld_text(text))) == (49.9, "EUR")


@pytest.mark.parametrize(
    "data",
    [
        [{"@type": "WebSite"}, product()],
        {"@graph": [{"@type": "BreadcrumbList"}, product()]},
        {"@type": "WebPage", "mainEntity": product()},
        {"@type": "ItemPage", "mainEntity": {"@graph": [product()]}},
        {"@graph": [product(offers={"@id": "#o"}), {"@id": "#o", "@type": "Offer", "price": "49.90", "priceCurrency": "EUR"}]},
        product(offers=[{"@type": "AggregateOffer", "lowPrice": "49.90", "highPrice": "49.90", "priceCurrency": "EUR"}]),
        product(offers={"@type": "Offer", "priceSpecification": {"price": "49.90", "priceCurrency": "EUR"}}),
        product(
            offers={
                "@type": "Offer",
                "priceSpecification": [
                    {"price": "59.90", "priceCurrency": "EUR", "priceType": "https://schema.org/ListPrice"},
                    {"price": "49.90", "priceCurrency": "EUR"},
                ],
            }
        ),
        product(**{"@type": ["Product", "Thing"]}),
        product(offers={"@type": "Offer", "price": "49,90", "priceCurrency": "EUR"}),
        product(offers={"@type": "Offer", "price": "€49.90"}),
        {"@type": "Event", "name": "Kettle", "offers": {"price": "49.90", "priceCurrency": "EUR"}},
    ],
)  # fmt: skip
def test_json_ld_is_read_in_every_shape(data: object) -> None:
    assert price_of(read(H1, head=ld(data))) == (49.9, "EUR")


def test_variants_are_offers_with_stable_keys() -> None:
    variants = [
        {
            "@type": "Product",
            "sku": f"K-{size}",
            "name": f"Kettle {size}",
            "offers": {"price": price, "priceCurrency": "EUR", "availability": stock},
        }
        for size, price, stock in (("S", "39.90", "OutOfStock"), ("L", "59.90", "InStock"))
    ]
    data = {"@type": "ProductGroup", "name": "Kettle", "hasVariant": variants}
    facts = read(f"{H1}<p class=price>€59.90</p>", head=ld(data))
    assert {o.key: (o.price_micros, o.availability) for o in facts.offers} == {
        "K-L": (59_900_000, Availability.IN_STOCK),
        "K-S": (39_900_000, Availability.OUT_OF_STOCK),
    }
    assert facts.offers[0].key == "K-L"  # the printed one is the page's price


def sized(*sizes: str) -> dict[str, object]:
    """A group with a variant for each size."""
    variants = [{**product(), "sku": f"K-{size}", "name": f"Kettle {size}"} for size in sizes]
    return {"@type": "ProductGroup", "name": "Kettle", "hasVariant": variants}


@pytest.mark.parametrize(
    "alone",
    [
        sized("S"),
        product(sku="K-S"),
        product(offers={"price": "49.90", "priceCurrency": "EUR", "sku": "K-S"}),
        product(sku="K-S", offers={"availability": "OutOfStock"}),
        product(sku="K-S", offers={"price": "0", "priceCurrency": "EUR"}),
    ],
    ids=["last variant", "product of its own", "offer of its own", "sold out", "given away"],
)
def test_the_last_variant_left_keeps_the_key_it_had_among_others(alone: dict[str, object]) -> None:
    both = read(H1, head=ld(sized("S", "L")))
    assert {offer.key for offer in both.offers} == {"K-S", "K-L"}
    assert [offer.key for offer in read(H1, head=ld(alone)).offers] == ["K-S"]


def test_an_offer_without_any_id_has_the_empty_key() -> None:
    assert [offer.key for offer in read(H1, head=ld(product())).offers] == [""]


def test_an_offer_keeps_its_key_when_the_printed_price_beats_the_markup() -> None:
    offers = [
        {"@type": "Offer", "sku": sku, "price": price, "priceCurrency": "EUR"}
        for sku, price in (("A", "59.90"), ("B", "79.90"))
    ]
    head = ld(product(offers=offers))
    before = read(f"{H1}<b class=price>€59.90</b>", head=head)
    sale = read(f"{H1}<div class=price><del>€59.90</del> <b>€49.90</b></div>", head=head)
    assert [o.key for o in sale.offers] == [o.key for o in before.offers] == ["A", "B"]
    assert price_of(sale) == (49.9, "EUR")


def test_a_range_of_sellers_gives_the_lowest_price() -> None:
    offers = {"@type": "AggregateOffer", "lowPrice": 19, "highPrice": 25, "priceCurrency": "EUR"}
    facts = read(H1, head=ld(product(offers=offers)))
    assert price_of(facts) == (19.0, "EUR")
    assert facts.candidates[0].role == "low"


def test_related_products_in_markup_are_not_the_page() -> None:
    other = product("5.00") | {"name": "Cup"}
    data = product() | {"isRelatedTo": [other, other]}
    assert price_of(read(H1, head=ld([other | {"name": "Cup"}, data]))) == (49.9, "EUR")


def test_microdata_is_read() -> None:
    body = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>Kettle</h1>
      <span itemprop=brand itemscope itemtype=http://schema.org/Brand><meta itemprop=name content=Acme></span>
      <div itemprop=offers itemscope itemtype="http://schema.org/Offer">
      <link itemprop=availability href="http://schema.org/InStock"><meta itemprop=priceCurrency content=GBP>
      <span itemprop=price content="1299.00">£1,299</span></div></div>
      <div itemscope itemtype="https://schema.org/Product"><b itemprop=name>Cup</b>
      <div itemprop=offers itemscope><b itemprop=price>3.00</b></div></div>"""
    facts = read(body)
    assert price_of(facts) == (1299.0, "GBP")
    assert facts.offers[0].brand == "Acme"
    assert facts.offers[0].availability is Availability.IN_STOCK
    assert facts.offers[0].source == "microdata"


def test_rdfa_lite_is_read() -> None:
    body = """<div vocab="https://schema.org/" typeof="Product"><h1 property="name">Kettle</h1>
      <div property="offers" typeof="Offer"><meta property="price" content="12.50">
      <meta property="priceCurrency" content="EUR"></div></div>"""
    facts = read(body)
    assert price_of(facts) == (12.5, "EUR")
    assert facts.offers[0].source == "rdfa"


@pytest.mark.parametrize(
    ("head", "price"),
    [
        ('<meta property="og:price:amount" content="49.90"><meta property="og:price:currency" content="EUR">', 49.9),
        ('<meta property="product:price:amount" content="49.90"><meta property="product:price:currency" content="EUR">', 49.9),
        (
            '<meta property="product:price:amount" content="59.90"><meta property="product:price:currency" content="EUR">'
            '<meta property="product:sale_price:amount" content="49.90"><meta property="product:sale_price:currency" content="EUR">',
            49.9,
        ),
        ('<meta name="twitter:label1" content="Price"><meta name="twitter:data1" content="€49.90">', 49.9),
    ],
)  # fmt: skip
def test_opengraph_and_twitter_are_read(head: str, price: float) -> None:
    assert price_of(read(H1, head=head)) == (price, "EUR")


@pytest.mark.parametrize(
    "script",
    [
        '<script id="__NEXT_DATA__" type="application/json">{"props":{"product":{"name":"Kettle","price":{"value":49.9,"currency":"EUR"}}}}</script>',
        '<script>window.__INITIAL_STATE__ = {"item":{"title":"Kettle","salePrice":"49.90","currency":"EUR"}};</script>',
        '<script>dataLayer.push({ecommerce:{detail:{products:[{name:"Kettle",price:"49.90",currency:"EUR"}]}}});</script>',
        '<script type="application/json">{"p":[{"name":"Cup","price":3},{"name":"Kettle","priceInCents":4990,"currencyCode":"EUR"}]}</script>',
    ],
)
def test_script_state_is_read_when_nothing_else_speaks(script: str) -> None:
    facts = read(f"{H1}<p>A fine kettle for a fine day.</p>{script}")
    assert price_of(facts) == (49.9, "EUR")
    assert facts.offers[0].source == "state"


def test_a_whole_number_in_a_script_may_be_cents_and_is_not_believed() -> None:
    script = (
        '<script type="application/json">{"name":"Kettle","price":4990,"currency":"EUR"}</script>'
    )
    alone = read(f"{H1}<p>A fine kettle.</p>{script}").offers[0]
    assert (alone.price_micros, alone.ambiguous) == (None, True)
    printed = read(f"{H1}<b class=price>€49.90</b>{script}")
    assert price_of(printed) == (49.9, "EUR")


def test_a_price_with_two_readings_in_markup_is_ambiguous_not_guessed() -> None:
    offer = read(H1, head=ld(product("1.299"))).offers[0]
    assert offer.price_micros is None
    assert offer.ambiguous


def test_the_printed_price_settles_an_ambiguous_markup_price() -> None:
    facts = read(f"{H1}<b class=price>1.299,00 €</b>", head=ld(product("1.299")), lang="de")
    assert price_of(facts) == (1299.0, "EUR")


def test_an_endless_nest_of_json_is_survived() -> None:
    deep = '{"a":' * 50_000
    assert read(H1, head=ld_text(deep)).offers == ()
    assert read(H1, head=ld_text("[" * 100_000)).offers == ()
