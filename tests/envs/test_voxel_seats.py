"""The block world for two: each has a view, keys, items and an end of their own."""

from dataclasses import replace

import numpy as np
import pytest

import interplay.record
from blockworld import run
from blockworld.player import vitals
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.envs import EnvError, Observer, make
from interplay.envs.voxel import CAMERA, KEYS, VoxelEnv
from interplay.record import RecordedEpisode, verify
from interplay.tasks import Task, find

SHELTER = find("together/build_shelter")


def small(**options) -> Task:
    """The task of two with tiny pictures and other options."""
    return replace(SHELTER, env=replace(SHELTER.env, options={**SHELTER.env.options, "size": [64, 36], **options}))


@pytest.fixture
def env() -> VoxelEnv:
    """Two on a flat land, who look at one another."""
    env = make(small(kind="flat"))
    assert isinstance(env, VoxelEnv)
    env.reset(seed=3)
    return env


def idle(**keys) -> dict:
    """The action of no key, with some changed."""
    return {name: 0 for name in KEYS} | {CAMERA: np.zeros(2, np.float32)} | keys


def both(first: dict | None = None, second: dict | None = None) -> dict:
    return {"first": first or idle(), "second": second or idle()}


def test_spaces_observations_and_infos_are_by_seat(env):
    observation, info = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    assert env.action_space.contains(env.action_space.sample())
    assert info["first.inventory"] == info["second.inventory"] == {"oak_planks": 64, "oak_door": 1, "torch": 8, "wooden_axe": 1}
    turned = idle(camera=np.array([0, 9], np.float32))
    _, rewards, terminated, truncated, after = env.step(both(idle(left=1), turned))
    assert (rewards, terminated, truncated) == ({"first": 0.0, "second": 0.0}, False, False)
    assert (after["second.yaw"] - info["second.yaw"]) % 360 == 9
    assert after["first.x"] != info["first.x"]
    assert after["second.x"] == info["second.x"]
    kept = {f"{seat}.{name}" for seat in ("first", "second") for name in ("health", "food", "equipped", "gui")}
    assert set(env.info_to_record(after)) == kept


def test_each_sees_the_other_and_the_view_shows_both_side_by_side(env):
    observation, _ = env.reset(seed=3)
    pictures = [env.view_of(seat).pixels for seat in ("first", "second")]
    assert not np.array_equal(*pictures)
    np.testing.assert_array_equal(env.view().pixels, np.concatenate(pictures, axis=1))
    for seat, picture in zip(("first", "second"), pictures, strict=True):
        np.testing.assert_array_equal(observation[seat]["pov"], picture)
    for gone, who_looks in ((1, "first"), (0, "second")):
        alone = make(env.task)
        assert isinstance(alone, VoxelEnv)
        alone.restore(env.snapshot())
        alone.world.players[gone].x += 100
        assert (alone.view_of(who_looks).pixels != env.view_of(who_looks).pixels).any(axis=2).sum() > 20


def test_the_game_ends_when_both_have_said_done_and_who_has_acts_no_more(env):
    *_, terminated, _, info = env.step(both(idle(ESC=1)))
    assert not terminated
    assert info["seats_done"] == ["first"]
    stood = info["first.x"], info["first.z"]
    for _ in range(5):
        *_, info = env.step(both(idle(forward=1)))
    assert (info["first.x"], info["first.z"]) == stood
    *_, terminated, _, info = env.step(both(None, idle(ESC=1)))
    assert terminated
    assert info["outcome_check"] == {"placed": 0, "placed_least": 0, "inside": 0, "success": False}
    with pytest.raises(EnvError, match="the episode has ended"):
        env.step(both())


def test_one_who_dies_leaves_the_other_playing(env):
    vitals.hurt(env.world, 50.0, "void")
    *_, terminated, _, info = env.step(both())
    assert not terminated
    assert info["seats_done"] == ["first"]
    assert info["second.health"] == 20.0


