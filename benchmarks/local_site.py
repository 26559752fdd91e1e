"""A shop of realistic pages on several loopback hosts, served by a process of its own.

Pages have 30 to 120 KB (60 KB and 148 links are typical): menu, JSON-LD, gallery, description, reviews, cards of
other products with prices, scripts and styles.  All are built and compressed before the first request, so that
serving one is little more than a write.  `python -m benchmarks.local_site --pages 2000` prints its port.
"""

import argparse
import asyncio
import json
import pathlib
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import xxhash
from isal import igzip

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))

HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 9))
_CARDS = 24  # page i shows the pages 24 i + 1 to 24 i + 24: all are reached from the home page
_MENU = 70
_PRODUCTS_PER_CATEGORY = 30
# fmt: off
_WORDS = (
    "steel", "walnut", "compact", "classic", "river", "alpine", "linen", "copper", "summit",
    "harbour", "cedar", "granite", "velvet", "cobalt", "meadow", "lantern", "kettle", "bracket",
    "tripod", "saddle", "jacket", "trainer", "monitor", "speaker", "charger", "blender",
    "drawer", "mirror", "carpet", "hammock", "racket", "helmet", "paddle", "anchor", "compass",
    "thermos", "skillet",
)
# fmt: on
_HEAD = (
    "HTTP/1.1 {status}\r\nServer: shop\r\nDate: Wed, 18 Nov 2026 09:00:00 GMT\r\n"
    "Cache-Control: public, max-age=60\r\nVary: Accept-Encoding\r\nX-Frame-Options: SAMEORIGIN\r\n"
    "X-Content-Type-Options: nosniff\r\nConnection: keep-alive\r\n"
)


@dataclass(frozen=True, slots=True)
class Fragments:
    """Pieces that pages of one shop share, in several variants."""

    styles: str
    scripts: tuple[str, ...]
    reviews: tuple[str, ...]
    paragraphs: tuple[str, ...]


def path_of(page: int, pages: int) -> str:
    """The address of a page on its host: home, a category or a product."""
    if page == 0:
        return "/"
    first, second = _WORDS[page % len(_WORDS)], _WORDS[page * 7 % len(_WORDS)]
    kind = "c" if page <= pages // _PRODUCTS_PER_CATEGORY else "p"
    return f"/{kind}/{page}-{first}-{second}"


def fragments(rng: random.Random) -> Fragments:
    return Fragments(
        styles="".join(
            f".{rng.choice(_WORDS)}-{n}{{margin:0 {n}px;color:#{rng.randrange(1 << 24):06x}}}"
            for n in range(150)
        ),
        scripts=tuple(_script(rng) for _ in range(60)),
        reviews=tuple(_review(rng) for _ in range(100)),
        paragraphs=tuple(f"<p>{_prose(rng, 60)}</p>" for _ in range(100)),
    )


def _prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=words)).capitalize() + "."


