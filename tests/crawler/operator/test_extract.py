"""extract shows every candidate, the winner and why, for people and for programs."""

import gzip
import json
from pathlib import Path

import pytest

from crawler.operator.extract import extract_files
from tests.crawler.reading.pages import CARDS, URL, html, ld, product

PAGE = html(
    f'<h1>Kettle</h1><b class=price>€49.90</b><a href="/c/pots">Pots</a><a href="https://other.example/">O</a><ul>{CARDS}</ul>',
    head=ld(product(sku="K-1", brand="Acme")) + f'<link rel=canonical href="{URL}">',
)


def test_many_files_give_one_object_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.html").write_bytes(PAGE)
    (tmp_path / "b.html.gz").write_bytes(gzip.compress(PAGE))
    paths = [str(tmp_path / "a.html"), str(tmp_path / "b.html.gz")]
    assert extract_files(paths, url=None, as_json=True) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["url"] == second["url"] == URL
    assert first["kind"] == "offer"
    assert first["offers"] == second["offers"]
    offer = first["offers"][0]
    wanted = {
        "price": 49.9,
        "currency": "EUR",
        "availability": "in_stock",
        "brand": "Acme",
        "gtin": None,
    }
    assert wanted.items() <= offer.items()
    assert (offer["sku"], offer["title"], offer["source"]) == ("K-1", "Kettle", "json-ld")
    assert first["outlinks"]["other_host"] == ["https://other.example/"]
    assert "https://shop.example/c/pots" in first["outlinks"]["same_host"]


def test_a_person_sees_candidates_the_winner_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.html").write_bytes(PAGE)
    assert extract_files([str(tmp_path / "a.html")], url="https://a.example/k", as_json=False) == 0
    out = capsys.readouterr().out
    assert out.startswith("https://a.example/k\n")
    assert "49.90 EUR  in_stock, Acme, K-1" in out
    assert "why: json-ld won, visible agree (confidence 0.94)" in out
    assert "candidate visible    price" in out
    assert "outlinks, other host: 1" in out


def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.html.gz").write_bytes(gzip.compress(PAGE)[:50])
    (tmp_path / "a.html").write_bytes(PAGE)
    paths = [str(tmp_path / name) for name in ("none.html", "cut.html.gz", "a.html")]
    assert extract_files(paths, url=None, as_json=True) == 1
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 1
    assert [line.split(": ")[1] for line in shown.err.splitlines()] == ["cannot be read"] * 2
