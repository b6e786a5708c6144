"""The least HTTP a judge's browser needs: one kept connection, a cookie, and the sending again of what got no reply.

Fifty judges share two cores with the server they measure, so this is a tenth of the work of a whole HTTP library.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, NamedTuple

RETRY_AFTER_S = 0.05
GIVE_UP_AFTER_S = 120.0


class Reply(NamedTuple):
    """What the server said.

    Attributes:
        body: Parsed if it is JSON, bytes otherwise.
        sent_s, done_s: When the request that got this reply was sent, and when the reply was whole; `time.monotonic`.
        num_lost: How many times it was sent before without a reply: each of those may have been carried out.
        location: Where it sends the browser, if anywhere.
    """

    status: int
    body: Any
    sent_s: float
    done_s: float
    num_lost: int
    location: str = ""

    @property
    def latency_ms(self) -> float:
        """From sending to the reply's last byte."""
        return (self.done_s - self.sent_s) * 1000


class Client:
    """One browser.

    Args:
        host, port: The server.
    """

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._cookie = ""
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def request(self, method: str, path: str, body: dict[str, Any] | str | None = None, *, headers: str = "") -> Reply:
        """Send, and send again until there is a reply.

        Args:
            body: Sent as JSON, or as a form if it is text.
            headers: More header lines, each ended by a line break.
        Raises:
            TimeoutError: If the server stays away.
        """
        is_form = isinstance(body, str)
        payload = b"" if body is None else body.encode() if is_form else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n{self._cookie}{headers}"
        if method != "GET":
            kind = "application/x-www-form-urlencoded" if is_form else "application/json"
            head += f"Content-Type: {kind}\r\nContent-Length: {len(payload)}\r\n"
        message = head.encode() + b"\r\n" + payload
        num_lost, began_s = 0, time.monotonic()
        while True:
            is_sent = False
            try:
                reader, writer = await self._connected()
                sent_s = time.monotonic()
                is_sent = True
                writer.write(message)
                status, received, location = await self._read(reader)
                return Reply(status, received, sent_s, time.monotonic(), num_lost, location)
            except (OSError, asyncio.IncompleteReadError):
                self.close()
                num_lost += is_sent
                if time.monotonic() - began_s > GIVE_UP_AFTER_S:
                    raise TimeoutError(f"no reply to {method} {path} in {GIVE_UP_AFTER_S:g} s") from None
                await asyncio.sleep(RETRY_AFTER_S)

    def close(self) -> None:
        """Drop the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None or self._streams[0].at_eof():  # servers close connections that were idle
            self.close()
            self._streams = await asyncio.open_connection(self._host, self._port)
        return self._streams

    async def _read(self, reader: asyncio.StreamReader) -> tuple[int, Any, str]:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields: dict[str, str] = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            fields[name.lower()] = value
        if "set-cookie" in fields:
            self._cookie = f"Cookie: {fields['set-cookie'].partition(';')[0]}\r\n"
        received = await reader.readexactly(int(fields.get("content-length", "0")))
        is_json = fields.get("content-type") == "application/json"
        return int(lines[0].split()[1]), json.loads(received) if is_json else received, fields.get("location", "")
