"""Segments: a study may compare a few seconds of any two games of a task, and a reward is learned from the answers.

`definition.py` is the table `[judging.segments]` of a study, `selection.py` says which two are asked about next: rules without
a database. `studies.py` draws and stores the segments of a study.
"""
