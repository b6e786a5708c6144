"""Import CrowdPlay episodes: replay and prove each one if possible, otherwise keep it with its pictures.

CrowdPlay stored the picture before each step, but not the picture after the last step. It stored no seed and no version of the
emulator. A game began as the console does, without random numbers, so actions decide everything unless the world was changed
(some games of two players began at random places). CrowdPlay also ran games of one player in an emulator for several players,
which begins where our emulator is after two idle steps. So both starts are tried. An episode is proved if a replay shows every
stored picture, reward, end and console memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from interplay.envs.base import PlayableEnv
from interplay.envs.pictures import PALETTE
from interplay.record.datasets.crowdplay_catalogue import DOCUMENT, Published, episodes_in
from interplay.record.datasets.plain_values import Held, read_values
from interplay.record.errors import RecordingError
from interplay.record.exchange.importer import EPISODE_ID, Brought, Spaces, check_names, imported_name
from interplay.record.exchange.playback import Taken
from interplay.record.exchange.reader import Format, Part
from interplay.record.format.schema import Owner
from interplay.tasks import EnvSpec, Task, find

MAX_STEPS = 100_001
"""Largest number of steps: CrowdPlay ends a game at frame 100,000."""
_NUM_ACTIONS = 18
_BYTES_A_STEP = 190
"""Approximate bytes per step in the published files, for the progress bar."""
_GAMES = ("beam_rider", "breakout", "montezuma_revenge", "qbert", "riverraid", "space_invaders")
"""Games for one player; CrowdPlay and Interplay both use the names of the cartridges."""
_FOR_TWO = ("space_invaders_2p", "space_invaders_ai")
_SEED, _NOOPS = 0, 2
"""With this seed, a world that waits for at most two steps waits for exactly two."""
_PERSON, _AGENT = 1, 2
"""Kinds of owner of a step, as CrowdPlay writes them."""
_NOT_STORED = "CrowdPlay stored no picture after the last step: the picture before that step is used"


def _parts(folder: Path) -> list[Part]:
    return [
        Part(one.id, 1 if one.path is None else max(1, one.path.stat().st_size // _BYTES_A_STEP), partial(_brought, one))
        for one in episodes_in(folder)
    ]


FORMAT = Format("of CrowdPlay", DOCUMENT, _parts)


def _task_of(published: Published) -> Task:
    """Return the task of an episode under CrowdPlay's own name; the task begins without waiting."""
    if published.game in _FOR_TWO:
        together = "cooperative" if published.kind == "cooperative" else "competitive"
        task = find(f"atari-two/space_invaders_{together}")
    elif published.game in _GAMES:
        task = find(f"atari/{published.game}")
    else:
        raise RecordingError(
            f"its game is {published.game or 'unknown'}; the known games are {', '.join([*_GAMES, *_FOR_TWO])}\n"
            f"Fetch {DOCUMENT} of the published data set again."
        )
    env = EnvSpec(task.env.id, {**task.env.options, "noop_max": 0})
    task = replace(task, id=f"crowdplay/{published.task}", env=env, max_steps=MAX_STEPS, held_out_seeds=())
    check_names(task)
    return task


@dataclass(frozen=True)
class _Episode:
    """The checked steps of one file.

    Attributes:
        actions: Agent -> T numbers of the cartridge's own actions.
        pictures: T pictures, uint8, shape (210, 160, 3) each: the picture before each step.
        memory: T values: the 128 bytes of the console's memory after each step; None if they were not stored.
        kinds: Agent -> T kinds of owner: who acted in each step.
        rewards: Agent -> T rewards.
        is_over: Whether the game was over after the last step.
    """

    agents: Sequence[str]
    actions: Mapping[str, list[int]]
    pictures: Sequence[Held]
    memory: Sequence[bytes | None]
    kinds: Mapping[str, list[int]]
    rewards: Mapping[str, list[float]]
    is_over: bool

    def seen(self, step: int) -> np.ndarray:
        """Return the picture before a step; after the last step, the last stored picture."""
        return self.pictures[min(step, len(self.pictures) - 1)].array()


def _read(published: Published) -> _Episode:
    if published.path is None:
        raise RecordingError("its file is missing\nFetch the data set again, with all its files in one folder.")
    steps = read_values(published.path)
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise RecordingError("it is not a list of steps\nFetch it again.")
    if len(steps) > MAX_STEPS:  # a file may name one step again and again
        raise RecordingError(
            f"it has {len(steps):,} steps, and no game of CrowdPlay has more than {MAX_STEPS:,}\nFetch it again."
        )
    if not isinstance(steps[0]["action"], dict):
        raise RecordingError("its steps name no agents\nFetch it again.")
    agents = sorted(map(str, steps[0]["action"]))
    pictures = []
    for number, step in enumerate(steps):
        seen = step["prev_obs"][agents[0]]
        picture = seen.get("image") if isinstance(seen, dict) else seen
        if not isinstance(picture, Held) or picture.shape != (210, 160, 3) or picture.dtype != np.uint8:
            raise RecordingError(f"step {number} has no colour picture of 160x210 pixels\nFetch it again.")
        pictures.append(picture)
    done = steps[-1]["done"]
    return _Episode(
        agents,
        {agent: [int(_number(_action(step["action"][agent]))) for step in steps] for agent in agents},
        pictures,
        [_memory(step["info"].get(agents[0])) for step in steps],
        {agent: [int(_number(step.get("user_type", {}).get(agent, _PERSON))) for step in steps] for agent in agents},
        {agent: [float(_number(step["reward"][agent])) for step in steps] for agent in agents},
        bool(done.get("__all__", all(done[agent] for agent in agents))),
    )


