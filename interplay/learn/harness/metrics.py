"""What a run measures: means between two lines, and the lines of `metrics.jsonl`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from interplay.files import json_text, write_bytes


class Means:
    """Means of what updates measured since the last line. Sums stay on the device: reading one waits for the update."""

    def __init__(self, sums: Mapping[str, float] | None = None, count: int = 0) -> None:
        self._sums: dict[str, Any] = dict(sums or {})
        self.count = count

    def add(self, measured: Mapping[str, torch.Tensor]) -> None:
        """Count what one update measured."""
        for name, value in measured.items():
            self._sums[name] = self._sums.get(name, 0.0) + value.detach().double()
        self.count += 1

    def sums(self) -> dict[str, float]:
        """The sums as numbers."""
        return {name: float(value) for name, value in self._sums.items()}

    def wrong(self) -> tuple[str, float] | None:
        """The name and sum of something that is no finite number, if there is one."""
        return next(((name, value) for name, value in self.sums().items() if not math.isfinite(value)), None)

    def line(self) -> dict[str, float]:
        """The means."""
        return {name: value / self.count for name, value in self.sums().items()}


class Metrics:
    """Lines of `metrics.jsonl`; those a killed process wrote after its last checkpoint are dropped, as they come again."""

    def __init__(self, path: Path, *, keep_until: int) -> None:
        self.last: dict[str, Any] = {}
        kept: list[str] = []
        if keep_until and path.exists():
            for text in path.read_text(encoding="utf-8").splitlines():
                try:
                    line = json.loads(text)
                except ValueError:  # torn by the kill
                    break
                if line["update"] <= keep_until and not line.get("final"):
                    kept.append(text + "\n")
                    self.last = line
        write_bytes(path, "".join(kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: dict[str, Any]) -> None:
        """Add a line."""
        self.last = line
        self._file.write(json_text(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
