"""Trained policies on disk: what is written comes back; what is damaged or does not fit says so."""

import json

import numpy as np
import pytest

import interplay.record

torch = pytest.importorskip("torch")

from interplay.agents import SeatedAgent, check_agent, decide, find, names  # noqa: E402
from interplay.agents.networks import NatureCNN  # noqa: E402
from interplay.agents.policy import PolicyError, load_policy, save_policy  # noqa: E402
from interplay.envs import make  # noqa: E402
from interplay.errors import NotFoundError  # noqa: E402
from interplay.record import RecordedEpisode  # noqa: E402
from interplay.tasks import find as find_task  # noqa: E402

TASK = find_task("atari/breakout")
ARCHITECTURE = {"name": "nature_cnn", "num_actions": 18, "in_channels": 4}


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def archive(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    yield archive
    archive.close()


@pytest.fixture
def folder(archive):
    """A policy with fresh weights."""
    torch.manual_seed(0)
    folder = archive.root / "models" / "fresh"
    details = {"architecture": ARCHITECTURE, "temperature": 1.0}
    save_policy(folder, NatureCNN(18), task=TASK, algorithm="bc", observation="dqn", details=details)
    return folder


def test_nature_cnn_has_as_many_parameters_as_the_paper_says():
    # 4*8*8*32+32, 32*4*4*64+64, 64*3*3*64+64, 3136*512+512, 512*18+18
    assert sum(weights.numel() for weights in NatureCNN(18).parameters()) == 8224 + 32832 + 36928 + 1606144 + 9234


def test_a_policy_comes_back_as_it_was_written(folder, archive):
    torch.manual_seed(0)
    network = NatureCNN(18)
    stacks = np.random.default_rng(0).integers(0, 256, (3, 4, 84, 84)).astype(np.uint8)
    for name in ("fresh", str(folder)):
        policy = find(name, archive)
        assert policy.name == "fresh"
        np.testing.assert_allclose(policy.logits(stacks), network(torch.from_numpy(stacks)).detach().numpy(), atol=1e-6)
    check_agent(policy, TASK)
    listed = names(archive)[-1]
    assert (listed.name, listed.kind, listed.task) == ("fresh", "policy", TASK.id)


def test_temperature_zero_takes_the_likeliest_and_one_draws_from_the_probabilities(folder):
    policy = load_policy(folder)
    logits = np.log(np.array([[0.1, 0.2, 0.7]]))
    policy.logits = lambda observations: logits.repeat(len(observations), axis=0)
    rng = policy.begin(TASK, rng=np.random.default_rng(0))
    black = {"picture": np.zeros((4, 84, 84), np.uint8)}
    drawn = np.bincount([policy.decide([black], [rng])[0].action for _ in range(10_000)]) / 10_000
    np.testing.assert_allclose(drawn, [0.1, 0.2, 0.7], atol=0.02)
    policy.temperature = 0.0
    assert {policy.decide([black], [rng])[0].action for _ in range(20)} == {2}


def test_a_policy_plays_several_games_at_once_as_it_plays_each_alone(folder):
    policy = load_policy(folder)

    def play(seeds):
        games = [(RecordedEpisode(make(TASK)), SeatedAgent(policy, TASK, rng=np.random.default_rng(seed))) for seed in seeds]
        for seed, (episode, seated) in zip(seeds, games, strict=True):
            seated.sit(episode.env, "player", episode.start(seed)[1])
        actions = []
        for _ in range(40):
            decide([seated for _, seated in games])
            actions.append([seated.act() for _, seated in games])
            for (episode, seated), action in zip(games, actions[-1], strict=True):
                seated.see(episode.step({"player": action}).info)
        for episode, _ in games:
            episode.env.close()
        return np.array(actions)

    together = play([1, 2, 3])
    assert len(np.unique(together)) > 5
    for column, seed in enumerate([1, 2, 3]):
        np.testing.assert_array_equal(together[:, column], play([seed])[:, 0])


def test_a_policy_refuses_another_world(folder):
    with pytest.raises(PolicyError, match=r"trained on atari/breakout .* cannot play atari/qbert"):
        load_policy(folder).begin(find_task("atari/qbert"), rng=np.random.default_rng(0))


def rewrite(folder, **changes):
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def flip_a_byte(path):
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda folder: (folder / "model.json").unlink(), "model.json is missing"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors cannot be read: No such file"),
        (lambda folder: (folder / "model.json").write_text('{"format": '), "model.json is damaged"),
        (lambda folder: (folder / "model.json").write_text("[1]"), "does not describe a policy"),
        (lambda folder: rewrite(folder, version=2), "has version 2, this Interplay reads 1"),
        (lambda folder: rewrite(folder, temperature="hot"), "'temperature' is 'hot', expected a number"),
        (lambda folder: flip_a_byte(folder / "model.safetensors"), "is not the file that model.json describes"),
        (
            lambda folder: rewrite(folder, architecture={**ARCHITECTURE, "num_actions": 6}),
            "weights do not fit the architecture",
        ),
        (lambda folder: rewrite(folder, architecture={"name": "nature_cn"}), "did you mean 'nature_cnn'"),
    ],
)
def test_damaged_policies_say_what_is_wrong(folder, archive, damage, text):
    damage(folder)
    with pytest.raises(PolicyError, match=text):
        find("fresh", archive)
    assert "fresh" in {known.name for known in names(archive)}  # still listed, so that one sees it


def test_policies_are_among_the_names_that_are_offered(folder, archive):
    with pytest.raises(NotFoundError, match="did you mean 'fresh'"):
        find("frseh", archive)
