"""Judging over HTTP: blind, private to its judge, refusing with reasons, and never failing on garbage."""

import dataclasses
import json
import re
import string

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging_world import AT_ONCE, REASON, TASKS, fill, form, open_study
from starlette.testclient import TestClient

import interplay.record
from interplay.judge import Judging
from interplay.play.connections.tokens import operator_token
from interplay.store import Match, Participant
from interplay.store import judging as store
from interplay.tasks import Suite, find
from interplay.web.app import create_app

TASK = TASKS[0]


@pytest.fixture
def app(archive, judging):
    return create_app(archive, judging=judging)


@pytest.fixture
def client(app):
    """A visitor; every instance of it has its own cookie jar."""
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def other(app):
    """Another visitor."""
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def operator(app, archive):
    """A program with the operator's token."""
    headers = {"Authorization": f"Bearer {operator_token(archive.root)}"}
    return TestClient(app, raise_server_exceptions=False, headers=headers)


def serve(client, **body) -> dict:
    response = client.post("/api/judge/matches", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def submit(client, match: dict, **changes):
    return client.post(f"/api/judge/matches/{match['match']}/answer", json={**form(match["task"]), **changes})


def secrets_of(archive, match: dict) -> list[str]:
    """Everything that would tell the judge whose videos these are."""
    with archive.database.read() as session:
        row = store.match_by_id(session, match["match"])
        assert row is not None
        return [row.left_agent, row.right_agent, row.left_episode_id, row.right_episode_id, row.task_hash, str(row.seed)]


# A judge's way


def test_a_match_from_serving_to_the_leaderboard(client):
    match = serve(client, task=TASK)
    assert {"match", "task", "title", "goal", "questions", "left", "right", "min_reason_chars", "served_at"} <= set(match)
    assert (match["min_reason_chars"], match["frame_rate_hz"]) == (100, find(TASK).frame_rate_hz)
    assert [question["id"] for question in match["questions"]] == [question.id for question in find(TASK).questions]
    assert client.get(match["left"]["video"]).status_code == 200
    assert client.post(f"/api/judge/matches/{match['match']}/heartbeat").json()["state"] == "open"
    response = submit(client, match)
    assert (response.status_code, response.json()) == (201, {"answer": 1, "answered": 1})
    board = client.get("/api/leaderboard", params={"task": TASK}).json()
    assert (board["num_answers"], board["num_judges"], len(board["rows"])) == (1, 1, 2)
    assert [round(row["mu"], 3) for row in board["rows"]] == [29.396, 20.604]
    assert set(board["rows"][0]) >= {"rank", "agent", "kind", "mu", "sigma", "score", "num_answers", "won", "drew", "lost"}
    assert serve(client)["answered"] == 1


def test_the_same_way_on_postgresql(tmp_path, postgres_url, clock):
    archive = interplay.record.open(tmp_path / "data", database=postgres_url)
    judging = Judging(fill(archive), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE)
    client = TestClient(create_app(archive, judging=judging), raise_server_exceptions=False)
    match = serve(client, task=TASK)
    assert match["served_at"] == "2026-03-01T12:00:00+00:00"
    assert client.get(match["left"]["video"], headers={"Range": "bytes=4-11"}).content == b"ftypmp42"
    assert client.post(f"/api/judge/matches/{match['match']}/heartbeat").json()["state"] == "open"
    for reason in ("x" * 100 + "\0", "x" * 100 + "\ud800", "short"):
        refused = client.post(
            f"/api/judge/matches/{match['match']}/answer", content=json.dumps({**form(TASK), "reason": reason})
        )
        assert refused.status_code == 422, refused.text
    assert submit(client, match).json() == {"answer": 1, "answered": 1}
    assert submit(client, match).status_code == 409
    board = client.get("/api/leaderboard", params={"task": TASK}).json()
    assert [round(row["mu"], 3) for row in board["rows"]] == [29.396, 20.604]
    archive.database.close()


def test_a_reload_gives_the_same_match(client):
    match = serve(client)
    assert serve(client) == match
    assert client.get(f"/api/judge/matches/{match['match']}").json() == match


def test_skipping_gives_another_pair(client):
    match = serve(client)
    assert client.post(f"/api/judge/matches/{match['match']}/release").json()["state"] == "released"
    assert serve(client)["match"] != match["match"]


def test_the_judge_is_the_participant_of_the_cookie(client, other, archive):
    assert serve(client)["match"] != serve(other)["match"]
    with archive.database.read() as session:
        assert {store.open_match_of(session, f"participant-{number}") is not None for number in (1, 2)} == {True}


# Blind


def test_nothing_sent_before_the_answer_tells_whose_videos_they_are(client, archive):
    match = serve(client)
    address = f"/api/judge/matches/{match['match']}"
    responses = [
        client.post("/api/judge/matches", json={}),
        client.get(address),
        client.post(f"{address}/heartbeat"),
        submit(client, match, reason="short"),
        client.head(match["left"]["video"]),
        client.get(match["right"]["video"], headers={"Range": "bytes=0-3"}),
    ]
    for response in responses:
        text = response.text + str(dict(response.headers))
        assert not [secret for secret in secrets_of(archive, match) if secret in text], response.request.url


def test_only_an_operator_is_told_which_agents_come_next(client, operator):
    address, params = "/api/leaderboard", {"task": TASK}
    assert client.get(address, params=params).json()["next_pair"] == {"task": TASK}
    assert len(operator.get(address, params=params).json()["next_pair"]["agents"]) == 2
    submit(client, serve(client))
    page = client.get("/leaderboard", params=params).text
    judge_link = page[page.index('class="lead small below"') :]
    assert "Judge a pair" in judge_link
    assert not re.search("against", judge_link)


def test_one_video_looks_different_in_every_match(client, other, archive):
    """No address, tag or date shared between matches gives away that the same episode is behind them."""
    seen = set()
    for visitor in (client, other):
        match = serve(visitor)
        for side in ("left", "right"):
            response = visitor.get(match[side]["video"])
            seen.add((match[side]["video"], response.headers["etag"]))
            assert response.headers["cache-control"].startswith("private")
            assert "content-disposition" not in response.headers
            row_date = response.headers["last-modified"]
            assert row_date == "Sun, 01 Mar 2026 12:00:00 GMT"  # when the match was served, not when the file was made
    assert len({address for address, _ in seen}) == len({tag for _, tag in seen}) == 4


# Videos


def test_videos_answer_ranges(client):
    address = serve(client)["left"]["video"]
    whole = client.get(address)
    assert (whole.status_code, whole.headers["content-type"], whole.headers["accept-ranges"]) == (200, "video/mp4", "bytes")
    part = client.get(address, headers={"Range": "bytes=4-11"})
    assert (part.status_code, part.content) == (206, b"ftypmp42")
    assert part.headers["content-range"] == f"bytes 4-11/{len(whole.content)}"
    assert client.get(address, headers={"Range": "bytes=-4"}).content == whole.content[-4:]
    assert client.get(address, headers={"Range": "bytes=99999999-"}).status_code == 416
    assert client.get(address, headers={"If-None-Match": "nonsense"}).status_code == 200
    assert client.head(address).headers["content-length"] == str(len(whole.content))


def test_left_and_right_are_the_episodes_of_the_match(client, archive):
    match = serve(client)
    _, _, left, right, *_ = secrets_of(archive, match)
    assert left.encode() in client.get(match["left"]["video"]).content
    assert right.encode() in client.get(match["right"]["video"]).content


def test_a_video_that_is_gone_is_a_404(client, judging):
    match = serve(client)
    judging.video(match["match"], "left", "participant-1")[0].unlink()
    response = client.get(match["left"]["video"])
    assert (response.status_code, response.json()["error"]) == (404, "no_video")


# Refusals


def test_answers_are_refused_with_a_reason(client, other):
    match = serve(client)
    assert submit(other, match).json()["error"] == "foreign_match"
    assert submit(other, match).status_code == 403
    assert submit(client, {**match, "match": "0" * 24}).status_code == 404
    assert submit(client, {**match, "match": "../../etc/passwd"}).status_code == 404
    short = submit(client, match, reason="x" * 99)
    assert (short.status_code, short.json()["error"]) == (422, "invalid")
    assert short.json()["errors"] == [
        {"field": "reason", "message": "please write at least 100 characters; there are 99 so far"}
    ]
    assert {fault["field"] for fault in submit(client, match, outcome="me", responses={}).json()["errors"]} > {"outcome"}
    assert submit(client, match).status_code == 201
    again = submit(client, match, outcome="right")
    assert (again.status_code, again.json()["error"]) == (409, "already_answered")
    assert client.get("/api/leaderboard").json()["num_answers"] == 1


@pytest.mark.parametrize("path", ["", "/left.mp4", "/right.mp4"])
def test_others_may_not_look(client, other, path):
    match = serve(client)
    assert other.get(f"/api/judge/matches/{match['match']}{path}").status_code == 403
    serve(other)
    assert other.get(f"/api/judge/matches/{match['match']}{path}").status_code == 403


@pytest.mark.parametrize("deed", ["heartbeat", "release", "answer"])
def test_others_may_not_meddle(client, other, deed):
    match = serve(client)
    assert other.post(f"/api/judge/matches/{match['match']}/{deed}", json=form(TASK)).status_code == 403
    assert client.post(f"/api/judge/matches/{match['match']}/heartbeat").json()["state"] == "open"


def test_an_unknown_task_is_a_404_with_the_nearest(client):
    response = client.post("/api/judge/matches", json={"task": "atari/breakot"})
    assert response.status_code == 404
    assert "did you mean 'atari/breakout'" in response.json()["message"]
    assert client.get("/api/leaderboard", params={"task": "atari/breakot"}).status_code == 404


def test_a_task_of_ones_own_suite_is_known_before_anyone_has_played_it(archive):
    breakout = dataclasses.replace(find(TASK), id="my/breakout")
    client = TestClient(create_app(archive, suites=[Suite("my", "Mine", "", (breakout,))]))
    board = client.get("/api/leaderboard", params={"task": "my/breakout"})
    assert (board.status_code, board.json()["rows"]) == (200, [])
    assert client.get("/leaderboard", params={"task": "my/breakout"}).status_code == 200
    nothing = client.post("/api/judge/matches", json={"task": "my/breakout"})
    assert (nothing.status_code, nothing.json()["error"]) == (409, "nothing_to_judge")
    assert client.post("/api/judge/matches", json={"task": TASK}).status_code == 404  # not on offer here


def test_when_nothing_is_left_the_answer_is_a_409(archive, clock):
    judging = Judging(
        fill(archive, agents=("ada", "bob"), num_seeds=1), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE
    )
    app = create_app(archive, judging=judging)
    serve(TestClient(app))
    response = TestClient(app).post("/api/judge/matches", json={})
    assert (response.status_code, response.json()["error"]) == (409, "every_pair_taken")


def test_a_superseded_answer_is_a_410(archive, clock):
    judging = Judging(
        fill(archive, agents=("ada", "bob"), num_seeds=1), rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE
    )
    client = TestClient(create_app(archive, judging=judging))
    late = serve(client)
    clock.advance(700)
    assert submit(client, serve(client)).status_code == 201
    assert submit(client, late).status_code == 410


# Programs


def test_the_operator_names_judges(operator, archive):
    match = serve(operator, judge="robot 1", task=TASK)
    assert serve(operator, judge="robot 2", task=TASK)["match"] != match["match"]
    assert operator.get(match["left"]["video"], params={"judge": "robot 1"}).status_code == 200
    assert submit(operator, match, judge="robot 2").status_code == 403
    assert submit(operator, match, judge="robot 1").json()["answered"] == 1
    with archive.database.read() as session:
        assert [answer.judge for answer in store.answers(session)] == ["robot 1"]


@pytest.mark.parametrize("name", ["", "participant-1", "x" * 101, "\0", "a\nb", 5, [], {"a": 1}, "<b>"])
def test_the_operator_cannot_name_people_or_nonsense(operator, name):
    response = operator.post("/api/judge/matches", json={"judge": name})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "judge"


def test_visitors_cannot_name_judges(client):
    assert client.post("/api/judge/matches", json={"judge": "robot 1"}).status_code == 403
    match = serve(client)
    assert submit(client, match, judge="robot 1").status_code == 403


@pytest.mark.parametrize("token", ["Bearer wrong", "Bearer ", "Basic abc", "Bearer " + "x" * 5000])
def test_a_wrong_token_is_a_401_not_a_visitor(client, token):
    response = client.post("/api/judge/matches", json={}, headers={"Authorization": token})
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")


# Garbage

GARBAGE = [
    b"", b"   ", b"null", b"[]", b"3", b'"x"', b"{", b"\xff\xfe", b"{}" * 2, b"[" * 100_000, b'{"a":' * 50_000, b"NaN",
    b'{"task": 5}', b'{"task": {"a": 1}}', b'{"task": "\\u0000"}', b'{"task": "\\ud800"}', b'{"outcome": 1e999}',
    b'{"outcome": ' + b"9" * 5000 + b"}", b'{"reason": "' + b"x" * 300_000 + b'"}',
]  # fmt: skip


@pytest.mark.parametrize("deed", ["", "/{match}/answer", "/{match}/heartbeat", "/{match}/release"])
def test_garbage_is_refused_politely(client, deed):
    for body in GARBAGE:
        address = "/api/judge/matches" + deed.format(match=serve(client)["match"])
        response = client.post(address, content=body)
        assert response.status_code < 500, body[:40]
        if response.status_code >= 400:
            assert {"error", "message"} <= set(response.json()), body[:40]


texts = st.text(max_size=30) | st.sampled_from(["left", "right", "draw", "na", TASK, REASON, "\0", "\ud800", "'; --"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
question_ids = st.sampled_from([question.id for question in find(TASK).questions]) | texts
bodies = st.fixed_dictionaries(
    {},
    optional={
        "outcome": values | st.sampled_from(["left", "right", "draw"]),
        "responses": values | st.dictionaries(question_ids, values | st.fixed_dictionaries({"left": values, "right": values})),
        "reason": values | st.text(min_size=100, max_size=140),
        "viewing": values,
        "judge": values,
        "task": values,
    },
)
quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.fuzz
@quick
@given(body=bodies, as_operator=st.booleans(), deed=st.sampled_from(["", "answer", "answer", "answer", "heartbeat", "release"]))
def test_no_body_makes_the_server_fail(client, operator, body, as_operator, deed):
    visitor = operator if as_operator else client
    match = serve(visitor)
    address = "/api/judge/matches" + (f"/{match['match']}/{deed}" if deed else "")
    response = visitor.post(address, content=json.dumps(body).encode())
    assert response.status_code < 500, response.text


@pytest.mark.fuzz
@quick
@given(match=st.text(string.printable, max_size=40), side=texts, task=texts, judge=texts)
def test_no_address_makes_the_server_fail(client, match, side, task, judge):
    def quote(part: str) -> str:
        return "".join(f"%{byte:02x}" for byte in part.encode("utf-8", "surrogatepass"))

    for address in (
        f"/api/judge/matches/{quote(match)}",
        f"/api/judge/matches/{quote(match)}/{quote(side)}.mp4?judge={quote(judge)}",
        f"/api/leaderboard?task={quote(task)}",
    ):
        assert client.get(address).status_code < 500, address


def test_scripts_in_a_reason_come_back_as_text_only(client, archive):
    match = serve(client)
    assert submit(client, match, reason="<script>alert(1)</script>" * 5).status_code == 201
    assert "<script>" not in client.get("/api/leaderboard").text


def test_the_api_describes_itself(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    answer = paths["/api/judge/matches/{match}/answer"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"outcome", "responses", "reason", "viewing"} <= set(answer["properties"])


# Drafts, waiting, previews


def test_a_draft_is_kept_by_the_heartbeat_and_comes_with_the_match(client, other):
    match = serve(client)
    address = f"/api/judge/matches/{match['match']}"
    draft = {"chosen": [["overall", "left"]], "reason": "so far", "viewing": {"played_s": 3.5}}
    assert (match["draft"], client.post(f"{address}/heartbeat", json={"draft": draft}).status_code) == (None, 200)
    assert serve(client)["draft"] == client.get(address).json()["draft"] == draft
    refused = client.post(f"{address}/heartbeat", json={"draft": {"reason": "x" * 140_000}})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "draft")
    assert serve(client)["draft"] == draft


def test_people_wait_ten_seconds_unless_told_otherwise_and_programs_do_not(archive):
    app = create_app(fill(archive))
    headers = {"Authorization": f"Bearer {operator_token(archive.root)}"}
    match = serve(TestClient(app))
    assert (match["min_viewing_s"], match["elapsed_s"] < 10) == (10, True)
    robot = TestClient(app, headers=headers)
    assert serve(robot, judge="robot")["min_viewing_s"] == 0
    assert submit(robot, serve(robot, judge="robot"), judge="robot").status_code == 201


def test_a_preview_looks_like_a_match_and_leaves_no_trace(client, archive):
    shown = client.get("/api/judge/preview", params={"task": TASK}).json()
    assert shown["match"] is None
    assert client.get("/api/judge/preview", params={"task": TASK}).json() == shown
    assert set(shown) == set(serve(TestClient(client.app)))
    part = client.get(shown["left"]["video"], headers={"Range": "bytes=4-11"})
    assert (part.status_code, part.content) == (206, b"ftypmp42")
    with archive.database.read() as session:
        agents = {row.left_agent for row in session.scalars(sa.select(Match))}
        assert session.scalars(sa.select(Match)).all() != []  # the other visitor's alone
        assert len(session.scalars(sa.select(Participant)).all()) == 1
    text = str(shown) + str(dict(part.headers))
    # As whole words: a tag is a number in hexadecimal, and "ada" is one, too.
    assert not [name for name in (*agents, "ada", "bob", "cyd", find(TASK).content_hash) if re.search(rf"\b{name}\b", text)]
    assert "set-cookie" not in part.headers


def test_the_tag_of_a_preview_tells_its_video_from_the_next_and_not_which_it_is(client, archive):
    def tags() -> list[str]:
        found = []
        for side in ("left", "right"):
            video = client.get(f"/api/judge/preview/{side}.mp4", params={"task": TASK})
            assert client.get(str(video.url)).headers["etag"] == video.headers["etag"]
            found.append(video.headers["etag"])
        return found

    before = tags()
    for path in (archive.root / "media").glob("*.mp4"):
        assert not [tag for tag in before if path.stem in tag]
    shown = {client.get(f"/api/judge/preview/{side}.mp4", params={"task": TASK}).content for side in ("left", "right")}
    # What is served begins with a stand-in's bytes; there is more behind them.
    videos = (archive.root / "media").glob("*.mp4")
    gone = [path for path in videos if any(one.startswith(path.read_bytes()) for one in shown)]
    assert len(gone) == 2
    for path in gone:
        path.unlink()
    assert not set(before) & set(tags())


def test_a_preview_of_what_is_not_there_is_refused(client):
    assert client.get("/api/judge/preview", params={"task": "atari/breakot"}).status_code == 404
    assert client.get("/api/judge/preview", params={"study": "nowhere"}).json()["error"] == "not_found"
    assert client.get("/api/judge/preview", params={"task": "atari/qbert"}).status_code == 409


def test_the_page_of_a_study_shows_its_instructions_and_nothing_of_the_site(client, archive):
    open_study(archive, examples=[{"video": "/media/x.mp4", "caption": "Look."}])
    page = client.get("/judge", params={"study": "lab", "preview": "1"}).text
    assert "Instructions: Who did better?" in page
    assert "Then say." in page
    assert "This is a preview. Nothing is reserved or stored" in page
    assert "/leaderboard" not in page
    assert client.get("/api/judge/preview", params={"study": "lab"}).json()["examples"] == [
        {"video": "/media/x.mp4", "caption": "Look."}
    ]


def test_whoever_is_not_enrolled_is_sent_to_the_start_of_a_study(client, archive):
    open_study(archive)
    response = client.get("/judge", params={"study": "lab"}, follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, "/studies/lab")
    assert client.get("/judge", params={"study": "nowhere", "preview": "1"}).status_code == 404
