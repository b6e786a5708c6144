"""Whether what a browser knows of the block world is the world, in hours of random games: `python -m bench.same_world`.

Players of all tasks of the block world press random keys. The bytes that their browsers would be sent go to the page's own
`Scene` in a Node process (`same_world_page.js`), with frames that are skipped, pages that begin again, and games that are
killed and rebuilt from their last snapshot and the actions since. Every hundredth step the page answers with digests of the
cells and of the light that it has sent to its graphics card, and with its figures, display and player. It exits with 1 if one
of them is not as in the world, or if nothing was compared. Hours are those of the game: 72,000 steps each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from blockworld.player import mining
from blockworld.render import display, figures, pieces
from blockworld.scene import packing
from blockworld.scene.land import SECTION
from interplay.envs import make
from interplay.envs.voxel import CAMERA, KEYS, VoxelEnv
from interplay.tasks import Task, builtin_suites

TICKS_AN_HOUR = 72_000
CHECK_EVERY = 100
SNAPSHOT_EVERY = 200
LONGEST = 2000
"""Steps of a game."""
TABLES, OPEN, SCENE, LAND, ASK = 1, 2, 4, 5, 6
UNKNOWN = 65535


class Pages:
    """The Node process in which the pages of a game's players are.

    Attributes:
        num_bytes: Of all frames that were sent.
        num_frames: Of scenes and land.

    Raises:
        FileNotFoundError: Without Node.
    """

    def __init__(self, tables: bytes) -> None:
        node = shutil.which("node")
        if node is None:
            raise FileNotFoundError("this needs Node.js 20 or newer: install it, and see that `node` is on the PATH")
        command = [node, str(Path(__file__).with_name("same_world_page.js"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.num_bytes = self.num_frames = 0
        self.send(TABLES, 0, tables)

    def send(self, kind: int, seat: int, payload: bytes = b"") -> None:
        """One message."""
        assert self._process.stdin is not None
        self._process.stdin.write(len(payload).to_bytes(4, "little") + bytes((kind, seat)) + payload)
        if kind in (SCENE, LAND):
            self.num_frames += 1
            self.num_bytes += len(payload)

    def ask(self, seat: int) -> dict[str, Any]:
        """What the page of this seat knows."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.send(ASK, seat)
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the pages' process has ended; what it wrote above says why")
        return json.loads(line)

    def close(self) -> None:
        """Wait for its end.

        Raises:
            RuntimeError: If it did not end well.
        """
        self._process.communicate()
        if self._process.returncode:
            raise RuntimeError(f"the pages' process has ended with {self._process.returncode}; what it wrote above says why")


