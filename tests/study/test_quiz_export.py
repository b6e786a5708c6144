"""What other places get: text without a key, and XML that Mechanical Turk scores exactly as we do."""

from xml.etree import ElementTree

import numpy as np
import pytest

from interplay.study import QuizError, builtin_quizzes, find_quiz
from interplay.study.quizzes.export import FORM_NAMESPACE, KEY_NAMESPACE, answer_key, question_form, quiz_text
from interplay.study.quizzes.file import parse_quiz

QUIZZES = list(builtin_quizzes())
BASE = "https://lab.example/quiz"

CHILDREN = {
    "QuestionForm": ["Overview", "Question+"],
    "Overview": ["Title", "Text"],
    "Question": ["QuestionIdentifier", "IsRequired", "QuestionContent", "AnswerSpecification"],
    "QuestionContent": ["Text", "Binary?"],
    "Binary": ["MimeType", "DataURL", "AltText"],
    "MimeType": ["Type", "SubType"],
    "AnswerSpecification": ["SelectionAnswer"],
    "SelectionAnswer": ["MinSelectionCount", "MaxSelectionCount", "StyleSuggestion", "Selections"],
    "Selections": ["Selection+"],
    "Selection": ["SelectionIdentifier", "Text"],
}
"""Element -> children in the order of the published schema (QuestionForm.xsd), of the parts that a checkbox quiz uses."""

KEY_CHILDREN = {
    "AnswerKey": ["Question+", "QualificationValueMapping"],
    "Question": ["QuestionIdentifier", "AnswerOption+", "DefaultScore"],
    "AnswerOption": ["SelectionIdentifier+", "AnswerScore"],
    "QualificationValueMapping": ["RangeMapping"],
    "RangeMapping": ["SummedScoreRange+", "OutOfRangeQualificationValue"],
    "SummedScoreRange": ["InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue"],
}


def check_structure(element: ElementTree.Element, namespace: str, children: dict[str, list[str]]) -> None:
    """That an element and all below stand as the schema says."""
    import re

    prefix = f"{{{namespace}}}"
    assert element.tag.startswith(prefix)
    name = element.tag.removeprefix(prefix)
    found = "".join(f"{child.tag.removeprefix(prefix)} " for child in element)
    if name not in children:
        assert found == ""
        assert (element.text or "").strip()
        return
    pattern = "".join(f"({part.rstrip('+?')} ){part[-1] if part[-1] in '+?' else ''}" for part in children[name])
    assert re.fullmatch(pattern, found), (name, found)
    for child in element:
        check_structure(child, namespace, children)


def amazons_value(key: ElementTree.Element, ticked: dict[str, set[str]]) -> int:
    """The qualification's value, computed from an answer key as Amazon's reference describes it."""

    def text(element: ElementTree.Element, tag: str) -> str:
        return element.findtext(f"{{{KEY_NAMESPACE}}}{tag}") or ""

    total = 0
    for question in key.iter(f"{{{KEY_NAMESPACE}}}Question"):
        score = int(text(question, "DefaultScore"))
        for option in question.iter(f"{{{KEY_NAMESPACE}}}AnswerOption"):
            names = {one.text for one in option.iter(f"{{{KEY_NAMESPACE}}}SelectionIdentifier")}
            if names == ticked[text(question, "QuestionIdentifier")]:
                score = int(text(option, "AnswerScore"))
        total += score
    for summed in key.iter(f"{{{KEY_NAMESPACE}}}SummedScoreRange"):
        if int(text(summed, "InclusiveLowerBound")) <= total <= int(text(summed, "InclusiveUpperBound")):
            return int(text(summed, "QualificationValue"))
    return int(next(key.iter(f"{{{KEY_NAMESPACE}}}OutOfRangeQualificationValue")).text or "")


def test_the_question_form_stands_as_the_schema_says():
    for name in QUIZZES:
        quiz = find_quiz(name)
        form = ElementTree.fromstring(question_form(quiz, np.random.default_rng(0), picture_base=BASE))
        check_structure(form, FORM_NAMESPACE, CHILDREN)
        questions = form.findall(f"{{{FORM_NAMESPACE}}}Question")
        assert [one.findtext(f"{{{FORM_NAMESPACE}}}QuestionIdentifier") for one in questions] == [
            one.id for one in quiz.questions
        ]
        for element, question in zip(questions, quiz.questions, strict=True):
            texts = {
                one.findtext(f"{{{FORM_NAMESPACE}}}SelectionIdentifier"): one.findtext(f"{{{FORM_NAMESPACE}}}Text")
                for one in element.iter(f"{{{FORM_NAMESPACE}}}Selection")
            }
            assert texts == {option.id: option.text for option in question.options}
            assert next(element.iter(f"{{{FORM_NAMESPACE}}}StyleSuggestion")).text == "checkbox"
            assert next(element.iter(f"{{{FORM_NAMESPACE}}}MaxSelectionCount")).text == str(len(question.options))


