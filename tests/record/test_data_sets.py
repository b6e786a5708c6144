"""Data sets of LeRobot and of Hugging Face: what is exported is what was recorded, and comes back proved."""

import functools
import json
import os
import subprocess
from typing import ClassVar

import av
import gymnasium
import numpy as np
import pandas
import pyarrow.parquet as pq
import pytest
from user_loop import cartpoles

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.cli import _run
from interplay.envs import make
from interplay.envs.base import Frame
from interplay.record import Owner, RecordedEpisode, RecordingError, verify
from interplay.record.datasets import hugging_face, lerobot_export, lerobot_import
from interplay.record.datasets.lerobot_layout import VideoFile, read_video
from interplay.record.exchange.card import Release
from interplay.record.exchange.columns import from_png, to_png
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.tasks import find

NAMES = Pseudonyms(b"0" * 64)
to_lerobot = functools.partial(lerobot_export.export, pseudonyms=NAMES, release=Release())
to_hugging_face = functools.partial(hugging_face.export, pseudonyms=NAMES, release=Release())
FORMATS = [
    pytest.param(functools.partial(to_lerobot, pictures="video"), lerobot_import.FORMAT, id="lerobot, video"),
    pytest.param(functools.partial(to_lerobot, pictures="images"), lerobot_import.FORMAT, id="lerobot, images"),
    pytest.param(functools.partial(to_hugging_face, pictures="images"), hugging_face.FORMAT, id="hugging face"),
]


def same_episode(one, other):
    """Actions, rewards, ends, seats, owners and facts are equal."""
    for seat in one.header.seats:
        np.testing.assert_array_equal(one.actions(seat), other.actions(seat))
        np.testing.assert_array_equal(one.rewards(seat), other.rewards(seat))
    for name in ("terminated", "truncated", *(f"owner.{seat}" for seat in one.header.seats)):
        assert one.steps().column(name).to_pylist() == other.steps().column(name).to_pylist()
    for name in ("id", "task_hash", "seed", "outcome", "seats", "created_at", "terminated", "truncated"):
        assert getattr(one, name) == getattr(other, name)


class Short(gymnasium.Env):
    """Ends after three steps, with numbers that only 64 bits without a sign can hold."""

    metadata: ClassVar = {"render_modes": ["rgb_array"], "render_fps": 10}
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0, 2**64 - 1, (2,), np.uint64)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._step = 0
        return np.array([2**64 - 1, 0], np.uint64), {}

    def step(self, action):
        self._step += 1
        return np.array([2**64 - 1 - self._step, action], np.uint64), 1.0, self._step == 3, False, {}

    def render(self):
        return np.full((16, 16, 3), self._step, np.uint8)


@pytest.mark.parametrize(("export", "room"), FORMATS)
def test_games_of_a_few_steps_and_very_large_numbers_go_there_and_back(
    record, archive, make_cartpole, tmp_path, monkeypatch, export, room
):
    """The encoder of a video keeps its first pictures for itself, so there is no file yet when the second game comes."""
    spec = gymnasium.envs.registration.EnvSpec("Short-v0", entry_point=Short, disable_env_checker=True)
    monkeypatch.setitem(gymnasium.registry, "Short-v0", spec)
    played = [record(make_cartpole(env_id="gym:Short-v0"), num_steps=9, seed=seed).episode for seed in (1, 2, 3)]
    (written,) = export(played, str(tmp_path / "out")).datasets
    assert (written.num_episodes, written.num_steps) == (3, 9)
    other = interplay.record.open(tmp_path / "other")
    imported = room.import_data_sets(other, str(tmp_path / "out"))
    assert len(imported.proved) == 3
    for one in played:
        same_episode(one, other.get(one.id))
        np.testing.assert_array_equal(one.raw_observations(), other.get(one.id).raw_observations())
    other.close()


