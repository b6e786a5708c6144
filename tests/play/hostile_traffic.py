"""Seven hundred cases of traffic that means harm, and whether the server stood them."""

import asyncio
import contextlib
import itertools
import json
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from urllib.parse import urlsplit

import httpx
from play_server import RunningServer
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from interplay.play.connections import wire

NUM_CASES = 700
NASTY = (
    "..",
    "../../../etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "%00",
    "a%00b",
    "%ff%fe",
    "%ed%a0%80",
    "%F0%9F%92%A9",
    "'%20OR%201=1--",
    "%3Cscript%3E",
    "a" * 3000,
    "-1",
    "0",
    "99999999999999999999999",
    "1e309",
    "NaN",
    "%0d%0aSet-Cookie:x=y",
    "{{7*7}}",
    "con",
    "%25",
)
QUERIES = (
    "limit=-1",
    "limit=1e309",
    "limit=99999999999999999999",
    "offset=-5",
    "start=-1&count=99999999",
    "start=NaN&count=0",
    "task=%00",
    "task=%ff",
    "task[]=x&task[]=y",
    "a=b&" * 2000,
    "=",
    "&&&",
    "%",
    "page=%F0%9F%92%A9",
    "sort='--",
    "agent=" + "x" * 5000,
)
BODIES = (
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"1e999",
    b"NaN",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"[" * 50_000,
    b'{"a":' * 20_000,
    b"{}" * 100,
    b'{"task": null}',
    b'{"task": {"$gt": ""}}',
    b'{"task": ["atari/breakout"]}',
    b'{"task": "\\u0000"}',
    b'{"task": "\\ud800"}',
    b'{"task": "' + b"x" * 100_000 + b'"}',
    b'{"task": 99999999999999999999999999999}',
    b'{"task": -1e308, "task": true}',
    b'{"task": "atari/breakout", "seed": "1"}',
    b'{"task": "atari/breakout", "seed": -1}',
    b'{"task": "atari/breakout", "seed": 1e40}',
    b'{"task": "atari/breakout", "actor": "root"}',
    b'{"task": "atari/breakout", "countdown_s": NaN}',
    b'{"task": "../../x"}',
    b'{"outcome": ["left"], "responses": {"\\u0000": "\\udfff"}, "reason": "' + b"y" * 70_000 + b'"}',
    b'{"__proto__": {"x": 1}}',
    b'{"name": "\\u202e", "tasks": 3, "description": {}}',
    b'{"draft": ' + b'{"x":' * 900 + b"1" + b"}" * 900 + b"}",
    b"x" * 300_000,
)
HEADERS = (
    b"Content-Length: -1",
    b"Content-Length: x",
    b"Content-Length: 99999999999999999999",
    b"Content-Length: 5\r\nContent-Length: 6",
    b"Content-Length: 3\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: gzip",
    b"Transfer-Encoding: chunked, chunked",
    b"Expect: 100-continue",
    b"Expect: everything",
    b"Cookie: interplay_participant=" + b"A" * 8000,
    b"Cookie: \xff\xfe=\x80;;;=;",
    b"Cookie: interplay_operator=null; interplay_participant=a.b.c",
    b"Authorization: Bearer " + b"z" * 8000,
    b"Authorization: Bearer",
    b"Authorization: \xc3\xa9",
    b"Authorization: Basic Og==",
    b"Range: bytes=-1",
    b"Range: bytes=9-1",
    b"Range: bytes=" + b"0-1," * 500,
    b"Range: cows=1",
    b"If-Modified-Since: yesterday",
    b'If-None-Match: "' + b"x" * 4000,
    b"Origin: null",
    b"Origin: http://[",
    b"Origin: https://evil.example",
    b"Sec-Fetch-Site: cross-site",
    b"Sec-Fetch-Site: \xff",
    b"X-Forwarded-For: not-an-address",
    b"X-Forwarded-For: 1.1.1.1, \x80, ::1",
    b"X-Forwarded-Proto: gopher",
    b"X-Forwarded-Host: evil.example",
    b"Upgrade: h2c",
    b"Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    b"Connection: Upgrade\r\nUpgrade: websocket",
    b"Accept-Encoding: " + b"gzip;q=x," * 900,
    b"Accept: " + b"\xf0\x9f\x92\xa9" * 100,
    b"X: " + b"a" * 40_000,
    b"X: y\r\n" * 9000 + b"Z: 1",
    b"Content-Type: multipart/form-data; boundary=",
    b"Content-Type: application/json; charset=utf-99",
    b"Content-Type: \x00",
    b"Interplay-Enrolment: " + b"0" * 5000,
    b"Interplay-Enrolment: \xff",
    b"Host: evil.example",
    b"Bad Name: x",
    b": empty",
    b"X\x00Y: z",
    b"Accept-Language: " + b"en," * 3000,
    b"Content-Encoding: gzip",
    b"Trailer: Host",
    b"TE: trailers",
    b"Keep-Alive: timeout=999999",
)
GARBAGE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"GET",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /\r\n",
    b"\r\n" * 5000,
    b"\x00" * 4000,
    b"BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\nHost: localhost\n\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
    b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n",
    b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxyz\r\n0\r\n\r\n",
    b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{}",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET \x80\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n" * 40,
    b"*1\r\n$4\r\nPING\r\n",
    b"\xff" * 3000,
)
PATHS = (
    "/",
    "/judge",
    "/leaderboard",
    "/studies",
    "/episodes",
    "/agents",
    "/play/atari/breakout",
    "/operator",
    "/moderation",
    "/static/",
    "/static/css",
    "//evil.example/",
    "/api//sessions",
    "/api/sessions/",
    "/api",
    "/api/play",
    "/healthz/..",
    "/.git/config",
    "/.env",
)

