"""Interplay: people and agents play the same tasks, are recorded in the same way, and are compared fairly.

The packages follow the path of the data: `tasks` (what is asked) -> `play` (somebody acts) -> `record` (episodes on disk) ->
`learn` (agents from episodes) -> `agents` (roll out) -> `judge` (people compare) -> `rank` (ratings with uncertainty). Start
with `interplay.tasks.load`, `interplay.envs.make` and `interplay.record.open`.
"""

__version__ = "0.2.0.dev0"