class Player:
    """Random keys of one seat, and what its page was sent."""

    def __init__(self, env: VoxelEnv, seat: str, pages: Pages, rng: np.random.Generator) -> None:
        self.seat, self._pages, self._rng = seat, pages, rng
        self.index = env.task.seats.index(seat)
        self._held: dict[str, int] = {}
        self._skips = float(rng.choice([0.0, 0.3, 0.9]))
        self._silent = self.num_changes = 0
        self.connect(env, is_new_page=True)

    def connect(self, env: VoxelEnv, *, is_new_page: bool) -> None:
        """The page knows nothing of this game yet, or there is a new page."""
        self._env, self._scene, self._is_fresh = env, env.scene_of(self.seat, (320, 180)), True
        if is_new_page:
            self._pages.send(OPEN, self.index)

    def begin_again(self) -> None:
        """As when a connection was lost: the same encoder, a page that forgot."""
        self._is_fresh = True
        self._silent = 0
        if self._rng.random() < 0.5:
            self._pages.send(OPEN, self.index)

    def action(self) -> dict[str, Any]:
        """Keys that are held for a while, and a turn."""
        rng = self._rng
        if not self._held or rng.random() < 0.05:
            shares = {"forward": 0.5, "attack": 0.6, "jump": 0.3, "use": 0.4, "sprint": 0.2, "sneak": 0.1, "back": 0.1}
            shares |= {"left": 0.1, "right": 0.1}
            self._held = {key: int(rng.random() < share) for key, share in shares.items()}
            self._turns = rng.random() < 0.4  # or digs and builds where the player looks
        short = {"inventory": 0.02, "drop": 0.01, "swapHands": 0.01, "pickItem": 0.01, "ESC": 0.0002}
        taps = {key: int(rng.random() < share) for key, share in short.items()}
        if rng.random() < 0.05:
            taps[f"hotbar.{rng.integers(1, 10)}"] = 1
        camera = np.zeros(2, np.float32)
        if self._turns or rng.random() < 0.02:
            camera = np.array(
                [rng.normal(0, 6) + (40.0 - self._env.world.players[self.index].pitch) / 20, rng.normal(0, 12)], np.float32
            )
        return dict.fromkeys(KEYS, 0) | self._held | taps | {CAMERA: camera}

    def send(self, *, must: bool) -> None:
        """The news of a step, unless they are skipped, and sometimes parts of the land."""
        rng = self._rng
        if not must:
            if self._silent:
                self._silent -= 1
                return
            if rng.random() < 0.002:
                self._silent = int(rng.integers(200))  # the player reads too slowly
            if rng.random() < self._skips:
                return
        payload = self._scene.scene(self._is_fresh, self._env.was_turned(self.seat))
        document, arrays = packing.unpack(packing.inflate(payload))
        self.num_changes += sum(len(arrays[key]) for key in ("cells", "lit") if key in arrays)
        if "size" in document:
            self._known = np.zeros([side // SECTION for side in document["size"]], np.bool_)
        self._is_fresh = False
        self._pages.send(SCENE, self.index, payload)
        for part in self._scene.land_parts(int(rng.integers(4)) if rng.random() < 0.5 else 0):
            _, arrays = packing.unpack(packing.inflate(part))
            self._known[tuple(arrays["at"].T)] = True
            self._pages.send(LAND, self.index, part)

    @property
    def num_sections(self) -> int:
        """Sections of the land that its page was sent."""
        return int(self._known.sum())

    def wrong(self) -> dict[str, Any]:
        """What the page knows otherwise than it is: name -> (what it knows, what is)."""
        found, expected = self._pages.ask(self.index), self._expected()
        models, sprites = set(found.pop("models")), found.pop("sprites")
        differs = {key: (found.get(key), value) for key, value in expected.items() if found.get(key) != value}
        if missing := self._models() - models:
            differs["models"] = sorted(models), sorted(missing)
        for name, of_page in sprites.items():
            if of_page != _digest(pieces.sprite(name)[0]):
                differs[f"sprite {name}"] = of_page, "other pixels"
        return differs

    def _rows(self) -> dict[str, np.ndarray]:
        me = self._env.world.player
        ids, rows = figures.standing(self._env.world, (me.x, me.eye_y, me.z))
        return {str(number): row for number, row in zip(ids.tolist(), rows, strict=True)}

    def _models(self) -> set[int]:
        with self._env.world.acting(self.index):
            return {int(row[figures.MODEL]) for row in self._rows().values()}

    def _expected(self) -> dict[str, Any]:
        world = self._env.world
        known = self._known.transpose(0, 2, 1)
        for axis in range(3):
            known = known.repeat(SECTION, axis)
        with world.acting(self.index) as me:
            looked_at, operations, screen = mining.target(world), display.operations(world), world.screen
            hand = display.hand(world, self._env.task.env.options.get("gamma", 0.0))
            return {
                "cells": _digest(np.where(known, world.grid.blocks, np.uint16(UNKNOWN))),
                "light": _digest(np.where(known, world.grid.light, np.uint8(0))),
                "figures": {number: _digest(row) for number, row in self._rows().items()},
                "display": json.loads(json.dumps(operations)),
                "hand": None if hand is None else [round(value, 3) for value in hand.tolist()],
                "me": {
                    **{name: round(float(getattr(me, name)), 5) for name in ("x", "y", "z", "yaw", "pitch")},
                    "eye": round(me.eye_y - me.y, 5),
                    "fov": 70.0,
                    "mode": me.game_mode,
                    "dead": me.dead,
                    "sleeping": bool(me.sleeping),
                    "gui": None if screen is None else screen.kind,
                    "turned": self._env.was_turned(self.seat),
                },
                "selected": None if looked_at is None else [int(value) for value in looked_at[:3]],
                "crack": None if me.mining is None else [*map(int, me.mining[:3]), min(9, int(me.mining[3] * 10))],
                "tick": world.ticks,
                "errors": [],
            }


def _digest(values: np.ndarray) -> str:
    return hashlib.sha256(values.tobytes()).hexdigest()


class Game:
    """A game that can die: its snapshots and the actions since, as a journal has them."""

    def __init__(self, task: Task, seed: int) -> None:
        self._task = task
        self.env = self._make()
        self.env.reset(seed=seed)
        self._snapshot = self.env.snapshot()
        self._since: list[Mapping[str, Any]] = []

    def _make(self) -> VoxelEnv:
        env = make(self._task)
        assert isinstance(env, VoxelEnv)
        return env

    def step(self, action: Mapping[str, Any]) -> bool:
        """Play a step; whether the game is over."""
        _, terminated, truncated, _ = self.env.step_unseen(action)
        self._since.append(action)
        if len(self._since) == SNAPSHOT_EVERY:
            self._snapshot = self.env.snapshot()
            self._since.clear()
        return terminated or truncated

    def die(self, num_lost: int) -> bool:
        """Lose the last so many actions with the world, and build it again; false if it is another world than it was."""
        before = self.env.world.digest()
        self.env.close()
        num_lost = min(num_lost, len(self._since))
        self._since = self._since[: len(self._since) - num_lost]
        self.env = self._make()
        self.env.restore(self._snapshot)
        for action in self._since:
            self.env.step_unseen(action)
        return num_lost > 0 or self.env.world.digest() == before


def tasks() -> list[Task]:
    """All of the block world."""
    return [task for suite in builtin_suites() for task in suite.tasks if task.env.id.startswith("voxel:")]


def compare(num_ticks: int, seed: int, of: list[Task], longest: int = LONGEST, trouble: float = 0.001) -> dict[str, Any]:
    """Play so many steps, all players of a game at once.

    Args:
        of: The tasks that are played, each once before one comes again.
        longest: Steps of a game at most.
        trouble: How likely a game is to be killed, and a page to begin again, in a step.
    Returns:
        `hours` of the game, `games`, `tasks`, `frames`, `digests` (comparisons), `sections` (of land in them), `changes` (of
        cells and lights that frames told), `wrong`, `kills`, `reconnections`, `kb` of frames, `wall_s`, and `first_wrong`:
        where and how the first ten were wrong.
    """
    rng, begun = np.random.default_rng(seed), time.monotonic()
    done = dict.fromkeys(("games", "digests", "sections", "changes", "kills", "reconnections"), 0)
    wrong: list[dict[str, Any]] = []
    played: set[str] = set()
    queue: list[Task] = []
    pages: Pages | None = None
    ticks = reported = 0
    while ticks < num_ticks:
        if not queue:
            queue = [of[number] for number in rng.permutation(len(of))]
        task, land_seed = queue.pop(), int(rng.integers(2**31))
        game = Game(task, land_seed)
        pages = pages or Pages(game.env.scene_tables())
        players = [Player(game.env, seat, pages, rng) for seat in task.seats]
        played.add(task.id)
        done["games"] += 1

        is_over, length = False, min(int(rng.integers(longest // 4, longest + 1)), num_ticks - ticks)
        for step in range(1, length + 1):
            actions = {player.seat: player.action() for player in players}
            is_over = game.step(actions)
            ticks += 1
            if not is_over and rng.random() < trouble:
                done["kills"] += 1
                if not game.die(int(rng.integers(-20, 21).clip(0))):
                    wrong.append(_wrong(task, land_seed, step, "", {"restored": "another world than before"}))
                for player in players:
                    player.connect(game.env, is_new_page=False)
            is_check = step % CHECK_EVERY == 0 or step == length or is_over
            for player in players:
                if rng.random() < trouble:
                    done["reconnections"] += 1
                    player.begin_again()
                player.send(must=is_check)
                if is_check:
                    done["digests"] += 1
                    done["sections"] += player.num_sections
                    if differs := player.wrong():
                        wrong.append(_wrong(task, land_seed, step, player.seat, differs))
            if is_over:
                break
        done["changes"] += sum(player.num_changes for player in players)
        game.env.close()
        if time.monotonic() - begun > reported + 10:
            reported = int(time.monotonic() - begun)
            hours = f"{ticks / TICKS_AN_HOUR:.3f} hours of {num_ticks / TICKS_AN_HOUR:g}"
            print(f"{reported} s: {hours}, {done}, wrong: {len(wrong)}", file=sys.stderr, flush=True)
    if pages is not None:
        pages.close()
    return {
        "hours": ticks / TICKS_AN_HOUR,
        "tasks": len(played),
        **done,
        "wrong": len(wrong),
        "frames": pages.num_frames if pages else 0,
        "kb": (pages.num_bytes if pages else 0) // 1000,
        "wall_s": round(time.monotonic() - begun, 1),
        "first_wrong": wrong[:10],
    }


def _wrong(task: Task, seed: int, step: int, seat: str, differs: dict[str, Any]) -> dict[str, Any]:
    """Where and how something was wrong; stderr gets more of it."""
    place = {"task": task.id, "seed": seed, "step": step, "seat": seat}
    print(f"wrong: {place}: {str(differs)[:2000]}", file=sys.stderr, flush=True)
    return place | {"what": sorted(differs)}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.same_world", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--hours", type=float, default=5.0, help="of the game")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    found = compare(round(chosen.hours * TICKS_AN_HOUR), chosen.seed, tasks())
    print(json.dumps(found) if chosen.json else "\n".join(f"{name:14} {value}" for name, value in found.items()))
    sys.exit(1 if found["wrong"] or not found["sections"] else 0)


if __name__ == "__main__":
    main()
