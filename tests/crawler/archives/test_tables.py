"""Tables of prices become shops: what their pages say is what the table says, and the engine can crawl them."""

from pathlib import Path

import numpy as np
import pytest

from crawler.archives.captures import ArchiveError
from crawler.archives.price_table import read_tables
from crawler.archives.recording import open_recording
from crawler.archives.tables import TableShop
from crawler.archives.trial import Job, run_trial, span_of
from crawler.config import Config
from tests.crawler.archives.recorded_prices import DAY, HOUR, MONDAY, write_shop


def table(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_rows_that_repeat_a_price_are_one_span(tmp_path: Path) -> None:
    text = "offer,date,price\na,20260105,1.50\na,20260106,1.50\na,20260107,2\nb,2026-01-06,3\n"
    (shop,) = read_tables([table(tmp_path / "daily.csv", text)])
    truth = shop.truth
    assert truth.price_micros.tolist() == [1_500_000, 2_000_000, 3_000_000]
    assert (truth.at - MONDAY).tolist() == [0.0, 2 * DAY, DAY]
    assert truth.until_at.tolist() == [MONDAY + 2 * DAY, np.inf, np.inf]
    assert truth.between == DAY


def test_an_offer_is_gone_from_the_snapshot_after_its_last(tmp_path: Path) -> None:
    prices = table(tmp_path / "p.csv", "offer,t,price\na,0,1\nb,0,1\n")
    details = table(tmp_path / "d.csv", "offer,t_last\na,100\nb,300\n")
    moments = table(tmp_path / "m.csv", "t\n0\n100\n200\n300\n")
    (shop,) = read_tables([prices, details, moments])
    assert shop.truth.until_at.tolist() == [200.0, np.inf]


def test_an_empty_price_means_gone_until_there_is_one_again(tmp_path: Path) -> None:
    prices = table(tmp_path / "p.csv", "offer,t,price\na,0,1\na,100,\na,200,1\n")
    (shop,) = read_tables([prices])
    assert shop.truth.at.tolist() == [0.0, 200.0]
    assert shop.truth.until_at.tolist() == [100.0, np.inf]
    assert TableShop(shop).page("/offer/0", 150.0) is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("sku,cost\na,1\n", "want columns offer, time and price"),
        ("offer,time,price\na,soon,1\n", "want epoch seconds or a date"),
        ("offer,time,price\na,1\n", "want 3 values in each row"),
        ("offer,time,price\n", "want at least one row"),
        ("", "want columns offer, time and price"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ArchiveError, match=complaint):
        read_tables([table(tmp_path / "bad.csv", text)])


def test_a_file_that_is_no_parquet_says_so(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="want a Parquet file"):
        read_tables([table(tmp_path / "bad.parquet", "no")])


def test_a_listing_shows_what_is_live_newest_first(tmp_path: Path) -> None:
    (shop,) = read_tables(list(write_shop(tmp_path)))
    pages = TableShop(shop)
    late = shop.titles.index("Thing, no. 13")
    group = int(shop.group[late])
    before = pages.page(f"/group/{group}/1", MONDAY + DAY)
    after = pages.page(f"/group/{group}/1", MONDAY + 3 * DAY)
    assert before is not None
    assert after is not None
    assert f'"/offer/{late}"' not in before[0]
    assert after[0].index(f'"/offer/{late}"') < after[0].index("Thing, no. 1<")


def test_titles_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    prices = table(tmp_path / "p.csv", "offer,t,price\n</script><b>,0,1\n")
    (shop,) = read_tables([prices])
    found = TableShop(shop).page("/offer/0", 0.0)
    assert found is not None
    assert "<b>" not in found[0]
    assert found[0].count("</script>") == 1


def config(per_hour: int) -> Config:
    return Config.model_validate(
        {
            "crawl": {"user_agent": "T/1.0 (+http://t.test/)", "tick": "1h", "revisit": "30m"},
            "budget": {"per_hour": per_hour},
        }
    )


def test_the_engine_crawls_a_table_and_a_rich_budget_keeps_it_fresh(tmp_path: Path) -> None:
    recording = open_recording(write_shop(tmp_path), ())
    span = span_of(recording.truth, warm_up=DAY, length=None)
    rich = run_trial(Job("rich", config(20), span), recording)
    poor = run_trial(Job("poor", config(3), span), recording)
    assert rich.score.freshness > 0.8
    assert poor.score.freshness < rich.score.freshness
    assert poor.score.fetches <= 3 * (span.ended_at - span.judged_at) / HOUR + 3
    assert rich.score.found == rich.score.born == 2
    assert rich.support.share == 1.0


def test_two_replays_with_one_seed_are_the_same(tmp_path: Path) -> None:
    recording = open_recording(write_shop(tmp_path), ())
    job = Job("twice", config(5), span_of(recording.truth, warm_up=DAY, length=3 * DAY))
    one, two = run_trial(job, recording), run_trial(job, recording)
    assert one.score.curve.freshness.tolist() == two.score.curve.freshness.tolist()
    assert one.support == two.support
