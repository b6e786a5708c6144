"""Model judges: models that say which of two episodes people would prefer. Their answers are kept apart from those of people.

The BEDD paper proposes automated evaluation in addition to people's (section 2.2). Here a model judge is calibrated on people's
answers before it is used (`calibrate`). It then answers every pair with the most probable answer (`answer_all`). In the log its
name is `model:NAME` and its judge kind is `model`. Its answers have their own board and do not count for people's ratings.

`features.py` finds the episodes and describes them in numbers, `preference.py` is the model, and `outcomes.py` scores its
predictions. `calibration.py` measures the model on answers that `cross_validation.py` held out, `saving.py` counts the
answers that the model saves, and `learning.py` makes a `TaskJudge` of all this. `vision.py` asks a vision-language model
instead. `answering.py` lets both kinds of judge answer; `agreement.py` compares logged answers with people's.
"""

from interplay.model_judges.agreement import LoggedJudges, MeasuredJudge
from interplay.model_judges.answering import Answered, answer_all, answer_by_looking
from interplay.model_judges.calibration import Calibration
from interplay.model_judges.features import ModelJudgeError
from interplay.model_judges.learning import calibrate
from interplay.model_judges.preference import PreferenceModel, YesNoModel, fit_preference, fit_yes_no
from interplay.model_judges.task_judge import MODEL_PREFIX, TaskJudge, load, load_all, save
from interplay.model_judges.vision import VisionJudge, VisionJudgeError

__all__ = [
    "MODEL_PREFIX",
    "Answered",
    "Calibration",
    "LoggedJudges",
    "MeasuredJudge",
    "ModelJudgeError",
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
