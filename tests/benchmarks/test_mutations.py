"""Damaged pages are read without an exception, and the table says what they cost."""

import gzip
import json
import pathlib
import sys

import pytest

from benchmarks import mutations

PAGE = b"<html><h1>Kettle</h1>" + b"<div class=price><b>&euro;49.90</b></div>" * 200 + b"</html>"


def run(monkeypatch: pytest.MonkeyPatch, folder: pathlib.Path, seed: int) -> None:
    arguments = ["mutations", "--data", str(folder), "--rounds", "2", "--seed", str(seed), "--json"]
    monkeypatch.setattr(sys, "argv", arguments)
    mutations.main()


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    pages = tmp_path / "product_pages"
    pages.mkdir()
    (pages / "labels.json").write_text(json.dumps({"a": {"url": "https://shop.example/p?a=1&b=2"}}))
    (pages / "a.html.gz").write_bytes(gzip.compress(PAGE))
    return tmp_path


def test_every_damaged_document_is_counted_and_none_raises(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, folder, seed=1)
    rows = json.loads(capsys.readouterr().out)
    assert [row["damage"].split(",")[0] for row in rows[::2]] == [
        "flip",
        "cut",
        "repeat",
        "nest",
        "splice",
    ]
    assert {row["read"] for row in rows[::2]} == {2}
    assert {row["raised"] for row in rows} == {0}


def test_an_exception_would_be_counted(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr(mutations, "read_source", fail)
    run(monkeypatch, folder, seed=1)
    rows = json.loads(capsys.readouterr().out)
    assert all(row["raised"] == row["read"] for row in rows[1::2])
