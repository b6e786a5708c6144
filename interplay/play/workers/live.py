"""An episode that is being played, inside a worker: steps of the world, their recording, and the frames that are sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from interplay.envs import PlayableEnv
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameEncoder
from interplay.play.partners.driving import Driver, Driving
from interplay.play.workers.channel import Ended, pack_event
from interplay.play.workers.clock import EpisodeClock, Pace, TurnClock
from interplay.play.workers.live_seat import LiveSeat
from interplay.record import InputTiming, RecordedEpisode, Recorder, ResumedState
from interplay.record.sealed.seal import counted

HUD_PER_S = 4
RATE_OVER_S = 2
"""Time over which the rate that is shown to a player is measured."""
NUM_TIMED_STEPS = 30
"""Number of steps whose cost is measured, to find out whether a world is slow."""


def _waited_ns() -> int:
    """Return how long this thread has waited for a core in total, in nanoseconds; 0 if the system does not say."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_bytes().split()[1])
    except OSError:
        return 0


class LiveEpisode:
    """A world, its clock, and the players in its seats.

    Args:
        number: Number of the game on the channel.
        env: The world: reset, or restored, and ready to step.
        start: The result of `env.reset`; None for an episode that continues from its journal.
        send: Takes finished channel messages.
        tables: Name of the tables with which browsers can draw the world; None if they cannot.

    Attributes:
        episode: The episode. It has no recorder until it starts, so that games which never start leave no journal.
        info: Info of the last step, or of the reset.
        lives: The last number of lives that the world gave, if it gives one.
        step_costs_us: Costs of the first `NUM_TIMED_STEPS` steps with their pictures, without waits for a core.
        wanted: Whether the players want the clock on. It starts later if the journal is not open yet.
        running: Whether the clock is on.
        pace: Chooses the size of the pictures; None if there is only one size.
        slot: Index (below `clock.SLOTS`) of the moment in a frame interval at which this episode steps.
        closing: Whether the episode has ended and its journal is being closed.
    """

    def __init__(
        self,
        number: int,
        env: PlayableEnv,
        *,
        start: tuple[Any, dict[str, Any]] | None,
        send: Callable[[bytes], object],
        tables: str | None = None,
    ) -> None:
        self.number = number
        self.env = env
        self.episode = RecordedEpisode(env)
        self.driving = Driving(env, lambda index, event: send(pack_event(number, event, seat=index)))
        self.info: Mapping[str, Any] = start[1] if start else {}
        self.wanted = False
        self.running = False
        self.closing = False
        self.lives: int | None = self.info.get("lives")
        task = env.task
        self.takes_turns = task.takes_turns
        self.clock = (TurnClock if self.takes_turns else EpisodeClock)(task.frame_rate_hz)
        self.slot = 0
        self.seats = [
            LiveSeat(number, index, name, mask=task.keys.full_mask, encoder=_encoder(env, name), send=send)
            for index, name in enumerate(task.seats)
        ]
        resizes = env.heights and env.drawn_for is not None and env.frame_policy == "replay"
        self.pace = Pace(task.frame_rate_hz, env.heights) if resizes else None
        self._start = start
        self._has_played = start is None
        self.tables = tables
        self._may_be_unseen = env.frame_policy == "replay" and env.observes_view
        self._keys = task.keys
        self._turn_mask = task.keys.mask(set(task.keys.turns))
        self._tables = {seat: task.keys.of(seat).table for seat in task.seats} if task.keys.has_table else None
        self._hud_every = 1 if self.takes_turns else max(1, round(task.frame_rate_hz / HUD_PER_S))
        self._rate_hz = task.frame_rate_hz
        self._time_zero_us: int | None = None
        self._played_us = 0
        self._stepped_us: deque[int] = deque(maxlen=round(RATE_OVER_S * task.frame_rate_hz) + 1)
        self.step_costs_us: list[int] = []

    @property
    def step(self) -> int:
        return self.episode.num_steps

    @property
    def outcome(self) -> str | None:
        return self.episode.outcome

    @property
    def recorder(self) -> Recorder | None:
        return self.episode.recorder

    def go_on_from(self, recorder: Recorder, state: ResumedState) -> None:
        self.episode = RecordedEpisode(self.env, recorder, num_steps=state.num_steps)
        self._played_us = state.clock_us
        for seat in self.seats:
            seat.go_on(state.num_steps, state.total_rewards[seat.name], state.own[seat.name], is_own=state.is_own[seat.name])
        self.info = state.info
        self.lives = state.info.get("lives")
        if state.terminated or state.truncated:
            self.episode.outcome = "terminated" if state.terminated else "time_limit"

    def open_journal(self, recorder: Recorder) -> None:
        """Begin the recording and write the first observation to disk; from now on the game survives a crash. This takes
        milliseconds, so it runs in the second thread. Raises `RecordingError` if the journal cannot be written."""
        assert self._start is not None
        recorder.start(*self._start)
        recorder.flush()
        self.episode.recorder, self._start = recorder, None

    def start(self, now_us: int, *, phase: float = 0.0) -> None:
        """Turn the clock on. `phase`: moment of the steps in the frame interval, from 0 to 1."""
        first, self._has_played = not self._has_played, True
        for seat in self.seats:
            seat.text("started" if first else "resumed", step=self.step)
            seat.begin()
        self._stepped_us.clear()
        self._time_zero_us = now_us - self._played_us
        self.running = True
        self.clock.start(now_us, phase=phase)
        if self.takes_turns:  # no step comes by itself that would tell them
            for seat in self.seats:
                self.send_hud(seat)
        if not first:
            for seat in self.seats:
                self._show_again(seat, now_us)

    def pause(self, now_us: int) -> None:
        """Turn the clock off; all played steps are on disk when this returns."""
        self.wanted = False
        if not self.running:
            return
        self.running = False
        self._played_us = now_us - (self._time_zero_us or now_us)
        if self.recorder is not None:
            self.recorder.flush()

    def look_again(self, seat: LiveSeat, now_us: int) -> None:
        seat.text("resumed", step=self.step)
        seat.begin()
        self._show_again(seat, now_us)

    def _show_again(self, seat: LiveSeat, now_us: int) -> None:
        """Show the picture after a pause. A browser that draws keeps what it knew, and the next step tells it the rest."""
        if seat.gui_size is None:
            self.show(seat, now_us)

    def show(self, seat: LiveSeat, now_us: int) -> None:
        """Send the present view of a player as a frame that stands alone. It is sent at once; a browser that draws gets it
        soon."""
        seat.request_key()
        if seat.gui_size is None:
            self._send_frame(seat, now_us)

    def draw_by(self, seat: LiveSeat, gui_size: tuple[int, int] | None, now_us: int) -> None:
        """Set who draws for a seat from now on: its player's browser, with a GUI of size `gui_size`, or, with None, this
        worker. A world that browsers cannot draw continues with pictures."""
        if gui_size is not None and self.tables is not None:
            seat.drawn_there(gui_size, self.step)
        elif seat.gui_size is not None or not seat.has_picture:
            seat.drawn_by_us()
            self._send_frame(seat, now_us)

    @property
    def owes(self) -> bool:
        return any(seat.owes for seat in self.seats)

    def owed_us(self, now_us: int) -> int:
        """Return how long one of the players' browsers has waited for something that is sent between steps; -1 if no browser
        waits."""
        return max(seat.owed_us(now_us, is_running=self.running) for seat in self.seats)

    def send_owed(self, now_us: int) -> None:
        """Send one thing to the browser that has waited longest: a scene while the clock stands, or a part of the land."""
        seat = max(self.seats, key=lambda one: one.owed_us(now_us, is_running=self.running))
        if seat.owes_scene:
            self._send_frame(seat, now_us)
        else:
            seat.send_land(step=self.step, time_ms=self._time_ms(now_us), now_us=now_us)

    @property
    def is_watched(self) -> bool:
        return any(seat.is_watched for seat in self.seats)

    def unwatched_us(self, now_us: int) -> int:
        """Return how long the watchers of a seat have waited for a picture that is made only for them; -1 if nobody waits."""
        return max(seat.unwatched_us(now_us, self.step) for seat in self.seats)

    def send_watched(self, now_us: int) -> None:
        """Make one picture for watchers, in the smallest size, and leave the world as it was."""
        env = self.env
        seat = max(self.seats, key=lambda one: one.unwatched_us(now_us, self.step))
        before = env.drawn_for, env.drawn_height
        if env.heights:
            env.draw_for(env.people_see, env.heights[-1])
        seat.send_watched(env.view_of(seat.name), step=self.step, time_ms=self._time_ms(now_us), now_us=now_us)
        if env.heights:
            env.draw_for(*before)

    def let_agent(self, seat: LiveSeat, driver: Driver) -> None:
        if self.running:
            self.send_hud(seat)  # the last one of what a person did who leaves
        seat.let_go()
        seat.timing = None
        seat.change_hands(self.step, to_person=False)
        self.driving.let_agent(seat.name, driver, step=self.step, total_reward=seat.total_reward)

    def let_person(self, seat: LiveSeat, owner: str) -> None:
        seat.begin()
        if isinstance(self.clock, TurnClock):
            self.clock.take_back()  # what the agent had chosen for the next turn is the person's to choose
        seat.change_hands(self.step, to_person=True)
        self.driving.let_person(seat.name, owner, step=self.step, total_reward=seat.total_reward)

    def input(self, seat: LiveSeat, held: wire.PlayerInput, *, is_traced: bool = False) -> None:
        """Take a player's input. Players who report a frame as painted that was never made count as having painted the newest
        frame. A look already contains the turns of the buttons that turn the view, so these buttons are cleared. `pressed`
        matters only where the world waits for its players."""
        painted_step = min(held.painted_step, self.step)
        seat.acknowledge(painted_step)
        if not self.running or self.driving.has_agent(seat.name):
            return
        buttons = held.buttons if held.look is None else held.buttons & ~self._turn_mask
        held = held._replace(buttons=buttons, painted_step=painted_step)
        seat.input(held)
        seat.is_traced = seat.is_traced or is_traced
        if self.takes_turns:
            seat.press(held)

    def catch_up(self, seat: LiveSeat, now_us: int) -> None:
        """Send a player the picture that their connection was too slow for. This is needed where the world waits for its
        players, since no step comes that would show it."""
        if self.running and seat.takes_frames and seat.sent_step < self.step:
            self._send_frame(seat, now_us)
            self.send_hud(seat)

    def due_us(self, now_us: int) -> int | None:
        """When the next step is due; None while the world waits for a player to choose."""
        if isinstance(self.clock, TurnClock) and all(map(self._has_chosen, self.seats)):
            self.clock.ask(now_us)
        return self.clock.due_us

    def _has_chosen(self, seat: LiveSeat) -> bool:
        if self.driving.has_agent(seat.name):
            return self.driving.has_decided(seat.name)
        return seat.has_chosen or seat.is_done

    def tick(self, now_us: int, *, skip: bool = False) -> int:
        """Play the step that is due; set `outcome` when the episode has ended. With `skip` the frames of the step are not sent.
        Return how late the step was, in microseconds."""
        late_us = self.clock.advance(now_us)
        begun_ns = perf_counter_ns()
        self._stepped_us.append(now_us)
        seats, episode = self.seats, self.episode
        joint_action: dict[str, Any] = {}
        timing: dict[str, InputTiming | None] = {}
        for seat in seats:
            if self.driving.has_agent(seat.name):
                joint_action[seat.name], timing[seat.name] = self.driving.act(seat.name, self.step)
                continue
            buttons = seat.take_press(now_us, self._keys) if self.takes_turns else seat.take_buttons(now_us)
            joint_action[seat.name] = self._action(seat, buttons) if self._tables is None else self._tables[seat.name][buttons]
            timing[seat.name] = seat.timing
        pace = self.pace
        if pace is not None and all(seat.gui_size is not None for seat in seats):
            pace = None
        if pace is not None:
            self.env.draw_for(self.env.drawn_for, pace.height if pace.level else None)
        options = {seat.name: seat.options for seat in seats if seat.options is not None}
        is_timed = len(self.step_costs_us) < NUM_TIMED_STEPS
        before_ns = perf_counter_ns() - (_waited_ns() if is_timed else 0)
        _, rewards, terminated, truncated, info = episode.step(
            joint_action,
            owners=self.driving.owners,
            timing=timing,
            painted=None if self.tables is None else {seat.name: seat.painted for seat in seats},
            options=options,
            clock_us=now_us - self._time_zero_us,  # type: ignore[operator]
            is_seen=not (self._may_be_unseen and any(seat.gui_size is not None for seat in seats)),
        )
        if is_timed:
            self.step_costs_us.append((perf_counter_ns() - _waited_ns() - before_ns) // 1000)
        for seat in seats:
            if seat.is_traced:
                seat.tell_trace(episode.num_steps, begun_us=now_us)
            seat.earn(counted(rewards[seat.name]))
            seat.options = None
            if seat.gui_size is not None and self.env.was_turned(seat.name):
                seat.turned(episode.num_steps)
        self.info = info
        if isinstance(lives := info.get("lives"), int):
            self.lives = lives
        if terminated or truncated:
            self.running = False
            for seat in seats:
                self._send_frame(seat, now_us, wire.LAST_FRAME)
        elif not skip:
            step = episode.num_steps
            for seat in seats:
                if seat.takes_frames:
                    self._send_frame(seat, now_us)
                    state = (
                        info.get(seat.gui_key, info.get("is_gui_open", False)),
                        seat.name in info.get("seats_done", ()),
                    )
                    if step % self._hud_every == 0 or state != (seat.is_screen_open, seat.is_done):
                        seat.is_screen_open, seat.is_done = state
                        self.send_hud(seat)
        if self.outcome is None:
            self.driving.see(info, step=self.step, due_us=self.clock.due_us or 0)
        if pace is not None:
            pace.add((perf_counter_ns() - begun_ns) // 1000, late_us)
        return late_us

    def _action(self, seat: LiveSeat, buttons: int) -> Any:
        turn = seat.pointed if self._keys.axes else seat.take_turn(self.env.look_of(seat.name))
        return self.env.action_of_person(self._keys.action(buttons, turn), seat.name, seat.gui_size)

    def send_hud(self, seat: LiveSeat) -> None:
        left = self.episode.max_steps - self.step
        facts: dict[str, Any] = {"step": self.step}
        facts |= {"turns_left": left} if self.takes_turns else {"time_left_s": round(left / self._rate_hz, 2)}
        if self.lives is not None:
            facts["lives"] = self.lives
        if seat.is_screen_open:
            facts["is_screen_open"] = True
        if seat.is_done:
            facts["is_done"] = True
        if len(self._stepped_us) > 1 and not self.takes_turns:
            facts["rate_hz"] = round((len(self._stepped_us) - 1) * 1e6 / (self._stepped_us[-1] - self._stepped_us[0]), 1)
        if self.pace is not None and seat.gui_size is None:
            height = self.pace.height
            facts |= {"width": seat.encoder.width * height // seat.encoder.height, "height": height}
        if self.recorder is not None:
            collection = self.recorder.collection
            facts["statistics"] = collection.values(seat.name)
            facts["counts"] = collection.counts(seat.name)
            if (own := collection.own(seat.name)) is not None:
                steps, score = seat.own_until(self.step)
                facts["own"] = {"step": steps, "score": score, "statistics": own[0], "counts": own[1]}
            if (sitting := collection.sittings.get(seat.name)) is not None:
                facts["sitting"] = {"games": sitting.num_games + 1, "statistics": collection.sitting_values(sitting, seat.name)}
        seat.send_hud(facts)

    def unwritten_us(self, now_us: int) -> int:
        """Return how long the oldest unwritten step has been waiting for the disk, in microseconds."""
        recorder = self.episode.recorder
        if recorder is None or recorder.oldest_us is None or self._time_zero_us is None:
            return 0
        return now_us - self._time_zero_us - recorder.oldest_us

    def write(self) -> None:
        assert self.recorder is not None
        self.recorder.flush()

    def finish(self, outcome: str) -> Ended:
        """Close the journal; return the event for the web process. Raises `RecordingError` if the last steps cannot be
        written."""
        self.running = False
        path = None if self.recorder is None else str(self.recorder.finish(outcome))
        return Ended(outcome, path, tuple(seat.total_reward for seat in self.seats), self.step)

    def abandon(self) -> None:
        """Leave the journal, with every step in it, so that another process can continue or seal it."""
        self.running = False
        if self.recorder is not None:
            try:
                self.recorder.flush()
            finally:
                self.recorder.abandon()

    def _time_ms(self, now_us: int) -> int:
        return 0 if self._time_zero_us is None else (now_us - self._time_zero_us) // 1000

    def _send_frame(self, seat: LiveSeat, now_us: int, flags: int = 0) -> None:
        step, time_ms, made_us = self.step, self._time_ms(now_us), now_us if self.running and not self.takes_turns else None
        scene = seat.scene
        if scene is None and seat.gui_size is not None:
            scene = self.env.scene_of(seat.name, seat.gui_size)
        if scene is not None:
            seat.send_scene(scene, step=step, time_ms=time_ms, made_us=made_us, now_us=now_us, flags=flags)
        else:
            frame = self.env.view_of(seat.name)
            change = None if self.recorder is None else self.recorder.change_of(frame.pixels)
            seat.send_frame(frame, step=step, time_ms=time_ms, made_us=made_us, flags=flags, change=change)


def _encoder(env: PlayableEnv, seat: str) -> FrameEncoder:
    first = env.view_of(seat)
    return FrameEncoder(first, first.pixels.shape[:2] if env.heights else None)
