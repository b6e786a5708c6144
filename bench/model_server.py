"""A language model's server on the loopback address, with a program behind it: for tests and measurements without a network."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Reply = str | int | dict[str, Any] | Callable[[BaseHTTPRequestHandler], None]


class ModelServer(ThreadingHTTPServer):
    """A language model's server on the loopback address that speaks the chat-completions protocol; a context manager.

    Args:
        reply: From the model's name and the texts of a prompt to what it says, an HTTP status that refuses, parts of the
            answer (None leaves one out), or a function that writes to the connection itself.

    Attributes:
        address: For clients, with `/v1`.
        prompts: A hash of the body of each call, in the order they came.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, reply: Callable[[str, list[str]], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _ModelHandler)
        self.reply = reply
        self.prompts: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}/v1"
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:  # type: ignore[override]
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is no error."""


class _ModelHandler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server: ModelServer  # type: ignore[assignment]

    def do_POST(self) -> None:
        """Answer one call."""
        body = self.rfile.read(int(self.headers["content-length"]))
        asked = json.loads(body)
        self.server.prompts.append(hashlib.sha256(body).hexdigest())
        texts = []
        for message in asked["messages"]:
            content = message.get("content") or ""
            texts += [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]
        said = self.server.reply(asked["model"], texts)
        if callable(said):
            said(self)
            return
        is_refused = isinstance(said, int)
        message = {"role": "assistant", "content": said}
        usage = {
            "prompt_tokens": 1 + sum(map(len, texts)) // 4,
            "completion_tokens": len(said) // 4 if isinstance(said, str) else 0,
        }
        document = {
            "id": "reply",
            "object": "chat.completion",
            "created": 0,
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }
        if isinstance(said, dict):
            document = {name: value for name, value in (document | said).items() if value is not None}
        if is_refused:
            document = {"error": {"message": f"refused; you sent {self.headers['authorization']}", "type": "refused"}}
        data = json.dumps(document).encode()
        self.send_response(said if isinstance(said, int) else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
