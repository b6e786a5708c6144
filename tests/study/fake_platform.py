"""What both stand-ins share: a small HTTP server on this machine that counts requests and can be told to fail."""

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Request:
    """One request as it came in; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Refused(Exception):
    """An answer that is an error: HTTP status and document."""

    def __init__(self, status: int, document: dict[str, Any]) -> None:
        super().__init__(document)
        self.status, self.document = status, document


class FakePlatform:
    """Serves `answer(request)`; subclasses hold the platform's rules.

    `faults` is a list of what goes wrong with the next requests, in order: an HTTP status answered without doing anything;
    `lost`: done, and the connection cut before the answer; `cut`: cut without doing anything; None: nothing.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.faults: list[int | str | None] = []
        self._lock = threading.Lock()
        platform = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                platform._serve(self)

            do_GET = do_POST

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> dict[str, Any]:
        raise NotImplementedError

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.command, handler.path, headers, body)
        with self._lock:
            self.requests.append(request)
            fault = self.faults.pop(0) if self.faults else None
            if fault == "cut":
                handler.close_connection = True
                return
            if isinstance(fault, int):
                status, document = fault, {}
            else:
                try:
                    status, document = 200, self.answer(request)
                except Refused as refusal:
                    status, document = refusal.status, refusal.document
        if fault == "lost":
            handler.close_connection = True
            return
        content = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
