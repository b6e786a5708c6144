"""Garbage collection that does not hold up games.

A full collection looks at every object that a process has, which takes 50 to 100 ms in the web process: six frames of an Atari
game. It finds next to nothing: what games leave behind is freed by its reference counts.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any


def collect_beside(is_busy: Callable[[], bool]) -> Callable[[], None]:
    """From now on, a full collection of this process looks only at what is new since the last one, as long as it is busy; while
    it is not, at everything. What is loaded already is looked at now.

    Args:
        is_busy: Asked whenever a full collection begins, from the thread that happens to need it.

    Returns:
        Undoes it.
    """

    def on_collection(phase: str, facts: dict[str, Any]) -> None:
        if facts["generation"] < 2:
            return
        if phase == "stop":
            gc.freeze()  # what has survived is no garbage now
        elif not is_busy():
            gc.unfreeze()

    def undo() -> None:
        gc.callbacks.remove(on_collection)
        gc.unfreeze()

    gc.callbacks.append(on_collection)
    gc.collect()
    return undo
