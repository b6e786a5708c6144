"""Making instances without a network: a fake server on the loopback address, with scripted models behind it.

    python -m bench.explore_make --json

Fifty names go through the knowledge filter, and ten instances are made of the kept ones in both modes. Defects are planted,
each another one, and a critic objects to what is sound: makers that are told what is wrong repair it, stubborn ones are
refused with the reason. Any connection but to this machine is refused. The bars: 10 minutes; every instance passes or has a
reason; at least 80 % of the defects that can be repaired are, within the debates; who never repairs is refused, and the
reason names the defect; no instance passes that the oracle does not solve once more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
import zlib
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import interplay.record
from bench.explore import refuse_the_network
from bench.model_server import ModelServer
from interplay.explore.evaluation.providers import At, model_named
from interplay.explore.instance import load
from interplay.explore.make import bank, filtering, knowledge, scripted, synthesis
from interplay.explore.make.chat import Chat
from interplay.explore.oracle.proving import prove

MAX_SECONDS, MIN_REPAIRED = 600.0, 0.8
NUM_NAMES = 50
ONLY_SAID = ("invented", "swapped")
"""Defects of a reply in a debate, which are no part of what is made: one maker alone has none of them."""


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=10, help="of each mode")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sys.addaudithook(refuse_the_network)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ModelServer(reply) as server:
        root = Path(folder)
        kept, filtered = filter_names(root / "filter", server)
        made = synthesised(root / "made", server, tuple(kept), options.instances, options.seed)
        repair = repaired(root, server, options.seed)
    figures = {"filter": filtered, "made": made, "repair": repair, "seconds": round(time.monotonic() - begin, 1)}
    figures["cpu_seconds"] = round(time.process_time(), 1)
    passed = (
        figures["seconds"] <= MAX_SECONDS
        and filtered["names"] == NUM_NAMES
        and set(scripted.NEEDS) <= set(kept)
        and made["passed"] == made["instances"] == made["proved_again"]
        and repair["share_repaired"] >= MIN_REPAIRED
        and repair["refused_without_reason"] == repair["passed_unproved"] == repair["stubborn_passed"] == 0
    )
    if options.json:
        print(json.dumps(figures | {"passed": passed}, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name} {value}")
    raise SystemExit(0 if passed else 1)


def reply(model: str, texts: list[str]) -> str:
    """What the models behind the server say: two that filter, who differ about a few names, and the makers."""
    if not model.startswith("judge"):
        return scripted.from_texts(model, texts)
    task = next(found for text in texts if (found := re.search(r"^The task: (.*)$", text, re.MULTILINE)))[1]
    unsure = zlib.crc32(task.encode()) % 11 == 0 and task not in scripted.NEEDS
    hard = task.split(" ")[0] in ("enter", "breed", "tame", "combat") or (unsure and model == "judge-2")
    if "spatial_perception" in texts[-1]:
        return json.dumps({"perception": ["spatial_perception"], "reasoning": [], "action": ["move"]})
    if "None" in texts[-1]:
        return "It must be known how this game does it." if hard else "None"
    return "Yes" if hard else "No"


def filter_names(folder: Path, server: ModelServer) -> tuple[list[str], dict[str, Any]]:
    """Fifty names of the bank through the filter, those of the makers among them; the kept ones, and figures."""
    folder.mkdir()
    rest = [name for name in sorted(bank.drawn(), key=lambda name: zlib.crc32(name.encode())) if name not in scripted.NEEDS]
    names = [*scripted.NEEDS, *rest[: NUM_NAMES - len(scripted.NEEDS)]]
    models = [model_named(name, At(server.address)) for name in ("judge-1", "judge-2")]
    with closing(Chat(folder / "filter.jsonl")) as chat:
        verdicts = asyncio.run(filtering.judge(names, models, chat))
    kept = [one.task for one in verdicts if one.kept]
    counts = Counter("waiting" if one.verdict is None else "kept" if one.kept else "dropped" for one in verdicts)
    return kept, {"names": len(verdicts), **counts, "by_verb": knowledge.by_verb(verdicts)}


def _made(
    data: Path, server: ModelServer, model: str, tasks: tuple[str, ...], modes: tuple[str, ...], count: int, seed: int,
    hops: int | None = None,
) -> synthesis.Synthesis:  # fmt: skip
    plan = synthesis.Plan(tasks, modes, count, hops, seed, model)
    with closing(interplay.record.open(data)) as archive, closing(Chat(data / "makers.jsonl")) as chat:
        return asyncio.run(synthesis.make(plan, archive, chat, model_named(model, At(server.address))))


def synthesised(data: Path, server: ModelServer, kept: tuple[str, ...], count: int, seed: int) -> dict[str, Any]:
    """Instances of sound makers in both modes, each solved by the oracle once more."""
    known = tuple(task for task in kept if task in scripted.NEEDS)
    made = _made(data, server, "maker", known, ("multi", "single"), count, seed)
    return {
        "instances": len(made.makings),
        "passed": len(made.files),
        "proved_again": sum(prove(load(path)).solved for path in made.files.values()),
        "modes": made.by_mode(),
        "hops": sorted(one["hops"] for one in made.makings),
    }


def repaired(root: Path, server: ModelServer, seed: int) -> dict[str, Any]:
    """One instance of each defect, in both modes, by makers that repair what they are told, and by makers that never do."""
    of_one = [defect for defect in scripted.DEFECTS if defect not in ONLY_SAID]
    asked = [("critic", "multi"), *((f"maker-{defect}", "multi") for defect in scripted.DEFECTS)]
    asked += [(f"maker-{defect}", "single") for defect in of_one]
    # A false report never gets into the draft, so a maker that goes on with it makes something sound: it is left out here.
    asked += [(f"stubborn-{defect}", "multi") for defect in scripted.DEFECTS if defect != "invented"]
    rows = [_repaired(root / f"{name}-{mode}", server, name, mode, seed) for name, mode in asked]
    told = [row for row in rows if not row["maker"].startswith("stubborn-")]
    stubborn = [row for row in rows if row["maker"].startswith("stubborn-")]
    return {
        "planted": len(rows),
        "found": sum(row["found"] for row in rows),
        "told": len(told),
        "share_repaired": round(sum(row["passed"] and row["found"] for row in told) / len(told), 3),
        "stubborn": len(stubborn),
        "stubborn_passed": sum(row["passed"] for row in stubborn),
        "refused_without_reason": sum(not row["passed"] and not row["names_the_defect"] for row in rows),
        "passed_unproved": sum(row["unproved"] for row in rows),
        "rows": rows,
    }


def _repaired(data: Path, server: ModelServer, maker: str, mode: str, seed: int) -> dict[str, Any]:
    made = _made(data, server, maker, tuple(scripted.NEEDS), (mode,), 1, seed, hops=3)
    (one,) = made.makings
    defect = maker.partition("-")[2]
    words = "no usable scene" if defect == "swapped" else scripted.DEFECTS.get(defect, "")
    objected = any(turn["refused"] or turn.get("approved") is False for turn in one["turns"])
    return {key: one[key] for key in ("mode", "passed", "reasons", "debates", "rulings")} | {
        "maker": maker,
        "found": bool(one["first_reasons"]) or objected,
        "names_the_defect": words in " ".join(one["reasons"]),
        "unproved": one["passed"] and not prove(load(made.files[one["name"]])).solved,
    }


if __name__ == "__main__":
    main()
