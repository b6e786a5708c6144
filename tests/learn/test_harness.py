"""Every learner: it learns, survives kills, and says what is wrong when it cannot go on."""

import hashlib
import json
import resource
import time
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from safetensors.torch import save_file
from toy_runs import LAKE, config_of, fit, practise_again, practise_in, train_again
from toy_transitions import corridor, make_transitions

from interplay.agents.policy import load_policy
from interplay.envs import minerl_actions
from interplay.learn import CONFIGS, ConfigError, FilteredBCConfig, RunError, TransitionError
from interplay.learn.algorithms import LEARNERS
from interplay.learn.config import CHECKPOINT
from interplay.learn.harness.learner import Batch, Given
from interplay.learn.harness.run import run
from interplay.learn.plots import read_metrics
from interplay.learn.transitions import require_discrete

NAMES = sorted(CONFIGS)
CLONING = ("bc", "clone", "fbc")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CLONING])
def test_what_learns_from_rewards_finds_the_way(name, tmp_path):
    known = {item.name for item in fields(CONFIGS[name])}
    settings = {"target_every": 10, "quantiles": 8, "entropy_weight": 0.01, "entropy_learning_rate": 1e-9}
    settings = {key: value for key, value in settings.items() if key in known and (key, name) != ("quantiles", "cql")}
    config = config_of(name, updates=150, learning_rate=0.02, gamma=0.9, validation=0.0, **settings)
    assert fit(corridor(), config, tmp_path / name).updates == 150
    policy = load_policy(tmp_path / name)
    assert policy.outputs(np.eye(4, dtype=np.float32)).argmax(1).tolist() == [1, 1, 1, 1]


# Surviving a kill


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_killed_at_random_moments_ends_with_the_same_weights(name, tmp_path, processes):
    fit(corridor(), config_of(name, updates=30), tmp_path / "a")
    kill_until_it_ends(processes, train_again, (name,), tmp_path / "b", rng=np.random.default_rng(NAMES.index(name)))
    assert_same_run(tmp_path / "a", tmp_path / "b")


@pytest.mark.processes
def test_a_learner_that_plays_killed_at_random_moments_ends_with_the_same_weights(tmp_path, processes):
    undisturbed = practise_in("gym:CartPole-v1", tmp_path / "a")
    assert (undisturbed.updates, undisturbed.num_decisions) == (13, 416), "400 decisions are 12.5 rounds; the last is played"
    assert undisturbed.num_episodes > 4
    assert read_metrics(tmp_path / "a")[12]["learning_rate"] == pytest.approx(2.5e-4 / 13), "it falls to zero"
    kill_until_it_ends(processes, practise_again, (), tmp_path / "b", rng=np.random.default_rng(5))
    assert_same_run(tmp_path / "a", tmp_path / "b")


def kill_until_it_ends(processes, act, arguments, folder, *, rng):
    """Let a process do a run in this folder, and kill it twice at random moments after its first checkpoint."""
    num_kills = 0
    while True:
        process = processes.Process(target=act, args=(*arguments, folder))
        process.start()
        while num_kills < 2 and process.is_alive() and not (folder / "checkpoint.safetensors").exists():
            time.sleep(0.001)
        process.join(timeout=rng.uniform(0, 0.03) if num_kills < 2 else None)
        if process.exitcode is not None:
            break
        process.kill()
        process.join()
        num_kills += 1
    assert (process.exitcode, num_kills > 0) == (0, True)


def assert_same_run(one, other):
    """Both ended with the same weights and metrics."""
    assert (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
    kept = [[{**line, "seconds": 0, "updates_per_second": 0} for line in read_metrics(run)] for run in (one, other)]
    assert kept[0] == kept[1], "no line of metrics is lost, doubled or changed"


# What cannot go on


def test_a_loss_that_is_no_number_ends_the_run_and_keeps_what_was_good(tmp_path):
    config = config_of("dqn", updates=100, log_every=5, checkpoint_every_s=0.0, validation=0.0)
    data = corridor()
    data.pictures[data.at[50]] = np.nan
    with pytest.raises(RunError) as error:
        fit(data, config, tmp_path / "m")
    text = str(error.value)
    assert "became nan between updates" in text
    assert f"interplay learn dqn --config {tmp_path / 'm' / 'config.json'} " in text
    assert " --learning-rate 6.25e-06 --out NAME" in text
    assert not (tmp_path / "m" / "model.json").exists()
    if (tmp_path / "m" / "checkpoint.safetensors").exists():
        assert all(np.isfinite(line["loss"]) for line in read_metrics(tmp_path / "m"))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("bc", "clone")])
