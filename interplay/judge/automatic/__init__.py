"""Automatic judges: models that say which of two episodes people would prefer, kept apart from what people said.

The BEDD paper proposes automated evaluation to go beside people's (section 2.2). Here a judge of that kind is calibrated on
people's answers before it is believed (`calibrate`), says of every pair what it expects (`answer_all`), and enters the log
as `model:NAME` with judge kind `model`: shown on a board of its own, counted in no rating of people's.

`episodes.py` finds the episodes, `features.py` describes one in numbers, `preference.py` is the model, `calibration.py`
measures it, and `learning.py` makes a judge of both, a `task_judge.py`. `vision.py` asks a vision-language model instead.
`answering.py` lets either of them answer.
"""

from interplay.judge.automatic.answering import answer_all, answer_by_looking
from interplay.judge.automatic.calibration import Calibration
from interplay.judge.automatic.learning import calibrate
from interplay.judge.automatic.preference import PreferenceModel, YesNoModel, fit_preference, fit_yes_no
from interplay.judge.automatic.task_judge import MODEL_PREFIX, AutomaticJudgeError, TaskJudge, load, load_all, save
from interplay.judge.automatic.vision import VisionJudge, VisionJudgeError

__all__ = [
    "MODEL_PREFIX",
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
