"""The archive as a transport: which capture answers, when, and what is said when none can."""

import base64
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.archives.index import LOST_ORIGINAL, ArchiveIndex, open_index
from crawler.archives.record import WarcFiles
from crawler.archives.transport import ArchiveTransport, Support, unchunk
from crawler.clock import Clock, run_virtual
from crawler.config.model import FetchSettings
from crawler.config.units import Size
from crawler.fetching.outcome import Outcome
from crawler.fetching.transport import FetchError, HostError, Reply, Request
from crawler.reading.urls import page_hash
from tests.recordings import index_of, response, warc

PAGE = "http://a.test/p"
NOON = 1_709_294_400.0  # 2024-03-01T12:00:00Z
LIMITS = FetchSettings()


def ask(
    index: ArchiveIndex, *requests: Request, at: float = NOON, limits: FetchSettings = LIMITS
) -> tuple[list[Reply | FetchError], float, Support]:
    """The answers in turn, the time it took, and the support counted."""

    async def main() -> tuple[list[Reply | FetchError], float, Support]:
        clock = Clock(at)
        answers: list[Reply | FetchError] = []
        async with ArchiveTransport(index, clock, limits=limits) as transport:
            for request in requests:
                try:
                    answers.append(await transport.send(request))
                except FetchError as error:
                    answers.append(error)
            return answers, clock.now() - at, transport.support

    return run_virtual(main())


def reply(index: ArchiveIndex, request: Request, *, at: float = NOON) -> Reply:
    (answer,), _, _ = ask(index, request, at=at)
    assert isinstance(answer, Reply), answer
    return answer


def failure(index: ArchiveIndex, request: Request, limits: FetchSettings = LIMITS) -> FetchError:
    (answer,), _, _ = ask(index, request, limits=limits)
    assert isinstance(answer, FetchError), answer
    return answer


def hourly(*bodies: bytes, head: str = "HTTP/1.1 200 OK\r\nContent-Type: text/html") -> bytes:
    dates = [f"2024-03-01T{12 + hour}:00:00Z" for hour in range(len(bodies))]
    records = [
        response(PAGE, body, date=date, head=head) for body, date in zip(bodies, dates, strict=True)
    ]
    return warc(*records)


def test_a_fetch_gets_the_newest_capture_not_after_its_time(tmp_path: Path) -> None:
    index = index_of(tmp_path, hourly(b"noon", b"one", b"two"))
    at = (NOON, NOON + 3599.0, NOON + 3600.0, NOON + 9e6)
    assert [reply(index, Request(PAGE), at=time).body for time in at] == [
        b"noon",
        b"noon",
        b"one",
        b"two",
    ]


