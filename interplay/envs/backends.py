"""Backends: each runs one kind of world, named by the part of `env.id` before the colon.

Other packages add a backend by an entry point of the group `interplay.backends` that is a `Backend` object; docs/backends.md
has a package to copy.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import gymnasium

from interplay.envs.base import EnvError, PlayableEnv
from interplay.errors import install_line
from interplay.tasks import Task, backend_names

Report = Callable[[float], None]
"""Function that is called with the share of the work that is done, 0 to 1."""
LOADING_NICENESS = 10
"""Niceness of work that loads or makes a world before anybody waits for it."""


@dataclass(frozen=True)
class Backend:
    """One kind of world and how it is made.

    Attributes:
        name: The part of `env.id` before the colon.
        example: An example of its ids, shown in errors and docs: `ale:<rom>`.
        make: Builds the environment of a task, and imports the packages that it needs. A `ModuleNotFoundError` becomes an
            `EnvError` with `install`.
        install: The command that installs its packages.
        packages: The modules that a task of this kind needs; if one is missing, pages and lists show `install` beside the task.
        is_slow: Whether a step takes milliseconds, so that each game needs its own worker process.
        sends_scenes: Whether browsers can draw its worlds; a game that a browser draws needs no worker process of its own.
        hides_land: Whether the task is to find something in the land; a browser that draws the world then gets only land that
            the player has seen.
        prepare: Does the work for which the first `make` would wait; called with `(report, load)` as `interplay.envs.prepare`
            describes. None if there is no such work.
        has_score: Whether the rewards of a task mean something to people.
        esc_ends: Whether the button `ESC` ends the episode of a task.
    """

    name: str
    example: str
    make: Callable[[Task], PlayableEnv]
    install: str = ""
    packages: Callable[[Task], Sequence[str]] = lambda task: ()
    is_slow: bool = False
    sends_scenes: bool = False
    hides_land: Callable[[Task], bool] = lambda task: False
    prepare: Callable[[Report | None, bool], None] | None = None
    has_score: Callable[[Task], bool] = lambda task: True
    esc_ends: Callable[[Task], bool] = lambda task: False

    @property
    def must_load(self) -> bool:
        """Whether a process must compile or load something before its first game."""
        return self.prepare is not None


def _made_by(module: str, environment: str) -> Callable[[Task], PlayableEnv]:
    """Return a function that builds an environment of this package and imports its module only when it is called."""

    def make(task: Task) -> PlayableEnv:
        return getattr(importlib.import_module(f"interplay.envs.{module}"), environment)(task)

    return make


def _always(*names: str) -> Callable[[Task], Sequence[str]]:
    return lambda task: names


def _drawn_by(task: Task) -> Sequence[str]:
    """Return the package that draws Gymnasium's own small worlds; other worlds have their own package."""
    spec = gymnasium.registry.get(task.env.name)
    is_small = str(spec and spec.entry_point).startswith(("gymnasium.envs.classic_control", "gymnasium.envs.toy_text"))
    return ("pygame",) if is_small else ()


def _prepare_voxel(report: Report | None, load: bool) -> None:
    from blockworld import compiling

    compiling.ensure(report)
    if load:
        _load_kernels()


@cache
def _load_kernels() -> None:
    """Load the kernels once for this process and its forks."""
    from blockworld import load_kernels

    load_kernels()


def load_compiled() -> None:
    """Load the compiled kernels of the block world, if this machine has them, into this process and so into its later forks."""
    try:
        from blockworld import compiling
    except ModuleNotFoundError:  # not installed
        return
    if compiling.is_ready():
        _load_kernels()


def load_compiled_behind() -> None:
    """Load the compiled kernels in a thread of low priority and wait for it, since a game may need the cores."""

    def load() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOADING_NICENESS)  # of this thread alone
        load_compiled()

    thread = threading.Thread(target=load)
    thread.start()
    thread.join()


def _unless_option(task: Task) -> bool:
    return bool(task.env.options.get("esc_ends", True))


def _is_search(task: Task) -> bool:
    options = task.env.options
    check = options.get("check") or options.get("automatic")  # its earlier name
    return bool(options.get("origin")) or str(check).rpartition(":")[2] == "find_cave"


