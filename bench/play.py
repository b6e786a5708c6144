"""How many people can play at once: real server, real sockets, every frame decoded and checked.

    python -m bench.play --sessions 100 --seconds 60 --json
    python -m bench.play --seats 2 --sessions 20 --seconds 60 --json
    python -m bench.play --task basalt/find_cave --sessions 2 --baseline-sessions 0 --json

A server is started as its own process on a fresh data folder; the players are WebSocket clients in another process. Each
holds random buttons for a third of a second at a time and keeps every frame; a player whose game ends opens another one.
Afterwards every frame is decoded and its hash compared with the sealed recordings, so decoding and recording are proved
together.

The baseline is the same server with frames as JPEG in base64 in JSON, as CrowdPlay sends them. CrowdPlay also keeps each step
and stores it as pickle with bz2 when the game ends: what that costs is measured on an episode of the same run, and the second
ratio adds it to the baseline.

With `--seats 2` every game is cooperative Space Invaders. In half of the games two of these players sit, in the others one and
an agent. Both players of a game must have seen the same frames. Late: decisions of agents that were not there when their step
was due. What the process that decides costs for a second of one game is compared with one call of the same network for each
frame of each game, the network alone, measured beside the same games before the other measurement.

fps of a player: frames over the time spent in games, within the window that starts when all play; every player counts.
Lateness: a frame's arrival against a grid of exact frame times through that player's earliest frame.
Players per core: as many as one core's time is enough for, all server processes together.
Exit status 1 unless the bars are met. Pictures of many colours, as the block world's, travel as JPEG, which is not exact, so
those are not hashed; the block world's bar is nine tenths of its rate, and how large its pictures stayed is said beside it.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import interplay.record
from bench import players
from bench.crowdplay_storing import storing_us_per_step
from bench.partners import POLICY, make_policy
from bench.served import served
from interplay.tasks import find

MIN_FPS_SHARE = 59.9 / 60
MAX_LATENESS_P99_MS = 10.0
MIN_SHARE_OF_RATE = 0.9
"""Of the block world's frames."""
MIN_RATIO, MIN_RATIO_WITH_STORING = 3.0, 10.0
MIN_RATIO_OF_CALLS = 4.0
MAX_LATE_SHARE = 0.01
STORED_STEPS = 300
TASKS = {1: "atari/space_invaders", 2: "atari-two/space_invaders_cooperative"}
"""By the number of seats."""
_CROWDPLAY_SERVER = ["--role", "crowdplay-server"]


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100, help="games at once")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seats", type=int, choices=list(TASKS), default=1)
    parser.add_argument("--task", help="another one; by default Space Invaders for so many")
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
    options.task = options.task or TASKS[options.seats]
    if options.role == "players":
        gc.disable()
        players.run(players.play(options))
    else:
        _bench(options)


