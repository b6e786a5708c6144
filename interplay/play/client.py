"""A player that is a program: it uses the protocol of docs/protocol.md over a real socket, and sees only what players see.

async with await PlayClient.open("http://127.0.0.1:8000", "atari/breakout") as player:
    await player.start()
    async for frame in player.frames():
        await player.press(choose_buttons(frame))
    print(player.ended)
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Literal, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from interplay.envs import Frame
from interplay.errors import InterplayError
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameDecoder, OutOfStepError, palette_from_text

HEARTBEAT_S = 0.25


class PlayClientError(InterplayError):
    """The server refused, or ended the seat with an error. `code` is the code of the `error` message, the HTTP status, or the
    close code of the socket."""

    def __init__(self, code: str | int, message: str) -> None:
        super().__init__(message)
        self.code = code


class PlayClient:
    """One player's seat, from the hello message to the end.

    Args:
        address: Address of the server, `http://host:port`.
        grant: The answer to `POST /api/sessions`.

    Attributes:
        decoder: Holds the picture; `decoder.pixels` is reused by the next frame.
        header: Header of the newest frame.
        hud: The newest `hud` message.
        ended: The `ended` message, once the episode is over.
        num_frames, num_bytes: Number of frames, and of bytes, received so far.
        messages: Every JSON message received except `hud`, in order.
        is_drawn_here: Whether this player asks for scenes instead of pictures.
        step: Step of the newest frame, picture or scene; -1 before the first.
        num_land: Number of land frames received.
        on_scene: Called with the header and the payload of each frame of a scene or of land.
    """

    def __init__(self, address: str, grant: dict[str, Any], *, drawn: Literal["here", "server"] = "server") -> None:
        self.address = address.rstrip("/")
        self.grant = grant
        self.welcome: dict[str, Any] = {}
        self.decoder = FrameDecoder(1, 1, None)
        self.header: wire.FrameHeader | None = None
        self.hud: dict[str, Any] = {}
        self.ended: dict[str, Any] | None = None
        self.messages: list[dict[str, Any]] = []
        self.num_frames = 0
        self.num_bytes = 0
        self.state = "connecting"
        self._socket: ClientConnection | None = None
        self._buttons = self._num_presses = 0
        self._sent_at = 0.0
        self._heart: asyncio.Task[None] | None = None
        self._traced: tuple[int, float] | None = None
        self.is_drawn_here = drawn == "here"
        self.step = -1
        self.num_land = 0
        self.on_scene: Callable[[wire.FrameHeader, bytes], None] = lambda header, payload: None

    @classmethod
    async def open(
        cls,
        address: str,
        task: str,
        *,
        operator: str | None = None,
        connect: bool = True,
        drawn: Literal["here", "server"] = "server",
        **wanted: Any,
    ) -> PlayClient:
        """Ask for a seat and take it.

        Args:
            operator: The operator's token; needed to set anything in `wanted`.
            connect: Whether to open the socket too.
            drawn: `here` to receive scenes instead of pictures, if the world has scenes.
            wanted: `actor`, `actor_kind`, `seed`, `countdown_s`.
        Raises:
            PlayClientError: If the server refuses.
        """
        client = cls(
            address,
            await asyncio.to_thread(request_session, address, task, operator=operator, drawn=drawn, **wanted),
            drawn=drawn,
        )
        if connect:
            await client.connect()
        return client

    async def connect(self) -> None:
        """Open the socket and wait for `welcome` or `ended`. A second socket takes the seat from the first."""
        address = "ws" + self.address.removeprefix("http") + self.grant["socket"]
        self._socket = await connect(
            address, subprotocols=[Subprotocol(wire.SUBPROTOCOL)], compression=None, ping_interval=None, max_size=1 << 24
        )
        await self.send("hello", token=self.grant["token"])
        while True:
            message = await self.receive()
            if isinstance(message, dict) and message["type"] in ("welcome", "ended"):
                self._heart = asyncio.create_task(self._beat())
                if self.is_drawn_here and message.get("scene"):
                    await self.draw("here")
                return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._heart is not None:
            self._heart.cancel()
        if self._socket is not None:
            await self._socket.close()

    async def send(self, kind: str, **fields: Any) -> None:
        """Send a JSON message. If the socket is closed, the next `receive` raises the reason."""
        await self._send(json.dumps({"type": kind, **fields}))

    async def start(self) -> None:
        await self.send("start")

    async def pause(self) -> None:
        """Pause the game, as a page does when it loses the focus."""
        self._buttons = 0
        await self.send("pause")

    async def resume(self) -> None:
        await self.send("resume")

    async def quit(self) -> None:
        await self.send("quit")

    async def press(self, buttons: int, pitch: float = 0.0, yaw: float = 0.0) -> None:
        """Hold exactly these buttons from now on: a bit mask, `task.keys.mask({"LEFT"})`.

        In a task with a pointer, also turn the view once: `await client.press(keys.mask_of_action(action),
        *keys.turn_of_action(action))` plays a composed action.

        Args:
            pitch, yaw: Degrees, down and right positive, each from -180 to 180.
        Raises:
            ValueError: If an angle is outside this range.
        """
        if buttons != self._buttons or pitch or yaw:
            await self._send_input(buttons, **({"turn": (pitch, yaw)} if pitch or yaw else {}))

    async def choose(self, buttons: int) -> None:
        """Press these buttons for one step, in a task whose steps wait for the players."""
        self._num_presses += 1
        await self._send_input(0, press=(buttons, self._num_presses))

    async def point(self, x: float, y: float = 0.0, buttons: int = 0) -> None:
        """Let the pointer ask for these finite values from now on, in a task whose action is a Box. `await
        client.point(*keys.turn_of_action(action))` plays an action."""
        await self._send_input(buttons, pointed=(x, y))

    async def draw(self, where: Literal["here", "server"], gui_width: int = 320, gui_height: int = 180) -> None:
        """Ask for scenes (`here`) or pictures (`server`) from now on. `gui_width`, `gui_height`: size, in GUI pixels (64 to
        2048), of the GUI that is drawn over the world."""
        self.is_drawn_here = where == "here"
        await self.send("scene", drawn=where, gui_width=gui_width, gui_height=gui_height)

    async def ask_for_land(self, num_parts: int = wire.MAX_LAND_PARTS) -> None:
        await self.send("land", parts=num_parts)

    async def look(self, buttons: int, pitch: float, yaw: float) -> None:
        """Hold exactly these buttons and look in this direction, in degrees: pitch from -90 (up) to 90, yaw from -360 to 360.
        Raises `ValueError` for a direction outside these ranges."""
        await self._send_input(buttons, look=(pitch, yaw))

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield every frame until the episode has ended; the next frame reuses the arrays. Raises `PlayClientError` if the seat
        ended with an error or the socket closed."""
        decoder = self.decoder
        while self.ended is None:
            message = await self.receive()
            if isinstance(message, wire.FrameHeader) and message.kind not in (wire.SCENE_FRAME, wire.LAND_FRAME):
                decoder = self.decoder
                yield decoder.frame()

    async def receive(self) -> wire.FrameHeader | dict[str, Any] | None:
        """Return the next message: a JSON message, or the header of a frame, which is applied to `decoder` or passed to
        `on_scene`. Return None for a frame that could not be applied, after asking for a key frame. Raises `PlayClientError`
        like `frames`."""
        try:
            message = await self.socket.recv()
        except ConnectionClosed as closed:
            code, reason = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "the connection was lost")
            raise PlayClientError(code, f"the server closed the socket ({code}): {reason}") from None
        if isinstance(message, str):
            return self._take(json.loads(message))
        if message[0] in (wire.SCENE_FRAME, wire.LAND_FRAME):
            header = wire.unpack_header(message)
            self.on_scene(header, message[wire.HEADER_BYTES :])
            if header.kind == wire.LAND_FRAME:
                self.num_land += 1
                return header
        else:
            try:
                header = self.decoder.apply(message)
            except OutOfStepError:
                await self.send("key")
                return None
        self.header = header
        self.step = header.step
        self.num_frames += 1
        self.num_bytes += len(message)
        if self._traced is not None and header.step >= self._traced[0]:
            await self.send("traced", arrived_ms=self._traced[1], painted_ms=1000 * time.perf_counter())
            self._traced = None
        return header

    async def _beat(self) -> None:
        """Send a heartbeat four times a second while the socket is open; it acknowledges the frames painted so far."""
        while self.socket.close_code is None:
            wait_s = self._sent_at + HEARTBEAT_S - time.perf_counter()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            else:
                await self._send_input(self._buttons)

    def _take(self, message: dict[str, Any]) -> dict[str, Any]:
        match message["type"]:
            case "hud":
                self.hud = message
                return message
            case "welcome":
                self.welcome = message
                self._num_presses = 0
                self.state = message["state"]
                self.decoder = FrameDecoder(message["width"], message["height"], palette_from_text(message["palette"]))
            case "traced":
                self._traced = message["step"], 1000 * time.perf_counter()
            case "palette":
                self.decoder.palette = palette_from_text(message["palette"])
            case "started" | "resumed":
                self.state = "playing"
            case "paused":
                self.state = "paused"
            case "ended":
                self.state = "ended"
                self.ended = message
            case "error":
                self.messages.append(message)
                raise PlayClientError(message["code"], message["message"])
        self.messages.append(message)
        return message

    async def _send_input(self, buttons: int, **kind: tuple[Any, Any]) -> None:
        if buttons > 0xFFFF and not kind:  # the short message has 16 buttons
            kind = {"turn": (0.0, 0.0)}
        now = time.perf_counter()
        message = wire.pack_input(buttons, max(self.step, 0), now * 1000, **kind)
        self._buttons, self._sent_at = buttons, now
        await self._send(message)

    async def _send(self, message: str | bytes) -> None:
        """Send a message. If the server has closed the socket, its last message, which may give the reason, is still read."""
        with contextlib.suppress(ConnectionClosed):
            await self.socket.send(message)

    @property
    def socket(self) -> ClientConnection:
        if self._socket is None:
            raise PlayClientError("not_connected", "the client has no socket; call connect() first")
        return self._socket


