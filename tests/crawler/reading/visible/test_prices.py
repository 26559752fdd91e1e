"""What a shopper sees is told apart: the price, the former price, and all the other amounts."""

import pytest

from crawler.reading.facts import PageKind
from tests.crawler.reading.pages import CARDS, ld, price_of, product, read

H1 = "<h1>Kettle</h1>"

PRICE_TAGS = {
    "plain": "<p class=price>€49.90</p>",
    "woocommerce sale": '<p class="price"><del><span class="amount"><bdi>€59.90</bdi></span></del> <ins><span class="amount"><bdi>€49.90</bdi></span></ins></p>',
    "woocommerce range": '<p class="price"><span class="amount">€49.90</span> – <span class="amount">€69.90</span></p>',
    "shopify": '<div class="price price--on-sale"><div class="price__sale"><s class="price-item price-item--regular">€59.90</s><span class="price-item price-item--sale">€49.90</span></div></div>',
    "shopify regular": '<div class="price"><div class="price__regular"><span class="price-item price-item--regular">€49.90</span></div></div>',
    "magento": '<div class="price-box"><span class="old-price"><span class="price-label">Regular Price</span><span class="price">€59.90</span></span><span class="special-price"><span class="price">€49.90</span></span></div>',
    "prestashop": '<div class="product-prices"><div class="product-discount"><span class="regular-price">€59.90</span></div><div class="current-price"><span class="current-price-value">€49.90</span><span class="discount">Save 17%</span></div></div>',
    "cents in a sup": '<div class="price">€<b>49</b><sup>90</sup></div>',
    "cents apart": '<div class="price"><span>49</span><span>,</span><span>90</span><span>€</span></div>',
    "was and now": '<div class="price">Was €59.90 Now €49.90</div>',
    "rrp first": '<div><span class="rrp-price">RRP €59.90</span><span class="our-price">€49.90</span></div>',
    "struck by style": '<div class="price"><span style="text-decoration: line-through">€59.90</span> <span>€49.90</span></div>',
    "two former prices": '<div class="price"><del>€69.90</del> <s>€59.90</s> <b>€49.90</b></div>',
    "two prices": '<div class="prices"><span>€59.90</span><span>€49.90</span></div>',
    "saving": '<div class="price-wrap"><span class="price">€49.90</span><span class="price-save">You save €10.00</span></div>',
    "without and with tax": '<div class="price"><span>€41.24 excl. VAT</span> <span>€49.90 incl. VAT</span></div>',
    "without tax, by class": '<div class="prices"><span class="price-excl">€41.24</span> <span class="price-incl">€49.90</span></div>',
    "without tax only": '<div class="price">€49.90 excl. VAT</div>',
    "unit price": '<div class="price">€49.90</div><div class="unit-price">€33.27 / l</div>',
    "unit price first": '<div class="price-unit">€33.27 / kg</div><div class="price">€49.90</div>',
    "instalments": '<div class="price">€49.90</div><div class="price-installments">or 4 x €12.48 with Pay</div>',
    "instalments first": '<div class="price-info">12x €4.16 per month</div><div class="price">€49.90</div>',
    "shipping": '<div class="price">€49.90</div><div class="price-note">plus €4.90 shipping</div>',
    "free shipping": '<div class="price-note">Free delivery on orders over €30</div><div class="price">€49.90</div>',
    "read aloud and split": '<span class="a-price"><span class="offscreen">€49.90</span><span aria-hidden="true"><span>€</span><span>49<span>.</span></span><span>90</span></span></span><span class="a-price" data-strike="true"><s>€59.90</s></span>',
    "empty tags first": '<div class="price-section" style="display: none">MSRP: <span class="price price--rrp"></span></div><div class="price-section"><span class="price price--non-sale">€59.90</span></div><div class="price-section"><span>Now:</span> <span class="price price--main">€49.90</span></div>',
    "line through by class": '<div class="product--price price--discount"><span class="price--content">49,90 € *</span><span class="price--line-through">59,90 € *</span><span>(16,69% gespart)</span></div>',
    "table": "<table><tr><td>Art. Nr.</td><td>12345</td></tr><tr><td>Preis</td><td>49,90 €</td></tr><tr><td>Versand</td><td>4,90 €</td></tr></table>",
    "options": '<select><option>1 l - €49.90</option><option>2 l - €69.90</option></select><div id="price">€49.90</div>',
    "hidden copy": '<div class="price" style="display:none">€99.00</div><div class="price">€49.90</div>',
    "club price": '<div class="price">€49.90</div><div class="price member-price">Club price €44.90</div>',
    "from": '<div class="price">from €49.90</div>',
    "no class": "<div><div>Kettle, steel</div><strong>€49.90</strong></div>",
    "german class": '<div class="artikelpreis">49,90 €</div>',
    "test id": '<span data-testid="product-price">49.90 EUR</span>',
    "in the buy box": '<div class="add-to-cart-box"><div class="price">€49.90</div></div>',
}


@pytest.mark.parametrize("name", PRICE_TAGS)
def test_the_selling_price_is_found_among_others(name: str) -> None:
    body = f"<div class=product>{H1}{PRICE_TAGS[name]}<button>Add to cart</button></div>"
    facts = read(body + f"<ul class=related>{CARDS}</ul>")
    assert price_of(facts) == (49.9, "EUR")
    assert facts.kind is PageKind.OFFER
    assert facts.offers[0].source == "visible"


