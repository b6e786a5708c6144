"""Learning by playing: the right equations, the right experience of every seat, kills, learned rewards, and bad input."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from toy_runs import LAKE, PRACTICE, practise_in

import interplay.record
from interplay.agents.policy import load_policy
from interplay.cli import main
from interplay.learn import ConfigError, PPOConfig, RunError
from interplay.learn.algorithms.ppo import PPO
from interplay.learn.harness.learner import Given
from interplay.learn.online import games as online_games
from interplay.learn.online import run as running
from interplay.learn.online.games import Games, Played, kind_of
from interplay.learn.plots import read_metrics
from interplay.learn.reward.model import Ensemble
from interplay.learn.reward.storage import KeptReward, save_reward
from interplay.tasks import EnvSpec

# The algorithm


def played_by_hand(rng):
    """Four decisions of two games: one was cut off after two, one ended after three, and then its seat was done."""
    terminated, truncated, is_playing = np.zeros((4, 2), bool), np.zeros((4, 2), bool), np.ones((4, 2), bool)
    truncated[1, 0], terminated[2, 1], is_playing[3, 1] = True, True, False
    return Played(
        observations=rng.normal(size=(5, 2, 3)).astype(np.float32),
        actions=rng.integers(3, size=(4, 2)),
        rewards=rng.normal(size=(4, 2)).astype(np.float32),
        terminated=terminated,
        truncated=truncated,
        is_playing=is_playing,
        ends=np.array([[1, 0], [2, 1]]),
        final_observations=rng.normal(size=(2, 3)).astype(np.float32),
        returns=[],
        where=[],
    )


class Plain:
    """The same algorithm in plain numbers: one hidden layer each, gradients by the chain rule, float64."""

    def __init__(self, learner, config):
        self.config = config
        self.weights = {
            f"{name}.{part}": value.double().numpy().copy()
            for name in ("actor", "critic")
            for part, value in learner.modules[name].state_dict().items()
        }
        self.moments = {name: (0.0, 0.0) for name in self.weights}
        self.number = 0

    def forward(self, name, x):
        hidden, out = (f"{name}.encoder.layers.0", f"{name}.out")
        h = np.maximum(x @ self.weights[f"{hidden}.weight"].T + self.weights[f"{hidden}.bias"], 0)
        return h, h @ self.weights[f"{out}.weight"].T + self.weights[f"{out}.bias"]

    def backward(self, name, x, h, slope):
        through = slope @ self.weights[f"{name}.out.weight"] * (h > 0)
        return {
            f"{name}.out.weight": slope.T @ h,
            f"{name}.out.bias": slope.sum(0),
            f"{name}.encoder.layers.0.weight": through.T @ x,
            f"{name}.encoder.layers.0.bias": through.sum(0),
        }

    def learn(self, played):
        """As many steps as there are epochs, each on all decisions; returns the losses and the last gradients."""
        config = self.config
        values = self.forward("critic", played.observations.reshape(10, 3))[1].reshape(5, 2)
        last = self.forward("critic", played.final_observations)[1][:, 0]
        advantages = np.zeros((4, 2))
        for slot, ends in ((0, {1: config.gamma * last[0]}), (1, {2: 0.0})):  # cut off: what follows is estimated
            for first in range(4):  # equation 16: a sum over all that follows in the same game
                for ahead, decision in enumerate(range(first, 4)):
                    following = ends.get(decision, config.gamma * values[decision + 1, slot])
                    surprise = config.reward_scale * played.rewards[decision, slot] + following - values[decision, slot]
                    advantages[first, slot] += (config.gamma * config.gae_lambda) ** ahead * surprise
                    if decision in ends:
                        break
        which = played.is_playing.ravel()
        x, actions = played.observations[:4].reshape(8, 3)[which], played.actions.ravel()[which]
        advantages, old_values = advantages.ravel()[which], values[:4].ravel()[which]
        returns, size = advantages + old_values, len(x)
        normal = (advantages - advantages.mean()) / (advantages.std(ddof=1) + 1e-8)
        one_hot = np.eye(3)[actions]
        old = None
        losses = []
        for _epoch in range(config.epochs):
            h, logits = self.forward("actor", x)
            log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
            p = np.exp(log_p)
            taken = (log_p * one_hot).sum(1)
            old = taken if old is None else old
            ratio = np.exp(taken - old)
            clipped = np.clip(ratio, 1 - config.clip, 1 + config.clip)
            entropy = -(p * log_p).sum(1)
            hv, out = self.forward("critic", x)
            v = out[:, 0]
            near = old_values + np.clip(v - old_values, -config.clip, config.clip)
            plain_error, near_error = (v - returns) ** 2, (near - returns) ** 2
            losses.append(
                -np.minimum(ratio * normal, clipped * normal).mean()
                + config.value_weight * 0.5 * np.maximum(plain_error, near_error).mean()
                - config.entropy_weight * entropy.mean()
            )
            moves = ratio * normal <= clipped * normal
            slope = (-normal * ratio * moves)[:, None] * (one_hot - p) / size
            slope -= config.entropy_weight * -p * (log_p + entropy[:, None]) / size
            value_slope = np.where(
                plain_error >= near_error, v - returns, (near - returns) * (np.abs(v - old_values) < config.clip)
            )
            gradients = self.backward("actor", x, h, slope)
            gradients |= self.backward("critic", x, hv, (config.value_weight * value_slope / size)[:, None])
            length = np.sqrt(sum((one**2).sum() for one in gradients.values()))
            self.was_short = length <= config.max_gradient
            gradients = {name: one * min(1, config.max_gradient / (length + 1e-6)) for name, one in gradients.items()}
            self.number += 1
            for name, one in gradients.items():  # Adam
                m, s = self.moments[name]
                self.moments[name] = m, s = 0.9 * m + 0.1 * one, 0.999 * s + 0.001 * one**2
                mean, square = m / (1 - 0.9**self.number), s / (1 - 0.999**self.number)
                self.weights[name] -= config.learning_rate * mean / (np.sqrt(square) + 1e-5)
        self.clipped = np.mean(np.abs(ratio - 1) > config.clip)
        return np.mean(losses), gradients


def test_losses_gradients_and_weights_after_three_updates_equal_the_equations():
    config = PPOConfig(
        task="t", observation="state", games=2, horizon=4, batch_size=8, hidden=(5,), epochs=3, learning_rate=0.02,
        clip=0.05, clip_values=True, entropy_weight=0.03, max_gradient=0.2, reward_scale=0.5, gamma=0.9, gae_lambda=0.8,
    )  # fmt: skip
    torch.manual_seed(0)
    learner = PPO(config, Given((3,), 3, np.empty(0, int), torch.device("cpu")))
    torch.nn.init.normal_(learner.actor.out.weight)  # apart from each other
    plain = Plain(learner, config)
    played = played_by_hand(np.random.default_rng(1))
    measured = learner.update(played, 0, torch.Generator().manual_seed(0))
    loss, gradients = plain.learn(played)
    assert measured["loss"].item() == pytest.approx(loss, abs=1e-5)
    assert 0 < plain.clipped < 1
    assert not plain.was_short
    for name in ("actor", "critic"):
        for part, value in learner.modules[name].named_parameters():
            assert np.allclose(value.grad.numpy(), gradients[f"{name}.{part}"], atol=1e-5)
            assert np.allclose(value.detach().numpy(), plain.weights[f"{name}.{part}"], atol=1e-5)


def test_a_seat_that_is_cut_off_while_others_play_on_counts_what_would_have_followed():
    config = PPOConfig(task="t", games=2, horizon=4, batch_size=8, hidden=(5,), gamma=0.9, gae_lambda=0.8)
    learner = PPO(config, Given((3,), 3, np.empty(0, int), torch.device("cpu")))
    played = played_by_hand(np.random.default_rng(1))
    cut_off = np.zeros((4, 2), bool)
    cut_off[0, 1] = True
    early = replace(played, truncated=played.truncated | cut_off)
    with torch.no_grad():
        before, after = learner.critic(torch.from_numpy(played.observations[:2, 1]))[:, 0].tolist()
    surprise = played.rewards[0, 1] + 0.9 * after - before
    which = np.flatnonzero(played.is_playing).tolist().index(1)
    assert learner.decisions(early).advantages[which].item() == pytest.approx(surprise, abs=1e-6)


def test_rewards_are_clipped_where_a_run_asks_for_it():
    config = PPOConfig(task="t", games=2, horizon=4, batch_size=8, hidden=(5,), reward_scale=2.0, reward_clip=1.0)
    learner = PPO(config, Given((3,), 3, np.empty(0, int), torch.device("cpu")))
    played = played_by_hand(np.random.default_rng(1))
    small = PPO(replace(config, reward_scale=1.0), Given((3,), 3, np.empty(0, int), torch.device("cpu")))
    for name in small.modules:
        small.modules[name].load_state_dict(learner.modules[name].state_dict())
    clipped = replace(played, rewards=np.clip(2 * played.rewards, -1, 1))
    assert torch.equal(learner.decisions(played).advantages, small.decisions(clipped).advantages)


# Games


def task_of(env_id, seats=("player",), max_steps=40):
    return replace(LAKE, env=EnvSpec(env_id), seats=seats, max_steps=max_steps)


def uniform(num_actions):
    return lambda seen: np.zeros((len(seen), num_actions), np.float32)


def test_each_seat_gives_its_own_experience_until_it_is_done(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "envs")
    relay = task_of("pettingzoo:relay_race:relay_race-v0", ("x", "y", "z"))
    kind = kind_of(relay, "state")
    assert (kind.shape, kind.space.n) == ((2,), 2)
    games = Games(relay, "state", [0, 1], 0, 7, kind)
    played = games.play(uniform(2), 0)
    x, y, z = played.is_playing[:, :3].T.tolist()
    assert x == [True, True, False, False, False, True, True]  # falls at step 2 of 5; then the next game
    assert y == [True, True, True, False, False, True, True]
    assert z == [True] * 7
    assert played.rewards[:5, 2].tolist() == [1, 2, 3, 4, 5]
    assert played.terminated[:, 0].tolist() == [False, True, False, False, False, False, True]
    assert played.truncated[:, 1].tolist() == [False, False, True, False, False, False, False]
    assert played.truncated[:, 2].tolist() == [False, False, False, False, True, False, False], "the limit, though x fell"
    assert not played.terminated[:, 1:3].any()
    assert played.ends.tolist() == [[4, slot] for slot in range(6)]
    assert played.returns == [(3 + 6 + 15) / 3] * 2
    assert played.final_observations[:3, 0].tolist() == [2, 3, 5]  # the step that each saw last
    assert played.observations[5, :, 0].tolist() == [0] * 6
    assert played.seen_next()[4, :3, 0].tolist() == [2, 3, 5]
    assert [one.episode for one in played.where] == [1, 1]
    games.close()


def test_a_game_that_is_cut_off_is_truncated_and_held_out_worlds_are_never_played():
    games = Games(task_of("gym:CartPole-v1", max_steps=5), "state", [0], 0, 6, kind_of(task_of("gym:CartPole-v1"), "state"))
    played = games.play(uniform(2), 0)
    games.close()
    assert played.truncated[:, 0].tolist() == [False] * 4 + [True, False]
    assert not played.terminated.any()
    task = replace(task_of("gym:CartPole-v1"), held_out_seeds=())
    drawn = [task.draw_seed(np.random.default_rng((3, episode))) for episode in range(3)]
    assert len({*drawn}) == 3
    assert replace(task, held_out_seeds=tuple(drawn)).draw_seed(np.random.default_rng((3, 1))) not in drawn


def test_a_worker_goes_on_from_where_its_games_were():
    task = task_of("gym:CartPole-v1")
    kind = kind_of(task, "state")
    learner = PPO(PRACTICE, Given(kind.shape, 2, np.empty(0, int), torch.device("cpu")))
    weights = safetensors.torch.save(dict(learner.actor.state_dict()))
    begin = (task.to_json(), [3, 4], "state", 0, 30, learner.acting.architecture)
    running.begin(*begin)
    first, second = (Played.from_bytes(running.play(weights, number)) for number in (0, 1))
    running.begin(*begin)
    running.go_on(first.where)
    again = Played.from_bytes(running.play(weights, 1))
    assert first.returns, "more than the first game was played"
    for name in ("observations", "actions", "rewards", "ends", "returns", "where"):
        assert np.array_equal(np.array(getattr(again, name), object), np.array(getattr(second, name), object)), name


def test_a_world_that_goes_elsewhere_begins_the_next_game():
    task = task_of("gym:CartPole-v1")
    game = online_games.Game(task, "state", 0, 0)
    game.go_on(online_games.Where(4, [[0]] * 39))  # the pole falls long before
    assert game.where() == (5, [])
    game.close()


# Runs


def test_it_learns_to_keep_a_pole_upright(tmp_path):
    settings = {"steps": 8000, "games": 8, "horizon": 32, "batch_size": 128, "epochs": 6, "learning_rate": 3e-3}
    returns = [line["return"] for line in read_metrics(practise_in("gym:CartPole-v1", tmp_path / "m", **settings).folder)]
    assert returns[0] < 25 < 30 < returns[-1], "of 40 at most"


def test_workers_play_the_same_games_and_a_world_that_fails_in_one_says_where(tmp_path):
    env_id = "gym:failing_world:Failing-v0"
    with pytest.raises(RunError) as alone:
        practise_in(env_id, tmp_path / "m")
    with pytest.raises(RunError) as apart:
        practise_in(env_id, tmp_path / "n", workers=2, checkpoint_every_s=0.0)
    for text in (str(alone.value), str(apart.value)):
        assert f"the world of {LAKE.id} failed at decision " in text
        assert "of an episode with seed" in text
        assert "ZeroDivisionError: the cart is gone\nIt happened in" in text
        assert "failing_world.py, line" in text
    assert f"--data {tmp_path.parent} --out n --resume" in str(apart.value)
    assert "play other games" in str(apart.value)
    ours, theirs = (read_metrics(tmp_path / name) for name in "mn")
    assert len(ours) == len(theirs) == 2, "40 steps are two rounds of 16, and half a one"
    for name in ("loss", "entropy", "value_loss"):
        assert [line[name] for line in ours] == pytest.approx([line[name] for line in theirs], abs=1e-4)
    assert not (tmp_path / "n" / "model.json").exists()
    assert (tmp_path / "n" / "checkpoint.safetensors").exists()


@pytest.mark.filterwarnings("ignore:.*The reward is a NaN value")
def test_rewards_that_are_no_numbers_end_the_run(tmp_path):
    with pytest.raises(RunError, match=r"loss became nan between updates 1 and 1 .*\n.*\n.*--learning-rate 2.5e-05 --out NAME"):
        practise_in("gym:failing_world:Numberless-v0", tmp_path / "m")
    assert not (tmp_path / "m" / "model.json").exists()


# Learned rewards


def taught(shape, **facts):
    """A reward with random weights, and what describes it."""
    torch.manual_seed(0)
    encoder = {"name": "mlp", "shape": [shape], "hidden": [4]}
    document = {"name": "r", "task": LAKE.id, "seat": "player", "observation": "state", "encoder": encoder, "members": 2}
    return Ensemble(encoder, 2), {**document, "scale": 2.0, "answers": 7, "judges": "people", **facts}


def test_a_learned_reward_takes_the_place_of_the_games_own(tmp_path):
    ensemble, described = taught(4)
    reward = KeptReward("r", described | {"weights_sha256": "0"}, ensemble)
    task = task_of("gym:CartPole-v1")
    kind = kind_of(task, "state")
    acting = PPO(PRACTICE, Given(kind.shape, 2, np.empty(0, int), torch.device("cpu"))).acting
    ours = running.Players(PRACTICE, task, kind, acting, reward)
    plain = running.Players(PRACTICE, task, kind, acting, None)
    played, own = ours.play(0), plain.play(0)
    assert np.array_equal(played.actions, own.actions)
    assert set(own.rewards.ravel()) == {1.0}
    with torch.no_grad():
        rewards = 2.0 * ensemble(torch.from_numpy(own.seen_next().reshape(-1, 4))).mean(0).reshape(16, 2)
    assert np.allclose(played.rewards, rewards, atol=1e-6)
    assert ours.facts() == plain.facts(), "returns are the game's own"
    ours.close()
    plain.close()
    practise_in("gym:CartPole-v1", tmp_path / "m", reward=reward, steps=32)
    assert json.loads((tmp_path / "m" / "model.json").read_text())["reward"]["answers"] == 7


# The command


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with rewards: of four numbers, and of five, of another task, of another pipeline."""
    folder = tmp_path_factory.mktemp("practice")
    interplay.record.open(folder).close()
    lake = {"seat": "player"}
    for name, shape, facts in (
        ("wide", 17, lake), ("other", 16, lake | {"task": "gymnasium/taxi"}), ("pictures", 16, {"observation": "native"}),
    ):  # fmt: skip
        ensemble, described = taught(shape, **facts)
        (folder / "rewards" / name).mkdir(parents=True)
        save_reward(folder / "rewards" / name, ensemble, described | {"name": name})
    return folder


