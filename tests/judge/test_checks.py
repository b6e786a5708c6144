"""Checks on judges: when they are due, what they show, that nobody can tell them apart, and what they tell."""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import START, TASKS, add_episode, episode_id, fill, form, open_study
from starlette.testclient import TestClient

from interplay.judge import Judging
from interplay.judge.serving.checks import HURRY_S, CheckedAnswer, checks_due, summarise
from interplay.play.connections.tokens import operator_token
from interplay.store import Answer, Entrant, Match
from interplay.store import entrants as store_entrants
from interplay.store import judging as store
from interplay.tasks import find
from interplay.web.app import create_app

TASK = TASKS[0]


def room(archive, clock, **judging) -> Judging:
    """A room over six agents with a study called lab."""
    fill(archive, agents=[f"agent-{number}" for number in range(6)], num_seeds=5)
    open_study(archive, **judging)
    return Judging(archive, rng=np.random.default_rng(0), clock=clock)


def go_on(judging, judge: str, num: int, outcome=lambda match: "left") -> list[Match]:
    """Let a judge answer so many matches of the study; returns what they were."""
    matches = []
    for _ in range(num):
        served = judging.serve(judge, study="lab")
        with judging.database.read() as session:
            match = store.match_by_id(session, served.id)
        matches.append(match)
        judging.answer(served.id, judge, study=served.study, **form(served.task, outcome(match)))
        judging._clock.advance(60)
    return matches


# When


def test_each_block_has_one_check_at_any_place_alike():
    rng = np.random.default_rng(0)
    places = Counter()
    answered: list[str] = []
    num_blocks = 2000
    for _ in range(num_blocks * 5):
        due = checks_due(5, None, answered, rng)
        if due:
            assert due == ("attention",)
            places[len(answered) % 5] += 1
        answered.append("attention" if due else "rating")
    assert sum(places.values()) == num_blocks
    for place in range(5):  # five standard deviations
        assert abs(places[place] - num_blocks / 5) < 5 * math.sqrt(num_blocks * 0.16), places


def test_without_a_number_nothing_is_due():
    assert not any(checks_due(None, None, ["rating"] * number, np.random.default_rng(0)) for number in range(50))


@pytest.mark.parametrize(("attention", "repeat"), [(3, 6), (4, 4), (5, 7), (3, 8)])
def test_each_block_of_either_kind_has_its_check_where_both_fall_on_one_place(attention, repeat):
    rng = np.random.default_rng(0)
    answered: list[str] = []
    for _ in range(attention * repeat * 100):
        due = checks_due(attention, repeat, answered, rng)
        answered.append(due[0] if due else "rating")
    for purpose, every in (("attention", attention), ("repeat", repeat)):
        blocks = [answered[begin : begin + every] for begin in range(0, len(answered), every)]
        assert {block.count(purpose) for block in blocks} == {1}


def test_a_place_goes_to_the_check_with_fewer_places_left():
    rng = np.random.default_rng(0)
    found = [checks_due(3, 6, ["rating"] * 2, rng) for _ in range(200)]
    assert set(found) == {("attention",), ("attention", "repeat")}
    found = [checks_due(4, 4, ["rating"] * 2, rng) for _ in range(200)]  # two places, two checks
    assert {due[0] for due in found} == {"attention", "repeat"}


# What


def test_attention_checks_show_one_video_twice_where_no_pair_is_known(archive, clock):
    judging = room(archive, clock, attention_every=4)
    matches = go_on(judging, "eve", 16)
    checks = [match for match in matches if match.purpose == "attention"]
    assert [sum(match.purpose == "attention" for match in matches[begin : begin + 4]) for begin in (0, 4, 8, 12)] == [1] * 4
    assert all(match.left_episode_id == match.right_episode_id and match.expected == "draw" for match in checks)
    assert len({match.left_episode_id for match in checks}) == 4


def test_attention_checks_show_known_pairs_with_sides_drawn(archive, clock):
    seed = find(TASK).held_out_seeds[0]
    sides = {"left": episode_id(TASK, "agent-0", seed), "right": episode_id(TASK, "agent-1", seed)}
    known = [{"task": TASK, **sides, "expected": "left"}]
    judging = room(archive, clock, attention_every=2, attention_checks=known)
    found = set()
    for number in range(40):
        for match in go_on(judging, f"judge-{number}", 2):
            if match.purpose == "attention":
                assert {match.left_episode_id, match.right_episode_id} == {known[0]["left"], known[0]["right"]}
                assert match.expected == ("left" if match.left_agent == "agent-0" else "right")
                found.add(match.expected)
    assert found == {"left", "right"}


