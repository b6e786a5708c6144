"""How many people can play at once: real server, real sockets, every frame decoded and checked.

    python -m bench.play --sessions 60 --seconds 20 --json
    python -m bench.play --task basalt/find_cave --sessions 2 --baseline-sessions 0 --json

A server is started as its own process on a fresh data folder; the players are WebSocket clients in another process. Each
holds random buttons for a third of a second at a time, decodes every frame and takes its hash; a player whose game ends opens
another one. Afterwards the hashes are compared with the sealed recordings, so decoding and recording are proved together.

fps of a player: frames over the time spent in games, within the window that starts when all play; every player counts.
Lateness: a frame's arrival against a grid of exact frame times through that player's earliest frame.
Players per core: as many as one core's time is enough for, all server processes together.
Exit status 1 unless the bars are met. Pictures of the block world travel as JPEG, which is not exact, so those are not hashed;
its bar is nine tenths of its rate, and how large its pictures stayed is said beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.served import served
from interplay.play.client import request_session
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameDecoder, OutOfStepError, palette_from_text
from interplay.play.connections.tokens import operator_token
from interplay.play.workers.clock import Lateness
from interplay.record.schema import frame_hash
from interplay.tasks import find

MIN_FPS = 59.9
MAX_LATENESS_P99_MS = 8.0
MIN_SHARE_OF_RATE = 0.9
"""Of the block world's frames."""
NUM_WALKING_MASKS = 32
"""The first five buttons of the block world walk and jump."""
HELD_FRAMES = 20
HEARTBEAT_FRAMES = 15
_CROWDPLAY_SERVER = ["--role", "crowdplay-server"]


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--task", default="atari/space_invaders")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--baseline-sessions", type=int, default=20, help="players of the JPEG rig; 0 leaves it out")
    parser.add_argument("--baseline-seconds", type=float, default=8.0)
    parser.add_argument("--search", action="store_true", help="find the most players each coding sustains (minutes)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--role", choices=["bench", "players"], default="bench", help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--crowdplay", action="store_true", help=argparse.SUPPRESS)
    if sys.argv[1:3] == _CROWDPLAY_SERVER:  # the rest of the line is for `interplay serve`
        _serve_crowdplay(sys.argv[3:])
        return
    options = parser.parse_args()
    if options.role == "players":
        gc.disable()
        _run(_players(options))
    else:
        _bench(options)


def _serve_crowdplay(arguments: list[str]) -> None:
    """`interplay serve` with workers that code frames as CrowdPlay does."""
    from interplay.cli import main as interplay
    from interplay.play.workers import pool

    pool.WORKER_MODULE = "bench.crowdplay_worker"
    interplay(["serve", *arguments])


def _new_loop() -> asyncio.AbstractEventLoop:
    import uvloop

    return uvloop.new_event_loop()


def _run(coroutine: Any) -> None:
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(coroutine)


# The bench


def _bench(options: argparse.Namespace) -> None:
    load = os.getloadavg()
    result: dict[str, Any] = {
        "cores": len(os.sched_getaffinity(0)),
        "load_before": [round(value, 2) for value in load],
        "interplay": measure(options, options.sessions, options.seconds, crowdplay=False),
    }
    ours = result["interplay"]
    ours["meets_bars"] = _meets_bars(ours)
    if options.baseline_sessions:
        theirs = measure(options, options.baseline_sessions, options.baseline_seconds, crowdplay=True)
        theirs["meets_bars"] = _meets_bars(theirs)
        result["jpeg_base64_json"] = theirs
        result["ratio"] = {
            "server_cpu_per_frame": round(theirs["server_cpu_us_per_frame"] / ours["server_cpu_us_per_frame"], 2),
            "bytes_per_frame": round(theirs["bytes_per_frame"] / ours["bytes_per_frame"], 1),
            "client_cpu_per_frame": round(theirs["client_cpu_us_per_frame"] / ours["client_cpu_us_per_frame"], 2),
        }
    if options.search:
        result["sustained_sessions"] = {
            name: _search(options, crowdplay=crowdplay)
            for name, crowdplay in (("interplay", False), ("jpeg_base64_json", True))
        }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        for key, value in result.items():
            print(key)
            for name, number in value.items() if isinstance(value, dict) else [("", value)]:
                print(f"  {name:28} {number}")
    if not ours["meets_bars"]:
        raise SystemExit(1)


def _meets_bars(measured: dict[str, Any]) -> bool:
    fps = measured["fps"]["min"]
    if measured["is_composed"]:
        return bool(fps >= MIN_SHARE_OF_RATE * measured["frame_rate_hz"])
    late = measured["lateness_ms"]["p99"]
    return bool(fps >= MIN_FPS and late <= MAX_LATENESS_P99_MS and measured["frames_wrong"] == 0)


def _search(options: argparse.Namespace, *, crowdplay: bool) -> int:
    """The largest of a few numbers of players that meets the bars."""
    best = 0
    for sessions in (10, 20, 30, 40, 50, 60, 80, 100, 120):
        measured = measure(options, sessions, 6.0, crowdplay=crowdplay)
        print(
            f"{'jpeg' if crowdplay else 'interplay'} {sessions}: {measured['fps']} {measured['lateness_ms']}", file=sys.stderr
        )
        if not _meets_bars(measured):
            break
        best = sessions
    return best


def measure(options: argparse.Namespace, sessions: int, seconds: float, *, crowdplay: bool) -> dict[str, Any]:
    """One run: start a server, let players play, compare what they saw with what was recorded."""
    with tempfile.TemporaryDirectory(prefix="interplay-bench-") as folder:
        data, out = Path(folder, "data"), Path(folder, "players")
        out.mkdir()
        program = ("bench.play", *_CROWDPLAY_SERVER) if crowdplay else ("interplay.cli", "serve")
        workers = ["--workers", str(options.workers)] if options.workers else []
        with served(data, *workers, program=program) as address:
            players = [sys.executable, "-m", "bench.play", "--role", "players", "--address", address, "--data", str(data)]
            players += ["--out", str(out), "--sessions", str(sessions), "--seconds", str(seconds), "--task", options.task]
            players += ["--seed", str(options.seed)] + (["--crowdplay"] if crowdplay else [])
            subprocess.run(players, check=True, timeout=seconds + 120)
        return _report(data, out, check=not crowdplay and not find(options.task).keys.compose)


def _report(data: Path, out: Path, *, check: bool) -> dict[str, Any]:
    """Numbers of one run, from what the players wrote down and what the server recorded."""
    import interplay.record

    facts = json.loads((out / "facts.json").read_text())
    begin_s, end_s = facts["window_s"]
    played = np.zeros((facts["sessions"], 2))  # of each player: frames, seconds
    lateness = []
    wrong = checked = skipped = 0
    archive = interplay.record.open(data)
    for path in sorted(out.glob("*.npz")):
        seen = np.load(path)
        steps, arrivals, hashes = seen["steps"], seen["arrivals_s"], seen["hashes"]
        ticks = arrivals[steps > 0]  # the picture before the first step waits for the start
        # From the last frame before the window to the first after it, so that a gap over its edge counts.
        first, last = max(np.searchsorted(ticks, begin_s) - 1, 0), min(np.searchsorted(ticks, end_s), len(ticks) - 1)
        if last > first:
            played[seen["player"]] += last - first, ticks[last] - ticks[first]
        inside = (arrivals >= begin_s) & (arrivals <= end_s) & (steps > 0)
        if inside.any():
            times, numbers = arrivals[inside], steps[inside]
            skipped += int(np.diff(numbers).sum()) - len(numbers) + 1
            offset = times - numbers / facts["frame_rate_hz"]
            lateness.append((offset - offset.min()) * 1000)
        if check:
            recorded = archive.get(path.stem).steps().column("frame_hash").to_numpy()
            wrong += int((recorded[steps] != hashes).sum())
            checked += len(steps)
    if not lateness:
        raise SystemExit(f"too few frames in the window: {facts}")
    late = np.concatenate(lateness)
    fps = np.divide(played[:, 0], played[:, 1], out=np.zeros(len(played)), where=played[:, 1] > 0)
    frames = facts["frames"]
    cpu_us = facts["server_cpu_s"] * 1e6 / frames
    return {
        "sessions": facts["sessions"],
        "frame_rate_hz": facts["frame_rate_hz"],
        "is_composed": facts["is_composed"],
        "episodes": len(list(out.glob("*.npz"))),
        "window_s": round(end_s - begin_s, 2),
        "load": facts["load"],
        "fps": {"min": round(float(fps.min()), 3), "median": round(float(np.median(fps)), 3)},
        "lateness_ms": {f"p{q:g}": round(float(np.percentile(late, q)), 2) for q in (50, 90, 99, 99.9)},
        "tick_lateness_ms": facts["tick_lateness_ms"],
        "stalls": facts["stalls"],
        "bytes_per_frame": round(facts["bytes"] / frames, 1),
        "server_cpu_us_per_frame": round(cpu_us, 1),
        "players_per_core": round(1e6 / facts["frame_rate_hz"] / cpu_us, 2),
        "picture_heights": facts["picture_heights"],
        "client_cpu_us_per_frame": round(facts["client_cpu_s"] * 1e6 / frames, 1),
        "cpu_percent": {name: round(100 * value / facts["elapsed_s"], 1) for name, value in facts["cpu_s"].items()},
        "frames_skipped": skipped,
        "frames_checked": checked,
        "frames_wrong": wrong,
    }


# The players


class _Player(WSListener):
    """One seat on a real WebSocket, with as little machinery as a browser has: the players share the server's cores.

    Decodes every frame, notes its step, arrival and hash, changes the held buttons every `HELD_FRAMES` frames, and says four
    times a second what it has seen.
    """

    def __init__(
        self, grant: dict[str, Any], crowdplay: bool, rng: np.random.Generator, num_masks: int, *, exact: bool = True
    ) -> None:
        loop = asyncio.get_running_loop()
        self.welcomed: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[dict[str, Any]] = loop.create_future()
        self.steps: list[int] = []
        self.arrivals_s: list[float] = []
        self.hashes: list[int] = []
        self.num_bytes = 0
        self._token = grant["token"]
        self._crowdplay = crowdplay
        self._rng, self._num_masks, self._buttons = rng, num_masks, 0
        self._decoder: Any = None
        self.heights: dict[int, int] = {}  # of its pictures, and how many there were
        self._hash = frame_hash if exact and not crowdplay else lambda pixels: 0

    async def connect(self, address: str) -> None:
        """Take the seat and wait for the welcome."""
        await ws_connect(lambda: self, address, extra_headers={"Sec-WebSocket-Protocol": wire.SUBPROTOCOL})
        await self.welcomed

    def send(self, kind: str, **fields: Any) -> None:
        """Send a JSON message."""
        self._transport.send(WSMsgType.TEXT, json.dumps({"type": kind, **fields}).encode())

    def on_ws_connected(self, transport: WSTransport) -> None:
        """Say hello."""
        self._transport = transport
        self.send("hello", token=self._token)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        """Take one message."""
        if frame.msg_type == WSMsgType.TEXT:
            self._take(json.loads(frame.get_payload_as_bytes()))
        elif frame.msg_type == WSMsgType.BINARY:
            self._see(frame.get_payload_as_bytes())
        elif frame.msg_type == WSMsgType.CLOSE:
            transport.disconnect()

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        """A seat that is lost ends the run."""
        for future in (self.welcomed, self.ended):
            if not future.done():
                future.set_exception(ConnectionError("the server closed a player's socket"))

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "welcome":
            palette = palette_from_text(message["palette"])
            decoder = FrameDecoder(message["width"], message["height"], palette)
            self._decoder = _CrowdPlayDecoder() if self._crowdplay else decoder
            self.welcomed.set_result(None)
        elif message["type"] == "ended":
            self.ended.set_result(message)
            self._transport.disconnect()
        elif message["type"] == "error":
            raise SystemExit(f"a player got an error: {message}")

    def _see(self, message: bytes) -> None:
        try:
            header = self._decoder.apply(message)
        except OutOfStepError:
            self.send("key")
            return
        self.arrivals_s.append(time.perf_counter())
        self.steps.append(header.step)
        height = self._decoder.pixels.shape[0]
        self.heights[height] = self.heights.get(height, 0) + 1
        self.hashes.append(self._hash(self._decoder.pixels))
        self.num_bytes += len(message)
        if len(self.steps) % HELD_FRAMES == 0:
            self._buttons = int(self._rng.integers(self._num_masks))
        if len(self.steps) % HEARTBEAT_FRAMES == 0 or len(self.steps) % HELD_FRAMES == 0:
            self._transport.send(WSMsgType.BINARY, wire.pack_input(self._buttons, header.step, time.perf_counter() * 1000))


async def _players(options: argparse.Namespace) -> None:
    """Play until the time is over; write what was seen to files."""
    token = operator_token(options.data)
    task = find(options.task)
    composed = task.keys.compose
    rng = np.random.default_rng(options.seed)
    ready = asyncio.Event()
    over = asyncio.Event()
    playing: set[_Player] = set()
    past = {"frames": 0, "bytes": 0}
    seen: dict[str, tuple[int, _Player]] = {}
    waiting = options.sessions

    async def player(index: int) -> None:
        nonlocal waiting
        first = True
        while not over.is_set():
            grant = await asyncio.to_thread(
                request_session,
                options.address,
                options.task,
                operator=token,
                actor=f"bench-{index}",
                actor_kind="human" if composed else "agent",  # the picture that people see
                countdown_s=0,
            )
            num_masks = NUM_WALKING_MASKS if composed else len(task.keys.table)
            one = _Player(grant, options.crowdplay, rng, num_masks, exact=not composed)
            address = "ws" + options.address.removeprefix("http") + grant["socket"]
            await one.connect(address)
            if first:
                first = False
                waiting -= 1
                if waiting == 0:
                    ready.set()
                await ready.wait()
                await asyncio.sleep(index / options.sessions)  # not all in one instant
            playing.add(one)
            one.send("start")
            stop = asyncio.create_task(over.wait())
            await asyncio.wait([stop, one.ended], return_when=asyncio.FIRST_COMPLETED)
            if not one.ended.done():
                one.send("quit")
            stop.cancel()
            ended = await one.ended
            playing.discard(one)
            past["frames"] += len(one.steps)
            past["bytes"] += one.num_bytes
            seen[ended["episode"]] = (index, one)  # written at the end: files would delay the others

    def totals() -> dict[str, int]:
        return {
            "frames": past["frames"] + sum(len(one.steps) for one in playing),
            "bytes": past["bytes"] + sum(one.num_bytes for one in playing),
        }

    players = [asyncio.create_task(player(index)) for index in range(options.sessions)]
    all_ready = asyncio.create_task(ready.wait())
    done, _ = await asyncio.wait([all_ready, *players], return_when=asyncio.FIRST_COMPLETED)
    for task_done in done:
        task_done.result()  # a player that failed ends the run
    await asyncio.sleep(3.0)  # the last has started a second ago, and everything is warm
    before = await asyncio.to_thread(_statistics, options.address, token)
    begin, own_before, counted = time.perf_counter(), time.process_time(), totals()
    await asyncio.sleep(options.seconds)
    own_after, end, counted_after = time.process_time(), time.perf_counter(), totals()
    after = await asyncio.to_thread(_statistics, options.address, token)
    load = os.getloadavg()[0]
    over.set()
    await asyncio.gather(*players)

    late: list[int] = [0] * (Lateness.BINS + 1)
    for sign, report in ((-1, before), (1, after)):
        for worker in report["workers"]:
            for index, count in worker["late_0_1ms"].items():
                late[int(index)] += sign * count
    ticks = Lateness(late)
    workers = sum(w["cpu_s"] for w in after["workers"]) - sum(w["cpu_s"] for w in before["workers"])
    web = after["cpu_s"] - before["cpu_s"]
    sealer = after["sealer"]["cpu_s"] - before["sealer"]["cpu_s"]
    heights: dict[int, int] = {}
    for _, one in seen.values():
        for height, count in one.heights.items():
            heights[height] = heights.get(height, 0) + count
    facts = {
        "sessions": options.sessions,
        "window_s": [begin, end],
        "elapsed_s": end - begin,
        "frame_rate_hz": task.frame_rate_hz,
        "is_composed": composed,
        "picture_heights": heights,
        "load": round(load, 2),
        "frames": counted_after["frames"] - counted["frames"],
        "bytes": counted_after["bytes"] - counted["bytes"],
        "server_cpu_s": workers + web + sealer,
        "client_cpu_s": own_after - own_before,
        "cpu_s": {"workers": workers, "web": web, "sealer": sealer, "clients": own_after - own_before},
        "tick_lateness_ms": {f"p{q:g}": ticks.quantile_ms(q / 100) for q in (50, 99, 99.9)},
        "stalls": sum(worker["num_stalls"] for worker in after["workers"]),
    }
    (options.out / "facts.json").write_text(json.dumps(facts))
    for episode, (index, one) in seen.items():
        arrays = {
            "steps": np.array(one.steps),
            "arrivals_s": np.array(one.arrivals_s),
            "hashes": np.array(one.hashes, np.uint32),
        }
        np.savez(options.out / f"{episode}.npz", player=index, **arrays)


class _CrowdPlayDecoder:
    """What a browser does with CrowdPlay's messages: parse, undo base64, decode the JPEG."""

    step = 0

    def apply(self, message: bytes) -> Any:
        """Decode one message."""
        import simplejpeg

        header = wire.unpack_header(message)
        document = json.loads(message[wire.HEADER_BYTES :])
        self.pixels = simplejpeg.decode_jpeg(base64.b64decode(document["obs"]["image"].partition(",")[2]))
        self.step = header.step
        return header

    def frame(self) -> Any:
        """The picture now."""
        from interplay.envs import Frame

        return Frame(self.pixels)


def _statistics(address: str, token: str) -> dict[str, Any]:
    request = urllib.request.Request(f"{address}/api/play/statistics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