def _action(action: Any) -> Any:
    return action["game"] if isinstance(action, dict) else action


def _number(value: Any) -> float:
    if not isinstance(value, int | float):
        raise RecordingError(f"it has a {type(value).__name__} where a number belongs\nFetch it again.")
    return value


def _memory(info: Any) -> bytes | None:
    found = info.get("RAM") if isinstance(info, dict) else None
    return bytes(found) if isinstance(found, list) and len(found) == 128 else None


@cache
def _actions_of(env_id: str) -> tuple[int, ...]:
    """Return the console's numbers of the actions that a cartridge knows; CrowdPlay's action numbers are indices into them."""
    from interplay.envs import atari  # says what to install where there is no emulator

    console = atari.ALEInterface()
    console.loadROM(atari.rom_path(env_id.partition(":")[2]))
    return tuple(int(action.value) for action in console.getMinimalActionSet())


def _brought(published: Published) -> Brought:
    task = _task_of(published)
    held = _read(published)
    if len(held.agents) != len(task.seats):
        raise RecordingError(f"it has {len(held.agents)} agents, but {published.game} has {len(task.seats)}\nFetch it again.")
    if not EPISODE_ID.fullmatch(published.id):
        raise RecordingError(f"it is called {published.id[:80]!r}, which is not the id of an episode\nFetch it again.")
    known = _actions_of(task.env.id)
    for agent, actions in held.actions.items():
        if wrong := next((action for action in actions if not 0 <= action < len(known)), None):
            raise RecordingError(
                f"{agent[:40]!r} gives action {wrong}, but {published.game} has only {len(known)} actions\nFetch it again."
            )
    seats = dict(zip(task.seats, held.agents, strict=True))
    waited = replace(task, env=EnvSpec(task.env.id, {**task.env.options, "noop_max": _NOOPS}))
    names = {seat: _names(published, agent, set(held.kinds[agent])) for seat, agent in seats.items()}
    owners = {
        seat: Owner(names[seat][held.kinds[agent][0]], "human" if held.kinds[agent][0] == _PERSON else "agent")
        for seat, agent in seats.items()
    }
    steps = [
        Taken(
            {seat: known[held.actions[agent][step]] for seat, agent in seats.items()},
            {seat: held.rewards[agent][step] for seat, agent in seats.items()},
            held.is_over and step == len(held.pictures) - 1,
            False,
            {seat: names[seat][held.kinds[agent][step]] for seat, agent in seats.items()},
        )
        for step in range(len(held.pictures))
    ]
    indices = _indices(held)
    picture = gymnasium.spaces.Box(0, 255, (210, 160) if indices is not None else (210, 160, 3), np.uint8)
    moves: dict[str, gymnasium.Space] = {seat: gymnasium.spaces.Discrete(_NUM_ACTIONS) for seat in seats}
    spaces = Spaces(gymnasium.spaces.Dict(moves), gymnasium.spaces.Dict(dict.fromkeys(seats, picture)))
    return Brought(
        id=published.id,
        task=task,
        seed=_SEED,
        owners=owners,
        outcome="" if held.is_over else "quit",
        created_at=published.created_at,
        why_not="",
        steps=steps,
        observations=lambda: _Observations(held, indices, tuple(seats)),
        look=lambda: partial(_is_shown, held),
        spaces=spaces,
        palette=None if indices is None else PALETTE,
        remark=_NOT_STORED,
        memory=[] if None in held.memory else held.memory,  # type: ignore[arg-type]
        starts=[waited] if len(seats) == 1 else [],
    )


def _names(published: Published, agent: str, kinds: set[int]) -> dict[int, str]:
    person = imported_name(published.people.get(agent, "unknown")[:40], "human")
    return {kind: person if kind == _PERSON else "crowdplay-agent" if kind == _AGENT else "nobody" for kind in kinds}


def _is_shown(held: _Episode, env: PlayableEnv, observations: Any, step: int, ended: bool) -> bool:
    if step and (memory := held.memory[step - 1]) is not None and env.readings()["ram"]() != memory:
        return False
    return ended or np.array_equal(env.view().rgb(), held.seen(step))


class _Observations(Sequence):
    def __init__(self, held: _Episode, indices: Callable[[np.ndarray], np.ndarray] | None, seats: tuple[str, ...]) -> None:
        self._held, self._indices, self._seats = held, indices, seats

    def __len__(self) -> int:
        return len(self._held.pictures) + 1

    def __getitem__(self, step: Any) -> Any:
        picture = self._held.seen(step)
        if self._indices is not None:
            picture = self._indices(picture)
        return dict.fromkeys(self._seats, picture)


def _packed(colours: np.ndarray) -> np.ndarray:
    """Return colours as 24-bit numbers: uint32, without the last axis."""
    wide = colours.astype(np.uint32)
    return (wide[..., 0] << 16) | (wide[..., 1] << 8) | wide[..., 2]


@cache
def _index_of_colours() -> np.ndarray:
    """Return a table from colour to its index in the console's palette: uint8, shape (2**24,); 0 for other colours."""
    table = np.zeros(1 << 24, np.uint8)
    table[_packed(PALETTE[::2])] = np.arange(0, 256, 2)
    return table


def _to_indices(picture: np.ndarray) -> np.ndarray:
    """Return a picture as indices into the console's palette: uint8, shape (210, 160)."""
    return _index_of_colours()[_packed(picture)]


def _indices(held: _Episode) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return a function that turns pictures into indices; None if a picture has a colour that the console does not have."""
    are_exact: Iterator[bool] = (np.array_equal(PALETTE[_to_indices(one.array())], one.array()) for one in held.pictures)
    return _to_indices if all(are_exact) else None
