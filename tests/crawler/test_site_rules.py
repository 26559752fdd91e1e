"""A site's settings reach the rules that its pages are read by."""

from crawler.config.model import ReadingSettings, SiteSettings
from crawler.reading.markup.overrides import Override
from crawler.reading.rules import ReadingRules
from crawler.reading.urls import canonical_url
from crawler.site_rules import reading_rules

HREF = "https://shop.example/p?id=7&ref=home&utm_source=mail&size=9"


def rules(**site: object) -> ReadingRules:
    settings = SiteSettings.model_validate({"start": ["https://shop.example/"], **site})
    return reading_rules(ReadingSettings(drop_parameters=("ref",)), settings)


def test_parameters_that_the_operator_drops_do_not_make_another_page() -> None:
    urls = rules(drop_parameters=["Size"]).links.urls
    assert canonical_url(HREF, rules=urls) == "https://shop.example/p?id=7"


def test_only_the_parameters_that_the_operator_keeps_make_another_page() -> None:
    urls = rules(keep_parameters=["ID", "ref"]).links.urls
    assert canonical_url(HREF, rules=urls) == "https://shop.example/p?id=7&ref=home"


def test_a_price_path_is_taken_from_the_root() -> None:
    assert rules(price_path="offers.0.price", currency="EUR").override == Override(
        "$.offers.0.price", "EUR"
    )