@given(times=st.lists(st.integers(0, 50), min_size=1, max_size=8), at=st.integers(-5, 60))
def test_the_index_finds_what_a_search_by_eye_finds(
    times: list[int], at: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    records = [response(PAGE, date=f"2024-03-01T12:{minute:02}:00Z") for minute in times]
    index = index_of(tmp_path_factory.mktemp("w"), warc(*records))
    found = index.find(page_hash(PAGE), NOON + 60.0 * at)
    assert found is not None
    before = [minute for minute in times if minute <= at]
    assert index.at[found.row] == NOON + 60.0 * (max(before) if before else min(times))
    assert found.is_early == (not before)


def test_before_its_first_capture_a_page_answers_with_that_and_it_is_counted(
    tmp_path: Path,
) -> None:
    index = index_of(tmp_path, hourly(b"noon", b"one"))
    (answer,), _, support = ask(index, Request(PAGE), at=NOON - 60.0)
    assert isinstance(answer, Reply)
    assert answer.body == b"noon"
    assert support == Support(asked=1, answered=1, early=1)


def test_what_was_never_captured_has_a_name_of_its_own_and_is_no_404(tmp_path: Path) -> None:
    index = index_of(tmp_path, hourly(b"noon"))
    (answer,), _, support = ask(index, Request("http://a.test/other"))
    assert isinstance(answer, FetchError)
    assert answer.outcome is Outcome.NOT_CAPTURED
    assert support == Support(asked=1, answered=0)


def test_a_robots_txt_that_was_not_recorded_forbids_nothing_and_is_not_counted(
    tmp_path: Path,
) -> None:
    index = index_of(tmp_path, hourly(b"noon"))
    (answer,), _, support = ask(index, Request("http://a.test/robots.txt"))
    assert isinstance(answer, Reply)
    assert answer.status == 404
    assert support.asked == 0


def test_redirects_and_errors_come_as_recorded(tmp_path: Path) -> None:
    moved = response(PAGE, b"", head="HTTP/1.1 301 Moved\r\nLocation: /new")
    broken = response("http://a.test/broken", b"oops", head="HTTP/1.1 500 Sorry")
    index = index_of(tmp_path, warc(moved, broken))
    assert reply(index, Request(PAGE)).status == 301
    assert reply(index, Request(PAGE)).headers["location"] == "/new"
    assert reply(index, Request("http://a.test/broken")).status == 500


def test_a_recorded_failure_fails_again_with_its_name_and_its_duration(tmp_path: Path) -> None:
    files = WarcFiles(tmp_path, settings="{}")
    files.add_failure(Request(PAGE), HostError(Outcome.TIMEOUT, "slow", duration=20.0), at=NOON)
    files.close()
    (answer,), took, support = ask(open_index([tmp_path]), Request(PAGE))
    assert isinstance(answer, HostError)
    assert (answer.outcome, answer.duration, str(answer)) == (Outcome.TIMEOUT, 20.0, "slow")
    assert took == pytest.approx(20.0)
    assert support.answered == 1


def test_recorded_durations_count_in_virtual_time(tmp_path: Path) -> None:
    slow = response(PAGE, fields="Freshet-Duration: 1.5\r\n")
    _, took, _ = ask(index_of(tmp_path, warc(slow)), Request(PAGE), Request(PAGE))
    assert took == pytest.approx(3.0)


def test_validators_of_the_capture_are_answered_304(tmp_path: Path) -> None:
    head = 'HTTP/1.1 200 OK\r\nETag: "1"\r\nLast-Modified: Fri, 01 Mar 2024 09:00:00 GMT'
    index = index_of(tmp_path, hourly(b"noon", head=head))
    date = "Fri, 01 Mar 2024 09:00:00 GMT"
    assert reply(index, Request(PAGE, etag='"1"', last_modified=date)).status == 304
    assert reply(index, Request(PAGE, etag='"2"', last_modified=date)).status == 200
    assert reply(index, Request(PAGE)).status == 200


def test_a_body_that_came_back_is_304_for_the_validators_it_had_first(tmp_path: Path) -> None:
    first = response(PAGE, b"same", head='HTTP/1.1 200 OK\r\nETag: "1"')
    later = response(
        PAGE, b"same", date="2024-03-01T13:00:00Z", head='HTTP/1.1 200 OK\r\nETag: "2"'
    )
    other = response(PAGE, b"new", date="2024-03-01T14:00:00Z", head='HTTP/1.1 200 OK\r\nETag: "3"')
    index = index_of(tmp_path, warc(first, later, other))
    request = Request(PAGE, etag='"1"')
    assert reply(index, request, at=NOON + 3600).status == 304
    assert reply(index, request, at=NOON + 7200).status == 200


def test_a_revisit_has_its_own_headers_and_the_body_of_its_original(tmp_path: Path) -> None:
    digest = "WARC-Payload-Digest: sha1:ABC\r\n"
    first = response("http://a.test/first", b"body", fields=digest)
    revisit = response(
        PAGE,
        b"",
        kind="revisit",
        head="HTTP/1.1 200 OK\r\nX-Seen: again",
        fields=digest,
        date="2024-03-01T13:00:00Z",
    )
    answer = reply(index_of(tmp_path, warc(first, revisit)), Request(PAGE))
    assert (answer.body, answer.headers["x-seen"]) == (b"body", "again")


def test_a_recorded_304_is_the_whole_earlier_reply_for_one_who_does_not_know_it(
    tmp_path: Path,
) -> None:
    first = response(PAGE, b"body", head='HTTP/1.1 200 OK\r\nETag: "1"')
    unmodified = response(
        PAGE, b"", kind="revisit", head="HTTP/1.1 304 Not Modified", date="2024-03-01T13:00:00Z"
    )
    index = index_of(tmp_path, warc(first, unmodified))
    answer = reply(index, Request(PAGE), at=NOON + 3600)
    assert (answer.status, answer.body, answer.headers["etag"]) == (200, b"body", '"1"')
    assert reply(index, Request(PAGE, etag='"1"'), at=NOON + 3600).status == 304


def test_a_revisit_without_its_original_is_left_out_and_counted(tmp_path: Path) -> None:
    alone = response(PAGE, b"", kind="revisit", head="HTTP/1.1 304 Not Modified")
    index = index_of(tmp_path, warc(alone, response("http://a.test/")))
    assert index.troubles == {LOST_ORIGINAL: 1}
    assert failure(index, Request(PAGE)).outcome is Outcome.NOT_CAPTURED


def test_an_original_may_lie_in_another_file(tmp_path: Path) -> None:
    later = response(PAGE, b"", kind="revisit", head="HTTP/1.1 304 No", date="2024-03-01T13:00:00Z")
    (tmp_path / "2.warc.gz").write_bytes(warc(response(PAGE, b"body")))
    (tmp_path / "1.warc.gz").write_bytes(warc(later))
    index = open_index([tmp_path])
    assert len(index) == 2
    assert reply(index, Request(PAGE), at=NOON + 3600).body == b"body"


def test_encoded_and_chunked_bodies_are_undone(tmp_path: Path) -> None:
    packed = gzip.compress(b"hello")
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked"
    assert (
        reply(index_of(tmp_path, warc(response(PAGE, chunked, head=head))), Request(PAGE)).body
        == b"hello"
    )


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=5))
def test_chunks_put_together_are_the_body(parts: list[bytes]) -> None:
    whole = b"".join(b"%x;note\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    assert unchunk(whole) == b"".join(parts)


def test_a_body_without_chunks_stays_as_it_is() -> None:
    assert unchunk(b"<html>") == b"<html>"


def test_a_record_over_the_limit_is_too_large_as_it_would_be_live(tmp_path: Path) -> None:
    index = index_of(tmp_path, hourly(b"x" * 5000))
    limits = FetchSettings(max_inflated=Size("4KB"))
    assert failure(index, Request(PAGE), limits).outcome is Outcome.TOO_LARGE


def test_a_har_gives_bodies_as_text_or_base64_with_headers_that_agree(tmp_path: Path) -> None:
    def entry(url: str, content: dict[str, str]) -> dict[str, object]:
        headers = [
            {"name": "Content-Type", "value": "text/html; charset=iso-8859-1"},
            {"name": "Content-Encoding", "value": "gzip"},
        ]
        return {
            "startedDateTime": "2024-03-01T12:00:00.000Z",
            "time": 250,
            "request": {"method": "GET", "url": url},
            "response": {"status": 200, "headers": headers, "content": content},
        }

    encoded = {"text": base64.b64encode(b"caf\xe9").decode(), "encoding": "base64"}
    entries = [entry(PAGE, {"text": "café {[\\"}), entry("http://a.test/raw", encoded)]
    text = json.dumps({"log": {"version": "1.2", "entries": entries}}, ensure_ascii=False)
    index = index_of(tmp_path, b"\xef\xbb\xbf" + text.encode(), "test.har")
    page, raw = reply(index, Request(PAGE)), reply(index, Request("http://a.test/raw"))
    assert (page.body, page.headers["content-type"]) == (
        "café {[\\".encode(),
        "text/html; charset=utf-8",
    )
    assert (raw.body, raw.headers["content-type"]) == (b"caf\xe9", "text/html; charset=iso-8859-1")
    assert page.duration == 0.25
