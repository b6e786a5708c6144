"""Make the starter set: what a new data folder is filled with, and the pictures of the tasks.

    python tools/make_starter.py            # makes what is missing or of an older task; all of it takes some ten minutes
    python tools/make_starter.py --again    # makes everything anew: after a change of the world, an agent or the pictures
    python tools/make_starter.py --check    # proves what is there: sizes, hashes, and every recording by replay

The built-in agents play half a minute of every task that has a player, on held-out seeds, recorded by replay and filmed. All of
it goes into `interplay/starter/` (read `interplay/starter/__init__.py`) and `interplay/web/static/tasks/`. The same code
and the same libraries make the same bytes. Commit the result once: films stay in the history of a repository for ever.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import simplejpeg
import zstandard

import interplay.record
from interplay import starter
from interplay.agents import rollout
from interplay.agents.find import find as find_agent
from interplay.agents.scripted import has_player
from interplay.cli.output import progress_bar
from interplay.envs import Frame, make
from interplay.envs.pictures import png
from interplay.explore import published
from interplay.explore.evaluation import metrics, runs
from interplay.explore.evaluation.inspect_task import evaluate
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import load
from interplay.explore.oracle.recording import prove_files
from interplay.files import write_bytes, write_json
from interplay.jobs import Executor
from interplay.judge.scripted import ScriptedJudge
from interplay.parallel import process_pool
from interplay.record import OUTCOME_CHECK_SUCCESS, Episode
from interplay.record.films.film import write_mp4
from interplay.record.verification.verify import verify_file
from interplay.tasks import Task, builtin_suites, find
from interplay.web.pictures import SHIPPED, shipped_picture

AGENTS = ("random", "scripted")
SECONDS = {"atari": 30.0, "basalt": 20.0, "first-person": 10.0}
MORE_SECONDS = {"basalt/create_village_animal_pen": 28.0, "basalt/build_village_house": 25.0}
"""Length of play, by suite and by task."""
NUM_SEEDS = {"atari": 2, "basalt": 1, "first-person": 1}
"""One pair of each task of the block world is what fits: its films are ten times as large."""
SEEDS = {
    # Where the scripted player is done within the time.
    "basalt/find_cave": (65101,),
    "basalt/make_waterfall": (70373,),
    "basalt/create_village_animal_pen": (57764,),
}
"""Held-out seeds of a task, where the first of its list show little."""
EXPLORED = ["explore/0006", "explore/0007", "explore/0013"]
"""Tasks that the oracle proves and scripted models play."""
NUM_JUDGES = 4
"""Programs that answer about each pair."""
MADE_AT = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)
"""Date of all recordings, a constant so that they are the same bytes whenever they are made."""
PRESET = "medium"
CRFS = {"atari": (29, 33), "basalt": (31, 36, 40), "first-person": (36, 40)}
MAX_FILM_BYTES = 900_000
"""A film takes the first of its suite's qualities (x264's CRF) that keeps it this small; random play begins with the second."""


@dataclass(frozen=True)
class Moment:
    """When a task's picture is taken: an agent plays a seed, and this many seconds have passed (or it is over)."""

    seed: int
    agent: str
    at_s: float


MOMENTS = {
    "atari/space_invaders": Moment(9001, "scripted", 12),
    "atari/riverraid": Moment(9001, "scripted", 9),
    "atari/montezuma_revenge": Moment(9001, "scripted", 4),
    "atari/qbert": Moment(9001, "scripted", 14),
    "atari/breakout": Moment(9001, "scripted", 30),
    "atari/beam_rider": Moment(9001, "scripted", 16),
    "basalt/find_cave": Moment(65101, "scripted", 6.9),
    "basalt/make_waterfall": Moment(91255, "scripted", 60),
    "basalt/create_village_animal_pen": Moment(57764, "scripted", 60),
    "basalt/build_village_house": Moment(52216, "scripted", 25),
    "basalt/obtain_diamond_shovel": Moment(2001, "scripted", 45),
    "basalt/sandbox": Moment(7008, "noop", 1),
    "first-person/get_log": Moment(3001, "scripted", 1.5),
    "first-person/walk_to_village": Moment(4001, "scripted", 1),
    "together/cooperative_pong": Moment(7001, "random", 4),
    "together/knights_archers_zombies": Moment(7001, "scripted", 12),
    "together/build_shelter": Moment(7001, "noop", 0),
    "blocks-two/build_house": Moment(7002, "scripted", 16.5),
    "blocks-two/keep_pen": Moment(7004, "scripted", 20),
    "overcooked/cramped_room": Moment(7101, "scripted", 12),
    "overcooked/asymmetric_advantages": Moment(7101, "scripted", 12),
    "overcooked/coordination_ring": Moment(7101, "scripted", 12),
    "overcooked/forced_coordination": Moment(7101, "scripted", 12),
    "overcooked/counter_circuit": Moment(7101, "scripted", 12),
    "atari-two/space_invaders_competitive": Moment(9001, "scripted", 12),
    "atari-two/space_invaders_cooperative": Moment(9001, "scripted", 20),
}
"""A moment of every built-in task that shows what it is about."""


