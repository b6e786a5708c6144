"""`Background`: files that are made beside everything else, one after the other, at the lowest priority, and kept."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

log = logging.getLogger("interplay.judge")
Item = TypeVar("Item", bound=Hashable)


class Background(Generic[Item]):
    """Makes a file of each item, in a thread that ends when there is nothing to do; safe to share between threads.

    Args:
        name: Of the thread.
        target: Item -> where its file is or would be.
        make: Makes it: the file appears whole or not at all.
        without: What happens where it cannot be made, for the log.
    """

    def __init__(self, name: str, target: Callable[[Item], Path], make: Callable[[Item, Path], None], without: str) -> None:
        self._name, self._target, self._make, self._without = name, target, make, without
        self._lock = threading.Lock()
        self._wanted: queue.SimpleQueue[Item] = queue.SimpleQueue()
        self._known: set[Item] = set()
        self._num_waiting = 0
        self._thread: threading.Thread | None = None

    def want(self, items: Iterable[Item]) -> None:
        """Make the files of these, if they are not there; each is tried once."""
        with self._lock:
            new = [item for item in items if item not in self._known]
            self._known.update(new)
            new = [item for item in new if not self._target(item).exists()]
            for item in new:
                self._wanted.put(item)
            self._num_waiting += len(new)
            if new and self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether some are still being made."""
        return self._num_waiting > 0

    def wait(self, timeout_s: float) -> None:
        """Wait until what was wanted is made."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _work(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)  # of this thread and the encoder's alone
        while True:
            with self._lock:
                try:
                    item = self._wanted.get_nowait()
                except queue.Empty:
                    self._thread = None
                    return
            target = self._target(item)
            try:
                target.parent.mkdir(exist_ok=True)
                self._make(item, target)
            except Exception as error:
                log.warning("%s: %s was not made: %s; %s", self._name, target.name, error, self._without)
            finally:
                with self._lock:
                    self._num_waiting -= 1
