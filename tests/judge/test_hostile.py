"""Judges who mean harm, over HTTP on the real application: refused with a 4xx, a code and a reason, and none is counted."""

import json
from datetime import UTC, datetime

import judging_world
import numpy as np
import pytest
from judging_world import START, TASKS, fill, form, open_study
from starlette.testclient import TestClient

from interplay.judge import Judging
from interplay.play.connections.tokens import operator_token
from interplay.store import Enrolment
from interplay.store import judging as store
from interplay.store.judging import bans
from interplay.store.participants import add_participant
from interplay.store.study import studies
from interplay.store.tokens import create_token
from interplay.study import tokens
from interplay.web.app import create_app

TASK = TASKS[0]
STUDY = "lab"


@pytest.fixture
def app(archive, clock):
    """The application over six agents, with a study of two answers a visit; the open room and the study ask for ten seconds."""
    fill(archive, agents=[f"agent-{number}" for number in range(6)], num_seeds=4)
    open_study(archive, STUDY, num_answers=2, min_viewing_s=10, max_answers_per_judge=3)
    return create_app(archive, judging=Judging(archive, rng=np.random.default_rng(0), clock=clock))


def visitor(app, **headers) -> TestClient:
    return TestClient(app, raise_server_exceptions=False, headers=headers)


@pytest.fixture
def client(app):
    return visitor(app)


@pytest.fixture
def worker(app, archive):
    """Makes people who came through a channel and agreed: a client that sends their token."""

    def make(name: str = "A1") -> TestClient:
        now = datetime.now(UTC)
        with archive.database.write() as session:
            person = add_participant(session, f"key-{name}", now, channel="mturk", worker=name)
            enrolment: Enrolment = studies.add_enrolment(
                session, enrolment_id=name.encode().hex().ljust(24, "0"), study=STUDY,
                study_hash=studies.study_row(session, STUDY).content_hash, participant_id=person.id, channel="mturk",
                worker=name, assignment=f"assignment-{name}", arrival={}, now=now, consented=True,
            )  # fmt: skip
            enrolment_id = enrolment.id
        return visitor(app, **{"Interplay-Enrolment": tokens.make(app.state.services.secret, enrolment_id)})

    return make


def serve(client) -> dict:
    response = client.post("/api/judge/matches", json={})
    assert response.status_code == 201, response.text
    return response.json()


def submit(client, match: dict, **changes):
    return client.post(f"/api/judge/matches/{match['match']}/answer", json={**form(match["task"]), **changes})


def refused(response, status: int, code: str) -> dict:
    document = response.json()
    assert (response.status_code, document["error"]) == (status, code), response.text
    assert document["message"].strip()
    return document


def num_answers(app) -> int:
    return judging_world.num_answers(app.state.services.archive)


