"""Language models on instances, without a network: how long, how much memory and log, and whether a killed evaluation goes on.

    python -m bench.explore --json

Three scripted models play 20 scenes twice each, asked through an OpenAI-compatible server on the loopback address; any other
connection is refused. Then an evaluation is killed at random moments until it is done: its summary must be that of one that was
not, and no answer that it had may be asked for again, only what it waited for. The bars: 10 minutes, 2 GB of memory, 50 MB of
logs.
"""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import interplay.record
from bench.model_server import ModelServer
from interplay.explore.evaluation import scripted
from interplay.explore.evaluation.inspect_task import evaluate
from interplay.explore.evaluation.metrics import result_of, tables
from interplay.explore.evaluation.providers import At
from interplay.explore.evaluation.runs import read_all
from interplay.explore.evaluation.settings import Settings

MAX_SECONDS, MAX_RSS_MB, MAX_LOGS_MB = 600.0, 2048.0, 50.0
_WOODS = ("oak", "birch", "spruce", "jungle", "acacia")
_AT_ONCE = 4


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sys.addaudithook(refuse_the_network)
    with tempfile.TemporaryDirectory() as folder, ModelServer(scripted.reply) as server:
        root = Path(folder)
        scenes = write_scenes(root / "scenes", options.instances)
        measured = whole(root, scenes, server, Settings("paper", options.steps), options.epochs)
        resumed = killed(root, scenes[:4], server, options.steps // 3, options.kills, random.Random(options.seed))
    figures: dict[str, Any] = {**measured, "resume": resumed}
    passed = (
        figures["seconds"] <= MAX_SECONDS
        and figures["rss_mb"] <= MAX_RSS_MB
        and figures["logs_mb"] <= MAX_LOGS_MB
        and figures["failed"] == 0
        and resumed["same_summary"]
        and resumed["answers_asked_again"] == 0
        and resumed["unanswered_when_killed"] <= _AT_ONCE * options.kills
    )
    if options.json:
        print(json.dumps(figures | {"passed": passed}, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name} {value}")
    raise SystemExit(0 if passed else 1)


def refuse_the_network(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: connections go to this machine alone."""
    if event != "socket.connect" or not isinstance(arguments[1], tuple):
        return
    host = arguments[1][0]
    if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
        raise PermissionError(f"a connection to {host}: this measurement needs no network")


def write_scenes(folder: Path, count: int) -> list[Path]:
    """Instances of one and two hops: a trunk some steps ahead, and a flower behind it."""
    folder.mkdir()
    paths = []
    for number in range(count):
        wood, far = _WOODS[number % len(_WOODS)], 2 + number % 4
        near = {"target": [0, 0, far], "max_distance": 2, "facing_tolerance": 360, "coordinate_frame": "spawn_relative"}
        rules = {
            f"find {wood}_log": {"type": "position_near_with_facing", "params": near},
            f"mine {wood}_log": {"type": "inventory_has", "params": {"item": f"{wood}_log", "min_count": 1}},
        }
        tasks = list(rules)[: 1 + number % 2]
        reason = f"nobody can reach the {wood} log to mine it before they have found the trunk and stand beside it"
        edges = [{"from": tasks[0], "to": tasks[1], "reason": reason}] if len(tasks) > 1 else []
        document = {
            "schema": 1,
            "name": f"trunk_{number:02}",
            "selected_tasks": tasks,
            "reasoning_graph": {"nodes": tasks, "edges": edges},
            "milestones": [
                {"task": task, "milestone_id": task.replace(" ", "_"), "description": "", "rules": [rules[task]]}
                for task in tasks
            ],
            "task_text": f"Go to the {wood} tree{' and get a log of it' if edges else ''}.",
            "atomic_tasks_ordered": tasks,
            "commands": [f"/fill ~0 ~0 ~{far} ~0 ~2 ~{far} minecraft:{wood}_log"],
        }
        paths.append(folder / f"{document['name']}.json")
        paths[-1].write_text(json.dumps(document))
    return paths


def whole(root: Path, scenes: list[Path], server: ModelServer, settings: Settings, epochs: int) -> dict[str, Any]:
    """Every scripted model on all scenes."""
    data = root / "whole"
    begin, cpu = time.monotonic(), time.process_time()
    with closing(interplay.record.open(data)) as archive:
        for model in scripted.SCRIPTED:
            evaluate(
                archive,
                [str(scene) for scene in scenes],
                model,
                settings,
                at=At(server.address),
                epochs=epochs,
                num_at_once=_AT_ONCE,
            )
            print(f"{model} done after {time.monotonic() - begin:.0f} s", file=sys.stderr)
        num_episodes = len(archive.episodes())
    results = [result_of(run) for run in read_all(data)[0].values()]
    (made,) = tables(results)
    size = sum(path.stat().st_size for path in (data / "explore").rglob("*") if path.is_file())
    return {
        "runs": len(results),
        "episodes": num_episodes,
        "failed": sum(one.failed is not None for one in results),
        "calls": sum(one.calls for one in results),
        "seconds": round(time.monotonic() - begin, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "logs_mb": round(size / 1e6, 2),
        "msr": {row["model"]: round(row["msr"]["value"], 4) for row in made["models"]},
        "refused_replies": {row["model"]: row["refused_replies"] for row in made["models"]},
    }


def killed(root: Path, scenes: list[Path], server: ModelServer, steps: int, kills: int, rng: random.Random) -> dict[str, Any]:
    """The careless model on a few scenes, once to the end and once with kills at random calls."""
    model = "careless"

    def play(data: Path, kill_at: int | None) -> int:
        paths = [str(path) for path in scenes]
        options = ["--model", model, "--address", server.address, "--steps", str(steps), "--data", str(data)]
        command = [sys.executable, "-m", "interplay", "explore", "run", *paths, *options]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:

            def reply(name: str, texts: list[str]) -> str:
                if kill_at is not None and len(server.prompts) >= kill_at:
                    os.kill(process.pid, signal.SIGKILL)
                return scripted.reply(name, texts)

            server.reply = reply
            return process.wait()

    server.prompts.clear()
    play(root / "calm", None)
    needed = len(server.prompts)
    server.prompts.clear()
    moments = sorted(rng.sample(range(1, needed), kills))
    lost = 0
    for moment in [*moments, None]:
        asked, answered = len(server.prompts), _num_calls(root / "killed")
        play(root / "killed", moment)
        lost += len(server.prompts) - asked - (_num_calls(root / "killed") - answered)
    return {
        "calls": needed,
        "killed_at": moments,
        "unanswered_when_killed": lost,
        "answers_asked_again": len(server.prompts) - needed - lost,
        "same_summary": _summary(root / "calm") == _summary(root / "killed"),
    }


def _num_calls(data: Path) -> int:
    return sum(len(run.calls) for run in read_all(data)[0].values())


def _summary(data: Path) -> list[dict[str, Any]]:
    """Results without the names of episodes, which say when they were begun."""
    return [result_of(run).to_json() | {"episode": None, "latency_ms": 0.0} for run in read_all(data)[0].values()]


if __name__ == "__main__":
    main()
