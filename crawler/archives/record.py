"""Records a crawl as WARC/1.1: every exchange in files that are readable at any moment, also after a kill.

A file is written as NAME.warc.gz.open, each record flushed as its own gzip member, and gets its proper name when it
is full or the run ends.  A body that was recorded before for the same URL is written as a revisit.
"""

import hashlib
import json
from base64 import b32encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from warcio.warcwriter import WARCWriter

from crawler import __version__
from crawler.archives.captures import ArchiveError
from crawler.archives.warc import DURATION, OUTCOME
from crawler.clock import Clock
from crawler.config import Config
from crawler.crawl import Open
from crawler.fetching.http import HttpTransport
from crawler.fetching.transport import FetchError, Reply, Request, Transport, Wire
from crawler.reading.urls import host_of, origin_of

MAX_SIZE = 1_000_000_000
_REMEMBERED = 1_000_000  # URLs whose last body is remembered, at some 300 bytes each
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"


@dataclass(frozen=True, slots=True)
class _Original:
    """The last whole response of a URL."""

    digest: str
    date: str


@dataclass(slots=True)
class _Head:
    """An HTTP head as warcio writes it, except that the bytes stay as they were sent."""

    headers_buff: bytes

    def compute_headers_buffer(self, header_filter: object) -> None:
        """Nothing to compute."""


class WarcFiles:
    """Writes records into files of a folder, one after the other."""

    def __init__(self, folder: Path, *, settings: str, max_size: int = MAX_SIZE) -> None:
        self._folder = folder
        self._settings = settings
        self._max_size = max_size
        self._file: BinaryIO | None = None
        self._writer: Any = None
        self._originals: dict[str, _Original] = {}

    def add(self, request: Request, reply: Reply, *, at: float) -> None:
        """One exchange that began at `at`: its response or a revisit, and its request."""
        wire = reply.wire or _plausible_wire(request, reply)
        date = warc_date(at)
        writer = self._open(at)
        record = self._reply_record(writer, request.url, reply, wire, date)
        asked = writer.create_warc_record(
            request.url,
            "request",
            payload=BytesIO(),
            length=0,
            http_headers=_Head(wire.request_head),
            warc_headers_dict={
                "WARC-Date": date,
                "WARC-Concurrent-To": record.rec_headers["WARC-Record-ID"],
            },
        )
        self._write(record, asked)

    def add_failure(self, request: Request, error: FetchError, *, at: float) -> None:
        """A fetch without a reply, as a metadata record that names the outcome."""
        note = str(error).encode("utf-8", "replace")
        named = {
            "WARC-Date": warc_date(at),
            DURATION.title(): f"{error.duration:.9f}",
            OUTCOME.title(): str(error.outcome),
        }
        record = self._open(at).create_warc_record(
            request.url,
            "metadata",
            payload=BytesIO(note),
            length=len(note),
            warc_content_type="text/plain; charset=utf-8",
            warc_headers_dict=named,
        )
        self._write(record)

    def close(self) -> None:
        """Gives the present file its proper name."""
        if self._file is None:
            return
        open_name = Path(self._file.name)
        self._file.close()
        self._file = None
        open_name.rename(open_name.with_suffix(""))

    def _reply_record(self, writer: Any, url: str, reply: Reply, wire: Wire, date: str) -> Any:
        digest = _digest(wire.body)
        named = {"WARC-Date": date, DURATION.title(): f"{reply.duration:.9f}"}
        original = self._originals.get(url)
        if reply.status == 304:
            named |= {"WARC-Profile": _PROFILE + "server-not-modified", **_refers(url, original)}
        elif original is not None and original.digest == digest and wire.body:
            named |= {
                "WARC-Profile": _PROFILE + "identical-payload-digest",
                "WARC-Payload-Digest": digest,
                **_refers(url, original),
            }
        else:
            named["WARC-Payload-Digest"] = digest
            if reply.status == 200:
                self._remember(url, _Original(digest, date))
        is_revisit = "WARC-Profile" in named
        return writer.create_warc_record(
            url,
            "revisit" if is_revisit else "response",
            payload=BytesIO(b"" if is_revisit else wire.body),
            length=0 if is_revisit else len(wire.body),
            http_headers=_Head(wire.reply_head),
            warc_headers_dict=named,
        )

    def _remember(self, url: str, original: _Original) -> None:
        self._originals.pop(url, None)
        self._originals[url] = original
        if len(self._originals) > _REMEMBERED:
            del self._originals[next(iter(self._originals))]

    def _write(self, *records: Any) -> None:
        assert self._file is not None
        try:
            for record in records:
                self._writer.write_record(record)
            if self._file.tell() >= self._max_size:
                self.close()
        except OSError as error:
            raise ArchiveError(f"--record {self._folder}: {error.strerror}") from error

    def _open(self, at: float) -> Any:
        if self._file is None:
            self._file = self._new_file(at)
            self._writer = WARCWriter(self._file, gzip=True, warc_version="1.1")
            name = Path(self._file.name).with_suffix("").name
            self._write(_warcinfo(self._writer, name, self._settings, at))
        return self._writer

    def _new_file(self, at: float) -> BinaryIO:
        stamp = datetime.fromtimestamp(at, UTC).strftime("%Y%m%d%H%M%S")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for number in range(100_000):
                path = self._folder / f"freshet-{stamp}-{number:05}.warc.gz.open"
                if not path.exists() and not path.with_suffix("").exists():
                    return path.open("xb")
        except OSError as error:
            raise ArchiveError(f"--record {self._folder}: {error.strerror}") from error
        raise ArchiveError(f"--record {self._folder}: every name for a new file is taken")