# The form


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reason": "x" * 99}, "reason"),
        ({"reason": "x" * 50 + "\u200b" * 60 + "y" * 40}, "reason"),
        ({"reason": "x" * 50 + " " * 60}, "reason"),
        ({"reason": "x" + "\u3164" * 120}, "reason"),
        ({"reason": "x" * 10_001}, "reason"),
        ({"reason": "x" * 120 + "\0"}, "reason"),
        ({"reason": "x" * 120 + "\ud800"}, "reason"),
        ({"reason": ["x" * 120]}, "reason"),
        ({"reason": None}, "reason"),
        ({"outcome": "p1"}, "outcome"),
        ({"outcome": None}, "outcome"),
        ({"outcome": ["left"]}, "outcome"),
        ({"responses": {}}, "responses."),
        ({"responses": []}, "responses"),
        ({"responses": {**form(TASK)["responses"], "extra": "left"}}, "responses.extra"),
        ({"responses": {**form(TASK)["responses"], "overall": "right"}}, "responses.overall"),
        ({"responses": dict.fromkeys(form(TASK)["responses"], "<script>")}, "responses."),
        ({"viewing": [1]}, "viewing"),
        ({"viewing": {"x": "y" * 70_000}}, "viewing"),
    ],
)
def test_a_faulty_form_is_refused_by_its_field(app, client, clock, changes, field):
    match = serve(client)
    clock.advance(30)
    response = client.post(
        f"/api/judge/matches/{match['match']}/answer",
        content=json.dumps({**form(TASK), **changes}),
        headers={"Content-Type": "application/json"},
    )
    document = refused(response, 422, "invalid")
    assert any(fault["field"].startswith(field) and fault["message"] for fault in document["errors"])
    assert num_answers(app) == 0
    assert submit(client, match).status_code == 201  # the match is still there for a good one


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "bad_request"),
        (b"\xff\xfe", "application/json", 400, "bad_request"),
        (b"[" * 100_000, "application/json", 400, "bad_request"),
        (b"[]", "application/json", 422, "invalid"),
        (b'"x"', "application/json", 422, "invalid"),
        (json.dumps(form(TASK)).encode(), "text/plain", 415, "unsupported_media_type"),
        (b"outcome=left", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        (b"x" * 300_000, "application/json", 413, "too_large"),
    ],
)
def test_a_body_of_another_kind_is_refused(app, client, clock, content, kind, status, code):
    match = serve(client)
    clock.advance(30)
    address = f"/api/judge/matches/{match['match']}/answer"
    refused(client.post(address, content=content, headers={"Content-Type": kind}), status, code)
    assert num_answers(app) == 0


def test_scripts_in_text_are_kept_as_given_and_shown_escaped(app, client, clock, archive):
    match = serve(client)
    clock.advance(30)
    reason = "<script>alert(1)</script><img src=x onerror=alert(2)> \"' {{ 7*7 }} " * 3
    assert submit(client, match, reason=reason).status_code == 201
    from sqlalchemy import select

    from interplay.store import Answer

    with archive.database.read() as session:
        assert session.scalar(select(Answer.reason)) == reason.strip()
    for page in ("/leaderboard", "/judge", "/api/leaderboard"):
        assert "<script>alert(1)" not in client.get(page).text
    refused_text = client.post("/api/judge/matches", json={"task": "<script>alert(1)</script>"})
    assert refused_text.status_code == 404
    assert refused_text.headers["content-type"] == "application/json"


# When


def test_too_early_is_refused_with_how_long_to_wait_and_the_draft_stays(app, client, clock):
    match = serve(client)
    draft = {"chosen": [], "reason": "so far", "viewing": {}}
    client.post(f"/api/judge/matches/{match['match']}/heartbeat", json={"draft": draft})
    clock.advance(3)
    response = submit(client, match)
    document = refused(response, 425, "too_early")
    assert (document["retry_after_s"], response.headers["retry-after"]) == (7, "7")
    again = serve(client)
    assert (again["match"], again["draft"], again["elapsed_s"]) == (match["match"], draft, 3)
    assert num_answers(app) == 0
    clock.advance(7)
    assert submit(client, match).status_code == 201


def test_releasing_and_asking_again_does_not_shorten_the_wait(app, client, clock):
    serve(client)
    clock.advance(60)
    client.post(f"/api/judge/matches/{serve(client)['match']}/release")
    refused(submit(client, serve(client)), 425, "too_early")


def test_a_replayed_answer_is_refused(app, client, clock):
    match = serve(client)
    clock.advance(30)
    assert submit(client, match).status_code == 201
    for outcome in ("left", "right"):
        refused(submit(client, match, outcome=outcome), 409, "already_answered")
    assert num_answers(app) == 1


def test_a_late_answer_about_videos_answered_since_is_refused(archive, clock):
    judging = Judging(fill(archive, agents=("ada", "bob"), num_seeds=1), rng=np.random.default_rng(0), clock=clock)
    app = create_app(archive, judging=judging)
    client = visitor(app)
    late = serve(client)
    clock.advance(700)
    now = serve(client)
    clock.advance(30)
    assert submit(client, now).status_code == 201
    refused(submit(client, late), 410, "superseded")
    assert num_answers(app) == 1


