"""The block world as an environment: MineRL's keys and picture, exactness, endings, rewards, errors that change nothing."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from warm_process import output_of

from blockworld import Renderer, Stack
from interplay.envs import EnvError, SingleAgentEnv, make
from interplay.envs.gymnasium_ids import IDS
from interplay.envs.voxel import CAMERA, KEYS, VoxelEnv
from interplay.envs.voxel.checks.obtain_diamond_shovel import MILESTONES
from interplay.errors import NotFoundError
from interplay.tasks import find

SMALL = (64, 36)
SANDBOX = find("basalt/sandbox")


def small(task_id: str = "basalt/sandbox", **options) -> SingleAgentEnv:
    """A task with a tiny picture and other options."""
    task = find(task_id)
    env = make(replace(task, env=replace(task.env, options={**task.env.options, "size": list(SMALL), **options})))
    assert isinstance(env, VoxelEnv)
    return SingleAgentEnv(env)


def idle(**keys) -> dict:
    """The action of no key, with some changed."""
    return {name: 0 for name in KEYS} | {CAMERA: np.zeros(2, np.float32)} | keys


def random_actions(num: int, seed: int) -> list[dict]:
    """What somebody does who presses everything: walks, digs, places, crafts, throws."""
    rng = np.random.default_rng(seed)
    actions, held = [], idle()
    for step in range(num):
        if step % 8 == 0:
            held = idle(**{name: int(rng.random() < 0.25) for name in KEYS if name not in ("ESC", "inventory")})
            held["inventory"] = int(rng.random() < 0.03)
            held["attack"] = int(rng.random() < 0.5)
        actions.append(held | {CAMERA: rng.normal(0, 6, 2).astype(np.float32)})
    return actions


def test_every_id_is_a_gymnasium_environment():
    for name in IDS:
        env = gymnasium.make(f"interplay/{name}-v1", size=SMALL)
        assert env.observation_space["pov"].shape == (SMALL[1], SMALL[0], 3)
        assert set(env.action_space.spaces) == {*KEYS, CAMERA}
        env.close()


def test_the_sandbox_passes_gymnasiums_checker():
    check_env(gymnasium.make("interplay/Sandbox-v1", size=SMALL, kind="flat").unwrapped, skip_render_check=True)


def test_tasks_have_the_published_limits_and_first_items():
    for name, max_steps, items in [  # MineRL 1.0, basalt_specs.py and obtain_specs.py
        ("find_cave", 3600, {}),
        ("make_waterfall", 6000, {"water_bucket": 1, "cobblestone": 20, "stone_shovel": 1, "stone_pickaxe": 1}),
        (
            "create_village_animal_pen",
            6000,
            {"oak_fence": 64, "oak_fence_gate": 64, "carrot": 1, "wheat_seeds": 1, "wheat": 1},
        ),
        ("build_village_house", 14_400, None),
        ("obtain_diamond_shovel", 18_000, {}),
    ]:
        env = small(f"basalt/{name}")
        _, info = env.reset(seed=env.task.held_out_seeds[0])
        assert env.task.max_steps == max_steps
        assert len(env.task.held_out_seeds) == 11
        if items is None:
            assert info["inventory"]["stone_axe"] == 1
            assert sorted(info["inventory"].values()) == [1, 1] + [64] * 28
        else:
            assert info["inventory"] == items


def test_the_picture_has_the_games_size_unless_another_is_asked_for():
    env = SingleAgentEnv(make(SANDBOX))
    assert env.observation_space["pov"].shape == (360, 640, 3)


def test_the_inventory_is_observed_with_the_shovel_as_in_minerl_and_nowhere_else_unless_asked_for():
    env = small("basalt/obtain_diamond_shovel", items=[["oak_log", 3], "stick"])
    observation, _ = env.reset(seed=2001)
    assert env.observation_space.contains(observation)
    space = env.observation_space["inventory"]["diamond_shovel"]
    assert (space.low.item(), space.high.item(), space.shape, space.dtype) == (0, 2304, (), np.int32)  # MineRL's inventory.py
    assert {name: int(count) for name, count in observation["inventory"].items() if count} == {"oak_log": 3, "stick": 1}
    observation["inventory"]["stick"] += 5  # is nobody's business but the agent's
    observation = env.step(idle(drop=1))[0]
    assert {name: int(count) for name, count in observation["inventory"].items() if count} == {"oak_log": 2, "stick": 1}
    assert set(small().observation_space.spaces) == {"pov"}
    assert set(small(inventory=True).observation_space.spaces) == {"pov", "inventory"}


def play(num: int, *, restore_at: int | None = None) -> list[str]:
    """Digests of world and pictures every 100 steps of random play."""
    env = small(kind="plains", items=["stone_pickaxe", ["oak_planks", 32], "water_bucket", ["sand", 16], "oak_door"])
    env.reset(seed=11)
    pictures, found = hashlib.sha256(), []
    for step, action in enumerate(random_actions(num, seed=5)):
        if step == restore_at:
            snapshot = env.snapshot()
            env = small(kind="plains", items=["stone_pickaxe"])
            env.restore(snapshot)
        observation, _, terminated, _, _ = env.step(action)
        pictures.update(observation["pov"].tobytes())
        if step % 100 == 99:
            found.append(f"{env.world.digest()} {pictures.hexdigest()}")
        if terminated:
            break
    return found


@pytest.mark.long_proof
def test_the_same_seed_and_actions_give_the_same_states_and_pictures_in_another_process_and_after_a_restore():
    here = play(600)
    assert len(here) == 6
    assert play(600, restore_at=300) == here
    code = "import json, sys; sys.path[:0] = ['tests', 'tests/envs']; from test_voxel import play; print(json.dumps(play(600)))"
    assert json.loads(output_of(["-c", code]).splitlines()[-1]) == here


def test_a_step_that_nobody_sees_changes_the_world_as_one_that_is_drawn():
    worlds = small(kind="plains"), small(kind="plains")
    for env in worlds:
        env.reset(seed=11)
    for action in random_actions(120, seed=5):
        worlds[0].step(action)
        worlds[1].step_unseen({"player": action})
    assert worlds[0].world.digest() == worlds[1].world.digest()
    np.testing.assert_array_equal(worlds[0].view().pixels, worlds[1].view().pixels)


def test_esc_ends_the_episode_but_first_closes_a_screen():
    env = small(kind="flat")
    env.reset(seed=1)
    assert env.step(idle(inventory=1))[4]["gui"] == "inventory"
    assert env.step(idle(ESC=1))[2:4] == (False, False)
    assert env.step(idle())[4]["is_gui_open"] is False
    assert env.step(idle(ESC=1))[2:4] == (True, False)
    with pytest.raises(EnvError, match="the episode has ended; call reset"):
        env.step(idle())


def test_esc_does_nothing_where_the_shovel_is_to_be_made():
    env = small("basalt/obtain_diamond_shovel")
    env.reset(seed=1)
    assert env.step(idle(ESC=1))[2] is False


def test_the_first_of_each_item_on_the_way_to_the_shovel_is_rewarded_once():
    env = small("basalt/obtain_diamond_shovel")
    env.reset(seed=1)
    total = 0.0
    for item in ("birch_log", "oak_log", "oak_planks", *list(MILESTONES)[2:]):
        env.world.give(Stack(item))
        _, reward, terminated, _, _ = env.step(idle())
        assert reward == (
            0.0 if item == "oak_log" else MILESTONES[{"birch_log": "log", "oak_planks": "planks"}.get(item, item)]
        )
        total += reward
    assert total == 3619
    assert terminated


def test_a_bad_action_is_an_error_and_changes_nothing():
    for action, message in [
        ({"jmp": 1}, "did you mean 'jump'"),
        ({"camera": [1.0, float("nan")]}, "finite degrees"),
        ({"camera": [1.0, float("inf")]}, "finite degrees"),
        ({"camera": [1.0]}, r"camera is a pair \(pitch, yaw\)"),
        ({"camera": "left"}, r"camera is a pair \(pitch, yaw\)"),
        ({"camera": ["1", "2"]}, r"camera is a pair \(pitch, yaw\)"),
        ({"camera": np.array([1j, 2])}, r"camera is a pair \(pitch, yaw\)"),
        ({"attack": "yes"}, "key attack is 0 or 1, got 'yes'"),
        ({"attack": None}, "key attack is 0 or 1"),
    ]:
        env = small(kind="flat")
        env.reset(seed=1)
        before = env.world.digest()
        with pytest.raises(EnvError, match=message):
            env.step(idle() | action)
        assert env.world.digest() == before


def test_a_bad_option_is_an_error_that_names_it():
    for options, error, message in [
        ({"siez": [64, 36]}, NotFoundError, "did you mean 'size'"),
        ({"size": [64]}, EnvError, r"size is \[width, height\]"),
        ({"size": [64, 100_000]}, EnvError, r"16 to 4096 pixels"),
        ({"kind": "plain"}, NotFoundError, "did you mean 'plains'"),
        ({"reward": "gold"}, EnvError, "reward is '' or 'diamond_shovel'"),
        ({"automatic": "find_caves"}, NotFoundError, "did you mean 'find_cave'"),
        ({"check": "find_caves"}, NotFoundError, "did you mean 'find_cave'"),
        ({"check": 7}, EnvError, "options.check is the name of an outcome check, or module:function, got 7"),
        ({"check": "no_such_module:check"}, EnvError, "'no_such_module:check' cannot be imported: No module named"),
        ({"check": "math:pi"}, EnvError, "outcome check 'math:pi' must be a function of a world, got float"),
        ({"check": "a", "automatic": "b"}, EnvError, "options.automatic is the earlier name of check; keep one of them"),
        ({"items": ["stone_pickax"]}, NotFoundError, "did you mean 'stone_pickaxe'"),
        ({"rules": {"doDaylightCyle": False}}, NotFoundError, "did you mean 'doDaylightCycle'"),
        ({"difficulty": "hardd"}, NotFoundError, "did you mean 'hard'"),
        ({"time": "noon"}, EnvError, "options.time is a whole number of ticks since sunrise"),
        ({"time": -1}, EnvError, "options.time"),
        ({"size": [64, True]}, EnvError, "options.size"),
        ({"esc_ends": "no"}, EnvError, "options.esc_ends is true or false, got 'no'"),
        ({"items": [["stone"]]}, EnvError, r"options.items is a list of names and \[name, count\] pairs"),
        ({"items": [3]}, EnvError, "options.items"),
        ({"items": [["stone", 5000]]}, EnvError, "a list that fits 36 slots; these need 79"),
        ({"rules": {"randomTickSpeed": "fast"}}, EnvError, "randomTickSpeed is a whole number from 0 to 4096, got 'fast'"),
        ({"rules": {"doFireTick": "maybe"}}, EnvError, "doFireTick is true or false, got 'maybe'"),
        ({"rules": ["doFireTick"]}, EnvError, "options.rules is a table"),
        ({"commands": "/kill"}, EnvError, "options.commands is a list"),
    ]:
        with pytest.raises(error, match=message):
            small(**options)


def test_a_scene_with_a_bad_command_says_which():
    env = small(kind="flat", commands=["/time set noon", "/fil 0 0 0 1 1 1 stone"])
    with pytest.raises(EnvError, match="fil"):
        env.reset(seed=1)


def test_every_rule_of_the_gamerule_command_may_be_an_option():
    env = small(kind="flat", rules={"doMobLoot": False, "randomTickSpeed": 0})
    env.reset(seed=1)
    assert (env.world.rules["doMobLoot"], env.world.rules["randomTickSpeed"]) == ("false", "0")


def test_the_last_info_says_what_was_reached_and_no_other_does():
    env = small("basalt/find_cave")
    _, info = env.reset(seed=14169)
    assert "outcome_check" not in info
    assert "outcome_check" not in env.step(idle())[4]
    info = env.step(idle(ESC=1))[4]
    assert info["outcome_check"] == env.outcome_check()
    assert info["outcome_check"]["success"] is False


def stands_high(world):
    """An outcome check of somebody's own."""
    return {"height": world.player.y, "success": world.player.y > 100}


