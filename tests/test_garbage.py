"""Full collections look at little while games run, and at everything when none does."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import gc, sys, weakref
from interplay.garbage import collect_beside

class Thing:
    pass

def circle():
    thing = Thing()
    thing.itself = thing
    return thing

busy = True
before = [circle() for _ in range(1000)]
collect_beside(lambda: busy, whole_every_s=float(sys.argv[1]))
frozen = gc.get_freeze_count()
assert frozen > 1000, frozen

seen = weakref.ref(before[0])
before.clear()
gc.collect()
if sys.argv[1] == "0":
    assert seen() is None, "so long it is not left out"
    sys.exit()
assert seen() is not None, "it was looked at while busy"

new = weakref.ref(circle())
assert new() is not None
gc.collect()
assert new() is None, "what is new is collected at all times"

busy = False
gc.collect()
assert seen() is None, "it is garbage, and nobody is busy"
"""


@pytest.mark.parametrize("whole_every_s", ["0", "1000"])
def test_what_survives_is_looked_at_again_when_nobody_is_busy_or_it_was_long_ago(whole_every_s: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, whole_every_s], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
