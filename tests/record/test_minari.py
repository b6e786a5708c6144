"""Data sets of Minari: what is exported is what was recorded, and comes back proved."""

import functools
import json
import sys
from pathlib import Path
from typing import ClassVar

import gymnasium
import h5py
import minari
import numpy as np
import pytest
from minari.data_collector import EpisodeBuffer
from user_loop import cartpoles

from interplay import testing
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.cli import _run
from interplay.envs import pipeline
from interplay.envs.observation import observe
from interplay.record import RecordingError, verify
from interplay.record.datasets import minari_export as exporting
from interplay.record.datasets.minari_import import import_data_sets
from interplay.record.exchange.importer import UNKNOWN_SEED
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.exchange.writer import ExportError
from interplay.tasks import Task, find

export = functools.partial(exporting.export, pseudonyms=Pseudonyms(b"0" * 64))


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch) -> Path:
    """Minari's own folder, of this test."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "own"))
    return tmp_path / "own"


def load(root, dataset_id):
    """A data set as Minari itself loads it."""
    return minari.MinariDataset(root / dataset_id / "data")


def test_a_data_set_has_every_pixel_action_reward_and_end(record, archive, invaders, tmp_path, monkeypatch):
    """Written forty observations at a time, as longer episodes are."""
    monkeypatch.setattr(exporting, "_CHUNK_BYTES", 40 * 210 * 160)
    played = [record(invaders, num_steps=100, seed=seed) for seed in (3, 4)]
    told = []
    (written,) = export([one.episode for one in played], str(tmp_path / "out"), advance=told.append).datasets
    assert (written.id, written.num_episodes, written.num_steps) == ("atari/space_invaders/player-v0", 2, 200)
    assert (sum(told), max(told)) == (200, 40)
    dataset = load(tmp_path / "out", written.id)
    assert (dataset.total_steps, dataset.storage.jpeg_encoding) == (200, False)
    for one, data, said in zip(played, dataset, dataset.storage.get_episode_metadata([0, 1]), strict=True):
        np.testing.assert_array_equal(data.observations, np.stack(one.views))
        assert data.actions.tolist() == one.actions
        assert data.rewards.tolist() == [result[1] for result in one.results]
        assert data.terminations.tolist() == [False] * 100
        assert data.truncations.tolist() == [False] * 99 + [True]
        assert data.infos["lives"].tolist() == [3] * 101
        assert (said["seed"], said["interplay"]["episode"]) == (one.episode.seed, one.episode.id)
        assert said["total_steps"] == 100
        assert said["statistics"]["score"] == one.episode.total_reward
    palette = dataset.storage.metadata["interplay"]["palette"]
    assert palette is not None


def test_terminated_and_truncated_stay_apart(archive, tmp_path):
    episode = cartpoles(archive, 1)[0]
    export([episode], str(tmp_path), observations="environment")
    data = load(tmp_path, "mine/cartpole/player-v0")[0]
    assert data.terminations.tolist() == [False] * (episode.num_steps - 1) + [True]
    assert not data.truncations.any()
    assert data.observations.shape == (episode.num_steps + 1, 4)


def test_what_the_environment_returned_can_be_exported_under_a_name(archive, own_folder):
    episodes = cartpoles(archive)
    export(episodes, "mine/cartpole-v3", observations="environment")
    dataset = minari.load_dataset("mine/cartpole-v3")
    for episode, data in zip(episodes, dataset, strict=True):
        np.testing.assert_array_equal(data.observations, episode.raw_observations())
    env = dataset.recover_environment()
    assert (env.spec.id, env.spec.max_episode_steps) == ("CartPole-v1", 500)
    assert list(minari.list_local_datasets()) == ["mine/cartpole-v3"]


def test_decisions_of_a_pipeline_keep_every_reward_and_the_end(record, archive, invaders, tmp_path):
    """One decision in four steps: ceil(T / 4) of them, and the rewards of all steps."""
    episode = record(invaders, num_steps=402, seed=8).episode
    export([episode], str(tmp_path), observations="dqn")
    data = load(tmp_path, "atari/space_invaders/player-v0")[0]
    seen = [stack for _, stack in observe(pipeline("dqn"), episode.frames)]
    np.testing.assert_array_equal(data.observations, np.stack(seen))
    assert data.actions.tolist() == episode.actions()[::4].tolist()
    assert data.rewards.sum() == episode.total_reward > 0
    assert data.rewards.tolist() == [episode.rewards()[start : start + 4].sum() for start in range(0, 402, 4)]
    assert data.truncations.tolist() == [False] * 100 + [True]


def test_a_round_trip_is_proved_and_keeps_everything(record, archive, other, invaders, tmp_path):
    played = record(invaders, num_steps=60, seed=3)
    export([played.episode], str(tmp_path / "out"))
    imported = import_data_sets(other, str(tmp_path / "out"))
    (episode,) = imported.proved
    assert (imported.kept, imported.refused) == ({}, {})
    assert (episode.id, episode.task_hash, episode.seed) == (played.episode.id, played.episode.task_hash, 3)
    assert episode.created_at == played.episode.created_at
    assert episode.actions().tolist() == played.actions
    assert episode.rewards().tolist() == played.episode.rewards().tolist()
    assert (episode.outcome, episode.terminated, episode.truncated) == ("quit", False, True)
    for frame, view in zip(episode.frames, played.views, strict=True):
        np.testing.assert_array_equal(frame.pixels, view)
    assert verify(other.get(episode.id)).equal
    again = import_data_sets(other, str(tmp_path / "out"))
    assert (again.proved, again.there_already) == ([], [episode.id])
    assert not list(other.root.glob(".import*"))


def test_seats_are_data_sets_and_come_back_as_one_game(archive, other, tmp_path):
    task = find("together/cooperative_pong")
    agents = {seat: find_agent("random") for seat in task.seats}
    first = rollout(archive, task, agents, 5, rng=np.random.default_rng(0), max_steps=12)
    written = export([first], str(tmp_path / "out")).datasets
    assert [one.id for one in written] == [f"{task.id}/{seat}-v0" for seat in task.seats]
    (episode,) = import_data_sets(other, str(tmp_path / "out")).proved
    for seat in task.seats:
        np.testing.assert_array_equal(episode.actions(seat), first.actions(seat))
        np.testing.assert_array_equal(episode.rewards(seat), first.rewards(seat))
    assert episode.seats == first.seats
    np.testing.assert_array_equal(episode.frames[10].pixels, first.frames[10].pixels)
    with pytest.raises(RecordingError, match="it is the seat left of a game, but there is no data set of right"):
        import_data_sets(other, str(tmp_path / "out" / written[0].id))


def test_a_part_whose_name_is_a_folder_in_their_files_is_refused(archive, record, make_cartpole, tmp_path, monkeypatch):
    class Parts(gymnasium.Env):
        metadata: ClassVar = {"render_modes": ["rgb_array"], "render_fps": 10}
        action_space = gymnasium.spaces.Discrete(2)
        observation_space = gymnasium.spaces.Dict(
            {"arm": gymnasium.spaces.Dict({"left/joint": gymnasium.spaces.Box(0, 1, (1,))})}
        )

        def __init__(self, render_mode=None):
            self.render_mode = render_mode

        def render(self):
            return np.zeros((16, 16, 3), np.uint8)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return {"arm": {"left/joint": np.zeros(1, np.float32)}}, {}

        def step(self, action):
            return {"arm": {"left/joint": np.ones(1, np.float32)}}, 0.0, True, False, {}

    spec = gymnasium.envs.registration.EnvSpec("Parts-v0", entry_point=Parts, disable_env_checker=True)
    monkeypatch.setitem(gymnasium.registry, "Parts-v0", spec)
    played = record(make_cartpole(env_id="gym:Parts-v0"), num_steps=1).episode
    with pytest.raises(
        ExportError, match=r"an observation has a part called 'left/joint', and in Minari's files such a name is a folder"
    ) as refused:
        export([played], str(tmp_path / "out"), observations="environment")
    assert "--format hugging-face" in str(refused.value)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").rglob("*.hdf5"))


def change(folder, dataset_id, what):
    """Change one number of the first episode of a data set."""
    with h5py.File(folder / dataset_id / "data" / "main_data.hdf5", "a") as file:
        what(file["episode_0"])


def test_what_a_replay_does_not_give_is_kept_with_its_pixels(record, archive, other, invaders, tmp_path):
    """A changed pixel, as of another version of the emulator: frames stay exact, by their palette."""
    played = record(invaders, num_steps=20, seed=3)
    export([played.episode], str(tmp_path / "out"))

    def paint(episode):
        episode["observations"][7, 5, 5] = 200

    change(tmp_path / "out", "atari/space_invaders/player-v0", paint)
    imported = import_data_sets(other, str(tmp_path / "out"))
    assert imported.kept == {played.episode.id: "the replay shows another observation at step 7"}
    (episode,) = other.episodes()
    played.views[7][5, 5] = 200
    for frame, view in zip(episode.frames, played.views, strict=True):
        np.testing.assert_array_equal(frame.pixels, view)
        assert frame.palette is not None
    assert episode.actions().tolist() == played.actions
    assert (episode.frame_policy, episode.outcome, episode.truncated) == ("indexed", "quit", True)
    verdict = verify(episode)
    assert (verdict.equal, verdict.replayed) == (True, False)


def buffers(env_id, *, seed, num_steps=12):
    """An episode as programs that know nothing of Interplay make it."""
    env = gymnasium.make(env_id)
    env.action_space.seed(0)
    observations, actions, rewards = [env.reset(seed=4)[0]], [], []
    for _ in range(num_steps):
        actions.append(env.action_space.sample())
        observation, reward, *_ = env.step(actions[-1])
        observations.append(observation)
        rewards.append(reward)
    ends = np.arange(num_steps) == num_steps - 1
    return EpisodeBuffer(
        seed=seed,
        observations=np.stack(observations),
        actions=np.stack(actions),
        rewards=rewards,
        terminations=[False] * num_steps,
        truncations=ends.tolist(),
        infos={},
    )


@pytest.mark.filterwarnings("ignore")
def test_a_data_set_of_others_is_proved_or_kept(other):
    """With its seed it is proved, with another one or none it is not; importing again adds nothing."""
    episodes = [buffers("Pendulum-v1", seed=seed) for seed in (4, 5, None)]
    minari.create_dataset_from_buffers("theirs/pendulum-v0", episodes, "Pendulum-v1", algorithm_name="mppi")
    imported = import_data_sets(other, "theirs/pendulum-v0")
    assert len(imported.proved) == 1
    assert sorted(imported.kept.values()) == [
        "the data set does not say its seed",
        "the replay shows another observation at step 0",
    ]
    assert {episode.seed for episode in other.episodes(actor="mppi")} == {4, 5, UNKNOWN_SEED}
    for episode in other.episodes():
        np.testing.assert_array_equal(episode.raw_observations(), episodes[0].observations)
        np.testing.assert_array_equal(episode.actions(), episodes[0].actions)
        assert episode.task_id == "gymnasium/pendulum-v1"
        assert verify(episode).equal
    assert len(import_data_sets(other, "theirs/pendulum-v0").there_already) == 3


@pytest.mark.filterwarnings("ignore")
def test_one_folder_that_is_no_data_set_does_not_hide_the_others(other, own_folder):
    """Somebody's notes, a collector that is still open, a description that is cut off; and Minari's arrow format, which has a
    description in each episode."""
    for data_format in ("hdf5", "arrow"):
        name = f"theirs/{data_format}-v0"
        episodes = [buffers("Pendulum-v1", seed=seed) for seed in (4, 5)]
        minari.create_dataset_from_buffers(name, episodes, "Pendulum-v1", data_format=data_format)
    for place, text in (("", "{}"), ("tmp1a2b", '{"total_steps": 3}'), ("notes", "mine"), ("cut-v0/data", '{"dataset_id')):
        (own_folder / place).mkdir(exist_ok=True, parents=True)
        (own_folder / place / "metadata.json").write_text(text)
    imported = import_data_sets(other, str(own_folder))
    assert (len(imported.proved), len(imported.kept)) == (2, 2)
    ((place, reason),) = imported.refused.items()
    assert place == str(own_folder / "cut-v0" / "data")
    assert "metadata.json is not a description of a data set" in reason


@pytest.mark.filterwarnings("ignore")
def test_sizes_that_the_file_does_not_hold_are_refused_before_memory_is_asked_for(other, own_folder):
    minari.create_dataset_from_buffers("theirs/pendulum-v0", [buffers("Pendulum-v1", seed=4)], "Pendulum-v1")

    def stretch(episode):
        del episode["observations"]
        episode.create_dataset("observations", (2**40, 3), np.float32, chunks=(1024, 3))

    file = own_folder / "theirs" / "pendulum-v0" / "data" / "metadata.json"
    whole = file.read_text()
    file.write_text(json.dumps(json.loads(whole) | {"total_episodes": 10**12}))
    with pytest.raises(RecordingError, match="it states 1,000,000,000,000 episodes, but holds 1"):
        import_data_sets(other, str(own_folder))
    file.write_text(whole)
    change(own_folder, "theirs/pendulum-v0", stretch)
    with pytest.raises(RecordingError, match=r"observations has the shape .* bytes, but only 0 bytes are stored"):
        import_data_sets(other, str(own_folder))


@pytest.mark.filterwarnings("ignore")
def test_a_data_set_whose_environment_is_not_here_is_refused(other, tmp_path, own_folder):
    minari.create_dataset_from_buffers("theirs/pendulum-v0", [buffers("Pendulum-v1", seed=4)], "Pendulum-v1")
    file = own_folder / "theirs" / "pendulum-v0" / "data" / "metadata.json"
    said = json.loads(file.read_text())
    spec = json.loads(said["env_spec"])

    def refused(changes, **of_spec):
        document = said | {"env_spec": json.dumps(spec | of_spec)} | changes
        file.write_text(json.dumps({name: value for name, value in document.items() if value is not None}))
        with pytest.raises(RecordingError) as error:
            import_data_sets(other, "theirs/pendulum-v0")
        return str(error.value)

    assert "its environment 'Swing-v0' is not registered here\nInstall what it needs first:  swing>=1" in refused(
        {"requirements": ["swing>=1"]}, id="Swing-v0", entry_point="os:abort"
    )
    assert "does not say which environment it comes from" in refused({"env_spec": None})
    assert "it does not state its spaces" in refused({"observation_space": None})
    assert "Minari cannot read it: The installed Minari version" in refused({"minari_version": "9.0"})
    assert other.episodes() == []


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        ({"id": "voxel:flat", "options": {"check": "os:abort"}}, "a world of voxel:flat is made for built-in tasks only"),
        ({"id": "gym:interplay/Sandbox-v1", "options": {"kwargs": {"check": "os:abort"}}}, "interplay/Sandbox-v1 has other"),
        ({"id": "gym:antigravity:CartPole-v1", "options": {}}, "antigravity:CartPole-v1 is not registered here"),
        ({"id": "pettingzoo:antigravity:x", "options": {}}, "a world of pettingzoo:antigravity:x is made for built-in"),
    ],
)
def test_code_that_a_file_names_does_not_run(archive, other, tmp_path, env, reason):
    """The episode is kept with what the file holds of it."""
    export(cartpoles(archive, 1), str(tmp_path), observations="environment")
    file = tmp_path / "mine/cartpole/player-v0/data/metadata.json"
    said = json.loads(file.read_text())
    said["interplay"]["task"]["env"] = env
    file.write_text(json.dumps(said))
    assert next(iter(import_data_sets(other, str(tmp_path)).kept.values())).startswith(reason)
    said["interplay"]["task"]["id"] = "../../cartpole"
    file.write_text(json.dumps(said))
    with pytest.raises(RecordingError, match=r"its task is called '../../cartpole'; expected SUITE/NAME"):
        import_data_sets(other, str(tmp_path))


def test_a_statistic_that_a_file_names_is_not_called(archive, other, tmp_path):
    """A task file may name `module:factory`; a data set that came from elsewhere may not, unless the task is known here."""
    export(cartpoles(archive, 1), str(tmp_path / "out"), observations="environment")
    file = tmp_path / "out/mine/cartpole/player-v0/data/metadata.json"
    said = json.loads(file.read_text())
    mark = tmp_path / "called"
    said["interplay"]["task"]["statistics"] = [{"name": "os:mkdir", "parameters": {"path": str(mark)}}]
    file.write_text(json.dumps(said))
    with pytest.raises(
        RecordingError, match="names code to run, the statistic 'os:mkdir', and this task was never played here"
    ):
        import_data_sets(other, str(tmp_path / "out"))
    assert other.episodes() == []
    assert not mark.exists()
    with other.database.write() as session:
        testing.add_task(session, Task.from_json(said["interplay"]["task"]))
    assert len(import_data_sets(other, str(tmp_path / "out")).proved) == 1


def test_an_import_that_fails_half_way_leaves_nothing(record, archive, other, invaders, tmp_path):
    """A row is missing: the episode is refused, the next one is imported."""
    names = [record(invaders, num_steps=20, seed=seed).episode.id for seed in (1, 2)]
    export([archive.get(name) for name in names], str(tmp_path / "out"))

    def cut(episode):
        episode["observations"].resize(20, axis=0)

    change(tmp_path / "out", "atari/space_invaders/player-v0", cut)
    imported = import_data_sets(other, str(tmp_path / "out"))
    assert [episode.id for episode in imported.proved] == names[1:]
    assert imported.refused == {
        "atari/space_invaders/player-v0 episode 0": "it has 20 rewards, 20 actions and 20 observations; expected as many "
        "actions as rewards and one observation more"
    }
    assert list(other.journal_folder.iterdir()) == []


def test_an_export_that_is_stopped_leaves_nothing_that_counts(archive, tmp_path):
    episodes = cartpoles(archive)

    def stop(steps):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(episodes, str(tmp_path / "out"), observations="environment", advance=stop)
    assert [path for path in (tmp_path / "out").rglob("*") if path.is_file()] == []
    export(episodes, str(tmp_path / "out"), observations="environment")


@pytest.fixture
def command(archive, capsys):
    """Runs `interplay episodes ...` on the archive; its exit status, output and errors."""

    def run(*words, data=archive.root):
        status = _run(["episodes", *map(str, words), "--data", str(data)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.mark.journey("data sets of Minari")
def test_the_commands_go_there_and_back(command, archive, tmp_path, other, monkeypatch):
    cartpoles(archive)
    monkeypatch.chdir(tmp_path)
    out = "./out"
    status, said, _ = command(
        "export", "--format", "minari", "--where", "seed = 1", "--observations", "environment", "--out", out, "--json"
    )
    assert status == 0
    assert json.loads(said)["datasets"][0]["num_episodes"] == 1
    status, said, _ = command("import", out, data=other.root)
    assert status == 0
    assert "1 proved by replay, 0 kept with observations, 0 there already, 0 refused." in said
    status, said, _ = command("import", out, "--json", data=other.root)
    assert json.loads(said)["there_already"] == [other.episodes()[0].id]


def test_what_is_asked_wrongly_is_said_in_words(command, archive, invaders, record, tmp_path):
    cartpoles(archive, 1)
    record(invaders, num_steps=5)
    out = tmp_path / "out"

    def refused(*words):
        status, said, error = command(*words)
        assert said == ""
        return status, " ".join(error.replace("│", " ").split())

    minari_out = ("export", "--format", "minari", "--out", out)
    for words, status, expected in [
        ((*minari_out,), 2, "give episode ids, or --all for every episode, or choose some by --task and --where"),
        (("export", "--all", "--format", "minarj"), 2, "did you mean 'minari'?"),
        (("export", "--all", "--seat", "left"), 2, "--seat and --observations are only for data sets of Minari; add --format"),
        ((*minari_out, "--all", "--seat", "playr"), 2, "unknown seat 'playr'; did you mean 'player'?"),
        ((*minari_out, "--all", "--observations", "pixel"), 2, "unknown observations 'pixel'; did you mean 'pixels'?"),
        ((*minari_out, "--where", "num_steps > 9000"), 2, "there is no episode with a step to export See what there is: "),
        (
            ("export", "--format", "minari", "--all", "--out", "mine-v0"),
            2,
            "--out mine-v0 names one data set, but the episodes are of 2 tasks: atari/space_invaders, mine/cartpole Choose one",
        ),
        ((*minari_out, "--task", "atari/space_invaders", "--observations", "environment"), 2, "Export it with: --observations"),
        (("import", tmp_path / "nothing"), 1, "This command downloads nothing; fetch a data set first: minari download NAME"),
        (("import", out, "--format", "mp4"), 2, "unknown import format 'mp4'"),
    ]:
        found, error = refused(*words)
        assert (found, expected in error) == (status, True), error
    assert not any(path.is_file() for path in out.rglob("*"))
    invaders_out = (*minari_out, "--task", "atari/space_invaders")
    assert command(*invaders_out)[0] == 0
    status, error = refused(*invaders_out)
    assert status == 2
    assert "is in" in error
    assert "already, and is not replaced Give another folder, or a new version:" in error
    command("export", "--format", "minari", "--out", tmp_path / "dqn", "--task", invaders.id, "--observations", "dqn")
    status, _, error = command("import", tmp_path / "dqn", data=tmp_path / "new")
    assert status == 1
    assert "the data set has only one decision for every 4 steps (dqn), but an episode needs every step" in error


def test_without_minari_the_error_says_what_to_install(command, archive, monkeypatch):
    cartpoles(archive, 1)
    monkeypatch.setitem(sys.modules, "h5py", None)
    status, _, error = command("export", "--all", "--format", "minari")
    assert status == 1
    assert "data sets of Minari need h5py, which is not installed\nInstall it with:  pip install -e '.[export]'" in error


def test_two_versions_of_a_task_are_two_data_sets(command, archive, make_cartpole, record, tmp_path):
    for seconds in (3, 4):
        record(make_cartpole(time_limit_s=seconds), num_steps=3)
    status, _, error = command("export", "--all", "--format", "minari", "--out", tmp_path / "out")
    assert status == 2
    assert "2 versions of the task, but a data set has one environment\nChoose one version:  --where 'task_hash = " in error


def test_people_of_another_data_folder_are_nobody_here(record, archive, other, invaders, tmp_path):
    """participant-7 of there is not our participant 7."""
    record(invaders, num_steps=5, actor="participant-7", actor_kind="human")
    export(archive.episodes(), str(tmp_path / "out"))
    (episode,) = import_data_sets(other, str(tmp_path / "out")).proved
    person = Pseudonyms(b"0" * 64).player("participant-7")
    assert (episode.actor, episode.actor_kind, episode.participant_id) == (f"imported/{person}", "human", None)