def test_an_idle_judges_answer_is_accepted(app, client, clock):
    match = serve(client)
    clock.advance(40 * 60)
    serve(visitor(app))
    assert submit(client, match).status_code == 201


# Who


def test_answers_to_the_matches_of_others_are_refused(app, client, clock):
    match = serve(client)
    clock.advance(30)
    other = visitor(app)
    refused(submit(other, match), 403, "foreign_match")
    serve(other)
    refused(submit(other, match), 403, "foreign_match")
    refused(submit(client, {**match, "match": "0" * 24}), 404, "unknown_match")
    assert num_answers(app) == 0


def test_the_wrong_worker_is_refused_everywhere(app, worker, client, clock):
    mine, yours = worker("A1"), worker("A2")
    match = serve(mine)
    clock.advance(30)
    for stranger in (yours, client):
        address = f"/api/judge/matches/{match['match']}"
        refused(submit(stranger, match), 403, "foreign_match")
        refused(stranger.get(address), 403, "foreign_match")
        refused(stranger.get(f"{address}/left.mp4"), 403, "foreign_match")
        refused(stranger.post(f"{address}/heartbeat", json={"draft": {"reason": "mine now"}}), 403, "foreign_match")
        refused(stranger.post(f"{address}/release"), 403, "foreign_match")
    assert serve(mine)["draft"] is None
    assert mine.get(match["left"]["video"]).status_code == 200
    assert submit(mine, match).status_code == 201


@pytest.mark.parametrize("token", ["x", "a.b.c", "0" * 24, b"\xc3\xa9", "x" * 5000])
def test_a_forged_enrolment_is_refused(app, worker, token):
    forged = visitor(app, **{"Interplay-Enrolment": token})
    refused(forged.post("/api/judge/matches", json={}), 401, "unauthorized")
    match = serve(worker())
    refused(submit(forged, match), 401, "unauthorized")


def test_nobody_is_in_a_study_without_taking_part(app, client):
    document = refused(client.post("/api/judge/matches", json={"study": STUDY}), 403, "enrolment_needed")
    assert "link" in document["message"]


def test_a_worker_gives_the_answers_of_one_visit_and_is_sent_on(app, worker, clock):
    client = worker()
    assert [serve(client)["answered"], serve(client)["wanted"]] == [0, 2]
    for number in (1, 2):
        match = serve(client)
        clock.advance(30)
        accepted = submit(client, match).json()
        assert accepted["answered"] == number
    assert accepted["next"].startswith(f"/studies/{STUDY}/end?enrolment=")
    document = refused(client.post("/api/judge/matches", json={}), 409, "ended")
    assert document["next"]
    assert num_answers(app) == 2


def test_over_the_quota_nothing_is_served_or_taken(app, archive, clock):
    operator = visitor(app, Authorization=f"Bearer {operator_token(archive.root)}")
    robot = {"judge": "robot", "study": STUDY}
    late = operator.post("/api/judge/matches", json=robot).json()
    clock.advance(700)
    for _ in range(3):
        match = operator.post("/api/judge/matches", json=robot).json()
        assert submit(operator, match, judge="robot").status_code == 201
        clock.advance(60)
    refused(operator.post("/api/judge/matches", json=robot), 409, "quota_reached")
    refused(submit(operator, late, judge="robot"), 409, "quota_reached")
    assert num_answers(app) == 3


def test_a_banned_judge_is_refused_with_their_late_answer(app, archive, client, clock):
    match = serve(client)
    clock.advance(30)
    with archive.database.write() as session:
        bans.ban(session, judge="participant-1", reason="x", now=START)
    refused(client.post("/api/judge/matches", json={}), 403, "banned")
    refused(submit(client, match), 403, "banned")
    assert num_answers(app) == 0


