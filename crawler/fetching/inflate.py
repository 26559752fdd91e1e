"""Undo Content-Encoding without ever holding more than the cap."""

import sys
from typing import Any

import brotli
from isal import igzip_lib, isal_zlib

if sys.version_info >= (3, 14):  # pragma: no cover
    from compression import zstd
else:
    from backports import zstd

# The stubs of isal declare its exception as a function.
_IsalError: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]
ACCEPT_ENCODING = "gzip, deflate, br, zstd"
_STEP = 1 << 16


class BadEncodingError(ValueError):
    """The body is not what Content-Encoding says."""


class TooLargeError(ValueError):
    """The inflated body passes the cap."""


def inflate(body: bytes, encoding: str, *, limit: int) -> bytes:
    """The body with each coding of `encoding` undone, last first; at most `limit` bytes."""
    codings = [coding.strip().lower() for coding in encoding.split(",")]
    for coding in reversed(codings):
        if coding in ("", "identity"):
            continue
        body = _inflate_one(body, coding, limit)
    return body


def _inflate_one(body: bytes, coding: str, limit: int) -> bytes:
    try:
        if coding in ("gzip", "x-gzip"):
            return _zlib(body, 31, limit)
        if coding == "deflate":
            return _deflate(body, limit)
        if coding == "br":
            return _brotli(body, limit)
        if coding == "zstd":
            return _zstd(body, limit)
    except (_IsalError, brotli.error, zstd.ZstdError, EOFError) as error:
        raise BadEncodingError(f"Content-Encoding {coding}: {error}") from error
    raise BadEncodingError(f"Content-Encoding {coding!r}: want one of {ACCEPT_ENCODING}")


def _zlib(body: bytes, wbits: int, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    # A gzip body may be several members, one after the other.
    while body:
        inflater = isal_zlib.decompressobj(wbits=wbits)
        part = inflater.decompress(body, limit - size + 1)
        size += len(part)
        if size > limit:
            raise TooLargeError(f"inflated body: want at most {limit}")
        parts.append(part)
        if not inflater.eof:
            raise BadEncodingError("the compressed body ends too early")
        body = inflater.unused_data if wbits == 31 else b""
        if not body.startswith(b"\x1f\x8b"):
            break  # trailing padding, which servers do send
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _deflate(body: bytes, limit: int) -> bytes:
    """RFC 9110 means the zlib format; some servers send the raw stream."""
    try:
        return _zlib(body, 15, limit)
    except _IsalError:
        return _zlib(body, -15, limit)


def _brotli(body: bytes, limit: int) -> bytes:
    inflater: Any = brotli.Decompressor()
    parts = [inflater.process(body, output_buffer_limit=_STEP)]
    size = len(parts[0])
    while not inflater.is_finished() and size <= limit:
        part = inflater.process(b"", output_buffer_limit=_STEP)
        if not part:
            raise BadEncodingError("the compressed body ends too early")
        parts.append(part)
        size += len(part)
    if size > limit:
        raise TooLargeError(f"inflated body: want at most {limit}")
    return b"".join(parts)


def _zstd(body: bytes, limit: int) -> bytes:
    # RFC 8878 lets a decoder refuse windows over 8 MB; a larger one would be memory for nothing.
    inflater = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 23})
    result = inflater.decompress(body, max_length=limit + 1)
    if len(result) > limit:
        raise TooLargeError(f"inflated body: want at most {limit}")
    if not inflater.eof:
        raise BadEncodingError("the compressed body ends too early")
    return result
