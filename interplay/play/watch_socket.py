"""The socket of a watcher of a seat: frames go out, and no message that comes in can act."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay.play.connections import wire
from interplay.play.connections.connection import Connection
from interplay.play.games.state import OVER
from interplay.play.games.watching import Watcher
from interplay.play.player_socket import Pace, Place, Refusal, is_from_elsewhere, parse_text


async def serve(websocket: WebSocket, place: Place | None) -> None:
    """Serve a watcher's socket until it closes. The caller decides whether they may watch.

    A watcher may say `hello`, and `key` to get a picture that stands alone; any other message closes the socket (4400), as do
    messages that are too long (4413) or too frequent (4429). `place`: the seat to watch; None where it does not exist, or no
    longer.
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
        with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            await asyncio.wait_for(websocket.close(refusal.code, refusal.reason[:120]), 5.0)
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
