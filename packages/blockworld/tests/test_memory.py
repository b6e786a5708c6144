"""Games of one land share its memory, and nothing else."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from blockworld import World
from blockworld.grid.grid import Grid
from blockworld.grid.memory import Original
from blockworld.registry.blocks import parse
from blockworld.state import Action, Stack

ARRAYS = ("blocks", "light", "skip")
MAX_BYTES = 12e6
NUM_GAMES = 4
_USED = Path("/proc/self/smaps_rollup")

needs_files_in_memory = pytest.mark.skipif(
    not (hasattr(os, "memfd_create") and _USED.exists()),
    reason="this system has no files in memory, or does not say what is used",
)


def used_bytes() -> int:
    return 1024 * next(int(line.split()[1]) for line in _USED.read_text().splitlines() if line.startswith("Pss:"))


def land_bytes() -> int:
    """What this process holds of lands in memory: of pages that others hold too, its share."""
    total, is_land = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, *values = line.split()
        if "-" in name:
            is_land = "memfd:land of a block world" in line
        elif is_land and name == "Pss:":
            total += 1024 * int(values[0])
    return total


def played(seed: int, ticks: int = 600) -> World:
    """A game in the same village as all the others: walking, digging, placing torches."""
    world, rng = World(7, "village"), np.random.default_rng(seed)
    for stack in (Stack("diamond_pickaxe"), Stack("torch", 64)):
        world.give(stack)
    for tick in range(ticks):
        digs, turn = tick % 200 >= 120, float(rng.normal(0, 5))
        world.step(
            Action(forward=not digs, jump=not digs, attack=digs, use=tick % 20 == 0, hotbar=1 + (not digs), camera_yaw=turn)
        )
    return world


def read_all_cells(world: World) -> None:
    """What was not read may not be in memory yet."""
    for name in ARRAYS:
        np.array_equal(getattr(world.grid, name), getattr(world.first, name))


@needs_files_in_memory
def test_a_further_game_of_one_land_takes_little_memory_and_so_does_a_fork_of_it() -> None:
    first = played(0)
    read_all_cells(first)
    before = used_bytes()
    games = [played(seed) for seed in range(1, NUM_GAMES + 1)]
    assert any((game.grid.blocks != first.land.blocks).any() for game in games)
    between = used_bytes()
    assert between - before < NUM_GAMES * MAX_BYTES
    forks = [game.fork() for game in games]
    assert used_bytes() - between < NUM_GAMES * MAX_BYTES
    assert [fork.digest() for fork in forks] == [game.digest() for game in games]


@needs_files_in_memory
def test_a_process_forked_after_a_land_was_made_shares_it() -> None:
    world = World(71, "village")
    read_all_cells(world)
    alone = sum(getattr(world.grid, name).nbytes for name in ARRAYS)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            before = land_bytes()
            own = World(71, "village")
            own.grid.fill(100, 60, 100, 110, 70, 110, parse("stone"))
            read_all_cells(own)
            os.write(write, f"{land_bytes() - before} {own.land is world.land}".encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        grown, same = said.read().split()
    os.waitpid(child, 0)
    assert same == "True"
    assert 0.4 * alone < int(grown) < 0.6 * alone  # half of what the two hold together, and what it has changed
    assert not (world.grid.blocks != world.land.blocks).any()


@pytest.mark.parametrize("has_files", [True, False])
def test_copies_and_copies_of_copies_go_their_own_way(has_files: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_files:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    rng, first = np.random.default_rng(0), Grid(np.zeros((32, 32, 32), np.uint16))
    first.fill(0, 0, 0, 31, 5, 31, parse("stone"))
    frozen = first.frozen()
    kept = {name: getattr(frozen, name).copy() for name in ARRAYS}
    grids = [frozen.copy()]
    for _ in range(6):
        one = grids[int(rng.integers(len(grids)))].copy()
        x, y, z = (int(value) for value in rng.integers(32, size=3))
        one.set(x, y, z, parse("glowstone") if one.get(x, y, z) == 0 else 0)
        grids.append(one)
    for number, one in enumerate(grids):
        again = one.copy()
        fresh = Grid(one.blocks.copy())
        assert all(np.array_equal(getattr(again, name), getattr(one, name)) for name in ARRAYS)
        assert np.array_equal(one.light, fresh.light)
        for other in grids[:number]:
            assert not any(np.shares_memory(getattr(one, name), getattr(other, name)) for name in ARRAYS)
    assert all(np.array_equal(getattr(frozen, name), kept[name]) for name in ARRAYS)
    with pytest.raises(ValueError, match="read-only"):
        frozen.blocks[0, 0, 0] = 1


def test_arrays_that_fill_no_pages_are_copied_whole() -> None:
    small = Original(np.arange(10))
    copy = small.copies()[0]
    copy[0] = 5
    assert small.arrays[0].tolist() == list(range(10))
    assert small.copies((copy,))[0].tolist() == copy.tolist()


@needs_files_in_memory
def test_a_land_nobody_uses_any_more_is_given_back() -> None:
    def num_open() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = num_open()
    original = Original(np.zeros(4096, np.uint8))
    copies = original.copies()
    assert num_open() - before == (1 if sys.version_info >= (3, 13) else 3)
    del original, copies
    assert num_open() == before
