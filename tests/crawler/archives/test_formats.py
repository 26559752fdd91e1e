"""Reading archives: every format gives its captures, and damage costs only what is damaged."""

import gzip
import json
import random
import resource
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.archives import columns
from crawler.archives.captures import ArchiveError
from crawler.archives.columns import cache_of
from crawler.archives.index import ArchiveIndex, open_index
from tests.recordings import index_of, response, warc

URLS = [f"http://a.test/{number}" for number in range(5)]
RECORDS = [response(url, f"<p>page {url}".encode()) for url in URLS]


def urls(index: ArchiveIndex) -> set[str]:
    return {index.url(row) for row in range(len(index))}


def arc(*pages: tuple[str, bytes], zipped: bool) -> bytes:
    """ARC 1.0: a line, a block, an empty line."""
    about = b"1 0 test\nURL IP-address Archive-date Content-type Archive-length\n"
    records = [b"filedesc://a.arc 0.0.0.0 20240301120000 text/plain %d\n%b\n" % (len(about), about)]
    for url, body in pages:
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
        line = f"{url} 127.0.0.1 20240301120000 text/html {len(block)}\n".encode()
        records.append(line + block + b"\n")
    return b"".join(gzip.compress(record) if zipped else record for record in records)


def wacz(path: Path, inside: bytes, lines: list[dict[str, object]] | None, **how: int) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("archive/data.warc.gz"), inside, how.get("compress"))
        if lines is not None:
            text = "".join(f"key 20240301120000 {json.dumps(line)}\n" for line in lines)
            archive.writestr("indexes/index.cdxj", text, zipfile.ZIP_DEFLATED)
    return path


def right_lines() -> tuple[bytes, list[dict[str, object]]]:
    data, lines = b"", []
    for url, record in zip(URLS, RECORDS, strict=True):
        member = warc(record)
        lines.append(
            {"url": url, "filename": "data.warc.gz", "offset": len(data), "length": len(member)}
        )
        data += member
    return data, lines


@pytest.mark.parametrize("zipped", [True, False])
def test_warc_and_arc_are_read_zipped_and_plain(tmp_path: Path, *, zipped: bool) -> None:
    assert urls(index_of(tmp_path, warc(*RECORDS, zipped=zipped))) == set(URLS)
    pages = [(url, b"<p>hello") for url in URLS]
    found = index_of(tmp_path, arc(*pages, zipped=zipped), "old.arc")
    assert urls(found) == set(URLS)
    assert not found.troubles
    assert found.first_at == 1_709_294_400.0


@pytest.mark.parametrize("name", ["right.warc.gz", "wrong.har", "none"])
def test_a_name_does_not_decide_what_a_file_is(tmp_path: Path, name: str) -> None:
    assert urls(index_of(tmp_path, warc(*RECORDS), name)) == set(URLS)


def test_the_index_of_a_wacz_is_used_in_place(tmp_path: Path) -> None:
    data, lines = right_lines()
    index = open_index([wacz(tmp_path / "a.wacz", data, lines[:3])])
    assert urls(index) == set(URLS[:3])
    assert not index.troubles


