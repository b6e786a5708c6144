"""Rounds in which a learner plays and an expert says what to do: what is recorded and learned, and that kills do no harm."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from dagger_runs import LAKE, Careful, again, config_of

import interplay.record
from interplay.agents import RandomAgent, find, rollout
from interplay.agents.policy import load_policy, read_description
from interplay.agents.rollout import Asked
from interplay.cli import main
from interplay.envs import make
from interplay.envs.base import EnvError
from interplay.errors import NotFoundError
from interplay.learn import BCConfig, ConfigError, RunError, TransitionError, load, train
from interplay.learn.dagger import dagger
from interplay.record import Owner, RecordedEpisode
from interplay.record.verification.verify import verify
from interplay.tasks import find as find_task

TASK = find_task(LAKE)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    archive = interplay.record.open(tmp_path_factory.mktemp("dagger") / "data")
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def made(archive):
    """A run that nothing disturbed."""
    return dagger(archive, config_of(), "m")


def weights(archive, *agents):
    return [(archive.root / "models" / agent / "model.safetensors").read_bytes() for agent in agents]


# What is recorded


def test_a_recording_keeps_who_acted_and_what_the_expert_would_have_done(archive):
    asked = Asked(RandomAgent(), Careful(), 0.5)
    episode = rollout(archive, TASK, asked, 5, rng=np.random.default_rng(0), max_steps=100)
    owners = episode.steps().column("owner.player").to_pylist()[: episode.num_steps]
    places, labels, actions = episode.raw_observations()[:-1], episode.labels(), episode.actions()
    assert labels.tolist() == (2 - places % 2).tolist()
    assert set(owners) == {"random", "careful"}
    by_expert = np.array(owners) == "careful"
    assert np.array_equal(labels[by_expert], actions[by_expert])
    assert not np.array_equal(labels[~by_expert], actions[~by_expert])
    assert [(held.actor, held.num_steps) for held in episode.seats] == [
        ("random", owners.count("random")),
        ("careful", owners.count("careful")),
    ]
    assert episode.header.experts == {"player": "careful"}
    assert verify(archive.get(episode.id)).equal

    data = load([episode], observation="state")
    assert [data.names[owner].name for owner in data.owners] == owners, "a decision lasts one step here"
    assert data.labels.tolist() == labels.tolist()
    assert data.labelled("careful").actions.tolist() == labels.tolist()


def test_without_an_expert_nobody_was_asked(archive):
    episode = rollout(archive, TASK, Careful(), 6, rng=np.random.default_rng(0), max_steps=10)
    assert episode.labels() is None
    assert not [name for name in episode.schema.names if name.startswith("label")]
    data = load([episode], observation="state")
    assert set(data.labels) == {-1}
    assert data.labelled("careful").actions.tolist() == episode.actions().tolist(), "its own actions say what it does"
    assert len(data.labelled("somebody")) == 0


def test_a_decision_of_several_steps_is_labelled_by_what_the_expert_would_have_held(archive):
    task = find_task("atari/space_invaders")
    asked = Asked(find("noop"), find("scripted"))
    episode = rollout(archive, task, asked, 1, rng=np.random.default_rng(0), max_steps=30)
    assert set(episode.actions()) == {0}
    data, labels = load([episode], offsets=(1,)), episode.labels()
    for start, held, label in zip(data.steps, data.held, data.labels, strict=True):
        said = labels[start : start + held].tolist()
        assert said.count(label) == max(map(said.count, said))


# Rounds


def test_each_round_is_an_agent_that_says_what_it_learned_from(archive, made):
    assert [(line["agent"], line["player"], line["labels"]) for line in made] == [("m.1", "careful", 25), ("m.2", "m.1", 25)]
    assert made[0]["matched"] is None
    assert 0 <= made[1]["matched"] <= 1
    folder = archive.root / "models" / "m"
    assert [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()] == made
    facts = read_description(archive.root / "models" / "m.2")
    assert facts["algorithm"] == "dagger"
    assert facts["demonstrations"]["decisions"] == 50
    assert facts["dagger"] == {
        "run": "m",
        "round": 2,
        "expert": "dagger_runs:Careful",
        "expert_share": 0.0,
        "labels": 50,
        "labels_by_round": [25, 25],
    }
    rounds = json.loads((folder / "rounds.json").read_text())
    played = [archive.get(game["episode"]) for one in rounds for game in one["games"]]
    assert {episode.actor for episode in played} == {"careful", "m.1"}
    assert not {episode.seed for episode in played} & set(TASK.held_out_seeds)
    episode = rollout(archive, TASK, find("m.2", archive), TASK.held_out_seeds[0], rng=np.random.default_rng(0))
    assert episode.actor == "m.2"


def test_the_first_round_is_behaviour_cloning_bit_for_bit(archive, made):
    config = config_of().to_json()
    settings = {name: config[name] for name in BCConfig(task=LAKE).to_json() if name in config and name != "algorithm"}
    first = [
        archive.get(game["episode"]) for game in json.loads((archive.root / "models/m/rounds.json").read_text())[0]["games"]
    ]
    train(archive, BCConfig.from_json({**settings, "algorithm": "bc", "actor": "careful"}), "clone", episodes=first)
    assert len(set(weights(archive, "clone", "m.1"))) == 1


@pytest.mark.processes
def test_killed_at_random_moments_it_ends_with_the_same_weights(archive, made, tmp_path, processes):
    other = interplay.record.open(tmp_path)
    rng = np.random.default_rng(1)
    folder, num_kills = tmp_path / "models", 0
    reached = ["m/rounds.json", "m.1/checkpoint.safetensors", "m.2/config.json"]
    while True:
        process = processes.Process(target=again, args=(tmp_path,))
        process.start()
        while num_kills < len(reached) and process.is_alive() and not (folder / reached[num_kills]).exists():
            time.sleep(0.001)
        process.join(timeout=rng.uniform(0, 0.03) if num_kills < len(reached) else None)
        if process.exitcode is not None:
            break
        process.kill()
        process.join()
        num_kills += 1
    assert (process.exitcode, num_kills > 0) == (0, True)
    assert weights(other, "m.1", "m.2") == weights(archive, "m.1", "m.2")
    assert [json.loads(line) for line in (folder / "m" / "metrics.jsonl").read_text().splitlines()] == made
    other.close()


def test_more_rounds_are_added_and_fewer_refused(archive):
    def of(rounds, labels=5):
        return config_of(rounds=rounds, labels=labels, updates=1, expert_share=0.5)

    dagger(archive, of(1), "r")
    before = weights(archive, "r.1")
    assert [line["round"] for line in dagger(archive, of(2), "r")] == [1, 2]
    assert weights(archive, "r.1") == before
    with pytest.raises(ConfigError, match=r"'r' in .* is in round 2, but rounds is 1 now.*\nAsk for 2 rounds or more"):
        dagger(archive, of(1), "r")
    with pytest.raises(ConfigError, match=r"was begun with labels 5, and now it is 6\n.*learn dagger --out r --data .*resume"):
        dagger(archive, of(2, labels=6), "r")
    (archive.root / "models" / "r.3").mkdir()
    for name in ("model.json", "model.safetensors"):
        (archive.root / "models" / "r.3" / name).write_bytes((archive.root / "models" / "r.2" / name).read_bytes())
    with pytest.raises(ConfigError, match=r"there is a policy 'r.3' in .* that is not of this run"):
        dagger(archive, of(3), "r")
    rounds = json.loads((archive.root / "models" / "r" / "rounds.json").read_text())
    assert [one["share"] for one in rounds] == [1, 0.5, 0.25], "the expert's share falls from round to round"
    with pytest.raises(ConfigError, match=r"there is a policy 'r\.1'"):
        dagger(archive, config_of(), "r.1")


def test_an_expert_who_is_not_there_or_cannot_be_asked_is_refused(archive):
    with pytest.raises(NotFoundError, match="unknown agent 'scriptd'; did you mean 'scripted'"):
        dagger(archive, config_of(expert="scriptd"), "x")
    assert not (archive.root / "models" / "x").exists()
    with pytest.raises(EnvError, match=r"gives no numbers, only pictures; choose a pipeline of pictures"):
        dagger(archive, config_of(task="atari/breakout", observation="dqn"), "y")
    assert not archive.episodes(task="atari/breakout"), "no step was made"
    dagger(archive, config_of(rounds=1, labels=3, updates=1), "y")  # nothing was played, so other settings are welcome
    with pytest.raises(ConfigError, match=r"where is only for people as experts, but the expert is 'scripted'"):
        config_of(expert="scripted", where=("score >= 1",))


def test_a_stopped_run_of_another_algorithm_is_left_alone(archive):
    folder = archive.root / "models" / "cloned"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(BCConfig(LAKE).to_json()))
    before = (folder / "config.json").read_bytes()
    with pytest.raises(ConfigError, match="bc"):
        dagger(archive, config_of(), "cloned")
    assert (folder / "config.json").read_bytes() == before
    (folder / "config.json").unlink()
    (folder / "checkpoint.safetensors").touch()
    with pytest.raises(ConfigError, match="another algorithm that was stopped"):
        dagger(archive, config_of(), "cloned")
    assert not (folder / "config.json").exists()


def test_what_cannot_work_is_refused_before_anything_is_played(archive):
    with pytest.raises(TransitionError, match="dagger needs discrete ones"):
        dagger(archive, config_of(task="gymnasium/pendulum", expert="random"), "swing")
    with pytest.raises(ConfigError, match="at most"):
        dagger(archive, config_of(), "n" * 199)
    assert not archive.episodes(task="gymnasium/pendulum")
    (archive.root / "models" / "torn").mkdir(parents=True, exist_ok=True)
    (archive.root / "models" / "torn" / "config.json").write_text(json.dumps(config_of().to_json()))
    (archive.root / "models" / "torn" / "rounds.json").write_text('[{"number": 1')
    with pytest.raises(ConfigError, match=r"rounds.json is damaged: JSONDecodeError"):
        dagger(archive, config_of(), "torn")
    (archive.root / "models" / "plain").touch()
    with pytest.raises(RunError, match=r"models/plain cannot be made: File exists"):
        train(archive, BCConfig(LAKE), "plain")


@pytest.mark.parametrize(
    ("settings", "text"),
    [({"reward": "liked"}, "leave out reward"), ({"equal_shares": True}, "equal_shares is only for people as experts")],
)
def test_settings_that_teach_nothing_are_refused(settings, text):
    with pytest.raises(ConfigError, match=text):
        config_of(**settings)


def test_the_command_goes_on_and_shows_the_rounds(archive, made, capsys):
    options = {"rounds": 2, "labels": 25, "observation": "state", "hidden": 8, "batch-size": 8, "updates": 30, "seed": 3}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    command = ["learn", "dagger", "--task", LAKE, "--expert", "dagger_runs:Careful", *words]
    before = weights(archive, "m.1", "m.2")
    for asked in ([*command, "--out", "m", "--json"], ["learn", "dagger", "--out", "m", "--resume", "--json"]):
        with pytest.raises(SystemExit) as stop:
            main([*asked, "--data", str(archive.root)])
        assert stop.value.code == 0
        assert json.loads(capsys.readouterr().out)["rounds"] == made
    assert weights(archive, "m.1", "m.2") == before


# People as experts


def play(archive, seed, agent=None):
    """A person's game as the server records it: alone, or at a wheel that they take from an agent after five steps."""
    env = make(TASK)
    person = Owner("participant-7", "human", None)
    first = person if agent is None else Owner(agent, "agent")
    recorder = archive.recorder(
        TASK, env, seed=seed, owners={"player": first}, created_at=datetime(2026, 1, 1, 0, 0, seed, tzinfo=UTC)
    )
    played = RecordedEpisode(env, recorder, max_steps=20)
    played.start(seed)
    while played.outcome is None:
        who = agent if agent is not None and played.num_steps < 2 else person.name
        played.step({"player": 2 - played.num_steps % 2}, owners={"player": who})
    env.close()
    return archive.seal(recorder.finish(played.outcome))


