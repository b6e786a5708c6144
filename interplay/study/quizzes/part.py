"""`QuizPart`: the quiz before the work, of a whole study or of one variant, as a study's file has it."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interplay.study.errors import QuizError, StudyError
from interplay.study.quizzes import file as quiz_file
from interplay.study.quizzes.quiz import Quiz
from interplay.tables import Table

MAX_PICTURES_BYTES = 1024 * 1024
"""All pictures of a quiz together: they are kept inside the study's document."""


@dataclass(frozen=True)
class QuizPart:
    """The quiz that people must pass before they work, and their number of attempts, over all their visits."""

    quiz: Quiz
    attempts: int
    pictures: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def read_quiz(table: Table | None) -> QuizPart | None:
    """The table `[quiz]`, with the quiz taken in (StudyError if it is invalid)."""
    if table is None:
        return None
    table.text("quiz")
    attempts = table.count("attempts", 1, high=20)
    pass_share = table.number("pass_share", 0, low=0.01, high=1)
    text = table.raw("text", str)
    encoded = table.raw("pictures", dict, {})
    table.nothing_else()
    try:
        pictures = {name: base64.b64decode(picture, validate=True) for name, picture in encoded.items()}
        quiz = quiz_file.parse_quiz(text, source=f"{table.source}: {table.place('quiz')}")
        if pass_share:
            quiz = dataclasses.replace(quiz, pass_share=float(pass_share))
            for deed, ticks in (("leaves every box empty", False), ("ticks every box", True)):
                score = quiz.score({q.id: [o.id for o in q.options if ticks] for q in quiz.questions})
                if score.is_passed:
                    raise table.error("pass_share", f"a person who {deed} has {score.share:.0%} right and passes", "raise it")
    except QuizError as error:
        raise StudyError(str(error)) from None
    except (ValueError, TypeError):
        raise table.error("pictures", "are not base64", "leave the key out: pictures are taken from the quiz's file") from None
    return QuizPart(quiz, attempts, pictures)


def quiz_taken_in(part: Table, folder: Path | None) -> dict[str, Any]:
    """The table `[quiz]` of a file, with the text and the pictures of the named quiz (StudyError if it cannot be used)."""
    name = part.text("quiz")
    try:
        quiz = quiz_file.find_quiz(str((folder or Path()) / name) if name.endswith(".toml") else name)
        text = Path(quiz.source).read_text(encoding="utf-8")
    except QuizError as error:
        raise StudyError(f"{part.source}: {part.place('quiz')}: {error}") from None
    names = [q.picture.name for q in quiz.questions if q.picture is not None and not q.picture.is_remote]
    pictures = {name: quiz.picture(name).read() for name in names}
    size = sum(map(len, pictures.values()))
    if size > MAX_PICTURES_BYTES:
        raise part.error(
            "quiz", f"its pictures take {size // 1024} KiB; {MAX_PICTURES_BYTES // 1024} KiB fit", "make the pictures smaller"
        )
    return {
        **part.values,
        "text": text,
        "pictures": {name: base64.b64encode(picture).decode() for name, picture in pictures.items()},
    }
