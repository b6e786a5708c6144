"""Recordings of an older release, committed in `data/`, open, verify, replay and are sealed as they were then."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from make_data import latencies

import interplay.record
from interplay.cli import _run
from interplay.record import Episode, verify
from interplay.record.replay import play_again

pytestmark = pytest.mark.long_proof

DATA = Path(__file__).parent / "data" / "schema-2"
EXPECTED = json.loads((DATA / "expected.json").read_text())["episodes"]
NOT_SEALED = {"sha256", "sum_of_hashes", "sum_of_latencies"}
"""Of an entry of `expected.json`: what is not the episode's own facts."""


@pytest.fixture
def old_folder(archive) -> Path:
    """A data folder as the older release left it, without its database: sealed files, and a journal that was torn."""
    for name, facts in EXPECTED.items():
        target = archive.episode_path(facts["task_id"], name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DATA / f"{name}.parquet", target)
    shutil.copy(DATA / "torn.0.arrows", archive.journal_folder)
    return archive.root


def test_a_sealed_file_of_the_older_release_opens_and_replays():
    """Its facts, steps and pictures are what that release wrote down about it."""
    for name in EXPECTED:
        expected = EXPECTED[name]
        episode = Episode.open(DATA / f"{name}.parquet")
        facts = episode.to_json()
        assert {key: facts[key] for key in expected if key not in NOT_SEALED} == {
            key: value for key, value in expected.items() if key not in NOT_SEALED
        }
        steps = episode.steps()
        assert steps.num_rows == episode.num_steps + 1
        assert sum(steps.column("frame_hash").to_pylist()) == expected["sum_of_hashes"]
        assert sum(sum(column.to_pylist()) for column in latencies(steps)) == expected["sum_of_latencies"]
        assert len(episode.actions()) == len(episode.rewards()) == episode.num_steps
        assert episode.frames[episode.num_steps].rgb().any()
        if episode.header.deterministic and name != "cave":  # 210 pictures of the block world: the test below replays it once
            assert play_again(episode) == episode.total_reward


def test_a_folder_of_the_older_release_is_repaired_and_stays_so(old_folder, capsys):
    """Files are entered, the torn journal is sealed as far as it is whole, all verify; a second repair has nothing to do."""

    def run(*arguments: str):
        assert _run(["episodes", *arguments, "--data", str(old_folder), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    repaired = run("repair")
    assert sorted(repaired["catalogued"]) == sorted(EXPECTED)
    (torn,) = repaired["sealed"]
    assert (torn["id"], torn["outcome"], torn["actor_kind"]) == ("torn", "interrupted", "human")
    whole = pq.read_table(DATA / "invaders.parquet")  # the same game, not torn
    assert 200 < torn["num_steps"] < 300
    archive = interplay.record.open(old_folder)
    episode = archive.get("torn")
    np.testing.assert_array_equal(episode.actions(), whole.column("action.player").to_numpy()[: episode.num_steps])
    hashes = episode.steps().column("frame_hash").to_pylist()
    assert hashes == whole.column("frame_hash").to_pylist()[: episode.num_steps + 1]
    assert {name: archive.get(name).sha256 for name in EXPECTED} == {name: facts["sha256"] for name, facts in EXPECTED.items()}
    archive.close()
    verified = run("verify", "--all")
    assert verified["num_equal"] == len(EXPECTED) + 1
    found = {one["episode"]: (one["equal"], one["intact"], one["replayed"]) for one in verified["episodes"]}
    assert found == {name: (True, True, name != "cartpole-video") for name in (*EXPECTED, "torn")}
    again = run("repair")
    assert (again["sealed"], again["catalogued"]) == ([], [])
    assert {row["id"] for row in run("list", "--where", "actor_kind = human")} == {"invaders", "cave", "kitchen", "torn"}


def test_a_torn_journal_of_the_older_release_goes_on(old_folder):
    """The game is rebuilt from its journal, and what is played from there on is recorded with it."""
    archive = interplay.record.open(old_folder)
    env, recorder, state = interplay.record.resume(archive, "torn")
    begun = state.num_steps
    for step in range(begun, begun + 30):
        recorder.step({"player": 1}, env.step({"player": 1}), clock_us=step * 16_667)
    episode = archive.seal(recorder.finish("quit"))
    assert episode.num_steps == begun + 30
    assert episode.actions().tolist()[-30:] == [1] * 30
    assert verify(episode).equal
    archive.close()
