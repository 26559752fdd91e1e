"""What the simulated shop sends agrees with its truth."""

import gzip
import json
import re
from dataclasses import replace

import pytest
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from crawler.shop.money import plain, visible
from crawler.shop.respond import ShopResponse, respond
from crawler.shop.settings import (
    DAY,
    HOUR,
    ShopSettings,
    SiteSettings,
    Validators,
    Vanish,
    Wall,
    varied_shop,
)
from crawler.shop.world import ShopWorld

START = 1_700_000_000.0
CALM = varied_shop(starts_at=START, days=14, offers=40)
CALM = replace(CALM, sites=tuple(replace(site, busy_share=0.0) for site in CALM.sites))
WORLD = ShopWorld(CALM, seed=5)
HOSTS = [site.host for site in WORLD.sites]


def get(host: str, target: str, at: float = START, **headers: str) -> ShopResponse:
    asked = {name.replace("_", "-"): value for name, value in headers.items()}
    return respond(WORLD, host, target, asked, at)


def structured_price(tree: LexborHTMLParser) -> str | None:
    """The price by the page's own markup, whichever it has."""
    for node in tree.css('script[type="application/ld+json"]'):
        return str(json.loads(node.text())["offers"]["price"])
    for node in tree.css("script#__NEXT_DATA__"):
        product = json.loads(node.text())["props"]["pageProps"]["product"]
        return f"{product['price']['amount']:.2f}"
    for node in tree.css('meta[itemprop="price"], meta[property="product:price:amount"]'):
        return node.attributes["content"]
    return None


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("day", [0, 3, 11])
def test_the_page_shows_the_true_price(host: str, day: int) -> None:
    at = START + day * DAY
    site = WORLD.site(host)
    assert site is not None
    alive = [number for number in range(len(site)) if site.is_live(number, at)]
    for number in alive:
        answer = get(host, site.path(number), at)
        truth = site.life(number).price(at)
        tree = LexborHTMLParser(answer.body)
        written = structured_price(tree)
        shown = tree.css_first("main .buy .price")
        assert answer.status == 200
        assert shown is not None
        assert shown.text() == visible(truth, site.settings.currency)
        assert written in (None, plain(truth, site.settings.currency))
        assert (written is None) == (host == "kitchen.shop.test")


@pytest.mark.parametrize("host", HOSTS)
def test_a_lower_price_stands_beside_the_old_one_struck_through(host: str) -> None:
    site = WORLD.site(host)
    assert site is not None
    struck = 0
    for number in range(len(site)):
        life = site.life(number)
        for k in range(1, min(6, len(life.price_at))):
            at = float(life.price_at[k])
            before, now = int(life.price_micros[k - 1]), int(life.price_micros[k])
            old = LexborHTMLParser(get(host, site.path(number), at).body).css_first("main s")
            if before >= 1.02 * now:
                struck += 1
                assert old is not None
                assert old.text() == visible(before, site.settings.currency)
            else:
                assert old is None
    assert struck > 5


def test_last_modified_alone_never_hides_a_change_of_the_page() -> None:
    site = SiteSettings(
        "dates.test",
        validators=Validators.LAST_MODIFIED,
        fast_share=0.5,
        categories=1,
        busy_share=0.0,
    )
    world = ShopWorld(ShopSettings((site,), START), seed=1)
    slow = world.sites[0].newest(START, 100)[::10]
    not_modified = 0
    for path in map(world.sites[0].path, slow):
        first = respond(world, "dates.test", path, {}, START)
        since = {"If-Modified-Since": first.headers["Last-Modified"]}
        for hour in range(0, 60, 3):
            now = respond(world, "dates.test", path, since, START + hour * HOUR)
            if now.status == 304:
                not_modified += 1
                assert (
                    respond(world, "dates.test", path, {}, START + hour * HOUR).body == first.body
                )
    assert not_modified > 0