@pytest.mark.parametrize("option", ["check", "automatic"])
def test_a_task_names_its_outcome_check_also_by_the_earlier_name(option):
    env = small(kind="flat", **{option: "find_cave"})
    env.reset(seed=1)
    assert env.outcome_check() == {"inside_cave": False, "dug_in": False, "depth": 0, "success": False}


def test_an_outcome_check_of_your_own_is_named_by_module_and_function():
    env = small(kind="flat", check=f"{__name__}:stands_high")
    env.reset(seed=1)
    info = env.step(idle(ESC=1))[4]
    assert info["outcome_check"] == {"height": env.world.player.y, "success": False}
    assert small(kind="flat").outcome_check() == {}


def test_a_reset_that_fails_leaves_nothing_to_step():
    env = small(kind="flat", commands=["/fil 0 0 0 1 1 1 stone"])
    with pytest.raises(EnvError, match="fil"):
        env.reset(seed=1)
    with pytest.raises(EnvError, match="call reset first"):
        env.step(idle())


def test_a_scene_may_hold_empty_lines_and_comments():
    env = small(kind="flat", commands=["", "# noon", "/time set noon"])
    env.reset(seed=1)
    assert env.world.time == 6000


def test_a_snapshot_of_another_task_or_a_broken_one_changes_nothing():
    env = small(kind="flat")
    env.reset(seed=1)
    other = small("basalt/find_cave")
    other.reset(seed=14169)
    before = env.world.digest()
    snapshot = env.snapshot()
    end = 4 + int.from_bytes(snapshot[:4], "little")
    head = json.dumps({"task": "basalt/sandbox"}).encode()  # without its steps
    for broken in (other.snapshot(), len(head).to_bytes(4, "little") + head + snapshot[end:], snapshot[:-9], b""):
        with pytest.raises(EnvError, match=r"snapshot"):
            env.restore(broken)
        assert env.world.digest() == before


