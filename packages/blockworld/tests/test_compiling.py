"""What was compiled for other sources is not used again."""

import fcntl
import shutil
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

from blockworld import compiling

SOURCES = ("world/grid/physics.py", "world/errors.py", "world/data/shapes.json", "world/data/font.png")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a world of two modules, a table and a picture."""
    for name in SOURCES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(compiling, "_HERE", tmp_path / "world")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compiling, "fingerprint", cache(compiling.fingerprint.__wrapped__))
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
    beside, apart = package / "world" / "grid" / "__pycache__", package / "cache" / "grid_1f"
    for folder in (beside, apart):
        folder.mkdir(parents=True)
        for name in ("physics.ray-1.py311.1.nbc", "other.f-1.py311.nbi", "physics.cpython-311.pyc"):
            (folder / name).touch()
    if own_cache:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(package / "cache"))
    stamp = compiling._stamp()
    stamp.touch()
    kernel = (apart if own_cache else beside) / "physics.ray-1.py311.1.nbc"
    assert set(compiling._kept(stamp.parent)) == {stamp, kernel}


@pytest.mark.parametrize("own_cache", [True, False])
def test_kernels_of_others_are_thrown_away_when_the_world_is_another(
    package: Path, monkeypatch: pytest.MonkeyPatch, own_cache: bool
) -> None:
    source = package / "checks" / "caves.py"
    folder = package / "cache" / "checks_1f" if own_cache else source.parent / "__pycache__"
    if own_cache:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(package / "cache"))
    folder.mkdir(parents=True)
    kernel, other = folder / "caves._rays-1.py311.nbi", folder / "cavesides.f-1.py311.nbi"
    for world in ("1", "2"):
        (package / "world" / "errors.py").write_text(world)
        compiling.fingerprint.cache_clear()
        kernel.touch()
        other.touch()
        compiling.register(str(source))
        assert not kernel.exists()
        assert other.exists()
        kernel.touch()
        compiling.register(str(source))
        assert kernel.exists()
    assert len(list(compiling._folder().glob("checks.caves-*.compiled"))) == 1


def test_a_read_only_installation_keeps_its_kernels_in_the_users_cache_where_the_server_finds_them(tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    shutil.copytree(
        Path(compiling.__file__).parent,
        installed / "blockworld",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for folder in (installed / "blockworld", installed / "blockworld" / "grid"):
        (folder / "__pycache__").touch()  # nothing can be written there, whoever asks
    code = (
        "from blockworld import compiling\nfrom blockworld.grid import physics\n"
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