def test_the_same_seed_gives_the_same_bytes() -> None:
    twin = ShopWorld(CALM, seed=5)
    for host in HOSTS:
        site = WORLD.site(host)
        assert site is not None
        for target in [
            "/",
            "/c/garden",
            "/sitemap.xml",
            "/sitemap-1.xml",
            "/feed.xml",
            site.path(9),
        ]:
            assert get(host, target, START + DAY) == respond(twin, host, target, {}, START + DAY)


def test_all_text_is_escaped() -> None:
    for host in HOSTS:
        for target in ["/", "/c/garden", "/c/toys-games"]:
            body = get(host, target).body
            assert b"<mini>" not in body
            assert b"Toys & Games" not in body
    site = WORLD.sites[0]
    mini = next(n for n in range(len(site)) if "mini" in site.path(n) and site.is_live(n, START))
    body = get(site.host, site.path(mini)).body
    assert b"<mini>" not in body
    assert b"\\u003cmini>" in body
    heading = LexborHTMLParser(body).css_first("h1")
    assert heading is not None
    assert "<mini>" in heading.text()


@pytest.mark.parametrize("host", HOSTS)
def test_304_is_sent_exactly_when_the_page_is_the_same(host: str) -> None:
    site = WORLD.site(host)
    assert site is not None
    number = max(
        range(40), key=lambda n: len(site.life(n).price_at) * site.is_live(n, START + 9 * DAY)
    )
    first = get(host, site.path(number), START + 5 * DAY)
    validators = {}
    if "ETag" in first.headers:
        validators["If_None_Match"] = first.headers["ETag"]
    if "Last-Modified" in first.headers:
        validators["If_Modified_Since"] = first.headers["Last-Modified"]
    same = 0
    for step in range(200):
        at = START + 5 * DAY + step * 0.5 * HOUR
        full = get(host, site.path(number), at)
        again = get(host, site.path(number), at, **validators)
        if again.status == 304:
            same += 1
            assert full.body == first.body
            assert again.body == b""
        else:
            assert again.body == full.body
            assert not validators or full.body != first.body or "ETag" not in first.headers
    assert (same > 0) == bool(validators)
    assert same < 200


def test_if_none_match_outranks_if_modified_since() -> None:
    site = WORLD.sites[0]
    number = site.newest(START, 1)[0]
    late = "Fri, 01 Jan 2100 00:00:00 GMT"
    assert get(site.host, site.path(number), If_Modified_Since=late).status == 304
    assert (
        get(site.host, site.path(number), If_Modified_Since=late, If_None_Match='"x"').status == 200
    )
    assert get(site.host, site.path(number), If_Modified_Since="yesterday").status == 200


def test_a_vanished_offer_answers_404_or_410() -> None:
    site = WORLD.sites[2]
    gone = [n for n in range(len(site)) if START < site.gone_at[n] < START + 13 * DAY]
    statuses = {get(site.host, site.path(n), float(site.gone_at[n])).status for n in gone}
    assert statuses == {404, 410}


@pytest.mark.parametrize(("vanish", "status"), [(Vanish.SOFT, 200), (Vanish.REDIRECT, 301)])
def test_a_vanished_offer_may_apologise_or_lead_to_its_category(
    vanish: Vanish, status: int
) -> None:
    site = SiteSettings("gone.test", vanish=vanish, lifetime_days=5.0, busy_share=0.0)
    world = ShopWorld(ShopSettings((site,), START), seed=1)
    number = int(world.sites[0].gone_at.argmin())
    answer = respond(world, "gone.test", world.sites[0].path(number), {}, START + 50 * DAY)
    assert answer.status == status
    assert "price" not in answer.body.decode()
    if vanish is Vanish.REDIRECT:
        assert answer.headers["Location"].startswith("http://gone.test/c/")


def test_gzip_is_sent_only_when_accepted() -> None:
    plain_page = get(HOSTS[0], "/")
    packed = get(HOSTS[0], "/", Accept_Encoding="br, gzip")
    assert "Content-Encoding" not in plain_page.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain_page.body
    assert packed.headers["ETag"] == plain_page.headers["ETag"]


