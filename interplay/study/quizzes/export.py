"""Export a quiz: as plain text, or as the two XML documents of a qualification test on Mechanical Turk.

Structures: Amazon Mechanical Turk API Reference, "QuestionForm" (schema of 2017-11-06) and "AnswerKey" (schema of 2005-10-01).
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from interplay.study.errors import QuizError
from interplay.study.quizzes.quiz import Picture, Quiz, shuffled

if TYPE_CHECKING:
    import numpy as np

_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
FORM_NAMESPACE = f"{_SCHEMAS}/2017-11-06/QuestionForm.xsd"
KEY_NAMESPACE = f"{_SCHEMAS}/2005-10-01/AnswerKey.xsd"
MAX_XML_BYTES = 65_535
"""Largest number of bytes in a document that `CreateQualificationType` accepts."""

_TICK_ALL = "(tick all that are true)"


def quiz_text(quiz: Quiz, rng: np.random.Generator, *, with_key: bool = False) -> str:
    """Return the quiz as plain text; `with_key` marks right boxes with an x. `rng` decides the order of the boxes."""
    lines = [quiz.title, "=" * len(quiz.title), "", quiz.intro]
    if with_key:
        lines += ["", f"Passed with {quiz.pass_share:.0%} of {quiz.num_boxes} boxes in the right state."]
    for number, question in enumerate(quiz.questions, start=1):
        lines += ["", f"{number}. {question.text} {_TICK_ALL}"]
        if question.picture is not None:
            lines.append(f"   [picture {question.picture.name}: {question.picture.alt}]")
        for option in shuffled(question.options, rng):
            lines.append(f"   [{'x' if with_key and option.is_right else ' '}] {option.text}")
    return "\n".join(lines) + "\n"


def question_form(quiz: Quiz, rng: np.random.Generator, *, picture_base: str | None = None) -> str:
    """Return the `Test` of a qualification type: a QuestionForm with one checkbox question after another.

    Args:
        rng: Decides the order of the boxes, which Amazon keeps.
        picture_base: https address of the folder that serves the quiz's own pictures.
    Raises:
        QuizError: If the document is longer than Amazon accepts, or a picture has no address.
    """
    form = ElementTree.Element("QuestionForm", xmlns=FORM_NAMESPACE)
    overview = _under(form, "Overview")
    _under(overview, "Title", quiz.title)
    _under(overview, "Text", quiz.intro)
    for question in quiz.questions:
        element = _under(form, "Question")
        _under(element, "QuestionIdentifier", question.id)
        _under(element, "IsRequired", "false")  # nothing ticked is an answer, too
        content = _under(element, "QuestionContent")
        _under(content, "Text", f"{question.text} {_TICK_ALL}")
        if question.picture is not None:
            _picture(content, question.picture, picture_base)
        answer = _under(_under(element, "AnswerSpecification"), "SelectionAnswer")
        _under(answer, "MinSelectionCount", "0")
        _under(answer, "MaxSelectionCount", str(len(question.options)))
        _under(answer, "StyleSuggestion", "checkbox")
        selections = _under(answer, "Selections")
        for option in shuffled(question.options, rng):
            selection = _under(selections, "Selection")
            _under(selection, "SelectionIdentifier", option.id)
            _under(selection, "Text", option.text)
    return _document(form, quiz, "question form")


def answer_key(quiz: Quiz) -> str:
    """Return the `AnswerKey` of a qualification type: it scores the percentage of boxes in the right state, rounded down.

    Amazon scores a question only by the exact set of ticked boxes, so that the key lists every set that has a separate score;
    all other sets, including the empty set, get the default score. Amazon would round the percentage to the nearest (64.6 %
    would pass 65), so that the key maps each possible sum to its percentage.

    Raises:
        QuizError: If the document is longer than Amazon accepts.
    """
    key = ElementTree.Element("AnswerKey", xmlns=KEY_NAMESPACE)
    for question in quiz.questions:
        element = _under(key, "Question")
        _under(element, "QuestionIdentifier", question.id)
        default, names = question.num_right(()), [option.id for option in question.options]
        for ticked in chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1)):
            score = question.num_right(ticked)
            if score != default:
                option = _under(element, "AnswerOption")
                for name in ticked:
                    _under(option, "SelectionIdentifier", name)
                _under(option, "AnswerScore", str(score))
        _under(element, "DefaultScore", str(default))
    ranges = _under(_under(key, "QualificationValueMapping"), "RangeMapping")
    for total in range(1, quiz.num_boxes + 1):
        summed = _under(ranges, "SummedScoreRange")
        _under(summed, "InclusiveLowerBound", str(total))
        _under(summed, "InclusiveUpperBound", str(total))
        _under(summed, "QualificationValue", str(100 * total // quiz.num_boxes))
    _under(ranges, "OutOfRangeQualificationValue", "0")
    return _document(key, quiz, "answer key")


def _picture(content: ElementTree.Element, picture: Picture, base: str | None) -> None:
    if not picture.is_remote and not (base or "").startswith("https://"):
        raise QuizError(
            f"the picture {picture.name} needs an https address from which Amazon's page can load it\n"
            "Remedy: put the pictures on a server and pass their folder: --picture-base https://lab.example/quiz"
        )
    binary = _under(content, "Binary")
    kind = _under(binary, "MimeType")
    _under(kind, "Type", "image")
    _under(kind, "SubType", picture.media_type.partition("/")[2])
    _under(binary, "DataURL", picture.name if picture.is_remote else f"{(base or '').rstrip('/')}/{picture.name}")
    _under(binary, "AltText", picture.alt)


def _under(parent: ElementTree.Element, tag: str, text: str | None = None) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag)
    element.text = text
    return element


def _document(root: ElementTree.Element, quiz: Quiz, what: str) -> str:
    text = '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"
    size = len(text.encode())
    if size > MAX_XML_BYTES:
        raise QuizError(
            f"quiz {quiz.id!r}: its {what} has {size:,} bytes, but Mechanical Turk takes at most {MAX_XML_BYTES:,}\n"
            "Remedy: ask fewer questions, or give them fewer boxes (a question of n boxes needs up to 2^n lines)."
        )
    return text
