"""The operator's rule for a stubborn shop wins, and is checked before the crawl."""

import pytest

from crawler.reading.markup.overrides import Override, override_faults
from crawler.reading.rules import ChangeDefinition, ReadingRules, rule_faults
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
    ],
)
def test_an_override_decides_the_price(rule: str) -> None:
    rules = ReadingRules(override=Override(price=rule, currency="EUR"))
    facts = read(BODY, head=ld(product("59.90")), rules=rules)
    assert price_of(facts) == (49.9, "EUR")
    assert facts.offers[0].source == "override"
    assert rule_faults(rules) == []


def test_an_override_that_finds_nothing_leaves_the_readers_to_decide() -> None:
    rules = ReadingRules(override=Override(price=".nowhere"))
    assert price_of(read(BODY, rules=rules)) == (59.9, "EUR")


@pytest.mark.parametrize("rule", ["div[", "$.", "$.a[", "", "::attr(x)", "p $x"])
def test_a_bad_override_is_refused_with_its_name(rule: str) -> None:
    [fault] = override_faults(Override(price=rule))
    assert fault.startswith("price: ")


def test_every_fault_of_the_rules_is_named() -> None:
    rules = ReadingRules(
        override=Override(price="a[", currency="euro"), currency="EURO", country="Germany"
    )
    assert [fault.split(":")[0] for fault in rule_faults(rules)] == [
        "override.price",
        "override.currency",
        "currency",
        "country",
    ]


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
