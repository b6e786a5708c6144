"""Verifying finds any changed byte, and names the first step that differs."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import text

import interplay.record
from blockworld import VERSION
from interplay.cli import _run
from interplay.envs import make
from interplay.envs.minerl_actions import CAMERA, KEYS
from interplay.envs.voxel import VoxelEnv
from interplay.record import Episode, verify
from interplay.record.verification.verify import verify_file
from interplay.tasks import find


def footer_start(data: bytes) -> int:
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def flipped(data: bytes, offset: int, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    changed[offset] ^= 1 << int(rng.integers(8))
    return bytes(changed)


@pytest.mark.parametrize("policy", ["indexed", "replay"])
def test_any_changed_byte_is_found_and_given_a_step(record, tmp_path, invaders, policy):
    episode = record(invaders, num_steps=300, policy=policy).episode
    data = episode.path.read_bytes()
    copy = tmp_path / "copy.parquet"
    rng = np.random.default_rng(7)
    footer = footer_start(data)
    groups = pq.read_metadata(episode.path)
    starts = np.cumsum([0] + [groups.row_group(index).num_rows for index in range(groups.num_row_groups)])
    ends = [end for end, _ in json.loads(groups.metadata[b"interplay.digests"])]
    offsets = [0, 3, 4, len(data) - 1, len(data) - 5, len(data) - 8, footer]
    offsets += rng.integers(footer, size=14).tolist() + rng.integers(footer, len(data), size=6).tolist()
    for offset in offsets:
        copy.write_bytes(flipped(data, offset, rng))
        verdict = verify_file(copy, episode.id, episode.sha256)
        assert not verdict.equal, offset
        assert verdict.reason
        if offset < ends[-1]:
            group = int(np.searchsorted(ends, offset, side="right"))
            assert starts[group] <= verdict.step < starts[group + 1], (offset, verdict)
        else:
            assert verdict.step is not None


def rewrite(episode: Episode, column: str, row: int, value) -> Episode:
    """The episode's file with one value changed, every checksum made right again: what only a replay can notice."""
    return rewritten(episode, {column: {row: value}})


def rewritten(
    episode: Episode, changes: dict[str, dict[int, Any]], *, more_digests: tuple[str, ...] = (), **env_versions: str
) -> Episode:
    """As `rewrite`, with several columns and rows, and as recorded with other versions."""
    import xxhash

    table = pq.read_table(episode.path)
    for column, changed in changes.items():
        values = [changed.get(row, value) for row, value in enumerate(table.column(column).to_pylist())]
        index = table.schema.get_field_index(column)
        table = table.set_column(index, table.schema.field(index), pa.array(values, table.schema.field(index).type))
    metadata = pq.read_metadata(episode.path)
    facts = json.loads(metadata.metadata[b"interplay"])
    facts["header"]["env_versions"] |= env_versions
    path = episode.path.with_name(f"{episode.id}.parquet")
    rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    ends = []
    with path.open("wb") as file, pq.ParquetWriter(file, table.schema.remove_metadata()) as writer:
        start = 0
        for count in rows:
            writer.write_table(table.slice(start, count))
            file.flush()
            ends.append(file.tell())
            start += count
        data, digests, begin = path.read_bytes(), [], 0
        for end in ends:
            digests.append((end, xxhash.xxh3_64_hexdigest(data[begin:end])))
            begin = end
        digests += [(end, digest) for digest in more_digests]
        writer.add_key_value_metadata({b"interplay": json.dumps(facts), b"interplay.digests": json.dumps(digests)})
    return replace(episode, place=path, blobs=None, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("reward.player", 77.0, "the replay gives reward"),
        ("frame_hash", 1, "frame"),
        ("terminated", True, "ends at another step"),
        ("truncated", True, "ends at another step"),
        ("info", '{"lives":9}', "another info"),
        ("frame", bytes(210 * 160), "stored frame is not the one"),
        ("step", 3, "do not count up"),
    ],
)
def test_the_replay_names_the_first_step_that_differs(record, invaders, column, value, reason):
    episode = record(invaders, num_steps=260).episode
    verdict = verify(rewrite(episode, column, 131, value))
    assert not verdict.equal
    assert reason in verdict.reason
    assert verdict.step == (120 if column == "step" else 131)