def test_episodes_without_rewards_teach_nothing_but_cloning(name, tmp_path):
    with pytest.raises(
        TransitionError, match=rf"{name} learns from rewards, and none of the 10 episodes .*\n.*interplay learn bc"
    ):
        fit(corridor(rewarded=False), config_of(name), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_actions_that_are_no_whole_numbers_are_refused():
    with pytest.raises(TransitionError, match=r"has actions in Box.*dqn needs discrete ones"):
        require_discrete(Box(-1, 1, (2,)), LAKE, "dqn")
    with pytest.raises(TransitionError, match=r"are keys and a camera; bc needs .*\nLearn .*interplay learn clone --task gymn"):
        require_discrete(minerl_actions.action_space(), LAKE, "bc")


def test_a_run_that_had_no_time_keeps_no_policy(tmp_path):
    with pytest.raises(RunError, match=r"max_seconds is 1e-09, and this time ended before the first.*\nGive it more time"):
        fit(corridor(), config_of("dqn", max_seconds=1e-9), tmp_path / "m")
    assert not (tmp_path / "m" / "model.json").exists()


def test_shifting_numbers_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"shift moves pictures, and 'state' gives observations of shape \(4,\)\n.*--shift 0"):
        fit(corridor(), config_of("bc", shift=1), tmp_path / "m")


def test_a_full_disk_keeps_what_was_written_and_says_how_to_go_on(tmp_path):
    config = config_of("dqn", updates=30, checkpoint_every_s=0.0)
    data, undisturbed = corridor(), tmp_path / "undisturbed"
    fit(data, config, undisturbed)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(done, total):
        if done == 20:
            resource.setrlimit(resource.RLIMIT_FSIZE, (500, before[1]))

    try:
        with pytest.raises(RunError, match=r"the disk is full: the run cannot write to .*\n.*--out m --resume"):
            fit(data, config, tmp_path / "m", on_update=fill)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert fit(data, config, tmp_path / "m", resume=True).updates == 30
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == (undisturbed / "model.safetensors").read_bytes()


class Greedy(LEARNERS["dqn"]):
    """A learner that wants more memory than there is, as a large batch on a small card does."""

    def update(self, batch, number, generator):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nGPU 0 has ...")


def test_a_device_without_memory_says_what_to_change(tmp_path):
    with pytest.raises(RunError) as error:
        run(Greedy, corridor(), config_of("dqn"), LAKE, Discrete(2), tmp_path / "m")
    assert "the device has no memory left: CUDA out of memory. Tried to allocate 20.00 GiB." in str(error.value)
    assert "--batch-size 4 --out NAME" in str(error.value)
    assert "--device cpu --out m --resume" in str(error.value)


def test_a_checkpoint_of_another_width_is_refused(tmp_path):
    def stop(done, total):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(corridor(), config_of("dqn", checkpoint_every_s=0.0), tmp_path / "m", on_update=stop)
    written = (tmp_path / "m" / "config.json").read_bytes()
    with pytest.raises(ConfigError, match=r"is of another run: hidden was \[8\], now \[9\]\nTo continue, leave"):
        fit(corridor(), config_of("dqn", hidden=(9,)), tmp_path / "m", resume=True)
    assert (tmp_path / "m" / "config.json").read_bytes() == written, "so that --resume alone still goes on"
    save_file({}, tmp_path / "m" / CHECKPOINT, metadata={"run": "{}", "sha256": hashlib.sha256(b"{}").hexdigest()})
    with pytest.raises(ConfigError, match="is damaged: it does not say fingerprint, means, seconds, update"):
        fit(corridor(), config_of("dqn"), tmp_path / "m", resume=True)


# Arithmetic that d3rlpy does not have


