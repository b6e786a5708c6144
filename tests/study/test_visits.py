"""Visits of a study of play, through the real services: what is given, what counts, what is earned, and that it stays so."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_world import START, STUDY, TASK, PlayWorld, measured
from sqlalchemy import text

from interplay.errors import NotFoundError
from interplay.judge.ratings.answers import partner_comparisons
from interplay.rank import leaderboard
from interplay.store import EpisodeRow, EpisodeSeat, PlaySession, SeatStatistic, sessions
from interplay.store.judging.bans import ban
from interplay.store.study.visits import PlayedSession
from interplay.study import StudyError
from interplay.study.definition import builtin_studies
from interplay.study.enrolment import Facts, due_outcome, next_step
from interplay.study.money.ledger import Event, Visit, plan
from interplay.study.money.payroll import Payroll
from interplay.study.play.games import statistics_of
from interplay.tasks import find
from interplay.testing import episode_values

SECOND = """
[[variants]]
task = "atari/space_invaders"
name = "outside_in"
max_visits = 1
"""
TREATMENTS = [one.treatment for study in builtin_studies().values() if study.play for one in study.play.variants]
CHOSEN = STUDY.replace("[pay]", '[play]\nchoice = "chosen"\n[pay]') + SECOND


@pytest.fixture
def world(archive):
    return PlayWorld(archive)


def payments(world: PlayWorld) -> list[tuple[str, str, int]]:
    bill = Payroll(world.database, lambda: world.now).plan("orders")
    return [(one.kind, one.visit.worker, one.amount_cents) for one in bill.payments]


# What comes next


def test_a_visit_goes_on_until_its_person_ends_it_or_no_game_is_left():
    assert next_step(Facts(is_complete=True)) == "work"
    assert due_outcome(Facts(is_over=True)) == "nothing_left"
    assert due_outcome(Facts(is_over=True, is_complete=True)) == "done"
    assert due_outcome(Facts(is_open=False, is_complete=True)) == "done"
    assert due_outcome(Facts(is_open=False)) == "nothing_left"
    assert due_outcome(Facts(is_open=False, has_waited=True)) == "no_partner", "which is paid for"
    assert due_outcome(Facts(is_open=False, is_playing=True)) is None, "what is being played still counts"
    assert due_outcome(Facts(is_banned=True, is_complete=True, is_playing=True)) == "failed_check"


def test_games_add_up_to_the_requirements_and_the_bonus(world):
    ada = world.come("ada")
    assert world.visits.give(ada).name == "inside_out"
    world.play(ada, {"inside_out.good": 100, "inside_out.all": 100}, seconds=100)
    assert world.visits.get(ada).earned.completion == pytest.approx(1 / 3)
    assert world.studies.facts(ada).is_complete is False
    world.play(ada, {"inside_out.good": 50, "inside_out.all": 100}, seconds=200)
    earned = world.visits.get(ada).earned
    # 150 x min(1, 150/200) x 2 x (150/200 - 1/2) = 56.25, rounded up.
    assert (earned.completion, earned.bonus_cents, earned.cents) == (1.0, 57, 132)
    ended = world.finish(ada)
    assert (ended.outcome, ended.variant, ended.variant_reason, ended.accepted_s) == ("done", "inside_out", "target", 300.0)
    assert payments(world) == [("reward", "ada", 75), ("bonus", "ada", 57)]


def test_who_leaves_before_the_requirements_are_met_earns_nothing_and_counts_for_nothing(world):
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {"inside_out.good": 200, "inside_out.all": 200}, seconds=299)
    world.studies.finish(ada, "withdrawn")
    assert world.again(ada).accepted_s == 0.0
    assert payments(world) == []
    assert world.visits.stands(world.study)[0].ended == 1


def test_a_game_that_is_not_saved_yet_is_waited_for_and_not_for_ever(world):
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {}, is_sealed=False, state="playing")
    assert world.visits.get(ada).is_playing
    bob = world.come("bob")
    world.visits.give(bob)
    world.play(bob, {}, is_sealed=False, state="interrupted")
    assert world.visits.get(bob).is_playing
    world.now += timedelta(minutes=11)
    assert not world.visits.get(bob).is_playing


def test_a_study_with_a_number_of_games_ends_with_the_last(archive):
    world = PlayWorld(archive, STUDY.replace("[pay]", "[play]\nmax_games = 2\n[pay]"))
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {}, seconds=100)
    assert due_outcome(world.studies.facts(ada)) is None
    world.play(ada, {}, seconds=100)
    assert due_outcome(world.studies.facts(ada)) == "nothing_left"


@pytest.mark.parametrize("meanwhile", ["goes on", "is closed", "has no more games"])
def test_who_closes_the_window_when_everything_is_reached_is_paid_all_the_same(archive, meanwhile):
    limit = "[play]\nmax_games = 1\n" if meanwhile == "has no more games" else ""
    world = PlayWorld(archive, STUDY.replace("[pay]", f"{limit}[pay]"))
    ada, bob = world.come("ada"), world.come("bob")
    for one, seconds in ((ada, 300), (bob, 200)):
        world.visits.give(one)
        world.play(one, {}, seconds=seconds)
    if meanwhile == "is closed":
        world.studies.close("orders")
    assert world.studies.finish_left("orders") == 0, "they may still be there"
    world.now += timedelta(minutes=31)
    assert world.studies.finish_left("orders") == 1
    assert (world.again(ada).outcome, world.again(bob).outcome) == ("done", None)
    assert payments(world) == [("reward", "ada", 75)]


def test_a_game_that_was_saved_counts_though_the_server_was_killed_before_it_noted_the_end(world):
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {"inside_out.good": 200, "inside_out.all": 200}, seconds=300, state="playing")
    visit = world.visits.get(ada)
    assert (len(visit.games), visit.is_playing, visit.earned.cents) == (1, False, 225)


# What stays


def test_what_was_earned_stays_when_statistics_are_measured_again_or_games_come_late(world, archive):
    ada = world.come("ada")
    world.visits.give(ada)
    episode = world.play(ada, {"inside_out.good": 200, "inside_out.all": 200}, seconds=300)
    world.finish(ada)
    before = payments(world)
    assert before == [("reward", "ada", 75), ("bonus", "ada", 150)]
    with archive.database.write() as session:
        key = {"episode_id": episode, "seat": "player", "actor": f"participant-{ada.participant_id}", "name": "inside_out"}
        session.get_one(SeatStatistic, key).counts = {"good": 0, "all": 500}
    world.play(ada, {"inside_out.good": 0, "inside_out.all": 500})
    assert world.finish(ada).outcome == "done"
    assert payments(world) == before
    explained = Payroll(archive.database).explain("orders", ada.id).to_json()
    assert (explained["is_final"], explained["agrees"], explained["bonus_cents"]) == (True, True, 150)
    assert [one["episode"] for one in explained["games"]] == [episode]
    assert world.visits.get(ada).earned.cents == 225, "the page of the end says what is paid"


def test_a_seats_successor_cannot_change_the_pay_of_who_sat_there_before(world, archive):
    """Ada leaves in the middle; whoever takes the seat plays on, scores, and spoils the order."""
    ada = world.come("ada")
    world.visits.give(ada)
    bob = world.come("bob")
    successor = EpisodeSeat(
        seat="player", actor=f"participant-{bob.participant_id}", actor_kind="human", num_steps=60_000, total_reward=9_999.0,
        position=1, participant_id=bob.participant_id,
    )  # fmt: skip
    episode = world.play(ada, {"inside_out.good": 100, "inside_out.all": 100}, seconds=300, score=120.0, others=(successor,))
    with archive.database.write() as session:
        measured(session, episode, successor.actor, {"inside_out.good": 0.0, "inside_out.all": 500.0})
    statistics = world.visits.get(ada).games[0].statistics
    assert statistics == {
        "games": 1.0, "time": 300.0, "score": 120.0, "inside_out.good": 100.0, "inside_out.all": 100.0,
    }  # fmt: skip
    world.finish(ada)
    assert payments(world) == [("reward", "ada", 75), ("bonus", "ada", 75)]


MEASURED = st.dictionaries(st.sampled_from(["good", "all"]), st.integers(0, 500).map(float), min_size=1)
HELD = st.tuples(st.sampled_from(["player", "other"]), st.integers(2, 9), st.integers(0, 9_000), st.floats(-1e6, 1e6), MEASURED)


@given(
    mine=st.tuples(st.integers(0, 30_000), st.integers(0, 500), MEASURED),
    others=st.lists(HELD, max_size=4),
    first=st.booleans(),
)
def test_pay_follows_from_what_one_did_whoever_else_held_the_seat_before_or_after(mine, others, first):
    """Every treatment that ships, for one person's part of a game, alone and among the parts of others."""
    steps, score, counts = mine
    task = find(TASK)

    def earned(parts) -> list[tuple[float, int, int]]:
        seats, measures = [], []
        for seat, person, num_steps, reward, measured_counts in parts:
            actor = f"participant-{person}"
            held = {"actor_kind": "human", "num_steps": num_steps, "total_reward": float(reward), "participant_id": person}
            seats.append(EpisodeSeat(seat=seat, actor=actor, position=len(seats), **held))
            value = {"kind": "float", "number": None, "counts": measured_counts}
            measures.append(SeatStatistic(episode_id="e", seat=seat, actor=actor, name="inside_out", **value))
        episode = EpisodeRow(**episode_values(task, "participant-1", 1, id="e"), seats=seats)
        session = PlaySession(id="s", task=TASK, task_hash="", seed=1, created_at=START, actor="", actor_kind="human")
        game = statistics_of(PlayedSession(session, episode, 60.0, measures), episode, "player", 1)
        found = [one.earned([game]) for one in TREATMENTS]
        return [(one.completion, one.bonus_cents, one.cents) for one in found]

    own = ("player", 1, steps, score, counts)
    assert earned([own, *others] if first else [*others, own]) == earned([own])


