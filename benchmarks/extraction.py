"""How often is the price read right, and what does reading cost?

Prices: product pages with labels (`product_pages/labels.json` and `<name>.html.gz`).  A page counts as
found when the main offer's price equals a labelled price; a price on a page labelled without one, and
a wrong price, are false.  "markup hidden" renames JSON-LD, microdata and OpenGraph in the bytes first, so
that only script state and printed prices are left.  Price strings: `conformance/price_strings.csv`, amount and currency.
Cost: one generated page of 66 KB with 148 links; CPU time, the best of several rounds.

    python -m benchmarks.extraction --data DIR [--pages] [--json]
"""

import csv
import gzip
import json
import pathlib
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

if __package__ in (None, ""):  # run as a file
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from benchmarks.common import Row, flags, recording, show
from crawler.reading.facts import Availability, Offer
from crawler.reading.html import parse_html
from crawler.reading.html.links import read_links
from crawler.reading.page import read_page
from crawler.reading.text.currencies import currency_of
from crawler.reading.text.money import parse_price

URL = "https://shop.example/p/kettle-1"
BUYABLE = {
    Availability.IN_STOCK,
    Availability.LIMITED,
    Availability.PREORDER,
    Availability.BACKORDER,
}


@dataclass(frozen=True, slots=True)
class Result:
    """One labelled page: what was wanted and what was read."""

    url: str
    wanted: frozenset[int]
    price: int | None
    currency_right: bool | None
    availability_right: bool | None
    brand_right: bool | None
    milliseconds: float
    source: str

    @property
    def right(self) -> bool:
        return self.price in self.wanted if self.wanted else self.price is None


def main() -> None:
    parser = flags(__doc__, reads_data=True)
    parser.add_argument("--pages", action="store_true", help="also print every page that is wrong")
    arguments = parser.parse_args()
    folder = recording(arguments.data, "product_pages")
    results = read_labelled(folder, hidden=False)
    printed = f1_row("price F1, markup hidden", read_labelled(folder, hidden=True))
    rows = [*accuracy_rows(results), printed, strings_row(recording(arguments.data, "conformance"))]
    rows += cost_rows(arguments.seed)
    show(rows, as_json=arguments.json)
    if arguments.pages and not arguments.json:
        for result in results:
            if not result.right:
                print(f"wrong: {result.url}: wanted {sorted(result.wanted)}, got {result.price}")


MARKUP = (b"ld+json", b"itemprop", b"typeof=", b'"og:', b'"product:', b'"twitter:')


def read_labelled(folder: pathlib.Path, *, hidden: bool) -> list[Result]:
    labels = json.loads(recording(str(folder), "labels.json").read_text())
    return [read_one(folder / f"{name}.html.gz", label, hidden) for name, label in labels.items()]


def read_one(path: pathlib.Path, label: dict[str, list[str] | str], hidden: bool) -> Result:
    body = gzip.decompress(path.read_bytes())
    for name in MARKUP if hidden else ():
        body = body.replace(name, name[:1] + b"x" * (len(name) - 2) + name[-1:])
    url = str(label["url"])
    start = time.process_time()
    facts = read_page(body, url=url)
    spent = (time.process_time() - start) * 1e3
    offer = facts.offers[0] if facts.offers else Offer("", None, None, None)
    prices = frozenset(filter(None, map(micros, label.get("price", ()))))
    return Result(
        url=url,
        wanted=prices,
        price=offer.price_micros,
        currency_right=_currency_right(label, offer, facts.country),
        availability_right=_availability_right(label, offer),
        brand_right=_same(label.get("brand"), offer.brand),
        milliseconds=spent,
        source=offer.source,
    )


def micros(text: str) -> int | None:
    try:
        return int(Decimal(text.strip()) * 1_000_000)
    except InvalidOperation:
        return None


def _currency_right(
    label: dict[str, list[str] | str], offer: Offer, country: str | None
) -> bool | None:
    """None where there is no label; a label "$" is right for every dollar."""
    signs = label.get("currency")
    if not signs:
        return None
    if signs[0] == "$":
        return offer.currency in {
            "USD",
            "CAD",
            "AUD",
            "NZD",
            "CLP",
            "MXN",
            "ARS",
            "COP",
            "SGD",
            "HKD",
        }
    return currency_of(signs[0].rstrip("~"), country) == offer.currency


def _availability_right(label: dict[str, list[str] | str], offer: Offer) -> bool | None:
    wanted = label.get("availability")
    if not wanted:
        return None
    return offer.availability is not None and (offer.availability in BUYABLE) == (
        wanted[0] == "InStock"
    )


def _same(wanted: list[str] | str | None, got: str | None) -> bool | None:
    return None if not wanted else (got or "").casefold() in {text.casefold() for text in wanted}


def counts(results: list[Result]) -> tuple[int, int, int]:
    """Prices found right, prices claimed, prices labelled."""
    claimed = [r for r in results if r.price is not None]
    return sum(r.right for r in claimed), len(claimed), sum(bool(r.wanted) for r in results)


