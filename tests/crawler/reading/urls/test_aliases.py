"""Claims that one page is another."""

import pytest

from crawler.reading.urls.aliases import MAX_PATHS, MAX_VARIANTS, Alias, judge_alias

S = "https://www.shop.example"


@pytest.mark.parametrize(
    ("page", "target", "verdict"),
    [
        ("/p/1", None, Alias.SAME),
        ("/p/1", S + "/p/1", Alias.SAME),
        ("/p/1?color=red", S + "/p/1", Alias.ALIAS),
        ("/p/1/", S + "/p/1", Alias.ALIAS),
        ("/p/1", "https://shop.example/p/1", Alias.ALIAS),
        ("/sale/p/1", S + "/p/1", Alias.ALIAS),
        ("/p/1", S + "/", Alias.HOME_PAGE),
        ("/p/1", S + "/en/", Alias.HOME_PAGE),
        ("/p/1", S + "/index.php", Alias.HOME_PAGE),
        ("/?page=2", S + "/", Alias.ALIAS),
        ("/en/", S + "/", Alias.ALIAS),
        ("/p/1", "https://other.example/p/1", Alias.OTHER_SITE),
    ],
)
def test_a_claim_is_judged_by_where_it_leads(page: str, target: str | None, verdict: Alias) -> None:
    assert judge_alias(S + page, target, claims=0) is verdict


def test_a_target_that_too_many_pages_name_is_a_mistake() -> None:
    assert judge_alias(S + "/a", S + "/b", claims=MAX_PATHS) is Alias.TOO_MANY
    assert judge_alias(S + "/b?x=1", S + "/b", claims=MAX_PATHS) is Alias.ALIAS
    assert judge_alias(S + "/b?x=1", S + "/b", claims=MAX_VARIANTS) is Alias.TOO_MANY
