"""Serve the sockets of players and watchers from the handshake until they close: the hello, their messages, and refusals."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay import logs
from interplay.play.connections import wire
from interplay.play.connections.connection import Connection
from interplay.play.connections.sockets import READ_NOW, client_of, host_of_origin
from interplay.play.games.game import Game
from interplay.play.games.interfaces import OVER
from interplay.play.games.seat import UNKNOWN_CLIENT, Seat
from interplay.play.games.watching import Watcher


class Place(NamedTuple):
    """A seat, and the game that it belongs to."""

    game: Game
    seat: Seat


class Refusal(Exception):
    """A reason to close the socket, with its close code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class Pace:
    """Counts the messages of a client."""

    def __init__(self) -> None:
        self._window_end, self._num_messages = 0.0, 0

    def count(self, now: float) -> None:
        """Count one message, at this time in seconds. Raises `Refusal` if it is more than `MAX_MESSAGES_PER_S` in a second."""
        if now >= self._window_end:
            self._window_end, self._num_messages = now + 1.0, 0
        self._num_messages += 1
        if self._num_messages > wire.MAX_MESSAGES_PER_S:
            raise Refusal(wire.CLOSE_TOO_MANY, f"more than {wire.MAX_MESSAGES_PER_S} messages in a second")


class GameOver(Exception):
    """The game of this socket is over; `words` is the last message, which says how much of the game is saved."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


def is_from_elsewhere(websocket: WebSocket) -> bool:
    """Whether the page of another site has opened the socket."""
    origin = websocket.headers.get("origin")
    return origin is not None and host_of_origin(origin) != websocket.headers.get("host")


async def serve(websocket: WebSocket, find_place: Callable[[str], Awaitable[Place]]) -> None:
    """Serve one player's socket until it closes. `find_place` returns the seat of a token; it raises `Refusal` or
    `GameOver`."""
    if is_from_elsewhere(websocket):
        await websocket.close()  # before accepting: the browser of another site's visitor gets 403
        return
    offered = wire.SUBPROTOCOL in websocket.scope.get("subprotocols", [])
    await websocket.accept(subprotocol=wire.SUBPROTOCOL if offered else None)
    try:
        if not offered:
            raise Refusal(wire.CLOSE_GARBAGE, f"this server supports only the subprotocol {wire.SUBPROTOCOL}")
        await _play(websocket, await find_place(await _hello(websocket)))
    except Refusal as refusal:
        await _refuse(websocket, refusal)
    except GameOver as over:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await websocket.send_text(over.words)
            await websocket.close(1000)
    except WebSocketDisconnect:
        pass


async def _refuse(websocket: WebSocket, refusal: Refusal) -> None:
    # The client may have left first, or read nothing at all.
    with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
        await asyncio.wait_for(websocket.close(refusal.code, refusal.reason[:120]), 5.0)


async def _hello(websocket: WebSocket) -> str:
    try:
        async with asyncio.timeout(wire.HELLO_TIMEOUT_S):
            message = await websocket.receive()
    except TimeoutError:
        raise Refusal(wire.CLOSE_UNSIGNED, f"no hello within {wire.HELLO_TIMEOUT_S:g} s") from None
    command = parse_text(message)
    if command.type != "hello":
        raise Refusal(wire.CLOSE_UNSIGNED, "the first message must be a hello with the seat's token")
    return command.token


async def _play(websocket: WebSocket, place: Place) -> None:
    """Pass messages to the game. The socket of a client that breaks the rules is closed; the seat is then treated as if the
    socket were lost."""
    game, seat = place
    logs.bind(game=game.number, session=seat.session)
    if seat.client == UNKNOWN_CLIENT and websocket.client is not None:
        seat.client = client_of(websocket.client.host)
    connection = Connection(websocket, on_hold=lambda: game.hold(seat), on_go=lambda dropped: game.go(seat, dropped))
    loop = asyncio.get_running_loop()
    sender = loop.create_task(connection.run())
    game.attach(seat, connection)
    pace = Pace()

    def read(data: bytes) -> None:
        _check_size(data)
        try:
            held = wire.parse_input(data)
        except wire.ProtocolError as error:
            raise Refusal(wire.CLOSE_GARBAGE, str(error)) from None
        if connection is seat.connection:
            game.on_input(seat, held)

    def take(data: bytes) -> bool:
        """Take an input at once. An input that breaks a rule is left to the event loop, which refuses it."""
        try:
            pace.count(loop.time())
            read(data)
        except Refusal:
            return False
        return True

    read_now: Callable[..., None] = websocket.scope.get("extensions", {}).get(READ_NOW, lambda take: None)
    read_now(take)
    try:
        while True:
            message = await websocket.receive()
            pace.count(loop.time())
            data = message.get("bytes")
            if data is not None:
                read(data)
            else:
                command = parse_text(message)
                if connection is seat.connection:
                    game.on_command(seat, command)
    finally:
        read_now(None)
        game.detach(seat, connection)
        sender.cancel()


def parse_text(message: Any) -> wire.ClientCommand:
    """Return the command in a client's text message. Raises `Refusal` for other messages, and `WebSocketDisconnect` if the
    client has left."""
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1006))
    text = message.get("text")
    if text is None:
        raise Refusal(wire.CLOSE_GARBAGE, "expected a JSON message")
    _check_size(text)
    try:
        return wire.parse_command(text)
    except wire.ProtocolError as error:
        raise Refusal(wire.CLOSE_GARBAGE, str(error)) from None


def _check_size(data: str | bytes) -> None:
    if len(data) > wire.MAX_MESSAGE_BYTES:
        raise Refusal(wire.CLOSE_TOO_LONG, f"a message may have at most {wire.MAX_MESSAGE_BYTES} bytes")


async def serve_watcher(websocket: WebSocket, place: Place | None) -> None:
    """Serve a watcher's socket until it closes. The caller decides whether they may watch.

    A watcher may say `hello`, and `key` to get a picture that stands alone. Any other message closes the socket (4400), as do
    messages that are too long (4413) or too frequent (4429). `place`: the seat to watch; None if it does not exist (any more).
    """
    if is_from_elsewhere(websocket):
        await websocket.close()
        return
    await websocket.accept(subprotocol=wire.SUBPROTOCOL)
    try:
        if place is None or place.game.state in OVER:
            await websocket.close(wire.CLOSE_EXPIRED, "this game is over, or there is no such seat")
            return
        await _watch(websocket, place)
    except Refusal as refusal:
        await _refuse(websocket, refusal)
    except (WebSocketDisconnect, RuntimeError):
        pass


async def _watch(websocket: WebSocket, place: Place) -> None:
    game, seat = place

    def on_go(dropped: bool) -> None:
        if dropped:
            game.watchers.again(watcher, seat)

    watcher = Watcher(Connection(websocket, on_hold=lambda: None, on_go=on_go))
    loop, pace = asyncio.get_running_loop(), Pace()
    sender = loop.create_task(watcher.connection.run())
    game.watchers.add(seat, watcher)
    try:
        while True:
            message = await websocket.receive()
            pace.count(loop.time())
            said = parse_text(message).type
            if said not in ("hello", "key"):
                raise Refusal(wire.CLOSE_GARBAGE, "a watcher may send only hello and key")
            if said == "key" and not watcher.waits:
                game.watchers.again(watcher, seat)
    finally:
        game.watchers.remove(seat, watcher)
        sender.cancel()