@pytest.mark.parametrize(
    "wrong",
    [
        {"offset": 7},
        {"offset": 10**12},
        {"offset": -5},
        {"filename": "../../etc/passwd"},
        {"url": "http://a.test/other"},
        {"length": "many"},
    ],
)
def test_a_wacz_with_a_wrong_index_is_read_through(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    data, lines = right_lines()
    lines[2] |= wrong
    index = open_index([wacz(tmp_path / "a.wacz", data, lines)])
    assert urls(index) == set(URLS)
    assert len(index) == 5
    assert index.troubles == {"a WACZ whose index is wrong: its WARC files were read through": 1}


def test_a_wacz_without_an_index_is_read_through(tmp_path: Path) -> None:
    index = open_index([wacz(tmp_path / "a.wacz", right_lines()[0], None)])
    assert urls(index) == set(URLS)


def test_a_warc_deflated_inside_the_zip_is_named_and_never_inflated(tmp_path: Path) -> None:
    bomb = wacz(tmp_path / "a.wacz", bytes(50_000_000), None, compress=zipfile.ZIP_DEFLATED)
    with pytest.raises(ArchiveError, match="compressed by the zip"):
        open_index([bomb])


def test_paths_in_a_zip_lead_nowhere(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    with zipfile.ZipFile(inside / "a.wacz", "w") as archive:
        archive.writestr("../../archive/evil.warc.gz", warc(*RECORDS))
        archive.writestr("/abs/archive/more.warc.gz", warc(response("http://a.test/more")))
    assert urls(open_index([inside / "a.wacz"])) == {*URLS, "http://a.test/more"}
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    assert {path.name for path in inside.iterdir()} == {"a.wacz", "a.wacz.freshet-index"}


@given(cut=st.integers(0, 400))
@settings(max_examples=30)
def test_a_file_cut_short_gives_every_record_before_the_cut(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = [warc(record) for record in RECORDS]
    data = b"".join(whole)
    kept, left = 0, len(data) - cut
    while kept < 5 and len(whole[kept]) <= left:
        left -= len(whole[kept])
        kept += 1
    path = tmp_path_factory.mktemp("cut")
    if kept == 0:
        with pytest.raises(ArchiveError):
            index_of(path, data[: len(data) - cut])
    else:
        index = index_of(path, data[: len(data) - cut])
        assert urls(index) == set(URLS[:kept])
        assert sum(index.troubles.values()) == (left > 0)


@pytest.mark.parametrize("zipped", [True, False])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_damage_costs_only_the_record_it_hits(
    seed: int, tmp_path_factory: pytest.TempPathFactory, *, zipped: bool
) -> None:
    chance = random.Random(seed)
    parts = [warc(record, zipped=zipped) for record in RECORDS]
    hit = chance.randrange(1, 4)
    start = chance.randrange(len(parts[hit]) - 8)
    parts[hit] = parts[hit][:start] + chance.randbytes(8) + parts[hit][start + 8 :]
    index = index_of(tmp_path_factory.mktemp("hit"), b"".join(parts))
    unhurt = set(URLS) - {URLS[hit]}
    assert unhurt <= urls(index)


@given(noise=st.binary(max_size=300))
@settings(max_examples=60)
def test_noise_is_refused_with_a_message(
    noise: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in ("a.warc.gz", "a.har", "a.wacz"):
        for start in (
            b"",
            b"WARC/1.0\r\n",
            b"PK\x03\x04",
            b'{"log": {"entries": [{',
            b"\x1f\x8b\x08",
        ):
            with pytest.raises(ArchiveError, match=r"a\.(warc\.gz|har|wacz): "):
                index_of(tmp_path_factory.mktemp("noise"), start + noise, name)


def test_a_record_that_inflates_without_end_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    length = 400_000_000
    start = response("http://a.test/bomb").partition(b"Content-Length: ")[0]
    bomb = packer.compress(start + b"Content-Length: %d\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" % length)
    block = bytes(10_000_000)
    bomb += b"".join(packer.compress(block) for _ in range(40)) + packer.flush()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index = index_of(tmp_path, bomb + warc(*RECORDS))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert urls(index) == set(URLS)
    assert index.troubles == {"a compressed record that inflates without end": 1}
    assert grown < 50_000  # KB


def test_a_plain_record_of_gigabytes_is_stepped_over(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    huge = response("http://a.test/huge").replace(
        b"Content-Length: 52", b"Content-Length: 3000000000"
    )
    assert b"3000000000" in huge
    with path.open("wb") as file:
        file.write(huge)
        file.seek(len(huge) + 3_000_000_000 - 52)  # a hole: no bytes on disk
        file.write(b"\r\n\r\n" + warc(*RECORDS, zipped=False))
    index = open_index([path])
    assert set(URLS) <= urls(index)


def test_a_head_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    endless = b"WARC/1.0\r\nX: " + b"a" * 5_000_000 + b"\r\n"
    index = index_of(tmp_path, endless + warc(*RECORDS, zipped=False), "a.warc")
    assert urls(index) == set(URLS)
    assert index.troubles == {"a record whose head has no end": 1}


def test_several_records_in_one_gzip_member_are_named(tmp_path: Path) -> None:
    index = index_of(tmp_path, gzip.compress(warc(*RECORDS, zipped=False)))
    assert len(index) == 1
    (trouble,) = index.troubles
    assert trouble.startswith("several records in one gzip member")


def test_a_har_gives_what_it_has(tmp_path: Path) -> None:
    def entry(url: str, **response: object) -> dict[str, object]:
        return {
            "startedDateTime": "2024-03-01T12:00:00Z",
            "request": {"method": "GET", "url": url},
            "response": {"status": 200, "content": {"text": "hello"}, **response},
        }

    entries = [
        entry(URLS[0]),
        entry(URLS[1], content={}),
        entry(URLS[2], status=0),
        entry(URLS[3], content={"text": "a", "encoding": "base64"}),
        {"request": None},
        17,
    ]
    text = json.dumps({"log": {"creator": {"name": "}]{"}, "entries": entries}})
    index = index_of(tmp_path, text.encode(), "a.har")
    assert urls(index) == {URLS[0]}
    assert index.troubles == {
        "a page without a body": 1,
        "a body that is no base64": 1,
        "a request that got no answer": 1,
        "an entry without its request": 1,
    }
    cut = index_of(tmp_path, text.encode()[:-60], "cut.har")
    assert urls(cut) == {URLS[0]}


def test_the_cache_is_used_only_for_the_file_it_was_made_of(tmp_path: Path) -> None:
    path = tmp_path / "test.warc.gz"
    index_of(tmp_path, warc(*RECORDS[:2]))
    assert columns.load(path).kept
    told: list[int] = []
    open_index([path], told=lambda path, done, size: told.append(done))
    assert not told
    path.write_bytes(warc(*RECORDS))
    assert urls(open_index([path])) == set(URLS)
    cache_of(path).write_bytes(b"damaged")
    assert urls(open_index([path])) == set(URLS)
    assert columns.load(path).contents.records == {"response": 5}


def test_an_empty_file_and_an_empty_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="got an empty file"):
        index_of(tmp_path, b"", "a.warc")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArchiveError, match="want a folder with archives"):
        open_index([tmp_path / "empty"])
    with pytest.raises(ArchiveError, match="No such file"):
        open_index([tmp_path / "none.warc"])
