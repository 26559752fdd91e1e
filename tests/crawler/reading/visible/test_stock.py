"""Whether a product can be bought, by words and buttons, when markup is silent."""

import pytest

from crawler.reading.facts import Availability
from tests.crawler.reading.pages import read

IN, OUT = Availability.IN_STOCK, Availability.OUT_OF_STOCK


def seen(body: str, lang: str = "en") -> Availability | None:
    page = read(f"<main><h1>Kettle</h1><b class=price>€49.90</b>{body}</main>", lang=lang)
    return page.offers[0].availability


@pytest.mark.parametrize(
    ("body", "availability"),
    [
        ("<button>Add to cart</button>", IN),
        ("<button disabled>Add to cart</button><p>Sold out</p>", OUT),
        ("<p>Currently unavailable</p>", OUT),
        ("<p>In stock</p>", IN),
        ("<p>A kettle</p>", None),
    ],
)
def test_availability_is_seen_when_markup_is_silent(
    body: str, availability: Availability | None
) -> None:
    assert seen(body) is availability


@pytest.mark.parametrize("words", ["在庫切れ", "在庫がありません", "完売", "売り切れ", "品切れ"])
def test_sold_out_is_read_in_japanese(words: str) -> None:
    assert seen(f"<p>{words}</p><button disabled>カートに入れる</button>", lang="ja") is OUT
    assert seen("<p>在庫あり</p>", lang="ja") is IN


@pytest.mark.parametrize(
    "button",
    [
        "<button disabled>Add to cart</button>",
        '<button aria-disabled="true">Add to cart</button>',
        '<a href="#" class="btn disabled">Add to cart</a>',
        '<input type=submit disabled value="Add to cart">',
    ],
)
def test_a_block_named_after_buying_is_no_button(button: str) -> None:
    assert seen(f'<div class="buy-box"><span>Add to cart:</span>{button}</div>') is None


def test_a_block_without_buttons_can_be_one() -> None:
    assert seen('<div class="buy-now" onclick="buy()"><span>Add to cart</span></div>') is IN
