"""Garbage collection that does not hold up games.

A full collection looks at every object that a process has, which takes 50 to 100 ms in the web process: six frames of an Atari
game. It finds little: most of what games leave behind is freed by its reference counts.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

WHOLE_EVERY_S = 600.0
"""A busy process looks at everything this often, so that what went in circles since is not kept for ever."""


def collect_beside(is_busy: Callable[[], bool], *, whole_every_s: float = WHOLE_EVERY_S) -> None:
    """From now on, a full collection of this process looks only at what is new since the last one while it is busy; while it is
    not, and after so many seconds at the latest, at everything. What is loaded already is looked at now.

    Args:
        is_busy: Asked whenever a full collection begins, from the thread that happens to need it.
    """

    def on_collection(phase: str, facts: dict[str, Any]) -> None:
        nonlocal looked_s
        if facts["generation"] < 2:
            return
        if phase == "stop":
            gc.freeze()  # what has survived is no garbage now
        elif not is_busy() or time.monotonic() - looked_s >= whole_every_s:
            looked_s = time.monotonic()
            gc.unfreeze()

    looked_s = time.monotonic()
    gc.callbacks.append(on_collection)
    gc.collect()
