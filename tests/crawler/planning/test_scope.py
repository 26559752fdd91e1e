"""Which URLs of a site are ours to crawl."""

from pathlib import Path

from crawler.config import SiteSettings
from crawler.engine import Finish
from crawler.planning.scope import OutOfScope, compile_site
from tests.fakes import Answer, config_for, crawl_virtually, page

SITE = compile_site(
    1,
    SiteSettings(
        name="a",
        start=("http://a.test/",),
        sitemaps=("http://a.test/map.xml",),
        include=(r"/p/",),
        exclude=(r"/p/private",),
        max_depth=2,
    ),
)


def test_what_the_operator_named_is_never_out_of_scope() -> None:
    assert SITE.refuses("http://a.test/", depth=0) is None
    assert SITE.refuses("http://a.test/map.xml", depth=0) is None


def test_what_is_found_follows_the_rules() -> None:
    assert SITE.refuses("http://a.test/p/1", depth=2) is None
    assert SITE.refuses("http://a.test/about", depth=1) is OutOfScope.NOT_INCLUDED
    assert SITE.refuses("http://a.test/p/private/1", depth=1) is OutOfScope.EXCLUDED
    assert SITE.refuses("http://a.test/p/1", depth=3) is OutOfScope.DEPTH


def test_a_crawl_begins_at_its_start_page_though_include_does_not_fit_it(tmp_path: Path) -> None:
    def shop(url: str, at: float) -> Answer:
        if url.endswith("/robots.txt"):
            return Answer(status=404)
        return Answer(page("/p/1", "/about"))

    site = {"name": "a", "start": ["http://a.test/"], "include": ["/p/"]}
    config = config_for(tmp_path / "test.db", [], site=[site])
    first, _ = crawl_virtually(config, shop, once=True)
    assert first.tally.fetches == 2
    again, _ = crawl_virtually(config, shop, once=True)  # with the pages from the database
    assert (again.finish, again.tally.fetches) == (Finish.DONE, 0)
