"""MineStudio's simulator as a task: `env.id = "minestudio:MinecraftSim"`.

This module follows the source of MineStudio 1.1.5 (github.com/CraftJarvis/MineStudio at f6a1c23: `simulator/entry.py`,
`simulator/callbacks/commands.py` and the MineRL that it contains, `simulator/minerl/`) and was tested with a stand-in that
behaves as this source says, never with Minecraft itself. MineStudio needs exactly av 13.1.0 and opencv 4.8.0.74, and Interplay
av 14 or newer, so pip refuses to install both into one Python, unless it is told to ignore one requirement.
"""

from __future__ import annotations

from typing import Any

from interplay.envs.base import EnvError
from interplay.envs.minecraft.game import HEIGHT, WIDTH, Answer, MinecraftEnv, need
from interplay.envs.minerl_actions import Pressed
from interplay.errors import unknown_name
from interplay.tasks import Task

NAME = "MinecraftSim"
"""The only environment of this backend."""

OPTIONS: dict[str, Any] = {"biome": "", "items": (), "commands": (), "esc_ends": True}
"""Task options and their defaults: start biome, used if one is near; first items as names or [name, count]; commands that build
the scene; whether ESC ends the episode."""

INSTALL = """Install JDK 8 and Xvfb, then:  pip install minestudio
Its first start downloads Minecraft (https://craftjarvis.github.io/MineStudio/overview/installation.html)."""


class MinestudioEnv(MinecraftEnv):
    """A survival world of the MineStudio that the user installed, 640x360 as the game draws it.

    Actions are MineStudio's `env` actions. Its game knows neither `drop` nor `swapHands`: both are accepted and do nothing. The
    game has no ESC either. Here ESC presses `inventory` while a screen is open, which closes the screen, and otherwise ends the
    episode. An episode also ends when the player has no health left, or the simulator says that it is done. `info` has the
    simulator's entries, without pictures: `health`, `food_level`, `is_gui_open`, `player_pos`, `inventory` and more.

    Raises:
        NotFoundError: If the name or an option does not exist.
        EnvError: If an option has an invalid value, or MineStudio or its engine is not installed.
    """

    _packages = ("minestudio",)

    def __init__(self, task: Task) -> None:
        if task.env.name != NAME:
            raise unknown_name("environment of MineStudio", task.env.name, [NAME])
        for name in task.env.options:
            if name not in OPTIONS:
                raise unknown_name(f"option of MineStudio in task {task.id}", name, OPTIONS)
        self._options = OPTIONS | dict(task.env.options)
        self._inventory = {slot: _stack(task, item) for slot, item in enumerate(self._options["items"])}
        self._gui_open = False
        super().__init__(task)

    def _open(self) -> Any:
        simulator, callbacks = need(self.task, "minestudio.simulator", "minestudio.simulator.callbacks", install=INSTALL)
        commands = ["/" + line.removeprefix("/") for line in self._options["commands"]]
        try:
            return simulator.MinecraftSim(
                action_type="env",
                obs_size=(WIDTH, HEIGHT),  # handed to cv2.resize, which takes the width first
                render_size=(WIDTH, HEIGHT),
                inventory=self._inventory,
                preferred_spawn_biome=self._options["biome"] or None,
                callbacks=[callbacks.CommandsCallback(commands)] if commands else [],
            )
        except (Exception, SystemExit) as error:
            # Without its engine the simulator asks on the terminal whether to download it: EOFError where there is no
            # terminal, SystemExit where the answer is no.
            raise EnvError(
                f"task {self.task.id}: MineStudio's simulator cannot be built: {type(error).__name__}: {error}\n"
                "If its engine (Minecraft) is not installed yet, fetch it with:  python -m minestudio.simulator.entry -y"
            ) from error

    def _begin(self, seed: int) -> Answer:
        self._game.env.seed(seed)  # the MineRL within forgets it after each reset; the simulator gives it only once
        observation, info = self._game.reset()
        return self._answer(observation, info)

    def _advance(self, pressed: Pressed) -> Answer:
        action = pressed.to_minerl()
        esc = bool(action.pop("ESC"))
        if esc and self._gui_open:
            esc, action["inventory"] = False, 1
        observation, reward, terminated, truncated, info = self._game.step(action)
        answer = self._answer(observation, info)
        dead = answer.info.get("health", 1) <= 0
        # The simulator sets both flags when its game says done, and has no time limit of its own.
        done = bool(terminated or truncated) or dead or (esc and bool(self._options["esc_ends"]))
        return answer._replace(reward=reward, terminated=done)

    def _answer(self, observation: dict[str, Any], info: dict[str, Any]) -> Answer:
        self._gui_open = bool(info.get("is_gui_open", False))
        return Answer(observation["image"], {key: value for key, value in info.items() if key not in ("pov", "image")})


def _stack(task: Task, item: Any) -> dict[str, Any]:
    """Return one entry of the simulator's inventory, from a name or [name, count]."""
    if isinstance(item, str):
        item = (item, 1)
    if not isinstance(item, list | tuple) or [type(part) for part in item] != [str, int] or not 1 <= item[1] <= 64:
        raise EnvError(f"task {task.id}: env.options.items holds names or [name, count of 1 to 64], got {item!r}")
    return {"type": item[0], "quantity": item[1]}
