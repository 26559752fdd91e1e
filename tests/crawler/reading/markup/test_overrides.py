"""The operator's rule for a stubborn shop wins, and is checked before the crawl."""

import pytest

from crawler.reading.markup.overrides import Override, is_json_path, is_selector_rule, whole_path
from crawler.reading.rules import ChangeDefinition, ReadingRules
from tests.crawler.reading.pages import ld, price_of, product, read

BODY = """<h1>Kettle</h1><div class=price>€59.90</div><i data-now="49.90">deal</i>
  <em class=x>49,90 €</em><script id=state>{"a": [{"b-c": "49.90"}]}</script>"""


@pytest.mark.parametrize(
    "rule",
    [
        "em.x",
        "i[data-now]::attr(data-now)",
        "$.a[0].b-c",
        "script#state $.a[0].b-c",
        '$["a"][0]["b-c"]',
        whole_path("a.0.b-c"),
    ],
)
def test_an_override_decides_the_price(rule: str) -> None:
    rules = ReadingRules(override=Override(price=rule, currency="EUR"))
    facts = read(BODY, head=ld(product("59.90")), rules=rules)
    assert price_of(facts) == (49.9, "EUR")
    assert facts.offers[0].source == "override"
    assert is_json_path(rule) if "$" in rule else is_selector_rule(rule)


def test_an_override_that_finds_nothing_leaves_the_readers_to_decide() -> None:
    rules = ReadingRules(override=Override(price=".nowhere"))
    assert price_of(read(BODY, rules=rules)) == (59.9, "EUR")


@pytest.mark.parametrize(
    "rule", ["div[", "$.", "$.a[", "", "::attr(x)", "p $x", "offers..price", "div[ $.a"]
)
def test_a_rule_that_cannot_be_followed_is_neither_selector_nor_path(rule: str) -> None:
    assert not is_selector_rule(rule)
    assert not is_json_path(rule)


def test_the_operator_can_watch_the_text_of_offer_pages_too() -> None:
    one = read(BODY, rules=ReadingRules(change=ChangeDefinition.CONTENT))
    two = read(BODY + "<p>News</p>", rules=ReadingRules(change=ChangeDefinition.CONTENT))
    assert one.text_hash != two.text_hash
    assert read(BODY).text_hash == 0


@pytest.mark.parametrize("tag", ["main", "div"])
def test_menus_and_scripts_do_not_change_the_main_text(tag: str) -> None:
    text = f"<{tag}><h1>About us</h1><p>We sell kettles since 1950.</p></{tag}>"
    one = read(f"<nav>Spring sale</nav>{text}<script>var t=1</script><footer>(c) 2026</footer>")
    two = read(f"<nav>Summer sale</nav>{text}<script>var t=2</script><footer>(c) 2027</footer>")
    assert one.text_hash == two.text_hash != 0