@dataclass(frozen=True)
class Job:
    """One rollout."""

    task: str
    agent: str
    seed: int
    max_steps: int

    @property
    def episode_id(self) -> str:
        """The same whenever it is made, another for another version of the task."""
        words = f"{find(self.task).content_hash} {self.agent} {self.seed} {self.max_steps}"
        return f"{MADE_AT:%Y%m%dT%H%M%S}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Make or check the set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="make everything anew")
    parser.add_argument("--check", action="store_true", help="make nothing, prove what is there")
    parser.add_argument("--only", default="", help="tasks, separated by commas; the others stay as they are")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    if options.check:
        check(options.processes)
        return
    only = [find(name).id for name in options.only.split(",") if name]
    jobs = plan()
    kept = known()
    jobs_now = [job for job in jobs if (not only or job.task in only) and (options.again or job not in kept)]
    # The longest first, so that the cores are done at the same time.
    jobs_now.sort(key=lambda job: (find(job.task).env.backend == "voxel", job.max_steps), reverse=True)
    made = {job: entry for job, entry in kept.items() if job not in jobs_now}

    def keep(job: Job, entry: dict) -> None:
        """After each, so that what is interrupted goes on where it was."""
        made[job] = entry
        entries = [made[one] for one in jobs if one in made]
        write_json(starter.FOLDER / "manifest.json", {"made_by": "python tools/make_starter.py", "episodes": entries})

    _in_processes(play, jobs_now, options.processes, "Episodes and films", done=keep)
    _remove_strangers(made.values())
    tasks = [*map(find, MOMENTS), *(published.instances()[name].task() for name in published.names(published.SET))]
    draw = [task for task in tasks if (not only or task.id in only) and (options.again or shipped_picture(task.id) is None)]
    _in_processes(picture, draw, options.processes, "Pictures of the tasks")
    if options.again or not (starter.ANSWERS.exists() and starter.RUNS.exists()):
        examples()
    print(_summary())
    print("Look at some of it, then prove it:  python tools/make_starter.py --check")


def examples() -> None:
    """The answers and runs that fill the boards of a new data folder: of programs that go by points and by the outcome check,
    about every pair of the set, and of scripted models and the oracle on three tasks of explore."""
    rng, lines = np.random.default_rng(0), ["left,right,outcome,task,judge"]
    pairs: dict[tuple[str, int], dict[str, float]] = {}
    for one in starter.read():
        with closing(Episode.open(one.recording)) as episode:
            check = episode.statistics.get(OUTCOME_CHECK_SUCCESS, 0)
            pairs.setdefault((one.task, one.seed), {})[one.agent] = episode.total_reward + float(check)
    for judge in range(NUM_JUDGES):
        for (task, _), worth in pairs.items():
            left, right = rng.permutation(sorted(worth))
            outcome = ScriptedJudge("", noise=0.3).outcome(worth[left], worth[right], rng)
            lines.append(f"{left},{right},{outcome},{task},example-{judge + 1}")
    write_bytes(starter.ANSWERS, ("\n".join(lines) + "\n").encode())
    with tempfile.TemporaryDirectory() as folder, closing(interplay.record.open(folder)) as archive:
        proved = prove_files(published.files_of(EXPLORED), archive, executor=Executor())
        proofs = [load(Path(one.file)).task().content_hash for one in proved if one.proof is not None]
        for model in ("careless", "ahead", "still"):
            evaluate(archive, EXPLORED, f"scripted/{model}", Settings("paper", 200))
        results = sorted(
            (metrics.result_of(run) for run in runs.read_all(Path(folder))[0].values()), key=lambda one: (one.model, one.task)
        )
    write_json(starter.RUNS, {"proofs": proofs, "results": [replace(one, episode=None).to_json() for one in results]})


