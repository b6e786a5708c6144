"""The hand-written players of the block world: legal, repeatable, and good enough for outcome checks."""

from collections.abc import Iterator

import numpy as np
import pytest

from blockworld import Action, Stack, World
from blockworld.registry import properties_of, state_of
from blockworld.registry.blocks import parse
from interplay import agents, envs, tasks
from interplay.agents.base import Insider
from interplay.agents.scripted.blocks import BLOCK_BRAINS, BlockPlayer, as_keys, polite
from interplay.agents.skills.body import MOST_TURN, Body
from interplay.agents.skills.crafts import craft
from interplay.agents.skills.navigation import Routes
from interplay.envs.voxel.checks import outcome
from interplay.envs.voxel.starts import put

TASK_NAMES = sorted(BLOCK_BRAINS)


def task_of(name: str) -> tasks.Task:
    """The task of a player of the block world."""
    suite = "first-person" if name in ("get_log", "walk_to_village") else "basalt"
    return tasks.find(f"{suite}/{name}")


def world_of(task: tasks.Task, seed: int) -> World:
    """The world an episode of a task begins with, without pictures."""
    options = task.env.options
    world = World(seed, options.get("kind", "default"))
    if options.get("start"):
        put(world, options["start"])
    world.time = options["time"]
    world.rules |= {name: str(value).lower() for name, value in options.get("rules", {}).items()}
    for item in options.get("items", ()):
        name, count = (item, 1) if isinstance(item, str) else item
        world.give(Stack(name, count))
    return world


def played(name: str, seed: int, *, most: int | None = None, whim: int = 0) -> tuple[World, list[Action]]:
    """An episode of the scripted player, with its actions."""
    task = task_of(name)
    world = world_of(task, seed)
    actions: list[Action] = []
    for action in polite(world, BLOCK_BRAINS[name](world, np.random.default_rng([seed, whim]))):
        if len(actions) >= (most or task.max_steps) or world.player.dead:
            break
        in_screen = world.screen is not None
        world.step(action)
        actions.append(action)
        if action.esc and not in_screen:
            break
    return world, actions


@pytest.mark.long_proof
def test_the_scripted_player_succeeds_in_time_with_the_turns_of_a_hand() -> None:
    for name, seed in [
        ("find_cave", 65101),
        ("make_waterfall", 70373),
        ("create_village_animal_pen", 57764),
        ("build_village_house", 92974),
        ("get_log", 3001),
        ("walk_to_village", 4001),
    ]:
        world, actions = played(name, seed)
        assert outcome(world, name)["success"], outcome(world, name)
        assert max(max(abs(one.camera_yaw), abs(one.camera_pitch)) for one in actions) <= MOST_TURN
        assert all(one.hotbar in range(10) for one in actions)


@pytest.mark.long_proof
def test_the_scripted_player_has_stone_tools_after_the_first_two_minutes() -> None:
    world, actions = played("obtain_diamond_shovel", 2002, most=2400)
    assert outcome(world, "obtain_diamond_shovel")["total"] >= 99  # log to stone pickaxe, of 3,619 in all
    assert not any(one.esc for one in actions)


def test_any_block_can_be_mined_with_whatever_is_carried() -> None:
    world = World(7, "flat", inhabited=False)
    for item in ("apple", "stone_pickaxe", "oak_planks"):
        world.give(Stack(item))
    body = Body(world, np.random.default_rng(0))
    for block in (
        "glass",
        "torch",
        "cobweb",
        "stone",
        "water",
        "glowstone",
    ):  # no tool is best on glass, and none is fit for some
        for action in body.hold_tool(block):
            world.step(action)
        assert world.player.in_hand is not None


def test_an_agent_that_draws_its_actions_does_not_succeed() -> None:
    for name in TASK_NAMES:
        task = task_of(name)
        world = world_of(task, task.held_out_seeds[0])
        rng = np.random.default_rng(0)
        for step in range(400):
            if step % 4 == 0:
                keys = rng.random(11) < 0.5
                pitch, yaw = (float(one) for one in rng.normal(0.0, 5.0, 2))
            attack, back, forward, jump, left, right, sneak, sprint, use, inventory, drop = (bool(key) for key in keys)
            world.step(
                Action(
                    attack=attack, back=back, forward=forward, jump=jump, left=left, right=right, sneak=sneak, sprint=sprint,
                    use=use, inventory=inventory, drop=drop, hotbar=int(rng.integers(10)), camera_pitch=pitch, camera_yaw=yaw,
                )
            )  # fmt: skip
        assert not outcome(world, name)["success"]


def test_the_same_whims_give_the_same_episode_and_others_another() -> None:
    first, actions = played("find_cave", 76379)
    again, same = played("find_cave", 76379)
    _, other = played("find_cave", 76379, whim=1)
    assert actions == same
    assert first.digest() == again.digest()
    assert actions != other


