"""Qualification quizzes as data: questions with several right answers, scored as the share of boxes in the right state.

Source of the rule: BEDD, appendix D.1.1. The score is the share of all checkboxes of the quiz that are in the right state,
ticked or not; a person passes with 65 %. The questions in this package are our own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.errors import unknown_name
from interplay.study.errors import QuizAnswerError, QuizError

if TYPE_CHECKING:
    import numpy as np

PASS_SHARE = 0.65
MAX_OPTIONS = 8
"""Largest number of boxes in one question, because Mechanical Turk's answer key lists every combination of boxes."""


@dataclass(frozen=True)
class Option:
    """One box; its id is computed only from its text, so that neither the ids nor their order show which boxes are right."""

    id: str
    text: str
    is_right: bool


@dataclass(frozen=True)
class Picture:
    """A picture beside a question: a file in the quiz's folder, or an https address; `alt` describes it in words."""

    name: str
    alt: str
    folder: Path | None = None

    @property
    def is_remote(self) -> bool:
        return self.name.startswith("https://")

    @property
    def media_type(self) -> str:
        return "image/png" if self.name.lower().endswith(".png") else "image/jpeg"

    def read(self) -> bytes:
        if self.is_remote or self.folder is None:
            raise QuizError(f"{self.name} is not a file of this quiz")
        return (self.folder / self.name).read_bytes()


@dataclass(frozen=True)
class QuizQuestion:
    """A question with its boxes in the order of the file."""

    id: str
    text: str
    options: tuple[Option, ...]
    picture: Picture | None = None

    def num_right(self, ticked: Collection[str]) -> int:
        return sum((option.id in ticked) == option.is_right for option in self.options)


@dataclass(frozen=True)
class QuizScore:
    """Number of boxes in the right state, also by question (id -> (right, boxes)); `is_passed` compares the share exactly."""

    num_right: int
    num_boxes: int
    is_passed: bool
    by_question: dict[str, tuple[int, int]]

    @property
    def share(self) -> float:
        return self.num_right / self.num_boxes


@dataclass(frozen=True)
class Quiz:
    """A quiz with its key; people pass with a share `pass_share` of right boxes, a whole percent.
    Send `form()` to people who take the quiz, never the quiz itself."""

    id: str
    title: str
    intro: str
    questions: tuple[QuizQuestion, ...]
    pass_share: float = PASS_SHARE
    source: str = field(default="", compare=False)

    @property
    def num_boxes(self) -> int:
        return sum(len(question.options) for question in self.questions)

    @cached_property
    def content_hash(self) -> str:
        """Hash of 16 hex digits over all questions and scoring rules, stored with every attempt."""
        content = [self.id, self.title, self.intro, self.pass_share]
        content += [
            [
                question.id,
                question.text,
                question.picture and question.picture.name,
                [(o.text, o.is_right) for o in question.options],
            ]
            for question in self.questions
        ]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]

    def picture(self, name: str) -> Picture:
        """Return the picture of that name in the quiz's folder (NotFoundError for other names).
        A path cannot leave the folder."""
        local = {q.picture.name: q.picture for q in self.questions if q.picture is not None and not q.picture.is_remote}
        if name not in local:
            raise unknown_name("picture", name[:100], local)
        return local[name]

    def form(self, rng: np.random.Generator) -> dict[str, Any]:
        """Return the quiz without key and notes as JSON, its boxes in random order.
        `score` expects answers as `{question id: [ids of options]}`."""
        return {
            "id": self.id,
            "title": self.title,
            "intro": self.intro,
            "questions": [
                {
                    "id": question.id,
                    "text": question.text,
                    "picture": question.picture and {"name": question.picture.name, "alt": question.picture.alt},
                    "options": [{"id": option.id, "text": option.text} for option in shuffled(question.options, rng)],
                }
                for question in self.questions
            ],
        }

    def score(self, answers: Any) -> QuizScore:
        """Score the boxes that a person ticked.

        Args:
            answers: Question id -> ids of the ticked options. Every question must be present, also if its list is empty. Other
                JSON values raise the error.
        Raises:
            QuizAnswerError: If `answers` has another form, a question is missing, or a name does not belong to this quiz.
        """
        ticked = self._checked(answers)
        by_question = {
            question.id: (question.num_right(ticked[question.id]), len(question.options)) for question in self.questions
        }
        num_right = sum(right for right, _ in by_question.values())
        is_passed = Fraction(num_right, self.num_boxes) >= Fraction(str(self.pass_share))
        return QuizScore(num_right, self.num_boxes, is_passed, by_question)

    def _checked(self, answers: Any) -> dict[str, frozenset[str]]:
        if not isinstance(answers, Mapping):
            raise QuizAnswerError("answers must be an object: question id -> list of ticked option ids")
        known = {question.id: {option.id for option in question.options} for question in self.questions}
        for name in answers:
            if name not in known:
                raise QuizAnswerError(f"quiz {self.id!r} has no question {str(name)[:60]!r}; it has {', '.join(known)}")
        ticked: dict[str, frozenset[str]] = {}
        for question in self.questions:
            given = answers.get(question.id)
            if not isinstance(given, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in given):
                problem = "is not answered" if given is None else "must be a list of option ids"
                raise QuizAnswerError(f"question {question.id!r} {problem}\nSend a list; if no box is ticked, an empty list.")
            strangers = sorted(set(given) - known[question.id])
            if strangers:
                raise QuizAnswerError(f"question {question.id!r} has no option {strangers[0][:60]!r}")
            ticked[question.id] = frozenset(given)
        return ticked

    def ids_of(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the texts of options in answers by the options' ids; other values stay unchanged."""
        ids = {question.id: {option.text: option.id for option in question.options} for question in self.questions}
        return {
            name: [ids[name].get(one, one) if isinstance(one, str) else one for one in given]
            if name in ids and isinstance(given, list)
            else given
            for name, given in answers.items()
        }


def shuffled(options: Sequence[Option], rng: np.random.Generator) -> list[Option]:
    return [options[index] for index in rng.permutation(len(options))]
