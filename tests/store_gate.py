"""A proxy before an S3-compatible store that refuses as many requests as a test wants, and notes all."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class Gate(ThreadingHTTPServer):
    """The proxy. `num_refusals`: so many requests are still answered with 503. `asked`: methods of all requests."""

    def __init__(self, store: str) -> None:
        super().__init__(("127.0.0.1", 0), _Through)
        self.store = urlsplit(store).netloc
        self.num_refusals = 0
        self.asked: list[str] = []


class _Through(BaseHTTPRequestHandler):
    server: Gate

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(self.command)
        if self.server.num_refusals > 0:
            self.server.num_refusals -= 1
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        store = http.client.HTTPConnection(self.server.store)
        store.request(self.command, self.path, body, dict(self.headers))
        answer = store.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("content-length", "transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", answer.getheader("Content-Length") or str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        store.close()

    do_GET = do_PUT = do_HEAD = do_DELETE = _answer

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def gate(store: str) -> Iterator[Gate]:
    with Gate(store) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
