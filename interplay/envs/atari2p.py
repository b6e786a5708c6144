"""Atari 2600 games for two on the multi-agent Arcade Learning Environment (Terry & Black 2020); a step is a native frame.

Sticky actions are made here for the same reasons as in `interplay.envs.atari`: they are drawn from the seed, separately for
each seat.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
import zstandard
from multi_agent_ale_py import ALEInterface

from interplay.envs import atari
from interplay.envs.base import EnvError, Frame, FramePolicy, PlayableEnv, require_actions
from interplay.envs.pictures import PALETTE
from interplay.tasks import Task

ALEInterface.setLoggerMode("error")

_OPTIONS = atari.OPTIONS | {"bonus": True}


class Bonus(NamedTuple):
    """The points that one player gets when the other is hit. In this frame a bit of the byte `byte` of RAM becomes 1:
    `bits[i]`, if seat i gets the points."""

    points: int
    byte: int
    bits: tuple[int, int]


BONUSES = {"space_invaders": Bonus(200, 42, (2, 4))}
"""ROM -> its bonus, which a task can switch off."""


class TwoPlayerAtariEnv(PlayableEnv):
    """One game for two players who see one screen; each step is one frame, each seat has all 18 actions, both end together.

    An observation is the native screen: uint8, shape (210, 160), palette indices. `reset` plays 0 to `noop_max` no-ops; the
    seed decides how many. `info["lives"]` is the number of lives left after the present life.

    Task options: the same as for `ale:` (`mode`: the first mode for two players by default), and `bonus`: whether a player is
    paid when the other is hit (default true). In Space Invaders it is 200 points; a byte of RAM shows when they are paid.

    Raises:
        NotFoundError: If the game or an option is unknown.
        EnvError: If the game is not for two, the task does not have two seats, or an option has an invalid value.
    """

    observes_view = True
    shown_info = MappingProxyType({"lives": gymnasium.spaces.Box(0, 255, (), np.int64)})
    deterministic = True
    frame_policy: FramePolicy = "indexed"
    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 60}  # type: ignore[misc]

    def __init__(self, task: Task) -> None:
        self.task = task
        self.render_mode = "rgb_array"
        rom = task.env.name
        options = atari.read_options(task, _OPTIONS)
        if not isinstance(options["bonus"], bool) or (not options["bonus"] and rom not in BONUSES):
            raise EnvError(
                f"task {task.id}: env.options.bonus must be true or false; it can be false only for {', '.join(BONUSES)}; "
                f"got {options['bonus']!r}"
            )
        if len(task.seats) != 2:
            raise EnvError(f"task {task.id}: {task.env.id} is played by two; name two seats:  seats = ['first', 'second']")
        self._bonus = None if options["bonus"] else BONUSES[rom]
        self._noop_max = int(options["noop_max"])
        self._sticky = float(options["sticky"])
        self.ale = ALEInterface()
        self.ale.setFloat("repeat_action_probability", 0.0)
        self.ale.setInt("random_seed", 0)  # the games draw nothing from it once stickiness is off
        self.ale.loadROM(str(atari.rom_path(rom)))
        modes = [int(mode) for mode in self.ale.getAvailableModes(2)]
        if not modes:
            raise EnvError(f"task {task.id}: the game {rom!r} is not for two players")
        self.ale.setMode(atari.chosen(task, "mode", options["mode"] or modes[0], modes))
        self.ale.setDifficulty(atari.chosen(task, "difficulty", options["difficulty"], self.ale.getAvailableDifficulties()))
        self.ale.reset_game()
        width, height = self.ale.getScreenDims()
        self._screen = np.zeros((height, width), np.uint8)
        space = gymnasium.spaces.Box(0, 255, (height, width), np.uint8)
        self.observation_space = gymnasium.spaces.Dict(dict.fromkeys(task.seats, space))
        self.action_space = gymnasium.spaces.Dict({seat: gymnasium.spaces.Discrete(atari.NUM_ACTIONS) for seat in task.seats})
        self._begin(0)

    def _begin(self, seed: int) -> None:
        self._previous = dict.fromkeys(self.task.seats, 0)
        self._num_steps = 0
        self._sticky_rng = np.random.default_rng((seed, 1))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; the same seed starts the same episode, whatever was played before."""
        super().reset(seed=seed)
        start_seed = int(self.np_random.integers(2**32)) if seed is None else seed
        self._begin(start_seed)
        self.ale.reset_game()
        for _ in range(int(np.random.default_rng(start_seed).integers(self._noop_max + 1))):
            self.ale.act([0, 0])
        return self._observe(), {"lives": self._lives()}

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:
        """Play one frame (1/60 s); `action` is a mapping seat -> action. Raises EnvError if a seat has no action, or an action
        that does not exist."""
        seats = self.task.seats
        require_actions(self.task, action, seats)
        applied = {seat: int(action[seat]) for seat in seats}
        for seat, number in applied.items():
            if not 0 <= number < atari.NUM_ACTIONS:
                raise EnvError(f"Atari action of seat {seat} must be 0 to {atari.NUM_ACTIONS - 1}, got {action[seat]!r}")
        info: dict[str, Any] = {}
        if self._sticky > 0:
            for seat in seats:
                if self._sticky_rng.random() < self._sticky:
                    applied[seat] = self._previous[seat]
                info[f"{seat}.applied_action"] = applied[seat]
        self._previous = applied
        before = self._hit()
        points = self.ale.act([applied[seat] for seat in seats])
        if self._bonus is not None:
            risen = self._hit() & ~before
            points = [
                earned - self._bonus.points * bool(risen & bit) for earned, bit in zip(points, self._bonus.bits, strict=True)
            ]
        self._num_steps += 1
        info["lives"] = self._lives()
        rewards = {seat: float(earned) for seat, earned in zip(seats, points, strict=True)}
        return self._observe(), rewards, bool(self.ale.game_over()), self._num_steps >= self.task.max_steps, info

    def _hit(self) -> int:
        """Return the bits that say who was hit; 0 if the task pays the bonus."""
        return 0 if self._bonus is None else int(self.ale.getRAM()[self._bonus.byte])

    def _lives(self) -> int:
        return max(0, int(self.ale.lives()))

    def _observe(self) -> dict[str, Any]:
        self.ale.getScreen(self._screen.reshape(-1))
        return dict.fromkeys(self.task.seats, self._screen.copy())

    def view(self) -> Frame:
        return Frame(self._screen, PALETTE)

    def render(self) -> np.ndarray:  # type: ignore[override]
        """Return the native screen in colour, uint8, shape (H, W, 3), in most games (210, 160, 3)."""
        return PALETTE[self._screen]

    def _state(self) -> bytes:
        state = self.ale.cloneSystemState()
        try:
            return self.ale.encodeState(state).tobytes()
        finally:
            self.ale.deleteState(state)

    def snapshot(self) -> bytes:
        extra = {"world": self.task.env.id, "previous": self._previous, "steps": self._num_steps}
        return atari.pack(extra | {"sticky": self._sticky_rng.bit_generator.state}, self._screen, self._state())

    def restore(self, snapshot: bytes) -> None:
        try:
            extra, screen, encoded = atari.unpack(snapshot, self._screen.shape)
            if extra["world"] != self.task.env.id:  # the emulator itself would read on, whatever lies there
                raise ValueError(f"it is one of {extra['world']}")
        except (zstandard.ZstdError, ValueError, KeyError) as error:
            raise EnvError(f"this is not a snapshot of {self.task.env.id}: {error}") from None
        state = self.ale.decodeState(np.frombuffer(encoded, np.uint8).copy())
        self.ale.restoreSystemState(state)
        self.ale.deleteState(state)
        self._screen[:] = screen
        self._previous = extra["previous"]
        self._num_steps = extra["steps"]
        self._sticky_rng.bit_generator.state = extra["sticky"]

    def readings(self) -> Mapping[str, Callable[[], Any]]:
        return {"ram": lambda: self.ale.getRAM().tobytes()}

    def versions(self) -> dict[str, str]:
        return super().versions() | {name: version(name) for name in ("multi-agent-ale-py", "ale-py")}
