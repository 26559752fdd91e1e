"""The command extract: every price a page shows, the one that won and why, and where the page leads."""

import argparse
import asyncio
import gzip
import json
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path

from crawler.config import Config
from crawler.operator.ask import ask, web_address
from crawler.operator.exits import Exit, OperatorError, told_errors
from crawler.operator.settings import load_for_asking
from crawler.planning.scope import compile_site
from crawler.reading.facts import Candidate, Offer, PageFacts
from crawler.reading.html import parse_html
from crawler.reading.html.links import read_links
from crawler.reading.markup.head import read_head
from crawler.reading.page import read_page
from crawler.reading.rules import DEFAULT_RULES, ReadingRules
from crawler.reading.urls import canonical_url, host_of
from crawler.site_rules import reading_rules

MAX_BYTES = 64_000_000
NOWHERE = "https://file.invalid/"
SHOWN_LINKS = 5


@told_errors
def extract(arguments: argparse.Namespace) -> int:
    """Files are read as they are; web addresses are asked for, if robots.txt allows it."""
    urls = [page for page in arguments.pages if page.startswith(("http://", "https://"))]
    files = [page for page in arguments.pages if page not in urls]
    if arguments.url and (urls or len(files) != 1):
        raise OperatorError(
            f"--url: want a single file beside it, got {len(arguments.pages)} pages"
        )
    code = Exit.DONE
    if urls:
        config = load_for_asking(arguments)
        for url in urls:
            code = max(code, _extract_live(config, web_address(url), as_json=arguments.json))
    if files:
        code = max(code, extract_files(files, url=arguments.url, as_json=arguments.json))
    return code


def _extract_live(config: Config, url: str, *, as_json: bool) -> Exit:
    answer = asyncio.run(ask(config, url, fetch=True))
    if answer.reply is None:
        sys.stderr.write(f"{url}: robots.txt does not let {config.crawl.product_token} fetch it\n")
        return Exit.NOTHING
    reply = answer.reply
    if reply.status != 200:
        sys.stderr.write(f"{url}: status {reply.status} {reply.headers.get('location', '')}\n")
    facts = read_page(
        reply.body,
        url=url,
        content_type=reply.headers.get("content-type"),
        status=reply.status,
        rules=_rules_for(config, url),
        explain=True,
    )
    show_facts(facts, as_json=as_json)
    return Exit.DONE


def _rules_for(config: Config, url: str) -> ReadingRules:
    """Those of the configured site the page belongs to, if there is one."""
    for number, site in enumerate(config.site):
        if host_of(url) in compile_site(number, site).hosts:
            return reading_rules(config.reading, site)
    return DEFAULT_RULES


def extract_files(
    paths: Iterable[str], *, url: str | None, as_json: bool, rules: ReadingRules = DEFAULT_RULES
) -> Exit:
    """Read pages kept as files (.html, .html.gz).  `url` is the address of a single file."""
    failed = False
    for path in paths:
        try:
            body = read_file(Path(path))
        except (OSError, EOFError, zlib.error) as fault:
            sys.stderr.write(f"{path}: cannot be read: {fault}\n")
            failed = True
            continue
        facts = read_page(body, url=url or own_address(body, path), rules=rules, explain=True)
        show_facts(facts, as_json=as_json, name=path)
    return Exit.ERROR if failed else Exit.DONE