@pytest.mark.journey("LeRobot and Hugging Face, exported and imported, proved by replay")
@pytest.mark.parametrize(("export", "room"), FORMATS)
def test_a_round_trip_is_proved_and_keeps_everything(record, archive, other, invaders, tmp_path, export, room):
    """Several episodes, and a game of two seats; pictures are drawn again by the replay, so they are equal too."""
    played = [record(invaders, num_steps=40, seed=seed) for seed in (3, 4)]
    task = find("together/cooperative_pong")
    agents = {seat: find_agent("random") for seat in task.seats}
    rollout(archive, task, agents, 5, rng=np.random.default_rng(0), max_steps=10)
    told = []
    written = export(archive.episodes(), str(tmp_path / "out"), advance=told.append).datasets
    assert [(one.task, one.num_episodes, one.num_steps) for one in written] == [(invaders.id, 2, 80), (task.id, 1, 10)]
    assert sum(told) == room.num_steps_in(str(tmp_path / "out")) == 90
    imported = room.import_data_sets(other, str(tmp_path / "out"))
    assert (len(imported.proved), imported.kept, imported.refused) == (3, {}, {})
    for episode in archive.episodes():
        same_episode(episode, other.get(episode.id))
        assert verify(other.get(episode.id)).equal
    for one in played:
        for frame, view in zip(other.get(one.episode.id).frames, one.views, strict=True):
            np.testing.assert_array_equal(frame.pixels, view)
    assert len(room.import_data_sets(other, str(tmp_path / "out")).there_already) == 3
    assert not [path for path in other.root.iterdir() if path.name.startswith(".import")]


@pytest.mark.parametrize(("export", "room"), FORMATS)
def test_what_no_replay_proves_is_kept(archive, other, tmp_path, monkeypatch, export, room):
    """Numbers stay exact; pictures are beside them."""
    episodes = cartpoles(archive)
    export(episodes, str(tmp_path / "out"))
    monkeypatch.setitem(gymnasium.registry, "CartPole-v1", gymnasium.registry["Pendulum-v1"])
    imported = room.import_data_sets(other, str(tmp_path / "out"))
    assert imported.kept.keys() == {episode.id for episode in episodes}
    monkeypatch.undo()
    for episode in episodes:
        kept = other.get(episode.id)
        same_episode(episode, kept)
        np.testing.assert_array_equal(kept.raw_observations(), episode.raw_observations())
        seen, drawn = kept.frames[3].rgb().astype(int), episode.frames[3].rgb().astype(int)
        assert np.abs(seen - drawn).mean() < 4  # of 255: both are videos


def test_pictures_of_a_hugging_face_data_set_are_those_of_the_recording(record, archive, other, invaders, tmp_path):
    played = record(invaders, num_steps=20)
    to_hugging_face([played.episode], str(tmp_path))
    folder = tmp_path / invaders.id
    steps = pq.read_table(folder / "steps")
    assert steps.num_rows == 21
    palette = played.episode.header.palette
    for view, said in zip(played.views, steps.column("image").to_pylist(), strict=True):
        np.testing.assert_array_equal(from_png(said["bytes"], palette, *view.shape[:2]).pixels, view)
    assert steps.column("action").to_pylist() == [*played.actions, None]
    assert steps.column("reward").to_pylist() == [*(result[1] for result in played.results), None]
    assert steps.column("truncated").to_pylist() == [False] * 19 + [True, None]
    features = json.loads(pq.read_schema(next((folder / "steps").iterdir())).metadata[b"huggingface"])["info"]["features"]
    assert features == {"image": {"_type": "Image"}}
    (row,) = pq.read_table(folder / "episodes").to_pylist()
    assert (row["episode"], row["seed"], row["num_steps"]) == (played.episode.id, 3, 20)
    assert json.loads(row["facts"])["statistics"]["lives"] == 3


