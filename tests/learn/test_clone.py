"""Cloning in first person: the loss of BEDD's baseline, from embeddings and from pixels, to an agent that presses ESC."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tiny_vpt import tiny_network  # noqa: E402
from toy_transitions import make_transitions  # noqa: E402

import interplay.record  # noqa: E402
from interplay.agents import find, networks, rollout  # noqa: E402
from interplay.agents.first_person import CHOICES, action_of, choices_of  # noqa: E402
from interplay.agents.policy import PolicyError  # noqa: E402
from interplay.agents.vpt.agent import save  # noqa: E402
from interplay.agents.vpt.codec import to_bins  # noqa: E402
from interplay.envs.minerl_actions import KEYS, action_space  # noqa: E402
from interplay.learn import CloneConfig, ConfigError, RunError, TransitionError, load, train  # noqa: E402
from interplay.learn.algorithms import Clone  # noqa: E402
from interplay.learn.algorithms.clone import encoder  # noqa: E402
from interplay.learn.embed import Source, embed, read_shard, shard_path  # noqa: E402
from interplay.learn.harness.learner import Batch, Given  # noqa: E402
from interplay.learn.harness.run import run  # noqa: E402
from interplay.learn.latents import load_embedded  # noqa: E402
from interplay.tasks import EnvSpec  # noqa: E402
from interplay.tasks import find as find_task  # noqa: E402

pytestmark = pytest.mark.long_proof

TASK = find_task("first-person/get_log")
FLAT = replace(TASK, env=EnvSpec(TASK.env.id, {"kind": "flat", "time": 6000, "size": [64, 36], "check": "get_log"}))
"""On land that takes a moment to make; a run looks for episodes by the task's id."""
TINY = {"threads": 1, "batch_size": 8, "seed": 5, "log_every": 1, "device": "cpu"}


