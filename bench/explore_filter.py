"""The knowledge filter without a network: whether it measures the known error of models, and loses no answer when killed.

    python -m bench.explore_filter --json

Two programs answer through an OpenAI-compatible server on the loopback address, and are wrong with a known chance. Precision,
recall, self-consistency and accuracy must be what follows from these chances, up to one in a million. The filter is killed at
random moments until it is done: what it was answered before is there afterwards, and is not asked again.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from scipy.stats import binom

from bench.model_server import ModelServer, Reply
from interplay.explore.make.chat import FOLDER
from interplay.explore.make.knowledge import GROUPS, NO, YES, golden

ERRORS = {"steady": 0.1, "rash": 0.3}
"""Model -> how often a single verdict is wrong."""
CHANCE = 1e-6
_SAMPLES, _AT_ONCE = 5, 8


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=50, help="of the golden set, half of each label")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    labels = golden()
    drawn = random.Random(options.seed)
    of_label = {label: [name for name in labels if labels[name] == label] for label in (NO, YES)}
    most = 2 * min(map(len, of_label.values()))
    if not 2 <= options.names <= most:
        parser.error(
            f"argument --names: is {options.names}, expected 2 to {most}, for the golden set has no more of each label"
        )
    names = [name for one in of_label.values() for name in drawn.sample(one, options.names // 2)]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ModelServer(answers(random.Random(options.seed))) as server:
        figures = killed(Path(folder), names, server, options.kills, random.Random(options.seed))
    figures["seconds"] = round(time.monotonic() - begin, 1)
    figures["passed"] = not figures["out_of_bounds"] and figures["labels_lost"] == 0 and figures["answers_asked_again"] == 0
    print(json.dumps(figures, indent=2) if options.json else "\n".join(f"{name} {value}" for name, value in figures.items()))
    raise SystemExit(0 if figures["passed"] else 1)


def answers(rng: random.Random) -> Any:
    """What the programs reply: verdicts that are wrong by chance, and the rest as it must be."""

    def reply(model: str, texts: list[str]) -> str:
        if "Name what a player" in texts[0]:
            return json.dumps({group: [] for group in GROUPS})
        task = next(line.removeprefix("The task: ") for line in texts[0].splitlines() if line.startswith("The task: "))
        if len(texts) == 1:
            is_wrong = rng.random() < ERRORS[model]
            return (NO if golden()[task] == YES else YES) if is_wrong else golden()[task]
        return "None" if texts[1] == NO else "One must know it."

    return reply


def killed(root: Path, names: list[str], server: ModelServer, kills: int, rng: random.Random) -> dict[str, Any]:
    """The filter, killed at random calls and run again until it is done."""
    (root / "names.txt").write_text("\n".join(names))
    kept, program = root / "data" / FOLDER / "filter.jsonl", server.reply
    needed = len(names) * len(ERRORS) * _SAMPLES * 3
    moments = sorted(rng.sample(range(1, needed), kills))
    command = [sys.executable, "-m", "interplay", "explore", "filter", "--tasks", str(root / "names.txt"), "--json"]
    command += ["--address", server.address, "--data", str(root / "data"), "--at-once", str(_AT_ONCE)]
    for model in ERRORS:
        command += ["--model", model]
    lost = unanswered = 0
    said = ""
    for moment in [*moments, None]:
        before, asked = kept.read_bytes() if kept.exists() else b"", len(server.prompts)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:

            def reply(model: str, texts: list[str], at: int | None = moment, pid: int = process.pid) -> Reply:
                if at is not None and len(server.prompts) >= at:
                    os.kill(pid, signal.SIGKILL)
                return program(model, texts)

            server.reply = reply
            said = process.communicate()[0]
        now = kept.read_bytes()
        lost += not now.startswith(before[: before.rfind(b"\n") + 1])
        unanswered += len(server.prompts) - asked - (now.count(b"\n") - before.count(b"\n"))
    document = json.loads(said)
    measured = document["golden"]
    return {
        "names": len(names),
        "calls": needed,
        "killed_at": moments,
        "unanswered_when_killed": unanswered,
        "answers_asked_again": len(server.prompts) - needed - unanswered,
        "labels_lost": lost,
        "planted": ERRORS,
        "expected": (planted := expected()),
        "measured": measured,
        "intervals_with_the_expected": sum(one["low"] <= value <= one["high"] for one, value in _beside(measured, planted)),
        "verbs": document["verbs"],
        "out_of_bounds": out_of_bounds(measured, len(names) // 2),
    }


def expected() -> dict[str, Any]:
    """What the known errors lead to on as many names of each label: each measure's mean."""
    wrong = [float(binom.sf(_SAMPLES // 2, _SAMPLES, error)) for error in ERRORS.values()]
    right, both_wrong = math.prod(1 - one for one in wrong), math.prod(wrong)
    both = {"precision": right / (right + both_wrong), "recall": right}
    both["consistency"] = sum(error**2 + (1 - error) ** 2 for error in ERRORS.values()) / len(ERRORS)
    accuracy = {model: 1 - error for model, error in ERRORS.items()}
    return both | {f"dropped_{name}": value for name, value in both.items()} | {"accuracy": accuracy}


def _beside(measured: dict[str, Any], planted: dict[str, Any]) -> list[tuple[dict[str, float], float]]:
    """Each measure with what was planted."""
    plain = [(measured[name], value) for name, value in planted.items() if name != "accuracy"]
    return plain + [(measured["accuracy"][model], value) for model, value in planted["accuracy"].items()]


def out_of_bounds(measured: dict[str, Any], number: int) -> list[str]:
    """Measures that are not what the known errors lead to, for so many names of each label, up to one in a million."""
    wrong = [float(binom.sf(_SAMPLES // 2, _SAMPLES, error)) for error in ERRORS.values()]
    right, both_wrong = math.prod(1 - one for one in wrong), math.prod(wrong)

    def bounds(trials: int, chance: float) -> tuple[float, float]:
        return float(binom.ppf(CHANCE / 2, trials, chance)), float(binom.isf(CHANCE / 2, trials, chance))

    (low, high), (wrong_low, wrong_high) = bounds(number, right), bounds(number, both_wrong)
    expected = {}
    for name in ("", "dropped_"):
        expected[f"{name}recall"] = (low / number, high / number)
        expected[f"{name}precision"] = (low / (low + wrong_high), high / (high + wrong_low))
        mean = sum(error**2 + (1 - error) ** 2 for error in ERRORS.values()) / len(ERRORS)
        far = 5 * 0.5 / math.sqrt(number)  # a share of pairs spreads by a half at most
        expected[f"{name}consistency"] = (mean - far, mean + far)
    found = [name for name, (least, most) in expected.items() if not least <= measured[name]["value"] <= most]
    for model, error in ERRORS.items():
        least, most = bounds(2 * number * _SAMPLES, 1 - error)
        if not least <= 2 * number * _SAMPLES * measured["accuracy"][model]["value"] <= most:
            found.append(f"accuracy of {model}")
    return found


if __name__ == "__main__":
    main()