def seat_given(world: PlayWorld, enrolment, name: str, episode: str | None = None) -> None:
    """Another seat for somebody, not bound to their visit yet; with an episode it is over."""
    with world.database.write() as session:
        sessions.open_session(
            session, id=name, task=TASK, task_hash="", seed=1, actor="", actor_kind="human",
            participant_id=enrolment.participant_id, seat="player", now=world.now,
        )  # fmt: skip
        session.flush()
        if episode is not None:
            sessions.set_session_state(session, name, "ended", episode_id=episode, now=world.now)


def test_of_two_seats_asked_for_at_once_one_belongs_to_the_visit(world):
    """Two games at once would count the same seconds twice."""
    ada = world.come("ada")
    world.visits.give(ada)
    names = [f"seat-{number}" for number in range(4)]
    for name in names:
        seat_given(world, ada, name)
    with ThreadPoolExecutor(4) as threads:
        assert sorted(threads.map(lambda name: world.visits.bind(ada, name), names)) == [False, False, False, True]


def test_who_leaves_a_seat_and_comes_back_to_it_has_played_one_game(world):
    ada = world.come("ada")
    world.visits.give(ada)
    episode = world.play(ada, {"inside_out.good": 100, "inside_out.all": 100}, seconds=150)
    seat_given(world, ada, "again", episode)
    assert world.visits.bind(ada, "again")
    assert [game.statistics["time"] for game in world.visits.get(ada).games] == [150.0]


