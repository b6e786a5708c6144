"""The one-time compile of the world's kernels: during installation, or by the first process that needs them, for all others.

Numba compiles each kernel when it is first called and keeps the result beside the source, in the user's cache folder where
the package cannot be written, or in `NUMBA_CACHE_DIR`. Left to itself that would be a minute in which a program seems to hang,
spent by each of several processes started together. Nor does it see that a kernel in one file has another file's kernels and
tables built in that were changed meanwhile: so what was kept for other sources is thrown away, whichever of the world's files
or facts differs.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import os
import pkgutil
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from blockworld.errors import WorldError

_HERE = Path(__file__).parent
Report = Callable[[float], None]
"""Takes the share of the work that is done, 0 to 1."""

_LOOK_EVERY_S = 0.5
_done = False


def is_ready() -> bool:
    """Whether this version's kernels have been compiled on this machine."""
    return _done or _stamp().exists()


def ensure(report: Report | None = None, *, processes: int = 1) -> None:
    """Compile everything if this version's kernels have not been compiled on this machine. Nothing after the first call in a
    process.

    Args:
        report: Told twice a second how far it is, also while another process does it. Without one it is said on standard error
            that there is something to wait for.
        processes: 2 to let a second one compile the pictures beside the rest.
    """
    global _done
    if _done:
        return
    _done = True  # also while compiling: the worlds made for it come here too
    stamp = _stamp()
    if stamp.exists():
        return
    if report is None:
        print("Compiling the block world's kernels once, about a minute ...", file=sys.stderr, flush=True)
    begin = time.monotonic()
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        lock = stamp.with_suffix(".lock").open("w")
    except OSError:  # there is nowhere to keep it: each kernel is compiled when it is first called
        return
    with lock, _reporting(report):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():  # else another process has done it while we waited
            for kept in _kept(stamp.parent):
                kept.unlink(missing_ok=True)
            _compile(processes)
            stamp.touch()
    if report is None:
        print(f"Compiled in {time.monotonic() - begin:.0f} s.", file=sys.stderr, flush=True)
    else:
        report(1.0)


@contextmanager
def _reporting(report: Report | None) -> Iterator[None]:
    """Say how much lies in the cache, from a thread: whichever process puts it there."""
    if report is None:
        yield
        return
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK_EVERY_S):
            report(_share())

    thread = threading.Thread(target=look, name="progress of the compile", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _share() -> float:
    """How much of the code that is to be compiled has been, by its length: that is roughly how long each kernel takes."""
    done = total = 0
    for kernel in _kernels():
        size = len(kernel.py_func.__code__.co_code)
        total += size
        if Path(kernel._cache._cache_file._index_path).exists():
            done += size
    return done / max(total, 1)


@cache
def _kernels() -> list[Any]:
    """Those of this folder's modules that are cached; what is built into its caller wherever it is called is not."""
    from numba.core.caching import FunctionCache
    from numba.core.dispatcher import Dispatcher

    found = {}
    for module in list(pkgutil.walk_packages([str(_HERE)], "blockworld.")):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Dispatcher) and isinstance(getattr(value, "_cache", None), FunctionCache):
                found[id(value)] = value
    return [kernel for kernel in found.values() if kernel.targetoptions.get("inline") != "always"]


def _sources() -> list[Path]:
    """Everything that decides what the kernels are."""
    others = (path for path in _HERE.rglob("*.py") if path.name != Path(__file__).name)
    return sorted([*others, *_HERE.glob("data/*.json"), *_HERE.glob("data/*.png")])


def _kept(folder: Path) -> list[Path]:
    """Stamps and compiled kernels, in the cache folder that is in use."""
    kernels = [kernel for path in _sources() for kernel in _kernels_of(path)]
    return [*folder.glob("blockworld-*.compiled"), *kernels]


def _kernels_of(source: Path) -> list[Path]:
    """What Numba keeps of one file: beside it, or in a folder for each folder of sources."""
    kept = _folder()
    caches = [source.parent / "__pycache__"] if kept.parent == _HERE else kept.glob(f"{source.parent.name}_*")
    return [path for one in caches for path in one.glob(f"{source.stem}.*.nb[ic]")]


def register(path: str) -> None:
    """Say at the top of a module with kernels of its own, before them, that they have the world's tables built in:
    `register(__file__)`. What Numba kept of them is thrown away if it is of another version of the world."""
    source = Path(path)
    mark = _folder() / f"{source.parent.name}.{source.stem}-{fingerprint()}.compiled"
    try:
        if not mark.exists():
            for kept in (*_kernels_of(source), *mark.parent.glob(f"{source.parent.name}.{source.stem}-*.compiled")):
                kept.unlink(missing_ok=True)
            mark.touch()
    except OSError:  # nothing can be kept there
        return


@cache
def fingerprint() -> str:
    """Of what decides how lands are made, 16 hexadecimal digits: everything in the package, Python, NumPy, Numba and processor.
    The world asks when it is loaded, so that it is of the code that runs, also where files change afterwards."""
    return _stamp().stem.rpartition("-")[2]


def _stamp() -> Path:
    """A file that is there when the kernels of these sources are compiled for this Python, NumPy, Numba and processor."""
    import numba
    import numpy as np

    of = (numba.__version__, np.__version__, sys.version, platform.processor(), platform.machine())
    digest = hashlib.sha256(" ".join(of).encode())
    for path in _sources():  # 2 MB, 4 ms
        digest.update(path.read_bytes())
    return _folder() / f"blockworld-{digest.hexdigest()[:16]}.compiled"


def _folder() -> Path:
    """Where Numba keeps what it compiles of this folder, or the folder around it where that is not beside the sources."""
    from numba.misc.appdirs import AppDirs

    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    beside = _HERE / "__pycache__"
    try:
        beside.mkdir(exist_ok=True)
        tempfile.TemporaryFile(dir=beside).close()
    except OSError:  # a read-only installation
        return Path(AppDirs("numba", False).user_cache_dir)
    return beside


def assume_compiled() -> None:
    """Let `ensure` do nothing in this process: it is one of those that compile."""
    global _done
    _done = True


def _compile(processes: int) -> None:
    """Call every kernel, in another process, for what compiles them takes half a gigabyte and keeps it."""
    child = subprocess.Popen([sys.executable, "-c", f"from blockworld import exercise; exercise.main({processes})"])
    try:
        if child.wait():
            raise WorldError("the kernels of the block world could not be compiled; the reason is written above")
    finally:
        child.kill()
        child.wait()
