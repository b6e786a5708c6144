"""Behaviour cloning: its arithmetic, that it learns, and that a killed run ends as an undisturbed one would."""

import json
import os
import signal
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Discrete
from safetensors.torch import load_file
from toy_transitions import make_transitions
from warm_process import READY, TO_LEARN, WarmProcess

import interplay.record
from interplay.agents import find, networks, rollout
from interplay.agents.policy import load_policy
from interplay.learn import BCConfig, ConfigError, RunError, TransitionError, train
from interplay.learn.algorithms.bc import BC, cross_entropy, initialise, shifted, weights_of
from interplay.learn.harness.learner import Batches
from interplay.learn.harness.run import Watch, run
from interplay.learn.plots import read_metrics
from interplay.learn.train import claimed
from interplay.record.moving import move
from interplay.tasks import find as find_task

TASK = find_task("atari/space_invaders")
ARCHITECTURE = {"name": "feedforward", "encoder": {"name": "conv", "shape": [4, 84, 84]}, "outputs": 18}
SMALL = BCConfig(task=TASK.id, actor="scripted", updates=12, batch_size=8, threads=1, log_every=4, shift=1, seed=3)


@pytest.fixture
def toy():
    """The bright half of the picture says which way to go: 240 decisions of 6 episodes."""
    rng = np.random.default_rng(0)
    actions = rng.choice([11, 12], 240)
    pictures = rng.integers(0, 60, (240, 84, 84)).astype(np.uint8)
    for picture, action in zip(pictures, actions, strict=True):
        picture[:, :42] += 150 * np.uint8(action == 12)
        picture[:, 42:] += 150 * np.uint8(action == 11)
    return make_transitions(pictures, actions, 6, stack=4, at=np.arange(240), first=np.arange(240))


def clone(data, config, folder, **watch):
    return run(BC, data, config, TASK, Discrete(18), folder, watch=Watch(**watch))


# Arithmetic


