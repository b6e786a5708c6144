"""What was compiled for other sources is not used again."""

from pathlib import Path

import pytest

from interplay.world import compiling


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a world of two modules and a table, and one kernel elsewhere."""
    for name in ("world/physics.py", "world/kinds.py", "world/data/shapes.json", "envs/automatic.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(compiling, "_HERE", tmp_path / "world")
    monkeypatch.setattr(compiling, "_ELSEWHERE", (tmp_path / "envs" / "automatic.py",))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", ["world/physics.py", "world/kinds.py", "world/data/shapes.json", "envs/automatic.py"])
def test_any_changed_source_or_table_wants_another_stamp(package: Path, name: str) -> None:
    before = compiling._stamp()
    assert compiling._stamp() == before
    (package / name).write_text("2")
    assert compiling._stamp() != before


@pytest.mark.parametrize("own_cache", [True, False])
def test_kernels_in_the_cache_in_use_are_thrown_away_and_no_others(
    package: Path, monkeypatch: pytest.MonkeyPatch, own_cache: bool
) -> None:
    beside = [package / "world" / "__pycache__", package / "envs" / "__pycache__"]
    apart = [package / "cache" / "world_1f", package / "cache" / "envs_2e"]
    for folder in (*beside, *apart):
        folder.mkdir(parents=True)
        for name in (
            "physics.ray-1.py311.1.nbc",
            "automatic._rays-1.py311.nbi",
            "other.f-1.py311.nbi",
            "physics.cpython-311.pyc",
        ):
            (folder / name).touch()
    if own_cache:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(package / "cache"))
    stamp = compiling._stamp()
    stamp.touch()
    world, envs = apart if own_cache else beside
    found = compiling._kept(stamp.parent)
    assert set(found) == {stamp, world / "physics.ray-1.py311.1.nbc", envs / "automatic._rays-1.py311.nbi"}


def test_the_kernels_outside_the_worlds_folder_are_where_it_looks() -> None:
    for path in compiling._ELSEWHERE:
        assert "njit" in path.read_text()
