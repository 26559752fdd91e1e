"""Simulated pages as HTML.  All text from the world is escaped on the way in."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from crawler.shop import goods
from crawler.shop.money import plain, visible
from crawler.shop.settings import SiteSettings, Template
from crawler.shop.site import FORBIDDEN, TEXT_PAGES, Site, category_name
from crawler.shop.views import Card, ListingPage, OfferPage, TextPage

_SCHEMA_STOCK = {True: "https://schema.org/InStock", False: "https://schema.org/OutOfStock"}


@dataclass(frozen=True, slots=True)
class Words:
    """What a shop says in its language."""

    in_stock: str
    sold_out: str
    buy: str
    related: str
    arrivals: str
    following: str


_WORDS = {
    "en": Words("In stock", "Out of stock", "Add to basket", "You may also like", "New", "Next"),
    "de": Words("Auf Lager", "Ausverkauft", "In den Warenkorb", "Passt dazu", "Neu", "Weiter"),
    "fr": Words("En stock", "Épuisé", "Ajouter au panier", "À voir aussi", "Nouveau", "Suivant"),
    "ja": Words("在庫あり", "売り切れ", "カートに入れる", "関連商品", "新着", "次へ"),
    "sv": Words("I lager", "Slutsåld", "Lägg i varukorgen", "Du kanske gillar", "Nytt", "Nästa"),
}


def render_offer(site: Site, page: OfferPage, origin: str) -> str:
    """An offer page in the site's template; the visible price is on all of them."""
    head, attributes = _MARKUP[site.settings.template](site.settings, page, origin)
    words = _WORDS[site.settings.language]
    title = escape(page.title)
    category = escape(category_name(page.category))
    body = f"""<nav class="crumbs"><a href="/">{escape(site.host)}</a> › <a href="{site.category_path(page.category)}">{category}</a></nav>
<main class="product"{attributes.scope}>
<h1{attributes.name}>{title}</h1>
<p class="brand">{escape(goods.brand(page.number))} · <span class="sku">{goods.sku(page.number)}</span></p>
<img src="/img/{page.number}.jpg" alt="{title}">
<div class="buy"{attributes.offer}>{attributes.hidden}
{_price_block(page.price_micros, page.old_price_micros, site.settings.currency)}
<p class="stock">{words.in_stock if page.in_stock else words.sold_out}</p>
<form action="/checkout/add" method="post"><button{"" if page.in_stock else " disabled"}>{words.buy}</button></form>
</div>
<p class="description">{escape(goods.prose(page.number))}</p>
</main>
<section class="related"><h2>{words.related}</h2>{_cards(page.related, site.settings.currency)}</section>"""
    canonical = f'<link rel="canonical" href="{origin}{page.path}">'
    return _document(site, page.title, canonical + head, body)


def render_listing(site: Site, page: ListingPage, origin: str) -> str:
    """The home page or one page of a category."""
    words = _WORDS[site.settings.language]
    heading = words.arrivals if page.category is None else category_name(page.category)
    pager = ""
    if page.category is not None and page.number < page.last:
        following = site.category_path(page.category, page.number + 1)
        pager = f'<a rel="next" class="next" href="{following}">{words.following}</a>'
    body = f"""<main class="listing"><h1>{escape(heading)}</h1>
{_cards(page.cards, site.settings.currency)}
<p class="pager">{page.number}/{page.last} {pager}</p></main>"""
    feeds = (
        f'<link rel="alternate" type="application/rss+xml" href="{origin}/feed.xml">'
        f'<link rel="alternate" type="application/atom+xml" href="{origin}/deals.xml">'
    )
    return _document(site, heading, feeds, body)


def render_text(site: Site, page: TextPage) -> str:
    """A page about nothing for sale."""
    paragraphs = "".join(f"<p>{escape(goods.prose(len(page.path) + k))}</p>" for k in range(3))
    return _document(
        site, page.title, "", f"<main><h1>{escape(page.title)}</h1>{paragraphs}</main>"
    )


def render_wall(site: Site) -> str:
    """What a bot wall shows: a page that parses, with no offer in it."""
    return (
        f"<!doctype html><html lang=en><head><title>Just a moment...</title></head><body>"
        f"<h1>Checking your browser before accessing {escape(site.host)}</h1>"
        "<p>Please verify you are a human: complete the captcha to continue.</p>"
        '<div class="g-recaptcha" data-sitekey="none"></div></body></html>'
    )


def render_plain(site: Site, title: str) -> str:
    """A short page for errors."""
    return _document(site, title, "", f"<main><h1>{escape(title)}</h1></main>")


def _price_block(price_micros: int, old_price_micros: int | None, currency: str) -> str:
    price = f'<span class="price">{escape(visible(price_micros, currency))}</span>'
    if old_price_micros is None:
        return price
    return f'<s class="old-price">{escape(visible(old_price_micros, currency))}</s> {price}'


