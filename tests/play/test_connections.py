"""Connections that mean harm: heads without end, requests that never end, floods below the messages, too many at once."""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest
from play_server import RunningServer
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from interplay.play.connections import admission, wire

pytestmark = pytest.mark.processes

REQUEST = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@contextlib.asynccontextmanager
async def connection(
    server: RunningServer, source: str = "127.0.0.1"
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare one, from one of this machine's loopback addresses."""
    place = urlsplit(server.address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port, local_addr=(source, 0))
    try:
        yield reader, writer
    finally:
        writer.close()


async def answer(reader: asyncio.StreamReader) -> bytes:
    """All that comes until the server closes."""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(60):
            return await reader.read()
    return b""


def test_a_request_may_not_take_its_time(server: RunningServer) -> None:
    """Head and body alike; a connection that asks nothing is closed without a word."""
    begun = {
        "nothing": b"",
        "line": b"GET /heal",
        "head": REQUEST + b"X-Slow: ",
        "body": POST + b"Content-Length: 99\r\n\r\n{",
        "chunks": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    }

    async def drip(words: bytes) -> bytes:
        async with connection(server) as (reader, writer):
            writer.write(words)

            async def more() -> None:
                while words:
                    await asyncio.sleep(1.0)
                    writer.write(b"1\r\n \r\n" if b"chunked" in words else b"a")

            dripping = asyncio.create_task(more())
            try:
                return await answer(reader)
            finally:
                dripping.cancel()

    async def scenario() -> dict[str, bytes]:
        began = time.monotonic()
        answers = await asyncio.gather(*map(drip, begun.values()))
        assert time.monotonic() - began < 3 * admission.HEAD_TIMEOUT_S
        return dict(zip(begun, answers, strict=True))

    answers = asyncio.run(scenario())
    assert answers.pop("nothing") == b""
    for name, said in answers.items():
        assert said.startswith(b"HTTP/1.1 408 "), name
        assert b"too slowly" in said, name


def test_a_head_without_end_is_refused(server: RunningServer) -> None:
    async def scenario() -> None:
        for words in (
            REQUEST + b"X-Long: " + b"a" * 2**20,
            REQUEST + b"X: y\r\n" * 2**17,
            b"GET /" + b"a" * 2**20,
            POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 2**17,
        ):
            async with connection(server) as (reader, writer):
                writer.write(words)
                assert (await answer(reader)).startswith(b"HTTP/1.1 431 ")
        async with connection(server) as (reader, writer):  # what is long, and not too long, is answered
            writer.write(REQUEST + b"X-Long: " + b"a" * 20_000 + b"\r\nConnection: close\r\n\r\n")
            assert (await answer(reader)).startswith(b"HTTP/1.1 200 ")

    asyncio.run(scenario())


def test_a_large_body_that_comes_in_one_go_is_no_head_without_end(server: RunningServer) -> None:
    headers = {"Content-Type": "application/json"}
    found = httpx.post(f"{server.address}/api/sessions", content=b" " * 200_000 + b'{"task": 1}', headers=headers)
    assert found.status_code == 422


def test_one_address_may_not_hold_every_connection(server: RunningServer) -> None:
    async def scenario() -> None:
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(admission.MAX_CONNECTIONS_OF_ADDRESS):
                await stack.enter_async_context(connection(server, "127.0.0.2"))
            reader, _ = await stack.enter_async_context(connection(server, "127.0.0.2"))
            said = await answer(reader)
            assert said.startswith(b"HTTP/1.1 503 ")
            assert b"Retry-After: 60" in said
            assert b"your address has 256 connections open" in said
            async with httpx.AsyncClient() as http:
                assert (await http.get(f"{server.address}/healthz")).status_code == 200  # from another address

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["ping", "pong", "empty pieces"])
def test_frames_that_are_no_messages_count_as_such(server: RunningServer, kind: str) -> None:
    async def scenario() -> None:
        client = await server.open("atari/breakout", connect=False)
        address = "ws" + server.address.removeprefix("http") + "/api/play"
        async with connect(address, subprotocols=[wire.SUBPROTOCOL]) as socket:  # type: ignore[list-item]
            await socket.send(f'{{"type": "hello", "token": "{client.grant["token"]}"}}')
            await socket.recv()

            async def pieces() -> AsyncIterator[bytes]:
                for number in range(10_000):
                    if number % 50 == 0:
                        await asyncio.sleep(0.01)  # reads the server's close before the socket is gone
                    yield b""

            async def flood() -> None:
                if kind == "empty pieces":
                    await socket.send(pieces())
                async for _ in pieces():
                    await (socket.ping() if kind == "ping" else socket.pong(os.urandom(4)))
                while True:
                    await socket.recv()

            with pytest.raises(ConnectionClosed) as closed:
                await flood()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == wire.CLOSE_TOO_MANY
            assert "more than 300 messages in a second" in closed.value.rcvd.reason

    asyncio.run(scenario())


def test_a_handshake_that_cannot_be_read_is_answered(server: RunningServer) -> None:
    async def scenario() -> None:
        async with connection(server) as (reader, writer):
            head = b"GET /api/play HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            writer.write(head + b"X: y\r\n" * 500 + b"\r\n")
            assert (await answer(reader)).startswith(b"HTTP/1.1 400 ")

    asyncio.run(scenario())
