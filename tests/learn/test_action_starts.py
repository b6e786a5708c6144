"""Discrete actions that do not count from 0: learners see places in the space, worlds and recordings the actions."""

import json

import numpy as np
import pytest
from one_pays import Mostly

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.learn import CONFIGS, DaggerConfig, PPOConfig, train
from interplay.learn.dagger import dagger
from interplay.learn.online import practise
from interplay.learn.reading import load
from interplay.tasks import find

pytestmark = pytest.mark.long_proof

SUITE = """
[suite]
id = "starts"
title = "Starts"
[[task]]
name = "pays"
title = "One pays"
goal = "Take the first action."
instructions = "Take the first action."
env.id = "gym:one_pays:OnePays-v0"
env.options = {{ kwargs = {{ start = {start} }} }}
frame_rate_hz = 10
time_limit_s = 5
held_out_seeds = [101, 102]
questions = [ {{ id = "overall", factor = "overall", kind = "overall", text = "Which is better?" }} ]
[task.keys]
buttons = ["UP", "DOWN"]
bindings = {{ ArrowUp = "UP", ArrowDown = "DOWN" }}
actions = {{ "" = {start}, "UP" = {start} + 1, "DOWN" = {start} + 2 }}
"""
OFFLINE = ("bc", "fbc", "dqn", "bcq", "cql", "iqn", "iql", "sac")
TINY = {"observation": "state", "hidden": (16,), "threads": 1, "seed": 3, "device": "cpu"}


@pytest.fixture(scope="module")
def starts(tmp_path_factory):
    """Start of the action space -> an archive of 20 games, and the task's name."""
    found = {}
    for start in (0, -1, 5):
        root = tmp_path_factory.mktemp("starts")
        text = SUITE.replace("{start} + 1", str(start + 1)).replace("{start} + 2", str(start + 2))
        (root / "s.toml").write_text(text.format(start=start), encoding="utf-8")
        name = f"{root / 's.toml'}:pays"
        archive = interplay.record.open(root / "data")
        for seed in range(20):
            rollout(archive, find(name), Mostly(), seed, rng=np.random.default_rng(seed))
        found[start] = archive, name
    yield found
    for archive, _ in found.values():
        archive.close()


def mean_return(archive, task, policy):
    """Over two held-out seeds."""
    games = [
        rollout(archive, find(task), find_agent(policy, archive), seed, rng=np.random.default_rng(0)) for seed in (101, 102)
    ]
    return np.mean([game.total_reward for game in games])


def equal_in_all(starts, returns):
    """Whether the same is earned wherever actions begin, and it was learned."""
    assert returns == dict.fromkeys(starts, 8.0)


@pytest.mark.parametrize("name", OFFLINE)
def test_an_algorithm_learns_the_same_wherever_actions_begin(starts, name):
    returns = {}
    for start, (archive, task) in starts.items():
        quick = {} if name in ("bc", "fbc") else {"gamma": 0.5, "learning_rate": 0.01}
        quick |= {"target_every": 20} if hasattr(CONFIGS[name], "target_every") else {}
        config = CONFIGS[name](task=task, actor="mostly", updates=200, batch_size=32, **TINY, temperature=0.0, **quick)
        train(archive, config, name)
        returns[start] = mean_return(archive, task, name)
    equal_in_all(starts, returns)


def test_dagger_learns_the_same_wherever_actions_begin(starts):
    returns = {}
    for start, (archive, task) in starts.items():
        config = DaggerConfig(
            task=task, expert="one_pays:Always", rounds=2, labels=24, updates=60, batch_size=8, **TINY, temperature=0.0
        )
        dagger(archive, config, "d")
        returns[start] = mean_return(archive, task, "d.2")
        (labelled,) = [one for one in archive.episodes(actor="d.1")][:1]
        assert set(labelled.labels().tolist()) == {start}
        assert set(load([labelled], observation="state").labels.tolist()) == {0}
    equal_in_all(starts, returns)


def test_ppo_learns_the_same_wherever_actions_begin(starts):
    returns = {}
    for start, (archive, task) in starts.items():
        config = PPOConfig(task=task, steps=1600, games=4, horizon=16, batch_size=16, learning_rate=0.01, **TINY)
        practise(archive, config, "p")
        returns[start] = mean_return(archive, task, "p")
    equal_in_all(starts, returns)


def test_a_model_says_which_actions_it_learned_from(starts):
    for start, (archive, task) in starts.items():
        folder = archive.root / "models" / "said"
        train(archive, CONFIGS["bc"](task=task, actor="mostly", updates=1, batch_size=8, **TINY), "said")
        counted = json.loads((folder / "model.json").read_text())["demonstrations"]["actions"]
        assert {int(action) for action in counted} == {start, start + 1, start + 2}