def f1_row(name: str, results: list[Result]) -> Row:
    found, claimed, labelled = counts(results)
    return row(name, 2 * found / max(1, claimed + labelled), f"{len(results)} pages")


def accuracy_rows(results: list[Result]) -> list[Row]:
    found, claimed, labelled = counts(results)
    rows: list[Row] = [
        row("price precision", found / max(1, claimed), f"{found} of {claimed}"),
        row("price recall", found / max(1, labelled), f"{found} of {labelled}"),
        f1_row("price F1", results),
    ]
    for name in ("currency", "availability", "brand"):
        known = [r for r in results if getattr(r, f"{name}_right") is not None]
        right = sum(getattr(r, f"{name}_right") for r in known)
        rows.append(row(name, right / max(1, len(known)), f"{right} of {len(known)}"))
    spent = sorted(r.milliseconds for r in results)
    rows.append(row("cost", spent[len(spent) // 2], "ms CPU, median of these pages"))
    return rows


def strings_row(folder: pathlib.Path) -> Row:
    with recording(str(folder), "price_strings.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    right = sum(map(_string_right, lines))
    return row("price strings", right / len(lines), f"{right} of {len(lines)}")


def _string_right(line: dict[str, str]) -> bool:
    price = parse_price(
        line["text"],
        currency_hint=line["currency_hint"] or None,
        decimal_hint=line["decimal_separator_hint"] or None,
    )
    wanted = micros(line["amount"]) if line["amount"] else None
    currency = currency_of(line["currency"]) if line["currency"] else None
    return (price.price_micros, price.currency) == (wanted, currency)


def row(what: str, value: float, note: str) -> Row:
    return {"what": what, "value": value, "note": note}


WORDS = [
    "kettle",
    "steel",
    "litre",
    "water",
    "boil",
    "quick",
    "quiet",
    "kitchen",
    "handle",
    "base",
    "cord",
    "lid",
    "filter",
    "wide",
    "light",
]


def typical_page(
    rng: random.Random, *, size: int = 66_000, links: int = 148, markup: bool = True
) -> bytes:
    """A product page as shops write them: menu, product with JSON-LD, text, related products, footer."""

    def prose(count: int) -> str:
        return " ".join(rng.choices(WORDS, k=count))

    related = 12
    menu = "".join(
        f'<li class="nav-item"><a class="nav-link" href="/c/{rng.choice(WORDS)}-{i}">{prose(2)}</a></li>'
        for i in range(links - related)
    )
    cards = "".join(
        f'<div class="card"><a href="/p/{rng.choice(WORDS)}-{i}"><img src="/i/{i}.jpg" alt="{prose(2)}"></a>'
        f'<h3>{prose(3)}</h3><span class="price">€{rng.randint(5, 90)}.99</span></div>'
        for i in range(related)
    )
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": "Quiet steel kettle",
        "sku": "K-1",
        "brand": {"@type": "Brand", "name": "Acme"},
        "offers": {
            "@type": "Offer",
            "price": "49.90",
            "priceCurrency": "EUR",
            "availability": "InStock",
        },
    }
    block = f'<script type="application/ld+json">{json.dumps(data)}</script>' if markup else ""
    head = f'<title>Quiet steel kettle | Shop</title><link rel="canonical" href="{URL}">{block}'
    product = (
        '<h1>Quiet steel kettle</h1><div class="product-price"><del>€59.90</del> <span>€49.90</span></div>'
        "<form><button>Add to cart</button></form>"
    )
    rest = ""
    fixed = len(menu) + len(cards) + len(head) + len(product) + 200
    while len(rest) + fixed < size:
        rest += f'<div class="row"><p class="text">{prose(45)}</p></div>'
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head><body><nav><ul>{menu}</ul></nav>'
        f"<main>{product}{rest}</main><section>{cards}</section></body></html>"
    ).encode()


def cost_rows(seed: int) -> list[Row]:
    rng = random.Random(seed)
    marked, plain = typical_page(rng), typical_page(rng, markup=False)
    tree = parse_html(marked)
    jobs: dict[str, Callable[[], object]] = {
        "parse alone": lambda: parse_html(marked),
        "links alone": lambda: read_links(tree, URL),
        "full extraction": lambda: read_page(marked, url=URL),
        "full, no markup": lambda: read_page(plain, url=URL),
    }
    note = f"ms CPU, page of {len(marked) / 1000:.0f} KB"
    return [
        row(name, best, note) for name, best in zip(jobs, _best(list(jobs.values())), strict=True)
    ]


def _best(jobs: list[Callable[[], object]], rounds: int = 15, repeats: int = 40) -> list[float]:
    """Milliseconds of CPU per call; the jobs take turns, so that a busy machine slows all alike."""
    best = [float("inf")] * len(jobs)
    for _ in range(rounds):
        for i, job in enumerate(jobs):
            start = time.process_time()
            for _ in range(repeats):
                job()
            best[i] = min(best[i], (time.process_time() - start) / repeats * 1e3)
    return best


if __name__ == "__main__":
    main()
