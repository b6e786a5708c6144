"""Read quizzes from TOML and refuse what cannot work, naming file, question and remedy."""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from interplay.errors import unknown_name
from interplay.study.errors import QuizError
from interplay.study.quiz import MAX_OPTIONS, PASS_SHARE, Option, Picture, Quiz, QuizQuestion

_NAME = re.compile(r"[a-z0-9][a-z0-9_\-]{0,63}")
_PICTURE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]*\.(jpg|jpeg|png)")


def load_quiz(path: str | Path) -> Quiz:
    """Read a quiz from a TOML file; pictures lie beside it.

    Raises:
        QuizError: If the file is missing, is not TOML, or holds something a quiz cannot mean.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise QuizError(
            f"{file}: no such file\nBegin with a quiz that ships:  interplay judge quiz export minecraft --format toml"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise QuizError(f"{file}: cannot be read as UTF-8 text: {error}") from None
    return parse_quiz(text, source=str(file), folder=file.parent)


@cache
def builtin_quizzes() -> dict[str, Quiz]:
    """The quizzes that ship with the package, by id."""
    folder = Path(str(resources.files("interplay.study") / "data"))
    quizzes = [load_quiz(file) for file in sorted(folder.glob("*.toml"))]
    return {quiz.id: quiz for quiz in quizzes}


def find_quiz(name: str) -> Quiz:
    """A quiz by the id of one that ships, or by the path of a TOML file.

    Raises:
        NotFoundError: With the nearest known id.
        QuizError: If a file is named and cannot be used.
    """
    if name.endswith(".toml"):
        return load_quiz(name)
    if name not in builtin_quizzes():
        raise unknown_name("quiz", name, builtin_quizzes(), hint="A quiz of your own is named by its file: my_quiz.toml")
    return builtin_quizzes()[name]


def parse_quiz(text: str, *, source: str = "<text>", folder: Path | None = None) -> Quiz:
    """Build a quiz from TOML text; `source` names it in errors, `folder` holds its pictures.

    Raises:
        QuizError: As `load_quiz`, naming file, question and remedy.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise QuizError(f"{source}: not valid TOML: {error}\nCheck quotes and brackets near that line.") from None
    head = document.get("quiz")
    if not isinstance(head, dict):
        raise QuizError(f"{source}: there is no [quiz] table\nRemedy: begin with [quiz] and id, title, intro.")
    reader = _Reader(source, "quiz", head)
    quiz_id, title, intro = reader.name("id"), reader.text("title"), " ".join(reader.text("intro").split())
    pass_share = head.get("pass_share", PASS_SHARE)
    if isinstance(pass_share, bool) or not isinstance(pass_share, int | float) or not 0 < pass_share <= 1:
        raise reader.error("pass_share", f"must be a share above 0 and up to 1, got {pass_share!r}", "write 0.65 for 65 %")
    if Fraction(str(pass_share)) * 100 % 1:
        raise reader.error(
            "pass_share", f"must be a whole percent, got {pass_share!r}", "platforms keep whole percents; write 0.65"
        )
    reader.nothing_else("id", "title", "intro", "pass_share")
    entries = document.get("question")
    if not isinstance(entries, list) or not entries:
        raise QuizError(f"{source}: there are no questions\nRemedy: add [[question]] tables with id, text, right and wrong.")
    _Reader(source, "", document).nothing_else("quiz", "question")
    questions = tuple(_question(entry, index, quiz_id, source, folder) for index, entry in enumerate(entries))
    ids = [question.id for question in questions]
    for index, name in enumerate(ids):
        if name in ids[:index]:
            raise QuizError(f"{source}: question[{index}].id: {name!r} is used twice\nRemedy: give each question its own id.")
    quiz = Quiz(quiz_id, title, intro, questions, float(pass_share), source)
    _refuse_a_quiz_that_tells_nothing(quiz)
    return quiz


