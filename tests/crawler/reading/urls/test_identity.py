"""The identity of a page."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.reading.urls import (
    PLAIN,
    Refusal,
    UrlRules,
    canonical_url,
    canonical_urls,
    host_of,
    page_hash,
    registered_domain,
    whatwg_url,
    why_refused,
)
from crawler.reading.urls.identity import _known

BASE = "https://shop.example/men/shoes?page=2"


@pytest.mark.parametrize(
    ("href", "page"),
    [
        ("/a/b", "https://shop.example/a/b"),
        ("boots", "https://shop.example/men/boots"),
        ("../sale/", "https://shop.example/sale/"),
        ("?page=3", "https://shop.example/men/shoes?page=3"),
        ("//cdn.example/x", "https://cdn.example/x"),
        ("HTTPS://Shop.Example:443/a", "https://shop.example/a"),
        ("http://shop.example:80/a", "http://shop.example/a"),
        ("http://shop.example:8080/a", "http://shop.example:8080/a"),
        ("/a/./b/../c", "https://shop.example/a/c"),
        ("/a/%2e%2e/c", "https://shop.example/c"),
        ("/café au lait", "https://shop.example/caf%C3%A9%20au%20lait"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("/a#reviews", "https://shop.example/a"),
        (" /a\n", "https://shop.example/a"),
        ("\\a\\b", "https://shop.example/a/b"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://user:secret@shop.example/a", "https://shop.example/a"),
    ],
)
def test_an_address_is_read_as_browsers_read_it(href: str, page: str) -> None:
    assert canonical_url(href, BASE) == page


@pytest.mark.parametrize(
    "path", ["/A/b", "/a/b/", "/a//b", "/a%c3%a9", "/a%C3%A9", "/x?", "/x?b&&a"]
)
def test_case_slashes_and_escapes_of_a_path_are_kept(path: str) -> None:
    assert canonical_url(path, BASE) == "https://shop.example" + path


@pytest.mark.parametrize(
    ("href", "page"),
    [
        ("/a?utm_source=x&size=9&UTM_Medium=y", "/a?size=9"),
        ("/a?gclid=1", "/a"),
        ("/a?gclid", "/a"),
        ("/a?size=9&fbclid=2#top", "/a?size=9"),
        ("/a;jsessionid=77?size=9", "/a?size=9"),
        ("/a;color=red", "/a;color=red"),
        ("/a?PHPSESSID=1&b=2", "/a?b=2"),
        ("/a?myutm_source=1", "/a?myutm_source=1"),
    ],
)
def test_tracking_and_session_parameters_do_not_make_another_page(href: str, page: str) -> None:
    assert canonical_url(href, BASE) == "https://shop.example" + page
    assert canonical_url("https://shop.example" + href) == "https://shop.example" + page


def test_a_site_can_extend_the_list_and_sort_its_parameters() -> None:
    rules = UrlRules(tracking=UrlRules().tracking | {"ref", "cmp_*"}, sort_query=True)
    assert (
        canonical_url("/a?z=1&ref=x&CMP_id=2&b=3", BASE, rules) == "https://shop.example/a?b=3&z=1"
    )


@given(st.lists(st.sampled_from(["utm_source=x", "id=7", "ID=7", "size", "color=red&x=", ""])))
def test_only_kept_parameters_make_another_page(parameters: list[str]) -> None:
    rules = UrlRules(keep=frozenset({"id"}))
    kept = [parameter for parameter in parameters if parameter.lower() == "id=7"]
    page = "/a?" + "&".join(kept) if kept else "/a"
    assert (
        canonical_url("/a?x&" + "&".join(parameters), BASE, rules) == "https://shop.example" + page
    )


def test_a_site_may_keep_no_parameter_at_all() -> None:
    rules = UrlRules(keep=frozenset())
    assert canonical_url("/a?id=7&size=9", BASE, rules) == "https://shop.example/a"


def test_a_parameter_that_the_site_keeps_is_kept_though_others_track_by_it() -> None:
    rules = UrlRules(keep=frozenset({"sessionid"}))
    page = "https://shop.example/a?sessionid=7"
    assert canonical_url("/a?sessionid=7&gclid=1", BASE, rules) == page


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("mailto:a@b.example", Refusal.NOT_HTTP),
        ("javascript:void(0)", Refusal.NOT_HTTP),
        ("data:text/html," + "x" * 50_000, Refusal.NOT_HTTP),
        ("http://[::1", Refusal.MALFORMED),
        ("http://a b/", Refusal.MALFORMED),
        ("/" + "x" * 3000, Refusal.TOO_LONG),
        ("http://shop.example/" + "x" * 50_000, Refusal.TOO_LONG),
    ],
)
def test_what_is_no_page_is_refused_with_a_reason(href: str, reason: Refusal) -> None:
    assert canonical_url(href, BASE) is None
    assert why_refused(href, BASE) is reason


urls = st.one_of(
    st.text(),
    st.text(alphabet="/.%2e;?&=#:@\\aA éx\t[]'|^-~_*", max_size=40),
    st.builds("https://{}/{}".format, st.text(max_size=12), st.text(max_size=30)),
    st.text(alphabet="ab.%2e:/?;=#-", max_size=12),
    st.builds("/{}".format, st.text(alphabet="/.;=abjsessionid?&%2eu tm_", max_size=40)),
)


@given(urls, st.sampled_from([None, BASE, "http://u:p@Shop.example:80/x", "nonsense", "mailto:x"]))
@example("/.;jsessionid=1/x", BASE)
@example("http://\ud800/\ud800", None)
def test_a_canonical_url_is_its_own_canonical_url_and_nothing_raises(
    url: str, base: str | None
) -> None:
    page = canonical_url(url, base)
    if page is None:
        assert isinstance(why_refused(url, base), Refusal)
    else:
        assert page.isascii()
        assert "#" not in page
        assert canonical_url(page) == page
        assert canonical_url(page, base) == page
        assert "@" not in host_of(page)


@given(urls, st.sampled_from([None, BASE, "http://127.0.0.1:8080/a/b"]))
def test_the_fast_path_says_what_the_parser_says(url: str, base: str | None) -> None:
    """Without query rules nothing but fragment and credentials may differ from the standard."""
    href = whatwg_url(url, base)
    page = canonical_url(url, base, PLAIN)
    if page is not None:
        assert href is not None
        assert page == href.partition("#")[0] or "@" in href
    elif href is not None:
        assert not href.startswith(("http://", "https://")) or len(href) > PLAIN.max_length


@given(st.lists(urls))
def test_many_links_are_read_like_one(hrefs: list[str]) -> None:
    assert canonical_urls(hrefs, BASE) == [canonical_url(href, BASE) for href in hrefs]


@given(urls, st.sampled_from(["https://shop.example/", "https://shop.example/women/boots/tall"]))
def test_what_a_link_meant_on_one_page_does_not_tell_on_another(href: str, other: str) -> None:
    """Links are remembered for all pages of an origin, but only those that mean the same on each."""
    _known.cache_clear()
    alone = canonical_url(href, BASE)
    _known.cache_clear()
    canonical_url(href, other)
    assert canonical_url(href, BASE) == alone


def test_a_page_hash_fits_sqlite() -> None:
    hashes = [page_hash(f"https://shop.example/{i}") for i in range(1000)]
    assert len(set(hashes)) == 1000
    assert min(hashes) < 0 < max(hashes)
    assert all(-(1 << 63) <= h < 1 << 63 for h in hashes)


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.shop.co.uk", "shop.co.uk"),
        ("a.b.shop.example:8080", "shop.example"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:80", "[::1]"),
        ("localhost", "localhost"),
        ("co.uk", "co.uk"),
        ("mine.myshopify.com", "mine.myshopify.com"),
    ],
)
def test_a_registered_domain_is_what_somebody_bought(host: str, domain: str) -> None:
    assert registered_domain(host) == domain


def test_a_host_carries_its_port() -> None:
    assert host_of("https://shop.example:8443/x") == "shop.example:8443"
    assert host_of("nonsense") == ""