def test_the_ledger_refuses_to_be_changed(world, archive):
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {"inside_out.good": 200, "inside_out.all": 200}, seconds=300)
    world.finish(ada)
    for statement in ("UPDATE pay_events SET amount_cents = 1", "DELETE FROM pay_events"):
        with pytest.raises(Exception, match="pay_events are only ever added"), archive.database.write() as session:
            session.execute(text(statement))


def test_ending_twice_writes_one_line(world):
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {"inside_out.good": 200, "inside_out.all": 200}, seconds=300)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: world.finish(ada), range(8)))
    assert payments(world) == [("reward", "ada", 75), ("bonus", "ada", 150)]


def test_who_has_reached_everything_and_leaves_is_paid_as_who_finishes(world):
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {}, seconds=300)
    assert world.studies.leave(ada).outcome == "done"
    assert payments(world) == [("reward", "ada", 75)]


# Waiting for a partner

WAITING = STUDY.replace("[pay]", "[waiting]\nafter_s = 120\npay = 0.40\n[pay]")


def test_who_waited_long_enough_and_leaves_is_paid_for_waiting_and_nothing_else(archive):
    world = PlayWorld(archive, WAITING.replace("reward = 0.75", "reward = 0.75\nhourly_target = 12"))
    ada, bob = world.come("ada"), world.come("bob")
    for one, seconds in ((ada, 130), (bob, 90)):
        world.visits.give(one)
        world.wait(one, seconds)
    assert [world.studies.facts(one).has_waited for one in (ada, bob)] == [True, False]
    assert [world.studies.leave(one).outcome for one in (ada, bob)] == ["no_partner", "withdrawn"]
    assert payments(world) == [("bonus", "ada", 40)], "no reward, no top-up"
    explained = Payroll(archive.database).explain("orders", ada.id).to_json()
    assert (explained["agrees"], explained["reward_cents"], explained["bonus_cents"]) == (True, 0, 40)
    assert explained["waited"] == {"after_s": 120.0, "pay_cents": 40, "variant": "inside_out", "waited_s": 130}
    assert world.studies.leave(ada).outcome == "no_partner"
    assert len(payments(world)) == 1, "once"