def test_a_repeat_is_a_pair_of_before_with_sides_swapped(archive, clock):
    judging = room(archive, clock, repeat_every=4)
    matches = go_on(judging, "eve", 24)
    by_id = {match.id: (place, match) for place, match in enumerate(matches)}
    repeats = [match for match in matches if match.purpose == "repeat"]
    assert len(repeats) >= 4
    for match in repeats:
        place, first = by_id[match.repeat_of]
        assert first.purpose == "rating"
        assert by_id[match.id][0] - place > 2
        assert (match.left_episode_id, match.right_episode_id) == (first.right_episode_id, first.left_episode_id)
        assert match.expected == "right"  # all were answered left
    assert len({match.repeat_of for match in repeats}) == len(repeats)


def test_giving_a_check_back_is_no_way_round_it(archive, clock):
    judging = room(archive, clock, attention_every=3)
    given_back = 0
    for _ in range(12):
        served = judging.serve("eve", study="lab")
        with judging.database.read() as session:
            match = store.match_by_id(session, served.id)
        if match.purpose == "attention":
            for _again in range(3):
                judging.release(served.id, "eve")
                clock.advance(1)
                served = judging.serve("eve", study="lab")
                with judging.database.read() as session:
                    assert store.match_by_id(session, served.id).purpose == "attention"
                given_back += 1
        judging.answer(served.id, "eve", study="lab", **form(served.task))
        clock.advance(60)
    assert given_back == 12


def test_the_open_room_has_no_checks(archive, clock):
    judging = room(archive, clock, attention_every=4, repeat_every=4)
    for _ in range(10):
        served = judging.serve("eve", judge_kind="program")
        judging.answer(served.id, "eve", **form(served.task))
    with judging.database.read() as session:
        assert set(session.scalars(sa.select(Answer.purpose))) == {"rating"}


def withdraw(archive, agent: str) -> None:
    with archive.database.write() as session:
        store_entrants.withdraw(session, name=agent, now=START)


def test_pairs_with_a_withdrawn_agent_are_not_repeated(archive, clock):
    judging = room(archive, clock, repeat_every=4)
    go_on(judging, "eve", 12)
    withdraw(archive, "agent-0")
    matches = go_on(judging, "eve", 16)
    assert any(match.purpose == "repeat" for match in matches)
    assert all("agent-0" not in (match.left_agent, match.right_agent) for match in matches)


@pytest.mark.parametrize("state", ["withdrawn", "waiting"])
def test_known_pairs_with_an_agent_that_is_not_shown_are_passed_over(archive, clock, state):
    seed = find(TASK).held_out_seeds[0]
    if state == "waiting":
        add_episode(archive, TASK, "other", seed)
        with archive.database.write() as session:
            session.add(Entrant(name="other", task=TASK, kind="agent", created_at=START))
    known = [
        {"task": TASK, "left": episode_id(TASK, "agent-1", seed), "right": episode_id(TASK, agent, seed), "expected": "left"}
        for agent in ("agent-2", "agent-0" if state == "withdrawn" else "other")
    ]
    judging = room(archive, clock, attention_every=2, attention_checks=known)
    if state == "withdrawn":
        withdraw(archive, "agent-0")
    shown = [match for n in range(12) for match in go_on(judging, f"judge-{n}", 4) if match.purpose == "attention"]
    assert all(not {"agent-0" if state == "withdrawn" else "other"} & {one.left_agent, one.right_agent} for one in shown)
    assert any(match.expected != "draw" for match in shown)


# Nobody can tell


def test_a_check_looks_like_any_other_match(archive, clock):
    judging = room(archive, clock, attention_every=4, repeat_every=4)
    client = TestClient(
        create_app(archive, judging=judging), headers={"Authorization": f"Bearer {operator_token(archive.root)}"}
    )
    shapes = {}
    for number in range(30):
        document = client.post("/api/judge/matches", json={"judge": "eve", "study": "lab"}).json()
        match_id = document["match"]
        with archive.database.read() as session:
            purpose = store.match_by_id(session, match_id).purpose
        seen = []
        for side in ("left", "right"):
            video = client.get(document[side]["video"], params={"judge": "eve"})
            assert video.status_code == 200
            headers = {name for name in video.headers if name != "content-length"}
            seen.append((sorted(headers), video.headers["etag"].replace(match_id, "ID")))
        beat = client.post(f"/api/judge/matches/{match_id}/heartbeat", json={"judge": "eve", "draft": {"reason": ""}})
        again = client.get(f"/api/judge/matches/{match_id}", params={"judge": "eve"})
        answered = client.post(f"/api/judge/matches/{match_id}/answer", json={**form(TASK), "judge": "eve"})
        assert answered.json() == {"answer": number + 1, "answered": number + 1}
        late = client.post(f"/api/judge/matches/{match_id}/answer", json={**form(TASK), "judge": "eve"})
        shape = (
            tuple(document), len(match_id), {name: type(value) for name, value in document.items()},
            seen, sorted(beat.json()), sorted(again.json()), late.json()["error"],
        )  # fmt: skip
        shapes.setdefault(str(shape), set()).add(purpose)
        for secret in ("attention", "repeat", "expected", "purpose"):
            assert secret not in str(document) + beat.text + again.text
        clock.advance(30)
    assert len(shapes) == 1
    assert shapes.popitem()[1] == {"rating", "attention", "repeat"}


