"""Read quizzes from TOML files; `QuizPart` is the quiz that a study or one variant requires before the work.

Errors name the file, the question and a remedy.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from interplay.errors import unknown_name
from interplay.study.errors import QuizError, StudyError
from interplay.study.quizzes.quiz import MAX_OPTIONS, PASS_SHARE, Option, Picture, Quiz, QuizQuestion
from interplay.tables import Table, parse_toml, read_text

_PICTURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*\.(jpg|jpeg|png)")


def load_quiz(path: str | Path) -> Quiz:
    """Read a quiz from a TOML file; its pictures must be in the same folder (QuizError if it cannot be used)."""
    file = Path(path)
    hint = "Begin with a quiz that ships:  interplay judge quiz export minecraft --format toml"
    text = read_text(file, QuizError, hint=hint)
    return parse_quiz(text, source=str(file), folder=file.parent)


@cache
def builtin_quizzes() -> dict[str, Quiz]:
    folder = Path(str(resources.files("interplay.study") / "data"))
    quizzes = [load_quiz(file) for file in sorted(folder.glob("*.toml"))]
    return {quiz.id: quiz for quiz in quizzes}


def find_quiz(name: str) -> Quiz:
    """Return a built-in quiz by its id, or a quiz file by its path (NotFoundError with the nearest id, or QuizError)."""
    if name.endswith(".toml"):
        return load_quiz(name)
    if name not in builtin_quizzes():
        raise unknown_name("quiz", name, builtin_quizzes(), hint="A quiz of your own is named by its file: my_quiz.toml")
    return builtin_quizzes()[name]


def parse_quiz(text: str, *, source: str = "<text>", folder: Path | None = None) -> Quiz:
    """Build a quiz from TOML text; errors as `load_quiz`. `source` names the text in errors; `folder` contains the pictures."""
    root = Table(parse_toml(text, source, QuizError), source, refuse=QuizError)
    head = root.table("quiz")
    quiz_id, title, intro = head.name("id"), head.text("title"), " ".join(head.text("intro").split())
    pass_share = head.raw("pass_share", (int, float), PASS_SHARE)
    if not 0 < pass_share <= 1:
        raise head.error("pass_share", f"must be a share above 0 and up to 1, got {pass_share!r}", "write 0.65 for 65 %")
    if Fraction(str(pass_share)) * 100 % 1:
        raise head.error("pass_share", f"must be a whole percent, got {pass_share!r}", "write a whole percent, such as 0.65")
    head.nothing_else()
    entries = root.tables("question", [])
    if not entries:
        raise root.error("question", "there are no questions", "add [[question]] tables with id, text, right and wrong")
    root.nothing_else()
    questions = tuple(_question(entry, quiz_id, folder) for entry in entries)
    ids = [question.id for question in questions]
    for index, name in enumerate(ids):
        if name in ids[:index]:
            raise entries[index].error("id", f"{name!r} is used twice", "give each question its own id")
    quiz = Quiz(quiz_id, title, intro, questions, float(pass_share), source)
    for deed, share, remedy in _blind_passes(quiz):
        raise QuizError(
            f"{source}: quiz.pass_share: a person who {deed} has {share:.0%} of the boxes right and passes at "
            f"{quiz.pass_share:.0%}\nRemedy: add questions with {remedy} boxes, or raise pass_share."
        )
    return quiz


def _question(table: Table, quiz_id: str, folder: Path | None) -> QuizQuestion:
    name = table.values.get("id")
    if isinstance(name, str) and name:
        table = Table(table.values, table.source, f"question {name!r}", refuse=QuizError)
    question_id, text = table.name("id"), table.text("text")
    right, wrong = ([option.strip() for option in table.texts(key, [])] for key in ("right", "wrong"))
    if not right:
        raise table.error("right", "holds no answer", "name at least one right box, or people who tick nothing are right")
    if not 2 <= len(right) + len(wrong) <= MAX_OPTIONS:
        raise table.error(
            "wrong", f"makes {len(right) + len(wrong)} boxes; a question has 2 to {MAX_OPTIONS}", "change the lists"
        )
    every = [*right, *wrong]
    for place, option in enumerate(every):
        if option in every[:place]:
            raise table.error("wrong" if option in wrong else "right", f"{option!r} occurs twice", "keep one of them")
    options = tuple(Option(_option_id(quiz_id, question_id, option), option, option in right) for option in every)
    if len({option.id for option in options}) < len(options):
        raise table.error("id", "gives two boxes the same short id, by chance", "choose another id for the question")
    picture = _picture(table, folder)
    table.nothing_else("note")
    return QuizQuestion(question_id, text, options, picture)


def _option_id(quiz_id: str, question_id: str, text: str) -> str:
    """Return the id of an option: only four hex digits of a hash, because Amazon's answer key repeats it up to 128 times."""
    return hashlib.sha256(f"{quiz_id}\0{question_id}\0{text}".encode()).hexdigest()[:4]