BUILT_IN: dict[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend("ale", "ale:<rom>", _made_by("atari", "AtariEnv"), install_line("atari"), _always("ale_py", "cv2")),
        Backend(
            "ale2p",
            "ale2p:<rom>",
            _made_by("atari2p", "TwoPlayerAtariEnv"),
            install_line("atari2p"),
            _always("ale_py", "multi_agent_ale_py"),
        ),
        Backend("gym", "gym:<registered id>", _made_by("gym", "GymEnv"), install_line("gymnasium"), _drawn_by),
        Backend(
            "voxel",
            "voxel:<name>",
            _made_by("voxel", "VoxelEnv"),
            "pip install ./packages/blockworld",
            _always("blockworld"),
            is_slow=True,
            sends_scenes=True,
            hides_land=_is_search,
            prepare=_prepare_voxel,
            has_score=lambda task: bool(task.env.options.get("reward")),
            esc_ends=_unless_option,
        ),
        Backend(
            "pettingzoo",
            "pettingzoo:<registered id>",
            _made_by("pettingzoo", "PettingZooEnv"),
            install_line("pettingzoo"),
            _always("pettingzoo"),
        ),
        Backend(
            "cogrid",
            "cogrid:<registered id>",
            _made_by("cogrid", "CogridEnv"),
            install_line("cogrid"),
            _always("cogrid"),
        ),
        Backend(
            "minerl",
            "minerl:<MineRL id>",
            _made_by("minecraft.minerl", "MinerlEnv"),
            "pip install git+https://github.com/minerllabs/minerl",
            _always("minerl"),
            is_slow=True,
            esc_ends=_unless_option,
        ),
        Backend(
            "minestudio",
            "minestudio:MinecraftSim",
            _made_by("minecraft.minestudio", "MinestudioEnv"),
            "pip install minestudio",
            _always("minestudio"),
            is_slow=True,
            esc_ends=_unless_option,
        ),
    )
}
"""Name -> backend that this package contains."""


def names() -> list[str]:
    return [*BUILT_IN, *backend_names.installed()]


@cache
def find(name: str) -> Backend:
    """Return the backend with this name (EnvError if it is unknown or cannot be used)."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    point = backend_names.installed().get(name)
    if point is None:
        examples = [repr(backend.example) for backend in BUILT_IN.values()]
        raise EnvError(
            f"there is no backend {name!r}; ids of environments are {', '.join(examples[:-1])} or {examples[-1]}\n"
            f"Other packages add backends by entry points of the group {backend_names.GROUP!r}; docs/backends.md says how."
        )
    where = f"backend {name!r} of the package {point.dist.name if point.dist else '?'} ({point.value})"
    try:
        backend = point.load()
    except Exception as error:
        raise EnvError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(backend, Backend):
        raise EnvError(f"{where} must be an interplay.envs.backends.Backend, got {type(backend).__name__}")
    if backend.name != name:
        raise EnvError(f"{where} calls itself {backend.name!r}; entry point and backend must have the same name")
    return backend


def of(task: Task) -> Backend:
    """Return the backend of a task.
    If it is missing, return a stand-in that refuses to make the environment and says why, so that pages about the task work."""
    try:
        check_playable(task)
    except EnvError as error:
        return _refusing(task, str(error))
    try:
        return find(task.env.backend)
    except EnvError as error:
        return _refusing(task, f"task {task.id}: {error}")


def to_install(task: Task) -> str:
    """Return the command that installs the missing world of a task; empty if the task can be played."""
    backend = of(task)
    return "" if all(map(importlib.util.find_spec, backend.packages(task))) else backend.install


def _refusing(task: Task, reason: str) -> Backend:
    def refuse(task: Task) -> PlayableEnv:
        raise EnvError(reason)

    return Backend(task.env.backend, task.env.id, refuse)


def check_playable(task: Task) -> None:
    """Refuse a task that has only videos (EnvError)."""
    if not task.env.is_playable:
        raise EnvError(
            f"task {task.id} has only videos and no world, so nobody can play it\n"
            "Add videos of an agent, to be judged:  interplay judge add-agent NAME DIR"
        )