def test_a_banned_worker_is_refused(app, archive, worker, clock):
    client = worker()
    match = serve(client)
    clock.advance(30)
    with archive.database.write() as session:
        bans.ban(session, judge="participant-1", reason="x", now=START)
    refused(submit(client, match), 403, "banned")
    assert num_answers(app) == 0


def test_after_the_study_is_closed_only_what_it_served_is_taken(app, archive, worker, clock):
    client = worker()
    match = serve(client)
    clock.advance(30)
    with archive.database.write() as session:
        studies.close_study(session, STUDY, START)
    refused(client.post("/api/judge/matches", json={}), 410, "study_closed")
    assert submit(client, match).status_code == 201  # a judge's work is not thrown away
    assert num_answers(app) == 1


def test_pages_of_other_sites_cannot_answer_in_a_judges_name(app, client, clock):
    match = serve(client)
    clock.advance(30)
    address = f"/api/judge/matches/{match['match']}/answer"
    refused(client.post(address, json=form(TASK), headers={"Sec-Fetch-Site": "cross-site"}), 403, "cross_site")
    assert num_answers(app) == 0


# Round about consent, quiz and end


@pytest.fixture
def person(app, archive):
    """Makes somebody who browses with a cookie and takes part in studies: their client, and a client by study."""
    client = visitor(app)
    serve(client)  # makes the cookie, and participant-1
    client.post(f"/api/judge/matches/{serve(client)['match']}/release")

    def take_part(study: str = STUDY) -> tuple[TestClient, str]:
        enrolment_id = study.encode().hex().ljust(24, "0")
        with archive.database.write() as session:
            studies.add_enrolment(
                session, enrolment_id=enrolment_id, study=study, study_hash=studies.study_row(session, study).content_hash,
                participant_id=1, channel="open", worker="", assignment=study, arrival={}, now=START, consented=True,
            )  # fmt: skip
        inside = visitor(app, **{"Interplay-Enrolment": tokens.make(app.state.services.secret, enrolment_id)})
        inside.cookies = client.cookies
        return inside, enrolment_id

    return client, take_part


@pytest.mark.parametrize("outcome", ["withdrawn", "done", "quiz_failed"])
def test_after_the_end_of_a_study_its_matches_take_no_answer_by_the_cookie_alone(app, archive, clock, person, outcome):
    client, take_part = person
    inside, enrolment_id = take_part()
    match = serve(inside)
    clock.advance(30)
    with archive.database.write() as session:
        studies.end_enrolment(session, enrolment_id, outcome, START)
    refused(submit(inside, match), 409, "ended")
    document = refused(submit(client, match), 403, "foreign_match")
    assert (
        document["message"]
        == f"match {match['match']} belongs to the study lab; continue there, with the link that you were given"
    )
    address = f"/api/judge/matches/{match['match']}/heartbeat"
    refused(inside.post(address, json={}), 409, "ended")
    refused(client.post(address, json={"draft": {"reason": "in again"}}), 403, "foreign_match")
    assert num_answers(app) == 0


def test_a_match_of_a_study_takes_no_answer_by_the_cookie_alone(app, clock, person):
    client, take_part = person
    inside, _ = take_part()
    match = serve(inside)
    clock.advance(30)
    refused(submit(client, match), 403, "foreign_match")
    refused(client.post(f"/api/judge/matches/{match['match']}/heartbeat", json={"draft": {}}), 403, "foreign_match")
    assert serve(inside)["draft"] is None
    assert submit(inside, match).status_code == 201


