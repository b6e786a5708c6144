"""Compile the world's kernels once: at installation, or in the first process that needs them. Later processes load the result.

Numba compiles each kernel at its first call and caches the result beside the source, or in the user's cache folder if the
package is read-only, or in `NUMBA_CACHE_DIR`. Without this module a program would seem to hang for a minute, and so would each
of several processes started together. Numba also does not notice when a kernel contains kernels or tables of other files that
have changed. So, if any file or table of the world has changed, the whole cache of the older sources is deleted.
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
"""Function that is called with the share of the work done so far, 0 to 1."""

_LOOK_EVERY_S = 0.5
_done = False


def is_ready() -> bool:
    return _done or _stamp().exists()


def ensure(report: Report | None = None, *, processes: int = 1) -> None:
    """Compile all kernels, unless that was done on this machine for this version; later calls in a process do nothing.

    Args:
        report: Called with the share done twice a second, also while another process compiles. If None, a message on standard
            error says that the compile takes a while.
        processes: Number of processes that compile; with 2, the second one compiles the kernels of pictures.
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
    """Report the share done from a thread while the context lasts, also if another process compiles."""
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
    """Share of the kernels compiled so far, weighted by length of code, to which compile time is about proportional."""
    done = total = 0
    for kernel in _kernels():
        size = len(kernel.py_func.__code__.co_code)
        total += size
        if Path(kernel._cache._cache_file._index_path).exists():
            done += size
    return done / max(total, 1)


@cache
def _kernels() -> list[Any]:
    """Kernels of this package that Numba caches: all except the inlined kernels."""
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
    """Files of older compiles: the stamp files (see `_stamp`) in `folder`, and the cache files of all kernels."""
    kernels = [kernel for path in _sources() for kernel in _kernels_of(path)]
    return [*folder.glob("blockworld-*.compiled"), *kernels]


def _kernels_of(source: Path) -> list[Path]:
    """Numba's cache files of one source file: beside the source, or in Numba's cache folder for the folder of the source."""
    kept = _folder()
    caches = [source.parent / "__pycache__"] if kept.parent == _HERE else kept.glob(f"{source.parent.name}_*")
    return [path for one in caches for path in one.glob(f"{source.stem}.*.nb[ic]")]


def register(path: str) -> None:
    """Declare that a module's kernels contain the world's tables: the module calls `register(__file__)` before its kernels.

    This deletes Numba's cache of these kernels if it belongs to another version of the world.
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
    """Digest of all that decides how lands are made (package, Python, NumPy, Numba, processor): 16 hexadecimal digits.

    `world` calls this when it is imported, so that the digest describes the running code even if files change afterwards.
    """
    return _stamp().stem.rpartition("-")[2]


def _stamp() -> Path:
    """File that exists once the kernels of these sources have been compiled for this Python, NumPy, Numba and processor."""
    import numba
    import numpy as np

    of = (numba.__version__, np.__version__, sys.version, platform.processor(), platform.machine())
    digest = hashlib.sha256(" ".join(of).encode())
    for path in _sources():  # 2 MB, 4 ms
        digest.update(path.read_bytes())
    return _folder() / f"blockworld-{digest.hexdigest()[:16]}.compiled"


def _folder() -> Path:
    """The folder of Numba's cache: `NUMBA_CACHE_DIR`, or beside the sources, or the user's folder if that is read-only."""
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
    """Let `ensure` do nothing in this process, because it is one of those that compile."""
    global _done
    _done = True


def _compile(processes: int) -> None:
    """Compile every kernel in another process, because a compiler takes half a gigabyte of memory and does not free it."""
    child = subprocess.Popen([sys.executable, "-c", f"from blockworld import exercise; exercise.main({processes})"])
    try:
        if child.wait():
            raise WorldError("the kernels of the block world could not be compiled; the reason is written above")
    finally:
        child.kill()
        child.wait()
