"""A process that steps a recorded environment until it is killed: `python recording_loop.py DATA`; it prints each step."""

import sys
import time

import gymnasium

from interplay.record import Recording

env = Recording(gymnasium.make("Pendulum-v1"), sys.argv[1], actor="victim")
env.reset(seed=11)
for step in range(190):
    env.step([0.5])
    print(step + 1, time.monotonic(), flush=True)
    time.sleep(0.02)
time.sleep(60)