def _question(entry: Any, index: int, quiz_id: str, source: str, folder: Path | None) -> QuizQuestion:
    """One [[question]] table, checked."""
    if not isinstance(entry, dict):
        raise QuizError(f"{source}: question[{index}] must be a table, got {entry!r}\nRemedy: write [[question]] above it.")
    name = entry.get("id")
    reader = _Reader(source, f"question {name!r}" if isinstance(name, str) and name else f"question[{index}]", entry)
    question_id, text = reader.name("id"), reader.text("text")
    right, wrong = reader.texts("right"), reader.texts("wrong")
    if not right:
        raise reader.error("right", "holds no answer", "name at least one right box, or nobody can tell a slip from knowledge")
    if not 2 <= len(right) + len(wrong) <= MAX_OPTIONS:
        raise reader.error("wrong", f"makes {len(right) + len(wrong)} boxes; 2 to {MAX_OPTIONS} fit", "change the lists")
    every = [*right, *wrong]
    for place, option in enumerate(every):
        if option in every[:place]:
            raise reader.error("wrong" if option in wrong else "right", f"{option!r} stands there twice", "keep one of them")
    options = tuple(Option(_option_id(quiz_id, question_id, option), option, option in right) for option in every)
    if len({option.id for option in options}) < len(options):
        raise reader.error("id", "gives two boxes the same short id, by chance", "choose another id for the question")
    reader.nothing_else("id", "text", "right", "wrong", "picture", "picture_alt", "note")
    return QuizQuestion(question_id, text, options, _picture(reader, entry, folder))


def _option_id(quiz_id: str, question_id: str, text: str) -> str:
    """Four hex digits of a hash: short, because an answer key for Mechanical Turk repeats it up to 128 times."""
    return hashlib.sha256(f"{quiz_id}\0{question_id}\0{text}".encode()).hexdigest()[:4]


def _picture(reader: _Reader, entry: Mapping[str, Any], folder: Path | None) -> Picture | None:
    """The picture of a question, if it has one."""
    if "picture" not in entry:
        if "picture_alt" in entry:
            raise reader.error("picture_alt", "describes a picture that is not named", 'add picture = "file.jpg"')
        return None
    name = reader.text("picture")
    if "picture_alt" not in entry:
        raise reader.error("picture_alt", "is missing", "say in a sentence what the picture shows, for those who cannot see it")
    alt = reader.text("picture_alt")
    if name.startswith("https://"):
        return Picture(name, alt)
    if not _PICTURE.fullmatch(name):
        problem = f"{name!r} is neither a .jpg or .png file beside the quiz nor an https address"
        raise reader.error("picture", problem, "put the file in the quiz's folder and write its bare name")
    if folder is not None and not (folder / name).is_file():
        raise reader.error("picture", f"there is no file {folder / name}", "put the picture beside the quiz")
    return Picture(name, alt, folder)


def _refuse_a_quiz_that_tells_nothing(quiz: Quiz) -> None:
    """Leaving every box empty, or ticking every box, must not pass."""
    nothing = quiz.score({question.id: [] for question in quiz.questions})
    everything = quiz.score({question.id: [option.id for option in question.options] for question in quiz.questions})
    for score, deed, remedy in (
        (nothing, "leaves every box empty", "more right"),
        (everything, "ticks every box", "more wrong"),
    ):
        if score.is_passed:
            raise QuizError(
                f"{quiz.source}: quiz.pass_share: whoever {deed} has {score.share:.0%} of the boxes right and passes at "
                f"{quiz.pass_share:.0%}\nRemedy: add questions with {remedy} boxes, or raise pass_share."
            )


class _Reader:
    """One table of a quiz file: takes texts out, and knows where it stands."""

    def __init__(self, source: str, where: str, values: Mapping[str, Any]) -> None:
        self._source, self._where, self._values = source, where, values

    def error(self, key: str, problem: str, remedy: str) -> QuizError:
        place = f"{self._where}.{key}" if self._where else key
        return QuizError(f"{self._source}: {place}: {problem}\nRemedy: {remedy}.")

    def text(self, key: str) -> str:
        value = self._values.get(key)
        if value is None:
            raise self.error(key, "is missing", f'add {key} = "..."')
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f"must be a text, got {value!r}", f"write what {key} should say, in quotes")
        return value.strip()

    def name(self, key: str) -> str:
        value = self.text(key)
        if not _NAME.fullmatch(value):
            raise self.error(key, f"{value!r} is not a name", "use lower-case letters, digits, '_' and '-'")
        return value

    def texts(self, key: str) -> list[str]:
        values = self._values.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) and value.strip() for value in values):
            raise self.error(key, f"must be a list of texts, got {values!r}", 'write ["one", "another"]')
        return [value.strip() for value in values]

    def nothing_else(self, *known: str) -> None:
        for key in self._values:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                raise self.error(
                    key, "is not a known key", f"did you mean {near[0]!r}" if near else f"known: {', '.join(known)}"
                )
