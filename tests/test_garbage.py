"""Full collections look at little while games run, and at everything when none does."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc, weakref
from interplay.garbage import collect_beside

class Thing:
    pass

def circle():
    thing = Thing()
    thing.itself = thing
    return thing

busy = True
before = [circle() for _ in range(1000)]
undo = collect_beside(lambda: busy)
frozen = gc.get_freeze_count()
assert frozen > 1000, frozen

seen = weakref.ref(before[0])
before.clear()
gc.collect()
assert seen() is not None, "it was looked at while busy"

new = weakref.ref(circle())
assert new() is not None
gc.collect()
assert new() is None, "what is new is collected at all times"

busy = False
gc.collect()
assert seen() is None, "it is garbage, and nobody is busy"
undo()
assert gc.get_freeze_count() == 0 and not gc.callbacks
"""


def test_what_survives_is_looked_at_again_only_when_nobody_is_busy() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
