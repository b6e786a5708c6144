"""Segments: a study may compare a few seconds of any two games of a task, and a reward is learned from what is said about them.

`definition.py` is the table `[judging.segments]` of a study, `drawing.py` draws the segments, `choosing.py` says which two are
asked about next: rules without a database. `opening.py` draws and keeps those of a study, `clips.py` makes their videos.
"""
