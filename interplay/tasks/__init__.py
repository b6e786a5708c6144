"""Tasks for players: suites, key maps, judging questions and held-out seeds.

A task is data (TOML), so a new task needs no code. `load_suite(path)` reads and checks a file; `find("atari/breakout")` finds a
task in the built-in suites.
"""

from interplay.tasks import backend_names
from interplay.tasks.keys import KeyMap
from interplay.tasks.load import builtin_suites, find, index, load_suite, lookup, parse_suite
from interplay.tasks.task import EnvSpec, Question, Suite, Task, TaskError

__all__ = [
    "EnvSpec",
    "KeyMap",
    "Question",
    "Suite",
    "Task",
    "TaskError",
    "backend_names",
    "builtin_suites",
    "find",
    "index",
    "load_suite",
    "lookup",
    "parse_suite",
]