# What they tell


def test_answers_to_checks_rate_nobody(archive, clock):
    judging = room(archive, clock, attention_every=3, repeat_every=6)
    matches = go_on(judging, "eve", 20)
    num_rating = sum(match.purpose == "rating" for match in matches)
    assert 0 < num_rating < 20
    board = judging.leaderboard()
    assert board["num_answers"] == num_rating
    assert sum(row["num_answers"] for row in board["rows"]) == 2 * num_rating


def test_judges_are_told_apart_by_their_checks(archive, clock):
    judging = room(archive, clock, attention_every=3, repeat_every=6, min_viewing_s=30)

    def careful(match):
        clock.advance(90)
        order = sorted((match.left_agent, match.right_agent))
        return "draw" if match.left_agent == match.right_agent else "left" if match.left_agent == order[0] else "right"

    def careless(match):
        clock.advance(31)
        return "left"

    go_on(judging, "carla", 15, careful)
    go_on(judging, "lazy", 15, careless)
    found = {one.judge: one for one in judging.judges("lab")}
    assert (found["carla"].attention_passed, found["carla"].num_attention) == (5, 5)
    assert found["carla"].repeats_consistent == found["carla"].num_repeats >= 2
    assert (found["carla"].median_duration_s, found["carla"].minimum_time_share) == (90, 0)
    assert (found["lazy"].attention_passed, found["lazy"].num_attention) == (0, 5)
    assert found["lazy"].repeats_consistent == 0 < found["lazy"].num_repeats
    assert (found["lazy"].left_share, found["lazy"].median_duration_s, found["lazy"].minimum_time_share) == (1, 31, 1)
    assert [found[name].num_answers for name in found] == [15, 15]


def test_a_summary_by_hand():
    def answer(**changes):
        return CheckedAnswer(**{"judge": "eve", "judge_kind": "person", "study": None, "purpose": "rating", "outcome": "left",
                                "expected": None, "duration_s": 60.0} | changes)  # fmt: skip

    answers = [
        answer(),
        answer(outcome="right", duration_s=10 + HURRY_S),
        answer(outcome="draw"),
        answer(outcome="left", duration_s=20),
        answer(purpose="attention", outcome="left", expected="draw"),
        answer(purpose="repeat", outcome="right", expected="right"),
        answer(judge="robot", judge_kind="program", duration_s=0.1),
    ]
    eve, robot = summarise(answers, banned={"robot"}, min_viewing_s=lambda study: 10)
    assert dataclasses.asdict(eve) == {
        "judge": "eve", "kind": "person", "is_banned": False, "num_answers": 6,
        "num_attention": 1, "attention_passed": 0, "num_repeats": 1, "repeats_consistent": 1,
        "left_share": pytest.approx(2 / 3), "median_duration_s": 60.0, "minimum_time_share": pytest.approx(1 / 6),
        "watched_share": None,
    }  # fmt: skip
    assert (robot.is_banned, robot.minimum_time_share) == (True, None)


def test_a_study_is_read_once_for_all_its_answers(archive, clock):
    judging = room(archive, clock, min_viewing_s=0)
    go_on(judging, "eve", 5)
    queries = []
    listen = lambda conn, cursor, statement, *rest: queries.append(statement)  # noqa: E731
    sa.event.listen(sa.Engine, "before_cursor_execute", listen)
    try:
        judging.judges()
        few = len(queries)
        sa.event.remove(sa.Engine, "before_cursor_execute", listen)
        go_on(judging, "eve", 20)
        sa.event.listen(sa.Engine, "before_cursor_execute", listen)
        queries.clear()
        assert judging.judges()[0].num_answers == 25
        assert len(queries) == few > 0
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", listen)
