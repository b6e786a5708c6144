"""Print lines and modules by room: `python tools/size.py`. Lines are all lines of Python files that git tracks."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Count, and print one line a room, the largest first, with the sum of each top folder."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    for name in listed.splitlines():
        parts = Path(name).parts
        depth = 3 if parts[0] == "packages" else 2
        for room in {parts[0], "/".join(parts[:depth]) if len(parts) > depth else parts[0]}:
            lines[room] += len((ROOT / name).read_bytes().splitlines())
            modules[room] += 1
    for room in sorted(lines, key=lambda room: (room.split("/")[0], "/" in room, -lines[room])):
        print(f"{'  ' * room.count('/')}{room:32} {lines[room]:8,} lines {modules[room]:5,} modules")


if __name__ == "__main__":
    main()