@pytest.mark.parametrize("export", [to_lerobot, to_hugging_face])
def test_an_export_that_was_stopped_goes_on(record, archive, invaders, tmp_path, export):
    """What is whole is kept, what is not leaves nothing; with other episodes it is another data set."""
    record(invaders, num_steps=5)
    cartpoles(archive, 1)
    episodes = archive.episodes()

    def stop(steps):
        if steps != 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(episodes, str(tmp_path), pictures="none", advance=stop)
    assert list((tmp_path / "mine").iterdir()) == []
    before = (tmp_path / invaders.id / "README.md").stat().st_mtime_ns
    written = export(episodes, str(tmp_path), pictures="none").datasets
    assert [(one.task, one.is_new) for one in written] == [(invaders.id, False), ("mine/cartpole", True)]
    assert (tmp_path / invaders.id / "README.md").stat().st_mtime_ns == before
    record(invaders, num_steps=6, seed=9)
    with pytest.raises(RecordingError, match="is there already, and is not replaced"):
        export(archive.episodes(), str(tmp_path), pictures="none")


def test_the_card_says_what_is_in_it_and_how_consent_was_applied(archive, tmp_path):
    cartpoles(archive, 1)
    release = Release("cc-by-4.0", 3, "good@1, 00ff")
    hugging_face.export(archive.episodes(), str(tmp_path), pseudonyms=NAMES, release=release, pictures="none")
    card = (tmp_path / "mine/cartpole/README.md").read_text()
    front, text = card.removeprefix("---\n").split("\n---\n", 1)
    assert 'license: "cc-by-4.0"' in front
    assert "- config_name: steps\n  data_files:\n  - split: train\n    path: steps/*.parquet\n  default: true" in front
    assert "1 episode, " in text
    assert "because somebody in them did not agree: 3." in text
    assert "| saved query | good@1, 00ff |" in text
    assert "| `observation` |" in text


def test_the_layout_of_lerobot_is_as_its_page_says(record, archive, invaders, tmp_path, monkeypatch):
    """Offsets lead to the rows and to the pictures of each episode, over several files."""
    monkeypatch.setattr("interplay.record.datasets.lerobot_layout.DATA_MB", 0)  # a file for each episode
    played = [record(invaders, num_steps=count, seed=count) for count in (12, 7, 9)]
    to_lerobot([one.episode for one in played], str(tmp_path))
    root = tmp_path / invaders.id
    info = json.loads((root / "meta/info.json").read_text())
    assert {
        name: info[name] for name in ("codebase_version", "total_episodes", "total_frames", "total_tasks", "fps", "splits")
    } == {
        "codebase_version": "v3.0",
        "total_episodes": 3,
        "total_frames": 28,
        "total_tasks": 1,
        "fps": 60,
        "splits": {"train": "0:3"},
    }
    tasks = pandas.read_parquet(root / "meta/tasks.parquet")
    assert tasks.index.tolist() == [invaders.goal]
    assert tasks["task_index"].tolist() == [0]
    episodes = pq.read_table(root / "meta/episodes").to_pylist()
    assert [row["length"] for row in episodes] == [12, 7, 9]
    assert [(row["dataset_from_index"], row["dataset_to_index"]) for row in episodes] == [(0, 12), (12, 19), (19, 28)]
    for number, (row, one) in enumerate(zip(episodes, played, strict=True)):
        chunk, file = row["data/chunk_index"], row["data/file_index"]
        table = pq.read_table(root / info["data_path"].format(chunk_index=chunk, file_index=file))
        assert (chunk, file) == (0, number)
        assert table.column("action").to_pylist() == one.actions
        assert table.column("next.reward").to_pylist() == [result[1] for result in one.results]
        assert table.column("next.done").to_pylist() == [False] * (len(one.actions) - 1) + [True]
        assert set(table.column_names) == info["features"].keys() - {"observation.images.view"}
        key = "observation.images.view"
        place = {"chunk_index": row[f"videos/{key}/chunk_index"], "file_index": row[f"videos/{key}/file_index"]}
        start = round(row[f"videos/{key}/from_timestamp"] * 60)
        with av.open(str(root / info["video_path"].format(video_key=key, **place))) as video:
            frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
        assert len(frames) == 13 + 8 + 10
        for view, frame in zip(one.views, frames[start:], strict=False):
            wanted = Frame(view, one.episode.header.palette).rgb()
            assert np.abs(frame.astype(int) - wanted).mean() < 3
    statistics = json.loads((root / "meta/stats.json").read_text())
    actions = np.concatenate([one.actions for one in played])
    assert statistics["action"]["mean"] == pytest.approx([actions.mean()])
    assert statistics["action"]["std"] == pytest.approx([actions.std()])
    assert (statistics["action"]["min"], statistics["action"]["max"]) == ([actions.min()], [actions.max()])
    assert statistics["action"]["count"] == [28]
    assert np.shape(statistics["observation.images.view"]["mean"]) == (3, 1, 1)
    assert episodes[1]["stats/action/mean"] == pytest.approx([np.mean(played[1].actions)])