def _script(rng: random.Random) -> str:
    """Data and code that a page carries along: from 4 to 80 KB, most often about 30."""
    size = min(80_000, max(4_000, int(rng.lognormvariate(10.2, 0.75))))
    entries = [
        {
            "id": n,
            "name": rng.choice(_WORDS),
            "stock": rng.randrange(99),
            "tags": rng.choices(_WORDS, k=3),
        }
        for n in range(size // 90)
    ]
    return f"<script>window.__data={json.dumps(entries)};</script>"


def _review(rng: random.Random) -> str:
    return (
        f'<li class="review"><div class="stars" aria-label="{rng.randrange(1, 6)} of 5"></div>'
        f'<h4>{_prose(rng, 4)}</h4><p class="text">{_prose(rng, 45)}</p>'
        f'<footer class="by">{rng.choice(_WORDS)}, 2026-0{rng.randrange(1, 10)}-11</footer></li>'
    )


def price_of(page: int) -> str:
    return f"{5 + page * 37 % 900}.{page * 13 % 100:02d}"


def build_page(page: int, pages: int, origin: str, parts: Fragments, rng: random.Random) -> str:
    """One page of the host at `origin`, which has `pages` of them."""
    path = path_of(page, pages)
    title = " ".join(path.rpartition("/")[2].split("-")[1:]).title() or "The Shop"
    product = path.startswith("/p/")
    return "".join(
        (
            _head(title, origin + path, parts, page if product else None),
            _menu(pages),
            _product(title, page, parts, rng) if product else f"<main><h1>{title}</h1>",
            _cards(page, pages),
            "</main>",
            _footer(pages, origin),
            rng.choice(parts.scripts),
            "</body></html>",
        )
    )


def _head(title: str, url: str, parts: Fragments, product: int | None) -> str:
    metas = "".join(f'<meta name="m{n}" content="{word}">' for n, word in enumerate(_WORDS[:12]))
    assets = "".join(f'<link rel="preload" as="script" href="/assets/{n}.js">' for n in range(15))
    linked_data = "" if product is None else _linked_data(title, url, product)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} | The Shop</title>'
        f'<link rel="canonical" href="{url}"><meta property="og:title" content="{title}">'
        f'<meta property="og:type" content="product"><meta property="og:url" content="{url}">'
        f"{metas}{assets}<style>{parts.styles}</style>{linked_data}</head><body>"
    )


def _linked_data(title: str, url: str, page: int) -> str:
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": title,
        "sku": f"SKU{page}",
        "brand": {"@type": "Brand", "name": _WORDS[page % 7]},
        "image": [f"/img/{page}-{n}.jpg" for n in range(4)],
        "description": " ".join(_WORDS[:30]),
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4.4, "reviewCount": 31},
        "offers": {
            "@type": "Offer",
            "price": price_of(page),
            "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
            "url": url,
        },
    }
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def _menu(pages: int) -> str:
    items = (
        f'<li class="menu__item level-2"><a class="menu__link" href="{path_of(n, pages)}">'
        f'<span class="menu__text">{_WORDS[n % len(_WORDS)].title()} {n}</span></a></li>'
        for n in range(1, min(_MENU, pages - 1) + 1)
    )
    return f'<header><nav><ul class="menu"><li><a href="/">Home</a></li>{"".join(items)}</ul></nav></header>'


def _product(title: str, page: int, parts: Fragments, rng: random.Random) -> str:
    images = "".join(
        f'<img src="/img/{page}-{n}-400.jpg" srcset="/img/{page}-{n}-800.jpg 800w, '
        f'/img/{page}-{n}-1600.jpg 1600w" alt="{title}" loading="lazy">'
        for n in range(6)
    )
    table = "".join(
        f"<tr><th>{word}</th><td>{n} mm</td></tr>" for n, word in enumerate(_WORDS[:20])
    )
    return (
        f'<main><ol class="crumbs"><li><a href="/">Home</a></li><li><a href="#">{title}</a></li></ol>'
        f'<div class="gallery">{images}</div><h1 class="product__title">{title}</h1>'
        f'<div class="product__price"><span class="price">€{price_of(page)}</span></div>'
        f'<button class="add">Add to basket</button><div class="text">{"".join(rng.choices(parts.paragraphs, k=6))}'
        f'</div><table class="specs">{table}</table><ul class="reviews">{"".join(rng.choices(parts.reviews, k=10))}</ul>'
    )


def _cards(page: int, pages: int) -> str:
    shown = [(page * _CARDS + n) % pages for n in range(1, _CARDS + 1)]
    return f'<section class="cards">{"".join(_card(n, path_of(n, pages)) for n in shown)}</section>'


def _card(page: int, path: str) -> str:
    name = f"{_WORDS[page % len(_WORDS)]} {_WORDS[page * 7 % len(_WORDS)]}".title()
    return (
        f'<article class="card"><a class="card__image" href="{path}"><img src="/img/{page}-0-200.jpg" '
        f'alt="{name}" loading="lazy" width="200" height="200"></a><h3 class="card__title">'
        f'<a href="{path}">{name}</a></h3><div class="card__price"><span class="price">€{price_of(page)}</span>'
        f'</div><div class="card__badges"><span class="badge">New</span></div></article>'
    )


