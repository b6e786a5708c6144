"""Bits flip, files are cut off, pages become zeros: what was recorded before is sealed and marked, and nothing is thrown away.

`INTERPLAY_JOURNAL_DAMAGES=500 pytest tests/record/test_damaged_journals.py` tries so many damages, and as many of the journals
that development versions wrote, which have no checksums.
"""

import json
import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import interplay.record
import interplay.store
from interplay.cli import _run
from interplay.envs import FramePolicy, make
from interplay.record import Archive, journal
from interplay.record.format.schema import METADATA_KEY
from interplay.tasks import Task, find

NUM_DAMAGES = int(os.environ.get("INTERPLAY_JOURNAL_DAMAGES", "40"))
KINDS = ("indexed", "replay", "video", "two seats", "block world")


class Recorded(NamedTuple):
    """A journal, its episode sealed, and the place in the file where each batch ends -> rows until there."""

    path: Path
    sealed: pa.Table
    rows_at: dict[int, int]
    end: int


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> dict[str, Recorded]:
    return {kind: record(tmp_path_factory.mktemp("data") / "data", kind) for kind in KINDS}


def record(data: Path, kind: str) -> Recorded:
    task, frames, num_steps = _task(kind)
    archive = interplay.record.open(data)
    env = make(task, frames=frames)
    env.action_space.seed(1)
    recorder = archive.recorder(task, env, seed=3, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=3))
    for step in range(num_steps):
        actions = env.action_space.sample()
        if kind == "block world":
            actions["player"]["ESC"] = 0  # that would end it
        result = env.step(actions)
        recorder.step(actions, result, clock_us=step * 50_000)  # 17 steps a batch
        assert not any(result[2:4])
    path = recorder.finish("quit")
    env.close()
    kept = shutil.copy(path, data / path.name)
    rows_at, rows = {}, 0
    with pa.OSFile(str(kept)) as file:
        stream = pa.ipc.open_stream(file)  # it is a stream of Arrow for other readers, too
        for batch in stream:
            rows += batch.num_rows
            rows_at[file.tell()] = rows
    sealed = pq.read_table(archive.seal(path).path)
    archive.close()
    *_, end = rows_at
    return Recorded(Path(kept), sealed, rows_at, end)


def _task(kind: str) -> tuple[Task, FramePolicy | None, int]:
    if kind == "two seats":
        return find("together/cooperative_pong"), None, 60
    if kind == "block world":
        return find("basalt/find_cave"), None, 100
    if kind == "video":
        return find("gymnasium/pendulum"), "video", 60
    return find("atari/breakout"), "replay" if kind == "replay" else None, 150


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """One bit flipped, the end cut off, or a page of zeros."""
    result = bytearray(content)
    place = int(rng.integers(len(content)))
    match rng.integers(3):
        case 0:
            result[place] ^= 1 << int(rng.integers(8))
        case 1:
            del result[place:]
        case _:
            page = place // 4096 * 4096
            result[page : page + 4096] = bytes(len(result[page : page + 4096]))
    return bytes(result)


def repaired(archive: Archive, name: str, content: bytes) -> tuple[pa.Table | None, bool]:
    """What is sealed of a journal, and whether it is marked; the file must stay as it was unless all of it is sealed."""
    path = archive.journal_folder / name
    path.write_bytes(content)
    result = archive.repair()
    assert not result.failed
    left = list(archive.journal_folder.iterdir())
    assert len(left) <= 1
    is_marked = False
    if result.set_aside:
        assert left[0].name == f"{name}.unreadable"
    for episode in result.sealed:
        is_marked = "damaged_journal" in episode.statistics
        assert [one.name for one in left] == ([f"{name}.damaged"] if is_marked else [])
        assert not is_marked or episode.outcome == "interrupted"
    for file in left:
        assert file.read_bytes() == content
        file.unlink()
    if not result.sealed:
        return None, bool(result.set_aside)
    with archive.database.write() as session:
        for episode in result.sealed:
            session.delete(session.get_one(interplay.store.EpisodeRow, episode.id))
    table = pq.read_table(result.sealed[0].path)
    result.sealed[0].path.unlink()
    return table, is_marked


