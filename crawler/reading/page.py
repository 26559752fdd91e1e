"""Read one HTML page: bytes and address in, facts out.  Never raises, whatever the bytes."""

from collections.abc import Iterator
from dataclasses import replace

from crawler.reading.facts import PageFacts, PageKind, Trouble
from crawler.reading.html import LexborHTMLParser, parse_html
from crawler.reading.html.charset import decode_html
from crawler.reading.html.content import main_text_hash, visible_text
from crawler.reading.html.links import base_of, read_links
from crawler.reading.markup.found import FoundProduct
from crawler.reading.markup.head import Head, opengraph_product, read_head, twitter_product
from crawler.reading.markup.jsonld import read_jsonld
from crawler.reading.markup.microdata import read_microdata, read_rdfa
from crawler.reading.markup.overrides import override_product
from crawler.reading.markup.schema_org import products_of
from crawler.reading.markup.state_json import state_products
from crawler.reading.offers.choice import Choice
from crawler.reading.offers.chooser import choose, main_products, price_of
from crawler.reading.offers.details import read_details, with_absolute_image, with_named_currency
from crawler.reading.offers.places import habits_of
from crawler.reading.rules import DEFAULT_RULES, ChangeDefinition, ReadingRules
from crawler.reading.text.money import NOTHING, Money
from crawler.reading.urls import canonical_url
from crawler.reading.verdicts.kinds import kind_of, offers_of
from crawler.reading.verdicts.walls import not_html, trouble_of
from crawler.reading.visible.cards import Cards, cards_by_markup, cards_by_sight
from crawler.reading.visible.headings import heading_text, main_heading
from crawler.reading.visible.prices import (
    SELLING,
    Habits,
    Heading,
    Seen,
    heading_at,
    rarer_prices,
    unnamed_prices,
    usual_prices,
)
from crawler.reading.visible.stock import availability_by_sight

_UTF8 = "text/html; charset=utf-8"


def read_page(
    body: bytes,
    *,
    url: str,
    content_type: str | None = None,
    status: int = 200,
    rules: ReadingRules = DEFAULT_RULES,
    explain: bool = False,
) -> PageFacts:
    """All that a page says.  `explain` also collects the prices that were not needed to decide."""
    if not_html(body, content_type):
        return PageFacts(url=url, kind=PageKind.OTHER, trouble=Trouble.NOT_HTML)
    text = decode_html(body, content_type)
    page = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    tree = parse_html(page, _UTF8)
    head = read_head(tree)
    links = read_links(tree, url, rules.links)
    products = _structured(tree, page, head, rules)
    heading = main_heading(tree, _title(head, products))
    name = heading_text(heading) or head.title
    habits = habits_of(url, head, rules)
    main = main_products(products, url=links.canonical or url, heading=name)
    if not any(product.offers for product in main):
        main += state_products(tree, name)[:1]
    seen = _visible(tree, heading_at(heading), habits)
    about = read_details(tree, head, name, category=not any(p.category for p in main))
    choice = choose(main, seen, habits, about=about, explain=explain)
    cards = _cards(tree, choice, products, main, habits, url, rules)
    offers = with_absolute_image(offers_of(choice, cards), url)
    offers = with_named_currency(offers, page, choice.winner.text if choice.winner else "")
    if offers and offers[0].availability is None:
        offers = (
            replace(offers[0], availability=availability_by_sight(tree, heading, head.language)),
            *offers[1:],
        )
    facts = PageFacts(
        url=url,
        kind=kind_of(offers, cards),
        title=name,
        language=head.language,
        country=habits.country,
        canonical=links.canonical,
        outlinks=links.outlinks,
        feeds=links.feeds,
        cards=cards.cards,
        offers=offers,
        candidates=choice.candidates,
        follow=links.follow,
        dropped_links=links.dropped,
    )
    return _judge(facts, tree, page, head, status, rules)


def _title(head: Head, products: list[FoundProduct]) -> str | None:
    own = next(
        (product.title for product in products if product.title and not product.related), None
    )
    return own or head.meta.get("og:title") or head.title


def _structured(
    tree: LexborHTMLParser, page: bytes, head: Head, rules: ReadingRules
) -> list[FoundProduct]:
    """Products by every syntax; RDFa, which hardly any shop writes, only where the others say nothing."""
    found = []
    if rules.override is not None and (product := override_product(tree, rules.override)):
        found.append(product)
    if b"ld+json" in page:
        found += products_of(read_jsonld(tree), "json-ld")
    if tree.css_first("[itemprop]") is not None:
        found += products_of(read_microdata(tree), "microdata")
    if not found and tree.css_first("[typeof]") is not None:
        found += products_of(read_rdfa(tree), "rdfa")
    if head.meta:
        found += [p for p in (opengraph_product(head.meta), twitter_product(head.meta)) if p]
    return found


def _visible(tree: LexborHTMLParser, heading: Heading, habits: Habits) -> Iterator[Seen]:
    """Price tags by the usual names, by rarer ones, by text: on while no selling price follows the heading."""
    for prices in (usual_prices, rarer_prices, unnamed_prices):
        found = False
        for seen in prices(tree, heading, habits):
            found |= seen.role in SELLING and seen.order is not None
            yield seen
        if found:
            return


def _cards(
    tree: LexborHTMLParser,
    choice: Choice,
    products: list[FoundProduct],
    main: list[FoundProduct],
    habits: Habits,
    url: str,
    rules: ReadingRules,
) -> Cards:
    """The page's cards; looked for only where no markup says that the page is about one product."""
    if choice.by_markup:
        return Cards()
    base = base_of(tree, url)

    def absolute(href: str) -> str | None:
        link = canonical_url(href, base, rules.links.urls)
        return link if link != url else None

    listed = [product for product in products if product not in main]
    cards = cards_by_sight(choice.seen, absolute)
    marked = cards_by_markup(listed, lambda product: _card_money(product, habits), absolute)
    return replace(cards, cards=marked) if len(marked) >= len(cards.cards) else cards


def _card_money(product: FoundProduct, habits: Habits) -> Money:
    return price_of(product.offers[0], habits) if product.offers else NOTHING


def _judge(
    facts: PageFacts,
    tree: LexborHTMLParser,
    page: bytes,
    head: Head,
    status: int,
    rules: ReadingRules,
) -> PageFacts:
    """Name the trouble of a page without a price, and fingerprint the text where it decides changes."""
    priced = any(offer.price_micros is not None for offer in facts.offers)
    if priced and rules.change is not ChangeDefinition.CONTENT:
        return facts
    trouble = None
    if not priced:
        trouble = trouble_of(
            page,
            title=head.title or "",
            heading=facts.title or "",
            text=visible_text(tree),
            links=len(facts.outlinks),
            cards=len(facts.cards),
            marked=bool(facts.offers),
            status=status,
        )
    if trouble is not None:
        return replace(facts, kind=PageKind.OTHER, trouble=trouble, offers=(), cards=())
    return replace(facts, text_hash=main_text_hash(tree))