def test_the_answer_key_stands_as_the_reference_says_and_fits():
    for name in QUIZZES:
        text = answer_key(find_quiz(name))
        check_structure(ElementTree.fromstring(text), KEY_NAMESPACE, KEY_CHILDREN)
        assert len(text.encode()) <= 65_535


def test_amazon_scores_and_passes_exactly_whom_we_do():
    for name in QUIZZES:
        quiz = find_quiz(name)
        key = ElementTree.fromstring(answer_key(quiz))
        rng = np.random.default_rng(7)
        passed = 0
        for knowledge in np.linspace(0, 1, 60):  # from always wrong to always right
            ticked = {
                question.id: {option.id for option in question.options if option.is_right == (rng.random() < knowledge)}
                for question in quiz.questions
            }
            score = quiz.score({name: list(names) for name, names in ticked.items()})
            value = amazons_value(key, ticked)
            assert value == 100 * score.num_right // score.num_boxes
            assert (value >= round(100 * quiz.pass_share)) == score.is_passed
            passed += score.is_passed
        assert 0 < passed < 60
        nothing = {question.id: set() for question in quiz.questions}
        assert amazons_value(key, nothing) == 100 * quiz.score({name: [] for name in nothing}).num_right // quiz.num_boxes


def test_the_order_of_boxes_tells_nothing_about_the_key():
    # In the file right answers come first; in the exports their places are a matter of chance: over 200 seeds, the first box
    # of the first question is right about half of the time (2 of 4); 50 or fewer, or 150 or more, has a chance under 1e-11.
    quiz = find_quiz("minecraft")
    right = {option.id for option in quiz.questions[0].options if option.is_right}
    first = 0
    for seed in range(200):
        form = ElementTree.fromstring(question_form(quiz, np.random.default_rng(seed), picture_base=BASE))
        first += next(form.iter(f"{{{FORM_NAMESPACE}}}SelectionIdentifier")).text in right
    assert 50 < first < 150


def test_the_text_shows_every_box_and_marks_them_only_with_the_key():
    quiz = find_quiz("minecraft")
    shown = quiz_text(quiz, np.random.default_rng(3))
    marked = quiz_text(quiz, np.random.default_rng(3), with_key=True)
    assert shown.count("[ ]") == quiz.num_boxes
    assert "[x]" not in shown
    assert marked.count("[x]") == sum(option.is_right for question in quiz.questions for option in question.options)
    assert marked.count("[x]") + marked.count("[ ]") == quiz.num_boxes
    assert all(option.text in shown for question in quiz.questions for option in question.options)
    assert "65% of 50 boxes" in marked


def test_text_with_markup_in_it_stays_text():
    quiz = parse_quiz(
        '[quiz]\nid = "q"\ntitle = "a < b & c"\nintro = "]]> <Title>"\n'
        '[[question]]\nid = "one"\ntext = "<b>?</b>"\nright = ["<"]\nwrong = ["& >"]\n'
    )
    form = ElementTree.fromstring(question_form(quiz, np.random.default_rng(0)))
    check_structure(form, FORM_NAMESPACE, CHILDREN)
    assert next(form.iter(f"{{{FORM_NAMESPACE}}}Title")).text == "a < b & c"


def test_a_picture_needs_an_address_that_amazon_can_load():
    for base in (None, "http://lab.example/quiz"):
        with pytest.raises(QuizError, match=r"desert_village\.jpg needs an https address"):
            question_form(find_quiz("minecraft"), np.random.default_rng(0), picture_base=base)
    form = ElementTree.fromstring(question_form(find_quiz("minecraft"), np.random.default_rng(0), picture_base=BASE + "/"))
    assert next(form.iter(f"{{{FORM_NAMESPACE}}}DataURL")).text == f"{BASE}/desert_village.jpg"


def test_a_quiz_too_long_for_amazon_says_so():
    options = ", ".join(f'"{letter}{letter}"' for letter in "abcd")
    others = options.replace("a", "e").replace("b", "f").replace("c", "g").replace("d", "h")
    questions = "".join(f'[[question]]\nid = "q{n}"\ntext = "?"\nright = [{options}]\nwrong = [{others}]\n' for n in range(4))
    quiz = parse_quiz(f'[quiz]\nid = "long"\ntitle = "t"\nintro = "i"\n{questions}')
    with pytest.raises(QuizError, match=r"quiz 'long': its answer key has .* bytes, but Mechanical Turk takes at most 65,535"):
        answer_key(quiz)
