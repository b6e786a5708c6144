"""Sockets for live play: no message waits in a hidden buffer, long messages are refused, and every close has a reason."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import ipaddress
import logging
import socket
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import ProtocolError
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request
from websockets.server import ServerProtocol

from interplay.errors import InterplayError
from interplay.play.connections import wire

WRITE_NOW = "interplay.write_now"
"""Key of `PlaySocketProtocol.write_now` among the scope's extensions."""
READ_NOW = "interplay.read_now"
"""Key of `PlaySocketProtocol.read_now` among the scope's extensions."""
_NOT_SENT_BYTES = 16 * 1024
_DRAIN_S = 1.0
_TOO_MANY = f"more than {wire.MAX_MESSAGES_PER_S} messages in a second"
_TCP_NOTSENT_LOWAT = getattr(socket, "TCP_NOTSENT_LOWAT", 25)  # Linux; Python names it only in newer versions


class ListenError(InterplayError):
    """An address on which the server cannot listen."""


class _SmallMessages(ServerProtocol):
    """Closes the socket with this protocol's own code when a message is too long, or when there are too many frames. Pings
    count as frames, and so do the pieces of a message."""

    _window_end, _num_frames = 0.0, 0

    def recv_frame(self, frame: Frame) -> None:
        now = time.monotonic()
        if now >= self._window_end:
            self._window_end, self._num_frames = now + 1.0, 0
        self._num_frames += 1
        if self._num_frames > wire.MAX_MESSAGES_PER_S:
            raise ProtocolError(_TOO_MANY)
        super().recv_frame(frame)

    def fail(self, code: CloseCode | int, reason: str = "") -> None:
        if code == CloseCode.MESSAGE_TOO_BIG:
            code, reason = wire.CLOSE_TOO_LONG, f"a message may have at most {wire.MAX_MESSAGE_BYTES} bytes"
        elif reason == _TOO_MANY:
            code = wire.CLOSE_TOO_MANY
        super().fail(code, reason)


class PlaySocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket without hidden buffers.

    The transport asks its writer to wait as soon as anything is left unsent, so frames wait where they can be counted. When a
    connection has failed, input is read and discarded for a second: closing with unread bytes would reset the connection, and
    the client would never see the close code.
    """

    _draining = False
    _take: Callable[[bytes], bool] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _SmallMessages(max_size=wire.MAX_MESSAGE_BYTES, logger=logging.getLogger("uvicorn.error"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        stream = cast(asyncio.Transport, transport)
        stream.set_write_buffer_limits(high=0)
        raw = stream.get_extra_info("socket")
        if raw is not None and raw.family in (socket.AF_INET, socket.AF_INET6):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            # Where the kernel does not know the option, the acknowledgement window alone bounds what is under way.
            with contextlib.suppress(OSError):
                raw.setsockopt(socket.IPPROTO_TCP, _TCP_NOTSENT_LOWAT, _NOT_SENT_BYTES)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            cast(dict[str, Any], self.scope)["extensions"] |= {WRITE_NOW: self.write_now, READ_NOW: self.read_now}

    def connection_lost(self, exc: Exception | None) -> None:
        """Break the circle of references, so that the memory is freed without garbage collection."""
        super().connection_lost(exc)
        for key in (WRITE_NOW, READ_NOW):
            cast(dict[str, Any], getattr(self, "scope", None) or {}).get("extensions", {}).pop(key, None)

    def write_now(self, message: bytes, *, is_text: bool = False) -> bool:
        """Write one message at once, without events and tasks in between; this halves the cost of a frame. Return False, with
        nothing written, if the transport has bytes left to send or the socket is closing."""
        if not self.writable.is_set() or self.close_sent or self.disconnected or self.transport.is_closing():
            return False
        size = len(message)
        kind = 0x81 if is_text else 0x82
        if size < 126:
            head = bytes((kind, size))
        elif size < 1 << 16:
            head = bytes((kind, 0x7E)) + size.to_bytes(2, "big")
        else:
            head = bytes((kind, 0x7F)) + size.to_bytes(8, "big")
        self.transport.write(head + message)
        return True

    def read_now(self, take: Callable[[bytes], bool] | None) -> None:
        """Pass binary messages to `take` at once from now on, without the queue and the task that reads it; None ends this. A
        message for which `take` returns False goes into the queue."""
        self._take = take

    def handle_bytes(self, event: Frame) -> None:
        """Take a binary message, or its first piece. If earlier messages are still in the queue, it waits behind them."""
        is_next = event.fin and self.queue.empty() and not self.close_sent
        if not (is_next and self._take is not None and self._take(bytes(event.data))):
            super().handle_bytes(event)

    def data_received(self, data: bytes) -> None:
        if self._draining:
            return
        super().data_received(data)
        if (
            not self.handshake_initiated and not self.transport.is_closing()
        ):  # the head comes whole: it is none that can be read
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.transport.close()

    def handle_parser_exception(self) -> None:
        assert self.conn.close_sent is not None
        closing = {"type": "websocket.disconnect", "code": self.conn.close_sent.code, "reason": self.conn.close_sent.reason}
        self.queue.put_nowait(cast(Any, closing))
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self._draining = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(_DRAIN_S, self.transport.close)


def host_of_origin(origin: str) -> str | None:
    """The host (and port) of an `Origin` header; None for a page that hides its origin (`null`).

    >>> host_of_origin("https://lab.example"), host_of_origin("null"), host_of_origin("http://[")
    ('lab.example', None, None)
    """
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


@functools.lru_cache(4096)
def client_of(address: str) -> str:
    """Return the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, which one
    subscriber has.

    >>> client_of("192.0.2.7"), client_of("2001:db8::1:2:3:4")
    ('192.0.2.7', '2001:db8::/64')
    """
    with contextlib.suppress(ValueError):
        found = ipaddress.ip_address(address)
        if isinstance(found, ipaddress.IPv6Address):
            return (
                client_of(str(found.ipv4_mapped)) if found.ipv4_mapped else str(ipaddress.ip_network((found, 64), strict=False))
            )
    return address


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket. Raises `ListenError` if the port is in use or the address is not this machine's."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, OverflowError) as error:
        raise ListenError(
            f"cannot listen on {host}:{port}: {error}\n"
            "Use --host 127.0.0.1 (this machine only) or 0.0.0.0 (every network), and a port below 65536."
        ) from None
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ListenError(
                f"port {port} on {host} is in use, probably by another `interplay serve`.\n"
                f"Stop that server, or use the next port:  interplay serve --port {port + 1}"
            ) from None
        raise ListenError(
            f"cannot listen on {host}:{port}: {error.strerror}\n"
            "Choose another address:  interplay serve --host 127.0.0.1 --port 8000"
        ) from None
    listener.setblocking(False)
    return listener
