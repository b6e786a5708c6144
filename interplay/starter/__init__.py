"""The starter set: episodes of the built-in agents that come with the package, so that a new data folder is full at once.

`manifest.json` says what there is; `episodes/` holds the recordings, `films/` an mp4 of each. `answers.csv` and `runs.json` are
examples for boards, which only pages read: no database ever holds them. `tools/make_starter.py` makes all of it, and has to be
run again when a task, the world or a built-in agent changes.

>>> from interplay import starter
>>> sorted({shipped.agent for shipped in starter.episodes()} | {"random", "scripted"})
['random', 'scripted']
"""

from interplay.starter.entering import EXAMPLES, enter
from interplay.starter.shipped import ANSWERS, FOLDER, RUNS, Shipped, episodes, example, faults, read

__all__ = ["ANSWERS", "EXAMPLES", "FOLDER", "RUNS", "Shipped", "enter", "episodes", "example", "faults", "read"]