class Walker:
    """Walks and turns, and is done at its 18th step."""

    name = "walker"
    observation = "pixels"

    def reset(self, task, *, rng):
        self._rng, self._steps = rng, 0

    def act(self, observation):
        self._steps += 1
        camera = np.array([0.0, self._rng.uniform(-9, 9)], np.float32)
        return dict.fromkeys(KEYS, 0) | {"forward": 1, "ESC": int(self._steps == 18), "camera": camera}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Three walks, embedded by a tiny VPT network, which is among the models."""
    archive = interplay.record.open(tmp_path_factory.mktemp("walks"))
    for seed in (1, 2, 3):
        rollout(archive, FLAT, Walker(), seed, rng=np.random.default_rng(seed))
    save(archive.root / "models" / "tiny-vpt", tiny_network(), made_from=[])
    sources = [Source(one.id, one.path) for one in archive.episodes()]
    embed(sources, archive.root / "models" / "tiny-vpt", archive.root / "embeddings", device="cpu", threads=1)
    yield archive
    archive.close()


def config(**settings):
    return CloneConfig(TASK.id, **{"actor": "walker", "updates": 2, **TINY, **settings})


def test_what_the_settings_allow_can_be_built():
    allowed = next(one.metadata for one in fields(CloneConfig) if one.name == "blocks")
    for blocks in (allowed["low"], allowed["high"]):
        description = encoder(config(blocks=blocks, channels=(1,), features=1), (3, 8, 8))
        network = networks.build({"name": "feedforward", "encoder": description, "outputs": 2})
        assert network(torch.zeros(1, 3, 8, 8)).shape == (1, 2)


def test_a_policy_without_hidden_layers_is_linear():
    description = {"name": "mlp", "shape": [3], "hidden": []}
    network = networks.build({"name": "feedforward", "encoder": description, "outputs": 2})
    with torch.no_grad():
        zero, one, two = network(torch.tensor([[0.0] * 3, [1.0] * 3, [2.0] * 3]))
    torch.testing.assert_close(two - one, one - zero)


def learner_of(config, width):
    torch.manual_seed(config.seed)
    return Clone(config, Given((width,), int(sum(CHOICES.nvec)), np.zeros(0), torch.device("cpu")))


def batch_of(width, size=32):
    rng = np.random.default_rng(0)
    latents = torch.from_numpy(rng.normal(size=(size, width)).astype(np.float32))
    chosen = torch.from_numpy(np.stack([rng.integers(n, size=size) for n in CHOICES.nvec], axis=1))
    return Batch(latents, chosen, torch.zeros(size), latents, torch.ones(size))


def formula(outputs, chosen, weights, *, entropy_weight, l2_weight, mask_camera=False, escape_weight=1.0):
    """The loss of imitation's BC on SB3's three categoricals, in float64."""
    terms, entropy, start = np.zeros(len(chosen)), np.zeros(len(chosen)), 0
    for index, size in enumerate(CHOICES.nvec):
        logits = outputs[:, start : start + size].astype(np.float64)
        logs = (
            logits - np.log(np.exp(logits - logits.max(1, keepdims=True)).sum(1, keepdims=True)) - logits.max(1, keepdims=True)
        )
        counts = np.ones(len(chosen))
        if mask_camera and index == 1:
            counts = [float(action_of([button, 0, 0])["camera"].any()) if button < 8640 else 0.0 for button in chosen[:, 0]]
        terms += counts * logs[np.arange(len(chosen)), chosen[:, index]]
        entropy -= (np.exp(logs) * logs).sum(1)
        start += size
    terms *= np.where(chosen[:, 2] == 1, escape_weight, 1)
    return -terms.mean() - entropy_weight * entropy.mean() + l2_weight * sum((w**2).sum() for w in weights) / 2


def test_the_published_baseline_begins_where_three_even_choices_do_and_its_loss_is_the_formula():
    config = CloneConfig.preset("paper", TASK.id, l2_weight=1e-6)
    learner, batch = learner_of(config, 1024), batch_of(1024)
    assert [tuple(layer.weight.shape) for layer in learner.network.encoder.layers] == [(1024, 1024)] * 3
    with torch.no_grad():
        outputs = learner.network(batch.observations).numpy()
    weights = [weight.detach().numpy().astype(np.float64) for weight in learner.network.parameters()]
    expected = formula(outputs, batch.actions.numpy(), weights, entropy_weight=1e-5, l2_weight=1e-6)
    measured = {name: value.item() for name, value in learner.update(batch, 0, torch.Generator()).items()}
    assert measured["loss"] == pytest.approx(expected, abs=1e-5)
    assert measured["buttons"] + measured["camera"] + measured["escape"] == pytest.approx(14.55, abs=0.05)
    assert np.log(8641 * 121 * 2) == pytest.approx(14.553, abs=1e-3)


@pytest.mark.parametrize("settings", [{"mask_camera": True}, {"escape_weight": 7.0, "entropy_weight": 0.1}])
def test_the_loss_after_some_updates_is_still_the_formula(settings):
    learner, batch = learner_of(config(hidden=(8,), learning_rate=0.05, **settings), 16), batch_of(16)
    for number in range(3):
        learner.update(batch, number, torch.Generator())
    with torch.no_grad():
        outputs = learner.network(batch.observations).numpy()
    expected = formula(outputs, batch.actions.numpy(), [], **{"entropy_weight": 0.0, "l2_weight": 0.0, **settings})
    assert learner.update(batch, 3, torch.Generator())["loss"].item() == pytest.approx(expected, abs=1e-5)


def test_the_learning_rate_is_the_one_that_is_asked_for(recorded):
    weights = {}
    for name, rate in (("a", 1e-3), ("b", 1e-3), ("c", 1e-5)):
        settings = config(embeddings=str(recorded.root / "embeddings"), hidden=(8,), learning_rate=rate)
        weights[name] = (train(recorded, settings, f"rate-{name}").folder / "model.safetensors").read_bytes()
    assert weights["a"] == weights["b"] != weights["c"]


def test_a_clone_from_embeddings_plays_through_the_network_that_made_them(recorded):
    settings = config(embeddings=str(recorded.root / "embeddings"), hidden=(8,), updates=60, learning_rate=0.02, validation=0)
    document = json.loads((train(recorded, settings, "seer").folder / "model.json").read_text())
    assert (document["embedding"]["network"], document["coding"]) == ("tiny-vpt", "vpt")
    assert document["demonstrations"]["decisions"] == 3 * 18, "each step is a decision"
    episode = rollout(recorded, FLAT, find("seer", recorded), 9, rng=np.random.default_rng(0), max_steps=6)
    assert np.mean([action["forward"] for action in episode.actions()]) > 0.5
    saved = recorded.root / "models" / "tiny-vpt" / "vpt.json"
    before = saved.read_text()
    saved.write_text(before.replace(document["embedding"]["weights_sha256"], "0" * 64))
    with pytest.raises(PolicyError, match=r"embeddings of another network.*\n.*or train again"):
        find("seer", recorded)
    saved.rename(saved.with_suffix(".away"))
    (saved.parent / "vpt.safetensors").rename(saved.parent / "away")
    with pytest.raises(PolicyError, match=r"network 'tiny-vpt', which is not in .*\n.*agents import-vpt"):
        find("seer", recorded)
    (saved.parent / "away").rename(saved.parent / "vpt.safetensors")
    saved.write_text(before)


@pytest.mark.journey("cloning in first person")
def test_a_clone_from_pixels_walks_as_it_was_shown_and_says_when_it_is_done(recorded):
    settings = config(channels=(4,), blocks=1, features=32, offsets=(0, 1), updates=40, learning_rate=0.01, temperature=0)
    result = train(recorded, replace(settings, validation=0.3, escape_weight=4.0), "pixels")
    assert result.metrics["training_loss_last"] < 9
    assert set(result.metrics) >= {"validation_loss", "validation_accuracy", "validation_escape"}
    policy = find("pixels", recorded)
    outputs = policy.outputs(np.zeros((1, 36, 64, 3), np.uint8))
    assert outputs.shape == (1, sum(CHOICES.nvec))
    action = policy.drawn(np.where(np.arange(outputs.size) == outputs.size - 1, 99.0, outputs[0]), np.random.default_rng(0))
    assert action_space().contains(action)
    assert action["ESC"] == 1
    episode = rollout(recorded, FLAT, policy, 9, rng=np.random.default_rng(0), max_steps=24)
    assert episode.actions()[0]["forward"] == 1


def test_a_decision_is_what_its_steps_were(recorded):
    episode = recorded.episodes(actor="walker")[0]
    data = load([episode], observation="small", offsets=(0, 2), composed=True)
    steps = np.flatnonzero(data.offsets == 0)
    assert data.steps[steps].tolist() == [0, 4, 8, 12, 16]
    assert data.actions[steps, 2].tolist() == [0, 0, 0, 0, 1], "ESC in any of its steps ends it"
    yaw = episode.action_parts()["camera"][:, 1]
    means = [yaw[start : start + 4].mean() for start in data.steps[steps]]
    assert (data.actions[steps, 1] % 11).tolist() == to_bins(np.array(means)).tolist()
    assert data.observations(steps[:1]).shape == (1, 36, 64, 3)
    again = choices_of(episode.action_parts(), np.arange(episode.num_steps))
    assert [action_of(one)["forward"] for one in again] == [1] * 18


@pytest.mark.parametrize(("settings", "left"), [({"skip_still": True}, [1, 3, 4]), ({"every": 2, "skip_still": True}, [1, 4])])
def test_still_steps_and_every_second_one_are_left_out_if_asked_for(settings, left):
    chosen = [[0, 60, 0], [288, 60, 0], [0, 60, 0], [0, 60, 1], [5, 62, 0]]
    data = make_transitions(np.zeros((5, 3), np.float32), chosen, 1)
    assert Clone.choose(data, np.arange(5), config(**settings)).tolist() == left


# What cannot be learned from


def test_embeddings_that_do_not_fit_are_refused(recorded, tmp_path):
    folder, good = tmp_path / "embeddings", recorded.root / "embeddings"
    settings = config(embeddings=str(folder))
    with pytest.raises(
        TransitionError, match=r"is not a folder of embeddings: embedding.json is missing or damaged\n.*demos embed"
    ):
        train(recorded, settings, "m")
    folder.mkdir()
    (folder / "embedding.json").write_bytes((good / "embedding.json").read_bytes())
    with pytest.raises(
        TransitionError, match=r"lacks embeddings of 3 of 3 episodes, .* among them\nMake the missing ones .*demos embed"
    ):
        train(recorded, settings, "m")
    first, second, third = (shard_path(folder, episode.id) for episode in recorded.episodes(actor="walker"))
    for path in (first, second, third):
        path.write_bytes(shard_path(good, path.stem).read_bytes())
    save_latents(third, np.zeros((19, 12), np.float32))
    with pytest.raises(TransitionError, match=r"has 12 numbers in a latent, others have 16: .*\n.*--out DIR"):
        train(recorded, settings, "m")
    save_latents(second, np.zeros((7, 16), np.float32))
    with pytest.raises(
        TransitionError, match=r"has 7 latents, expected 19, one for each picture of the episode\nIts recording"
    ):
        train(recorded, settings, "m")
    first.write_bytes(b"cut")
    with pytest.raises(TransitionError, match=r"is not a shard of embeddings"):
        train(recorded, settings, "m")
    assert not (recorded.root / "models" / "m").exists()


def test_shards_of_a_folder_of_recordings_fit_its_episodes(recorded, tmp_path):
    """Below the folder of their task, and with no latent of a picture after the last action."""
    good, folder = recorded.root / "embeddings", tmp_path / "embeddings"
    (folder / "get-log").mkdir(parents=True)
    (folder / "embedding.json").write_bytes((good / "embedding.json").read_bytes())
    episodes = recorded.episodes(actor="walker")
    for episode in episodes:
        save_latents(shard_path(folder, f"get-log/{episode.id}"), np.array(read_shard(shard_path(good, episode.id))[:-1]))
    ours, theirs = (load_embedded(episodes, each) for each in (folder, good))
    before, after = ours.pairs(np.arange(len(ours)))
    assert np.array_equal(before, theirs.observations(np.arange(len(theirs))))
    ends = np.flatnonzero(ours.terminated | ours.truncated)
    assert np.array_equal(after[ends], before[ends]), "the last latent stands twice"
    assert train(recorded, config(embeddings=str(folder)), "below").updates == 2


def save_latents(path, latents):
    import safetensors.numpy

    path.write_bytes(safetensors.numpy.save({"latents": latents}))


def test_a_task_without_keys_and_camera_is_refused(recorded):
    with pytest.raises(
        TransitionError, match=r"clone needs keys and a camera, .*\n.*interplay learn bc --task gymnasium/frozen_lake"
    ):
        train(recorded, CloneConfig("gymnasium/frozen_lake", updates=1), "m")


def test_latents_that_are_no_numbers_end_the_run(tmp_path):
    data = make_transitions(np.full((8, 3), np.nan, np.float32), np.tile([288, 60, 0], (8, 1)), 1)
    with pytest.raises(RunError, match=r"became nan between updates 1 and 1 of the run"):
        run(Clone, data, config(hidden=(4,), validation=0), TASK, CHOICES, tmp_path / "m")
    assert not (tmp_path / "m" / "model.json").exists()


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ConfigError, match=r"offsets and shift are for pictures"):
        config(embeddings="e", offsets=(0, 1))
    with pytest.raises(ConfigError, match=r"channels must be one or more numbers from 1 to 4096"):
        config(channels=())


def test_a_policy_that_writes_actions_in_another_way_is_refused(recorded):
    settings = config(embeddings=str(recorded.root / "embeddings"), hidden=(8,), updates=1)
    path = train(recorded, settings, "coded").folder / "model.json"
    path.write_text(path.read_text().replace('"coding": "vpt"', '"coding": "other"'))
    with pytest.raises(PolicyError, match=r"'coding': it is 'other'; this Interplay knows 'vpt'"):
        find("coded", recorded)