def _warcinfo(writer: Any, name: str, settings: str, at: float) -> Any:
    fields = {
        "software": f"freshet/{__version__}",
        "format": "WARC File Format 1.1",
        "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        "robots": "obey",
        "settings": settings,
    }
    block = "".join(f"{key}: {value}\r\n" for key, value in fields.items()).encode()
    return writer.create_warc_record(
        "",
        "warcinfo",
        payload=BytesIO(block),
        length=len(block),
        warc_headers_dict={"WARC-Date": warc_date(at), "WARC-Filename": name},
    )


def settings_text(config: Config) -> str:
    """The settings for a file's warcinfo, without the paths of this machine: archives are handed on."""
    return json.dumps(config.model_dump(mode="json", exclude={"crawl": {"database"}, "log": True}))


def _refers(url: str, original: _Original | None) -> dict[str, str]:
    refers = {"WARC-Refers-To-Target-URI": url}
    return refers if original is None else {**refers, "WARC-Refers-To-Date": original.date}


def _digest(body: bytes) -> str:
    return "sha1:" + b32encode(hashlib.sha1(body).digest()).decode()  # noqa: S324  WARC's custom, guards nothing


def warc_date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _plausible_wire(request: Request, reply: Reply) -> Wire:
    """For a transport without a wire (a simulated shop): the exchange as it would have been, not encoded."""
    url = request.url
    target = url.removeprefix(origin_of(url))
    asked = {"if-none-match": request.etag, "if-modified-since": request.last_modified}
    sent = {"host": host_of(url), **{name: value for name, value in asked.items() if value}}
    kept = {
        name: value
        for name, value in reply.headers.items()
        if name.lower() not in ("content-encoding", "transfer-encoding", "content-length")
    }
    kept["content-length"] = str(len(reply.body))
    return Wire(
        _lines(f"GET {target} HTTP/1.1", sent),
        _lines(f"HTTP/1.1 {reply.status} ", kept),
        reply.body,
    )


def _lines(first: str, headers: dict[str, str]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


class RecordingTransport:
    """A transport whose exchanges, answered or not, are written down as they end."""

    def __init__(self, inner: Transport, files: WarcFiles, clock: Clock) -> None:
        self._inner = inner
        self._files = files
        self._clock = clock

    async def send(self, request: Request) -> Reply:
        at = self._clock.now()
        try:
            reply = await self._inner.send(request)
        except FetchError as error:
            self._files.add_failure(request, error, at=at)
            raise
        self._files.add(request, reply, at=at)
        return reply


def recorded(folder: Path) -> Open:
    """Opens the live transport with everything it exchanges recorded into a folder."""

    @asynccontextmanager
    async def open_recorded(config: Config, clock: Clock) -> AsyncIterator[Transport]:
        live = HttpTransport(
            config.fetch, user_agent=config.crawl.user_agent, clock=clock, keep_wire=True
        )
        files = WarcFiles(folder, settings=settings_text(config))
        try:
            async with live:
                yield RecordingTransport(live, files, clock)
        finally:
            files.close()

    return open_recorded
