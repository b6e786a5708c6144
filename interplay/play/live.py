"""One episode being played, inside a worker: a step of the world, its recording, its frame on the wire."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from interplay.envs import PlayableEnv
from interplay.play import wire
from interplay.play.channel import ToWeb, encode, pack
from interplay.play.clock import EpisodeClock
from interplay.play.codec import FrameEncoder
from interplay.record import InputTiming, Recorder, ResumedState
from interplay.tasks.keys import clip_turn

HUD_PER_S = 4
NUM_TIMED_STEPS = 30
"""Steps whose cost is measured to tell whether a world is slow."""
_REMEMBERED_FRAMES = 1024
"""How far back an input may name the frame it answers: 17 s at 60 frames a second."""


class LiveEpisode:
    """A world, its clock, what the player holds, and what they have been sent.

    Args:
        number: The seat's number on the channel.
        env: Reset, or restored, and ready to step.
        start: What `env.reset` returned; None for an episode that goes on from its journal.
        open_recorder: Makes the recorder of a new episode when it starts, so that seats which never start leave no journal.
        send: Takes finished channel messages.
        owner: Name of who holds the seat, for the recording.

    Attributes:
        env, recorder, clock, encoder: The parts; `recorder` is None until the journal is open.
        step: Steps played.
        total_reward: Sum of their rewards.
        lives: As the world last said, if it says.
        outcome: How the episode ended by itself, once it has.
        step_costs_us: Of the first `NUM_TIMED_STEPS` steps, the picture included.
        wanted: Whether the player wants the clock on; it may come on later, when the journal is open.
        running: Whether the clock is on.
        slot: Of the worker's moments in a frame interval, the one at which it steps.
        closing: Whether it has ended and its journal is being closed.
    """

    def __init__(
        self,
        number: int,
        env: PlayableEnv,
        *,
        start: tuple[Any, dict[str, Any]] | None,
        open_recorder: Callable[[], Recorder] | None,
        send: Callable[[bytes], object],
        owner: str,
    ) -> None:
        self.number = number
        self.env = env
        self.recorder: Recorder | None = None
        self.step = 0
        self.wanted = False
        self.running = False
        self.closing = False
        self.total_reward = 0.0
        self.lives: int | None = (start[1] if start else {}).get("lives")
        self.clock = EpisodeClock(env.task.frame_rate_hz)
        self.slot = 0
        self.encoder = FrameEncoder(env.view())
        self.outcome: str | None = None
        self._start = start
        self._open_recorder = open_recorder
        self._has_played = start is None
        self._send = send
        self._owner = owner
        task = env.task
        self._keys = task.keys
        self._table = None if task.keys.compose else task.keys.table
        self._mask = task.keys.full_mask
        self._max_steps = task.max_steps
        self._hud_every = max(1, round(task.frame_rate_hz / HUD_PER_S))
        self._rate_hz = task.frame_rate_hz
        self._time_zero_us: int | None = None
        self._played_us = 0
        self._buttons = 0
        self._taps = 0
        self._pitch = self._yaw = 0.0
        self._new_input: tuple[int, float, int] | None = None
        self._timing: InputTiming | None = None
        self._made_us: dict[int, int] = {}
        self._latencies_ms: deque[float] = deque(maxlen=32)
        self._held = False
        self._unacknowledged: deque[int] = deque()
        self._unsent_reward = 0.0
        self.step_costs_us: list[int] = []

    def go_on_from(self, recorder: Recorder, state: ResumedState) -> None:
        """Take up an episode that a worker which is gone has recorded so far."""
        self.recorder = recorder
        self.step, self.total_reward, self._played_us = state.num_steps, state.total_reward, state.clock_us
        self.lives = state.info.get("lives")
        if state.terminated or state.truncated:
            self.outcome = "terminated" if state.terminated else "time_limit"

    def welcome(self) -> dict[str, Any]:
        """What the web process tells a client about this seat."""
        return self.encoder.welcome() | {"step": self.step}

    def open_journal(self) -> None:
        """Begin the recording. It takes milliseconds, so it is done beside the ticks.

        Raises:
            RecordingError: If the journal cannot be written.
        """
        assert self._open_recorder is not None
        assert self._start is not None
        recorder = self._open_recorder()
        recorder.start(*self._start)
        self.recorder, self._start = recorder, None

    def start(self, now_us: int, *, phase: float = 0.0) -> None:
        """Turn the clock on, its steps at this place in the frame interval (0 to 1)."""
        first, self._has_played = not self._has_played, True
        self._text("started" if first else "resumed", step=self.step)
        # What was painted before the pause says nothing about how fast the player reacts after it.
        self._made_us.clear()
        self._unacknowledged.clear()
        self._new_input = None
        self._taps = self._buttons = 0
        self._pitch = self._yaw = 0.0
        self._time_zero_us = now_us - self._played_us
        self.running = True
        self.clock.start(now_us, phase=phase)
        if not first:
            self.show(now_us)

    def pause(self, now_us: int) -> None:
        """Turn the clock off; what was played is on disk when this returns."""
        self.wanted = False
        if not self.running:
            return
        self.running = False
        self._played_us = now_us - (self._time_zero_us or now_us)
        if self.recorder is not None:
            self.recorder.flush()

    def hold(self) -> None:
        """Stop encoding: the client reads too slowly."""
        self._held = True

    def go(self, *, key: bool) -> None:
        """Encode again, with a key frame first if frames were dropped on the way."""
        self._held = False
        if key:
            self.encoder.request_key()

    def show(self, now_us: int) -> None:
        """Send what the player sees now as a key frame."""
        self.encoder.request_key()
        self._send_frame(now_us, 0)

    def input(
        self, buttons: int, painted_step: int, client_ms: float, received_us: int, pitch: float = 0.0, yaw: float = 0.0
    ) -> None:
        """What the player holds from now on; a press that is over before the next step still counts for that step.

        Turns add up until a step takes them. A client that says it painted what was never made is taken to have painted the
        newest frame.
        """
        painted_step = min(painted_step, self.step)
        waiting = self._unacknowledged
        while waiting and waiting[0] <= painted_step:
            waiting.popleft()
        if not self.running:
            return
        buttons &= self._mask
        self._taps |= buttons & ~self._buttons
        self._buttons = buttons
        self._pitch += pitch
        self._yaw += yaw
        self._new_input = (painted_step, client_ms, received_us)

    def tick(self, now_us: int, *, skip: bool = False) -> int:
        """Play the step that is due; sets `outcome` when the episode has ended. With `skip` its frame is not sent.

        Returns:
            How late the step was, microseconds.
        """
        late_us = self.clock.advance(now_us)
        buttons = self._buttons | self._taps
        self._taps = 0
        if self._new_input is not None:
            painted_step, client_ms, received_us = self._new_input
            self._new_input = None
            made_us = self._made_us.get(painted_step)
            latency_ms = None if made_us is None else (now_us - made_us) / 1000
            if latency_ms is not None:
                self._latencies_ms.append(latency_ms)
            self._timing = InputTiming(painted_step, client_ms, received_us, buttons, latency_ms)
        elif self._timing is not None and self._timing.buttons != buttons:
            self._timing = self._timing._replace(buttons=buttons)
        action = self._keys.action(buttons, self._take_turn()) if self._table is None else self._table[buttons]
        if len(self.step_costs_us) < NUM_TIMED_STEPS:
            before = perf_counter_ns()
            result = self.env.step(action)
            self.env.view()
            self.step_costs_us.append((perf_counter_ns() - before) // 1000)
        else:
            result = self.env.step(action)
        self.step = step = self.step + 1
        if step >= self._max_steps and not result[2] and not result[3]:
            result = (*result[:3], True, result[4])
        recorder = self.recorder
        assert recorder is not None
        recorder.step(
            action,
            result,
            owner=self._owner,
            timing=self._timing,
            clock_us=now_us - self._time_zero_us,  # type: ignore[operator]
        )
        _, reward, terminated, truncated, info = result
        self.total_reward += reward  # type: ignore[operator]
        self._unsent_reward += reward  # type: ignore[operator]
        if "lives" in info:
            self.lives = info["lives"]
        if terminated or truncated:
            self.outcome = "terminated" if terminated else "time_limit"
            if self._held:
                self.encoder.request_key()  # the web process may have dropped what the last delta was against
            self.running = False
            self._send_frame(now_us, wire.LAST_FRAME)
        elif not (self._held or skip) and len(self._unacknowledged) <= wire.MAX_UNACKNOWLEDGED_FRAMES:
            self._send_frame(now_us, 0)
            if step % self._hud_every == 0:
                self.send_hud()
        return late_us

    def _take_turn(self) -> tuple[float, float]:
        """What the next step turns, of all that was turned since the last; what is too much for one step waits."""
        pitch, yaw = clip_turn(self._pitch), clip_turn(self._yaw)
        self._pitch -= pitch
        self._yaw -= yaw
        return pitch, yaw

    def send_hud(self) -> None:
        """Score, time and the rest, for the player's page."""
        facts: dict[str, Any] = {
            "score": self.total_reward,
            "step": self.step,
            "time_left_s": round((self._max_steps - self.step) / self._rate_hz, 2),
        }
        if self.lives is not None:
            facts["lives"] = self.lives
        if self._latencies_ms:
            facts["input_ms"] = round(statistics.median(self._latencies_ms), 1)
        self._text("hud", **facts)

    def unwritten_us(self, now_us: int) -> int:
        """How long its oldest step has been waiting for the disk, microseconds."""
        if self.recorder is None or self.recorder.oldest_us is None or self._time_zero_us is None:
            return 0
        return now_us - self._time_zero_us - self.recorder.oldest_us

    def write(self) -> None:
        """Write the steps that wait to the journal.

        Raises:
            RecordingError: If the disk is full.
        """
        assert self.recorder is not None
        self.recorder.flush()

    def finish(self, outcome: str) -> dict[str, Any]:
        """Close the journal; returns the event for the web process.

        Raises:
            RecordingError: If the last steps cannot be written.
        """
        self.running = False
        event: dict[str, Any] = {
            "event": "ended",
            "outcome": outcome,
            "total_reward": self.total_reward,
            "num_steps": self.step,
        }
        event["path"] = None if self.recorder is None else str(self.recorder.finish(outcome))
        return event

    def abandon(self) -> None:
        """Leave the journal as it is, everything played in it, for someone else to go on with or seal."""
        self.running = False
        if self.recorder is not None:
            try:
                self.recorder.flush()
            finally:
                self.recorder.abandon()

    def _send_frame(self, now_us: int, flags: int) -> None:
        time_ms = 0 if self._time_zero_us is None else (now_us - self._time_zero_us) // 1000
        message = self.encoder.encode(self.env.view(), step=self.step, time_ms=time_ms, reward=self._unsent_reward, flags=flags)
        for notice in self.encoder.take_notices():
            self._send(pack(self.number, ToWeb.TEXT, notice.encode()))
        self._unsent_reward = 0.0
        if self.running:  # a picture seen while the clock stands says nothing about how fast its player is
            self._made_us[self.step] = now_us
        self._made_us.pop(self.step - _REMEMBERED_FRAMES, None)
        self._unacknowledged.append(self.step)
        self._send(pack(self.number, ToWeb.LAST_FRAME if flags & wire.LAST_FRAME else ToWeb.FRAME, message))

    def _text(self, kind: str, **fields: Any) -> None:
        self._send(pack(self.number, ToWeb.TEXT, encode({"type": kind, **fields})))
