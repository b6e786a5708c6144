"""A quiz is scored by boxes, shown without its key, and refused when it cannot tell anything."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.errors import NotFoundError
from interplay.study import QuizAnswerError, QuizError, builtin_quizzes, find_quiz
from interplay.study.quizzes.file import parse_quiz

QUIZZES = list(builtin_quizzes())
SMALL = """
[quiz]
id = "small"
title = "Small"
intro = "Tick what is true."

[[question]]
id = "sums"
text = "Which sums are right?"
right = ["1 + 1 = 2", "2 + 2 = 4"]
wrong = ["1 + 1 = 3", "2 + 2 = 5"]

[[question]]
id = "birds"
text = "Which are birds?"
right = ["Owl"]
wrong = ["Bat"]
"""


def small(*replacements: tuple[str, str]):
    text = SMALL
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return parse_quiz(text, source="small.toml")


def by_text(quiz, **ticked: list[str]) -> dict[str, list[str]]:
    return quiz.ids_of({question.id: ticked.get(question.id, []) for question in quiz.questions})


def test_the_score_is_the_share_of_boxes_in_the_right_state():
    quiz = small()
    # By hand: of the sums, one right box is ticked and one is not, one wrong box is ticked and one is not: 2 of 4.
    # Owl is ticked and Bat is not: 2 of 2.
    score = quiz.score(by_text(quiz, sums=["1 + 1 = 2", "1 + 1 = 3"], birds=["Owl"]))
    assert (score.num_right, score.num_boxes, score.by_question) == (4, 6, {"sums": (2, 4), "birds": (2, 2)})
    assert score.share == pytest.approx(4 / 6)
    assert score.is_passed  # 0.667 of 0.65


@pytest.mark.parametrize(("num_right", "is_passed"), [(12, False), (13, True), (20, True)])
def test_65_percent_passes_to_the_box(num_right, is_passed):
    options = [f"box {n}" for n in range(4)]
    questions = "".join(
        f'[[question]]\nid = "q{n}"\ntext = "?"\nright = {json.dumps(options[:2])}\nwrong = {json.dumps(options[2:])}\n'
        for n in range(5)
    )
    quiz = parse_quiz(f'[quiz]\nid = "even"\ntitle = "t"\nintro = "i"\n{questions}')
    boxes = [(question.id, option) for question in quiz.questions for option in question.options]
    answers = {question.id: [] for question in quiz.questions}
    for place, (question, option) in enumerate(boxes):
        if option.is_right == (place < num_right):
            answers[question].append(option.id)
    score = quiz.score(answers)
    assert (score.num_right, score.num_boxes) == (num_right, 20)
    assert score.is_passed is is_passed


def test_everything_right_is_1_and_everything_wrong_is_0():
    for name in QUIZZES:
        quiz = find_quiz(name)
        key = {question.id: [option.id for option in question.options if option.is_right] for question in quiz.questions}
        reverse = {
            question.id: [option.id for option in question.options if not option.is_right] for question in quiz.questions
        }
        assert (quiz.score(key).share, quiz.score(key).is_passed) == (1, True)
        assert (quiz.score(reverse).share, quiz.score(reverse).is_passed) == (0, False)


def test_ticking_nothing_or_everything_does_not_pass():
    for name in QUIZZES:
        quiz = find_quiz(name)
        assert not quiz.score({question.id: [] for question in quiz.questions}).is_passed
        assert not quiz.score(
            {question.id: [option.id for option in question.options] for question in quiz.questions}
        ).is_passed


def test_the_minecraft_quiz_asks_enough():
    quiz = find_quiz("minecraft")
    assert len(quiz.questions) >= 8
    assert quiz.pass_share == 0.65
    # The chance that coins pass: 50 boxes, at least 33 right; exact binomial tail.
    from math import comb

    assert quiz.num_boxes == 50
    assert sum(comb(50, right) for right in range(33, 51)) / 2**50 < 0.02


def test_the_form_does_not_reveal_the_key():
    for name in QUIZZES:
        quiz = find_quiz(name)
        form = quiz.form(np.random.default_rng(0))
        text = json.dumps(form)
        assert "right" not in {key for question in form["questions"] for option in question["options"] for key in option}
        assert set(form) == {"id", "title", "intro", "questions"}
        assert all(set(question) == {"id", "text", "picture", "options"} for question in form["questions"])
        assert all(set(option) == {"id", "text"} for question in form["questions"] for option in question["options"])
        notes = Path(quiz.source).read_text().count("note = ")
        assert notes == len(quiz.questions)
        assert "note" not in text
        # Neither do ids: they depend on the text alone, so swapping right and wrong leaves them as they are.
        swapped = parse_quiz(
            Path(quiz.source)
            .read_text()
            .replace("right = ", "tmp = ")
            .replace("wrong = ", "right = ")
            .replace("tmp = ", "wrong = "),
            folder=Path(quiz.source).parent,
        )
        ids = {question.id: {option.text: option.id for option in question.options} for question in quiz.questions}
        assert {question.id: {option.text: option.id for option in question.options} for question in swapped.questions} == ids
        assert swapped.content_hash != quiz.content_hash


def test_boxes_come_in_an_order_of_chance_and_the_same_seed_gives_the_same_order():
    quiz = find_quiz("minecraft")
    forms = [quiz.form(np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert forms[0] == forms[1] != forms[2]
    for form in forms:
        assert [sorted(one["id"] for one in asked["options"]) for asked in form["questions"]] == [
            sorted(one.id for one in question.options) for question in quiz.questions
        ]


@given(st.data())
def test_swapping_one_box_changes_the_score_by_one(data):
    quiz = find_quiz("atari")
    answers = {q.id: data.draw(st.lists(st.sampled_from([o.id for o in q.options]), unique=True)) for q in quiz.questions}
    question = data.draw(st.sampled_from(quiz.questions))
    box = data.draw(st.sampled_from(question.options)).id
    other = {**answers, question.id: list(set(answers[question.id]) ^ {box})}
    assert abs(quiz.score(other).num_right - quiz.score(answers).num_right) == 1


def test_answers_that_are_none_are_refused():
    for answers, message in [
        (None, "answers must be an object"),
        (["sums"], "answers must be an object"),
        ({}, "question 'sums' is not answered"),
        ({"sums": [], "birds": None}, "question 'birds' is not answered"),
        ({"sums": "abcd", "birds": []}, "question 'sums' must be a list of option ids"),
        ({"sums": [1], "birds": []}, "question 'sums' must be a list of option ids"),
        ({"sums": ["zzzz"], "birds": []}, "question 'sums' has no option 'zzzz'"),
        ({"sums": [], "birds": [], "fish": []}, "quiz 'small' has no question 'fish'; it has sums, birds"),
        ({"sums": [], "birds": [], 7: []}, "has no question '7'"),
        ({"sums": {"a": 1}, "birds": []}, "must be a list of option ids"),
    ]:
        with pytest.raises(QuizAnswerError) as caught:
            small().score(answers)
        assert message in str(caught.value)


def test_ticking_a_box_twice_is_ticking_it():
    quiz = small()
    box = quiz.questions[0].options[0].id
    assert quiz.score({"sums": [box, box], "birds": []}) == quiz.score({"sums": [box], "birds": []})


def test_a_quiz_that_cannot_work_is_refused_with_file_question_and_remedy():
    for old, new, message in [
        ("[quiz]", "[quizz]", "quiz: is missing\nRemedy: add [quiz]."),
        ('id = "small"', 'id = "Small Quiz"', "quiz.id: 'Small Quiz' is not a name"),
        ('title = "Small"', "", "quiz.title: is missing"),
        ('title = "Small"', "title = 3", "quiz.title: must be a text, got 3"),
        ('title = "Small"', 'title = "Small"\npass_share = 65', "quiz.pass_share: must be a share above 0 and up to 1, got 65"),
        ('title = "Small"', 'title = "Small"\npass_share = true', "pass_share: must be a whole number or a number, got True"),
        ('title = "Small"', 'title = "Small"\npass_share = 0.655', "must be a whole percent, got 0.655"),
        (
            'title = "Small"',
            'title = "Small"\npass_shares = 0.6',
            "quiz.pass_shares: is not a known key\nRemedy: did you mean 'pass_share'",
        ),
        ('id = "birds"', 'id = "sums"', "question[1].id: 'sums' is used twice"),
        ('id = "birds"', "", "question[1].id: is missing"),
        ('right = ["Owl"]', "right = []", "question 'birds'.right: holds no answer"),
        ('right = ["Owl"]', 'right = "Owl"', "question 'birds'.right: must be a list, got 'Owl'"),
        ('wrong = ["Bat"]', "", "question 'birds'.wrong: makes 1 boxes; a question has 2 to 8"),
        ('wrong = ["Bat"]', 'wrong = ["Bat", "Owl"]', "question 'birds'.wrong: 'Owl' occurs twice"),
        ('wrong = ["Bat"]', 'worng = ["Bat"]', "question 'birds'."),
        (
            'wrong = ["Bat"]',
            'wrong = ["Bat"]\npicture = "owl.gif"\npicture_alt = "An owl"',
            "neither a .jpg or .png file beside the quiz",
        ),
        ('wrong = ["Bat"]', 'wrong = ["Bat"]\npicture = "../owl.png"\npicture_alt = "An owl"', "write only its name"),
        ('wrong = ["Bat"]', 'wrong = ["Bat"]\npicture = "owl.png"', "question 'birds'.picture_alt: is missing"),
        ('wrong = ["Bat"]', 'wrong = ["Bat"]\npicture_alt = "An owl"', "describes a picture that is not named"),
        ('text = "Which are birds?"', "", "question 'birds'.text: is missing"),
        ("[[question]]", "[question]", "small.toml: "),
    ]:
        with pytest.raises(QuizError) as caught:
            small((old, new))
        assert message in str(caught.value)
        assert str(caught.value).startswith("small.toml: ")


def test_a_quiz_that_silence_would_pass_is_refused():
    easy = SMALL.replace('wrong = ["Bat"]', 'wrong = ["Bat", "Cow", "Ant", "Eel", "Cod"]')
    with pytest.raises(QuizError, match="a person who leaves every box empty has 70% of the boxes right and passes at 65%"):
        parse_quiz(easy)
    easy = SMALL.replace('right = ["Owl"]', 'right = ["Owl", "Hen", "Jay", "Auk", "Emu"]')
    with pytest.raises(QuizError, match="a person who ticks every box has 70% of the boxes right"):
        parse_quiz(easy)


def test_no_questions_are_no_quiz():
    with pytest.raises(QuizError, match="there are no questions"):
        parse_quiz(SMALL.split("[[question]]")[0])
    with pytest.raises(QuizError, match="not valid TOML"):
        parse_quiz("[quiz")


def test_a_picture_must_lie_beside_its_quiz(tmp_path):
    text = SMALL.replace('wrong = ["Bat"]', 'wrong = ["Bat"]\npicture = "owl.png"\npicture_alt = "An owl"')
    with pytest.raises(QuizError, match=r"there is no file .*owl\.png"):
        parse_quiz(text, folder=tmp_path)
    (tmp_path / "owl.png").write_bytes(b"\x89PNG")
    quiz = parse_quiz(text, folder=tmp_path)
    assert (quiz.picture("owl.png").read(), quiz.picture("owl.png").media_type) == (b"\x89PNG", "image/png")
    for name in ("../owl.png", "/etc/passwd", "owl.jpg"):
        with pytest.raises(NotFoundError):
            quiz.picture(name)


def test_the_picture_that_ships_is_a_picture():
    picture = find_quiz("minecraft").picture("desert_village.jpg")
    assert picture.media_type == "image/jpeg"
    assert picture.read().startswith(b"\xff\xd8\xff")
    assert picture.alt


def test_a_mistyped_quiz_gets_the_nearest():
    with pytest.raises(NotFoundError, match="unknown quiz 'minecaft'; did you mean 'minecraft'"):
        find_quiz("minecaft")
    with pytest.raises(QuizError, match="no such file"):
        find_quiz("nowhere.toml")
