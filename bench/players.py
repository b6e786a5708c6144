"""The players of `bench.play`: WebSocket clients in one process, which it starts with `--role players`."""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import time
import urllib.request
from contextlib import closing
from typing import Any

import numpy as np
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.partners import POLICY, single_call_us
from interplay.envs import make
from interplay.play.client import request_session
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameDecoder, palette_from_text
from interplay.play.connections.tokens import operator_token
from interplay.play.workers.clock import Lateness
from interplay.record.format.schema import frame_hash
from interplay.tasks import Task, find

NUM_WALKING_MASKS = 32
"""The first five buttons of the block world walk and jump."""
HELD_FRAMES = 20
HEARTBEAT_FRAMES = 15


def run(coroutine: Any) -> None:
    """Run it to its end, on the quicker event loop."""
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(coroutine)


class Player(WSListener):
    """One seat on a real WebSocket, with as little machinery as there can be: the players share the server's cores.

    Keeps every frame with its step and arrival, changes the held buttons every `HELD_FRAMES` frames, and says four times a
    second what it has seen. Frames are decoded when all have played: each browser decodes on a machine of its own, and one
    process that decoded for all would keep the others' frames waiting, and take the cores that the server is measured on.
    """

    def __init__(
        self,
        grant: dict[str, Any],
        crowdplay: bool,
        rng: np.random.Generator,
        num_masks: int,
        *,
        exact: bool,
        in_colours: bool = False,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.welcomed: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[dict[str, Any]] = loop.create_future()
        self.steps: list[int] = []
        self.arrivals_s: list[float] = []
        self.num_bytes = 0
        self._token = grant["token"]
        self._crowdplay = crowdplay
        self._rng, self._num_masks, self._buttons = rng, num_masks, 0
        self._decoder: Any = None
        self._frames: list[bytes] = []
        self._is_exact, self._in_colours = exact and not crowdplay, in_colours

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
        elif message["type"] == "palette":  # it only grows: the last one is right for all pictures
            self._decoder.palette = palette_from_text(message["palette"])
        elif message["type"] == "ended":
            self.ended.set_result(message)
            self._transport.disconnect()
        elif message["type"] == "error":
            raise SystemExit(f"a player got an error: {message}")

    def _see(self, message: bytes) -> None:
        header = wire.unpack_header(message)
        if header.kind == wire.DELTA_FRAME and (not self.steps or header.base_step != self.steps[-1]):
            self.send("key")
            return
        self.arrivals_s.append(time.perf_counter())
        self.steps.append(header.step)
        self._frames.append(message)
        self.num_bytes += len(message)
        if len(self.steps) % HELD_FRAMES == 0:
            self._buttons = int(self._rng.integers(self._num_masks))
        if len(self.steps) % HEARTBEAT_FRAMES == 0 or len(self.steps) % HELD_FRAMES == 0:
            self._transport.send(WSMsgType.BINARY, wire.pack_input(self._buttons, header.step, time.perf_counter() * 1000))

    def decoded(self) -> tuple[np.ndarray, dict[int, int]]:
        """The hash of every frame as the recording hashes it, uint32, shape (F,), 0 where the picture is not exact; and their
        heights, with how many there were. Once."""
        hashes, heights = np.zeros(len(self._frames), np.uint32), {}
        for number, message in enumerate(self._frames):
            kind = self._decoder.apply(message).kind
            pixels = self._decoder.pixels
            heights[pixels.shape[0]] = heights.get(pixels.shape[0], 0) + 1
            if self._is_exact and kind != wire.JPEG_FRAME:
                hashes[number] = frame_hash(self._decoder.frame().rgb() if self._in_colours else pixels)
        self._frames.clear()
        return hashes, heights


async def play(options: argparse.Namespace) -> None:
    """Play until the time is over; write what was seen to files."""
    token = operator_token(options.data)
    task = find(options.task)
    composed = task.keys.compose
    in_colours = not composed and _gives_colours(task)
    rng = np.random.default_rng(options.seed)
    ready = asyncio.Event()
    over = asyncio.Event()
    playing: set[Player] = set()
    past = {"frames": 0, "bytes": 0}
    seen: list[tuple[str, int, Player]] = []
    partners = _partners(options.sessions, len(task.seats))
    waiting = len(partners)

    async def player(index: int) -> None:
        nonlocal waiting
        first = True
        wanted = {} if partners[index] is None else {"partner": partners[index]}
        while not over.is_set():
            grant = await asyncio.to_thread(
                request_session,
                options.address,
                options.task,
                operator=token,
                actor=f"bench-{index}",
                actor_kind="human" if composed else "agent",  # the picture that people see
                countdown_s=0,
                **wanted,
            )
            num_masks = NUM_WALKING_MASKS if composed else len(task.keys.table)
            one = Player(grant, options.crowdplay, rng, num_masks, exact=not composed, in_colours=in_colours)
            address = "ws" + options.address.removeprefix("http") + grant["socket"]
            await one.connect(address)
            if first:
                first = False
                waiting -= 1
                if waiting == 0:
                    ready.set()
                await ready.wait()
                await asyncio.sleep(index / len(partners))  # not all in one instant
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
            if ended["episode"] is not None:
                seen.append((ended["episode"], index, one))  # written at the end: files would delay the others
            elif any(one.steps):
                raise RuntimeError(f"player {index} saw {max(one.steps)} steps of a game that left no episode")

    def totals() -> dict[str, int]:
        return {
            "frames": past["frames"] + sum(len(one.steps) for one in playing),
            "bytes": past["bytes"] + sum(one.num_bytes for one in playing),
        }

    players = [asyncio.create_task(player(index)) for index in range(len(partners))]
    all_ready = asyncio.create_task(ready.wait())
    done, _ = await asyncio.wait([all_ready, *players], return_when=asyncio.FIRST_COMPLETED)
    for task_done in done:
        task_done.result()  # a player that failed ends the run
    await asyncio.sleep(3.0)  # the last has started a second ago, and everything is warm
    alone_us = None
    if POLICY in partners:  # meanwhile the agents get over their first calls, which take longer
        alone_us = await asyncio.to_thread(single_call_us, options.data / "models" / POLICY, task)
    before = await asyncio.to_thread(statistics, options.address, token)
    begin, own_before, counted = time.perf_counter(), time.process_time(), totals()
    await asyncio.sleep(options.seconds)
    own_after, end, counted_after = time.process_time(), time.perf_counter(), totals()
    after = await asyncio.to_thread(statistics, options.address, token)
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
    names = ("num_decisions", "num_calls", "cpu_s")  # none where no agent has decided yet
    decided = {name: (after["agents"] or {}).get(name, 0) - (before["agents"] or {}).get(name, 0) for name in names}
    heights: dict[int, int] = {}
    begun_s = time.process_time()
    for number, (episode, index, one) in enumerate(seen):
        hashes, of_one = one.decoded()
        for height, count in of_one.items():
            heights[height] = heights.get(height, 0) + count
        steps, arrivals_s = np.array(one.steps), np.array(one.arrivals_s)
        place = options.out / f"{number}.npz"
        np.savez(place, player=index, episode=episode, steps=steps, arrivals_s=arrivals_s, hashes=hashes)
    decoding_s = (time.process_time() - begun_s) / max(sum(heights.values()), 1)
    frames = counted_after["frames"] - counted["frames"]
    facts = {
        "players": len(partners),
        "sessions": options.sessions,
        "window_s": [begin, end],
        "elapsed_s": end - begin,
        "frame_rate_hz": task.frame_rate_hz,
        "is_composed": composed,
        "picture_heights": heights,
        "load": round(load, 2),
        "frames": frames,
        "bytes": counted_after["bytes"] - counted["bytes"],
        "server_cpu_s": workers + web + sealer + decided["cpu_s"],
        "client_cpu_us": ((own_after - own_before) / max(frames, 1) + decoding_s) * 1e6,
        "cpu_s": {
            "workers": workers,
            "web": web,
            "sealer": sealer,
            "agents": decided["cpu_s"],
            "clients": own_after - own_before,
        },
        "tick_lateness_ms": {f"p{q:g}": ticks.quantile_ms(q / 100) for q in (50, 99, 99.9)},
        "stalls": sum(worker["num_stalls"] for worker in after["workers"]),
    }
    if alone_us is not None:
        facts["agents"] = {
            "games": partners.count(POLICY),
            "alone_us_per_call": alone_us,
            "late": _grown(before, after, "num_late"),
            "due": _grown(before, after, "num_decisions"),
            **decided,
        }
    (options.out / "facts.json").write_text(json.dumps(facts))


def _gives_colours(task: Task) -> bool:
    """Whether a world's pictures are colours. The wire numbers those; recordings hash the picture as the world gives it."""
    with closing(make(task)) as env:
        env.reset(seed=0)
        return env.view().palette is None


def _partners(num_games: int, num_seats: int) -> list[str | None]:
    """For each player the agent in the other seat: None where there is none, or where the next person who comes sits.

    Of games for two every second one is played with an agent.
    """
    if num_seats == 1:
        return [None] * num_games
    with_agents = num_games // 2
    return [None, None] * (num_games - with_agents) + [POLICY] * with_agents


def _grown(before: dict[str, Any], after: dict[str, Any], name: str) -> int:
    """Of a number that all workers count."""
    return sum(worker[name] for worker in after["workers"]) - sum(worker[name] for worker in before["workers"])


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


def statistics(address: str, token: str) -> dict[str, Any]:
    """What the server says of its work."""
    request = urllib.request.Request(f"{address}/api/play/statistics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)
