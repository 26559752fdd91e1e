"""The recorder: what it writes is what was exchanged, in files that others can read."""

import gzip
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from crawler.archives.captures import ArchiveError
from crawler.archives.index import open_index
from crawler.archives.record import WarcFiles
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import HostError, Reply, Request, Wire
from tests.processes import FAST, run, served, small_shop
from tests.recordings import record_shop, shop_config, small_world

AT = 1_700_000_000.25


def reply(url: str, body: bytes, *, status: int = 200) -> Reply:
    head = (
        f"HTTP/1.1 {status} OK\r\nX-Odd: ".encode() + b"\xe9\xff\r\nContent-Type: text/html\r\n\r\n"
    )
    wire = Wire(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", head, body)
    return Reply(url, status, {}, body, len(body), 0.5, wire)


def records(folder: Path) -> Iterator[tuple[str, dict[str, str], bytes]]:
    """As warcio reads them: type, named fields, block without its head."""
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, no_record_parse=True):
                yield record.rec_type, dict(record.rec_headers.headers), record.raw_stream.read()


def test_every_kind_of_exchange_becomes_the_record_the_standard_has_for_it(tmp_path: Path) -> None:
    files = WarcFiles(tmp_path, settings="{}")
    request = Request("http://a.test/")
    for number, (body, status) in enumerate(
        [(b"one", 200), (b"one", 200), (b"", 304), (b"two", 200)]
    ):
        files.add(request, reply(request.url, body, status=status), at=AT + number)
    files.add_failure(request, HostError(Outcome.TIMEOUT, "too slow", duration=20.0), at=AT + 9)
    files.close()
    found = [(kind, fields) for kind, fields, _ in records(tmp_path) if kind != "request"]
    assert [kind for kind, _ in found] == [
        *("warcinfo", "response", "revisit", "revisit", "response", "metadata")
    ]
    assert found[2][1]["WARC-Profile"].endswith("/identical-payload-digest")
    assert found[2][1]["WARC-Refers-To-Date"] == found[1][1]["WARC-Date"]
    assert found[3][1]["WARC-Profile"].endswith("/server-not-modified")
    assert found[5][1]["Freshet-Outcome"] == "timeout"
    assert found[1][1]["WARC-Date"] == "2023-11-14T22:13:20.250000Z"


def test_header_bytes_and_encoded_bodies_are_kept_as_sent(tmp_path: Path) -> None:
    files = WarcFiles(tmp_path, settings="{}")
    packed = gzip.compress(b"hello")
    sent = reply("http://a.test/", packed)
    files.add(Request("http://a.test/"), sent, at=AT)
    files.close()
    blocks = {kind: block for kind, _, block in records(tmp_path)}
    assert sent.wire is not None
    assert blocks["response"] == sent.wire.reply_head + packed
    assert blocks["request"] == sent.wire.request_head


def test_digests_hold_for_warcio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = small_world()
    record_shop(tmp_path / "w", shop_config(tmp_path / "a.db", world), world)
    checker = Checker(type("Arguments", (), {"inputs": [], "verbose": True})())
    for path in (tmp_path / "w").iterdir():
        checker.process_one(str(path))
    assert checker.exit_value == 0
    verdicts = capsys.readouterr().out
    assert verdicts.count("digest pass") > 50
    assert "digest failed" not in verdicts


def test_files_are_rotated_by_size_and_named_when_they_are_done(tmp_path: Path) -> None:
    world = small_world()
    config = shop_config(tmp_path / "a.db", world)
    record_shop(tmp_path / "w", config, world, max_size=50_000)
    sizes = [path.stat().st_size for path in (tmp_path / "w").iterdir()]
    assert len(sizes) > 2
    assert max(sizes) < 100_000
    assert all(path.suffix == ".gz" for path in (tmp_path / "w").iterdir())


def test_a_killed_run_leaves_a_file_that_can_be_read_to_its_last_whole_record(
    tmp_path: Path,
) -> None:
    files = WarcFiles(tmp_path, settings="{}")
    for number in range(3):
        url = f"http://a.test/{number}"
        files.add(Request(url), reply(url, b"body"), at=AT)
    (path,) = tmp_path.iterdir()
    assert path.name.endswith(".warc.gz.open")
    written = path.read_bytes()
    files.close()
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / path.name).write_bytes(written + written[:50])
    index = open_index([tmp_path / "killed"])
    assert len(index) == 3
    assert index.troubles == {"a compressed record that ends too early": 1}


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    files = WarcFiles(tmp_path / "file" / "inside", settings="{}")
    with pytest.raises(ArchiveError, match=r"--record .*inside"):
        files.add(Request("http://a.test/"), reply("http://a.test/", b""), at=AT)


def test_run_with_record_keeps_robots_and_pages_as_another_reader_sees_them(tmp_path: Path) -> None:
    with served(small_shop(3)) as site:
        done = run("run", site.url, "--once", "--record", "w", *FAST, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    kinds: Counter[str] = Counter()
    urls = set()
    for kind, fields, block in records(tmp_path / "w"):
        kinds[kind] += 1
        urls.add(fields.get("WARC-Target-URI", "").removeprefix(site.url))
        if kind == "request":
            assert b"\r\nUser-Agent: TestBot/1.0 (+http://test.example/bot)\r\n" in block
        if kind == "warcinfo":
            assert b'"user_agent": "TestBot/1.0' in block
    assert kinds == {"warcinfo": 1, "response": 6, "request": 6}
    assert urls == {"", "/robots.txt", "/", "/list", "/lamp/0", "/lamp/1", "/lamp/2"}
    assert os.listdir(tmp_path / "w")[0].endswith(".warc.gz")