def test_waits_that_are_short_or_before_a_game_or_of_a_complete_visit_are_not_paid_for(archive):
    world = PlayWorld(archive, WAITING)
    short, played, complete = world.come("short"), world.come("played"), world.come("complete")
    for one in (short, played, complete):
        world.visits.give(one)
    for _ in range(2):
        world.wait(short, 100)
    world.wait(played, 200)
    world.play(played, {}, seconds=10)
    world.play(complete, {}, seconds=300)
    world.wait(complete, 200)
    assert not any(world.studies.facts(one).has_waited for one in (short, played, complete))
    world.wait(played, 200)
    world.wait(played, 3)  # once more, and not for long
    assert world.studies.facts(played).has_waited


def test_who_waited_long_enough_and_closes_the_window_is_paid_all_the_same(archive):
    world = PlayWorld(archive, WAITING)
    ada = world.come("ada")
    world.visits.give(ada)
    world.wait(ada, 125)
    world.studies.close("orders")
    assert world.studies.finish_left("orders") == 0
    world.now += timedelta(minutes=31)
    assert world.studies.finish_left("orders") == 1
    assert payments(world) == [("bonus", "ada", 40)]


# Questions about partners

ASKED = STUDY.replace("[pay]", '[questions]\nuse = "teamwork"\n[pay]')
STATEMENTS = dict.fromkeys(("fluency", "contribution", "predictable", "adapted", "trust", "enjoyed"), "4")


def test_questions_come_between_games_are_kept_once_and_change_no_pay(archive):
    world = PlayWorld(archive, ASKED)
    ada = world.come("ada")
    world.visits.give(ada)
    first = world.play(ada, {"inside_out.good": 200, "inside_out.all": 200}, seconds=150, partner="scripted")
    assert next_step(world.studies.facts(ada)) == "questions"
    assert world.visits.answer(ada, f"partner:{first}", STATEMENTS)
    assert not world.visits.answer(ada, f"partner:{first}", STATEMENTS), "once"
    assert next_step(world.studies.facts(ada)) == "work"
    second = world.play(ada, {"inside_out.good": 200, "inside_out.all": 200}, seconds=150, partner="random")
    assert world.visits.answer(ada, f"partner:{second}", None), "skipped"
    assert not world.visits.answer(ada, f"partner:{second}", STATEMENTS)
    assert world.visits.form(ada).key == f"comparison:{second}"
    assert world.visits.answer(ada, f"comparison:{second}", {"team": "first", "skill": "second", "prefer": "same"})
    assert world.visits.form(ada) is None
    found = world.visits.answers("orders")
    two = [one for one in found if one.question in ("trust", "prefer")]
    assert [(one.form, one.game, one.partner, one.question, one.value) for one in two] == [
        ("partner", 1, "scripted", "trust", "4"), ("partner", 2, "random", "trust", None),
        ("comparison", 2, "random", "prefer", "same"),
    ]  # fmt: skip
    assert (found[-1].before_partner, found[-1].before_episode, found[-1].label) == ("scripted", first, "No difference")
    answers = {question: partner_comparisons(world.database, question) for question in ("team", "skill", "prefer")}
    assert [(one.left, one.right, one.outcome, one.task) for (one,) in answers.values()] == [
        ("scripted", "random", outcome, TASK) for outcome in ("left", "right", "draw")
    ]
    assert [row.agent for row in leaderboard(answers["skill"])] == ["random", "scripted"]
    with pytest.raises(NotFoundError, match="did you mean 'prefer'"):
        partner_comparisons(world.database, "prefers")
    world.finish(ada)
    assert payments(world) == [("reward", "ada", 75), ("bonus", "ada", 150)]
    with world.database.write() as session:
        ban(session, judge=answers["team"][0].judge, reason="a program", now=world.now)
    with pytest.raises(NotFoundError, match="unknown question 'prefer'"):
        partner_comparisons(world.database, "prefer")