@pytest.mark.parametrize("target", ["/sitemap.xml", "/sitemap-1.xml", "/feed.xml", "/deals.xml"])
@pytest.mark.parametrize("host", HOSTS)
def test_sources_are_well_formed_and_lead_to_pages(host: str, target: str) -> None:
    root = etree.fromstring(get(host, target, START + DAY).body)
    links = [node for name in ("loc", "link") for node in root.iter(f"{{*}}{name}")]
    urls = [node.text or node.get("href") or "" for node in links]
    assert len(urls) > 1
    assert all(url.startswith(f"http://{host}/") for url in urls)
    targets = [url.removeprefix(f"http://{host}") for url in urls]
    statuses = [get(host, target, START + DAY).status for target in targets]
    assert set(statuses) <= {200, 404, 410}  # a sitemap is up to an hour old
    assert statuses.count(200) > 0.9 * len(statuses)


def test_busy_pages_say_when_to_come_back_and_are_about_as_many_as_set() -> None:
    site = SiteSettings("busy.test", busy_share=0.2, retry_after=45)
    world = ShopWorld(ShopSettings((site,), START), seed=1)
    answers = [respond(world, "busy.test", f"/?n={n}", {}, START) for n in range(500)]
    busy = [answer for answer in answers if answer.status == 503]
    assert 60 < len(busy) < 140
    assert {answer.headers["Retry-After"] for answer in busy} == {"45"}
    assert respond(world, "busy.test", "/robots.txt", {}, START).status == 200


def test_some_pages_are_slow_and_stay_so() -> None:
    site = SiteSettings("slow.test", slow_share=0.1, slow_seconds=5.0)
    world = ShopWorld(ShopSettings((site,), START), seed=1)

    def slow(at: float) -> list[int]:
        answers = (respond(world, "slow.test", f"/?n={n}", {}, at) for n in range(300))
        return [n for n, answer in enumerate(answers) if answer.duration > 4]

    assert 10 < len(slow(START)) < 60
    both = set(slow(START)) & set(slow(START + DAY))
    assert len(both) >= 0.9 * len(slow(START))


def test_the_wall_stands_for_its_hour_and_spares_robots() -> None:
    wall = Wall(START + HOUR, START + 2 * HOUR, status=200)
    site = SiteSettings("walled.test", walls=(wall,), busy_share=0.0)
    world = ShopWorld(ShopSettings((site,), START), seed=1)

    def home(at: float) -> bytes:
        return respond(world, "walled.test", "/", {}, at).body

    assert b"captcha" not in home(START + HOUR - 1)
    assert b"captcha" in home(START + HOUR)
    assert b"captcha" in home(START + 2 * HOUR - 1)
    assert b"captcha" not in home(START + 2 * HOUR)
    robots = respond(world, "walled.test", "/robots.txt", {}, START + HOUR)
    assert robots.body.startswith(b"User-agent: *")


def test_the_forbidden_corner_is_linked_and_forbidden() -> None:
    home = LexborHTMLParser(get(HOSTS[0], "/").body)
    links = {node.attributes["href"] for node in home.css("a")}
    robots = get(HOSTS[0], "/robots.txt").body.decode()
    for path in re.findall(r"Disallow: (\S+)", robots):
        assert path in links
        assert get(HOSTS[0], path).status == 200


@pytest.mark.parametrize("size", [20_000, 60_000])
def test_pages_can_be_as_heavy_as_real_ones(size: int) -> None:
    site = SiteSettings("heavy.test", page_bytes=size)
    world = ShopWorld(ShopSettings((site,), START), seed=1)
    path = world.sites[0].path(world.sites[0].newest(START, 1)[0])
    body = respond(world, "heavy.test", path, {}, START).body
    assert 0.9 * size < len(body) < 1.1 * size


def test_an_unknown_host_is_misdirected() -> None:
    assert get("elsewhere.test", "/").status == 421
