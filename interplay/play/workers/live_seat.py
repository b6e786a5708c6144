"""One player's side of an episode being played, inside a worker: what they hold, and what they have been sent."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable
from typing import Any

from interplay.envs import Frame
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameEncoder
from interplay.play.workers.channel import ToWeb, Welcomed, encode, pack
from interplay.record import InputTiming
from interplay.tasks.keys import clip_turn

_REMEMBERED_FRAMES = 1024
"""How far back an input may name the frame it answers: 17 s at 60 frames a second."""


class LiveSeat:
    """A seat of a live episode.

    Args:
        game, index: Where its messages go: the game's number on the channel, and the seat's in the game.
        name: Of the task's seats.
        mask: Every button there is.
        encoder: Of its pictures.
        send: Takes finished channel messages.

    Attributes:
        timing: Of the input that is in force.
        total_reward: Sum of its rewards.
        is_screen_open: Whether its player was told that a screen of the world is open.
        is_done: Whether its player was told that their part has ended, while the others play on.
    """

    def __init__(
        self, game: int, index: int, name: str, *, mask: int, encoder: FrameEncoder, send: Callable[[bytes], object]
    ) -> None:
        self.index = index
        self.name = name
        self.encoder = encoder
        self.timing: InputTiming | None = None
        self.total_reward = 0.0
        self.is_screen_open = False
        self.is_done = False
        self._game = game
        self._mask = mask
        self._send = send
        self._buttons = self._taps = 0
        self._pitch = self._yaw = 0.0
        self._new_input: tuple[int, float, int] | None = None
        self._made_us: dict[int, int] = {}
        self._latencies_ms: deque[float] = deque(maxlen=32)
        self._is_held = False
        self._unacknowledged: deque[int] = deque()
        self._unsent_reward = 0.0

    # What the player does

    def begin(self) -> None:
        """The player looks at the game from now on: what was held and painted before says nothing about it."""
        self.let_go()
        self._made_us.clear()
        self._unacknowledged.clear()
        self._new_input = None

    def let_go(self) -> None:
        """Release every button, forget turns that no step has taken."""
        self._taps = self._buttons = 0
        self._pitch = self._yaw = 0.0

    def acknowledge(self, painted_step: int) -> None:
        """The player has seen the frame of this step."""
        waiting = self._unacknowledged
        while waiting and waiting[0] <= painted_step:
            waiting.popleft()

    def input(self, buttons: int, painted_step: int, client_ms: float, received_us: int, pitch: float, yaw: float) -> None:
        """What the player holds from now on; a press that is over before the next step still counts for that step. Turns add up
        until a step takes them."""
        buttons &= self._mask
        self._taps |= buttons & ~self._buttons
        self._buttons = buttons
        self._pitch += pitch
        self._yaw += yaw
        self._new_input = (painted_step, client_ms, received_us)

    def take_buttons(self, now_us: int) -> int:
        """What counts as held for the step that is made now; sets `timing`."""
        buttons = self._buttons | self._taps
        self._taps = 0
        if self._new_input is not None:
            painted_step, client_ms, received_us = self._new_input
            self._new_input = None
            made_us = self._made_us.get(painted_step)
            latency_ms = None if made_us is None else (now_us - made_us) / 1000
            if latency_ms is not None:
                self._latencies_ms.append(latency_ms)
            self.timing = InputTiming(painted_step, client_ms, received_us, buttons, latency_ms)
        elif self.timing is not None and self.timing.buttons != buttons:
            self.timing = self.timing._replace(buttons=buttons)
        return buttons

    def take_turn(self) -> tuple[float, float]:
        """What the next step turns, of all that was turned since the last; what is too much for one step waits."""
        pitch, yaw = clip_turn(self._pitch), clip_turn(self._yaw)
        self._pitch -= pitch
        self._yaw -= yaw
        return pitch, yaw

    def earn(self, reward: float) -> None:
        """A step has brought so much."""
        self.total_reward += reward
        self._unsent_reward += reward

    # What the player is sent

    @property
    def takes_frames(self) -> bool:
        """Whether the client keeps up with what it is sent."""
        return not self._is_held and len(self._unacknowledged) <= wire.MAX_UNACKNOWLEDGED_FRAMES

    def welcome(self, step: int) -> Welcomed:
        """What the web process tells a client about this seat."""
        return Welcomed(**self.encoder.welcome(), step=step)

    def hold(self) -> None:
        """Stop encoding: the client reads too slowly."""
        self._is_held = True

    def go(self, *, key: bool) -> None:
        """Encode again, with a key frame first if frames were dropped on the way."""
        self._is_held = False
        if key:
            self.encoder.request_key()

    def send_frame(self, frame: Frame, *, step: int, time_ms: int, made_us: int | None, flags: int = 0) -> None:
        """Send a picture.

        Args:
            made_us: When it was made; None while the clock stands: such a picture says nothing about how fast its player is.
        """
        if flags & wire.LAST_FRAME and self._is_held:
            self.encoder.request_key()  # the web process may have dropped what the last delta was against
        message = self.encoder.encode(frame, step=step, time_ms=time_ms, reward=self._unsent_reward, flags=flags)
        for notice in self.encoder.take_notices():
            self._send(pack(self._game, ToWeb.TEXT, notice.encode(), seat=self.index))
        self._unsent_reward = 0.0
        if made_us is not None:
            self._made_us[step] = made_us
        self._made_us.pop(step - _REMEMBERED_FRAMES, None)
        self._unacknowledged.append(step)
        kind = ToWeb.LAST_FRAME if flags & wire.LAST_FRAME else ToWeb.FRAME
        self._send(pack(self._game, kind, message, seat=self.index))

    def send_hud(self, facts: dict[str, Any]) -> None:
        """Score, time and the rest, for the player's page."""
        own: dict[str, Any] = {"score": self.total_reward}
        if self._latencies_ms:
            own["input_ms"] = round(statistics.median(self._latencies_ms), 1)
        self.text("hud", **own, **facts)

    def text(self, kind: str, **fields: Any) -> None:
        """Send a JSON message."""
        self._send(pack(self._game, ToWeb.TEXT, encode({"type": kind, **fields}), seat=self.index))