def test_who_is_asked_in_the_end_is_not_ended_before_and_is_paid_if_they_go_without_answering(archive):
    world = PlayWorld(archive, ASKED.replace("[pay]", "[play]\nmax_games = 1\n[pay]"))
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {}, seconds=300, partner="scripted")
    assert due_outcome(world.studies.facts(ada)) is None
    world.now += timedelta(minutes=31)
    assert world.studies.finish_left("orders") == 1
    assert payments(world) == [("reward", "ada", 75)]


def test_nobody_is_asked_about_a_game_for_one_or_without_a_step(archive):
    world = PlayWorld(archive, ASKED)
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {}, seconds=60)
    world.play(ada, {}, seconds=0, partner="scripted")
    assert world.visits.form(ada) is None


# Quizzes of variants


def test_a_variant_with_a_quiz_of_its_own_asks_that_one_and_other_variants_the_studys(archive):
    text = STUDY.replace("[pay]", '[play]\nchoice = "chosen"\n[quiz]\nquiz = "atari"\nattempts = 2\n[pay]')
    world = PlayWorld(archive, text.replace("[channels", '[variants.quiz]\nquiz = "inside_out"\n[channels') + SECOND)
    ada = world.come("ada")
    assert next_step(world.studies.facts(ada)) == "work", "a variant comes first"
    world.visits.give(ada, chosen="inside_out")
    assert next_step(world.studies.facts(ada)) == "quiz"
    ada = world.again(ada)
    assert world.studies.quiz_of(ada).quiz.id == "inside_out"
    assert world.studies.take_quiz(ada, [])
    assert due_outcome(world.studies.facts(ada)) == "screened_out", "the only attempt at this one"
    world.studies.finish_if_due(ada, world.studies.facts(ada))
    again = world.come("ada", "ada-2")
    world.visits.give(again, chosen="outside_in")
    again = world.again(again)
    assert world.studies.quiz_of(again).quiz.id == "atari"
    assert (next_step(world.studies.facts(again)), world.studies.attempts(again)) == ("quiz", [])


# What is given


def test_a_variant_is_given_once_and_two_who_come_at_once_are_counted(archive):
    world = PlayWorld(archive, STUDY + SECOND)
    people = [world.come(f"p{number}") for number in range(8)]
    with ThreadPoolExecutor(4) as threads:
        given = [one.name for one in threads.map(world.visits.give, people)]
    assert sorted(given) == ["inside_out"] * 4 + ["outside_in"] * 4
    assert [world.visits.give(one).name for one in people] == given


def test_accepted_time_draws_the_next_people_to_the_other_variant(archive):
    world = PlayWorld(archive, STUDY + SECOND)
    ada = world.come("ada")
    first = world.visits.give(ada).name
    world.play(ada, {}, seconds=3000)
    world.finish(ada)
    others = [world.visits.give(world.come(f"p{number}")).name for number in range(4)]
    assert first not in others


def test_people_who_vanished_do_not_count_as_working(archive):
    world = PlayWorld(archive, STUDY + SECOND)
    world.visits.give(world.come("ada"))
    assert sum(one.working for one in world.visits.stands(world.study)) == 1
    world.now += timedelta(hours=2)
    assert sum(one.working for one in world.visits.stands(world.study)) == 0


def test_a_person_chooses_among_what_is_on_offer_to_them(archive):
    world = PlayWorld(archive, CHOSEN)
    ada = world.come("ada")
    assert world.visits.give(ada) is None
    assert [one.name for one in world.visits.offered(ada)] == ["inside_out", "outside_in"]
    with pytest.raises(NotFoundError, match="unknown task 'outside_on'; did you mean 'outside_in'"):
        world.visits.give(ada, chosen="outside_on")
    assert world.visits.give(ada, chosen="outside_in").name == "outside_in"
    assert world.again(ada).variant_reason == "chosen"
    world.play(ada, {}, seconds=300)
    world.finish(ada)
    again = world.come("ada", "ada-2")
    assert [one.name for one in world.visits.offered(again)] == ["inside_out"], "outside_in may be played once"