HttpCase = tuple[str, bytes]


def request(method: str, path: str, *, headers: bytes = b"", body: bytes = b"") -> bytes:
    """A request as bytes, whatever is wrong with it."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".encode()
    if body:
        head += b"Content-Type: application/json\r\nContent-Length: " + str(len(body)).encode() + b"\r\n"
    return head + (headers + b"\r\n" if headers else b"") + b"\r\n" + body


def http_cases(address: str) -> Iterator[HttpCase]:
    """Every operation of the API with odd names and odd bodies, pages with odd addresses, odd headers, and what is not HTTP."""
    operations = [
        (method.upper(), path)
        for path, methods in httpx.get(f"{address}/api/openapi.json").json()["paths"].items()
        for method in methods
    ]
    nasty, queries, bodies = itertools.cycle(NASTY), itertools.cycle(QUERIES), itertools.cycle(BODIES)
    for round_ in range(12):
        for method, path in operations:
            named = re.sub(r"\{[^}]*\}", lambda _: next(nasty), path)
            body = next(bodies) if method in ("POST", "PUT", "PATCH", "DELETE") else b""
            yield f"{method} {named[:60]} #{round_}", request(method, named + "?" + next(queries), body=body)
    for body in BODIES:
        for path in ("/api/sessions", "/api/judge/matches"):
            yield f"POST {path} {body[:30]!r}", request("POST", path, body=body)
    for header in HEADERS:
        for method, path in (("GET", "/"), ("POST", "/api/sessions")):
            yield (
                f"{method} {path} {header[:40]!r}",
                request(method, path, headers=header, body=b"[]" if method == "POST" else b""),
            )
    for path in PATHS:
        for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            yield f"{method} {path}", request(method, path)
    for path, name in itertools.product(("/tasks/", "/episodes/", "/agents/", "/static/", "/studies/"), NASTY):
        yield f"GET {path}{name[:30]}", request("GET", path + name)
    for words in GARBAGE:
        yield f"{words[:40]!r}", words


def socket_cases(token: str) -> Iterator[tuple[str, list[str | bytes]]]:
    """Messages for a socket, in order."""
    hello = json.dumps({"type": "hello", "token": token})
    yield from (
        (f"token {bad[:20]!r}", [json.dumps({"type": "hello", "token": bad})])
        for bad in ("", "x", "a.b.c", "\0", "\ud800", "é" * 90, token[:-2], token + "A", token.swapcase(), "W10.x")
    )
    first: tuple[str | bytes, ...] = (
        "",
        "{",
        "null",
        "[]",
        '"hello"',
        '{"type": 1}',
        '{"type": "start"}',
        '{"type": "hello"}',
        '{"type": "hello", "token": 7}',
        '{"type": "hello", "token": null}',
        "\0",
        "\U0001f4a9" * 200,
        b"",
        b"\0" * 16,
        b"\xff" * 28,
        "x" * 2000,
        b"x" * 2000,
        "[" * 1000,
    )
    yield from ((f"first {message[:20]!r}", [message]) for message in first)
    later: tuple[list[str | bytes], ...] = (
        [hello],
        ['{"type": "resume"}'],
        ['{"type": "pause"}'] * 20,
        ['{"type": "start"}'] * 20,
        ['{"type": "key"}'] * 250,
        ["{}"],
        ["nul"],
        ['{"type": "ended"}'],
        ['{"type": "welcome", "token": {}}'],
        [b"\1"],
        [bytes(15)],
        [bytes(16)],
        [bytes(17)],
        [bytes(28)],
        [wire.pack_input(0xFFFF, 2**32 - 1, 1e300)],
        [wire.pack_input(1, 0, float("nan"))],
        [wire.pack_input(0, 0, float("-inf"))],
        [wire.pack_input(2**32 - 1, 0, 0.0, (180.0, -180.0))],
        [b"\2" + b"\xff" * 27],
        ["x" * 1025],
        [b"x" * 1025],
        ["x" * 10_000_000],
        [wire.pack_input(1, 0, 0.0)] * 400,
        ['{"type": "start"}', '{"type": "quit"}', '{"type": "start"}'],
        ["\ufffe"],
        ['{"type":"' + "k" * 900],
    )
    for messages in later:
        yield f"later {messages[0][:20]!r} x {len(messages)}", [hello, *messages]


@contextlib.asynccontextmanager
async def connection(address: str) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def send_bytes(address: str, words: bytes) -> bytes:
    """Send a request; the beginning of the answer, if there is one."""
    async with connection(address) as (reader, writer):
        writer.write(words)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(5.0 if words.endswith(b"\r\n\r\n") else 1.0):
                return await reader.read(4096)
    return b""


def status_of(answer: bytes) -> int:
    """0 of what is no answer over HTTP."""
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


def is_said_refusal(answer: bytes) -> bool:
    """Whether it is the 503 of a limit, with its reason."""
    return status_of(answer) == 503 and any(words in answer for words in (b"connections open", b"try again"))


async def send_messages(address: str, messages: list[str | bytes], *, abort: bool) -> bytes:
    """Say something over a socket, and leave, one way or another."""
    with contextlib.suppress(WebSocketException, InvalidHandshake, OSError, TimeoutError):
        place = "ws" + address.removeprefix("http") + "/api/play"
        async with asyncio.timeout(5.0), connect(place, subprotocols=[wire.SUBPROTOCOL], compression=None) as socket:  # type: ignore[list-item]
            for message in messages:
                await socket.send(
                    message.encode(errors="surrogatepass") if isinstance(message, str) else message,
                    text=isinstance(message, str),
                )
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(socket.recv(), 0.05)
            if abort:
                socket.transport.abort()
    return b""


async def attacks(server: RunningServer) -> list[tuple[str, Callable[[], Awaitable[bytes]]]]:
    """All cases in a random order: name and what sends it."""
    seat = await server.open("atari/qbert", connect=False)
    cases: list[tuple[str, Callable[[], Awaitable[bytes]]]] = [
        (name, lambda words=words: send_bytes(server.address, words)) for name, words in http_cases(server.address)
    ]
    for number, (name, messages) in enumerate(socket_cases(seat.grant["token"])):
        cases.append(
            (name, lambda messages=messages, number=number: send_messages(server.address, messages, abort=number % 2 == 0))
        )
    random.Random(7).shuffle(cases)
    assert len(cases) >= NUM_CASES
    return [(f"{number}: {name}", attack) for number, (name, attack) in enumerate(cases[:NUM_CASES])]


def check_health(server: RunningServer, answers: dict[str, bytes]) -> None:
    """Nothing was our fault, and the server is well."""
    faults = {name: said for name, said in answers.items() if status_of(said) >= 500 and not is_said_refusal(said)}
    assert faults == {}
    assert sum(map(bool, map(status_of, answers.values()))) > len(answers) // 2  # they were heard
    log = (server.data / "server.log").read_text()
    assert "Traceback" not in log, log
    assert "Exception" not in log, log
    deadline = time.monotonic() + 60
    # Where others have the cores a worker may be late with its report, and the server says so.
    while (health := httpx.get(f"{server.address}/healthz").json()) != {"status": "ok"}:
        assert time.monotonic() < deadline, health
        time.sleep(0.2)
