"""Automatic judges: models that say which of two episodes people would prefer, kept apart from what people said.

The BEDD paper proposes automated evaluation to go beside people's (section 2.2). Here a judge of that kind is calibrated on
people's answers before it is believed (`calibrate`), says of every pair what it expects (`answer_all`), and enters the log
as `model:NAME` with judge kind `model`: shown on a board of its own, counted in no rating of people's.

`features.py` describes an episode in numbers, `preference.py` is the model, `calibration.py` measures it, `vision.py` asks a
vision-language model instead; `room.py` puts them together over an archive.
"""

from interplay.judge.automatic.calibration import Calibration
from interplay.judge.automatic.preference import PreferenceModel, YesNoModel, fit_preference, fit_yes_no
from interplay.judge.automatic.room import (
    AutomaticJudgeError,
    TaskJudge,
    answer_all,
    answer_by_looking,
    calibrate,
    load,
    load_all,
    save,
)
from interplay.judge.automatic.vision import VisionJudge, VisionJudgeError

__all__ = [
    "AutomaticJudgeError",
    "Calibration",
    "PreferenceModel",
    "TaskJudge",
    "VisionJudge",
    "VisionJudgeError",
    "YesNoModel",
    "answer_all",
    "answer_by_looking",
    "calibrate",
    "fit_preference",
    "fit_yes_no",
    "load",
    "load_all",
    "save",
]