@pytest.mark.long_proof
def test_the_scripted_agent_keeps_the_protocol_in_the_block_world() -> None:
    agents.check_agent(agents.find("scripted"), tasks.find("basalt/make_waterfall"), num_decisions=12, seed=70373)


def test_every_action_is_in_the_action_space_with_all_its_keys() -> None:
    env = envs.make("basalt/find_cave")
    keys = as_keys(Action(forward=True, hotbar=3, camera_yaw=-4.0, esc=True))
    assert env.action_space.contains({"player": keys})
    assert keys["hotbar.3"] == 1
    assert keys["hotbar.1"] == 0
    assert keys["forward"] == 1
    assert keys["ESC"] == 1
    assert keys["camera"].tolist() == [0.0, -4.0]
    env.close()


def test_agents_that_look_into_the_world_must_be_shown_it_first() -> None:
    player = BlockPlayer()
    assert isinstance(player, Insider)
    assert isinstance(agents.find("scripted"), Insider)
    with pytest.raises(agents.AgentError, match="call reset"):
        player.act(np.zeros((2, 2, 3), np.uint8))
    player.reset(tasks.find("basalt/find_cave"), rng=np.random.default_rng(0))
    with pytest.raises(agents.AgentError, match=r"call attach\(env, seat\)"):
        player.act(np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(agents.AgentError, match="no scripted player for basalt/sandbox"):
        player.reset(tasks.find("basalt/sandbox"), rng=np.random.default_rng(0))


# Finding ways.


@pytest.fixture
def meadow() -> World:
    return World(7, "flat", inhabited=False)


def go(world: World, acts: Iterator[Action]) -> bool:
    """Play what a body does; returns what it says of itself."""
    try:
        while True:
            world.step(next(acts))
    except StopIteration as end:
        return bool(end.value)


def test_a_way_leads_around_walls_and_costs_what_walking_takes(meadow: World) -> None:
    meadow.grid.fill(125, 64, 132, 131, 66, 132, state_of("stone"))
    routes = Routes(meadow.grid, (128, 64, 128), [(128, 64, 136)])
    way = routes.way()
    assert way[-1] == (128, 64, 136)
    assert all(not (cell[2] == 132 and 125 <= cell[0] <= 131) for cell in way)
    straight = Routes(World(7, "flat", inhabited=False).grid, (128, 64, 128), [(128, 64, 136)])
    assert straight.cost((128, 64, 136)) == pytest.approx(8 * 4.6)
    assert routes.cost((128, 64, 136)) > straight.cost((128, 64, 136))


def test_fences_lava_and_falls_are_no_way(meadow: World) -> None:
    for block in ("oak_fence", "lava", "air"):
        world = World(7, "flat", inhabited=False)
        if block == "air":
            world.grid.fill(120, 58, 120, 136, 63, 136, 0)
            world.grid.fill(127, 63, 127, 129, 63, 129, state_of("stone"))
        else:
            world.grid.fill(126, 64, 126, 130, 64, 130, parse(block))
            world.grid.fill(127, 64, 127, 129, 64, 129, 0)
        assert Routes(world.grid, (128, 64, 128), [(128, 64, 140)]).goal is None, block


def test_a_body_walks_up_steps_and_opens_doors(meadow: World) -> None:
    meadow.grid.fill(120, 64, 132, 136, 68, 132, state_of("stone"))
    lower = state_of("oak_door", facing="south", half="lower")
    meadow.grid.set(128, 64, 132, lower)
    meadow.grid.set(128, 65, 132, state_of("oak_door", facing="south", half="upper"))
    meadow.grid.fill(126, 64, 136, 130, 64, 140, state_of("stone"))
    meadow.grid.fill(120, 64, 133, 120, 68, 200, state_of("stone"))
    meadow.grid.fill(136, 64, 133, 136, 68, 200, state_of("stone"))
    meadow.grid.fill(120, 64, 200, 136, 68, 200, state_of("stone"))
    body = Body(meadow, np.random.default_rng(0))
    assert go(meadow, body.walk((128, 65, 138)))
    assert body.cell == (128, 65, 138)
    assert properties_of(meadow.grid.get(128, 64, 132))["open"] == "true"


def test_a_body_places_and_mines_and_crafts_by_keys(meadow: World) -> None:
    for item in ("oak_log", "stone", "dirt", "torch", "cobblestone", "sand", "gravel", "glass", "ladder"):
        meadow.give(Stack(item, 4))
    meadow.give(Stack("wooden_pickaxe"))  # not in the hotbar any more
    body = Body(meadow, np.random.default_rng(0))
    assert go(meadow, body.place((130, 64, 130), "stone"))
    assert meadow.grid.get(130, 64, 130) == state_of("stone")
    assert go(meadow, body.mine((130, 64, 130)))
    assert meadow.grid.get(130, 64, 130) == 0
    assert meadow.player.in_hand == Stack("wooden_pickaxe", damage=1)
    assert go(meadow, craft(body, "oak_planks", 3))
    assert (body.count("oak_planks"), body.count("oak_log")) == (12, 1)
    assert meadow.screen is None
