"""The world as Gymnasium's users meet it."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import blockworld
from blockworld import UnknownNameError, World, WorldError
from blockworld.env import environments

SMALL = (64, 36)


@pytest.mark.long_proof
@pytest.mark.parametrize("name", environments())
def test_every_id_makes_an_environment_that_gymnasium_finds_right(name):
    env = gymnasium.make(f"blockworld/{name}-v0", size=SMALL, render_mode="rgb_array")
    assert env.spec is not None
    assert env.spec.max_episode_steps == environments()[name]["max_episode_steps"]
    check_env(env.unwrapped, skip_render_check=True)


def test_the_same_seed_and_actions_give_the_same_episode():
    def played() -> list[bytes]:
        env = gymnasium.make("blockworld/MakeWaterfall-v0", size=SMALL)
        env.action_space.seed(3)
        frames = [env.reset(seed=5)[0]["pov"].tobytes()]
        frames += [env.step(env.action_space.sample() | {"esc": 0})[0]["pov"].tobytes() for _ in range(30)]
        return frames

    assert played() == played()
    assert len(set(played())) > 20


def test_esc_ends_an_episode_unless_it_closes_a_screen():
    env = blockworld.BlockWorldEnv(size=SMALL, kind="flat")
    env.reset(seed=1)
    env.step({"inventory": 1})
    assert env.world.screen is not None
    assert env.step({"esc": 1})[2] is False
    assert env.world.screen is None
    assert env.step({"esc": 1})[2] is True


def test_a_saved_episode_continues_elsewhere_to_the_same_picture():
    first, second = (blockworld.BlockWorldEnv(size=SMALL, kind="village", items=["bread"]) for _ in range(2))
    first.reset(seed=2)
    first.step({"forward": 1, "camera": np.array([3.0, 30.0], np.float32)})
    second.restore(first.save())
    for _ in range(5):
        pictures = [env.step({"forward": 1, "jump": 1})[0]["pov"] for env in (first, second)]
        assert np.array_equal(*pictures)
    assert first.step({})[4]["inventory"] == {"bread": 1}


def test_commands_build_the_scene_and_players_who_join_have_the_items_too():
    commands = ["# a tower", "", "/fill 128 70 128 128 80 128 minecraft:stone"]
    world = blockworld.Scenario(kind="flat", items=[["torch", 3]], commands=commands).world(1, 2)
    assert world.grid.get(128, 75, 128) == blockworld.registry.state_of("stone")
    assert [blockworld.contents(one.slots) for one in world.players] == [{"torch": 3}] * 2
    assert world.players[1].yaw != world.players[0].yaw


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kind": "plain"}, UnknownNameError, "did you mean 'plains'"),
        ({"difficulty": "hardd"}, UnknownNameError, "did you mean 'hard'"),
        ({"itms": []}, UnknownNameError, "did you mean 'items'"),
        ({"items": ["stik"]}, UnknownNameError, "did you mean 'stick'"),
        ({"items": [["stick"]]}, WorldError, "a list of names and"),
        ({"items": [["stick", 64]] * 37}, WorldError, "36 slots; these need 37"),
        ({"time": -1}, WorldError, "ticks since sunrise"),
        ({"rules": ["doDaylightCycle"]}, WorldError, "a table of game rules"),
        ({"rules": {"doDaylightCyle": False}}, UnknownNameError, "doDaylightCycle"),
        ({"commands": "/fill"}, WorldError, "a list of commands"),
        ({"size": (8, 8)}, WorldError, "16 to 4096"),
        ({"gamma": -1}, WorldError, "gamma is a number from 0"),
        ({"render_mode": "human"}, WorldError, "rgb_array"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        blockworld.BlockWorldEnv(**arguments)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"jmp": 1}, "did you mean 'jump'"),
        ({"jump": 2}, "jump is a whole number from 0 to 1"),
        ({"hotbar": 10}, "hotbar is a whole number from 0 to 9"),
        ({"camera": [1.0]}, "camera is a pair"),
        ({"camera": [np.nan, 0.0]}, "finite"),
    ],
)
def test_an_action_that_cannot_be_taken_changes_nothing(action, message):
    env = blockworld.BlockWorldEnv(size=SMALL, kind="flat")
    env.reset(seed=1)
    before = env.save()
    with pytest.raises(WorldError, match=message):
        env.step(action)
    assert env.save() == before


def test_before_the_first_reset_the_error_says_what_to_call():
    env = blockworld.BlockWorldEnv(size=SMALL)
    with pytest.raises(WorldError, match="call reset first"):
        env.step({})
    with pytest.raises(WorldError, match="not a saved world"):
        env.restore(b"nothing")
    assert isinstance(blockworld.Scenario(kind="flat").world(3), World)