def test_a_picture_of_odd_size_gets_a_line_more(tmp_path):
    """H.264 in yuv420p has even sides; what is read is cut back."""
    picture = np.zeros((21, 33, 3), np.uint8)
    picture[:, :, 1] = 200
    file = VideoFile(tmp_path / "odd.mp4", 22, 34, 10)
    for _ in range(3):
        file.add(Frame(picture), is_first=False)
    file.close()
    (frame,) = read_video(tmp_path / "odd.mp4", 0.2, 1, 10, 21, 33)
    assert frame.pixels.shape == (21, 33, 3)
    assert np.abs(frame.pixels.astype(int) - picture).mean() < 3
    with pytest.raises(RecordingError, match=r"odd.mp4 ends after 1 of 2 pictures"):
        list(read_video(tmp_path / "odd.mp4", 0.2, 2, 10, 21, 33))


def test_people_have_pseudonyms_and_takeovers_stay(archive, other, tmp_path):
    """An agent takes the seat of a person over: every step says who acted, under the same pseudonym in every format."""
    task = find("atari/space_invaders")
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, owners={"player": Owner("participant-7", "human")})
    played = RecordedEpisode(env, recorder)
    played.start(3)
    for step in range(10):
        played.step({"player": 0}, owners={"player": "participant-7" if step < 6 else "scripted"})
    episode = archive.seal(recorder.finish("left"))
    env.close()
    person = NAMES.player("participant-7")
    assert person.startswith("person-")
    for export, room, place in [
        (to_lerobot, lerobot_import.FORMAT, tmp_path / "lerobot"),
        (to_hugging_face, hugging_face.FORMAT, tmp_path / "hugging_face"),
    ]:
        export([episode], str(place))
        files = [path for path in place.rglob("*") if path.is_file()]
        assert not [path.name for path in files if b"participant-7" in path.read_bytes()]
        found = room.import_data_sets(other, str(place))
        assert len(found.proved) + len(found.there_already) == 1
        copy = other.get(episode.id)
        assert copy.steps().column("owner.player").to_pylist()[:10] == [f"imported/{person}"] * 6 + ["scripted"] * 4
        assert [(held.actor_kind, held.num_steps) for held in copy.seats] == [("human", 6), ("agent", 4)]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda said: said | {"format_version": 9}, "format_version is 9, and this release reads 1"),
        (lambda said: {}, "describes no data set that Interplay wrote: 'format_version'"),
        (lambda said: said | {"task": said["task"] | {"id": "../../x"}}, "its task is called '../../x'; expected SUITE/NAME"),
        (lambda said: said | {"task": said["task"] | {"id": None}}, "its task is called None; expected SUITE/NAME"),
        (lambda said: said | {"height": float("inf")}, "cannot convert float infinity to integer"),
        (lambda said: said | {"observation_space": {"kind": "Discrete", "n": 2**63, "start": 0}}, "too large"),
        (lambda said: said | {"action_spaces": {}}, "its seats are not those of its task"),
        (lambda said: said | {"height": 10**6}, "its pictures have 1000000 x"),
    ],
)
def test_a_description_that_cannot_be_is_refused(archive, other, tmp_path, change, expected):
    cartpoles(archive, 1)
    to_hugging_face(archive.episodes(), str(tmp_path), pictures="none")
    file = tmp_path / "mine/cartpole/interplay.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises(RecordingError) as error:
        hugging_face.FORMAT.import_data_sets(other, str(tmp_path))
    assert expected in str(error.value)
    assert other.episodes() == []


