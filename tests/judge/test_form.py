"""The form is checked by the server, field by field, and every fault is told at once."""

import pytest
from judging_world import REASON, form, played

from interplay.judge.errors import InvalidAnswerError
from interplay.judge.form import MAX_DRAFT_BYTES, Watching, check_draft, check_form
from interplay.judge.viewing import Lengths
from interplay.tasks import find
from interplay.wording import num_visible_chars

TASK = "atari/breakout"
QUESTIONS = find(TASK).questions


def faults(**changes) -> dict[str, str]:
    """Field -> message of the faults of a good form with changes."""
    with pytest.raises(InvalidAnswerError) as caught:
        check_form(QUESTIONS, **{**form(TASK), **changes})
    return dict(caught.value.errors)


def with_response(name: str, answer) -> dict:
    return {**form(TASK)["responses"], name: answer}


@pytest.mark.parametrize("outcome", ["left", "right", "draw"])
def test_a_good_form_is_taken_as_it_is(outcome):
    checked = check_form(QUESTIONS, **form(TASK, outcome))
    assert (checked.outcome, checked.reason, checked.viewing) == (outcome, REASON, played())
    assert checked.responses == form(TASK)["responses"]


def test_the_outcome_is_left_right_or_draw():
    for outcome in [None, "", "Left", "na", "p1", 1, True, ["left"], {"left": 1}]:
        assert faults(outcome=outcome)["outcome"].startswith("choose left, right or draw; got ")


def test_a_reason_has_at_least_100_characters():
    for length, is_good in [(0, False), (99, False), (100, True), (101, True), (10_000, True), (10_001, False)]:
        if is_good:
            assert len(check_form(QUESTIONS, **{**form(TASK), "reason": ("xy" * length)[:length]}).reason) == length
        else:
            assert set(faults(reason=("xy" * length)[:length])) == {"reason"}


def test_space_around_a_reason_does_not_count():
    assert faults(reason="  \n" + "x" * 99 + " " * 50 + "\t\n") == {
        "reason": "please write at least 100 characters; there are 99 so far"
    }
    assert check_form(QUESTIONS, **{**form(TASK), "reason": f"\n {REASON} \n"}).reason == REASON


def test_characters_are_counted_as_they_are_seen():
    for text, num in [  # the same cases stand in tests/js/judge.test.js
        ("  ab \n", 2),
        ("\U0001f642\u00e9", 2),
        ("x" + "\u200b" * 200 + "x", 2),
        ("x" + " " * 98 + "x", 3),
        ("x\n\n\ty", 3),
        ("x" + " \u200b" * 99 + "y", 3),
        ("e" + "\u0301" * 99, 2),
        ("\u3164" * 100, 0),
        ("\u2800\ufe0f\u034f", 0),
    ]:
        assert num_visible_chars(text) == num


def test_padding_of_any_kind_does_not_make_a_short_reason_long():
    for padding in [
        "\u200b",
        "\u2060",
        "\ufeff",
        " ",
        "\n",
        "\u3000",
        "\u3164",
        "\u2800",
        "\u0301",
        "\ufe0f",
        "\U000e0101",
        "\x07",
        " \u200b",
    ]:
        assert set(faults(reason="x" * 50 + padding * 100 + "y" * 47)) == {"reason"}


def test_what_nobody_sees_is_no_reason():
    assert faults(reason="x" + "\u200b" * 200 + "x") == {"reason": "please write at least 100 characters; there are 2 so far"}


def test_a_reason_is_text():
    for reason in [None, 5, ["x" * 100], {"text": "x" * 100}, "x" * 100 + "\0", "x" * 100 + "\ud800"]:
        assert set(faults(reason=reason)) == {"reason"}


def test_responses_are_an_object():
    for responses in [None, "left", [], ["skill"], 3]:
        assert "expected an object" in faults(responses=responses)["responses"]


def test_every_question_must_be_answered_and_each_gap_is_named():
    assert set(faults(responses={})) == {f"responses.{question.id}" for question in QUESTIONS if question.kind != "overall"}


def test_a_direct_question_takes_yes_or_no_of_both_sides():
    for answer in [
        None,
        True,
        "left",
        {"left": True},
        {"left": True, "right": "no"},
        {"left": 1, "right": 0},
        {"left": True, "right": True, "x": 1},
    ]:
        assert set(faults(responses=with_response("progress", answer))) == {"responses.progress"}


def test_a_comparative_question_takes_one_of_four_words():
    for answer in [None, True, "", "both", "N/A", {"left": True, "right": False}, ["left"]]:
        assert set(faults(responses=with_response("skill", answer))) == {"responses.skill"}


@pytest.mark.parametrize("answer", ["left", "draw", "right", "na"])
def test_the_four_words_of_a_comparative_question(answer):
    assert check_form(QUESTIONS, **{**form(TASK), "responses": with_response("skill", answer)}).responses["skill"] == answer


def test_unknown_questions_are_refused():
    assert faults(responses=with_response("hair_colour", "left")) == {"responses.hair_colour": "this form has no such question"}
    assert set(faults(responses=with_response("\ud800" * 100, "left"))) == {"responses." + "\\ud800" * 40}