@pytest.mark.parametrize("has_hash", [True, False])
def test_a_footer_with_digests_of_row_groups_that_the_file_lacks_is_not_the_sealed_one(record, invaders, has_hash):
    sealed = record(invaders, num_steps=30).episode
    sha256 = sealed.sha256 if has_hash else None
    forged = rewritten(sealed, {}, more_digests=("0" * 16,))
    verdict = verify_file(forged.path, sealed.id, sha256)
    assert (verdict.equal, verdict.step) == (False, 0)
    assert "footer" in verdict.reason


def test_a_changed_action_shows_where_the_world_goes_another_way(record, invaders):
    played = record(invaders, num_steps=260)
    at = next(step for step in range(150, 260) if played.actions[step] != 4)
    changed = [*played.actions[:at], 4, *played.actions[at + 1 :]]
    env = make(invaders)
    env.reset(seed=3)
    diverges = None
    for step, action in enumerate(changed):
        if not np.array_equal(env.view().pixels, played.views[step]):
            diverges = step
            break
        env.step({"player": action})
    verdict = verify(rewrite(played.episode, "action.player", at, 4))
    assert verdict.step == diverges
    assert verdict.equal == (diverges is None)


def test_observations_beside_the_view_are_compared(record, cartpole):
    episode = record(cartpole, num_steps=30).episode
    assert verify(episode).equal
    verdict = verify(rewrite(episode, "observation", 9, [0.0, 0.0, 0.0, 0.0]))
    assert (verdict.step, verdict.reason) == (9, "the replay gives another observation than the recorded one")


def test_a_world_that_cannot_be_replayed_is_verified_by_its_hashes(record, make_cartpole, tmp_path):
    episode = record(make_cartpole(deterministic=False), num_steps=100, policy="video").episode
    verdict = verify(episode)
    assert verdict.equal
    assert not verdict.replayed
    assert "no replay, because the environment is not deterministic" in verdict.reason
    data = episode.path.read_bytes()
    copy = tmp_path / "copy.parquet"
    rng = np.random.default_rng(0)
    for offset in [*rng.integers(footer_start(data), size=15).tolist(), footer_start(data) + 40]:
        copy.write_bytes(flipped(data, offset, rng))
        verdict = verify_file(copy, episode.id, episode.sha256)
        assert not verdict.equal
        assert verdict.step is not None


def test_a_missing_file_is_different(record, invaders):
    episode = record(invaders, num_steps=5).episode
    episode.path.unlink()
    verdict = verify(episode)
    assert (verdict.equal, verdict.step) == (False, 0)


def test_verify_all_names_the_changed_episode(record, archive, invaders, capsys):
    good, bad, longer = (record(invaders, num_steps=count, seed=seed).episode for seed, count in ((1, 30), (2, 200), (3, 40)))
    command = ["episodes", "verify", "--all", "--data", str(archive.root), "--json"]
    assert _run(command) == 0
    assert json.loads(capsys.readouterr().out)["num_equal"] == 3
    data = bad.path.read_bytes()
    end_of_first = json.loads(pq.read_metadata(bad.path).metadata[b"interplay.digests"])[0][0]
    bad.path.write_bytes(flipped(data, end_of_first + 300, np.random.default_rng(1)))
    assert _run(command) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["num_equal"], document["num_different"]) == (2, 1)
    by_id = {item["episode"]: item for item in document["episodes"]}
    assert by_id[good.id]["equal"]
    assert by_id[longer.id]["equal"]
    assert by_id[good.id]["step"] is None
    assert not by_id[bad.id]["equal"]
    assert 120 <= by_id[bad.id]["step"] <= 200


