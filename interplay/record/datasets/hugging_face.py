"""Export and import data sets of the Hugging Face library `datasets` (Parquet files and a card), without loss.
A data set holds one task, with all its seats."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.envs.base import Frame
from interplay.files import write_json
from interplay.record.errors import RecordingError
from interplay.record.exchange.card import Release, write_card
from interplay.record.exchange.columns import PICTURE, ParquetShards, column_of, dtype_of, from_png, names_of, to_png
from interplay.record.exchange.importer import Brought
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.exchange.reader import Format, Part, episodes_of, numbers, text_json
from interplay.record.exchange.rows import Description, Pictures, Rows, brought, walk
from interplay.record.exchange.writer import Advance, Exported, ExportError, write_each
from interplay.record.sealed.episode import Episode

OURS = "interplay.json"
STEPS, EPISODES = "steps/steps-{number:05d}.parquet", "episodes/episodes-{number:05d}.parquet"
STEPS_MB = 200
"""Size of a file in MB; when a file reaches it, a new file is begun."""
IMAGE = "image"


def step_columns(description: Description) -> Iterator[tuple[str, pa.DataType, str]]:
    yield "episode", pa.string(), "id of the episode"
    yield "step", pa.int64(), "from 0; the last row of an episode is its final observation, without action and reward"
    if description.pictures != "none":
        yield IMAGE, PICTURE, "what an agent in the player's place sees before the action: PNG, without loss"
    if description.observation_space is not None:
        yield "observation", _kind(description.observation_space), "what the environment returned"
    for seat, space in description.action_spaces.items():
        named = ", ".join(names_of(space))
        yield description.column("action", seat), _kind(space), f"the action: {named}"
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
    "facts": (pa.string(), "all other facts as JSON: owners of the seats, statistics, hashes"),
}
"""Column of `episodes` -> its type and meaning."""


def _kind(space: gymnasium.Space) -> pa.DataType:
    kind = pa.from_numpy_dtype(dtype_of(space))
    size = len(names_of(space))
    return kind if size == 1 else pa.list_(kind, size)


def steps_schema(description: Description) -> pa.Schema:
    """Return the schema of the files of `steps`; it tells `datasets` which column is a picture."""
    told = {"info": {"features": {IMAGE: {"_type": "Image"}}}} if description.pictures != "none" else {}
    return pa.schema([(name, kind) for name, kind, _ in step_columns(description)], {b"huggingface": json.dumps(told).encode()})


def meanings(description: Description) -> str:
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
        for name, kind, meaning in step_columns(description)
    ]
    lines += ["", "`episodes` (a row for each episode):", "", "| column | type | what it is |", "| --- | --- | --- |"]
    return "\n".join(lines + [f"| `{name}` | {kind} | {meaning} |" for name, (kind, meaning) in EPISODE_COLUMNS.items()])


def export(
    episodes: Sequence[Episode],
    out: str,
    *,
    pictures: Pictures = "images",
    pseudonyms: Pseudonyms,
    release: Release,
    advance: Advance | None = None,
) -> Exported:
    """Write episodes as data sets that `datasets.load_dataset(FOLDER, "steps")` opens, one for each task: `OUT/suite/task/`.

    Args:
        pictures: `images` or `none`.
        release: Facts about consent and licence, for the card.
    Raises:
        ExportError: If the episodes make no data set, or other data is in its place; nothing is written then.
        RecordingError: If an episode cannot be read or a file cannot be written; complete data sets stay.
    """
    if pictures == "video":
        raise ExportError("this format keeps pictures as images\nWrite --pictures images, or --format lerobot for videos.")

    def write(folder: Path, its_episodes: list[Episode], made: str) -> int:
        description = Description.of(its_episodes[0], pictures)
        schema, facts, num_steps = steps_schema(description), [], 0
        shards = ParquetShards(lambda number: folder / STEPS.format(number=number), schema, STEPS_MB << 20)
        for episode in its_episodes:
            kept: list[bytes] = []
            show = None if pictures == "none" else lambda frame, kept=kept: kept.append(to_png(frame))
            rows = walk(episode, description, pseudonyms, show)
            shards.write(_table(episode, description, rows, kept, schema))
            facts.append(rows.facts)
            num_steps += rows.num_steps
            if advance is not None:
                advance(rows.num_steps)
            episode.close()
        shards.close()
        path = folder / EPISODES.format(number=0)
        path.parent.mkdir()
        table = {name: [json.dumps(said) if name == "facts" else said[name] for said in facts] for name in EPISODE_COLUMNS}
        pq.write_table(pa.table({name: pa.array(table[name], kind) for name, (kind, _) in EPISODE_COLUMNS.items()}), path)
        write_json(folder / OURS, description.to_json() | {"made_of": made})
        write_card(
            folder, description, release, {"steps": "steps/*.parquet", "episodes": "episodes/*.parquet"},
            num_episodes=len(facts), num_steps=num_steps, columns=meanings(description),
        )  # fmt: skip
        return num_steps

    return write_each(episodes, out, (pictures, release), OURS, write)


def _table(episode: Episode, description: Description, rows: Rows, pictures: Sequence[bytes], schema: pa.Schema) -> pa.Table:
    count, steps = rows.num_steps + 1, episode.steps()
    values: dict[str, Any] = {
        "episode": [episode.id] * count,
        "step": np.arange(count),
        IMAGE: [{"bytes": data, "path": None} for data in pictures],
        "observation": rows.observations,
        "time_us": steps.column("time_us"),
        "frame_hash": rows.frame_hashes,
        "info": steps.column("info"),
        "terminated": steps.column("terminated"),
        "truncated": steps.column("truncated"),
    }
    for seat in description.action_spaces:
        values[description.column("action", seat)] = rows.actions[seat]
        values[description.column("reward", seat)] = rows.rewards[seat]
        values[description.column("owner", seat)] = list(rows.owners[seat])
    arrays = []
    for field in schema:
        array = column_of(values[field.name], field.type)
        if len(array) < count:  # belongs to the step, and the final observation has none
            array = pa.concat_arrays([array, pa.nulls(count - len(array), array.type)])
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=schema)


class _DataSet:
    def __init__(self, folder: Path) -> None:
        self._description = Description.read(folder / OURS)
        self.episodes: list[dict[str, Any]] = episodes_of(sorted(folder.glob("episodes/*.parquet")))
        self._files = sorted(folder.glob("steps/*.parquet"))

    @functools.cached_property
    def _where(self) -> dict[str, list[tuple[Path, int]]]:
        """Map each episode to the files and numbers of the row groups that hold it."""
        found: dict[str, list[tuple[Path, int]]] = {}
        for path in self._files:
            with pq.ParquetFile(path) as file:
                for group in range(file.num_row_groups):
                    for name in file.read_row_group(group, ["episode"]).column(0).unique().to_pylist():
                        found.setdefault(name, []).append((path, group))
        return found

    def read(self, said: dict[str, Any]) -> Brought:
        description, seats = self._description, self._description.action_spaces
        try:
            parts = []
            for path, group in self._where.get(said["episode"], []):
                with pq.ParquetFile(path) as file:
                    parts.append(file.read_row_group(group))
            if not parts:
                raise ValueError("it has no step")
            table = pa.concat_tables(parts)
            table = table.filter(pa.array([name == said["episode"] for name in table.column("episode").to_pylist()]))
            table = table.sort_by("step")
            steps = table.slice(0, table.num_rows - 1)
            rows = Rows(
                actions={seat: numbers(steps.column(description.column("action", seat))) for seat in seats},
                rewards={seat: steps.column(description.column("reward", seat)).to_numpy() for seat in seats},
                terminated=np.array(steps.column("terminated").to_pylist(), bool),
                truncated=np.array(steps.column("truncated").to_pylist(), bool),
                owners={seat: steps.column(description.column("owner", seat)).to_pylist() for seat in seats},
                observations=None if description.observation_space is None else numbers(table.column("observation")),
                frame_hashes=table.column("frame_hash").to_numpy(),
                facts=text_json(said["facts"]),
            )
        except (OSError, KeyError, ValueError, TypeError, pa.ArrowException) as error:
            raise RecordingError(f"it cannot be read: {error}\nFetch or export the data set again.") from error

        def pictures() -> Iterator[Frame]:
            for row in range(table.num_rows):
                picture = table.column(IMAGE)[row].as_py()["bytes"]
                yield from_png(picture, description.palette, description.height, description.width)

        return brought(description, rows, pictures if description.pictures == "images" else None, are_exact=True)


def _parts(folder: Path) -> list[Part]:
    dataset = _DataSet(folder)
    return [
        Part(str(said["episode"]), int(said["num_steps"]), functools.partial(dataset.read, said)) for said in dataset.episodes
    ]


FORMAT = Format("that Interplay wrote for Hugging Face", OURS, _parts)