def plan() -> list[Job]:
    """Every rollout of the set."""
    jobs = []
    for suite in builtin_suites():
        for task in suite.tasks:
            if has_player(task) and len(task.seats) == 1:  # pairs of films show one player each
                steps = round(MORE_SECONDS.get(task.id, SECONDS[suite.id]) * task.frame_rate_hz)
                seeds = SEEDS.get(task.id, task.held_out_seeds[: NUM_SEEDS[suite.id]])
                jobs += [Job(task.id, agent, seed, steps) for seed in seeds for agent in AGENTS]
    return jobs


def known() -> dict[Job, dict]:
    """What is shipped already and still fits."""
    entries = {}
    wanted = {job.episode_id: job for job in plan()}
    for shipped in starter.read():
        job = wanted.get(shipped.id)
        if job is not None and not shipped.faults():
            entries[job] = shipped.to_json()
    return entries


class Seen:
    """The frames of an episode, kept while it is played, compressed."""

    def __init__(self) -> None:
        self._frames: list[tuple[bytes, tuple[int, ...], np.ndarray | None]] = []
        self._zstd = zstandard.ZstdCompressor(level=1)

    def add(self, frame: Frame) -> None:
        """Keep one."""
        self._frames.append((self._zstd.compress(frame.pixels.tobytes()), frame.pixels.shape, frame.palette))

    def __iter__(self) -> Iterator[Frame]:
        """All of them, in order."""
        for data, shape, palette in self._frames:
            pixels = np.frombuffer(zstandard.ZstdDecompressor().decompress(data), np.uint8)
            yield Frame(pixels.reshape(shape), palette)


