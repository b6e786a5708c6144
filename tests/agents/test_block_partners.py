"""The partners of the block world: two of them do a task together, and one goes on where another left."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import interplay.record
from blockworld.registry import state_of
from interplay import agents, envs, tasks
from interplay.agents.rollout import rollout
from interplay.agents.scripted import BlockPlayer, has_player
from interplay.agents.scripted.blocks import TEAM_BRAINS
from interplay.agents.skills.body import MOST_TURN
from interplay.envs.voxel import VoxelEnv
from interplay.record import verify

FOR_TWO = {"blocks-two/build_house": (7001, 2700), "blocks-two/keep_pen": (7004, 2400), "together/build_shelter": (7004, 1400)}
"""Task -> a seed, and ticks in which two partners do it; their play is fixed by the seed."""


def play(task_id: str, seed: int, most: int, seats: str = "first second", *, leaves_at: int = -1) -> VoxelEnv:
    """The world after some ticks, or once everybody who acts is done.

    Args:
        seats: Seats in which a partner acts; in the others nobody does.
        leaves_at: When another partner takes over the second seat.
    """
    task = tasks.find(task_id)
    env = envs.make(task)
    assert isinstance(env, VoxelEnv)
    env.reset(seed=seed)

    def partner(seat: str, number: int) -> BlockPlayer:
        player = BlockPlayer()
        player.reset(task, rng=np.random.default_rng((seed, number)))
        player.attach(env, seat)
        return player

    players = {seat: partner(seat, number) for number, seat in enumerate(seats.split())}
    done: set[str] = set()
    for tick in range(most):
        if tick == leaves_at:
            players["second"] = partner("second", 7)
        joint = {seat: players[seat].act(np.zeros(0)) if seat in players else task.keys.noop for seat in task.seats}
        assert all(np.abs(action["camera"]).max() <= MOST_TURN for action in joint.values())
        done |= {seat for seat, action in joint.items() if action["ESC"]}
        *_, terminated, truncated, _ = env.step_unseen(joint)
        if terminated or truncated or done >= players.keys():
            break
    return env


@pytest.mark.parametrize("task_id", FOR_TWO)
def test_two_partners_do_the_task_together_also_where_one_takes_over_in_the_middle(task_id: str) -> None:
    env = play(task_id, *FOR_TWO[task_id], leaves_at=400 if task_id == "blocks-two/build_house" else -1)
    answers = env.outcome_check()
    assert answers["success"], answers
    if "placed_least" in answers:
        assert int(answers["placed_least"]) >= 25, "they share the work"


def test_a_partner_leaves_half_to_the_other_and_builds_it_after_all_if_nobody_does() -> None:
    env = play("blocks-two/build_house", 7002, 700, "second")
    assert 25 <= int(env.outcome_check()["num_placed"]) <= 45
    env = play("blocks-two/build_house", 7002, 2400, "second")
    answers = env.outcome_check()
    assert (answers["closed"], answers["placed_least"], answers["success"]) == (True, 0, False), "alone it does not count"


def test_a_house_without_a_roof_and_an_open_or_broken_pen_do_not_count() -> None:
    env = play("blocks-two/keep_pen", 7002, 1, "")
    answers = env.outcome_check()
    assert (answers["closed"], answers["num_sheep"], answers["success"]) == (True, 2, False)
    x, y, z = (int(value) for value in env.world.spawn)
    for place in range(4):
        env.world.spawn_mob("sheep", x - 1.5 + place, y, z + 12.5)
    assert env.outcome_check() == {"closed": True, "num_sheep": 6, "unharmed": True, "success": True}
    env.world.player.counts.setdefault("hit", {})["sheep"] = 1
    assert not env.outcome_check()["success"]
    env.world.player.counts["hit"].clear()
    env.world.grid.set(x + 3, y, z + 8, state_of("air"))
    assert env.outcome_check()["closed"] is False


def test_every_block_task_for_two_has_a_partner_and_others_are_told_which_have_one() -> None:
    shipped = {
        task.name
        for suite in tasks.builtin_suites()
        for task in suite.tasks
        if task.env.backend == "voxel" and len(task.seats) > 1
    }
    assert shipped == set(TEAM_BRAINS)
    task = replace(tasks.find("blocks-two/keep_pen"), id="my/garden")
    assert not has_player(task)
    with pytest.raises(
        agents.AgentError, match="no scripted player for my/garden, only for the tasks build_house, build_shelter"
    ):
        BlockPlayer().reset(task, rng=np.random.default_rng(0))


def test_a_recorded_game_of_two_partners_verifies(tmp_path) -> None:
    task = tasks.find("blocks-two/keep_pen")
    small = replace(task, env=replace(task.env, options={**task.env.options, "size": [64, 36]}))
    pair = {"first": agents.find("scripted"), "second": agents.find("scripted")}
    with closing(interplay.record.open(tmp_path)) as archive:
        episode = rollout(archive, small, pair, 7001, rng=np.random.default_rng(0), max_steps=60)
        verdict = verify(episode)
        assert (verdict.equal, verdict.replayed) == (True, True)
        assert episode.outcome_check["num_sheep"] == 2
