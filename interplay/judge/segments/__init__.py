"""Segments: a study may compare a few seconds of any two games of a task, and a reward is learned from the answers.

`definition.py` reads the table `[judging.segments]` of a study. `selection.py` chooses the next two segments. Neither needs a
database. `studies.py` draws and stores the segments of a study.
"""