def test_the_token_of_one_study_answers_no_match_of_another(app, archive, clock, person):
    client, take_part = person
    open_study(archive, "other", num_answers=2)
    inside, _ = take_part()
    elsewhere, _ = take_part("other")
    match = serve(inside)
    clock.advance(30)
    refused(submit(elsewhere, match), 403, "foreign_match")
    refused(elsewhere.post(f"/api/judge/matches/{match['match']}/heartbeat", json={}), 403, "foreign_match")
    mine = serve(client)  # of the open room
    clock.advance(30)
    document = refused(submit(inside, mine), 403, "foreign_match")
    assert "belongs to the open room" in document["message"]
    assert num_answers(app) == 0
    assert submit(client, mine).status_code == 201


# Texts that are none


@pytest.mark.parametrize(
    "address",
    [
        "/api/judge/preview?study=%00", "/api/judge/preview?task=%00", "/api/judge/preview/left.mp4?study=a%00",
        "/judge?preview=1&study=%00", "/episodes?task=%00", "/episodes?%00=1", "/api/leaderboard?task=%00", "/%00",
        "/api/judge/matches/%00",
    ],
)  # fmt: skip
def test_an_address_with_the_character_nul_is_refused(client, address):
    response = client.get(address)
    document = refused(response, 400, "bad_request")
    assert "%00" in document["message"]
    assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("study", ["\0", "\ud800", "Lab", "a b", "x" * 1000])
def test_a_study_that_cannot_be_named_so_is_unknown(app, archive, client, study):
    operator = visitor(app, Authorization=f"Bearer {operator_token(archive.root)}")
    body = json.dumps({"judge": "robot", "study": study})
    response = operator.post("/api/judge/matches", content=body, headers={"Content-Type": "application/json"})
    if study == "\ud800":
        document = refused(response, 422, "invalid")
        assert [fault["field"] for fault in document["errors"]] == ["study"]
    else:
        refused(response, 404, "not_found")
    if study not in ("\0", "\ud800"):  # no address says these
        refused(client.get("/api/judge/preview", params={"study": study}), 404, "not_found")


@pytest.mark.parametrize(
    "changes",
    [
        {"\ud800": 1},
        {"responses": {"\ud800": "left"}},
        {"viewing": {"a": ["\udfff"]}},
        {"draft": {"reason": "\ud800"}},
        {"judge": "\ud800"},
    ],
)
def test_half_characters_anywhere_in_a_body_are_refused_by_their_field(app, client, clock, changes):
    match = serve(client)
    clock.advance(30)
    for what in ("answer", "heartbeat", "release"):
        address = f"/api/judge/matches/{match['match']}/{what}"
        content = json.dumps({**form(TASK), **changes})
        document = refused(client.post(address, content=content, headers={"Content-Type": "application/json"}), 422, "invalid")
        assert [fault["field"] for fault in document["errors"]] == [ascii(next(iter(changes)))[1:-1]]
    assert num_answers(app) == 0


# Programs


def test_a_token_for_judging_judges_under_its_name_alone(app, archive, clock):
    with archive.database.write() as session:
        judge_token = create_token(session, name="lab-bot", scope="judge", now=START)
        read_token = create_token(session, name="reader", scope="read", now=START)
    bot = visitor(app, Authorization=f"Bearer {judge_token}")
    match = serve(bot)
    assert submit(bot, match).status_code == 201
    refused(bot.post("/api/judge/matches", json={"judge": "eve"}), 403, "forbidden")
    with archive.database.read() as session:
        assert [answer.judge for answer in store.answers(session)] == ["lab-bot"]
    reader = visitor(app, Authorization=f"Bearer {read_token}")
    refused(reader.post("/api/judge/matches", json={}), 403, "forbidden")


def test_model_judges_are_marked_and_rate_nobody(app, archive, clock):
    operator = visitor(app, Authorization=f"Bearer {operator_token(archive.root)}")
    match = operator.post("/api/judge/matches", json={"judge": "model:features"}).json()
    assert submit(operator, match, judge="model:features").status_code == 201
    assert num_answers(app) == 1
    assert operator.get("/api/leaderboard").json()["num_answers"] == 0