def test_a_picture_of_another_size_is_not_unpacked():
    data = to_png(Frame(np.zeros((4, 6, 3), np.uint8)))
    assert from_png(data, None, 4, 6).pixels.shape == (4, 6, 3)
    for wrong in (data, b"", None):
        with pytest.raises(RecordingError, match="a picture of the data set cannot be read"):
            from_png(wrong, None, 6, 4)


def test_a_list_of_episodes_without_its_columns_is_refused(archive, other, tmp_path):
    cartpoles(archive, 1)
    to_hugging_face(archive.episodes(), str(tmp_path), pictures="none")
    file = tmp_path / "mine/cartpole/episodes/episodes-00000.parquet"
    pq.write_table(pq.read_table(file, columns=["episode"]), file)
    for read in (
        hugging_face.FORMAT.num_steps_in,
        lambda place: hugging_face.FORMAT.import_data_sets(other, place),
    ):
        with pytest.raises(RecordingError, match="its list of episodes cannot be read: KeyError: 'num_steps'"):
            read(str(tmp_path))


def test_what_is_asked_wrongly_is_said_in_words(archive, invaders, record, tmp_path, capsys):
    cartpoles(archive, 1)
    out = tmp_path / "out"

    def said(*words):
        status = _run(["episodes", *map(str, words), "--data", str(archive.root)])
        return status, " ".join(capsys.readouterr().err.replace("│", " ").split())

    for words, status, expected in [
        (("export", "--all", "--format", "hugging-face", "--pictures", "video", "--out", out), 2, "keeps pictures as images"),
        (("export", "--all", "--pictures", "none"), 2, "--pictures and --license are for other data sets; add --format"),
        (("export", "--all", "--query", "good"), 2, "or choose some by --task and --where, or by --query"),
        (("export", "--query", "good"), 2, "unknown saved query 'good'"),
        (("import", tmp_path, "--format", "lerobot"), 1, "no file meta/interplay.json"),
        (("import", tmp_path, "--format", "hugging-face"), 1, "no data set that Interplay wrote for Hugging Face in"),
    ]:
        found, error = said(*words)
        assert (found, expected in error) == (status, True), error
    for pictures in ("none", "images"):
        found, error = said("export", "--all", "--format", "lerobot", "--pictures", pictures, "--out", out)
    assert found == 2
    assert "is there already, and is not replaced" in error
    assert said("import", out, "--format", "lerobot", "--json")[0] == 0


READER = """
import json, sys
try:
    from lerobot.datasets.lerobot_dataset import LeRobotDataset
except ModuleNotFoundError:
    from ledataset.datasets.lerobot_dataset import LeRobotDataset
dataset = LeRobotDataset("local/test", root=sys.argv[1])
rows = [dataset[index] for index in range(len(dataset))]
print(json.dumps({
    "episodes": dataset.num_episodes,
    "actions": [int(row["action"]) for row in rows],
    "rewards": [float(row["next.reward"]) for row in rows],
    "picture": list(rows[0]["observation.images.view"].shape),
    "task": rows[0]["task"],
}))
"""


@pytest.mark.skipif(
    not os.environ.get("INTERPLAY_LEROBOT_PYTHON"),
    reason="LeRobot needs an environment of its own: INTERPLAY_LEROBOT_PYTHON names its interpreter",
)
def test_lerobot_opens_the_layout(record, invaders, tmp_path):
    played = [record(invaders, num_steps=12, seed=seed) for seed in (1, 2)]
    to_lerobot([one.episode for one in played], str(tmp_path), pictures="images")
    command = [os.environ["INTERPLAY_LEROBOT_PYTHON"], "-c", READER, str(tmp_path / invaders.id)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    found = json.loads(said.stdout.splitlines()[-1])
    assert found == {
        "episodes": 2,
        "actions": [*played[0].actions, *played[1].actions],
        "rewards": [result[1] for one in played for result in one.results],
        "picture": [3, 210, 160],
        "task": invaders.goal,
    }
