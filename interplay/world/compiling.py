"""The one-time compile of the world's kernels: said before it begins and when it has ended, done by one process for all.

Numba compiles each kernel when it is first called and keeps the result beside the source (or in `NUMBA_CACHE_DIR`). Left to
itself that would be a minute in which a program seems to hang, spent by each of several processes started together. Nor does
it see that a kernel in one file has another file's kernels and tables built in that were changed meanwhile: so what was kept
for other sources is thrown away, whichever of the world's files or facts differs.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import sys
import time
from pathlib import Path

_HERE = Path(__file__).parent
_ELSEWHERE = (
    _HERE.parent / "envs" / "automatic.py",
    _HERE.parent / "agents" / "scripted" / "blocks" / "navigation.py",
)
"""Kernels outside this folder that have the world's tables built in."""
_done = False


def ensure() -> None:
    """Compile everything if this version's kernels have not been compiled on this machine; what is going on is said on standard
    error. Nothing after the first call in a process."""
    global _done
    if _done:
        return
    _done = True  # also while compiling: the worlds made for it come here too
    stamp = _stamp()
    if stamp.exists():
        return
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        lock = stamp.with_suffix(".lock").open("w")
    except OSError:  # a read-only installation: every process compiles for itself, so say it each time
        _compile("NUMBA_CACHE_DIR=/some/folder keeps the result for the next time")
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists():  # another process has done it while we waited
            return
        for kept in _kept(stamp.parent):
            kept.unlink(missing_ok=True)
        _compile("once; later starts take it from the cache")
        stamp.touch()


def _sources() -> list[Path]:
    """Everything that decides what the kernels are."""
    return sorted([*_HERE.glob("*.py"), *_HERE.glob("data/*.json"), *_ELSEWHERE])


def _kept(folder: Path) -> list[Path]:
    """Stamps and compiled kernels, in the cache folder that is in use."""
    ours: dict[Path, set[str]] = {}
    for path in _sources():
        ours.setdefault(path.parent, set()).add(path.stem)
    kernels = []
    for source, names in ours.items():
        # In NUMBA_CACHE_DIR each source folder has one of its own, else they lie beside the sources.
        caches = folder.glob(f"{source.name}_*") if os.environ.get("NUMBA_CACHE_DIR") else [source / "__pycache__"]
        kernels += [path for one in caches for path in one.glob("*.nb[ic]") if path.name.partition(".")[0] in names]
    return [*folder.glob("interplay-world-*.compiled"), *kernels]


def _stamp() -> Path:
    """A file that is there when the kernels of these sources are compiled for this Python, Numba and processor."""
    import numba

    digest = hashlib.sha256(f"{numba.__version__} {sys.version} {platform.processor()} {platform.machine()}".encode())
    for path in _sources():  # 1.5 MB, 3 ms
        digest.update(path.read_bytes())
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or _HERE / "__pycache__")
    return folder / f"interplay-world-{digest.hexdigest()[:16]}.compiled"


def _compile(note: str) -> None:
    """Call every kernel."""
    print(f"Compiling the block world's kernels, about a minute ({note}) ...", file=sys.stderr, flush=True)
    begin = time.monotonic()
    _exercise()
    print(f"Compiled in {time.monotonic() - begin:.0f} s.", file=sys.stderr, flush=True)


def _exercise() -> None:
    """A small life in which everything happens once."""
    from interplay.world import entities, mobs, terrain
    from interplay.world.render import Renderer
    from interplay.world.state import Action, Stack
    from interplay.world.world import World

    terrain.generate(1, "village")
    world = World(1, "flat", inhabited=False)
    x, y, z = world.spawn
    for place, name in enumerate(mobs.KINDS[mobs.NUM_THINGS :]):
        mobs.spawn(world, name, x + 3.5 + place % 5, float(y), z + 3.5 + place // 5)
    world.spawn_item(x + 0.5, y + 1.0, z + 0.5, Stack("stick"))
    world.set_block(x + 6, y + 2, z, 34)  # a source of water, which flows
    world.set_block(x, y + 5, z + 6, 66)  # sand, which falls
    entities.shoot(world, "arrow", x + 0.5, y + 1.5, z + 0.5, 0.5, 0.2, 0.5, -1)
    world.grid.fill(x - 6, y, z - 6, x - 4, y + 1, z - 4, 1)
    world.give(Stack("oak_planks", 8))
    for step in range(12):
        world.step(
            Action(forward=True, jump=step > 4, attack=step % 3 == 0, use=step % 3 == 1, camera_pitch=8.0, camera_yaw=20.0)
        )
    entities.explode(world, x + 9.5, y + 1.0, z + 0.5, 2.0, True)
    for size in ((640, 360), (64, 36)):
        Renderer(size).frame(world)