def test_the_overall_question_may_be_repeated_but_not_contradicted():
    checked = check_form(QUESTIONS, **{**form(TASK, "left"), "responses": with_response("overall", "left")})
    assert "overall" not in checked.responses
    assert set(faults(outcome="right", responses=with_response("overall", "left"))) == {"responses.overall"}


def test_viewing_may_be_left_out_and_is_bounded():
    assert check_form(QUESTIONS, **{**form(TASK), "viewing": None}).viewing == {}
    assert check_form(QUESTIONS, **{**form(TASK), "viewing": {"events": "x" * 65_000}}).viewing["events"]
    assert "at most 64 KiB" in faults(viewing={"events": "x" * 65_536})["viewing"]


def test_viewing_is_an_object_both_databases_can_keep():
    for viewing in [[], "watched", 3, {"a": float("nan")}, {"a": float("inf")}, {"a": "\0"}, {"\ud800": 1}]:
        assert set(faults(viewing=viewing)) == {"viewing"}


def test_bottomless_viewing_is_refused():
    deep: dict = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert set(faults(viewing=deep)) == {"viewing"}


def test_all_faults_are_told_at_once():
    assert set(faults(outcome="up", reason="short", responses=with_response("skill", "maybe"), viewing=1)) == {
        "outcome",
        "reason",
        "responses.skill",
        "viewing",
    }


def test_the_shortest_reason_is_the_studys():
    reason = "xy" * 20
    assert check_form(QUESTIONS, **{**form(TASK), "reason": reason}, min_reason_chars=40).reason == reason
    with pytest.raises(InvalidAnswerError, match="at least 41 characters; there are 40"):
        check_form(QUESTIONS, **{**form(TASK), "reason": reason}, min_reason_chars=41)


def watched(left: float, right: float) -> dict:
    return {"left": {"length_s": 10, "watched_s": left}, "right": {"length_s": 20, "watched_s": right}}


def test_enough_of_each_video_must_be_watched():
    good = {**form(TASK), "viewing": watched(8, 16)}
    assert check_form(QUESTIONS, **good, watching=Watching(0.8, 60)).viewing == watched(8, 16)
    with pytest.raises(InvalidAnswerError, match="watch at least 80% of each video; so far: left 80%, right 75%"):
        check_form(QUESTIONS, **{**good, "viewing": watched(8, 15)}, watching=Watching(0.8, 60))


def test_nobody_can_have_watched_more_than_the_time_since_serving_allows():
    good = {**form(TASK), "viewing": watched(8, 16)}
    check_form(QUESTIONS, **good, watching=Watching(0.5, 16 / 5))  # at the player's highest speed
    with pytest.raises(InvalidAnswerError, match="16 s of the right video cannot be played in 2 s"):
        check_form(QUESTIONS, **good, watching=Watching(0.5, 2))


def test_a_page_cannot_make_a_video_shorter_than_it_is():
    good = {**form(TASK), "viewing": watched(8, 16)}
    check_form(QUESTIONS, **good, watching=Watching(0.5, 60, Lengths(10, 20)))
    with pytest.raises(InvalidAnswerError, match="so far: left 8%, right 80%"):
        check_form(QUESTIONS, **good, watching=Watching(0.5, 60, Lengths(100, 20)))


def test_a_report_without_what_was_watched_shows_nothing_watched():
    for viewing in [
        None,
        {},
        {"left": 5},
        {"left": {}, "right": {}},
        {"left": {"length_s": 0, "watched_s": 0}},
        watched(True, 9),
        [],
    ]:
        with pytest.raises(InvalidAnswerError):
            check_form(QUESTIONS, **{**form(TASK), "viewing": viewing}, watching=Watching(0.5, 60))


def test_a_draft_is_an_object_that_can_be_kept():
    for draft in [
        [],
        "x",
        5,
        {"a": float("inf")},
        {"a": "\0"},
        {"a": "\ud800"},
        {"a": "x" * MAX_DRAFT_BYTES},
        {1: float("nan")},
    ]:
        with pytest.raises(InvalidAnswerError) as caught:
            check_draft(draft)
        assert [field for field, _ in caught.value.errors] == ["draft"]


def test_a_draft_may_hold_anything_else():
    draft = {"chosen": [["overall", "left"]], "reason": "half a se", "viewing": {"left": None}}
    assert check_draft(draft) == draft


def test_one_character_over_and_over_or_no_letter_at_all_is_no_reason():
    for reason in [
        "x" * 100,
        "xX" * 60,
        "x " * 120,
        "x.x-x!" * 40,
        "." * 120,
        "1234567890" * 12,
        "\U0001f600" * 110,
        "e\u0301" * 120,
    ]:
        assert set(faults(reason=reason)) == {"reason"}
        assert "in words" in faults(reason=reason)["reason"]


@pytest.mark.parametrize(
    "reason",
    ["左边的玩家更快到达洞穴，右边的玩家一直在水里打转。", "Левый нашёл пещеру, правый нет.", "بهتر بود چون زودتر رسید"],
)
def test_a_reason_in_any_script_is_a_reason(reason):
    assert check_form(QUESTIONS, **{**form(TASK), "reason": reason}, min_reason_chars=15).reason == reason
