"""The site that crawlers are measured on is as realistic as it says."""

import random
import statistics

from isal import isal_zlib
from selectolax.lexbor import LexborHTMLParser

from benchmarks.local_site import build_host, build_page, fragments, path_of
from benchmarks.rivals.bare_loop import links_of

PAGES = 120
ORIGIN = "http://127.0.0.1:80"


def test_pages_have_realistic_sizes_and_numbers_of_links() -> None:
    rng = random.Random(1)
    parts = fragments(rng)
    pages = [build_page(page, PAGES, ORIGIN, parts, rng) for page in range(PAGES)]
    sizes = sorted(map(len, pages))
    assert sizes[0] > 30_000
    assert sizes[-1] < 130_000
    assert 55_000 < statistics.median(sizes) < 77_000
    links = statistics.median(len(LexborHTMLParser(page).css("a[href]")) for page in pages)
    assert 140 <= links <= 156


def test_every_page_is_reached_by_links_from_the_home_page() -> None:
    answers = build_host("127.0.0.1", 80, 40, 1)
    waiting, seen = ["/"], {"/"}
    while waiting:
        _, full, _ = answers[waiting.pop().encode()]
        body = isal_zlib.decompress(full.partition(b"\r\n\r\n")[2], wbits=31)
        links = {url.removeprefix(ORIGIN) for url in links_of(LexborHTMLParser(body), ORIGIN)}
        waiting += links - seen - {"/basket"}
        seen |= links
    assert seen == {"/basket", *(path_of(page, 40) for page in range(40))}