def test_an_observation_is_the_callers_own():
    env = small(kind="flat")
    observation, _ = env.reset(seed=1)
    observation["pov"][:] = 0
    assert env.view().pixels.any()


@pytest.mark.parametrize("max_steps", [0, 1.5, "x", True])
def test_a_time_limit_is_a_whole_number(max_steps):
    with pytest.raises(EnvError, match="max_steps is a whole number"):
        gymnasium.make("interplay/Sandbox-v1", max_steps=max_steps)


def test_stepping_before_the_first_reset_says_what_to_do():
    with pytest.raises(EnvError, match="call reset"):
        small().step(idle())


def test_a_scene_is_a_seed_and_commands():
    env = small(kind="flat", commands=["/setblock ~2 ~ ~ minecraft:gold_block", "/summon minecraft:cow ~3 ~ ~3 {NoAI:1b}"])
    _, info = env.reset(seed=1)
    x, y, z = (int(np.floor(info[name])) for name in "xyz")
    found = env.box((x - 5, y - 1, z - 5), (x + 5, y + 3, z + 5))
    assert found["blocks"]["gold_block"] == 1
    assert [mob["name"] for mob in found["mobs"]] == ["cow"]


def test_garbage_is_no_snapshot():
    with pytest.raises(EnvError, match="this is not a snapshot"):
        small().restore(b"\x04\0\0\0{}  garbage")