def _serve_crowdplay(arguments: list[str]) -> None:
    """`interplay serve` with workers that code frames as CrowdPlay does."""
    from interplay.cli import main as interplay
    from interplay.play.workers import pool

    pool.WORKER_MODULE = "bench.crowdplay_worker"
    interplay(["serve", *arguments])


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
        stored_us = theirs["server_cpu_us_per_frame"] + theirs["pickle_bz2_us_per_step"]
        result["ratio"] = {
            "server_cpu_per_frame": round(theirs["server_cpu_us_per_frame"] / ours["server_cpu_us_per_frame"], 2),
            "server_cpu_per_frame_with_storing": round(stored_us / ours["server_cpu_us_per_frame"], 2),
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
    ratio = result.get("ratio")
    is_cheap = ratio is None or (
        ratio["server_cpu_per_frame"] >= MIN_RATIO and ratio["server_cpu_per_frame_with_storing"] >= MIN_RATIO_WITH_STORING
    )
    if not (ours["meets_bars"] and is_cheap):
        raise SystemExit(1)


def _meets_bars(measured: dict[str, Any]) -> bool:
    fps = measured["fps"]["min"]
    if measured["is_composed"]:
        return bool(fps >= MIN_SHARE_OF_RATE * measured["frame_rate_hz"])
    late = measured["lateness_ms"]["p99"]
    agents = measured.get("agents")
    return bool(
        fps >= MIN_FPS_SHARE * measured["frame_rate_hz"]
        and late <= MAX_LATENESS_P99_MS
        and measured["frames_wrong"] == measured["frames_unlike"] == 0
        and (agents is None or (agents["late_share"] <= MAX_LATE_SHARE and agents["ratio"] >= MIN_RATIO_OF_CALLS))
    )


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
        if len(find(options.task).seats) == 2:
            make_policy(data / "models" / POLICY, find(options.task))
        with served(data, *workers, program=program) as address:
            command = [sys.executable, "-m", "bench.play", "--role", "players", "--address", address, "--data", str(data)]
            command += ["--out", str(out), "--sessions", str(sessions), "--seconds", str(seconds), "--task", options.task]
            command += ["--seed", str(options.seed)] + (["--crowdplay"] if crowdplay else [])
            subprocess.run(command, check=True, timeout=5 * seconds + 180)
        measured = _report(data, out, check=not crowdplay and not find(options.task).keys.compose)
        if crowdplay:
            measured["pickle_bz2_us_per_step"] = round(_storing_us(data), 1)
        return measured


def _storing_us(data: Path) -> float:
    """What CrowdPlay's way of storing costs a step, on the longest episode that was played."""
    archive = interplay.record.open(data)
    episode = max(archive.episodes(), key=lambda one: one.num_steps)
    found = storing_us_per_step(episode, STORED_STEPS)
    archive.close()
    return found


def _report(data: Path, out: Path, *, check: bool) -> dict[str, Any]:
    """Numbers of one run, from what the players wrote down and what the server recorded."""
    facts = json.loads((out / "facts.json").read_text())
    begin_s, end_s = facts["window_s"]
    played = np.zeros((facts["players"], 2))  # of each player: frames, seconds
    lateness = []
    wrong = checked = skipped = num_shared = num_unlike = 0
    by_episode: dict[str, dict[int, int]] = {}  # episode -> step -> hash that a player saw
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
            episode = str(seen["episode"])
            recorded = archive.get(episode).steps().column("frame_hash").to_numpy()
            exact = hashes != 0
            wrong += int((recorded[steps] != hashes)[exact].sum())
            checked += int(exact.sum())
            before = by_episode.get(episode, {})
            own = dict(zip(steps[exact].tolist(), hashes[exact].tolist(), strict=True))
            shared = [before[step] == found for step, found in own.items() if step in before]
            num_shared, num_unlike = num_shared + len(shared), num_unlike + shared.count(False)
            by_episode[episode] = before | own
    if not lateness:
        raise SystemExit(f"too few frames in the window: {facts}")
    late = np.concatenate(lateness)
    fps = np.divide(played[:, 0], played[:, 1], out=np.zeros(len(played)), where=played[:, 1] > 0)
    frames = facts["frames"]
    cpu_us = facts["server_cpu_s"] * 1e6 / frames
    return {
        "sessions": facts["sessions"],
        "players": facts["players"],
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
        "client_cpu_us_per_frame": round(facts["client_cpu_us"], 1),
        "cpu_percent": {name: round(100 * value / facts["elapsed_s"], 1) for name, value in facts["cpu_s"].items()},
        "frames_skipped": skipped,
        "frames_checked": checked,
        "frames_wrong": wrong,
        "frames_seen_by_both": num_shared,
        "frames_unlike": num_unlike,
    } | ({"agents": _of_agents(facts)} if "agents" in facts else {})


def _of_agents(facts: dict[str, Any]) -> dict[str, Any]:
    """How the agents did, and what their decisions cost."""
    agents = facts["agents"]
    alone_ms = agents["alone_us_per_call"] * facts["frame_rate_hz"] / 1000
    batched_ms = 1000 * agents["cpu_s"] / agents["games"] / facts["elapsed_s"]
    return {
        "games": agents["games"],
        "decisions": agents["num_decisions"],
        "decisions_per_call": round(agents["num_decisions"] / max(agents["num_calls"], 1), 2),
        "late_share": round(agents["late"] / max(agents["due"], 1), 4),
        "alone_cpu_us_per_call": round(agents["alone_us_per_call"], 1),
        "alone_cpu_ms_per_game_s": round(alone_ms, 2),
        "cpu_ms_per_game_s": round(batched_ms, 2),
        "ratio": round(alone_ms / batched_ms, 2),
    }


if __name__ == "__main__":
    main()
