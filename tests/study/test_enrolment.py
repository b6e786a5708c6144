"""Who is let into a study, what comes next, how it ends: rules without a database."""

from datetime import UTC, datetime, timedelta

import pytest

from interplay.study import Arrival
from interplay.study.enrolment import GIVEN_BACK, HOLD, Facts, Visit, admit, due_outcome, next_step

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ADA = Arrival("mturk", "A1ADA", "3ASSIGNMENT", "3HIT", submit_to="https://www.mturk.com")
MINE = Visit("mine", "A1ADA", "3ASSIGNMENT", last_seen=NOW)
BOBS = Visit("bobs", "A2BOB", "3ASSIGNMENT", last_seen=NOW)


def test_somebody_new_may_begin():
    assert admit(ADA, now=NOW, is_open=True).kind == "new"


def test_a_preview_of_an_open_study_looks_and_one_of_a_closed_study_does_not():
    preview = Arrival("mturk", is_preview=True)
    assert admit(preview, now=NOW, is_open=True).kind == "preview"
    assert admit(preview, now=NOW, is_open=False).refusal == "closed"


def test_the_same_ids_go_on_where_they_were_even_when_the_study_is_closed_or_the_person_banned():
    for is_open, is_banned in ((True, False), (False, False), (True, True)):
        found = admit(ADA, now=NOW, is_open=is_open, is_banned=is_banned, of_assignment=[MINE], of_worker=[MINE])
        assert (found.kind, found.enrolment) == ("resume", "mine")


def test_the_same_person_with_another_assignment_is_let_in_again():
    earlier = Visit("earlier", "A1ADA", "3OTHER", "done")
    assert admit(ADA, now=NOW, is_open=True, of_worker=[earlier]).kind == "new"


def test_a_person_takes_part_as_often_as_the_study_allows():
    earlier = Visit("earlier", "A1ADA", "3OTHER", "done")
    assert admit(ADA, now=NOW, is_open=True, of_worker=[earlier], max_visits=1).refusal == "enough_visits"
    assert admit(ADA, now=NOW, is_open=True, of_worker=[earlier], max_visits=2).kind == "new"


def test_an_assignment_in_another_persons_hands_is_refused():
    assert admit(ADA, now=NOW, is_open=True, of_assignment=[BOBS]).refusal == "wrong_worker"


def test_an_assignment_somebody_handed_in_is_refused_for_ever():
    handed_in = Visit("bobs", "A2BOB", "3ASSIGNMENT", "done", NOW - 100 * HOLD)
    assert admit(ADA, now=NOW, is_open=True, of_assignment=[handed_in]).refusal == "wrong_worker"


@pytest.mark.parametrize("outcome", sorted(GIVEN_BACK))
def test_an_assignment_that_was_given_back_may_go_to_somebody_else(outcome):
    given_back = Visit("bobs", "A2BOB", "3ASSIGNMENT", outcome, NOW)
    found = admit(ADA, now=NOW, is_open=True, of_assignment=[given_back])
    assert (found.kind, found.abandoned) == ("new", ())


def test_an_assignment_returned_without_a_word_goes_over_after_a_while():
    silent = Visit("bobs", "A2BOB", "3ASSIGNMENT", last_seen=NOW - HOLD)
    lately = Visit("bobs", "A2BOB", "3ASSIGNMENT", last_seen=NOW - HOLD + timedelta(seconds=1))
    assert admit(ADA, now=NOW, is_open=True, of_assignment=[silent]).abandoned == ("bobs",)
    assert admit(ADA, now=NOW, is_open=True, of_assignment=[lately]).refusal == "wrong_worker"


def test_a_closed_study_and_a_banned_person_are_refused():
    assert admit(ADA, now=NOW, is_open=False).refusal == "closed"
    assert admit(ADA, now=NOW, is_open=True, is_banned=True).refusal == "banned"


def test_an_open_link_goes_on_with_what_the_cookie_knows_and_begins_anew_after_the_end():
    link = Arrival("open")
    begun = Visit("begun", "participant-1", "", None, NOW)
    ended = Visit("ended", "participant-1", "", "done", NOW)
    assert admit(link, now=NOW, is_open=True, of_worker=[ended, begun]).enrolment == "begun"
    assert admit(link, now=NOW, is_open=True, of_worker=[ended]).kind == "new"


def test_what_comes_next_follows_from_the_facts():
    for facts, step, outcome in [
        (Facts(), "work", None),
        (Facts(needs_quiz=True, max_attempts=2), "quiz", None),
        (Facts(needs_quiz=True, max_attempts=2, num_attempts=1), "quiz", None),
        (Facts(needs_quiz=True, max_attempts=2, num_attempts=2), "end", "screened_out"),
        (Facts(needs_quiz=True, max_attempts=2, num_attempts=2, has_passed=True), "work", None),
        (Facts(num_wanted=3, num_answers=2), "work", None),
        (Facts(num_wanted=3, num_answers=3), "end", "done"),
        (Facts(num_wanted=3, num_answers=3, is_open=False), "end", "done"),
        (Facts(num_wanted=3, num_answers=2, is_open=False), "end", "nothing_left"),
        (Facts(num_wanted=3, num_answers=3, is_banned=True), "end", "failed_check"),
    ]:
        assert (next_step(facts), due_outcome(facts)) == (step, outcome)


def test_whoever_ended_stays_ended():
    assert next_step(Facts(outcome="withdrawn", num_wanted=3)) == "end"