def run(capsys, *arguments):
    """(exit status, standard output, standard error) of one command."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


@pytest.mark.journey("PPO, which learns by playing")
def test_an_agent_that_learned_in_every_seat_sits_in_any(data, capsys):
    pong = "together/cooperative_pong"
    small = ["--games", 1, "--horizon", 4, "--batch-size", 4, "--features", 8, "--threads", 1, "--seed", 7, "--data", data]
    status, out, err = run(capsys, "learn", "ppo", "--task", pong, "--steps", 9, *small, "--out", "partner", "--json")
    assert status == 0, err
    document = json.loads(out)
    assert (document["algorithm"], document["updates"], document["decisions"]) == ("ppo", 2, 16)
    assert document["config"]["steps"] == 9
    description = load_policy(data / "models" / "partner").description
    assert description["seats"] == ["left", "right"]
    assert description["architecture"]["encoder"]["name"] == "conv"
    seats = ["--seat", "left=partner", "--seat", "right=random"]
    status, _, err = run(
        capsys, "play", pong, *seats, "--seeds", 1, "--max-seconds", 1, "--no-video", "--seed", 0, "--data", data
    )
    assert status == 0, err
    assert (data / "models" / "partner" / "curves.svg").exists()


@pytest.mark.parametrize(
    ("options", "status", "text"),
    [
        (["--task", "gymnasium/pendulum", "--observation", "state"], 1, "gymnasium/pendulum has actions in Box"),
        (["--task", "gymnasium/pendulum", "--observation", "state"], 1, "ppo needs discrete ones"),
        (["--task", "together/cooperative_pong", "--observation", "state"], 1, "for --observation: dqn, native, pixels"),
        (
            ["--task", "first-person/get_log", "--observation", "state"],
            1,
            "ppo needs one whole number per step Learn from first",
        ),
        (["--task", "together/cooperative_pong", "--seat", "left"], 1, "plays every seat of a task (left, right)"),
        (["--observation", "state", "--reward", "wid"], 2, "unknown reward 'wid'; did you mean 'wide'"),
        (["--observation", "state", "--reward", "wide"], 1, "observations of shape (17,), but these games give shape (16,)"),
        (
            ["--observation", "state", "--reward", "other"],
            1,
            "is of task gymnasium/taxi, but this run is of gymnasium/frozen_lake",
        ),
        (["--observation", "state", "--reward", "pictures"], 1, "sees games through 'native', but this run through 'state'"),
        (["--games", "2", "--workers", "3"], 2, "workers must be at most games, which is 2, got 3"),
        (["--games", "2", "--horizon", "8"], 2, "2 games x 8 (horizon) = 16, got 256"),
        (["--steps", "0"], 2, "steps must lie between 1 and"),
        (["--preset", "ataro"], 2, "unknown preset of ppo 'ataro'; did you mean 'atari'"),
        (["--task", "gymnasium/frozen_lak"], 2, "did you mean 'gymnasium/frozen_lake'"),
    ],
)
def test_mistakes_are_answered_before_anything_is_played(data, capsys, options, status, text):
    task = [] if "--task" in options else ["--task", "gymnasium/frozen_lake"]
    found, _, err = run(capsys, "learn", "ppo", *task, *options, "--out", "m", "--data", data)
    assert found == status, err
    assert text in " ".join(err.replace("│", " ").split())
    assert not (data / "models" / "m").exists()


def test_settings_that_do_not_fit_each_other_are_refused():
    with pytest.raises(ConfigError, match="workers must be at most games"):
        PPOConfig(task="t", games=1, workers=2)
