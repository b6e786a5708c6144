"""The one-time compile of the world's kernels: during installation, or by the first process that needs them, for all others.

Numba compiles each kernel at its first call and caches the result beside the source, in the user's cache folder where the
package cannot be written, or in `NUMBA_CACHE_DIR`. Without this module a program would seem to hang for a minute, and each of
several processes started together would. Numba also misses that a kernel contains other files' kernels and tables that have
changed meanwhile: so the cache of other sources is deleted, whichever of the world's files or facts differs.
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
    return _done or _stamp().exists()


def ensure(report: Report | None = None, *, processes: int = 1) -> None:
    """Compile everything if this version's kernels have not been compiled on this machine; later calls in a process do nothing.

    Args:
        report: Gets the share done twice a second, also while another process compiles. Without one, standard error says that
            there is something to wait for.
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
    """Report the share done from a thread, whichever process fills the cache."""
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
    """Share of the code that has been compiled, by its length: that is roughly proportional to compile time."""
    done = total = 0
    for kernel in _kernels():
        size = len(kernel.py_func.__code__.co_code)
        total += size
        if Path(kernel._cache._cache_file._index_path).exists():
            done += size
    return done / max(total, 1)


@cache
def _kernels() -> list[Any]:
    """This package's modules' cached kernels; inlined ones are not cached."""
    from numba.core.caching import FunctionCache
    from numba.core.dispatcher import Dispatcher

    found = {}
    for module in list(pkgutil.walk_packages([str(_HERE)], "blockworld.")):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Dispatcher) and isinstance(getattr(value, "_cache", None), FunctionCache):
                found[id(value)] = value
    return [kernel for kernel in found.values() if kernel.targetoptions.get("inline") != "always"]


def _sources() -> list[Path]:
    others = (path for path in _HERE.rglob("*.py") if path.name != Path(__file__).name)
    return sorted([*others, *_HERE.glob("data/*.json"), *_HERE.glob("data/*.png")])


def _kept(folder: Path) -> list[Path]:
    """Stamps and compiled kernels, in the current cache folder."""
    kernels = [kernel for path in _sources() for kernel in _kernels_of(path)]
    return [*folder.glob("blockworld-*.compiled"), *kernels]


def _kernels_of(source: Path) -> list[Path]:
    """Numba's cache files of one source file: beside it, or in a folder for each folder of sources."""
    kept = _folder()
    caches = [source.parent / "__pycache__"] if kept.parent == _HERE else kept.glob(f"{source.parent.name}_*")
    return [path for one in caches for path in one.glob(f"{source.stem}.*.nb[ic]")]


def register(path: str) -> None:
    """Declare, at the top of a module and before its kernels, that these contain the world's tables: `register(__file__)`.

    Numba's cache of them is deleted if it is of another version of the world.
    """
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
    """Digest of the package, Python, NumPy, Numba and processor, which decide how lands are made: 16 hexadecimal digits.

    The world asks at import, so that it describes the running code even if files change afterwards.
    """
    return _stamp().stem.rpartition("-")[2]


def _stamp() -> Path:
    """File that exists when the kernels of these sources are compiled for this Python, NumPy, Numba and processor."""
    import numba
    import numpy as np

    of = (numba.__version__, np.__version__, sys.version, platform.processor(), platform.machine())
    digest = hashlib.sha256(" ".join(of).encode())
    for path in _sources():  # 2 MB, 4 ms
        digest.update(path.read_bytes())
    return _folder() / f"blockworld-{digest.hexdigest()[:16]}.compiled"


def _folder() -> Path:
    """Numba's cache folder of this folder, or the folder around it where that is not beside the sources."""
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
    """Let `ensure` do nothing in this process, which is one of the compiling ones."""
    global _done
    _done = True


def _compile(processes: int) -> None:
    """Call every kernel, in another process: compilers take half a gigabyte and keep it."""
    child = subprocess.Popen([sys.executable, "-c", f"from blockworld import exercise; exercise.main({processes})"])
    try:
        if child.wait():
            raise WorldError("the kernels of the block world could not be compiled; the reason is written above")
    finally:
        child.kill()
        child.wait()
