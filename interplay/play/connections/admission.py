"""Limit every connection: the size of a request's head, the time in which a request must arrive, and the number of
connections."""

from __future__ import annotations

import asyncio
import http
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from interplay.play.connections.sockets import client_of

MAX_HEAD_BYTES = 32 * 1024
"""Largest size of the first line and headers of a request, and of the head between two pieces of a body."""
HEAD_TIMEOUT_S = 10.0
"""Longest time for the whole head, from its first byte; also the longest wait for that byte on a new connection."""
BODY_WINDOW_S, BODY_MIN_BYTES = 10.0, 10 * 1024
"""In each window of 10 s, at least 10 KiB of a body must arrive (1 KiB a second), or the end of the body."""
MAX_CONNECTIONS_OF_ADDRESS = 256
"""Enough for a class of 30 pupils with one address: one socket and up to six other connections for each browser. For proxies
that uvicorn trusts (`FORWARDED_ALLOW_IPS`, by default 127.0.0.1) only `MAX_CONNECTIONS` holds, since they stand for many
addresses."""
MAX_CONNECTIONS = 800
"""Each connection is an open file. A process may have 1024 by default, and `select` in the workers takes no larger number."""

DRAIN_S = 1.0


class GuardedHttpProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with these limits. Without them, a head may be of any size and take any time, and only the number
    of open files limits the connections."""

    _timer: asyncio.TimerHandle | None = None
    _in_body = False
    _has_begun = False
    _is_refused = False
    _pending_bytes = 0  # since the parser last had something whole
    _body_bytes = 0  # in this window

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        if len(self.connections) > MAX_CONNECTIONS:
            self._refuse(503, f"this server has {MAX_CONNECTIONS} connections open; try again in a minute")
        elif self._num_of_address() > MAX_CONNECTIONS_OF_ADDRESS:
            self._refuse(
                503, f"your address has {MAX_CONNECTIONS_OF_ADDRESS} connections open; close some, or try again in a minute"
            )
        else:
            self._wait(HEAD_TIMEOUT_S)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        while data and not self._is_refused and not self.transport.is_closing():
            room = MAX_HEAD_BYTES - self._pending_bytes
            piece, data = (data, b"") if len(data) <= room else (data[:room], data[room:])
            self._pending_bytes += len(piece)
            super().data_received(piece)
            if self.transport.get_protocol() is not self:  # it is a WebSocket from here on
                return
            if self._pending_bytes >= MAX_HEAD_BYTES:
                self._refuse(431, f"the head of a request may have at most {MAX_HEAD_BYTES // 1024} KiB")

    # What the parser finds

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_begun = True
        self._wait(HEAD_TIMEOUT_S)

    def on_headers_complete(self) -> None:
        self._pending_bytes = self._body_bytes = 0
        self._in_body = True
        self._wait(BODY_WINDOW_S)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._pending_bytes = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._pending_bytes = 0
        self._in_body = self._has_begun = False
        self._stop_waiting()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._stop_waiting()
        super().handle_websocket_upgrade()

    # Time

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._look)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        enough = self._in_body and self._body_bytes >= BODY_MIN_BYTES
        if enough or self.flow.read_paused:  # paused: it is we who do not read
            self._body_bytes = 0
            self._wait(BODY_WINDOW_S)
        elif self._has_begun:
            self._refuse(408, "the request came too slowly")
        else:
            self.transport.close()  # nothing was asked, nothing is answered

    # Ends

    def _num_of_address(self) -> int:
        trusted = self.config.forwarded_allow_ips
        proxies = trusted.split(",") if isinstance(trusted, str) else trusted
        if self.client is None or self.client[0] in proxies or "*" in proxies:
            return 0
        ours = client_of(self.client[0])
        others = (cast(Any, one).client for one in self.connections)
        return sum(other is not None and client_of(other[0]) == ours for other in others)

    def _refuse(self, status: int, message: str) -> None:
        """Send the reason, if no answer has begun, and close. Then discard input for a moment: closing with unread bytes would
        reset the connection, and the client would not read the reason."""
        self._stop_waiting()
        self._is_refused = True
        self.connections.discard(self)
        body = (message + "\n").encode()
        if self.cycle is None or not self.cycle.response_started or self.cycle.response_complete:
            head = f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            retry = "Retry-After: 60\r\n" if status == 503 else ""
            self.transport.write(f"{head}{retry}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            self.loop.call_later(DRAIN_S, self.transport.close)
        else:
            self.transport.close()