@pytest.mark.long_proof
def test_without_the_block_world_its_tasks_say_what_to_install_and_atari_plays_on():
    code = (
        "import sys; sys.modules['blockworld'] = None\n"
        "import interplay.agents, interplay.cli, interplay.envs, interplay.play, interplay.web.app\n"
        "interplay.envs.make('atari/breakout').reset(seed=1)\n"
        "try:\n    interplay.envs.make('basalt/find_cave')\n"
        "except interplay.envs.EnvError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=180)
    assert "needs blockworld; it is not installed" in done.stdout
    assert "pip install ./packages/blockworld" in done.stdout


def test_a_task_that_says_no_gamma_is_drawn_without():
    """Tasks of recordings that were made before there was gamma."""
    task = find("basalt/sandbox")
    options = {name: value for name, value in task.env.options.items() if name != "gamma"} | {
        "size": list(SMALL),
        "kind": "flat",
    }
    env = make(replace(task, env=replace(task.env, options=options)))
    assert isinstance(env, VoxelEnv)
    env.reset(seed=3)
    assert np.array_equal(env.view().pixels, Renderer(SMALL).frame(env.world))


def test_the_info_has_the_origin_of_a_scene_and_a_snapshot_keeps_it():
    env = small(kind="flat", origin=True, commands=["/tp @p ~ ~5 ~-40"])
    _, info = env.reset(seed=1)
    assert (info["y"], info["origin"]) == (69.0, [128, 64, 88])  # they fall for most of a second
    env.step(idle(forward=1))
    kept = env.snapshot()
    again = small(kind="flat", origin=True, commands=["/tp @p ~ ~5 ~-40"])
    again.restore(kept)
    assert again.snapshot() == kept
    assert again.step(idle())[4]["origin"] == [128, 64, 88]
    with pytest.raises(EnvError, match="'origin'"):
        env.restore(small_snapshot())
    assert "origin" not in small(kind="flat").reset(seed=1)[1]


def small_snapshot() -> bytes:
    """Of a task that has no origin."""
    env = small(kind="flat")
    env.reset(seed=1)
    return env.snapshot()


def test_a_fork_of_an_environment_goes_on_exactly_alike_and_by_itself():
    env = small("basalt/obtain_diamond_shovel", kind="flat")
    env.reset(seed=1)
    for action in random_actions(20, 4):
        env.step(action)
    fork, before = env.fork(), env.snapshot()
    steps = random_actions(30, 5)
    theirs = [fork.step(action) for action in steps]
    assert env.snapshot() == before
    ours = [env.step(action) for action in steps]
    assert fork.snapshot() == env.snapshot()
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one[0]["pov"], other[0]["pov"])
        assert one[1:] == other[1:]
    with pytest.raises(EnvError, match="call reset"):
        small().fork()


def test_a_gamma_that_is_none_is_refused():
    for gamma in [-1, 9, "2", True, None]:
        with pytest.raises(EnvError, match=r"gamma is a number from 0 to 8, MineRL's is 2, got"):
            small(gamma=gamma)