def request_session(address: str, task: str, *, operator: str | None = None, **wanted: Any) -> dict[str, Any]:
    """Ask for a seat with `POST /api/sessions`; return the server's answer.

    Args:
        operator: The operator's token; needed to set anything but `drawn`.
        wanted: As in `PlayClient.open`; also `drawn`: `here` for a seat that receives scenes, if the world has scenes.
    Raises:
        PlayClientError: With the server's own words, if it refuses or cannot be reached.
    """
    headers = {"Content-Type": "application/json"}
    if operator is not None:
        headers["Authorization"] = f"Bearer {operator}"
    body = json.dumps({"task": task, **wanted}).encode()
    return _answer(address, urllib.request.Request(f"{address.rstrip('/')}/api/sessions", body, headers))


def seat_path(address: str, token: str) -> str | None:
    """Return the path of a seat's socket now (`POST /api/play/place`); None while no server has the game. Raises like
    `request_session`."""
    body = json.dumps({"token": token}).encode()
    request = urllib.request.Request(f"{address.rstrip('/')}/api/play/place", body, {"Content-Type": "application/json"})
    return _answer(address, request)["socket"]


def live_now(address: str, operator: str) -> dict[str, Any]:
    """Return the games that are played now (`GET /api/live`). Needs the operator's token; raises like `request_session`."""
    headers = {"Authorization": f"Bearer {operator}"}
    return _answer(address, urllib.request.Request(f"{address.rstrip('/')}/api/live", headers=headers))


def _answer(address: str, request: urllib.request.Request) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 307:  # another server of the cluster has the seat
            there = urllib.parse.urljoin(address, error.headers["Location"])
            return _answer(address, urllib.request.Request(there, request.data, dict(request.header_items())))
        try:
            message = json.load(error)["message"]
        except (ValueError, KeyError, TypeError):
            message = str(error)
        raise PlayClientError(error.code, message) from None
    except urllib.error.URLError as error:
        raise PlayClientError("unreachable", f"no server at {address}: {error.reason}\nStart one:  interplay serve") from None
