"""The world of one run: played, recorded and judged at each tick."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from blockworld import Action
from interplay.agents.scripted.blocks import as_keys
from interplay.envs import Frame, make
from interplay.envs.pictures import png
from interplay.envs.voxel import VoxelEnv
from interplay.explore import facts
from interplay.explore.instance import Instance
from interplay.explore.judging import Watch
from interplay.explore.rules import cell, holds, measured
from interplay.record import Archive, Owner, RecordedEpisode


class Game:
    """The game of one run: its world is played, recorded and judged.

    Attributes:
        at_start: Ids of the milestones that were reached before the first action, and so not by the player.
        path: Position of the player's feet before the first tick and after each tick: x, y, z, counted from the start cell.
        seen: The state before the first tick, then only the changes, each with its `tick`. `slots`: slot number, item, count.
            `hotbar`: number of the slot in hand. `health` and `food`: 0 to 20. `facts`: id of a milestone not reached before ->
            one list for each of its rules: whether the rule holds, then its `rules.measured` (null for infinity).
    """

    def __init__(
        self, archive: Archive, instance: Instance, *, player: str, max_steps: int, episode_id: str, created_at: datetime
    ) -> None:
        task = instance.task()
        env = make(task)
        assert isinstance(env, VoxelEnv)
        self.env = env
        owners = {task.seats[0]: Owner(player, "model")}
        self._recorder = archive.recorder(
            task, env, seed=instance.seed, owners=owners, episode_id=episode_id, created_at=created_at
        )
        self._episode = RecordedEpisode(env, self._recorder, max_steps=max_steps)
        self._seat = task.seats[0]
        self._archive = archive
        try:
            _, self._info = self._episode.start(instance.seed)
            self._watch = Watch(env.world, instance)
        except BaseException:
            self.abandon()
            raise
        self.at_start = list(self._watch.progress.reached)
        self._origin = cell(self._watch.spawn)
        self.path: list[list[float]] = []
        self.seen: list[dict[str, Any]] = []
        self._last: dict[str, Any] = {"facts": {}}
        self._note()

    @property
    def reached(self) -> dict[str, int]:
        """Id -> tick of each milestone that was reached after the start."""
        return {name: tick for name, tick in self._watch.progress.reached.items() if name not in self.at_start}

    @property
    def num_steps(self) -> int:
        return self._episode.num_steps

    @property
    def outcome(self) -> str | None:
        return self._episode.outcome

    @property
    def said_done(self) -> bool:
        """Whether the player said that the game is done; false if the player died."""
        return self.outcome == "terminated" and not self.env.world.player.dead

    def _note(self) -> None:
        self.path.append([round(at - o, 1) for at, o in zip(facts.feet(self.env.world), self._origin, strict=True)])
        me = self.env.world.player
        slots = [[number, slot.item, slot.count] for number, slot in enumerate(me.slots) if slot is not None]
        now = {"slots": slots, "hotbar": me.hotbar, "health": round(me.health, 1), "food": me.food}
        changed = {name: value for name, value in now.items() if self._last.get(name) != value}
        judged = {name: rules for name, rules in self._judged().items() if self._last["facts"].get(name) != rules}
        self._last |= now | {"facts": self._last["facts"] | judged}
        if changed or judged:
            self.seen.append({"tick": self.num_steps} | changed | ({"facts": judged} if judged else {}))

    def _judged(self) -> dict[str, list[list[Any]]]:
        progress, seen = self._watch.progress, self._watch.facts
        return {
            name: [
                [holds(rule, seen), *(round(one, 2) if math.isfinite(one) else None for one in measured(rule, seen))]
                for rule in rules
            ]
            for name, rules in progress.milestones.items()
            if progress.reached.get(name, self.num_steps) == self.num_steps
        }

    def hold(self, action: Mapping[str, Any], ticks: int) -> None:
        """Hold an action's keys for some ticks and turn the camera at the first tick only; stop early if the game ends."""
        turn = action.get("camera", (0.0, 0.0))
        for tick in range(ticks):
            self._step({**action, "camera": np.array(turn if tick == 0 else (0.0, 0.0), np.float32)})
            if self.outcome is not None:
                return

    def carry_out(self, doing: Generator[Action, None, str], most_ticks: int) -> str:
        """Play a macro, for at most `most_ticks` ticks or until the player dies; return why it failed, or "" if it did not."""
        begin = self.num_steps
        while True:
            try:
                action = next(doing)
            except StopIteration as done:
                return done.value
            if self.num_steps - begin == most_ticks:
                return f"it was stopped after {most_ticks} ticks"
            self._step(as_keys(action))
            if self.outcome is not None or self.env.world.player.dead:
                return "you died" if self.env.world.player.dead else "the game is over"

    def _step(self, action: Mapping[str, Any]) -> None:
        space = self.env.action_space[self._seat]
        whole = {name: np.zeros(2, np.float32) if name == "camera" else 0 for name in space.spaces} | action  # type: ignore[attr-defined]
        self._info = self._episode.step({self._seat: whole}).info
        self._watch.look(self.num_steps)
        self._note()

    def picture(self, width: int) -> bytes:
        """Return the player's view as a PNG about `width` pixels wide, in 32 shades of each colour to make the file small."""
        pixels = self.env.view().pixels
        rows, columns = pixels.shape[:2]
        by = max(1, columns // width)
        while rows % by or columns % by:
            by += 1
        sums = np.zeros((rows // by, columns // by, 3), np.uint32)
        for part in range(by * by):  # twenty times as fast as means over two axes
            sums += pixels[part // by :: by, part % by :: by]
        shades = (sums // (by * by)).astype(np.uint8) >> 3
        return png(Frame(shades << 3 | shades >> 2), level=6)

    def carried(self) -> str:
        info = self._info
        items = ", ".join(f"{number} {name}" for name, number in sorted(info["inventory"].items())) or "nothing"
        held = info["equipped"] or "nothing"
        return f"You carry: {items}. In your hand: {held}. Health {info['health']:g} of 20, food {info['food']:g} of 20."

    def finish(self, outcome: str) -> None:
        self._recorder.finish(outcome)
        self.env.close()

    def seal(self) -> None:
        self._archive.seal(self._recorder.path)

    def abandon(self) -> None:
        """Stop the game at once and leave its recording unfinished, as after a crash."""
        self._recorder.abandon()
        self.env.close()
