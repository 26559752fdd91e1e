"""What a robots.txt allows us, by RFC 9309."""

import pytest

from crawler.fetching.robots import RobotsRules, parse_robots

KIB = 1024


def rules(text: str | bytes, token: str = "examplebot") -> RobotsRules:
    body = text.encode() if isinstance(text, str) else text
    return parse_robots(body, product_token=token, max_size=500 * KIB)


def test_our_own_group_is_obeyed_rather_than_the_star_group() -> None:
    parsed = rules("User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nDisallow: /private\n")
    assert parsed.allows("http://h/open")
    assert not parsed.allows("http://h/private/x")


@pytest.mark.parametrize("agent", ["example", "examplebot-news", "notexamplebot", "examplebots"])
def test_a_group_of_a_similar_name_is_not_ours(agent: str) -> None:
    parsed = rules(f"User-agent: {agent}\nDisallow: /\n")
    assert parsed.allows("http://h/page")


@pytest.mark.parametrize("agent", ["ExampleBot", "EXAMPLEBOT/2.1", "examplebot # that is us"])
def test_case_version_and_comments_do_not_hide_our_name(agent: str) -> None:
    assert not rules(f"User-agent: {agent}\nDisallow: /\n").allows("http://h/page")


def test_several_groups_for_us_count_together() -> None:
    parsed = rules("User-agent: examplebot\nDisallow: /a\n\nUser-agent: examplebot\nDisallow: /b\n")
    assert not parsed.allows("http://h/a")
    assert not parsed.allows("http://h/b")


def test_without_a_group_of_ours_the_star_group_counts() -> None:
    parsed = rules("User-agent: other\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n")
    assert parsed.allows("http://h/a")
    assert not parsed.allows("http://h/b")


def test_a_byte_order_mark_does_not_hide_the_first_line() -> None:
    assert not rules(b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n").allows("http://h/page")


def test_only_the_first_500_kib_count() -> None:
    filler = "#" + "x" * 98 + "\n"
    text = filler * (500 * KIB // 100 + 1) + "User-agent: *\nDisallow: /\n"
    assert rules(text).allows("http://h/page")


def test_the_longest_rule_wins() -> None:
    parsed = rules("User-agent: *\nDisallow: /shop\nAllow: /shop/public\n")
    assert parsed.allows("http://h/shop/public/1")
    assert not parsed.allows("http://h/shop/other")


def test_crawl_delay_and_sitemaps_are_read() -> None:
    parsed = rules("User-agent: *\nCrawl-delay: 2.5\nSitemap: http://h/map.xml\n")
    assert parsed.crawl_delay == 2.5
    assert parsed.sitemaps == ("http://h/map.xml",)


@pytest.mark.parametrize("body", [b"", b"\x00\xff\xfe", b"<html>nothing</html>", b"Disallow: /"])
def test_rubbish_forbids_nothing(body: bytes) -> None:
    assert rules(body).allows("http://h/page")
