"""Servers that lie to a pull: each gets an error in words, nothing of theirs is entered, and no pull goes on for ever."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from interplay.record import RecordingError
from interplay.record.exchange.pull import Asked, PullError, pull_episodes

ID, SHA256 = "20260101T000000-00000000", "0" * 64


class Liar(ThreadingHTTPServer):
    """Answers every list and every file with the same status, headers and bytes; it ignores ranges.

    Attributes:
        num_requests: Of files.
    """

    daemon_threads = True

    def __init__(self, listed: bytes, file: tuple[int, dict[str, str], bytes] = (404, {}, b"")) -> None:
        self.listed = listed
        self.file = file
        self.num_requests = 0
        super().__init__(("127.0.0.1", 0), _Lying)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Lying(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Liar)
        status, headers, body = 200, {"Content-Type": "application/json"}, server.listed
        if self.path.endswith(".parquet"):
            server.num_requests += 1
            status, headers, body = server.file
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def lie():
    servers = []

    def start(*answers) -> Liar:
        servers.append(Liar(*answers))
        return servers[-1]

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def listing(size_bytes: object = 10, **changed: object) -> bytes:
    offer = {"id": ID, "sha256": SHA256, "size_bytes": size_bytes}
    return json.dumps({"episodes": [offer], "num_withheld": 0, "next": None, **changed}).encode()


@pytest.mark.parametrize(
    "listed",
    [
        listing(-1),
        listing(0),
        listing(num_withheld=float("inf")),
        listing(size_bytes=float("nan")),
        listing(episodes=[], next=1),
        listing(episodes=7),
        b"[" * 100_000,
        b"\xff",
    ],
    ids=["size_-1", "size_0", "infinity", "nan", "empty_pages", "no_list", "deep", "no_text"],
)
def test_a_list_that_cannot_be_is_refused(archive, lie, listed):
    with pytest.raises(PullError, match=r"cannot be read|does not answer as an Interplay server"):
        pull_episodes(archive, lie(listed).address, "token", Asked())
    assert not archive.episodes()


def test_a_server_that_sends_the_same_beginning_again_is_given_up(archive, lie):
    liar = lie(listing(10), (200, {}, b"short"))
    with pytest.raises(RecordingError, match="does not answer: it sent nothing"):
        pull_episodes(archive, liar.address, "token", Asked(), sleep=lambda seconds: None)
    assert liar.num_requests < 10


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (500, {"Content-Type": "application/json"}, b"{not json"),
        (500, {"Content-Type": "application/json"}, b"[" * 100_000),
        (200, {}, b"not parquet, but long enough"),
    ],
    ids=["broken_error", "deep_error", "no_parquet"],
)
def test_a_file_that_cannot_be_is_refused_by_its_id(archive, lie, status, headers, body):
    pulled = pull_episodes(archive, lie(listing(10), (status, headers, body)).address, "token", Asked())
    assert list(pulled.refused) == [ID]
    assert not archive.episodes()
