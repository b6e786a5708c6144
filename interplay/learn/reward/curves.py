"""The learned reward along games, stored when it is learned, for pages that show it beside a replay; nothing here needs
torch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.files import replacing
from interplay.learn.reward.storage import FOLDER

FILE = "along.parquet"
SCHEMA = pa.schema(
    [
        ("episode", pa.string()),
        ("steps", pa.list_(pa.int32())),
        ("rewards", pa.list_(pa.float32())),
        ("spread", pa.list_(pa.float32())),
    ]
)
MOST_POINTS = 600


@dataclass(frozen=True)
class Along:
    """A reward along one game.

    Attributes:
        answers, judges: Number and kind of the answers it was learned from.
        correlation: With the game's own score, in games it was not learned from; None where nothing is known.
        steps: int, shape (P,): places of the points.
        rewards, spread: float, shape (P,): the reward, and how far its networks disagree.
    """

    name: str
    answers: int
    judges: str
    correlation: float | None
    steps: list[int]
    rewards: list[float]
    spread: list[float]


def write_along(folder: Path, games: Iterable[tuple[str, np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """Store (episode, steps, rewards, spread) of some games."""
    rows = list(games)
    columns = [[row[place] for row in rows] for place in range(4)]
    with replacing(folder / FILE) as part:
        pq.write_table(pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA), part)


def read_along(root: Path, episode: str) -> list[Along]:
    """Every stored reward of a data folder along this game, by name; one whose files are damaged is left out."""
    found = []
    for path in sorted((root / FOLDER).glob(f"*/{FILE}")):
        try:
            rows = pq.read_table(path, filters=[("episode", "=", episode)]).to_pylist()
            described = json.loads(path.with_name("reward.json").read_text(encoding="utf-8"))
            if rows:
                points = [thinned(np.array(rows[0][name])) for name in ("steps", "rewards", "spread")]
                steps, rewards, spread = (part.tolist() for part in points)
                number = described["answers"], described["judges"], described.get("correlation")
                found.append(Along(path.parent.name, *number, list(map(int, steps)), rewards, spread))
        except (OSError, ValueError, KeyError, pa.ArrowInvalid):
            continue
    return found


def thinned(values: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """At most so many numbers: means of parts of equal size, the last one perhaps smaller.

    >>> thinned(np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 3).tolist()
    [2.0, 6.0, 9.0]
    """
    size = -(-len(values) // most) if len(values) else 1
    if size == 1:
        return values
    starts = np.arange(0, len(values), size)
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))