def _cards(cards: tuple[Card, ...], currency: str) -> str:
    items = "\n".join(
        f'<li class="card"><a href="{card.path}"><h3>{escape(card.title)}</h3></a>'
        f"{_price_block(card.price_micros, card.old_price_micros, currency)}</li>"
        for card in cards
    )
    return f'<ul class="cards">{items}</ul>'


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a template adds to the tags of the visible page."""

    scope: str = ""
    name: str = ""
    offer: str = ""
    hidden: str = ""


_Markup = Callable[[SiteSettings, OfferPage, str], tuple[str, Attributes]]


def _script(kind: str, data: object) -> str:
    """JSON that cannot close its own script tag."""
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f"<script {kind}>{text}</script>"


def _json_ld(site: SiteSettings, page: OfferPage, origin: str) -> tuple[str, Attributes]:
    product = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": page.title,
        "sku": goods.sku(page.number),
        "gtin13": goods.gtin13(page.number),
        "brand": {"@type": "Brand", "name": goods.brand(page.number)},
        "category": category_name(page.category),
        "image": f"{origin}/img/{page.number}.jpg",
        "offers": {
            "@type": "Offer",
            "price": plain(page.price_micros, site.currency),
            "priceCurrency": site.currency,
            "availability": _SCHEMA_STOCK[page.in_stock],
            "url": origin + page.path,
        },
    }
    return _script('type="application/ld+json"', product), Attributes()


def _microdata(site: SiteSettings, page: OfferPage, origin: str) -> tuple[str, Attributes]:
    hidden = (
        f'<meta itemprop="price" content="{plain(page.price_micros, site.currency)}">'
        f'<meta itemprop="priceCurrency" content="{site.currency}">'
        f'<link itemprop="availability" href="{_SCHEMA_STOCK[page.in_stock]}">'
    )
    return "", Attributes(
        scope=' itemscope itemtype="https://schema.org/Product"',
        name=' itemprop="name"',
        offer=' itemprop="offers" itemscope itemtype="https://schema.org/Offer"',
        hidden=hidden,
    )


def _open_graph(site: SiteSettings, page: OfferPage, origin: str) -> tuple[str, Attributes]:
    properties = {
        "og:type": "product",
        "og:title": page.title,
        "og:url": origin + page.path,
        "og:image": f"{origin}/img/{page.number}.jpg",
        "product:price:amount": plain(page.price_micros, site.currency),
        "product:price:currency": site.currency,
        "product:availability": "instock" if page.in_stock else "oos",
        "product:retailer_item_id": goods.sku(page.number),
    }
    tags = (
        f'<meta property="{name}" content="{escape(value)}">' for name, value in properties.items()
    )
    return "".join(tags), Attributes()


def _state_json(site: SiteSettings, page: OfferPage, origin: str) -> tuple[str, Attributes]:
    product = {
        "id": page.number,
        "sku": goods.sku(page.number),
        "name": page.title,
        "brand": goods.brand(page.number),
        "price": {
            "amount": float(plain(page.price_micros, site.currency)),
            "currency": site.currency,
        },
        "inStock": page.in_stock,
        "url": page.path,
    }
    state = {"props": {"pageProps": {"product": product}}, "page": "/p/[slug]"}
    return _script('id="__NEXT_DATA__" type="application/json"', state), Attributes()


def _visible_only(site: SiteSettings, page: OfferPage, origin: str) -> tuple[str, Attributes]:
    return "", Attributes()


_MARKUP: dict[Template, _Markup] = {
    Template.JSON_LD: _json_ld,
    Template.MICRODATA: _microdata,
    Template.OPEN_GRAPH: _open_graph,
    Template.STATE_JSON: _state_json,
    Template.VISIBLE: _visible_only,
}


def _document(site: Site, title: str, head: str, body: str) -> str:
    before, after = _chrome(site.settings)
    return f"""<!doctype html>
<html lang="{site.settings.language}"><head><meta charset="utf-8">
<title>{escape(title)} | {escape(site.host)}</title>
{head}</head><body>{before}
{body}
{after}</body></html>
"""


@lru_cache(maxsize=256)
def _chrome(site: SiteSettings) -> tuple[str, str]:
    """What all pages of a site share: menu before, footer after, padded to the wanted size."""
    categories = "".join(
        f'<li><a href="/c/{goods.slug(category_name(k))}">{escape(category_name(k))}</a></li>'
        for k in range(site.categories)
    )
    before = (
        f'<header><a href="/">{escape(site.host)}</a><ul class="menu">{categories}</ul></header>'
    )
    texts = "".join(f'<a href="/{name}">{name.title()}</a> ' for name in TEXT_PAGES)
    corner = "".join(f'<a href="{path}">{path.strip("/").title()}</a> ' for path in FORBIDDEN)
    footer = f"<footer>{texts}{corner}</footer>"
    filler = site.page_bytes - len(before) - len(footer) - 2_500  # a page's own part, about
    return before, footer + _filler(filler)


def _filler(size: int) -> str:
    """What makes real pages heavy: styles, help texts, scripts; in a third each."""
    if size <= 0:
        return ""
    styles = _repeat(".b{0}{{margin:{0}px;color:#{0:06x};display:flex}}\n", size // 3)
    texts = _repeat("<li><p id='help-{0}'>" + goods.prose(2) + "</p></li>\n", size // 3)
    scripts = _repeat("window.q.push(['module',{0},{{lazy:true,retries:3}}]);\n", size // 3)
    return f"<style>{styles}</style><ul class='help'>{texts}</ul><script>window.q=[];{scripts}</script>"


def _repeat(pattern: str, size: int) -> str:
    """The pattern with rising numbers, as often as fits."""
    return "".join(pattern.format(k) for k in range(size // len(pattern)))
