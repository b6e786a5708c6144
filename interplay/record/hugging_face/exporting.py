"""Episodes to data sets of the Hugging Face library `datasets`, one a task, with all its seats, without loss."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from interplay.files import write_json
from interplay.record.exchange.card import Release, write_card
from interplay.record.exchange.pictures import to_png
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.exchange.rows import Description, Pictures, Rows, walk
from interplay.record.exchange.shards import ParquetShards, column_of
from interplay.record.exchange.writing import Advance, Exported, ExportError, by_task, write_each
from interplay.record.hugging_face import columns
from interplay.record.sealed import Episode


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
        episodes: Of one version of each task.
        pictures: As `images`, or `none`.
        pseudonyms: Instead of the names of people.
        release: What the card says of consent and licence.
    Raises:
        ExportError: If they make no data set, or one is there already; nothing is written then.
        RecordingError: If an episode cannot be read or a file cannot be written; data sets that are whole stay.
    """
    if pictures == "video":
        raise ExportError("this format keeps pictures as images\nWrite --pictures images, or --format lerobot for videos.")
    of_task, left_out = by_task(episodes)
    places = {task_id: Path(out).resolve() / task_id for task_id in of_task}

    def write(folder: Path, its_episodes: list[Episode], made: str) -> int:
        description = Description.of(its_episodes[0], pictures)
        schema, facts, num_steps = columns.schema(description), [], 0
        shards = ParquetShards(lambda number: folder / columns.STEPS.format(number=number), schema, columns.STEPS_MB << 20)
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
        path = folder / columns.EPISODES.format(number=0)
        path.parent.mkdir()
        pq.write_table(_episodes(facts), path)
        write_json(folder / columns.OURS, description.to_json() | {"made_of": made})
        write_card(
            folder, description, release, {"steps": "steps/*.parquet", "episodes": "episodes/*.parquet"},
            num_episodes=len(facts), num_steps=num_steps, columns=columns.meanings(description),
        )  # fmt: skip
        return num_steps

    return Exported(write_each(places, of_task, (pictures, release), columns.OURS, write), left_out)


def _table(episode: Episode, description: Description, rows: Rows, pictures: Sequence[bytes], schema: pa.Schema) -> pa.Table:
    """The T + 1 rows of an episode."""
    count, steps = rows.num_steps + 1, episode.steps()
    values: dict[str, Any] = {
        "episode": [episode.id] * count,
        "step": np.arange(count),
        columns.IMAGE: [{"bytes": data, "path": None} for data in pictures],
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


def _episodes(facts: Sequence[Any]) -> pa.Table:
    rows = {name: [json.dumps(said) if name == "facts" else said[name] for said in facts] for name in columns.EPISODE_COLUMNS}
    return pa.table({name: pa.array(rows[name], kind) for name, (kind, _) in columns.EPISODE_COLUMNS.items()})