def _footer(pages: int, origin: str) -> str:
    own = "".join(
        f'<li><a class="footer__link" href="{origin}{path_of(n % pages, pages)}">{word.title()}</a></li>'
        for n, word in enumerate(_WORDS[:20], start=1)
    )
    return (
        f'<footer class="footer"><ul>{own}<li><a href="/basket">Basket</a></li>'
        '<li><a href="#top">To the top</a></li><li><a href="/#news">News</a></li>'
        '<li><a href="mailto:shop@example.com">Mail</a></li>'
        '<li><a href="javascript:void(0)">Cookies</a></li>'
        '<li><a href="https://social.example/shop">Follow us</a></li>'
        '<li><a href="https://video.example/@shop">Watch us</a></li></ul></footer>'
    )


def _sitemap(pages: int, origin: str) -> str:
    entries = "".join(
        f"<url><loc>{origin}{path_of(page, pages)}</loc><lastmod>2026-11-01</lastmod></url>"
        for page in range(pages)
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def _answers(host: str, port: int, pages: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """(path, content type, text) of all that a host serves."""
    rng, origin = random.Random(seed), f"http://{host}:{port}"
    yield (
        "/robots.txt",
        "text/plain",
        f"User-agent: *\nDisallow: /basket\nSitemap: {origin}/sitemap.xml\n",
    )
    yield "/sitemap.xml", "application/xml", _sitemap(pages, origin)
    parts = fragments(rng)
    for page in range(pages):
        text = build_page(page, pages, origin, parts, rng)
        yield path_of(page, pages), "text/html; charset=utf-8", text


def build_host(
    host: str, port: int, pages: int, seed: int
) -> dict[bytes, tuple[bytes, bytes, bytes]]:
    """For each path: its ETag, the whole answer, and the answer to who has it already."""
    built = {}
    for path, kind, text in _answers(host, port, pages, seed):
        body = igzip.compress(text.encode(), compresslevel=2)
        tag = f'"{xxhash.xxh3_64_hexdigest(body)}"'
        head = f"{_HEAD.format(status='200 OK')}Content-Type: {kind}\r\nContent-Encoding: gzip\r\n"
        full = f"{head}ETag: {tag}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        same = f"{_HEAD.format(status='304 Not Modified')}ETag: {tag}\r\n\r\n".encode()
        built[path.encode()] = (tag.encode(), full, same)
    return built


_MISSING = f"{_HEAD.format(status='404 Not Found')}Content-Length: 0\r\n\r\n".encode()


class _Connection(asyncio.Protocol):
    """Answers GET requests on one connection, one after the other."""

    def __init__(self, answers: dict[bytes, tuple[bytes, bytes, bytes]]) -> None:
        self._answers = answers
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            request, self._received = self._received[:end], self._received[end + 4 :]
            self._transport.write(self._answer(request))

    def _answer(self, request: bytes) -> bytes:
        found = self._answers.get(request.split(b" ", 2)[1])
        if found is None:
            return _MISSING
        tag, full, same = found
        return same if tag in request else full


async def serve(pages: int, seed: int) -> None:
    """Serves `pages` pages over all hosts until killed; prints the port once all is built."""
    loop = asyncio.get_running_loop()
    answers: dict[str, dict[bytes, tuple[bytes, bytes, bytes]]] = {host: {} for host in HOSTS}
    first = await loop.create_server(lambda: _Connection(answers[HOSTS[0]]), HOSTS[0], 0)
    port = first.sockets[0].getsockname()[1]
    for host in HOSTS[1:]:
        await loop.create_server(lambda host=host: _Connection(answers[host]), host, port)  # type: ignore[misc]
    for number, host in enumerate(HOSTS):
        share = pages // len(HOSTS) + (number < pages % len(HOSTS))
        answers[host].update(build_host(host, port, share, seed + number))
    print(port, flush=True)
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    asyncio.run(serve(arguments.pages, arguments.seed))


if __name__ == "__main__":
    main()
