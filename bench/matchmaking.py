"""How long it takes to decide which two agents come next, for each policy.

    python -m bench.matchmaking --json

A log of answers is taken up one by one, then every policy orders all pairs while 50 matches are open. The bars are the serving
path's: 5 ms with 17 agents, 30 ms with 60. Time is the processor's, so that whatever else runs on the machine is left out.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from interplay.judge.pairing import PAIRING_RULES, Evidence, pairing_rule
from interplay.rank import Outcome

MAX_MS = {17: 5.0, 60: 30.0}
_NUM_AWAITED = 50


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [row for num_agents in MAX_MS for row in measure(num_agents, options.answers, options.repeats, options.seed)]
    passed = all(row["median_ms"] <= row["max_ms"] for row in rows)
    if options.json:
        print(json.dumps({"rows": rows, "passed": passed}, indent=2))
    else:
        for row in rows:
            print("  ".join(f"{name} {value}" for name, value in row.items()))
    raise SystemExit(0 if passed else 1)


def measure(num_agents: int, num_answers: int, repeats: int, seed: int) -> list[dict[str, Any]]:
    """One row for each policy."""
    rng = np.random.default_rng(seed)
    names = [f"agent-{place:03}" for place in range(num_agents)]
    skills = rng.normal(0, 1.7, num_agents)

    def draw() -> tuple[int, int]:
        a, b = rng.choice(num_agents, 2, replace=False).tolist()
        return a, b

    def outcome(a: int, b: int) -> Outcome:
        return "left" if rng.random() < 1 / (1 + np.exp(skills[b] - skills[a])) else "right"

    answers: list[tuple[str, str, Outcome]] = [
        (names[a], names[b], outcome(a, b)) for a, b in (draw() for _ in range(num_answers))
    ]
    begin = time.process_time()
    evidence = Evidence(answers)
    add_us = (time.process_time() - begin) / num_answers * 1e6
    awaited = [(names[a], names[b]) for a, b in (draw() for _ in range(_NUM_AWAITED))]
    rows = []
    for name in PAIRING_RULES:
        one = pairing_rule(name, agents=names[:1]) if name == "focus" else pairing_rule(name)
        one.order(names, evidence, awaited, rng)  # rates the log, which is done once
        took_ms = []
        for _ in range(repeats):
            begin = time.process_time()
            one.order(names, evidence, awaited, rng)
            took_ms.append((time.process_time() - begin) * 1000)
        rows.append(
            {
                "policy": name,
                "num_agents": num_agents,
                "median_ms": round(float(np.median(took_ms)), 3),
                "p99_ms": round(float(np.quantile(took_ms, 0.99)), 3),
                "max_ms": MAX_MS[num_agents],
                "add_us": round(add_us, 2),
            }
        )
    return rows


if __name__ == "__main__":
    main()