def test_implicit_q_learning_equals_its_equations():
    config = config_of("iql", learning_rate=1e-3, critics=2, expectile=0.8, sharpness=2.0, max_weight=0.3, target_rate=0.25)
    torch.manual_seed(0)
    learner = LEARNERS["iql"](config, Given((3,), 2, np.arange(2), torch.device("cpu")))
    for target in learner.targets:  # apart from the critics
        torch.nn.init.normal_(target.out.weight)
    continues = torch.tensor([1, 0, 1, 1, 0, 1.0])
    batch = Batch(torch.randn(6, 3), torch.randint(2, (6,)), torch.randn(6), torch.randn(6, 3), continues)

    def q(networks):
        return torch.stack([one(batch.observations)[torch.arange(6), batch.actions] for one in networks])

    with torch.no_grad():
        target_q = q(learner.targets).min(0).values
        above = target_q - learner.value(batch.observations)[:, 0]
        value_loss = ((config.expectile - (above < 0).float()).abs() * above**2).mean()  # equation 5
        target = batch.rewards + config.gamma * batch.continues * learner.value(batch.next_observations)[:, 0]
        critic_loss = sum(((one - target) ** 2).mean() for one in q(learner.critics))  # equation 6
        likelihoods = learner.actor(batch.observations).log_softmax(1)[torch.arange(6), batch.actions]
        old_targets = [value.clone() for value in learner.targets.parameters()]
    measured = learner.update(batch, 0, torch.Generator())
    torch.testing.assert_close(measured["loss"], value_loss + critic_loss)
    with torch.no_grad():
        for old, now, critic in zip(old_targets, learner.targets.parameters(), learner.critics.parameters(), strict=True):
            torch.testing.assert_close(now, 0.75 * old + 0.25 * critic)
    with torch.no_grad():
        advantage = target_q - learner.value(batch.observations)[:, 0]  # the value has made its step
        weights = (advantage * config.sharpness).exp().clamp(max=config.max_weight)
        assert weights.max() == config.max_weight
    torch.testing.assert_close(measured["actor_loss"], (weights * -likelihoods).mean())  # equation 7


def test_filtered_cloning_takes_the_best_episodes():
    data = make_transitions(
        np.zeros((40, 1), np.float32), np.zeros(40), 10, rewards=np.repeat([0, 5, 1, 9, 9, 2, 3, 4, 8, 7], 4) / 4
    )
    config = FilteredBCConfig(task=LAKE.id, best=0.3)
    chosen = LEARNERS["fbc"].choose(data, np.arange(40), config)
    assert sorted(set(data.episodes[chosen])) == [3, 4, 8]
    chosen = LEARNERS["fbc"].choose(data, np.arange(12), replace(config, best=0.01))
    assert sorted(set(data.episodes[chosen])) == [1], "the best of the training episodes, at least one"


# Presets and settings


def test_presets_are_those_of_table_7_and_of_the_published_program():
    for name in [name for name in NAMES if "paper" in CONFIGS[name].presets and name not in ("clone", "fbc")]:
        paper, code = (CONFIGS[name].preset(preset, LAKE.id) for preset in ("paper", "code"))
        # Table 7: learning rate, batch size
        table = {"bc": (1e-3, 100), "sac": (3e-4, 64)}.get(name, (6.25e-5, 32))
        assert (paper.learning_rate, paper.batch_size, paper.updates, paper.offsets) == (*table, 1_000_000, (0, 1, 2, 3))
        # offline-atari.py: learning rate; CQL and SAC keep d3rlpy's
        rates = {"bc": 3e-5, "bcq": 1e-4, "dqn": 3e-5, "iqn": 1e-4, "cql": 6.25e-5, "sac": 3e-4}
        assert (code.learning_rate, code.batch_size, code.offsets) == (rates[name], 256, (0,))
        if name != "bc":
            assert (paper.target_every, code.target_every, paper.gamma) == (8000, 2500, 0.99)
            assert paper.critics == (2 if name == "sac" else 1)


def test_an_algorithm_refuses_the_settings_of_another(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config_of("dqn").to_json()))
    with pytest.raises(ConfigError, match=r"holds settings of 'dqn', not of 'cql'\n.*interplay learn dqn --config"):
        CONFIGS["cql"].read(path)
