"""Copies of arrays that take memory only where they differ from the original."""

from __future__ import annotations

import mmap
import os
import sys
import weakref

import numpy as np
from numba import njit

_PAGE = 4096


class Original:
    """Read-only arrays, with any number of copies that share each page of memory until they write to it.

    Args:
        arrays: The values; each array fills whole pages of 4,096 bytes. They are copied into a file in memory. On systems
            without such files the arrays are used themselves, and copies are ordinary full copies.

    Attributes:
        arrays: The same values, read-only.
    """

    def __init__(self, *arrays: np.ndarray) -> None:
        self.arrays = arrays
        self._file: int | None = None
        if hasattr(os, "memfd_create") and not any(array.nbytes % _PAGE for array in arrays):
            self._file = os.memfd_create("land of a block world")
            weakref.finalize(self, os.close, self._file)
            with open(self._file, "wb", closefd=False) as file:
                for array in arrays:
                    file.write(array.data)
            self.arrays = self._mapped(self._file, mmap.MAP_SHARED)
        for array in self.arrays:
            array.flags.writeable = False

    def copies(self, now: tuple[np.ndarray, ...] | None = None) -> tuple[np.ndarray, ...]:
        """Return writable copies of `arrays`; or copies of `now`, which are earlier copies that have changed since."""
        if self._file is None:
            return tuple(array.copy() for array in now or self.arrays)
        copies = self._mapped(self._file, mmap.MAP_PRIVATE)
        if now is not None:
            for copy, array, before in zip(copies, now, self.arrays, strict=True):
                _bring(*(one.reshape(-1).view(np.uint64) for one in (copy, array, before)))
        return copies

    def _mapped(self, file: int, flags: int) -> tuple[np.ndarray, ...]:
        untracked = {"trackfd": False} if sys.version_info >= (3, 13) else {}  # earlier each mapping keeps a descriptor open
        block = mmap.mmap(file, sum(array.nbytes for array in self.arrays), flags=flags, **untracked)
        begin, mapped = 0, []
        for array in self.arrays:
            mapped.append(np.frombuffer(block, array.dtype, array.size, begin).reshape(array.shape))
            begin += array.nbytes
        return tuple(mapped)


@njit(cache=True, nogil=True)
def _bring(copy, now, before):
    """Make `copy`, a copy of `before`, equal to `now`: write only to pages that differ. All are flat arrays of uint64."""
    words = _PAGE // 8
    for begin in range(0, now.size, words):
        end = begin + words
        differ = np.uint64(0)
        for i in range(begin, end):
            differ |= now[i] ^ before[i]
        if differ:
            copy[begin:end] = now[begin:end]
