"""High scores: which games count, how somebody stands among others, and the histogram."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from play_world import PlayWorld
from played_games import add_game

from interplay import testing
from interplay.record.verification import proofs
from interplay.store import Ban, EpisodeRow, EpisodeSeat, PlaySession
from interplay.store.participants import add_participant
from interplay.study.scores import Scores, bins, standing, today
from interplay.tasks import find

NOW = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
TASK = find("atari/breakout")
VALUES = st.lists(st.one_of(st.integers(-50, 2000).map(float), st.floats(-1e6, 1e6)), min_size=1, max_size=40)


@pytest.fixture
def people(archive):
    """Numbers of five people."""
    with archive.database.write() as session:
        return [add_participant(session, f"k{number}", NOW).id for number in range(5)]


@given(VALUES, st.floats(-1e6, 1e6), st.booleans())
def test_a_standing_is_what_counting_one_by_one_gives(others, value, is_lower_better):
    found = standing(value, others, is_lower_better=is_lower_better)
    worse = sum(one > value if is_lower_better else one < value for one in others)
    equal = sum(one == value for one in others)
    assert found.percentile == math.floor(100 * (worse + equal / 2) / len(others))
    assert found.rank == len(others) - worse - equal + 1


def test_who_is_alone_has_no_percentile_and_the_best_is_not_better_than_all():
    assert standing(5, []).percentile is None
    assert standing(5, [5]).percentile == 50
    assert standing(9, [1, 2, 3]).percentile == 100


@given(VALUES, st.lists(st.floats(-1e6, 1e6), max_size=3))
def test_a_histogram_counts_every_value_once_and_has_room_for_marks(values, marks):
    found = bins(values, marks)
    assert sum(found.counts) == len(values)
    assert len(found.counts) <= 24
    for one in (*values, *marks):
        place = found.place(one)
        slack = found.width * 1e-6
        assert found.low + place * found.width - slack <= one <= found.low + (place + 1) * found.width + slack


def test_a_histogram_of_whole_numbers_has_whole_edges():
    found = bins([3, 3, 3], is_whole=True)
    assert (found.low, found.width, found.counts) == (3, 1, (3,))


def test_everybody_has_one_line_and_the_own_one_is_marked_however_far_down(archive, people):
    with archive.database.write() as session:
        for minute, (person, score) in enumerate(zip([0, 1, 1, 2, 3], [10, 30, 20, 30, 1], strict=True)):
            add_game(session, TASK, {people[person]: score}, at=NOW + timedelta(minutes=minute))
        for number in range(12):
            other = add_participant(session, f"o{number}", NOW).id
            add_game(session, TASK, {other: 50.0 + number}, at=NOW, id=f"o{number}")
    board = Scores(archive.database).board(TASK, person=people[3])
    assert len(board.values) == 16
    assert len(board.top) == 11
    assert [one.rank for one in board.top] == [*range(1, 11), 16]
    assert [one.is_own for one in board.top] == [False] * 10 + [True]
    assert (board.own.rank, board.own.others, board.own.percentile) == (16, 15, 0)
    full = Scores(archive.database).board(TASK, person=people[1])
    assert (full.own.value, full.own.rank) == (30, 13)  # of two with 30, both are 13th


@pytest.mark.parametrize(
    ("how", "changes"),
    [("left", {"outcome": "left"}), ("stopped", {"outcome": "quit"}), ("another version", {"task_hash": "0" * 64})],
)
def test_what_is_not_complete_or_of_another_version_does_not_count(archive, people, how, changes):
    with archive.database.write() as session:
        add_game(session, TASK, {people[0]: 5}, **changes)
    assert Scores(archive.database).board(TASK).values == ()


def test_nobody_brings_a_score_in_by_a_file_or_by_an_agent(archive, people):
    """An episode without a session of this server, one of somebody else's session, one in which an agent acted for a while."""
    with archive.database.write() as session:
        add_game(session, TASK, {people[0]: 900}, id="imported")
        session.query(PlaySession).delete()
        add_game(session, TASK, {people[1]: 800}, id="anothers")
        session.query(PlaySession).one().participant_id = people[2]
        add_game(session, TASK, {people[3]: 700}, id="helped")
        agent = EpisodeSeat(seat="player", actor="scripted", actor_kind="agent", num_steps=50, total_reward=1, position=1)
        helped = session.get(EpisodeRow, "helped")
        helped.seats.append(agent)
        add_game(session, TASK, {people[4]: 3}, id="own")
    assert [one.episode for one in Scores(archive.database).board(TASK).top] == ["own"]