@pytest.mark.parametrize("name", PRICE_TAGS)
def test_the_price_does_not_depend_on_being_explained(name: str) -> None:
    body = f"<div class=product>{H1}{PRICE_TAGS[name]}</div><ul class=related>{CARDS}</ul>"
    assert read(body, explain=True).offers == read(body).offers


def test_a_stale_markup_price_loses_to_the_sale_price_beside_it() -> None:
    body = f"{H1}<div class=price><del>€59.90</del> <b>€49.90</b></div>"
    facts = read(body, head=ld(product("59.90")))
    assert price_of(facts) == (49.9, "EUR")
    assert facts.offers[0].source == "visible"
    assert facts.offers[0].disagreeing == ("json-ld",)


def test_sources_that_agree_raise_confidence_and_others_lower_it() -> None:
    alone = read(H1, head=ld(product())).offers[0]
    agreed = read(f"{H1}<b class=price>€49.90</b>", head=ld(product())).offers[0]
    meta = '<meta property="og:price:amount" content="44.00"><meta property="og:price:currency" content="EUR">'
    disputed = read(f"{H1}<b class=price>€49.90</b>", head=ld(product()) + meta).offers[0]
    assert agreed.confidence > alone.confidence
    assert disputed.confidence < agreed.confidence
    assert disputed.disagreeing == ("opengraph",)


def test_every_candidate_is_kept_with_its_source_and_role() -> None:
    body = (
        f"{H1}<div class=price><del>€59.90</del> <b>€49.90</b></div><p class=price-unit>€9 / kg</p>"
    )
    facts = read(body, head=ld(product()), explain=True)
    found = {(c.source, c.role, c.price_micros) for c in facts.candidates}
    assert {
        ("json-ld", "price", 49_900_000),
        ("visible", "list", 59_900_000),
        ("visible", "price", 49_900_000),
        ("visible", "unit", 9_000_000),
    } <= found


def test_the_basket_in_the_header_is_not_the_price() -> None:
    body = f'<header><a class="cart" href="/cart"><span class="price">€0.00</span></a></header>{H1}<b class=price>€49.90</b>'
    assert price_of(read(body)) == (49.9, "EUR")


def test_a_price_before_the_heading_is_found() -> None:
    body = (
        f"<div><div><span class=price>€49.90</span></div>{H1}</div><ul class=related>{CARDS}</ul>"
    )
    assert price_of(read(body)) == (49.9, "EUR")


def test_a_dollar_price_is_not_in_the_euros_printed_beside_it() -> None:
    body = f"<main>{H1}<b class=price>$49.90</b></main><ul class=related>{CARDS}</ul>"
    assert price_of(read(body)) == (49.9, None)
    assert price_of(read(body, lang="en-US")) == (49.9, "USD")
    assert price_of(read(f"{H1}<b class=price>US $49.90</b>", lang="es")) == (49.9, "USD")


def test_an_article_that_mentions_no_price_has_none() -> None:
    facts = read(
        "<h1>How to boil water</h1><p>It takes 3 minutes and 2 cups, in 90 % of cases.</p>" * 3
    )
    assert facts.offers == ()
    assert facts.kind is PageKind.OTHER
    assert facts.text_hash != 0


def test_title_image_brand_and_category_come_from_the_rest_of_the_page() -> None:
    head = (
        '<meta property="og:image" content="/k.jpg"><meta property="product:brand" content="Acme">'
    )
    trail = '<nav class="breadcrumbs"><a href=/>Home</a> / <a href=/c>Kitchen</a> / <a href=/p/kettle>Kettle</a></nav>'
    [offer] = read(f"{trail}{H1}<b class=price>€49.90</b>", head=head).offers
    assert (offer.title, offer.brand) == ("Kettle", "Acme")
    assert (offer.category, offer.image) == ("Home > Kitchen", "https://shop.example/k.jpg")


@pytest.mark.parametrize(
    ("url", "lang", "currency"),
    [
        ("https://shop.ca/p", "en", "CAD"),
        ("https://shop.example/p", "en-AU", "AUD"),
        ("https://shop.com/en-nz/p", "en", "NZD"),
        ("https://shop.com/p", "en", None),
        ("https://shop.com/p", "es", None),
    ],
)
def test_a_dollar_is_the_dollar_of_the_page(url: str, lang: str, currency: str | None) -> None:
    assert price_of(read(f"{H1}<b class=price>$49.90</b>", url=url, lang=lang)) == (49.9, currency)


@pytest.mark.parametrize(
    ("script", "currency"),
    [
        ('{"currency":"CLP","price":1}', "CLP"),
        ('{\\"priceCurrency\\":\\"CLP\\"}', "CLP"),
        ("currencyCode = 'CLP'; currencyCode = 'CLP'", "CLP"),
        ('{"currency":"CLP"},{"currency":"USD"}', None),
        ('{"currency":"EUR"}', None),
        ('{"currency":"ABC"}', None),
    ],
    ids=["once", "escaped", "twice", "two currencies", "no dollar", "no currency"],
)
def test_a_shared_sign_is_in_the_one_currency_that_the_scripts_name(
    script: str, currency: str | None
) -> None:
    body = f"{H1}<b class=price>$49.90</b><script>var shop = [{script}]</script>"
    assert price_of(read(body, lang="es")) == (49.9, currency)