def test_cross_entropy_equals_a_hand_calculation():
    # softmax([0, ln 3]) = [1/4, 3/4]: -ln(1/4) and -ln(3/4), mean of the two.
    logits = torch.tensor([[0.0, np.log(3)], [0.0, np.log(3)]], dtype=torch.float32)
    loss = cross_entropy(logits, torch.tensor([0, 1]), torch.ones(2))
    assert loss.item() == pytest.approx((np.log(4) + np.log(4 / 3)) / 2, abs=1e-6)
    # weights 2 and 0.5 on the two decisions
    weighted = cross_entropy(logits, torch.tensor([0, 1]), torch.tensor([2.0, 0.5]))
    assert weighted.item() == pytest.approx((2 * np.log(4) + 0.5 * np.log(4 / 3)) / 2, abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_and_its_gradient_equal_torch(smoothing):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(7, 18, generator=generator, requires_grad=True)
    actions = torch.randint(0, 18, (7,), generator=generator)
    ours = cross_entropy(logits, actions, torch.ones(7), smoothing)
    theirs = torch.nn.functional.cross_entropy(logits, actions, label_smoothing=smoothing)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(*(torch.autograd.grad(loss, logits)[0] for loss in (ours, theirs)))


def test_gradient_of_the_logits_is_probability_minus_label():
    logits = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(cross_entropy(logits, torch.tensor([1]), torch.ones(1)), logits)
    exponentials = np.exp([1.0, 2.0, 3.0])
    np.testing.assert_allclose(gradient[0], exponentials / exponentials.sum() - [0, 1, 0], atol=1e-6)


def test_the_first_adam_step_moves_each_weight_by_the_learning_rate(toy, tmp_path):
    # Kingma & Ba 2015: at the first step the corrected averages are g and g**2, so the step is lr * g / (|g| + 1e-8).
    config = replace(SMALL, updates=1, learning_rate=1e-3, shift=0)
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        network = networks.build(ARCHITECTURE)
        initialise(network)
    before = {name: value.detach().clone() for name, value in network.named_parameters()}
    training, _ = toy.split(config.validation, rng=np.random.default_rng((config.seed, 1)))
    which = training[Batches(len(training), config.batch_size, config.seed)[0]]
    loss = torch.nn.functional.cross_entropy(
        network(torch.from_numpy(toy.observations(which))), torch.from_numpy(toy.actions[which])
    )
    loss.backward()
    clone(toy, config, tmp_path / "one")
    after = load_file(tmp_path / "one" / "model.safetensors")
    for name, weights in network.named_parameters():
        gradient = weights.grad
        sure = gradient.abs() > 1e-5  # smaller ones are within rounding of zero
        expected = before[name] - 1e-3 * gradient / (gradient.abs() + 1e-8)
        torch.testing.assert_close(after[name][sure], expected[sure], atol=2e-6, rtol=0)


def test_balance_one_gives_every_action_the_same_say():
    actions = np.array([0] * 90 + [1] * 9 + [2])
    weights = weights_of(actions, 4, 1.0)
    np.testing.assert_allclose(weights[:3] * [90, 9, 1], 100 / 3)
    np.testing.assert_allclose(weights_of(actions, 4, 0.0), 1)


def test_every_pass_shows_every_decision_once():
    batches = Batches(10, 4, seed=1)
    drawn = np.concatenate([batches[update] for update in range(5)])
    assert sorted(drawn[:10].tolist()) == sorted(drawn[10:].tolist()) == list(range(10))
    assert drawn[:10].tolist() != drawn[10:].tolist()
    np.testing.assert_array_equal(Batches(10, 4, seed=1)[3], batches[3])  # nothing of the past is needed


def test_shifting_moves_all_four_pictures_alike():
    stack = torch.arange(84 * 84, dtype=torch.int64).reshape(84, 84).remainder(251).to(torch.uint8).expand(5, 4, 84, 84)
    moved = shifted(stack, 2, torch.Generator().manual_seed(0))
    dy, dx = torch.randint(-2, 3, (2, 5, 1), generator=torch.Generator().manual_seed(0))
    for index in range(5):
        rows = np.clip(np.arange(84) + int(dy[index]), 0, 83)
        columns = np.clip(np.arange(84) + int(dx[index]), 0, 83)
        np.testing.assert_array_equal(moved[index], stack[index].numpy()[:, rows][:, :, columns])
    in_colour = stack[:, :3].permute(0, 2, 3, 1)
    again = shifted(in_colour, 2, torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(again, moved[:, :3].permute(0, 2, 3, 1))


# Learning


def test_it_learns_what_can_be_learned(toy, tmp_path):
    result = clone(toy, replace(SMALL, updates=20, batch_size=16), tmp_path / "toy")
    assert result.metrics["validation_accuracy"] == 1.0
    assert result.metrics["validation_loss"] < 0.1
    lines = read_metrics(tmp_path / "toy")
    assert [line["update"] for line in lines] == [*range(4, 21, 4), 20]
    assert lines[-2]["loss"] < lines[0]["loss"]


def test_the_same_seed_gives_the_same_weights_and_another_does_not(toy, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        clone(toy, replace(SMALL, updates=4, seed=seed), tmp_path / name)
    a, b, c = ((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")
    assert a == b
    assert a != c


def test_a_time_limit_stops_in_time_and_says_how_far_it_came(toy, tmp_path):
    ticks = iter(range(10_000))
    result = clone(toy, replace(SMALL, updates=1000, max_seconds=30.0), tmp_path / "m", clock=lambda: float(next(ticks)))
    assert 5 < result.updates < 30
    assert json.loads((tmp_path / "m" / "model.json").read_text())["metrics"]["update"] == result.updates


def test_training_from_the_catalogue_makes_an_agent(archive):
    result = train(archive, SMALL, "my-clone")
    assert sorted(path.name for path in result.folder.iterdir()) == [
        "config.json",
        "curves.svg",
        "metrics.jsonl",
        "model.json",
        "model.safetensors",
    ]
    assert find("my-clone", archive).name == "my-clone"
    description = json.loads((result.folder / "model.json").read_text())
    seeds = {episode["seed"] for episode in description["demonstrations"]["episodes"]}
    assert seeds == {1, 2, 3}, "held-out seeds are never learned from"
    assert description["task_hash"] == TASK.content_hash
    assert BCConfig.read(result.folder / "config.json") == SMALL
    assert (result.folder / "curves.svg").read_text().startswith("<?xml")


def test_an_agent_trained_on_one_machine_plays_on_another(archive, bucket, tmp_path):
    move(archive, None, bucket)
    here = interplay.record.open(archive.root)
    result = train(here, replace(SMALL, updates=1), "my-clone")
    elsewhere = interplay.record.open(tmp_path / "elsewhere", here.database.address)
    assert find("my-clone", elsewhere).name == "my-clone"
    weights = (elsewhere.root / "models" / "my-clone" / "model.safetensors").read_bytes()
    assert weights == (result.folder / "model.safetensors").read_bytes()
    with pytest.raises(ConfigError, match="there is a policy 'my-clone'"):
        train(elsewhere, SMALL, "my-clone")
    for one in (here, elsewhere):
        one.close()


# Surviving a kill


@pytest.mark.processes
def test_a_run_killed_and_resumed_ends_with_the_same_weights(archive, tmp_path):
    config = replace(SMALL, updates=60, checkpoint_every_s=0.2)
    undisturbed = train(archive, config, "undisturbed")
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps(config.to_json()))
    command = ["-m", "interplay.cli", "learn", "bc", "--config", str(settings), "--out", "killed", "--data", str(archive.root)]
    process = WarmProcess(command, stdout=tmp_path / "said", stderr=tmp_path / "said", loaded=(*READY, *TO_LEARN))
    folder = archive.root / "models" / "killed"
    deadline = time.monotonic() + 120
    while not (folder / "checkpoint.safetensors").exists() or not read_metrics(folder):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (folder / "model.json").exists()

    resumed = train(archive, config, "killed", resume=True)
    assert resumed.updates == undisturbed.updates == 60
    assert (folder / "model.safetensors").read_bytes() == (undisturbed.folder / "model.safetensors").read_bytes()
    kept = [[(line["update"], line.get("loss")) for line in read_metrics(run.folder)] for run in (undisturbed, resumed)]
    assert kept[0] == kept[1], "no line of metrics is lost, doubled or changed"
    assert not (folder / "checkpoint.safetensors").exists()


@pytest.fixture
def stopped(archive):
    """The folder of a run that was stopped after its first checkpoint."""

    def stop(done, total):
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(archive, replace(SMALL, checkpoint_every_s=0.0), "stopped", on_update=stop)
    return archive.root / "models" / "stopped"


def test_a_checkpoint_of_another_run_is_refused(archive, stopped):
    with pytest.raises(ConfigError, match=r"of another run: learning_rate was 0.001, now 0.002"):
        train(archive, replace(SMALL, learning_rate=2e-3), "stopped", resume=True)


def test_a_damaged_checkpoint_says_how_to_begin_anew(archive, stopped):
    (stopped / "checkpoint.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0garbage!")
    with pytest.raises(ConfigError, match=r"checkpoint.safetensors is damaged: .*\nDelete .*checkpoint.safetensors"):
        train(archive, SMALL, "stopped", resume=True)
    (stopped / "checkpoint.safetensors").unlink()
    assert train(archive, SMALL, "stopped", resume=True).updates == 12


def test_one_flipped_bit_of_a_checkpoint_is_noticed(archive, stopped):
    path = stopped / "checkpoint.safetensors"
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0x40
    for data in (bytes(damaged), whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2)):
        path.write_bytes(data)
        with pytest.raises(ConfigError, match=r"is damaged: its checksum does not match its content\nDelete"):
            train(archive, SMALL, "stopped", resume=True)
    path.write_bytes(whole)
    assert train(archive, SMALL, "stopped", resume=True).updates == 12


def test_learning_does_not_depend_on_the_order_in_which_games_were_sealed(archive, tmp_path):
    with closing(interplay.record.open(tmp_path / "other")) as other:
        for seed, num_steps in ((3, 183), (1, 200), (2, 121)):
            rollout(other, TASK, find("scripted"), seed, rng=np.random.default_rng(seed), max_steps=num_steps)
        weights = {(train(one, SMALL, "same").folder / "model.safetensors").read_bytes() for one in (archive, other)}
    assert len(weights) == 1


def test_cloning_takes_no_learned_reward():
    with pytest.raises(ConfigError, match="bc imitates and does not learn from rewards; leave out reward"):
        replace(SMALL, reward="liked")


def test_resuming_what_never_reached_a_checkpoint_begins_anew(archive):
    assert train(archive, SMALL, "fresh", resume=True).updates == 12


def test_of_two_runs_of_one_name_the_second_is_refused(archive):
    folder = archive.root / "models" / "twice"
    refused = pytest.raises(ConfigError, match="another process works on the run 'twice'")
    with claimed(folder, "twice", resume=False), refused:
        train(archive, SMALL, "twice", resume=True)
    assert not folder.exists()


def test_curves_that_cannot_be_written_leave_the_policy(archive):
    folder = archive.root / "models" / "plain"
    (folder / "curves.svg").mkdir(parents=True)
    with pytest.raises(RunError, match=r"the policy is in .*plain, but its curves.svg cannot be written: Is a directory"):
        train(archive, replace(SMALL, updates=1), "plain")
    assert load_policy(folder).name == "plain"


# Asking for what is not there


def test_no_episodes_says_who_recorded_and_how_to_record_more(archive):
    with pytest.raises(TransitionError) as error:
        train(archive, replace(SMALL, actor="human"), "nobody")
    assert "task atari/space_invaders, actor human" in str(error.value)
    assert "Recorded so far by: scripted" in str(error.value)
    assert "interplay serve --data" in str(error.value)
    assert not (archive.root / "models" / "nobody").exists()


def test_episodes_on_held_out_seeds_alone_are_not_enough(archive):
    with pytest.raises(TransitionError, match="1 fit, but have no steps, or are on the task's held-out seeds"):
        train(archive, replace(SMALL, where=("num_steps < 100",)), "m")


@pytest.mark.parametrize("name", ["random", "a/b", "", ".hidden", "a" * 300])
def test_names_that_cannot_be_a_policy_are_refused(archive, name):
    with pytest.raises(ConfigError, match="policy"):
        train(archive, SMALL, name)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_that_is_missing_says_so(toy, tmp_path):
    with pytest.raises(ConfigError, match="PyTorch sees no CUDA device"):
        clone(toy, replace(SMALL, device="cuda"), tmp_path / "m")
