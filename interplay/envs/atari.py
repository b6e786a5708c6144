"""Atari 2600 games on the Arcade Learning Environment; each step is one native frame.

The emulator's own sticky actions are off: its snapshots do not hold the last applied action, so a restored game would continue
differently. If a task asks for sticky actions (Machado et al. 2018, section 5.2), this module draws them from the seed; the
applied action is in `info["applied_action"]`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import gymnasium
import numpy as np
import zstandard

from interplay.envs.base import EnvError, Frame, FramePolicy, PlayableEnv, require_actions
from interplay.envs.parallel import require_options
from interplay.envs.pictures import PALETTE
from interplay.errors import not_installed, unknown_name
from interplay.tasks import Task

try:
    import ale_py
    from ale_py import ALEInterface, ALEState, LoggerMode, roms
except ModuleNotFoundError:
    raise EnvError(not_installed("Atari tasks need", "ale_py", "atari")) from None

ALEInterface.setLoggerMode(LoggerMode.Error)

NUM_ACTIONS = 18
"""Number of actions: all joystick positions, with and without the button. Every game has the same list."""

OPTIONS = {"noop_max": 30, "sticky": 0.0, "mode": 0, "difficulty": 0}
"""Task options, with their defaults."""
_RANGES = {"noop_max": (0, 10_000), "sticky": (0, 1), "mode": (0, 255), "difficulty": (0, 255)}
_MAX_IDLE = 4
_IDLE: dict[str, list[tuple[ALEInterface, ALEState]]] = {}
"""Game -> emulators of closed worlds, each with its first state. They are used again, since reading a game takes 80 ms."""


def _emulator(rom: str) -> tuple[ALEInterface, ALEState]:
    try:
        ale, as_new = _IDLE[rom].pop()
    except (KeyError, IndexError):
        ale = ALEInterface()
        ale.setFloat("repeat_action_probability", 0.0)
        ale.setInt("random_seed", 0)  # the games draw nothing from it once stickiness is off
        ale.loadROM(rom_path(rom))
        return ale, ale.cloneSystemState()
    ale.restoreSystemState(as_new)
    return ale, as_new


class AtariEnv(PlayableEnv):
    """One Atari game; each step is one frame, and all 18 actions are available.

    Observations are the native screen: uint8, shape (210, 160), palette indices (`envs.pictures.PALETTE` gives colours).
    `reset` plays 0 to `noop_max` no-ops; the seed decides how many ("no-op starts", Mnih et al. 2015). Episodes end
    (`terminated`) when the game is over and are truncated after `task.max_steps`.

    Task options: `noop_max` (30), `sticky` (0.0, probability that the previous action is repeated), `mode`, `difficulty`.

    Raises:
        NotFoundError: If the game or an option is unknown.
        EnvError: If an option has an invalid value, or the game does not have this mode or difficulty.
    """

    observes_view = True
    shown_info = MappingProxyType({"lives": gymnasium.spaces.Box(0, 255, (), np.int64)})
    deterministic = True
    frame_policy: FramePolicy = "indexed"
    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 60}  # type: ignore[misc]

    def __init__(self, task: Task) -> None:
        self.task = task
        self.render_mode = "rgb_array"
        options = read_options(task, OPTIONS)
        self._noop_max = int(options["noop_max"])
        self._sticky = float(options["sticky"])
        self.ale, self._as_new = _emulator(task.env.name)
        for setting, apply, available in (
            ("mode", self.ale.setMode, self.ale.getAvailableModes),
            ("difficulty", self.ale.setDifficulty, self.ale.getAvailableDifficulties),
        ):
            apply(chosen(task, setting, options[setting], available()))
        self._look()
        self._ram = np.zeros(self.ale.getRAMSize(), np.uint8)
        self._seat = task.seats[0]
        screen = gymnasium.spaces.Box(0, 255, self._frame.pixels.shape, np.uint8)
        self.observation_space = gymnasium.spaces.Dict({self._seat: screen})
        self.action_space = gymnasium.spaces.Dict({self._seat: gymnasium.spaces.Discrete(NUM_ACTIONS)})
        self._previous_action = 0
        self._num_steps = 0
        self._sticky_rng = np.random.default_rng(0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; the same seed starts the same episode, whatever was played before."""
        super().reset(seed=seed)
        start_seed = int(self.np_random.integers(2**32)) if seed is None else seed
        start = np.random.default_rng(start_seed)
        self._sticky_rng = np.random.default_rng((start_seed, 1))
        self._previous_action = 0
        self._num_steps = 0
        self.ale.reset_game()
        for _ in range(int(start.integers(self._noop_max + 1))):
            self.ale.act(0)
        return {self._seat: self._look()}, {"lives": self.ale.lives()}

    def step(self, action: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float], bool, bool, dict[str, Any]]:
        """Play one frame (1/60 s)."""
        seat = self._seat
        require_actions(self.task, action, (seat,))
        applied = int(action[seat])
        if not 0 <= applied < NUM_ACTIONS:
            raise EnvError(f"Atari action must be 0 to {NUM_ACTIONS - 1}, got {action[seat]!r}")
        info: dict[str, Any] = {}
        if self._sticky > 0:
            if self._sticky_rng.random() < self._sticky:
                applied = self._previous_action
            info["applied_action"] = applied
        self._previous_action = applied
        reward = float(self.ale.act(applied))
        self._num_steps += 1
        info["lives"] = self.ale.lives()
        is_cut_off = self._num_steps >= self.task.max_steps
        return {seat: self._look()}, {seat: reward}, self.ale.game_over(), is_cut_off, info

    def view(self) -> Frame:
        return self._frame

    def _look(self) -> np.ndarray:
        """Return the screen as a new array, which the receiver may keep but must not change."""
        screen = self.ale.getScreen()
        self._frame = Frame(screen, PALETTE)
        return screen

    def render(self) -> np.ndarray:  # type: ignore[override]
        """Return the native screen in colour, uint8, shape (H, W, 3), in most games (210, 160, 3)."""
        return self._frame.rgb()

    def snapshot(self) -> bytes:
        """Return the emulator's state and the fields of this class, compressed: about 7 kB."""
        extra = {"previous": self._previous_action, "steps": self._num_steps, "sticky": self._sticky_rng.bit_generator.state}
        return pack(extra, self._frame.pixels, self.ale.cloneSystemState().serialize())

    def restore(self, snapshot: bytes) -> None:
        try:
            extra, screen, state = unpack(snapshot, self._frame.pixels.shape)
            self.ale.restoreSystemState(ALEState(state))
        except (zstandard.ZstdError, ValueError, RuntimeError) as error:
            raise EnvError(f"this is not a snapshot of {self.task.env.id}: {error}") from None
        self._frame = Frame(screen.copy(), PALETTE)
        self._previous_action = extra["previous"]
        self._num_steps = extra["steps"]
        self._sticky_rng.bit_generator.state = extra["sticky"]

    def close(self) -> None:
        """Keep the emulator for the next world of this game; a second call does no harm."""
        super().close()
        ale = self.__dict__.pop("ale", None)  # whoever plays on with a closed world must not play another's
        if ale is not None and len(idle := _IDLE.setdefault(self.task.env.name, [])) < _MAX_IDLE:
            idle.append((ale, self._as_new))

    def readings(self) -> Mapping[str, Callable[[], Any]]:
        return {"ram": self._read_ram}

    def _read_ram(self) -> bytes:
        self.ale.getRAM(self._ram)
        return self._ram.tobytes()

    def versions(self) -> dict[str, str]:
        return super().versions() | {"ale-py": ale_py.__version__}