def play(job: Job) -> dict:
    """Record and film one rollout; its entry in the manifest."""
    task = find(job.task)
    with tempfile.TemporaryDirectory() as folder:
        archive = interplay.record.open(folder)
        rng = np.random.default_rng((0, job.seed, 0))  # as `interplay play` draws
        seen = Seen()
        episode = rollout(
            archive, task, find_agent(job.agent), job.seed,
            rng=rng, max_steps=job.max_steps, frames="replay", episode_id=job.episode_id, created_at=MADE_AT,
            watch=seen.add,
        )  # fmt: skip
        film = Path(folder) / "film.mp4"
        for crf in CRFS[task.suite][1 if job.agent == "random" else 0 :]:
            # Drawing the frames again by replay would take as long as playing did.
            write_mp4(episode, film, crf=crf, preset=PRESET, frames=seen)
            if film.stat().st_size <= MAX_FILM_BYTES:
                break
        entry = starter.Shipped(
            id=episode.id, task=task.id, task_hash=task.content_hash, agent=job.agent, seed=job.seed,
            num_steps=episode.num_steps,
            world=episode.header.env_versions.get("world", ""),
            episode_sha256=_digest(episode.path), episode_bytes=episode.path.stat().st_size,
            film_sha256=_digest(film), film_bytes=film.stat().st_size,
        )  # fmt: skip
        for source, target in ((episode.path, entry.recording), (film, entry.film)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        archive.close()
    return entry.to_json()


def picture(task: Task) -> None:
    """Draw the picture of a task at its moment; those of explore, where it begins, at half the size: there are many."""
    moment = MOMENTS.get(task.id, Moment(task.held_out_seeds[0], "noop", 0))
    frame = exposure(task, moment) if task.id == "together/cooperative_pong" else frame_at(task, moment)
    SHIPPED.mkdir(parents=True, exist_ok=True)
    stem = task.id.replace("/", "-")
    if task.suite == published.suite().id:
        pixels = frame.pixels.reshape(frame.pixels.shape[0] // 2, 2, -1, 2, 3).mean((1, 3)).round().astype(np.uint8)
        frame = Frame(pixels)
    if frame.palette is not None:
        write_bytes(SHIPPED / f"{stem}.png", png(frame))
    else:
        jpeg = simplejpeg.encode_jpeg(np.ascontiguousarray(frame.pixels), quality=88, colorsubsampling="420")
        write_bytes(SHIPPED / f"{stem}.jpg", jpeg)


def exposure(task: Task, moment: Moment) -> Frame:
    """All that is seen up to a moment in one picture, the brightest of each pixel: small things on black are hard to see."""
    brightest: np.ndarray | None = None
    for frame in frames_until(task, moment):
        brightest = frame.pixels.copy() if brightest is None else np.maximum(brightest, frame.pixels)
    assert brightest is not None
    return Frame(brightest)


def frame_at(task: Task, moment: Moment) -> Frame:
    """What is seen from the first seat at a moment."""
    return deque(frames_until(task, moment), maxlen=1)[0]


def frames_until(task: Task, moment: Moment) -> Iterator[Frame]:
    """What is seen from the first seat up to a moment, while an agent plays in every seat."""
    env = make(task)
    try:
        agents = {seat: find_agent(moment.agent) for seat in task.seats}
        for number, agent in enumerate(agents.values()):
            agent.reset(task, rng=np.random.default_rng((number, moment.seed, 0)))
        for seat, agent in agents.items():
            if hasattr(agent, "attach"):
                agent.attach(env, seat)
        env.reset(seed=moment.seed)
        is_blocks = task.env.backend == "voxel"  # its players look into the world, not at its pictures
        for _ in range(round(moment.at_s * task.frame_rate_hz)):
            if not is_blocks:
                yield Frame(*env.view())
            joint = {seat: agent.act(np.empty(0) if is_blocks else env.view_of(seat).pixels) for seat, agent in agents.items()}
            if any(isinstance(action, dict) and action.get("ESC") for action in joint.values()):
                break  # done: what is seen now is what was made
            env.step_unseen(joint)
        view = env.view_of(task.seats[0])
        yield Frame(view.pixels.copy(), view.palette)
    finally:
        env.close()


def check(processes: int) -> None:
    """Prove the set; ends the program with status 1 where something is wrong."""
    shipped = starter.episodes()
    faults = starter.faults()
    tell = lambda _, fault: faults.append(fault) if fault else None  # noqa: E731
    _in_processes(_proof, list(shipped), processes, "Playing every recording again", done=tell)
    print(_summary())
    if faults:
        sys.exit("\n".join([*faults, "Make it anew:  python tools/make_starter.py --again"]))
    print(f"{len(shipped)} recordings replay as recorded.")


def _proof(shipped: starter.Shipped) -> str:
    verdict = verify_file(shipped.recording, shipped.id, shipped.episode_sha256)
    return "" if verdict.equal and verdict.replayed else f"{shipped.recording}: {verdict.reason}"


def _in_processes(work, items: list, processes: int, title: str, done=lambda item, result: None) -> None:
    """`work` of every item, several at once; `done` is called with each item and its result."""
    if not items:
        return
    with process_pool(processes, {}) as pool, progress_bar(title) as report:
        futures = {pool.submit(work, item): item for item in items}
        report(0, len(items))
        for count, future in enumerate(as_completed(futures), start=1):
            done(futures[future], future.result())
            report(count, len(items))


def _remove_strangers(entries: Iterable[dict]) -> None:
    """Files that are not in the manifest any more."""
    wanted = {entry["id"] for entry in entries}
    for path in (*starter.FOLDER.rglob("*.parquet"), *starter.FOLDER.rglob("*.mp4")):
        if path.stem not in wanted:
            path.unlink()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _summary() -> str:
    shipped = starter.read()
    recordings, films = (sum(sizes) for sizes in zip(*((one.episode_bytes, one.film_bytes) for one in shipped), strict=True))
    tasks = len({one.task for one in shipped})
    return f"{len(shipped)} episodes of {tasks} tasks: recordings {recordings / 1000:,.0f} kB, films {films / 1e6:.1f} MB."


if __name__ == "__main__":
    main()
