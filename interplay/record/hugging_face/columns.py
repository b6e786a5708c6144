"""What a row of `steps` and of `episodes` holds, and where the files lie."""

from __future__ import annotations

import json
from collections.abc import Iterator

import gymnasium
import pyarrow as pa

from interplay.record.exchange.rows import Description
from interplay.record.exchange.shards import PICTURE
from interplay.record.exchange.vectors import dtype_of, names_of

OURS = "interplay.json"
STEPS, EPISODES = "steps/steps-{number:05d}.parquet", "episodes/episodes-{number:05d}.parquet"
STEPS_MB = 200
"""From this size on a new file begins."""
IMAGE = "image"


def steps(description: Description) -> Iterator[tuple[str, pa.DataType, str]]:
    """Name, type and meaning of the columns of `steps`."""
    yield "episode", pa.string(), "id of the episode"
    yield "step", pa.int64(), "from 0; the last row of an episode is its final observation, without action and reward"
    if description.pictures != "none":
        yield IMAGE, PICTURE, "what an agent in the player's place sees before the action: PNG, without loss"
    if description.observation_space is not None:
        yield "observation", _rows(description.observation_space), "what the environment returned"
    for seat, space in description.action_spaces.items():
        named = ", ".join(names_of(space))
        yield description.column("action", seat), _rows(space), f"the action: {named}"
        yield description.column("reward", seat), pa.float64(), "the reward after the action"
        yield description.column("owner", seat), pa.string(), "who acted; people have pseudonyms"
    yield "terminated", pa.bool_(), "whether the world ended the episode with this step"
    yield "truncated", pa.bool_(), "whether it was cut off with this step"
    yield "time_us", pa.int64(), "the clock of the recording at this step, microseconds"
    yield "frame_hash", pa.int64(), "low 32 bits of XXH3 over the pixels of the picture; -1 where nobody drew it"
    yield "info", pa.string(), "what else the environment said, JSON"


EPISODE_COLUMNS = {
    "episode": (pa.string(), "its id"),
    "task": (pa.string(), "id of its task"),
    "seed": (pa.int64(), "of the world"),
    "num_steps": (pa.int64(), "how many actions"),
    "score": (pa.float64(), "sum of the first seat's rewards"),
    "outcome": (pa.string(), "why it ended: `terminated`, `time_limit`, `quit`, `left` or `interrupted`"),
    "created_at": (pa.string(), "when it began, UTC"),
    "facts": (pa.string(), "everything else that is known of it, JSON: who held which seat, statistics, hashes"),
}
"""Name -> type and meaning of the columns of `episodes`."""


def _rows(space: gymnasium.Space) -> pa.DataType:
    """A number, or a list of as many numbers as a value has."""
    kind = pa.from_numpy_dtype(dtype_of(space))
    size = len(names_of(space))
    return kind if size == 1 else pa.list_(kind, size)


def schema(description: Description) -> pa.Schema:
    """Of the files of `steps`; it tells `datasets` which column is a picture."""
    told = {"info": {"features": {IMAGE: {"_type": "Image"}}}} if description.pictures != "none" else {}
    return pa.schema([(name, kind) for name, kind, _ in steps(description)], {b"huggingface": json.dumps(told).encode()})


def meanings(description: Description) -> str:
    """The columns as tables in Markdown."""
    lines = [
        "## Columns",
        "",
        "`steps` (a row for each observation):",
        "",
        "| column | type | what it is |",
        "| --- | --- | --- |",
    ]
    lines += [
        f"| `{name}` | {'PNG' if name == IMAGE else str(kind).replace('|', ' ')} | {meaning} |"
        for name, kind, meaning in steps(description)
    ]
    lines += ["", "`episodes` (a row for each episode):", "", "| column | type | what it is |", "| --- | --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | {kind} | {meaning} |" for name, (kind, meaning) in EPISODE_COLUMNS.items()])
