"""What was compiled for other sources is not used again."""

import fcntl
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from interplay.world import compiling

SOURCES = ("world/grid/physics.py", "world/errors.py", "world/data/shapes.json", "world/data/font.png", "envs/automatic.py")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a world of two modules, a table and a picture, and one kernel elsewhere."""
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(compiling, "_HERE", tmp_path / "world")
    monkeypatch.setattr(compiling, "_ELSEWHERE", (tmp_path / "envs" / "automatic.py",))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", SOURCES)
def test_any_changed_source_or_table_wants_another_stamp(package: Path, name: str) -> None:
    before = compiling._stamp()
    assert compiling._stamp() == before
    (package / name).write_text("2")
    assert compiling._stamp() != before


@pytest.mark.parametrize("own_cache", [True, False])
def test_kernels_in_the_cache_in_use_are_thrown_away_and_no_others(
    package: Path, monkeypatch: pytest.MonkeyPatch, own_cache: bool
) -> None:
    beside = [package / "world" / "grid" / "__pycache__", package / "envs" / "__pycache__"]
    apart = [package / "cache" / "grid_1f", package / "cache" / "envs_2e"]
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


def test_a_read_only_installation_keeps_its_kernels_in_the_users_cache_where_the_server_finds_them(tmp_path: Path) -> None:
    import interplay

    installed = tmp_path / "site-packages"
    shutil.copytree(
        Path(interplay.__file__).parent,
        installed / "interplay",
        ignore=shutil.ignore_patterns("__pycache__", "static", "starter"),
    )
    for folder in (installed / "interplay" / "world", installed / "interplay" / "world" / "grid"):
        (folder / "__pycache__").touch()  # nothing can be written there, whoever asks
    code = (
        "from interplay.world import compiling\nfrom interplay.world.grid import physics\n"
        "print(compiling.__file__, compiling._folder(), physics._slide.stats.cache_path, compiling._share(), sep='\\n')"
    )
    environment = {"PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    assert words[0].startswith(str(installed))
    assert words[1] == str(tmp_path / "cache" / "numba")
    assert Path(words[2]).parent == Path(words[1])
    assert float(words[3]) == 0.0


def test_who_waits_for_another_process_is_told_its_progress(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_done", False)
    stamp = compiling._stamp()
    stamp.parent.mkdir(exist_ok=True)
    shares: list[float] = []
    with stamp.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = threading.Thread(target=compiling.ensure, args=(shares.append,))
        waiting.start()
        while len(shares) < 2:
            time.sleep(0.05)
        stamp.touch()
    waiting.join()
    assert shares[-1] == 1.0
    assert all(0.0 <= share <= 1.0 for share in shares)
