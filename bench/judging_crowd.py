"""Judges in a process of their own, what they saw, and what a server shows afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_ROOT = Path(__file__).parent.parent


def run_crowd(
    out: Path, address: str, *, num_judges: int, num_answers: int, think_s: float, seed: int, at_half: Any = None
) -> dict[str, Any]:
    """Let judges work in a process of their own; returns what they saw, a `judging_people.Seen`.

    Args:
        out: Where they write it.
        at_half: Called when half of the answers have been accepted, while they go on.
    """
    command = [sys.executable, "-m", "bench.judging_people", "--address", address, "--out", str(out)]
    command += ["--judges", str(num_judges), "--answers", str(num_answers), "--think", str(think_s), "--seed", str(seed)]
    command += ["--announce", str(num_answers // 2 if at_half else 0)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=_ROOT) as judges:
        assert judges.stdout is not None
        if judges.stdout.readline() and at_half:
            at_half()
        if judges.wait() != 0:
            raise SystemExit("the judges could not finish; what went wrong stands above")
    return json.loads(out.read_text())


def leaderboards(address: str, tasks: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Task id -> rows, of every task and of all together (the empty id)."""
    found = {}
    for task in ("", *tasks):
        with urllib.request.urlopen(f"{address}/api/leaderboard?task={task}", timeout=60) as answer:
            found[task] = json.load(answer)["rows"]
    return found


def quantiles(latencies_ms: Sequence[float]) -> dict[str, float]:
    found = {f"p{q}": round(float(np.percentile(latencies_ms, q)), 2) for q in (50, 95, 99)}
    return found | {"max": round(max(latencies_ms), 2), "num": len(latencies_ms)}