def test_a_link_names_the_variant_only_where_the_study_lets_it(archive):
    world = PlayWorld(archive, STUDY + SECOND)
    given = {world.visits.give(world.come(f"p{number}", task="outside_in")).name for number in range(2)}
    assert given == {"inside_out", "outside_in"}
    open_to_links = PlayWorld(archive, STUDY.replace("[pay]", "[play]\nby_link = true\n[pay]") + SECOND)
    people = [open_to_links.come(f"q{number}", task="outside_in") for number in range(3)]
    assert {open_to_links.visits.give(one).name for one in people} == {"outside_in"}
    assert open_to_links.visits.give(open_to_links.come("r", task="nothing")) is not None


# Raffles and explanations


def test_a_raffle_is_drawn_once_after_the_study_is_closed_and_paid_like_a_bonus(archive):
    world = PlayWorld(archive, STUDY.replace("[pay]", "[raffle]\nwinners = 2\nprize = 25\n[pay]"))
    payroll = Payroll(archive.database, lambda: world.now)
    for number in range(5):
        one = world.come(f"p{number}")
        world.visits.give(one)
        world.play(one, {}, seconds=300 if number else 10)
        world.studies.finish(one, "done" if number else "withdrawn")
    with pytest.raises(StudyError, match="orders is open, and people may still finish\nClose it first:  interplay study close"):
        payroll.raffle("orders", seed=1)
    world.studies.close("orders")
    drawn = payroll.raffle("orders", seed=2026)
    assert (drawn.is_new, drawn.entries, len(drawn.winners)) == (True, 4, 2)
    assert "p0" not in [worker for _, _, worker in drawn.winners], "who withdrew has no ticket"
    again = payroll.raffle("orders")
    assert (again.is_new, again.winners) == (False, drawn.winners)
    with pytest.raises(StudyError, match="drawn before, with the seed 2026"):
        payroll.raffle("orders", seed=7)
    prizes = [one for one in payments(world) if one[0] == "bonus"]
    assert sorted(prizes) == sorted(("bonus", worker, 2500) for _, _, worker in drawn.winners)


def test_a_study_without_a_raffle_and_one_that_nobody_finished_draw_nothing(world, archive):
    with pytest.raises(StudyError, match="orders has no raffle\nRemedy: add \\[raffle\\] with winners and prize"):
        Payroll(archive.database).raffle("orders")


def test_an_hourly_target_counts_what_was_earned(archive):
    world = PlayWorld(archive, STUDY.replace("reward = 0.75", "reward = 0.75\nhourly_target = 12"))
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {"inside_out.good": 150, "inside_out.all": 200}, seconds=900)
    world.finish(ada)
    # A quarter of an hour is worth 3.00: 0.75 and 0.57 are there, 1.68 are missing.
    assert payments(world) == [("reward", "ada", 75), ("bonus", "ada", 57), ("bonus", "ada", 168)]


def test_what_a_visit_without_a_target_earned_does_not_lessen_the_top_up_of_another():
    """The study got its hourly target in a later version: 900 s are worth 3.00, 0.75 of it is the reward."""
    before, now = Visit("a", "ada", "a-1", "", 900, 75), Visit("b", "ada", "a-2", "", 900, 75, hourly_cents=1200)
    events = [Event("a", "earned", "due", 57, "earned:a")]
    assert [(one.kind, one.visit.enrolment, one.amount_cents) for one in plan([before, now], events)] == [
        ("reward", "a", 75), ("reward", "b", 75), ("bonus", "a", 57), ("bonus", "b", 225)
    ]  # fmt: skip


def test_every_cent_is_explained_also_of_a_visit_that_goes_on(world, archive):
    ada = world.come("ada")
    world.visits.give(ada)
    world.play(ada, {"inside_out.good": 3, "inside_out.all": 4, "unused": 9}, seconds=30)
    explained = Payroll(archive.database).explain("orders", ada.id).to_json()
    assert json.loads(json.dumps(explained)) == explained
    assert (explained["outcome"], explained["is_final"], explained["reward_cents"]) == ("working", False, 0)
    assert explained["games"][0]["statistics"] == {"time": 30.0, "inside_out.good": 3.0, "inside_out.all": 4.0}
    assert explained["requirements"] == [{"label": "Time played", "achieved": 30.0, "required": 300.0, "share": 0.1}]
    with pytest.raises(NotFoundError, match="unknown enrolment 'nobody'"):
        Payroll(archive.database).explain("orders", "nobody")