def show_facts(facts: PageFacts, *, as_json: bool, name: str | None = None) -> None:
    """One JSON object on one line, or the whole story for a person."""
    if as_json:
        named = {"file": name} if name else {}
        sys.stdout.write(json.dumps(named | facts_object(facts), ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(facts_lines(facts)) + "\n")


def read_file(path: Path) -> bytes:
    """At most MAX_BYTES of a file, unpacked when it is gzip."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not packed:
            return file.read(MAX_BYTES)
        with gzip.open(file) as unpacked:
            return unpacked.read(MAX_BYTES)


def own_address(body: bytes, path: str) -> str:
    """The address that a page gives itself; links of a page that gives none lead nowhere."""
    tree = parse_html(body)
    canonical = read_links(tree, NOWHERE).canonical or read_head(tree).meta.get("og:url", "")
    address = canonical_url(canonical) if canonical and not canonical.startswith(NOWHERE) else None
    return address or canonical_url(Path(path).name, NOWHERE) or NOWHERE


def facts_object(facts: PageFacts) -> dict[str, object]:
    """What programs get: the offers, every candidate, the cards and the outlinks by kind."""
    return {
        "url": facts.url,
        "kind": facts.kind,
        "trouble": facts.trouble,
        "title": facts.title,
        "language": facts.language,
        "country": facts.country,
        "canonical": facts.canonical,
        "offers": [_offer_object(offer) for offer in facts.offers],
        "candidates": [_candidate_object(candidate) for candidate in facts.candidates],
        "cards": [
            {
                "url": c.url,
                "title": c.title,
                "price": amount(c.price_micros),
                "currency": c.currency,
            }
            for c in facts.cards
        ],
        "outlinks": outlinks_by_kind(facts),
        "dropped_links": facts.dropped_links,
    }


def _offer_object(offer: Offer) -> dict[str, object]:
    return {
        "price": amount(offer.price_micros),
        "currency": offer.currency,
        "availability": offer.availability,
        "brand": offer.brand,
        "gtin": offer.gtin,
        "sku": offer.sku,
        "title": offer.title,
        "source": offer.source or None,
        "confidence": offer.confidence,
        "ambiguous": offer.ambiguous,
        "disagreeing": list(offer.disagreeing),
        "key": offer.key,
        "seller": offer.seller,
        "condition": offer.condition,
        "category": offer.category,
        "image": offer.image,
    }


def _candidate_object(candidate: Candidate) -> dict[str, object]:
    return {
        "source": candidate.source,
        "role": candidate.role,
        "price": amount(candidate.price_micros),
        "currency": candidate.currency,
        "text": candidate.text,
        "note": candidate.note,
    }


def amount(micros: int | None) -> float | None:
    """Millionths as the number a person writes."""
    return None if micros is None else micros / 1_000_000


def outlinks_by_kind(facts: PageFacts) -> dict[str, list[str]]:
    """Outlinks to products shown as cards, to the rest of the site, to other hosts; and feeds."""
    cards = {card.url for card in facts.cards}
    host = host_of(facts.url)
    kinds: dict[str, list[str]] = {"product": [], "same_host": [], "other_host": []}
    for link in facts.outlinks:
        inside = "same_host" if host_of(link) == host else "other_host"
        kinds["product" if link in cards else inside].append(link)
    return kinds | {"feed": list(facts.feeds)}


def facts_lines(facts: PageFacts) -> list[str]:
    """The same for a person: candidates, the winner and why, outlinks."""
    lines = [facts.url, f"  kind: {facts.kind}", f"  title: {facts.title or '-'}"]
    if facts.trouble:
        lines.append(f"  trouble: {facts.trouble}: nothing on this page is believed")
    lines += [f"  offer {line}" for offer in facts.offers for line in _offer_lines(offer, facts)]
    lines += [f"  candidate {_candidate_line(candidate)}" for candidate in facts.candidates]
    if facts.cards:
        lines.append(f"  cards: {len(facts.cards)}")
        lines += [
            f"    {money(c.price_micros, c.currency)}  {c.title or '-'}  {c.url}"
            for c in facts.cards[:SHOWN_LINKS]
        ]
    for kind, links in outlinks_by_kind(facts).items():
        lines.append(f"  outlinks, {kind.replace('_', ' ')}: {len(links)}")
        lines += [f"    {link}" for link in links[:SHOWN_LINKS]]
    lines += [f"  dropped links, {why}: {count}" for why, count in facts.dropped_links.items()]
    return lines


def _offer_lines(offer: Offer, facts: PageFacts) -> list[str]:
    name = f"{offer.key}: " if offer.key else ""
    price = "ambiguous price" if offer.ambiguous else money(offer.price_micros, offer.currency)
    known = [offer.availability, offer.brand, offer.gtin, offer.sku, offer.seller, offer.condition]
    details = ", ".join(str(fact) for fact in known if fact)
    return [f"{name}{price}  {details}".rstrip(), f"  why: {why_won(offer, facts.candidates)}"]


def why_won(offer: Offer, candidates: Iterable[Candidate]) -> str:
    """Which source won, who found the same price, who found another, and how sure that is."""
    if offer.price_micros is None:
        return "the price can be read in two ways" if offer.ambiguous else "no price is shown"
    same = {c.source for c in candidates if c.price_micros == offer.price_micros} - {offer.source}
    agreeing = f", {', '.join(sorted(same))} agree" if same else ""
    against = f", {', '.join(offer.disagreeing)} disagree" if offer.disagreeing else ""
    return f"{offer.source} won{agreeing}{against} (confidence {offer.confidence:.2f})"


def _candidate_line(candidate: Candidate) -> str:
    note = f"  ({candidate.note})" if candidate.note else ""
    price = money(candidate.price_micros, candidate.currency)
    return f"{candidate.source:<10} {candidate.role:<10} {price:>14}  {candidate.text!r}{note}"


def money(micros: int | None, currency: str | None) -> str:
    """19.99 EUR, or a dash."""
    return "-" if micros is None else f"{micros / 1_000_000:.2f} {currency or '?'}"