def read_options(task: Task, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults, updated by a task's options (NotFoundError for an unknown option, EnvError for an invalid value)."""
    require_options(task, "Atari option", defaults)
    options = {**defaults, **task.env.options}
    for name, (low, high) in _RANGES.items():
        value = options[name]
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise EnvError(f"task {task.id}: env.options.{name} must be a number from {low} to {high}, got {value!r}")
    return options


def chosen(task: Task, setting: str, value: int, available: Iterable[int]) -> int:
    """Return a mode or difficulty if the game has it; else raise EnvError, which names the available values."""
    if value not in (known := sorted(map(int, available))):
        raise EnvError(f"task {task.id}: {setting} {value} does not exist; choose from {known}")
    return value


def rom_path(rom: str) -> Path:
    """Return the path of a ROM (NotFoundError, which names the most similar game)."""
    known = roms.get_all_rom_ids()
    if rom not in known:
        raise unknown_name("Atari game", rom, known)
    return Path(str(roms.get_rom_path(rom)))


def pack(extra: Mapping[str, Any], screen: np.ndarray, state: bytes) -> bytes:
    """Return a snapshot: the emulator's state, the picture, and the other fields that this state does not hold. The picture is
    included because the emulator draws it only while the next frame runs."""
    head = json.dumps(extra).encode()
    return zstandard.compress(len(head).to_bytes(4, "little") + head + screen.tobytes() + state)


def unpack(snapshot: bytes, shape: tuple[int, int]) -> tuple[dict[str, Any], np.ndarray, bytes]:
    """Return the arguments of `pack`, with a picture of this shape (ValueError or zstandard.ZstdError if it is no snapshot)."""
    data = zstandard.decompress(snapshot)
    head_end = 4 + int.from_bytes(data[:4], "little")
    screen_end = head_end + shape[0] * shape[1]
    screen = np.frombuffer(data[head_end:screen_end], np.uint8).reshape(shape)
    return json.loads(data[4:head_end]), screen, data[screen_end:]