def test_verify_all_in_two_processes_keeps_the_order(record, archive, make_cartpole, capsys, monkeypatch):
    import interplay.cli.episodes.catalogue

    monkeypatch.setattr(interplay.cli.episodes.catalogue, "_PARALLEL_STEPS", 1)
    names = [record(make_cartpole(), num_steps=10, seed=seed).episode.id for seed in range(3)]
    assert _run(["episodes", "verify", *names, "--data", str(archive.root), "--json"]) == 0
    assert [item["episode"] for item in json.loads(capsys.readouterr().out)["episodes"]] == names


def test_an_episode_under_another_name_is_noticed(record, archive, invaders):
    first, second = (record(invaders, num_steps=20, seed=seed).episode for seed in (1, 2))
    shutil.copy(first.path, second.path)
    assert not verify(archive.get(second.id)).equal
    assert verify_file(second.path, second.id, first.sha256).reason == f"the file holds episode {first.id}"


def test_a_replay_that_differs_names_a_changed_version(record, invaders, monkeypatch):
    from interplay.envs.atari import AtariEnv

    episode = record(invaders, num_steps=20).episode
    monkeypatch.setattr(AtariEnv, "versions", lambda self: {"gymnasium": "9.9", "ale-py": "0.1"})
    assert verify(episode).equal  # another version that plays the same is not a difference
    verdict = verify(rewrite(episode, "reward.player", 7, 5.0))
    assert verdict.step == 7
    assert "now 0.1" in verdict.reason


@pytest.fixture(scope="module")
def block_episode(tmp_path_factory) -> Iterator[Episode]:
    """Some seconds of the block world in a tiny picture: long enough for a snapshot to be kept."""
    archive = interplay.record.open(tmp_path_factory.mktemp("blocks"))
    task = find("basalt/sandbox")
    env = make(replace(task, env=replace(task.env, options=task.env.options | {"size": [64, 36], "kind": "flat"})))
    recorder = archive.recorder(env.task, env, seed=5, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=5))
    for step in range(VoxelEnv.snapshot_steps + 5):
        action = dict.fromkeys(KEYS, 0) | {"forward": step % 2, CAMERA: np.array([0.0, 2.0], np.float32)}
        recorder.step({"player": action}, env.step({"player": action}), clock_us=step * 50_000)
    yield archive.seal(recorder.finish("quit"))
    env.close()
    archive.close()


def test_an_episode_whose_pictures_an_earlier_version_drew_is_verified_by_its_states(block_episode, tmp_path):
    data = block_episode.path.read_bytes()
    other_pictures = {"frame_hash": {row: row for row in range(block_episode.num_steps + 1)}}
    earlier = rewritten(block_episode, other_pictures, world="2")
    verdict = verify(earlier)
    assert verdict.equal, verdict
    assert verdict.reason == (
        "the file equals the recording, and 1 kept state, rewards, endings and infos of the replay too; pictures were not "
        f"compared, because another version draws them differently (recorded with world 2, now {VERSION})"
    )
    # What really differs is found: where somebody looked, which no reward and no info tells.
    looked = [*pq.read_table(earlier.path).column("action.player").to_pylist()]
    looked[100] |= {CAMERA: [0.0, -30.0]}
    earlier = rewritten(earlier, {"action.player": {100: looked[100]}})
    verdict = verify(earlier)
    assert (verdict.equal, verdict.step, verdict.intact) == (False, VoxelEnv.snapshot_steps, True), verdict
    assert "the replay is in another state than the recorded one (recorded with world 2" in verdict.reason
    block_episode.path.write_bytes(data)


def test_nobody_is_sent_to_a_backup_for_a_file_that_is_as_it_was_sealed(record, archive, invaders, capsys):
    episode = record(invaders, num_steps=20, policy="replay").episode
    sha256 = rewrite(episode, "frame_hash", 7, 1).sha256
    with archive.database.engine.begin() as connection:  # as if this file had been sealed
        connection.execute(text("UPDATE episodes SET sha256 = :sha256"), {"sha256": sha256})
    assert _run(["episodes", "verify", episode.id, "--data", str(archive.root)]) == 1
    said = capsys.readouterr().out
    assert "differs from step 7 on: the replay shows another frame than the recorded one" in said
    assert "backup" not in said
