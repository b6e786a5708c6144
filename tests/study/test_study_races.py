"""Two servers on one PostgreSQL database let people in, give them places and pay them at the same moment.

As in `test_judging_races`: each test fails without the lock of the study, of the person or of the class.
"""

from datetime import timedelta

from meeting import meet, num_rows
from play_world import STUDY, PlayWorld

from interplay.store import Participant
from interplay.store.models import HitEvent
from interplay.store.study.classes import CHANNEL
from interplay.study import Arrival
from interplay.study.classes import Classes
from interplay.study.definition import Study
from interplay.study.money.payroll import Payroll
from interplay.study.mturk.hits import Hits
from interplay.study.mturk.plan import Order, Service
from interplay.study.people import People
from interplay.study.review.reviews import Reviews
from interplay.study.studies import Studies

TASK = "atari/breakout"
RAFFLE = STUDY.replace("[pay]", "[raffle]\nwinners = 1\nprize = 20\n[pay]\nhourly_target = 12")
REVIEW = {
    "study": {
        "id": "reviews",
        "kind": "review",
        "title": "t",
        "summary": "s",
        "minutes": 5,
        "contact": "c",
        "instructions": "i",
    },
    "review": {"instances": [{"name": "one", "task_text": "Get a log."}], "raters": 1},
    "channels": {"open": {}},
}


def test_one_person_in_two_windows_enrols_once(here, there):
    world, same = PlayWorld(here), Studies(there.database)
    arrival = Arrival("prolific", worker="w", assignment="a", hit="S1")
    enrolled = meet(here.database, lambda: world.studies.enrol(world.study, arrival), lambda: same.enrol(world.study, arrival))
    assert [one.kind for one in enrolled] == ["new", "resume"]


def test_one_person_who_enrols_in_two_studies_is_one_participant(here, there):
    world, other = PlayWorld(here), PlayWorld(there, STUDY.replace('id = "orders"', 'id = "others"'))
    found = meet(here.database, lambda: world.come("w"), lambda: other.come("w"))
    assert [one.participant_id for one in found] == [found[0].participant_id] * 2
    assert num_rows(here, Participant) == 1


def test_one_key_is_one_participant(here, there):
    first, second = meet(
        here.database, lambda: People(here.database).find_or_add("key"), lambda: People(there.database).find_or_add("key")
    )
    assert first == second


def test_the_last_place_of_a_variant_is_given_once(here, there):
    other_variant = '[[variants]]\ntask = "atari/breakout"\nname = "other"\ntitle = "Other"\n\n[channels'
    world = PlayWorld(here, STUDY.replace("[channels", other_variant))
    same = PlayWorld(there, STUDY.replace("[channels", other_variant))
    one, other = world.come("a"), same.come("b")
    given = meet(here.database, lambda: world.visits.give(one), lambda: same.visits.give(other))
    assert {variant.name for variant in given} == {"inside_out", "other"}


def test_a_visit_ends_once_and_the_first_outcome_stays(here, there):
    world, same = PlayWorld(here), PlayWorld(there)
    visit = world.come("a")
    ended = meet(
        here.database, lambda: world.studies.finish(visit, "no_partner"), lambda: same.studies.finish(visit, "withdrawn")
    )
    assert [one.outcome for one in ended] == ["no_partner"] * 2


def test_one_attempt_at_a_quiz_is_one(here, there):
    text = '[quiz]\nquiz = "atari"\nattempts = 1\n\n[channels'
    world, same = (PlayWorld(one, STUDY.replace("[channels", text)) for one in (here, there))
    visit = world.come("a")
    world.visits.give(visit)
    scored = meet(here.database, lambda: world.studies.take_quiz(visit, []), lambda: same.studies.take_quiz(visit, []))
    assert scored == (True, False)


def test_an_instance_that_lacks_one_review_is_shown_to_one_person(here, there):
    study = Study.from_json(REVIEW)
    studies = [Studies(one.database) for one in (here, there)]
    studies[0].open(study)
    visitors = [People(here.database).find_or_add(key) for key in "ab"]
    people = [studies[0].enrolment(studies[0].enrol(study, Arrival("open"), one).enrolment) for one in visitors]
    reviews = [Reviews(one.database, its) for one, its in zip((here, there), studies, strict=True)]
    served, nothing = meet(here.database, lambda: reviews[0].serve(people[0]), lambda: reviews[1].serve(people[1]))
    assert served.place == 1
    assert nothing is None


def test_a_raffle_is_drawn_once_and_nobody_is_paid_twice(here, there):
    world = PlayWorld(here, RAFFLE)
    for number in range(20):
        visit = world.come(f"w{number}")
        world.now += timedelta(minutes=10)
        world.studies.finish(visit, "done")
    world.studies.close("orders")
    one, other = (Payroll(archive.database, lambda: world.now) for archive in (here, there))
    drawn, again = meet(here.database, lambda: one.raffle("orders"), lambda: other.raffle("orders"))
    assert (drawn.is_new, again.is_new) == (True, False)
    assert drawn.winners == again.winners
    bill = one.plan("orders")
    bonus = next(payment for payment in bill.payments if payment.kind == "bonus")
    claim = lambda payroll: payroll.claim(bill, bonus, repeats_safely=False)  # noqa: E731
    claimed, refused = meet(here.database, lambda: claim(one), lambda: claim(other))
    assert (claimed, refused.state) == (None, "unknown")


def test_one_nickname_is_of_one_pupil_and_a_class_that_ends_lets_nobody_in(here, there):
    one, other = Classes(here.database), Classes(there.database)
    made = one.open("9b", [TASK])
    joined, refused = meet(here.database, lambda: one.join(made.code, "Ada"), lambda: other.join(made.code, "ada"))
    assert joined.pupil.nickname == "Ada"
    assert "nickname already" in str(refused)
    closed, late = meet(here.database, lambda: one.close(made.code), lambda: other.join(made.code, "Bo"))
    assert closed.closed_at is not None
    assert "has ended" in str(late)
    assert num_rows(here, Participant, Participant.channel == CHANNEL) == 1


def test_a_hit_that_two_runs_find_is_noted_once(here, there):
    world, service = PlayWorld(here), Service(True, "x")
    order, made = Order("hit", "request", {}), {"hit": "H", "hit_type": "T"}
    write = lambda archive: Hits(archive.database).write(world.study, order, service, "made", made)  # noqa: E731
    assert meet(here.database, lambda: write(here), lambda: write(there)) == (None, None)
    assert num_rows(here, HitEvent) == 1