def is_prefix(table: pa.Table, whole: pa.Table) -> bool:
    """Whether these rows are the first of the whole episode, the last without the action that nobody read."""
    last = table.num_rows - 1
    return table.slice(0, last).drop_columns("truncated") == whole.slice(0, last).drop_columns("truncated") and all(
        table.column(name)[last] == whole.column(name)[last] for name in ("step", "info", "frame_hash")
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_recorded_before_the_damage_is_sealed_and_marked(archive, recorded, kind):
    one = recorded[kind]
    whole = one.path.read_bytes()
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(NUM_DAMAGES // len(KINDS)):
        content = damaged(whole, rng)
        if content == whole:
            continue
        good = next((at for at, (a, b) in enumerate(zip(whole, content, strict=False)) if a != b), len(content))
        rows = max((rows for at, rows in one.rows_at.items() if at <= good), default=0)
        table, is_marked = repaired(archive, one.path.name, content)
        if rows < 2:
            assert table is None
            continue
        assert table is not None
        assert table.num_rows == rows
        assert is_prefix(table, one.sealed) if kind != "video" else table.column("step") == one.sealed.column("step")[:rows]
        is_torn = len(content) not in one.rows_at and good < one.end
        assert is_marked == is_torn, (good, len(content))


@pytest.mark.long_proof
@pytest.mark.parametrize("kind", KINDS)
def test_journals_without_checksums_are_read_with_care(archive, recorded, kind):
    """As development versions wrote them. What their bytes cannot tell, such as the size of a reward, stays unknown."""
    one = recorded[kind]
    old = one.path.with_suffix(".old")
    with pa.OSFile(str(one.path)) as source, pa.OSFile(str(old), "wb") as target:
        stream = pa.ipc.open_stream(source)
        options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
        with pa.ipc.new_stream(target, stream.schema, options=options) as writer:
            for _ in one.rows_at:
                batch, metadata = stream.read_next_batch_with_custom_metadata()
                writer.write_batch(batch, custom_metadata=metadata)
    whole = old.read_bytes()
    assert journal._MARK not in whole
    table, is_marked = repaired(archive, one.path.name, whole)
    assert (table == one.sealed, is_marked) == (True, False)
    rng = np.random.default_rng(10 + KINDS.index(kind))
    for _ in range(NUM_DAMAGES // len(KINDS) // 4):
        table, is_marked = repaired(archive, one.path.name, damaged(whole, rng))
        if table is not None:
            assert table.column("step").to_pylist() == list(range(table.num_rows))
            if kind == "indexed":
                assert table.column("frame")[:-1] == one.sealed.column("frame")[: table.num_rows - 1]


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("has_checksums", [True, False])
def test_a_journal_of_another_version_stays_under_its_name(archive, recorded, version, has_checksums):
    with closing(journal.Segment(recorded["indexed"].path)) as segment:
        header = json.loads(segment.schema.metadata[METADATA_KEY]) | {"schema_version": version}
        schema = segment.schema.with_metadata({METADATA_KEY: json.dumps(header).encode()})
    messages = journal.Messages(schema)
    content = messages.schema if has_checksums else schema.serialize().to_pybytes()
    path = archive.journal_folder / recorded["indexed"].path.name
    path.write_bytes(content + journal.END_OF_STREAM)
    result = archive.repair()
    (reason,) = result.failed.values()
    assert f"has schema version {version}; this Interplay reads version 2. It stays as it is.\n" in reason
    assert reason.endswith(
        {1: "Read it with the version that wrote it.", 3: "Upgrade:  pip install --upgrade interplay"}[version]
    )
    assert (result.set_aside, path.exists()) == ({}, True)


def test_a_game_that_goes_on_from_before_the_damage_keeps_the_damaged_file(archive, recorded):
    bad = recorded["indexed"]
    content = bytearray(bad.path.read_bytes())
    content[list(bad.rows_at)[4] + 50] ^= 1
    path = archive.journal_folder / bad.path.name
    path.write_bytes(content)
    env, recorder, state = interplay.record.resume(archive, journal.episode_of(path))
    assert state.num_steps == 68
    recorder.step({"player": 0}, env.step({"player": 0}), clock_us=state.clock_us + 50_000)
    episode = archive.seal(recorder.finish("quit"))
    env.close()
    assert (episode.num_steps, episode.outcome, "damaged_journal" in episode.statistics) == (69, "quit", False)
    assert [one.name for one in archive.journal_folder.iterdir()] == [f"{path.name}.damaged"]


def test_repair_names_the_damaged_journal_and_goes_on_to_the_next(archive, recorded, capsys):
    bad, good = recorded["indexed"], recorded["two seats"]
    content = bytearray(bad.path.read_bytes())
    content[list(bad.rows_at)[4] + 50] ^= 1
    (archive.journal_folder / bad.path.name).write_bytes(content)
    shutil.copy(good.path, archive.journal_folder)
    assert _run(["episodes", "repair", "--data", str(archive.root)]) == 0
    said = capsys.readouterr().out
    assert f"sealed {journal.episode_of(bad.path)}: 68 steps" in said
    assert "its journal is damaged behind them, and stays as journal/*.damaged" in said
    assert f"sealed {journal.episode_of(good.path)}: 60 steps" in said
    assert [path.name for path in archive.journal_folder.iterdir()] == [f"{bad.path.name}.damaged"]
