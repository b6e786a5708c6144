"""One player's side of an episode that is being played, inside a worker: the player's input, and the messages to the player."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable
from typing import Any

from interplay.envs import Frame
from interplay.envs.base import Scene
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameEncoder, finite_reward, picture_alone
from interplay.play.workers.channel import ToWeb, Traced, Watched, Welcomed, encode, pack, pack_event
from interplay.play.workers.clock import now_us
from interplay.record import InputTiming, PaintedPicture
from interplay.record.format.picture_changes import Change
from interplay.tasks import KeyMap
from interplay.tasks.keys import clip_turn

MAX_LAND_OWED = 64
"""Number of parts of the land that a seat may wait for; no real page asks for more."""
_SHOW_EVERY_US = 50_000
"""Shortest time between scenes that a client asks for while the clock stands."""
WATCHED_EVERY_US = 200_000
"""Shortest time between pictures that are made only for watchers."""
MAX_PRESSES = 64
"""Number of presses that may wait for their steps, in a task whose steps wait for the players."""
_REMEMBERED_FRAMES = 1024
"""Largest age, in steps, of the painted frame that an input can name: 17 s at 60 frames a second."""


class LiveSeat:
    """A seat of a live episode.

    Args:
        game, index: Address of the seat's messages: number of the game on the channel, and index of the seat in the game.
        mask: Mask of all buttons.
        encoder: Encoder of the seat's pictures.
        send: Takes finished channel messages.

    Attributes:
        gui_key: Key in infos that says whether a screen of the world is open for this seat.
        timing: Timing of the input that is in force.
        total_reward: Sum of the seat's rewards.
        is_screen_open: Whether the player was told that a screen of the world is open.
        is_done: Whether the player was told that their part has ended while the others continue.
        gui_size: Size of the GUI that the player's browser draws over the world, in GUI pixels; None if this worker draws the
            pictures.
        scene: Source of the scenes for that browser, once the first has been sent.
        has_picture: Whether a picture was sent since the player came.
        painted: The last picture that the browser reported as painted.
        options: The options set on the player's page, as JSON, until a step has recorded it.
        pointed: The values that the pointer asks for now, (x, y).
        sent_step: Step of the newest frame sent to the player; -1 if that frame may be lost.
        own: Number of steps and sum of rewards of the seat's person, until an agent last took over.
    """

    def __init__(
        self, game: int, index: int, name: str, *, mask: int, encoder: FrameEncoder, send: Callable[[bytes], object]
    ) -> None:
        self.index = index
        self.name = name
        self.gui_key = f"{name}.is_gui_open"
        self.encoder = encoder
        self.timing: InputTiming | None = None
        self.total_reward = 0.0
        self.own = 0, 0.0
        self._own_since: tuple[int, float] | None = (0, 0.0)
        """Number of steps and sum of rewards of the seat when its person began to act; None while an agent acts."""
        self.is_screen_open = False
        self.is_done = False
        self.gui_size: tuple[int, int] | None = None
        self.scene: Scene | None = None
        self.has_picture = False
        self.painted: PaintedPicture | None = None
        self.options: str | None = None
        self.owes_scene = self._is_turned = False
        self._looks_since = 0
        self._look: tuple[float, float] | None = None
        self._num_land_owed = self._num_counted = 0
        self._asked_us = self._shown_us = 0
        self._game = game
        self._mask = mask
        self._send = send
        self._buttons = self._taps = self._lifts = self._taken = 0
        self._pitch = self._yaw = 0.0
        self._presses: deque[wire.PlayerInput] = deque()
        self.pointed = 0.0, 0.0
        self.sent_step = -1
        self.is_watched = False
        self._watched_us, self._watched_step = 0, -1
        self._new_input: wire.PlayerInput | None = None
        self._made_us: dict[int, int] = {}
        self._latencies_ms: deque[float] = deque(maxlen=32)
        self._is_held = self.is_traced = False
        self._unacknowledged: deque[int] = deque()
        self._unsent_reward = 0.0

    # What the player does

    def begin(self) -> None:
        """Note that the player looks at the game from now on; forget earlier input and painted frames."""
        self.let_go()
        self._made_us.clear()
        self._unacknowledged.clear()
        self._new_input = None

    def let_go(self) -> None:
        """Release every button, and forget presses, turns and looks that no step has taken yet."""
        self._taps = self._buttons = self._lifts = 0
        self._presses.clear()
        self.pointed = 0.0, 0.0
        self._pitch = self._yaw = 0.0
        self._look = None

    def acknowledge(self, painted_step: int) -> None:
        waiting = self._unacknowledged
        while waiting and waiting[0] <= painted_step:
            waiting.popleft()

    def input(self, held: wire.PlayerInput) -> None:
        """Change what the player holds. A press that ends before the next step still counts for that step. A button that is
        released and pressed again between two steps is up for one step. Turns add up until a step takes them. A look is ignored
        if the player had not yet seen that the world has turned the view."""
        buttons = held.buttons & self._mask
        self._taps |= buttons & ~self._buttons
        self._lifts |= self._taken & ~buttons
        self._buttons = buttons
        if held.turn is not None:
            self._pitch += held.turn[0]
            self._yaw += held.turn[1]
        elif held.look is not None:
            if held.painted_step >= self._looks_since:
                self._look = held.look
        elif held.pointed is not None:
            self.pointed = held.pointed
        self._new_input = held

    def press(self, held: wire.PlayerInput) -> None:
        """Queue a press for a step of its own, in a task whose steps wait for the players. If too many wait, it is dropped."""
        if held.pressed & self._mask and len(self._presses) < MAX_PRESSES:
            self._presses.append(held)

    @property
    def has_chosen(self) -> bool:
        return bool(self._presses)

    def take_press(self, now_us: int, keys: KeyMap) -> int:
        """Return the buttons of the press that has waited longest, for the step that is made now; 0 if no press waits. Sets
        `timing`."""
        self._taps = buttons = 0
        if self._presses:
            self._new_input = held = self._presses.popleft()
            buttons = keys.chosen(held.buttons & self._mask, held.pressed & self._mask)
        self._take_timing(now_us, buttons)
        return buttons

    def turned(self, step: int) -> None:
        self._is_turned, self._looks_since, self._look = True, step, None

    def take_buttons(self, now_us: int) -> int:
        """Return the buttons that count as held for the step that is made now. Sets `timing`."""
        pressed_again = self._lifts & self._taps
        self._taken = buttons = (self._buttons | self._taps) & ~pressed_again
        self._taps, self._lifts = pressed_again, 0
        self._take_timing(now_us, buttons)
        return buttons

    def _take_timing(self, now_us: int, buttons: int) -> None:
        if self._new_input is not None:
            held, self._new_input = self._new_input, None
            made_us = self._made_us.get(held.painted_step)
            latency_ms = None if made_us is None else (now_us - made_us) / 1000
            if latency_ms is not None:
                self._latencies_ms.append(latency_ms)
            self.timing = InputTiming(held.painted_step, held.client_ms, held.received_us, buttons, latency_ms)
        elif self.timing is not None and self.timing.buttons != buttons:
            self.timing = self.timing._replace(buttons=buttons)

    def take_turn(self, present: tuple[float, float] | None = None) -> tuple[float, float]:
        """Return the turn of the next step: the sum of all turns since the last step. Any turn beyond the limit of one step
        waits for the next one. `present`: where the player looks, (pitch, yaw); a wanted look is reached the short way. With
        None a turn does not move the view, and the wanted look is forgotten."""
        wanted, self._look = self._look, None
        if wanted is not None and present is not None:
            self._pitch += wanted[0] - present[0]
            self._yaw += (wanted[1] - present[1] + 180.0) % 360.0 - 180.0
        pitch, yaw = clip_turn(self._pitch), clip_turn(self._yaw)
        self._pitch -= pitch
        self._yaw -= yaw
        return pitch, yaw

    def tell_trace(self, step: int, *, begun_us: int) -> None:
        self.is_traced = False
        self._send(pack_event(self._game, Traced(step, begun_us, now_us()), seat=self.index))

    def earn(self, reward: float) -> None:
        self.total_reward += reward
        self._unsent_reward += reward

    def go_on(self, step: int, total_reward: float, own: tuple[int, float], *, is_own: bool) -> None:
        """Continue the seat of a game that was recorded so far. `is_own`: whether the seat's person acted last."""
        self.total_reward, self.own = total_reward, own
        self._own_since = (step, total_reward) if is_own else None

    def change_hands(self, step: int, *, to_person: bool) -> None:
        self.own = self.own_until(step)
        self._own_since = (step, self.total_reward) if to_person else None

    def own_until(self, step: int) -> tuple[int, float]:
        if self._own_since is None:
            return self.own
        return self.own[0] + step - self._own_since[0], self.own[1] + self.total_reward - self._own_since[1]

    # What the player is sent

    @property
    def takes_frames(self) -> bool:
        return not self._is_held and len(self._unacknowledged) <= wire.MAX_UNACKNOWLEDGED_FRAMES

    def welcome(self, step: int, tables: str | None) -> Welcomed:
        """Return the welcome for a client of this seat. The client gets pictures until it asks for something else."""
        self.drawn_by_us()
        self.has_picture = False
        return Welcomed(**self.encoder.welcome(), step=step, tables=tables)

    def drawn_by_us(self) -> None:
        self.gui_size = self.scene = self.painted = None
        self._num_land_owed = 0
        self.request_key()

    def drawn_there(self, gui_size: tuple[int, int], step: int) -> None:
        """Let the player's browser draw from now on. The browser knows nothing of the world yet, and takes its view from the
        world."""
        self.gui_size, self.scene = gui_size, None
        self._num_land_owed = 0
        self.turned(step)
        self.request_key()

    def request_key(self) -> None:
        """Make the next frame stand alone. The frame does not wait until earlier frames are painted, since a client that begins
        again will not paint them."""
        self._unacknowledged.clear()
        self.sent_step = -1
        self.encoder.request_key()
        self.owes_scene = self.gui_size is not None

    def owe_land(self, num_parts: int, now_us: int) -> None:
        if self.gui_size is not None:
            if not self._num_land_owed:
                self._asked_us = now_us
            self._num_land_owed = min(MAX_LAND_OWED, self._num_land_owed + num_parts)

    @property
    def owes(self) -> bool:
        """Whether the browser waits for something that is sent between steps, though it may not be due now."""
        return self.gui_size is not None and (self.owes_scene or self._num_land_owed > 0)

    def owed_us(self, now_us: int, *, is_running: bool) -> int:
        """Return how long the browser has waited for something that is sent between steps, in microseconds; -1 if it waits for
        nothing."""
        if self.gui_size is None or self._is_held:
            return -1
        if self.owes_scene:
            return -1 if is_running or now_us - self._shown_us < _SHOW_EVERY_US else now_us - self._shown_us
        return now_us - self._asked_us if self._num_land_owed and self.scene is not None else -1

    def hold(self) -> None:
        self._is_held = True

    def go(self, *, key: bool) -> None:
        """Encode frames again. If frames were dropped on the way (`key`), begin with a key frame."""
        self._is_held = False
        if key:
            self.request_key()

    def send_frame(
        self,
        frame: Frame,
        *,
        step: int,
        time_ms: int,
        made_us: int | None,
        flags: int = 0,
        change: Change | None = None,
    ) -> None:
        """Send a picture.

        Args:
            made_us: When the picture was made; None while the clock stands, since such a picture does not show how fast its
                player is.
            change: As `FrameEncoder.encode` takes it.
        """
        if flags & wire.LAST_FRAME and self._is_held:
            self.encoder.request_key()  # the web process may have dropped what the last delta was against
        self.has_picture = True
        message = self.encoder.encode(frame, step=step, time_ms=time_ms, reward=self._unsent_reward, flags=flags, change=change)
        for notice in self.encoder.take_notices():
            self._send(pack(self._game, ToWeb.TEXT, notice.encode(), seat=self.index))
        self._pass_on(message, step, made_us, flags)

    def send_scene(self, scene: Scene, *, step: int, time_ms: int, made_us: int | None, now_us: int, flags: int = 0) -> None:
        self.scene = scene
        fresh, turned = self.owes_scene, self._is_turned
        payload = scene.scene(fresh, turned)
        self.owes_scene = self._is_turned = False
        self._shown_us = now_us
        if fresh:
            self._num_land_owed = self._num_counted = 0
            flags |= wire.FRESH
        used_ms = 0 if self.timing is None else min(max(int(self.timing.client_ms), 0), wire.MAX_U32)
        head = wire.pack_header(
            wire.SCENE_FRAME, flags, self._number(), step, used_ms, time_ms, finite_reward(self._unsent_reward)
        )
        self._pass_on(head + payload, step, made_us, flags)

    def send_land(self, *, step: int, time_ms: int, now_us: int) -> None:
        assert self.scene is not None
        parts = self.scene.land_parts(1)
        self._num_land_owed = self._num_land_owed - 1 if parts else 0
        self._asked_us = now_us
        for payload in parts:
            message = wire.pack_header(wire.LAND_FRAME, 0, self._number(), step, 0, time_ms, 0.0) + payload
            self._send(pack(self._game, ToWeb.FRAME, message, seat=self.index))

    def _number(self) -> int:
        """Return the number of the next frame, counted from the last frame that stood alone. It shows the browser when a frame
        is lost."""
        self._num_counted += 1
        return (self._num_counted - 1) & wire.MAX_U16

    def _pass_on(self, message: bytes, step: int, made_us: int | None, flags: int) -> None:
        self._unsent_reward = 0.0
        self.sent_step = step
        if made_us is not None:
            self._made_us[step] = made_us
        self._made_us.pop(step - _REMEMBERED_FRAMES, None)
        self._unacknowledged.append(step)
        kind = ToWeb.LAST_FRAME if flags & wire.LAST_FRAME else ToWeb.FRAME
        self._send(pack(self._game, kind, message, seat=self.index))

    # What those who watch are sent, beside the player's frames

    def watch(self, step: int, *, is_watched: bool) -> None:
        """Note that the first watcher has come, or the last one has left. The player's next frame does not change."""
        self.is_watched, self._watched_step = is_watched, -1
        if not is_watched:
            return
        self._send(pack_event(self._game, Watched(**self.encoder.welcome(), step=step), seat=self.index))
        standing = self.encoder.standing()
        if standing is not None and self.gui_size is None:
            self._send(pack(self._game, ToWeb.WATCHED, standing, seat=self.index))

    def unwatched_us(self, now_us: int, step: int) -> int:
        """Return how long watchers have waited for a picture that is made only for them, in microseconds; -1 if none is due."""
        if not self.is_watched or self._watched_step == step or (self.gui_size is None and self.takes_frames):
            return -1
        waited_us = now_us - self._watched_us
        return waited_us if waited_us >= WATCHED_EVERY_US else -1

    def send_watched(self, frame: Frame, *, step: int, time_ms: int, now_us: int) -> None:
        self._watched_us, self._watched_step = now_us, step
        self._send(pack(self._game, ToWeb.WATCHED, picture_alone(frame, step=step, time_ms=time_ms), seat=self.index))

    def send_hud(self, facts: dict[str, Any]) -> None:
        own: dict[str, Any] = {"score": self.total_reward}
        if self._latencies_ms:
            own["input_ms"] = round(statistics.median(self._latencies_ms), 1)
        self.text("hud", **own, **facts)

    def text(self, kind: str, **fields: Any) -> None:
        self._send(pack(self._game, ToWeb.TEXT, encode({"type": kind, **fields}), seat=self.index))
