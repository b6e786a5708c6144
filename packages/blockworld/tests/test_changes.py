"""What changed in a grid: nothing missed, nothing twice, wherever it came from."""

import gc

import numpy as np
import pytest
from block_world import BlockWorld

from blockworld import World, run
from blockworld.events.explosions import explode
from blockworld.grid.changes import Changes, differences
from blockworld.grid.grid import Grid
from blockworld.registry.blocks import NUM_STATES, parse, state_of
from blockworld.state import Action, Stack

COMMANDS = [
    *("/fill ~3 ~6 ~ ~3 ~6 ~2 minecraft:water", "/fill ~-8 ~1 ~-8 ~-4 ~3 ~-4 minecraft:fire", "/fill ~2 ~4 ~-2 ~5 ~6 ~ sand"),
    *(
        "/fill ~-6 ~-3 ~3 ~-2 ~-1 ~7 minecraft:lava",
        "/fill ~-20 ~-1 ~-20 ~20 ~8 ~20 air replace oak_log",
        "/summon creeper ~6 ~1 ~6",
    ),
    *("/setblock ~3 ~ ~3 glowstone", "/setblock ~3 ~ ~3 air", "/fill ~-9 ~8 ~-9 ~9 ~9 ~9 oak_leaves hollow"),
]


class Follower:
    """Copies of a grid's first blocks and light, kept in step by news alone."""

    def __init__(self, grid: Grid) -> None:
        self.changes = Changes(grid)
        self.blocks, self.light = grid.blocks.copy(), grid.light.copy()

    def follow(self) -> int:
        """Take the news; returns how many cells they name."""
        news = self.changes.take()
        assert [array.dtype for array in news] == [np.uint32, np.uint16, np.uint32, np.uint8]
        for mine, cells, values in ((self.blocks, news.cells, news.states), (self.light, news.lit, news.lights)):
            assert (np.diff(cells.astype(np.int64)) > 0).all()
            assert (mine.reshape(-1)[cells] != values).all(), "what has not changed is no news"
            mine.reshape(-1)[cells] = values
        return news.cells.size + news.lit.size

    def is_in_step(self) -> bool:
        grid = self.changes.grid
        return np.array_equal(self.blocks, grid.blocks) and np.array_equal(self.light, grid.light)


def has_all_differences(world: World) -> bool:
    """Whether what a world is saved by is what one finds by comparing everything."""
    first, now = world.first, world.grid
    whole = [
        (a.reshape(-1), b.reshape(-1))
        for a, b in ((first.blocks, now.blocks), (first.light, now.light), (first.skip, now.skip))
    ]
    return all(
        np.array_equal(cells, np.flatnonzero(before != after)) and np.array_equal(values, after[cells])
        for (cells, values), (before, after) in zip(differences(first, now), whole, strict=True)
    )


def some_action(tick: int, rng: np.random.Generator) -> Action:
    """Two hundred ticks of walking, then a hundred each of digging and of placing."""
    phase, turn = tick % 400, float(rng.normal(0, 5))
    if phase < 200:
        return Action(forward=True, sprint=phase < 100, jump=tick % 13 == 0, camera_yaw=turn)
    if phase < 300:
        return Action(attack=True, hotbar=1, camera_yaw=turn, camera_pitch=20.0 if phase < 204 else 0.0)
    return Action(use=phase % 6 == 0, hotbar=2 + phase // 50 % 2, camera_yaw=turn, camera_pitch=-8.0 if phase < 305 else 0.0)


@pytest.mark.long_proof
@pytest.mark.parametrize(("seed", "kind"), [(7, "village"), (3, "default")])
def test_news_of_random_play_bring_the_first_copy_to_the_grid_of_now(seed: int, kind: str) -> None:
    world, rng = World(seed, kind), np.random.default_rng(seed)
    world.player.game_mode, world.player.invulnerable = "survival", 10**9
    for stack in (Stack("diamond_pickaxe"), Stack("dirt", 64), Stack("torch", 64)):
        world.give(stack)
    follower, num_news = Follower(world.grid), 0
    for tick in range(2000):
        if tick % 100 == 50:
            run(world, COMMANDS[tick // 100 % len(COMMANDS)])
        if tick % 500 == 250:
            explode(world, world.player.x + 5, world.player.y, world.player.z + 5, 4.0)
        world.step(some_action(tick, rng))
        if tick % 3 == 1:  # news may wait
            num_news += follower.follow() > 0
        if tick % 300 == 298:
            assert follower.is_in_step()
            assert has_all_differences(world)
    follower.follow()
    assert follower.is_in_step()
    for again in (world.fork(), World.restore(world.save())):
        explode(again, again.player.x + 9, again.player.y, again.player.z - 9, 4.0)
        assert has_all_differences(again)
    assert num_news > 200


def test_news_name_each_cell_once_with_the_block_and_light_of_now() -> None:
    world = BlockWorld()
    changes, (x, y, z) = Changes(world.grid), (16, 12, 16)
    _, sy, sz = world.grid.size
    world.grid.set(x, y, z, state_of("stone"))
    world.grid.set(x, y, z, parse("glowstone"))
    news = changes.take()
    assert (news.cells.tolist(), news.states.tolist()) == ([(x * sz + z) * sy + y], [parse("glowstone")])
    far = ((x + 14) * sz + z) * sy + y
    assert news.lights[news.lit.tolist().index(far)] & 15 == 1  # 15, less one for each cell on the way
    world.grid.set(x, y, z, 0)
    world.grid.set(x, y, z, parse("glowstone"))
    assert [array.size for array in changes.take()] == [0, 0, 0, 0]


def test_a_small_grid_is_followed_to_its_corners() -> None:
    rng, grid = np.random.default_rng(0), Grid(np.zeros((19, 35, 13), np.uint16))
    follower = Follower(grid)
    for _ in range(60):
        (x, z), y, state = rng.choice([0, 7, 18], 2), int(rng.integers(13)), int(rng.integers(NUM_STATES))
        grid.set(int(x), y, int(z) + 16, state)
        grid.fill(int(x), 0, int(z), int(x), y, int(z) // 2, parse("stone"))
        follower.follow()
        assert follower.is_in_step()


def test_two_watch_one_grid_and_who_is_gone_is_told_nothing() -> None:
    grid = Grid(np.zeros((32, 32, 16), np.uint16))
    first, second = Changes(grid), Changes(grid)
    grid.set(3, 3, 3, parse("stone"))
    assert first.take().cells.tolist() == second.take().cells.tolist() == [(3 * 32 + 3) * 16 + 3]
    del first
    gc.collect()
    assert len(grid.watched) == 1
    assert second.take().cells.size == 0


def test_a_fork_and_a_restored_world_are_watched_anew() -> None:
    world = World(1, "flat", inhabited=False)
    changes, (x, y, z) = Changes(world.grid), world.spawn
    world.set_block(x, y + 3, z, parse("stone"))
    fork, restored = world.fork(), World.restore(world.save())
    assert fork.grid.watched == restored.grid.watched == []
    fork.set_block(x + 1, y + 3, z, parse("stone"))
    assert changes.take().cells.size == 1
    again = Changes(restored.grid)
    assert again.take().cells.size == 0
    restored.set_block(x, y + 3, z, 0)
    assert again.take().states.tolist() == [0]