@pytest.mark.journey("takeovers, and rounds with an expert")
def test_people_who_take_over_teach_the_next_round(archive):
    config = config_of(expert="person", labels=6, updates=2, wait=False)
    with pytest.raises(
        TransitionError, match=rf"no person has played in round 1 of {LAKE} yet\nOpen http.*/play/{LAKE} and play;"
    ):
        dagger(archive, config, "p")
    alone = [play(archive, seed) for seed in (1, 2)]
    with pytest.raises(TransitionError, match=r"no person has played in round 2 .*\nOpen http.*\?wheel=p.1 and take the wheel"):
        dagger(archive, config, "p")
    told = []

    def people():
        play(archive, 3 + len(archive.episodes(actor="human")), "p.1")

    lines = dagger(archive, replace(config, wait=True), "p", say=told.append, pause=people)
    assert told == [
        f"Round 2 of 2. Open http://127.0.0.1:8000/play/{LAKE}?wheel=p.1 and take the wheel from p.1 wherever it goes wrong, "
        "until there are 6 decisions."
    ]
    rounds = json.loads((archive.root / "models" / "p" / "rounds.json").read_text())
    assert [game["episode"] for game in rounds[0]["games"]] == [episode.id for episode in alone]
    shared = [archive.get(game["episode"]) for game in rounds[1]["games"]]
    taken = sum(held.num_steps for episode in shared for held in episode.seats if held.actor_kind == "human")
    assert lines[1]["labels"] == taken >= 6
    facts = read_description(archive.root / "models" / "p.2")
    assert facts["demonstrations"]["decisions"] == lines[0]["labels"] + lines[1]["labels"], "only what people did"
    assert facts["dagger"]["expert"] == "person"
    assert load_policy(archive.root / "models" / "p.2").name == "p.2"
    dagger(archive, replace(config, actor=None, equal_shares=True, rounds=1), "w")  # in round 1 nobody has taken over yet
