"""The hand-written players, each on its own game against a player that draws its actions."""

from dataclasses import replace

import numpy as np
import pytest

from interplay import agents, envs, tasks
from interplay.agents.scripted import BRAINS

GAMES = [environment.removeprefix("ale:") for environment in sorted(BRAINS)]
NUM_STEPS = 1500


def play(agent: agents.Agent, task: tasks.Task, seed: int) -> float:
    """The return of the first `NUM_STEPS` frames."""
    env = envs.make(task)
    env.reset(seed=seed)
    agent.reset(task, rng=np.random.default_rng(seed))
    total = 0.0
    for _ in range(NUM_STEPS):
        _, rewards, terminated, truncated, _ = env.step({"player": agent.act(env.view().pixels)})
        total += rewards["player"]
        if terminated or truncated:
            break
    env.close()
    return total


def test_every_atari_task_has_a_scripted_player() -> None:
    atari = {task.env.id for suite in tasks.builtin_suites() for task in suite.tasks if task.env.id.startswith("ale:")}
    assert atari == set(BRAINS)


def test_a_scripted_player_keeps_the_protocol() -> None:
    for game in GAMES:
        agents.check_agent(agents.ScriptedPlayer(), tasks.find(f"atari/{game}"))


@pytest.mark.long_proof
def test_a_scripted_player_beats_random_play_on_held_out_seeds() -> None:
    for game in GAMES:
        task = tasks.find(f"atari/{game}")
        seeds = task.held_out_seeds[:3]
        scripted = np.mean([play(agents.ScriptedPlayer(), task, seed) for seed in seeds])
        drawn = np.mean([play(agents.RandomAgent(), task, seed) for seed in seeds])
        assert scripted > drawn, f"{game}: scripted {scripted}, random {drawn} over {len(seeds)} seeds"


def test_the_montezuma_player_fetches_the_key_and_opens_a_door_whatever_the_seed() -> None:
    task = tasks.find("atari/montezuma_revenge")
    # The key is worth 100 points, a door 300: the first score any player gets in this game.
    assert [play(agents.ScriptedPlayer(), task, seed) for seed in task.held_out_seeds[3:5]] == [400.0] * 2


def test_a_game_nobody_wrote_a_player_for_is_refused_with_the_known_ones() -> None:
    task = tasks.find("atari/breakout")
    other = replace(task, env=replace(task.env, id="ale:pong"))
    with pytest.raises(agents.AgentError, match="no scripted player for ale:pong"):
        agents.ScriptedPlayer(other)
