"""Fetch files from a server over an unreliable connection: a file that was cut off continues at the same byte."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import httpx

from interplay.errors import InterplayError
from interplay.record.errors import RecordingError

ATTEMPTS = 5
"""Number of attempts in a row without a new byte after which the connection fails; a later call continues the file."""
_WAIT_S = 0.5
_TIMEOUT_S = 60.0
_CHUNK_BYTES = 1 << 16
_MAX_PAGE_BYTES = 4 << 20
"""Largest number of bytes of an answer that is read whole; a list of a hundred episodes has 20 kB."""

T = TypeVar("T")
Parameters = Sequence[tuple[str, str | int | float | bool | None]]


class LineError(RecordingError):
    """A server no longer answers. The bytes that arrived are kept."""


class BusyError(Exception):
    """A server cannot answer now, but may answer later."""


class Line:
    """Connection to a server. A request is repeated if the connection is cut; new bytes of a file reset the count of attempts.

    Args:
        refusal: Maps an error answer, and the part of its body that was read, to the exception to raise.
        sleep: Waits before another attempt; it gets seconds.
    Attributes:
        size_bytes: Number of bytes that arrived.
    """

    def __init__(
        self,
        client: httpx.Client,
        refusal: Callable[[httpx.Response, bytes], InterplayError],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._refusal = refusal
        self._sleep = sleep
        self.size_bytes = 0

    @classmethod
    @contextmanager
    def to(
        cls,
        address: httpx.URL | str,
        headers: dict[str, str],
        refusal: Callable[[httpx.Response, bytes], InterplayError],
        sleep: Callable[[float], None] = time.sleep,
    ) -> Iterator[Line]:
        """Connect to one server, or to any server if the address is empty."""
        # Nothing is packed on the way: hashes and lengths are those of the files, and nothing can grow when it is unpacked.
        headers = {**headers, "Accept-Encoding": "identity"}
        with httpx.Client(base_url=address, headers=headers, timeout=_TIMEOUT_S, follow_redirects=False) as client:
            yield cls(client, refusal, sleep)

    def get(self, path: str, parameters: Parameters = (), *, most_bytes: int = _MAX_PAGE_BYTES) -> bytes:
        """Return an answer; if it is longer than `most_bytes`, return only its beginning."""

        def ask() -> bytes:
            with self._client.stream("GET", path, params=list(parameters) or None) as answer:
                body = _read(answer, most_bytes)
                self._check(answer, body)
            return body

        return self._repeated(path, ask)

    def length(self, path: str) -> int | None:

        def ask() -> int | None:
            answer = self._client.head(path)
            if answer.status_code in (405, 501):
                return None
            self._check(answer, b"")
            said = answer.headers.get("Content-Length", "")
            return int(said) if said.isdecimal() else None

        return self._repeated(path, ask)

    def _repeated(self, path: str, ask: Callable[[], T]) -> T:
        for attempt in range(ATTEMPTS):
            try:
                return ask()
            except (httpx.TransportError, BusyError) as error:
                self._wait(path, attempt, error)
        raise AssertionError("unreachable")

    def file(self, path: str, part: Path, size_bytes: int, came: Callable[[int], None]) -> None:
        attempt = 0
        while (have := part.stat().st_size if part.exists() else 0) < size_bytes:
            try:
                with self._client.stream("GET", path, headers={"Range": f"bytes={have}-"} if have else {}) as answer:
                    self._check(answer, _read(answer) if answer.is_error else b"")
                    goes_on = answer.status_code == 206
                    if goes_on and not answer.headers.get("Content-Range", f"bytes {have}-").startswith(f"bytes {have}-"):
                        raise BusyError("it sent another part of the file")
                    with part.open("ab" if goes_on else "wb") as file:
                        for chunk in _chunks(answer):
                            file.write(chunk[: size_bytes - file.tell()])
                            file.flush()
                            self.size_bytes += len(chunk)
                            if file.tell() > have:  # who sends the same beginning again and again brings nothing
                                attempt = 0
                            came(file.tell())
                            if file.tell() >= size_bytes:  # whatever else it sends is not the file
                                break
                if part.stat().st_size <= have:
                    raise BusyError("it sent nothing")
            except (httpx.TransportError, BusyError) as error:
                self._wait(path, attempt, error)
                attempt += 1

    def _check(self, answer: httpx.Response, body: bytes) -> None:
        if answer.status_code in (429, 502, 503, 504):
            raise BusyError(f"it answers {answer.status_code}")
        if answer.status_code not in (200, 206):
            raise self._refusal(answer, body)

    def _wait(self, path: str, attempt: int, error: Exception) -> None:
        if attempt + 1 >= ATTEMPTS:
            raise LineError(
                f"{self._client.base_url.join(path).copy_with(path='/', query=None)} does not answer: {error}\n"
                "The first part is kept. Call the same command again: it goes on where it stopped."
            ) from error
        self._sleep(_WAIT_S * 2**attempt)


def _chunks(answer: httpx.Response) -> Iterator[bytes]:
    """Yield bytes as they arrive. With a fixed chunk size, httpx would drop the last chunk when the connection is cut."""
    for came in answer.iter_raw():
        yield from (came[begin : begin + _CHUNK_BYTES] for begin in range(0, len(came), _CHUNK_BYTES))


def _read(answer: httpx.Response, most_bytes: int = _MAX_PAGE_BYTES) -> bytes:
    body = bytearray()
    for chunk in _chunks(answer):
        body += chunk
        if len(body) > most_bytes:
            break
    return bytes(body)
