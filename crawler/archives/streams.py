"""Bytes of a record, plain or as one gzip member, read forward with little memory.

Both streams offer the same three moves: look at the next bytes, take them, pass over them.
"""

from typing import BinaryIO, Protocol

import xxhash
from isal import igzip_lib, isal_zlib

from crawler.archives.captures import UnreadableError

# The stubs of isal declare its exception as a function.
IsalError: type[Exception] = igzip_lib.IsalError  # type: ignore[assignment]
_RAW = 1 << 14  # bytes read at a time: most records are smaller, so little is read twice
_STEP = 1 << 16  # bytes inflated at a time
# A gzip member may inflate to this much, or to this multiple of what it took, before it is given up.
_BOMB_SIZE = 256_000_000
_BOMB_RATIO = 200
GZIP = b"\x1f\x8b\x08"


class Stream(Protocol):
    """The bytes of a record, in order."""

    def peek(self, size: int) -> bytes: ...

    def take(self, size: int) -> bytes: ...

    def skip(self, size: int, hasher: xxhash.xxh3_64 | None = None) -> int: ...


class Plain:
    """Bytes as they are.  `position` is where the next one lies in the file."""

    def __init__(self, file: BinaryIO, offset: int, end: int) -> None:
        self._file = file
        self._end = end
        self.position = offset

    def peek(self, size: int) -> bytes:
        self._file.seek(self.position)
        return self._file.read(max(0, min(size, self._end - self.position)))

    def take(self, size: int) -> bytes:
        data = self.peek(size)
        self.position += len(data)
        return data

    def skip(self, size: int, hasher: xxhash.xxh3_64 | None = None) -> int:
        """Passes over so many bytes, hashing them if asked; how many there were."""
        if hasher is not None:
            return _skip_hashing(self, size, hasher)
        there = max(0, min(size, self._end - self.position))
        self.position += there
        return there


class Member:
    """One gzip member, inflated as it is read.  `next_at` is known once `finish` has been called."""

    def __init__(self, file: BinaryIO, offset: int, end: int) -> None:
        self._file = file
        self._offset = offset
        self._end = end
        self._read_to = offset
        self._raw = b""
        self._inflater = isal_zlib.decompressobj(wbits=31)
        self._buffer = b""
        self._inflated = 0

    @property
    def next_at(self) -> int:
        """Where the member ends in the file."""
        return self._read_to - len(self._inflater.unused_data)

    @property
    def read_to(self) -> int:
        return self._read_to

    def peek(self, size: int) -> bytes:
        while len(self._buffer) < size and self._inflate():
            pass
        return self._buffer[:size]

    def take(self, size: int) -> bytes:
        data = self.peek(size)
        self._buffer = self._buffer[len(data) :]
        return data

    def skip(self, size: int, hasher: xxhash.xxh3_64 | None = None) -> int:
        if hasher is not None:
            return _skip_hashing(self, size, hasher)
        left = size
        while left > len(self._buffer):
            left -= len(self._buffer)
            self._buffer = b""
            if not self._inflate():
                return size - left
        self._buffer = self._buffer[left:]
        return size

    def finish(self) -> None:
        """To the end of the member; raises when it has none."""
        while self._inflate():
            self._buffer = b""
        if not self._inflater.eof:
            raise UnreadableError("a compressed record that ends too early")

    def _inflate(self) -> bool:
        """Adds to the buffer; False at the end of the member or of the file."""
        inflater = self._inflater
        while not inflater.eof:
            raw = inflater.unconsumed_tail or self._more()
            if not raw:
                return False
            try:
                part = inflater.decompress(raw, _STEP)
            except IsalError:
                raise UnreadableError("a compressed record that is damaged") from None
            if part:
                self._keep(part)
                return True
        return False

    def _keep(self, part: bytes) -> None:
        self._inflated += len(part)
        limit = max(_BOMB_SIZE, _BOMB_RATIO * (self._read_to - self._offset))
        if self._inflated > limit:
            raise UnreadableError("a compressed record that inflates without end")
        self._buffer += part

    def _more(self) -> bytes:
        self._file.seek(self._read_to)
        raw = self._file.read(max(0, min(_RAW, self._end - self._read_to)))
        self._read_to += len(raw)
        return raw


def _skip_hashing(stream: Stream, size: int, hasher: xxhash.xxh3_64) -> int:
    left = size
    while left > 0:
        part = stream.take(min(left, _STEP))
        if not part:
            break
        hasher.update(part)
        left -= len(part)
    return size - left