def test_banned_people_and_pupils_of_classes_are_left_out(archive, people):
    with archive.database.write() as session:
        pupil = add_participant(session, "p", NOW, channel="class", worker="RT39CH/Ada").id
        for person in (*people[:2], pupil):
            add_game(session, TASK, {person: person})
        session.add(Ban(judge=f"participant-{people[0]}", reason="a program", created_at=NOW))
    assert [one.participant for one in Scores(archive.database).board(TASK).top] == [people[1]]


def test_today_begins_at_midnight_and_a_lower_number_can_be_better(archive, people):
    with archive.database.write() as session:
        for person, lost, at in ((0, 3, NOW), (1, 1, NOW), (2, 0, NOW - timedelta(hours=16))):
            add_game(session, TASK, {people[person]: 1}, at=at, statistics={"lives_lost": lost})
    scores = Scores(archive.database)
    board = scores.board(TASK, statistic="lives_lost", is_lower_better=True, since=today(NOW), person=people[0])
    assert [(one.participant, one.value) for one in board.top] == [(people[1], 1), (people[0], 3)]
    assert board.own.percentile == 0
    assert len(scores.board(TASK, statistic="lives_lost", is_lower_better=True).values) == 3
    assert scores.board(TASK, statistic="accuracy").values == ()


def test_agents_are_averages_of_their_own_complete_episodes(archive, people):
    with archive.database.write() as session:
        for seed, score in ((1, 10), (2, 20)):
            testing.add_episode(session, TASK, "scripted", seed, total_reward=score)
        testing.add_episode(session, TASK, "random", 1, total_reward=99, outcome="quit")
    [agent] = Scores(archive.database).board(TASK).agents
    assert (agent.agent, agent.mean, agent.episodes) == ("scripted", 15, 2)


def test_an_episode_that_is_not_what_was_recorded_is_left_out_and_the_next_one_counts(archive, people):
    with archive.database.write() as session:
        add_game(session, TASK, {people[0]: 50}, id="altered")
        add_game(session, TASK, {people[0]: 20}, id="right")
    assert [one.value for one in Scores(archive.database).board(TASK, without=["altered"]).top] == [20]
    assert proofs.kept(archive.root, "altered", "0" * 64) is None


def test_a_proof_is_of_one_file(archive):
    path = proofs.proof_path(archive.root, "e")
    path.parent.mkdir(parents=True)
    path.write_text('{"equal": true, "sha256": "a"}')
    assert proofs.kept(archive.root, "e", "a") is True
    assert proofs.kept(archive.root, "e", "b") is None
    path.write_text("{")
    assert proofs.kept(archive.root, "e", "a") is None


def test_others_of_a_variant_are_those_of_its_visits(archive, people):
    world = PlayWorld(archive)
    space = find("atari/space_invaders")
    one, other = (world.come(name) for name in ("A", "B"))
    for enrolment, value in ((one, 0.4), (other, 0.9)):
        world.visits.give(enrolment)
        with archive.database.write() as session:
            person = enrolment.participant_id
            add_game(session, space, {person: 1}, enrolment=enrolment.id, statistics={"inside_out": value})
    with archive.database.write() as session:
        add_game(session, space, {people[0]: 1}, statistics={"inside_out": 0.1})
    scores = Scores(archive.database)
    visit = ("orders", "inside_out")
    assert scores.of_visits(space, visit, statistic="inside_out") == {one.participant_id: 0.4, other.participant_id: 0.9}
    assert scores.board(space).values == (1,)  # of open play; the two are paid
