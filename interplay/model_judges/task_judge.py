"""`TaskJudge`: a model judge of one task, and its file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from interplay.errors import unknown_name
from interplay.files import write_json
from interplay.model_judges import features
from interplay.model_judges.calibration import Calibration
from interplay.model_judges.features import ModelJudgeError
from interplay.model_judges.preference import VERSION, PreferenceModel, Scale, YesNoModel

MODEL_PREFIX = "model:"
_NOTHING = 1e-6
"""Smaller weights are rounding errors."""


@dataclass(frozen=True, eq=False)
class TaskJudge:
    """A model judge of one task; its name is without `MODEL_PREFIX`.

    Attributes:
        overall: Model of which episode is better.
        comparative, direct: Question id -> model of the answers to it.
        trained_at: Time in UTC, ISO 8601.
    """

    name: str
    task: str
    scale: Scale
    overall: PreferenceModel
    comparative: Mapping[str, PreferenceModel]
    direct: Mapping[str, YesNoModel]
    calibration: Calibration
    seed: int
    trained_at: str

    def strongest(self, count: int = 8) -> list[tuple[str, float]]:
        """Return the features with the largest weights; a weight is what a difference of one spread adds to the log odds.

        The list is empty if the judge has learnt nothing.
        """
        weights = self.overall.weights / self.overall.temperature
        places = [place for place in np.argsort(-np.abs(weights)) if abs(weights[place]) > _NOTHING]
        return [(self.scale.names[place], float(weights[place])) for place in places[:count]]

    def to_json(self) -> dict[str, Any]:
        versions = {"features_version": features.VERSION, "model_version": VERSION}
        document = msgspec.to_builtins(self, enc_hook=np.ndarray.tolist)
        return {"name": self.name, "task": self.task} | versions | document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TaskJudge:
        return msgspec.convert(document, cls, dec_hook=lambda _, values: np.array(values, float))


def save(judge: TaskJudge, root: Path) -> Path:
    """Write a judge to `models/judges/NAME/` of a data folder; return the file."""
    path = _path(root, judge.name, judge.task)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, judge.to_json())
    return path


def load(root: Path, name: str, task: str) -> TaskJudge:
    """Read a judge from its file.

    Raises:
        NotFoundError: If there is no such judge; the text suggests the nearest existing name.
        ModelJudgeError: If the file cannot be read, or its features or its model have another version.
    """
    check_name(name)
    path = _path(root, name, task)
    if not path.is_file():
        known = [f"{one.name} of {one.task}" for one in load_all(root)]
        raise unknown_name(
            "model judge",
            f"{name} of {task}",
            known,
            hint=f"Make it:  interplay judge calibrate --task {task} --name {name}",
        )
    return _read(path)


def has_learnt(root: Path, name: str, task: str) -> bool:
    return _path(root, name, task).is_file()


def load_all(root: Path) -> list[TaskJudge]:
    found = []
    for path in sorted((root / "models" / "judges").glob("*/*.json")):
        try:
            found.append(_read(path))
        except ModelJudgeError:
            continue  # `load` says why
    return found


def _read(path: Path) -> TaskJudge:
    try:
        document = json.loads(path.read_text("utf-8"))
        versions = document["features_version"], document.get("model_version")
        if versions == (features.VERSION, VERSION):
            return TaskJudge.from_json(document)
        reason = "it was made by another version of Interplay"
    except (ValueError, RecursionError, KeyError, TypeError, msgspec.ValidationError) as error:
        reason = f"{type(error).__name__}: {error}"
    raise ModelJudgeError(f"{path} cannot be used: {reason}\nMake it again:  interplay judge calibrate")


def _path(root: Path, name: str, task: str) -> Path:
    return root / "models" / "judges" / name / f"{task.replace('/', '--')}.json"


def check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,63}", name):
        raise ModelJudgeError(f"a model judge's name is 1 to 64 letters, digits and . _ -; got {name!r}")