def test_a_shelter_needs_a_roof_walls_and_blocks_of_both(env):
    world = env.world
    x, y, z = world.spawn
    run(world, f"/fill {x - 2} {y} {z - 2} {x + 2} {y + 3} {z + 5} minecraft:oak_planks outline")
    run(world, f"/fill {x - 1} {y} {z - 1} {x + 1} {y + 2} {z + 4} minecraft:air")
    assert env.outcome_check() == {"placed": 0, "placed_least": 0, "inside": 2, "success": False}
    for player in world.players:
        player.count("used", "oak_planks", 12)
    assert env.outcome_check() == {"placed": 24, "placed_least": 12, "inside": 2, "success": True}
    world.players[1].x += 20
    assert env.outcome_check()["success"] is False


def test_a_snapshot_keeps_who_is_done_and_goes_on_alike(env):
    env.step(both(idle(ESC=1)))
    saved = env.snapshot()
    other = make(env.task)
    assert isinstance(other, VoxelEnv)
    other.restore(saved)
    for turn in range(20):
        action = both(None, idle(forward=1, attack=1, camera=np.array([2, turn], np.float32)))
        one, two = env.step(action), other.step(action)
        assert one[1:] == two[1:]
        np.testing.assert_array_equal(one[0]["second"]["pov"], two[0]["second"]["pov"])
    assert one[4]["seats_done"] == ["first"]
    assert env.world.digest() == other.world.digest()
    alone = make(replace(env.task, seats=("player",)))
    with pytest.raises(EnvError, match=r"the snapshot has 2 players, and together/build_shelter has 1"):
        alone.restore(saved)


def test_a_seat_without_an_action_is_an_error_and_changes_nothing(env):
    before = env.world.digest()
    with pytest.raises(EnvError, match="every seat needs an action; there is no action for second"):
        env.step({"first": idle()})
    with pytest.raises(EnvError, match="jmp"):
        env.step(both(None, {"jmp": 1}))
    assert env.world.digest() == before


def test_numbers_for_agents_are_those_of_their_seat(env):
    _, info = env.reset(seed=3)
    observer = Observer("scene", env, "second")
    seen = observer.reset(info | {"first.health": 3.0, "second.health": 7.0})
    assert seen["info"]["health"] == 7.0
    np.testing.assert_array_equal(seen["picture"], env.view_of("second").pixels)


@pytest.mark.long_proof
def test_on_held_out_seeds_the_two_stand_apart_and_near():
    for seed in SHELTER.held_out_seeds:
        env = make(small())
        assert isinstance(env, VoxelEnv)
        env.reset(seed=seed)
        first, second = env.world.players
        assert 1 < np.hypot(first.x - second.x, first.z - second.z) < 10
        assert abs(first.y - second.y) <= 2


def test_a_rollout_of_two_agents_verifies(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    agents = {"first": find_agent("random"), "second": find_agent("noop")}
    episode = rollout(archive, small(), agents, seed=7001, rng=np.random.default_rng(4), max_steps=60)
    assert [(held.seat, held.actor) for held in episode.seats] == [("first", "random"), ("second", "noop")]
    assert verify(episode).equal
    archive.close()


def test_a_game_with_a_takeover_and_a_handover_verifies(tmp_path):
    archive = interplay.record.open(tmp_path / "data")
    task = small(kind="flat")
    world = make(task)
    recorder = archive.recorder(task, world, seed=3, actor="ann", actor_kind="human")
    episode = RecordedEpisode(world, recorder)
    episode.start(3)
    for step in range(24):
        owner = "scripted" if 8 <= step < 16 else "ann"
        episode.step(both(idle(forward=1), idle(left=step % 2)), owners={"first": owner, "second": "ann"})
    sealed = archive.seal(recorder.finish("quit"))
    world.close()
    assert verify(sealed).equal
    assert sealed.steps().column("owner.first").to_pylist()[:-1] == ["ann"] * 8 + ["scripted"] * 8 + ["ann"] * 8
    archive.close()
