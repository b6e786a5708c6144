"""A land that is kept is the land that was made, and what is not the land that is asked for is never used."""

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import zstandard
from warm_process import WarmProcess, output_of

from blockworld import Action, World, compiling
from blockworld import world as worlds
from blockworld.grid.grid import Grid
from blockworld.terrain import kept
from blockworld.terrain.generate import KINDS, Land, generate
from blockworld.terrain.kept import KeptLands

pytestmark = pytest.mark.long_proof

CODE = "0123456789abcdef"
SMALL = (160, 96, 160)
ARRAYS = ("blocks", "light", "skip", "touched")


def made(seed: int, kind: str, size: tuple[int, int, int] = (256, 128, 256)) -> tuple[Land, Grid]:
    land = generate(seed, kind, size)
    grid = Grid(land.blocks).frozen()
    return replace(land, blocks=grid.blocks), grid


@pytest.fixture(scope="module")
def village() -> tuple[Land, Grid]:
    return made(7, "village", SMALL)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty folder in which this process keeps lands; it holds none in memory, neither then nor afterwards."""
    monkeypatch.setattr(worlds, "_LIVING", type(worlds._LIVING)())
    monkeypatch.setenv(worlds.LANDS, str(tmp_path / "lands"))
    worlds._base.cache_clear()
    yield tmp_path / "lands"
    worlds._base.cache_clear()


def forget() -> None:
    """Of no land anything stays in this process's memory."""
    worlds._base.cache_clear()
    worlds._LIVING.clear()


def assert_same(one: tuple[Land, Grid], other: tuple[Land, Grid]) -> None:
    for field in fields(Land):
        first, second = getattr(one[0], field.name), getattr(other[0], field.name)
        if isinstance(first, np.ndarray):
            assert_same_array(first, second)
        else:
            assert repr(first) == repr(second), field.name  # types as well as values
            assert first == second, field.name
    assert one[1].size == other[1].size
    assert vars(one[1]).keys() == vars(other[1]).keys()
    for name in ARRAYS:
        assert_same_array(getattr(one[1], name), getattr(other[1], name))
    assert one[0].blocks is one[1].blocks
    assert other[0].blocks is other[1].blocks


def assert_same_array(first: np.ndarray, second: np.ndarray) -> None:
    assert (first.dtype, first.shape, first.strides) == (second.dtype, second.shape, second.strides)
    assert first.flags.writeable == second.flags.writeable
    assert first.flags.aligned
    assert second.flags.aligned
    assert np.array_equal(first, second)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "flat"])
def test_a_kept_land_equals_the_made_one_in_every_field_and_array(kind: str, tmp_path: Path) -> None:
    lands, first = KeptLands(tmp_path, CODE), made(3, kind)
    lands.keep(*first)
    found = lands.read(3, kind)
    assert found is not None
    assert_same(found, first)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3_000_000


