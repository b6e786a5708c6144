"""How many people can play in the block world at once when their browsers draw it: real server and sockets, every byte decoded.

    python -m bench.play_world --sessions 50 --seconds 60 --json

A server is started as its own process on a fresh data folder. First a few players are sent pictures, then all are sent scenes.
Each walks, looks around, breaks what is before them, and asks for the land until they have all of it. When all have played,
every scene and part of the land is decoded, with a digest of the cells and the light that a player knew after each second. Then
the recordings are played again, and the digests compared with those of the world at the same step: the server needs no route
that tells them.

hz of a player: frames over time within the window, until their game ended; who died sooner is named on stderr. p99: a frame's
arrival against a grid of exact frame times through that player's earliest frame, ms. kb_s: of one player, land not counted.
cpu_ms_per_tick: of all server processes, for one player's tick. ratio: that with pictures over that with scenes; a server that
cannot keep up draws smaller pictures, which lowers it.
Exit status 1 unless every player has nine tenths of the rate and no digest is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from picows import WSMsgType

import interplay.record
from bench.play import MIN_SHARE_OF_RATE
from bench.players import NUM_WALKING_MASKS, Player, run, statistics
from bench.served import served
from blockworld.scene import packing
from blockworld.scene.decoder import SceneDecoder
from blockworld.scene.land import SECTION
from interplay.envs import make
from interplay.envs.voxel.env import VoxelEnv
from interplay.play.client import request_session
from interplay.play.connections import wire
from interplay.play.connections.tokens import operator_token
from interplay.tasks import find

TASK = "basalt/find_cave"
DIGEST_EVERY_FRAMES = 20
HELD_FRAMES = 20
LAND_EVERY_FRAMES = 5
SETTLE_S = 3.0
LEAST_S = 5.0
"""Of a shorter game, the rate says nothing."""


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--task", default=TASK)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--picture-sessions", type=int, default=2, help="players that are sent pictures, for the ratio")
    parser.add_argument("--picture-seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--role", choices=["bench", "players"], default="bench", help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role == "players":
        gc.disable()
        run(_both(options))
    else:
        _bench(options)


def _bench(options: argparse.Namespace) -> None:
    """Start a server, let people play, compare what they know with what was recorded."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="interplay-bench-") as folder:
        data, out = Path(folder, "data"), Path(folder, "players")
        out.mkdir()
        workers = ["--workers", str(options.workers)] if options.workers else []
        with served(data, "--max-drawn-games", str(options.sessions), *workers) as address:
            players = [sys.executable, "-m", "bench.play_world", *sys.argv[1:], "--role", "players"]
            players += ["--address", address, "--data", str(data), "--out", str(out)]
            subprocess.run(players, check=True, timeout=2 * (options.seconds + options.picture_seconds) + 600)
        facts = json.loads((out / "facts.json").read_text())
        digests = json.loads((out / "digests.json").read_text())
        checked, wrong = _compare(data, digests)
    result = {
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(load, 2),
        **facts,
        "digests_checked": checked,
        "digests_wrong": wrong,
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for name, value in result.items():
            print(f"{name:28} {value}")
    if facts["hz_min"] < MIN_SHARE_OF_RATE * find(options.task).frame_rate_hz or wrong or not checked:
        raise SystemExit(1)


def _compare(data: Path, digests: dict[str, list[tuple[int, str, str]]]) -> tuple[int, int]:
    """How many digests there are, and how many are not those of the recording played again."""
    archive = interplay.record.open(data)
    checked = wrong = 0
    for episode_id, taken in digests.items():
        episode = archive.get(episode_id)
        env = make(episode.task)
        assert isinstance(env, VoxelEnv)
        env.reset(seed=episode.seed)
        step = 0
        actions = episode.joint_actions()
        for at, known, digest in taken:
            while step < min(at, episode.num_steps):
                env.step_unseen(actions[step])
                step += 1
            grid = env.world.grid
            sections = tuple(side // SECTION for side in grid.blocks.shape)
            mask = np.unpackbits(np.frombuffer(bytes.fromhex(known), np.uint8))[: np.prod(sections)].reshape(sections)
            checked += 1
            wrong += digest != _digest(grid.blocks, grid.light, mask)
        env.close()
    return checked, wrong


def _digest(blocks: np.ndarray, light: np.ndarray, known: np.ndarray) -> str:
    """Of the cells and the light in the known sections.

    Args:
        blocks, light: uint16 and uint8, shape (SX, SZ, SY).
        known: bool, shape (SX / 16, SZ / 16, SY / 16): the sections that count.
    """
    hasher = xxhash.xxh3_64()
    for x, z, y in np.argwhere(known):
        box = tuple(slice(corner * SECTION, corner * SECTION + SECTION) for corner in (x, z, y))
        hasher.update(blocks[box].tobytes())
        hasher.update(light[box].tobytes())
    return hasher.hexdigest()


class _ScenePlayer(Player):
    """A player whose browser would draw: asks for the land, looks around by absolute angles, and keeps what it is sent.

    Only what it answers to is read while people play. Each browser decodes on a machine of its own; one process that decodes
    and digests for all of them would keep the others' frames waiting, and take the cores that the server is measured on.
    """

    def __init__(self, grant: dict[str, Any], rng: np.random.Generator) -> None:
        super().__init__(grant, False, rng, NUM_WALKING_MASKS, exact=False)
        self.num_land_bytes = 0
        self._messages: list[bytes] = []
        self._left = 0
        self._yaw = 0.0

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "welcome":
            assert message["scene"], "this server sends no scenes of this task"
            self.send("scene", drawn="here", gui_width=320, gui_height=180)
        super()._take(message)

    def _see(self, message: bytes) -> None:
        kind, now = message[0], time.perf_counter()
        if kind not in (wire.SCENE_FRAME, wire.LAND_FRAME):
            return  # the picture that came with the welcome
        header = wire.unpack_header(message)
        self._messages.append(message)
        document, _ = packing.unpack(packing.inflate(message[wire.HEADER_BYTES :]))
        self._left = document.get("left", self._left)
        if kind == wire.LAND_FRAME:
            self.num_land_bytes += len(message)
            if self._left:
                self.send("land", parts=1)
            return
        if header.flags & wire.FRESH or (self._left and len(self.steps) % LAND_EVERY_FRAMES == 0):
            self.send("land", parts=2)  # where land is hidden more comes into sight all the time
        self.arrivals_s.append(now)
        self.steps.append(header.step)
        self.num_bytes += len(message)
        if len(self.steps) % HELD_FRAMES == 0:
            self._buttons = int(self._rng.integers(self._num_masks)) | int(self._rng.random() < 0.5) << 7  # attack
        if len(self.steps) % 5 == 0:
            self._yaw = (self._yaw + float(self._rng.normal(0, 8)) + 180) % 360 - 180
            look = (float(self._rng.uniform(-10, 50)), self._yaw)
            held = wire.pack_input(self._buttons, header.step, now * 1000, look=look)
            self._transport.send(WSMsgType.BINARY, held)

    def digests(self) -> list[tuple[int, str, str]]:
        """Step, known sections and digest of what a page knew, for one scene in `DIGEST_EVERY_FRAMES`."""
        scene, num_scenes, found = SceneDecoder(), 0, []
        for message in self._messages:
            scene.apply(message[0], message[wire.HEADER_BYTES :])
            num_scenes += message[0] == wire.SCENE_FRAME
            if message[0] == wire.SCENE_FRAME and num_scenes % DIGEST_EVERY_FRAMES == 0:
                known = scene.known[::SECTION, ::SECTION, ::SECTION]
                digest = _digest(scene.blocks, scene.light, known)
                found.append((wire.unpack_header(message).step, np.packbits(known).tobytes().hex(), digest))
        return found


async def _both(options: argparse.Namespace) -> None:
    """Play with pictures, then with scenes; write what was measured to files."""
    rate = find(options.task).frame_rate_hz
    ratio: dict[str, float] = {}
    if options.picture_sessions:
        pictures, _ = await _play(options, options.picture_sessions, options.picture_seconds, scenes=False)
        ratio = {"cpu_ms_per_tick_with_pictures": pictures["cpu_ms_per_tick"]}
    facts, digests = await _play(options, options.sessions, options.seconds, scenes=True)
    if ratio:
        ratio["ratio"] = round(ratio["cpu_ms_per_tick_with_pictures"] / facts["cpu_ms_per_tick"], 2)
    facts = {"players": options.sessions, "frame_rate_hz": rate, **facts, **ratio}
    (options.out / "facts.json").write_text(json.dumps(facts))
    (options.out / "digests.json").write_text(json.dumps(digests))


async def _play(
    options: argparse.Namespace, sessions: int, seconds: float, *, scenes: bool
) -> tuple[dict[str, Any], dict[str, list[tuple[int, str, str]]]]:
    """Let so many people play so long."""
    token = operator_token(options.data)
    rng = np.random.default_rng(options.seed)
    players: list[Player] = []
    ended_s: dict[int, float] = {}
    for index in range(sessions):  # one after another: the lands are made meanwhile
        grant = await asyncio.to_thread(
            request_session,
            options.address,
            options.task,
            operator=token,
            actor=f"bench-{index}",
            actor_kind="human",  # the picture that people see
            seed=options.seed + index,
            countdown_s=0,
            drawn="here" if scenes else "server",
        )
        one = _ScenePlayer(grant, rng) if scenes else Player(grant, False, rng, NUM_WALKING_MASKS, exact=False)
        await one.connect("ws" + options.address.removeprefix("http") + grant["socket"])
        one.ended.add_done_callback(lambda _, index=index: ended_s.__setitem__(index, time.perf_counter()))
        players.append(one)
    for one in players:
        one.send("start")
    await asyncio.sleep(SETTLE_S)
    before = await asyncio.to_thread(statistics, options.address, token)
    begin, counted = time.perf_counter(), sum(one.num_bytes for one in players)
    await asyncio.sleep(seconds)
    end, num_bytes = time.perf_counter(), sum(one.num_bytes for one in players) - counted
    after = await asyncio.to_thread(statistics, options.address, token)
    over = dict(ended_s)
    for index, one in enumerate(players):
        if index not in over:
            one.send("quit")
    ended = [await one.ended for one in players]
    for index in over:
        print(f"player {index}: the game was over before the end: {ended[index]}", file=sys.stderr)
    rates, late, frames = [], [], 0
    for index, one in enumerate(players):
        arrivals, steps = np.array(one.arrivals_s), np.array(one.steps)
        inside = (arrivals >= begin) & (arrivals <= end)
        frames += int(inside.sum())
        if (lasted_s := over.get(index, end) - begin) >= LEAST_S:
            rates.append(inside.sum() / lasted_s)
        offset = arrivals[inside] - steps[inside] / find(options.task).frame_rate_hz
        late.append((offset - offset.min()) * 1000 if len(offset) else np.array([np.inf]))
    cpu_s = after["cpu_s"] - before["cpu_s"] + after["sealer"]["cpu_s"] - before["sealer"]["cpu_s"]
    cpu_s += sum(one["cpu_s"] for one in after["workers"]) - sum(one["cpu_s"] for one in before["workers"])
    facts = {
        "hz_min": round(float(min(rates)), 2),
        "hz_median": round(float(np.median(rates)), 2),
        "p99_ms": round(float(np.percentile(np.concatenate(late), 99)), 2),
        "kb_s": round(num_bytes / 1000 / (end - begin) / sessions, 2),
        "cpu_ms_per_tick": round(1000 * cpu_s / max(1, frames), 3),
    }
    digests = {end["episode"]: one.digests() for end, one in zip(ended, players, strict=True) if isinstance(one, _ScenePlayer)}
    if scenes:
        land = [one.num_land_bytes for one in players if isinstance(one, _ScenePlayer)]
        facts["land_kb"] = round(sum(land) / 1000 / sessions, 1)
    return facts, digests


if __name__ == "__main__":
    main()
