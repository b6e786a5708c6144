"""One player's WebSocket, and the bounded queue of messages for it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay.play.connections import wire
from interplay.play.connections.sockets import WRITE_NOW


class Connection:
    """Sends messages in order, from one task, and reports when a client is too slow.

    Args:
        on_hold: Called when two frames wait, so that no more are made.
        on_go: Called when the waiting frames are sent. The argument says whether frames were dropped meanwhile; then the next
            must be a key frame.
    """

    def __init__(self, websocket: WebSocket, *, on_hold: Callable[[], None], on_go: Callable[[bool], None]) -> None:
        self._websocket = websocket
        self._on_hold = on_hold
        self._on_go = on_go
        self._queue: deque[str | bytes] = deque()
        self._num_frames = 0
        self._held = False
        self._dropped = False
        self._needs_key = False
        self._closing: tuple[int, str] | None = None
        self._wake: asyncio.Future[None] | None = None
        self._closed = False
        self._write_now: Callable[..., bool] | None = websocket.scope.get("extensions", {}).get(WRITE_NOW)

    def send_frame(self, message: bytes, *, last: bool = False) -> None:
        """Queue a frame. If too many frames wait, drop this frame and the later ones that build on it, until a frame stands
        alone. Parts of the land are kept: the client asked for them, and none are made while it is held."""
        if self._closing is not None or self._closed:
            return
        kind = message[0]
        if kind == wire.LAND_FRAME:
            if self._needs_key:
                return  # it asks again after the fresh scene
        elif not self._may_follow(kind, message[1], last=last):
            return
        # With nothing before it a frame may go at once; under another ASGI server every frame takes the long way below.
        if self._idle and self._write_now is not None and self._write_now(message):
            return
        self._num_frames += 1
        if self._num_frames >= wire.MAX_UNSENT_FRAMES and not self._held:
            self._held = True
            self._on_hold()
        self._put(message)

    def _may_follow(self, kind: int, flags: int, *, last: bool) -> bool:
        is_scene = kind == wire.SCENE_FRAME
        if self._needs_key and (kind == wire.DELTA_FRAME or (is_scene and not flags & wire.FRESH)):
            return False
        if self._num_frames >= (wire.MAX_UNSENT_SCENES if is_scene else wire.MAX_UNSENT_FRAMES) and not last:
            self._dropped = self._needs_key = True
            return False
        self._needs_key = False
        return True

    def send_text(self, message: str) -> None:
        """Queue a JSON message. If nothing waits before it, send it at once, so that frames behind it do not count as
        waiting."""
        if self._closing is not None or self._closed:
            return
        if self._idle and self._write_now is not None and self._write_now(message.encode(), is_text=True):
            return
        self._put(message)

    def close(self, code: int, reason: str = "") -> None:
        """Close the socket when the queue is sent. A client that reads nothing answers no pings, so its socket closes too."""
        if self._closing is None:
            self._closing = (code, reason[:120])
            self._awake()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        send = self._websocket.send
        queue = self._queue
        try:
            while True:
                while queue:
                    message = queue[0]
                    if isinstance(message, bytes):
                        await send({"type": "websocket.send", "bytes": message})
                        self._num_frames -= 1
                    else:
                        await send({"type": "websocket.send", "text": message})
                    queue.popleft()
                if self._held:
                    self._held = False
                    dropped, self._dropped = self._dropped, False
                    self._on_go(dropped)
                if self._closing is not None:
                    await self._websocket.close(*self._closing)
                    return
                self._wake = loop.create_future()
                await self._wake
        except (WebSocketDisconnect, RuntimeError):
            pass  # the client is gone; its receiving side says so too
        finally:
            self._closed = True

    @property
    def _idle(self) -> bool:
        return self._wake is not None and not self._queue

    def _put(self, message: str | bytes) -> None:
        self._queue.append(message)
        self._awake()

    def _awake(self) -> None:
        wake = self._wake
        if wake is not None:
            self._wake = None
            wake.set_result(None)
