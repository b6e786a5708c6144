"""Run the whole loop with scripted players and judges on the real server, recorder and trainer.

Programs replace people: scripted players connect to the server's web sockets, scripted judges use its HTTP interface.
Everything in between is the same as in a study: recording, behaviour cloning, rollouts on held-out seeds, matchmaking, ratings.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import interplay.record
from interplay import agents
from interplay.agents.evaluate import evaluate, worthwhile_processes
from interplay.errors import InterplayError
from interplay.jobs import Executor
from interplay.judge.scripted import ScriptedJudge
from interplay.learn import BCConfig, train
from interplay.play.client import PlayClient, PlayClientError
from interplay.play.connections.tokens import operator_token
from interplay.store import judging
from interplay.tasks import Task, find
from interplay.wording import amount

Reporter = Callable[[str, float, float], None]
"""Called with the name of a stage, the amount done so far, and the total amount."""

PLAYER = "scripted-player"
MODEL = "bc"
AGENTS = ("random", "scripted", MODEL)


class DemoError(InterplayError):
    """A part of the demonstration failed."""


@dataclass(frozen=True)
class DemoSettings:
    """Sizes of the demonstration: players, training, rollouts and judges.

    Attributes:
        num_players: Scripted players that play at the same time.
        play_s: Seconds of game time that each of them plays.
        updates: Number of gradient steps in training.
        num_seeds: Number of held-out seeds that each agent plays.
        rollout_s: Longest rollout, in seconds of play.
        num_judges, num_answers: Number of scripted judges, and the total number of their answers.
    """

    task: str = "atari/space_invaders"
    num_players: int = 16
    play_s: float = 180.0
    updates: int = 8000
    num_seeds: int = 11
    rollout_s: float = 300.0
    num_judges: int = 8
    num_answers: int = 120
    seed: int = 0

    @classmethod
    def fast(cls, seed: int = 0) -> DemoSettings:
        """Return settings that take three minutes on two idle cores, and longer on a busy machine."""
        return cls(play_s=45, updates=2000, num_seeds=5, rollout_s=60, num_answers=60, seed=seed)


@dataclass
class DemoResult:
    """The results of a demonstration; `interplay demo --json` prints `to_json`."""

    settings: DemoSettings
    leaderboard: list[dict[str, Any]] = field(default_factory=list)
    mean_returns: dict[str, float] = field(default_factory=dict)
    demonstrations: int = 0
    demonstration_steps: int = 0
    updates: int = 0
    episodes: int = 0
    answers: int = 0
    stages_s: dict[str, float] = field(default_factory=dict)
    wall_s: float = 0.0
    data: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def run_demo(data: Path, settings: DemoSettings, report: Reporter = lambda stage, done, total: None) -> DemoResult:
    """Play, learn, roll out, judge and rank (DemoError if a stage fails).
    Everything stays in `data`, so that `interplay serve` can show it."""
    begin = time.monotonic()
    task = find(settings.task)
    archive = interplay.record.open(data)
    if there := len(archive.episodes()):
        raise DemoError(
            f"{data} already holds {amount(there, 'episode')}, but a demonstration needs an empty folder.\n"
            "Choose another folder with --data, or look at what is there:  interplay serve --data " + str(data)
        )
    result = DemoResult(settings, data=str(data))

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        result.stages_s[name] = round(time.monotonic() - started, 1)

    with serving(data) as address:
        operator = operator_token(data)
        with stage("play"):
            _all_play(address, operator, task, settings, report)
    demonstrations = archive.episodes(task=task.id, actor=PLAYER, task_hash=task.content_hash)
    result.demonstrations = len(demonstrations)
    result.demonstration_steps = sum(episode.num_steps for episode in demonstrations)
    if not demonstrations:
        raise DemoError("the scripted players recorded nothing; see server.log in the data folder")

    with stage("learn"):
        # By updates, never by time: on a busy machine the same policy takes longer.
        config = BCConfig.fast(task.id, actor=PLAYER, seed=settings.seed, updates=settings.updates, max_seconds=0)
        trained = train(archive, config, MODEL, on_update=lambda done, total: report("learn", done, total))
        result.updates = trained.updates
    with stage("roll out"):
        result.mean_returns = _roll_out(archive, task, settings, report)

    with serving(data) as address:
        try:
            with stage("judge"):
                _judge(address, operator_token(data), archive, task, settings, report)
            answer = httpx.get(  # as an operator: others see it in steps of several answers
                f"{address}/api/leaderboard",
                params={"task": task.id},
                headers={"Authorization": f"Bearer {operator_token(data)}"},
                timeout=30,
            )
            board = answer.raise_for_status().json()
        except httpx.HTTPError as error:
            raise DemoError(f"judging over HTTP failed: {error}; see server.log in the data folder") from error
    result.leaderboard = board["rows"]
    result.answers = board["num_answers"]
    result.episodes = len(archive.episodes(task=task.id))
    result.wall_s = round(time.monotonic() - begin, 1)
    return result


@contextmanager
def serving(data: Path) -> Iterator[str]:
    """Start a real server in its own process, on a free port of this machine, and yield its address.
    Raises DemoError if it does not start."""
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "interplay.cli", "serve", "--data", str(data), "--port", str(port), "--empty"]
    with (data / "server.log").open("ab") as log:
        # Ctrl-C goes to every process of a terminal's group; this one is stopped when the players have left.
        # Nothing of the demonstration may enter a database that the environment names.
        of_its_own = os.environ | {"INTERPLAY_DATABASE": "", "INTERPLAY_BLOBS": ""}
        server = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, process_group=0, env=of_its_own)
    try:
        deadline = time.monotonic() + 60
        http = httpx.Client(base_url=address, timeout=5)
        while True:
            with contextlib.suppress(httpx.TransportError):
                if http.get("/healthz").is_success:
                    break
            if server.poll() is not None or time.monotonic() > deadline:
                tail = (data / "server.log").read_text(errors="replace")[-2000:]
                raise DemoError(f"the server did not start; the end of {data / 'server.log'}:\n{tail}")
            time.sleep(0.05)
        http.close()
        yield address
    finally:
        server.send_signal(signal.SIGINT)  # which ends games and seals them
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _all_play(address: str, operator: str, task: Task, settings: DemoSettings, report: Reporter) -> None:
    try:
        asyncio.run(_play(address, operator, task, settings, report))
    except* PlayClientError as failures:
        raise DemoError(f"a scripted player lost its seat: {failures.exceptions[0]}") from failures


async def _play(address: str, operator: str, task: Task, settings: DemoSettings, report: Reporter) -> None:
    """Let all players play at once, each for its share of game time, so that a busy machine yields the same demonstrations."""
    steps = round(settings.play_s * task.frame_rate_hz)
    played = [0] * settings.num_players

    def tell(number: int, num_steps: int) -> None:
        played[number] = num_steps
        report("play", sum(played), steps * settings.num_players)

    async with asyncio.TaskGroup() as group:
        for number in range(settings.num_players):
            rng = np.random.default_rng((settings.seed, number))
            group.create_task(_player(address, operator, task, steps, rng, partial(tell, number)))


async def _player(
    address: str, operator: str, task: Task, steps: int, rng: np.random.Generator, tell: Callable[[int], None]
) -> None:
    played = 0
    while played < steps:
        seed = int(rng.integers(2**31))
        if seed in task.held_out_seeds:
            continue
        player = agents.ScriptedPlayer(task, rng=rng)
        wanted = {"actor": PLAYER, "actor_kind": "agent", "seed": seed, "countdown_s": 0}
        async with await PlayClient.open(address, task.id, operator=operator, **wanted) as client:
            await client.start()
            played += await _one_game(client, task, player, steps - played, lambda step, before=played: tell(before + step))
        tell(min(played, steps))


async def _one_game(
    client: PlayClient, task: Task, player: agents.ScriptedPlayer, steps: int, tell: Callable[[int], None]
) -> int:
    """Play until the game is over or `steps` steps are made; return the number of steps.

    The player always looks at the newest frame: on a busy machine frames arrive in bursts, and a player who took them one by
    one would act on ever older ones.
    """
    newest = asyncio.Event()

    async def watch() -> None:  # until the server says that the episode has ended and is on disk
        async for _ in client.frames():
            newest.set()

    watching = asyncio.create_task(watch())
    watching.add_done_callback(lambda _: newest.set())
    leaving = False
    try:
        while not watching.done():
            await newest.wait()
            newest.clear()
            if leaving or client.header is None or watching.done():
                continue
            await client.press(task.keys.mask_of_action(player.act(client.decoder.pixels)))
            tell(min(client.header.step, steps))
            if client.header.step >= steps:
                await client.quit()
                leaving = True
        await watching
    finally:  # interrupted: nobody is left who asks how it ended
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    assert client.ended is not None
    return client.ended["num_steps"]


def _roll_out(archive: interplay.record.Archive, task: Task, settings: DemoSettings, report: Reporter) -> dict[str, float]:
    seeds = task.held_out_seeds[: settings.num_seeds]
    max_steps = round(settings.rollout_s * task.frame_rate_hz)
    means = {}
    for place, name in enumerate(AGENTS):
        episodes = evaluate(
            archive,
            task,
            name,
            seeds,
            seed=settings.seed,
            max_steps=max_steps,
            executor=Executor(worthwhile_processes(task, len(seeds), max_steps)),
            report=lambda done, _, place=place: report("roll out", place * len(seeds) + done, len(AGENTS) * len(seeds)),
        )
        means[name] = float(np.mean([episode.total_reward for episode in episodes]))
    return means


def _judge(
    address: str, operator: str, archive: interplay.record.Archive, task: Task, settings: DemoSettings, report: Reporter
) -> None:
    """Let several scripted judges answer over HTTP at the same time.

    These judges cannot watch videos, so they look up the returns of both episodes in the catalogue. The page for people
    shows neither returns nor names.
    """
    headers = {"Authorization": f"Bearer {operator}"}
    tickets = iter(range(settings.num_answers))
    answered = 0

    def work(number: int) -> None:
        nonlocal answered
        judge = ScriptedJudge(f"scripted-judge-{number + 1}")
        rng = np.random.default_rng((settings.seed, 1000 + number))
        with httpx.Client(base_url=address, headers=headers, timeout=60) as http:
            for _ in tickets:  # one shared supply: next() on it is atomic
                match = _served(http, task, judge.name)
                left, right = _returns(archive, match["match"])
                form = judge.form(match["questions"], left, right, rng) | {"judge": judge.name}
                http.post(f"/api/judge/matches/{match['match']}/answer", json=form).raise_for_status()
                answered += 1
                report("judge", answered, settings.num_answers)

    with ThreadPoolExecutor(settings.num_judges) as pool:
        for future in [pool.submit(work, number) for number in range(settings.num_judges)]:
            future.result()


def _served(http: httpx.Client, task: Task, judge: str) -> dict[str, Any]:
    """Return a match for this judge; if other judges hold all pairs, wait until one is free."""
    for _ in range(600):  # a minute
        answer = http.post("/api/judge/matches", json={"task": task.id, "judge": judge})
        if answer.status_code == 201:
            return answer.json()
        if answer.status_code not in (404, 409):
            answer.raise_for_status()
        time.sleep(0.1)
    raise DemoError(f"the server had no match for {judge} in a minute of requests; see server.log in the data folder")


def _returns(archive: interplay.record.Archive, match_id: str) -> tuple[float, float]:
    with archive.database.read() as session:
        match = judging.match_by_id(session, match_id)
    if match is None:
        raise DemoError(f"the match {match_id} is not in the database; is another server using it?")
    return archive.get(match.left_episode_id).total_reward, archive.get(match.right_episode_id).total_reward
