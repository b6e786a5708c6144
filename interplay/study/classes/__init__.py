"""Classes: a teacher shows one code, pupils type it and play, nobody has an account.

`codes.py` makes codes and nicknames and reads what people type, `pupils.py` says what pupils have reached, `classes.py` is the
service. A pupil is a participant of a class, called by a nickname that is erased after a while.
"""

from interplay.study.classes.classes import Classes, Joined, SchoolClass
from interplay.study.classes.codes import ClassError
from interplay.study.classes.pupils import Pupil

__all__ = ["ClassError", "Classes", "Joined", "Pupil", "SchoolClass"]