def _picture(table: Table, folder: Path | None) -> Picture | None:
    name, alt = table.text("picture", ""), table.text("picture_alt", "")
    if not name:
        if alt:
            raise table.error("picture_alt", "describes a picture that is not named", 'add picture = "file.jpg"')
        return None
    if not alt:
        raise table.error("picture_alt", "is missing", "say in a sentence what the picture shows, for people who cannot see it")
    if name.startswith("https://"):
        return Picture(name, alt)
    if not _PICTURE.fullmatch(name):
        problem = f"{name!r} is neither a .jpg or .png file beside the quiz nor an https address"
        raise table.error("picture", problem, "put the file in the quiz's folder and write only its name")
    if folder is not None and not (folder / name).is_file():
        raise table.error("picture", f"there is no file {folder / name}", "put the picture beside the quiz")
    return Picture(name, alt, folder)


def _blind_passes(quiz: Quiz) -> Iterator[tuple[str, float, str]]:
    """Yield ways to pass the quiz without reading it; a quiz should allow none of them.
    Each way is (what the person does, share of right boxes, kind of boxes to add)."""
    for deed, ticks, remedy in (("leaves every box empty", False, "more right"), ("ticks every box", True, "more wrong")):
        score = quiz.score({q.id: [o.id for o in q.options if ticks] for q in quiz.questions})
        if score.is_passed:
            yield deed, score.share, remedy


MAX_PICTURES_BYTES = 1024 * 1024
"""Largest number of bytes in all pictures of a quiz, which are stored in the study's document."""


@dataclass(frozen=True)
class QuizPart:
    """The quiz that people must pass before they work, and the number of attempts over all their visits."""

    quiz: Quiz
    attempts: int
    pictures: Mapping[str, bytes] = field(default_factory=dict, repr=False)


def read_quiz(table: Table | None) -> QuizPart | None:
    """Read the table `[quiz]`, which contains the whole quiz (StudyError if it is invalid)."""
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
        quiz = parse_quiz(text, source=f"{table.source}: {table.place('quiz')}")
        if pass_share:
            quiz = replace(quiz, pass_share=float(pass_share))
            for deed, share, _ in _blind_passes(quiz):
                raise table.error("pass_share", f"a person who {deed} has {share:.0%} of boxes right and passes", "raise it")
    except QuizError as error:
        raise StudyError(str(error)) from None
    except (ValueError, TypeError):
        raise table.error("pictures", "are not base64", "leave the key out: pictures are taken from the quiz's file") from None
    return QuizPart(quiz, attempts, pictures)


def quiz_taken_in(part: Table, folder: Path | None) -> dict[str, Any]:
    """Return the table `[quiz]` of a file with the text and pictures of the named quiz (StudyError if it cannot be used)."""
    name = part.text("quiz")
    try:
        quiz = find_quiz(str((folder or Path()) / name) if name.endswith(".toml") else name)
        text = Path(quiz.source).read_text(encoding="utf-8")
    except QuizError as error:
        raise StudyError(f"{part.source}: {part.place('quiz')}: {error}") from None
    names = [q.picture.name for q in quiz.questions if q.picture is not None and not q.picture.is_remote]
    pictures = {name: quiz.picture(name).read() for name in names}
    size = sum(map(len, pictures.values()))
    if size > MAX_PICTURES_BYTES:
        raise part.error(
            "quiz", f"its pictures have {size // 1024} KiB, over {MAX_PICTURES_BYTES // 1024} KiB", "make the pictures smaller"
        )
    return {
        **part.values,
        "text": text,
        "pictures": {name: base64.b64encode(picture).decode() for name, picture in pictures.items()},
    }
