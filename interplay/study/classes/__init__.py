"""Classes: a teacher shows one code; pupils type this code and play without an account.

`codes.py` makes and reads codes and nicknames, `pupils.py` contains the pupils' results, `classes.py` is the service. A pupil
is a participant of a class with a nickname that is erased some days after the class.
"""

from interplay.study.classes.classes import Classes, SchoolClass
from interplay.study.classes.codes import ClassError
from interplay.study.classes.pupils import Pupil

__all__ = ["ClassError", "Classes", "Pupil", "SchoolClass"]
