"""Examine the edges of the instances that come with the package, and write what is found into their files.

python tools/explore_depths.py [published] [planner]    # both: half an hour on two cores

A proof that is there stays, with its actions; `hops` of it are replaced. Prints depth and verdicts of each instance.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from interplay.explore.instance import load
from interplay.explore.make.planner import proof_of
from interplay.explore.oracle.hops import examine
from interplay.explore.oracle.proving import prove
from interplay.explore.published import FOLDERS, files_of


def examined(file: Path) -> tuple[str, int, Counter[str]]:
    """Name, depth, and how many edges have which verdict."""
    instance = load(file)
    found = examine(instance)
    kept = [one for one in instance.proofs if one["content_hash"] == instance.content_hash]
    proof = {**kept[-1], "hops": found.to_json()} if kept else proof_of(instance, prove(instance), found)
    indent = 2 if file.read_text(encoding="utf-8").startswith("{\n  ") else 1
    text = json.dumps(replace(instance, proofs=(proof,)).to_json(), indent=indent, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")
    return instance.name, found.depth, Counter(edge.verdict for edge in found.edges)


if __name__ == "__main__":
    files = files_of(sys.argv[1:] or list(FOLDERS))
    with ProcessPoolExecutor(2) as pool:
        for name, depth, verdicts in pool.map(examined, files):
            print(json.dumps({"name": name, "depth": depth} | verdicts), flush=True)