def test_worlds_of_a_kept_land_go_on_as_those_of_a_made_one(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lived() -> list[str]:
        forget()
        world, digests = World(21, "village"), []
        for step in range(60):
            world.step(Action(forward=True, jump=step % 7 == 0, attack=step % 3 == 0, camera_yaw=7.0))
            digests.append(world.digest())
        assert World.restore(world.save()).digest() == world.fork().digest() == digests[-1]
        return digests

    monkeypatch.delenv(worlds.LANDS)
    alone = lived()
    assert not fresh.exists(), "without a folder nothing is written"
    monkeypatch.setenv(worlds.LANDS, str(fresh))
    assert lived() == alone
    assert [path.name for path in fresh.iterdir()] == [f"village-15-{compiling.fingerprint()}.land"]
    monkeypatch.setattr(worlds, "generate", None)  # from here on a land cannot be made
    assert lived() == alone


def test_another_process_reads_the_land(fresh: Path) -> None:
    code = (
        "from blockworld import World, world\n"
        "world.generate = None\n"
        "made = World(22, 'plains')\n"
        "made.step(*[world.Action(forward=True)])\n"
        "print(made.digest())"
    )
    world = World(22, "plains")
    world.step(Action(forward=True))
    assert output_of(["-c", code], env=dict(os.environ)).split() == [world.digest()]


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: b"",
        lambda packed: packed[: len(packed) // 2],
        lambda packed: packed[:-1],
        lambda packed: packed + b"x",
        lambda packed: bytes(4096) + packed[4096:],
        lambda packed: packed[: len(packed) // 2] + bytes(len(packed) - len(packed) // 2),
        lambda packed: zstandard.ZstdCompressor().compress(b"no land"),
        lambda packed: zstandard.ZstdCompressor().compress(bytes(kept._MAX_BYTES + 1)),
    ],
    ids=["empty", "torn", "a byte short", "a byte more", "no begin", "no end", "something else", "too large"],
)
def test_a_damaged_file_is_not_used_and_is_replaced(damage, village, tmp_path: Path) -> None:
    lands = KeptLands(tmp_path, CODE)
    lands.keep(*village)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert lands.read(7, "village") is None
    lands.keep(*village)
    assert path.read_bytes() == whole
    assert_same(lands.read(7, "village"), village)


def test_no_flipped_bit_gives_another_land(village, tmp_path: Path) -> None:
    lands = KeptLands(tmp_path, CODE)
    lands.keep(*village)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    places = [*range(16), *np.random.default_rng(0).integers(len(whole), size=40).tolist(), *range(len(whole) - 4, len(whole))]
    refused = 0
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        found = lands.read(7, "village")
        refused += found is None
        if found is not None:  # a bit that means nothing
            assert_same(found, village)
    assert refused > 50


def test_a_land_of_other_code_or_another_name_is_not_used(village, tmp_path: Path) -> None:
    theirs, ours = KeptLands(tmp_path, "f" * 16), KeptLands(tmp_path, CODE)
    theirs.keep(*village)
    (path,) = tmp_path.iterdir()
    assert ours.read(7, "village") is None
    for seed, code in ((7, CODE), (8, "f" * 16)):
        other = tmp_path / f"village-{seed}-{code}.land"
        other.write_bytes(path.read_bytes())
        assert KeptLands(tmp_path, code).read(seed, "village") is None
    assert theirs.read(7, "village") is not None
    ours.keep(*village)
    assert [path.name for path in tmp_path.iterdir()] == [f"village-7-{CODE}.land"], "lands of other code have gone"


def test_the_least_recently_used_lands_leave_and_nothing_else_does(village, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(kept, "MOST", 3)
    land, grid = village
    lands = KeptLands(tmp_path, CODE)
    (tmp_path / "thesis.txt").write_text("mine")
    torn = tmp_path / f".village-5-{CODE}.land.77-00.part"
    torn.write_bytes(b"of a killed process")
    os.utime(torn, (1, 1))
    for seed in (1, 2, 3):
        lands.keep(replace(land, seed=seed), grid)
        os.utime(tmp_path / f"village-{seed}-{CODE}.land", (seed, seed))
    assert lands.read(1, "village") is not None
    assert (tmp_path / f"village-1-{CODE}.land").stat().st_mtime > time.time() - 600
    lands.keep(replace(land, seed=4), grid)
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", *(f"village-{seed}-{CODE}.land" for seed in (1, 3, 4))}


@pytest.mark.parametrize("seed", range(4, 8))  # where arrays begin in a file differs
def test_without_files_in_memory_a_kept_land_is_the_same(seed: int, village, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delattr(os, "memfd_create", raising=False)
    lands, (land, _) = KeptLands(tmp_path, CODE), village
    first = replace(land, seed=10**seed), Grid(land.blocks.copy()).frozen()
    first = replace(first[0], blocks=first[1].blocks), first[1]
    lands.keep(*first)
    found = lands.read(10**seed, "village")
    assert found is not None
    assert_same(found, first)


def test_two_processes_that_make_a_land_at_once_keep_one(fresh: Path) -> None:
    code = (
        "import sys, time\n"
        "from blockworld import World\n"
        "from blockworld.terrain.kept import KeptLands\n"
        "keep = KeptLands.keep\n"
        "def late(self, *made):\n"
        "    print('made', flush=True)\n"
        "    deadline = time.monotonic() + 120\n"
        "    while not __import__('pathlib').Path(sys.argv[1]).exists() and time.monotonic() < deadline:\n"
        "        time.sleep(0.01)\n"
        "    for _ in range(5):\n"
        "        keep(self, *made)\n"
        "KeptLands.keep = late\n"
        "print(World(23, 'default').digest(), flush=True)"
    )
    both_made = fresh.parent / "both made"
    processes = [WarmProcess(["-c", code, str(both_made)], env=dict(os.environ)) for _ in range(2)]
    assert [process.stdout.readline() for process in processes] == ["made\n"] * 2
    both_made.touch()
    digests = {process.stdout.read() for process in processes}
    assert [process.wait(120) for process in processes] == [0, 0]
    for process in processes:
        process.stdout.close()
    assert digests == {World(23, "default").digest() + "\n"}
    assert [path.name for path in fresh.iterdir()] == [f"default-17-{compiling.fingerprint()}.land"]


def test_where_nothing_can_be_kept_lands_are_made(fresh: Path, monkeypatch, village) -> None:
    fresh.write_text("a file, where a folder should be")
    assert World(7, "plains", inhabited=False).land.kind == "plains"
    assert fresh.read_text() == "a file, where a folder should be"
    elsewhere = KeptLands(fresh.parent / "not" / "there", CODE)
    elsewhere.keep(*village)
    assert elsewhere.read(7, "village") is None
    assert not (fresh.parent / "not").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, village, monkeypatch) -> None:
    monkeypatch.setattr(Path, "write_bytes", lambda self, packed: _write_half(self, packed))
    KeptLands(tmp_path, CODE).keep(*village)
    assert not list(tmp_path.iterdir())


def _write_half(path: Path, packed: bytes) -> None:
    with path.open("wb") as file:
        file.write(packed[: len(packed) // 2])
    with open("/dev/full", "wb", buffering=0) as full:
        full.write(packed[len(packed) // 2 :])


@pytest.mark.parametrize("bits", [70, 2000])
def test_any_seed_has_a_land_and_is_kept_if_a_file_can_be_called_so(bits: int, fresh: Path) -> None:
    assert World(1 << bits, "plains", inhabited=False).land.seed == 1 << bits
    assert len(list(fresh.iterdir())) == (bits == 70)


@pytest.mark.parametrize("kind", ["../../lands", "a\0b", "\ud800"])
def test_a_kind_that_is_none_is_told_as_before(kind: str, fresh: Path) -> None:
    with pytest.raises(worlds.WorldError, match="kind of land"):
        World(1, kind)
    assert not fresh.exists()


def test_flat_land_is_not_kept(fresh: Path) -> None:
    World(1, "flat", inhabited=False)
    assert not fresh.exists()


def test_commands_keep_lands_in_their_data_folder_unless_another_is_named(tmp_path: Path) -> None:
    others = {name: value for name, value in os.environ.items() if name != worlds.LANDS}

    def kept_by_play(data: str, **named: str) -> list[Path]:
        words = ("play", "basalt/find_cave", "--agent", "random", "--seeds", "3", "--max-seconds", "0.5", "--no-video")
        output_of(["-m", "interplay.cli", *words, "--data", str(tmp_path / data)], env=others | named)
        return sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.land"))

    (path,) = kept_by_play("one")
    assert path.parent == Path("one/lands")
    shutil.rmtree(tmp_path / "one/lands")
    verify = ("-m", "interplay.cli", "episodes", "verify", "--all", "--data", str(tmp_path / "one"))
    assert "equal" in output_of(list(verify), env=others)
    assert not (tmp_path / "one/lands").exists(), "what checks recordings neither keeps lands nor reads them"
    assert kept_by_play("two", **{worlds.LANDS: ""}) == []
    assert kept_by_play("three", **{worlds.LANDS: str(tmp_path / "named")}) == [Path("named") / path.name]
