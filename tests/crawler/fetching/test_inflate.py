"""Content-Encoding undone under a cap."""

import contextlib
import gzip
import zlib

import brotli
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetching.inflate import BadEncodingError, TooLargeError, inflate

LIMIT = 1 << 20

ENCODERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("coding", ENCODERS)
@given(body=st.binary(max_size=5000))
def test_every_coding_we_accept_comes_back_whole(coding: str, body: bytes) -> None:
    assert inflate(ENCODERS[coding](body), coding, limit=LIMIT) == body


@pytest.mark.parametrize("coding", ENCODERS)
def test_a_bomb_stops_at_the_cap(coding: str) -> None:
    bomb = ENCODERS[coding](bytes(64 << 20))
    with pytest.raises(TooLargeError):
        inflate(bomb, coding, limit=LIMIT)


@pytest.mark.parametrize("coding", ENCODERS)
def test_a_body_of_exactly_the_cap_is_fine(coding: str) -> None:
    body = bytes(LIMIT)
    assert inflate(ENCODERS[coding](body), coding, limit=LIMIT) == body


@pytest.mark.parametrize("coding", ENCODERS)
def test_a_body_cut_short_is_named(coding: str) -> None:
    packed = ENCODERS[coding](b"some text " * 1000)
    with pytest.raises(BadEncodingError):
        inflate(packed[: len(packed) // 2], coding, limit=LIMIT)


@pytest.mark.parametrize("coding", [*ENCODERS, "snappy"])
def test_rubbish_and_unknown_codings_are_named(coding: str) -> None:
    with pytest.raises(BadEncodingError, match=coding):
        inflate(b"plainly not compressed", coding, limit=LIMIT)


def test_codings_are_undone_last_first() -> None:
    packed = brotli.compress(gzip.compress(b"text"))
    assert inflate(packed, "gzip, br", limit=LIMIT) == b"text"


def test_several_gzip_members_and_padding_are_one_body() -> None:
    packed = gzip.compress(b"one ") + gzip.compress(b"two") + bytes(20)
    assert inflate(packed, "gzip", limit=LIMIT) == b"one two"


def test_a_raw_deflate_stream_is_read_too() -> None:
    packer = zlib.compressobj(wbits=-15)
    assert inflate(packer.compress(b"text") + packer.flush(), "deflate", limit=LIMIT) == b"text"


@pytest.mark.parametrize("coding", ENCODERS)
@given(body=st.binary(max_size=300))
def test_arbitrary_bytes_give_a_named_error_or_a_body(coding: str, body: bytes) -> None:
    with contextlib.suppress(BadEncodingError, TooLargeError):
        inflate(body, coding, limit=LIMIT)
