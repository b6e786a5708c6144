"""The operator's desk over HTTP and by command: who gets in, what the pages say, and pauses."""

import json
import re
import warnings
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from study_world import address, enrolments, hidden_fields, open_study

import interplay.record
from interplay import testing
from interplay.cli import _run
from interplay.play.connections.tokens import operator_token
from interplay.play.server import PlayServer
from interplay.record import Verdict
from interplay.record.summary import AGENTS, Hours, Summary
from interplay.store import Enrolment, EpisodeRow, EpisodeStatistic, Participant, PayEvent, PlaySession, StudyRow
from interplay.store.study import studies
from interplay.study.definition import find_study
from interplay.tasks import find
from interplay.web.app import create_app
from interplay.web.desk.pages import MAX_PARTS, by_day, cumulative

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient
    from starlette.websockets import WebSocketDisconnect

PAGES = (
    "/desk",
    "/desk/studies",
    "/desk/studies/incentives-all",
    "/desk/quality",
    "/desk/quality?study=incentives-all",
    "/desk/money",
    "/desk/money/incentives-all/" + f"{1:024x}",
    "/desk/collected",
    "/desk/search",
)
NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """Two people in a study of play, one done and paid in part; games of theirs, of somebody else, and of agents."""
    archive = interplay.record.open(tmp_path_factory.mktemp("desk"))
    study = find_study("incentives-all")
    task = find(study.play.variants[0].task)
    with archive.database.write() as session:
        studies.open_study(session, study=study.id, content_hash=study.content_hash, definition=study.to_json(), now=NOW)
        session.add_all([Participant(key=f"key-{number}", created_at=NOW) for number in (1, 2, 3)])
        session.flush()
        for number, outcome in ((1, "done"), (2, None)):
            session.add(
                Enrolment(
                    id=f"{number:024x}", study=study.id, study_hash=study.content_hash, participant_id=number,
                    channel="prolific", worker=f"w{number}", assignment=f"a{number}", arrival={},
                    arrived_at=NOW - timedelta(hours=number),
                    ended_at=None if outcome is None else NOW, outcome=outcome, variant=study.play.variants[0].name,
                    accepted_s=None if outcome is None else 90.0,
                )
            )  # fmt: skip
        session.flush()
        games = [("participant-1", 1), ("participant-1", 1), ("participant-2", 2), ("participant-3", 3), ("random", None)]
        for place, (actor, number) in enumerate(games):
            values = testing.add_episode(
                session, task, actor, place, id=f"game-{place}", actor_kind="agent" if number is None else "human",
                participant_id=number, created_at=NOW - timedelta(days=place), num_steps=600, duration_s=10.0,
                total_reward=100.0 * place,
            )  # fmt: skip
            row = session.get_one(EpisodeRow, values["id"])
            row.statistics.append(EpisodeStatistic(name="latency_ms", number=50.0 + place))
            session.flush()
            if number is not None:
                session.add(
                    PlaySession(
                        id=f"s{place}", task=task.id, task_hash=task.content_hash, seed=place, created_at=NOW, actor=actor,
                        actor_kind="human", participant_id=number, episode_id=values["id"], state="ended", seat=task.seats[0],
                        enrolment_id=f"{number:024x}" if number < 3 else None,
                    )
                )  # fmt: skip
        for state in ("planned", "sent"):
            session.add(
                PayEvent(
                    enrolment_id=f"{1:024x}", kind="reward", state=state, amount_cents=375, currency="USD",
                    request=f"reward:{1:024x}", detail="", created_at=NOW,
                )
            )  # fmt: skip
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def app(archive):
    return create_app(archive, play=PlayServer(archive, secret=b"s" * 32, num_workers=1))  # not entered: nobody plays


@pytest.fixture
def visitor(app):
    return TestClient(app, follow_redirects=False)


@pytest.fixture
def operator(app, archive):
    return TestClient(app, headers={"Authorization": f"Bearer {operator_token(archive.root)}"}, follow_redirects=False)


def text_of(answer) -> str:
    """What people read of a page."""
    assert answer.status_code == 200, answer.text
    main = answer.text.partition('<main class="page" id="main">')[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", main)))


def said(capsys, *words: str, archive):
    """What a command answers as JSON."""
    capsys.readouterr()
    assert _run([*words, "--data", str(archive.root), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_desk_is_the_operators_alone(visitor, operator):
    for page in PAGES:
        answer = visitor.get(page)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/operator?next={page.partition('?')[0]}"), page
        answer = operator.get(page)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store"), page
        assert 'aria-label="Operator"' in answer.text
    assert visitor.get("/desk/studies/caf%C3%A9%3F%E2%82%AC").headers["location"].isascii()
    for page in ("/desk/pause", "/desk/studies/incentives-all", "/desk/search"):
        assert visitor.post(page, data={"verb": "pause"}).status_code == 303
    assert visitor.get("/api/live").status_code == 401
    assert operator.get("/api/live").json() == {"games": [], "paused": None}
    for token in ({}, {"Authorization": "Bearer somebody"}):
        with pytest.raises(WebSocketDisconnect), visitor.websocket_connect("/api/watch/1/player", headers=token):
            pass
    assert operator.get("/desk/watch/1/player").status_code == 404


def test_what_is_not_there_is_said_in_words(operator):
    for page, words in (
        ("/desk/studies/incentive-all", "unknown study 'incentive-all'"),
        ("/desk/studies/incentives-all?outcome=dne", "unknown outcome 'dne'"),
        ("/desk/money/incentives-all/abc", "unknown enrolment 'abc'"),
    ):
        answer = operator.get(page)
        assert answer.status_code == 404
        assert words in unescape(answer.text)
    assert operator.post("/desk/studies/incentives-all", data={"verb": "burn"}).status_code == 422


def test_a_study_shows_its_people_and_how_far_they_get(operator, archive, capsys):
    page = text_of(operator.get("/desk/studies/incentives-all"))
    assert "agreed and came in 2 100 %" in page
    assert "began to play 2 100 %" in page
    assert "done 1 50 %" in page
    assert re.search(r"person 1 prolific done \S+ 2 games, 0:20 1:30 3.75 sent approved .* ago", page)
    assert re.search(r"person 2 prolific taking part \S+ 1 game, 0:10 – – not handed in .* ago", page)
    assert "places left" in page
    assert "person 3" not in page  # who played in no study
    assert "w1" not in page  # how the platform calls them
    assert "person 2" not in text_of(operator.get("/desk/studies/incentives-all?outcome=done"))
    document = said(capsys, "study", "funnel", "incentives-all", archive=archive)
    assert document["funnel"] == {"arrived": 2, "passed": 2, "began": 2, "done": 1}
    assert document["outcomes"] == {"done": 1, "working": 1}
    first = document["reached"][0]
    assert (first["visits"], first["met"]) == (2 if first["statistic"] in ("time", "games", "score") else 0, 0)


def test_money_that_is_owed_is_not_called_sent(tmp_path):
    study, archive = find_study("incentives-all"), interplay.record.open(tmp_path)
    with archive.database.write() as session:
        studies.open_study(session, study=study.id, content_hash=study.content_hash, definition=study.to_json(), now=NOW)
        session.add(Participant(key="key-1", created_at=NOW))
        session.flush()
        ended = {"arrived_at": NOW, "ended_at": NOW, "outcome": "done", "variant": study.play.variants[0].name}
        session.add(Enrolment(id=f"{1:024x}", study=study.id, study_hash=study.content_hash, participant_id=1,
                              channel="prolific", worker="w", assignment="a", arrival={}, **ended))  # fmt: skip
        session.flush()
        line = {"enrolment_id": f"{1:024x}", "currency": "USD", "detail": "", "created_at": NOW}
        session.add(PayEvent(kind="earned", state="due", amount_cents=9, request=f"earned:{1:024x}", **line))
    operator = TestClient(
        create_app(archive, play=PlayServer(archive, secret=b"s" * 32, num_workers=1)),
        headers={"Authorization": f"Bearer {operator_token(archive.root)}"},
    )
    page = text_of(operator.get("/desk/studies/incentives-all"))
    assert " 0.59 owed to approve" in page, "0.50 of reward and 0.09 of bonus"
    assert "sent" not in page.partition("person 1")[2]
    with archive.database.write() as session:
        session.add(PayEvent(kind="reward", state="sent", amount_cents=50, request=f"reward:{1:024x}", **line))
    assert " 0.50 sent, 0.09 owed approved" in text_of(operator.get("/desk/studies/incentives-all"))
    archive.close()


def test_money_is_what_the_ledger_says(operator, archive, capsys):
    [purse] = said(capsys, "study", "money", archive=archive)["purses"]
    assert {name: purse[name] for name in ("planned_cents", "claimed_cents", "settled_cents", "failed_cents")} == {
        "planned_cents": 0, "claimed_cents": 0, "settled_cents": 375, "failed_cents": 0,
    }  # fmt: skip
    assert "incentives-all prolific 0.00 USD 0.00 3.75 0.00 1" in text_of(operator.get("/desk/money"))
    explained = text_of(operator.get(f"/desk/money/incentives-all/{1:024x}"))
    assert f"reward:{1:024x}" in explained
    assert "interplay study pay incentives-all --explain" in explained


def test_quality_and_what_was_collected(operator, archive, capsys):
    Summary(archive).note([Verdict("game-0", False, 7, "the picture differs", True), Verdict("game-1", True, None, "", True)])
    page = text_of(operator.get("/desk/quality"))
    assert "verified and equal 1 verified and different 1 not verified yet 2" in page
    assert "game-0 : from step 7 on: the picture differs" in page
    document = said(capsys, "episodes", "quality", archive=archive)
    assert document["verified"] == {"equal": 1, "different": 1, "never": 2}
    [latency] = document["measures"]["latency_ms"].values()
    assert (latency["num"], latency["p50"]) == (4, 51.0)
    [latency] = said(capsys, "episodes", "quality", "--study", "incentives-all", archive=archive)["measures"][
        "latency_ms"
    ].values()
    assert latency["num"] == 3
    hours = said(capsys, "episodes", "collected", archive=archive)
    assert sorted(one["channel"] for one in hours) == ["agents", "no study", "prolific", "prolific", "prolific"]
    assert sum(one["hours"] for one in hours) == pytest.approx(5 * 10 / 3600)
    page = text_of(operator.get("/desk/collected"))
    assert "people in no study" in page
    assert "study, Prolific" in page


def test_hours_of_a_day_are_added_up_by_part_and_the_smallest_parts_share_a_colour():
    hours = [Hours("2026-03-01", f"task-{number:02}", "open", 1.0 + number, 1) for number in range(MAX_PARTS + 1)]
    hours += [Hours("2026-02-27", "task-03", channel, 0.25, 1) for channel in ("open", AGENTS)]
    plot = by_day(hours, "task", lambda one: one.task)
    assert [one["name"] for one in plot["series"]] == [*(f"task-{number:02}" for number in range(MAX_PARTS, 1, -1)), "others"]
    assert plot["rows"][0] == (MAX_PARTS - 3, "2026-02-27", 0.5)
    assert plot["rows"][-1] == (MAX_PARTS - 1, "2026-03-01", 3.0)  # task-00 and task-01
    assert by_day([], "task", lambda one: one.task) is None


def test_hours_so_far_are_those_of_people_and_those_of_agents():
    hours = [
        Hours("2026-03-01", "a", "open", 1.0, 1),
        Hours("2026-02-27", "a", AGENTS, 0.5, 1),
        Hours("2026-03-01", "b", "open", 2.0, 1),
    ]
    assert cumulative(hours)["rows"] == [
        (0, "2026-02-27", 0.0), (0, "2026-03-01", 3.0), (1, "2026-02-27", 0.5), (1, "2026-03-01", 0.5),
    ]  # fmt: skip
    assert cumulative(hours[:1]) is None


def test_search_lists_saves_and_downloads(operator, archive):
    page = text_of(operator.get("/desk/search", params={"where": ["score >= 200", ""]}))
    assert "episodes 3 " in page
    assert "2 of them may not be released" in page
    page = text_of(operator.get("/desk/search", params={"where": "actor != $(id)"}))
    assert "interplay episodes export --where 'actor != $(id)' --format lerobot --out DIR" in page  # to be pasted into a shell
    answer = operator.get("/desk/search", params={"where": "scor >= 200"})
    assert answer.status_code == 422
    assert "did you mean" in unescape(answer.text)
    answer = operator.post("/desk/search", data={"name": "high", "task": "", "where": "score >= 200"})
    assert answer.status_code == 303
    assert answer.headers["location"].endswith("saved=high%401")
    page = operator.get(answer.headers["location"]).text
    assert "Saved as <b>high@1</b>" in page
    assert 'href="/api/released.zip?query=high%401"' in page
    assert operator.post("/desk/search", data={"name": "No name!", "where": ""}).status_code == 422


def test_new_games_pause_and_the_note_is_read(visitor, operator, archive, capsys):
    task = {"task": "atari/breakout"}
    assert visitor.post("/api/sessions", json=task).status_code == 201
    assert operator.post("/desk/pause", data={"verb": "pause", "note": "We are back at 14:00."}).status_code == 303
    answer = visitor.post("/api/sessions", json=task)
    assert (answer.status_code, answer.json()["message"]) == (503, "We are back at 14:00.")
    assert answer.headers["retry-after"] == "60"
    assert operator.post("/api/sessions", json=task).status_code == 201  # the operator may try things out
    assert "New games are paused. We are back at 14:00." in text_of(visitor.get("/"))
    assert operator.get("/api/live").json()["paused"] == "We are back at 14:00."
    assert said(capsys, "live", "resume", archive=archive) == {"paused": False}
    assert visitor.post("/api/sessions", json=task).status_code == 201
    assert said(capsys, "live", "pause", archive=archive) == {"paused": True, "note": ""}
    assert visitor.post("/api/sessions", json=task).json()["message"] == "new games are paused; please come back later"
    operator.post("/desk/pause", data={"verb": "resume"})
    assert visitor.post("/api/sessions", json=task).status_code == 201
    assert _run(["live", "list", "--data", str(archive.root)]) == 2
    assert "no server runs on" in capsys.readouterr().err


def test_a_paused_study_takes_nobody_new_and_who_is_inside_goes_on(visitor, operator, archive, capsys, app):
    study = open_study(archive)
    inside, later = TestClient(app, follow_redirects=False), TestClient(app, follow_redirects=False)

    def begin(client):
        fields = hidden_fields(client.get(address()).text) | {"decision": "begin", "agree": "yes"}
        return client.post(f"/studies/{study.id}/begin", data=fields)

    assert begin(inside).status_code == 303
    page = later.get(address()).text
    assert operator.post(f"/desk/studies/{study.id}", data={"verb": "pause", "note": "Back at nine."}).status_code == 303
    for answer in (
        visitor.get(address()),
        later.post(f"/studies/{study.id}/begin", data=hidden_fields(page) | {"agree": "yes"}),
    ):
        assert answer.status_code == 503
        assert "This study is paused" in answer.text
        assert "Back at nine." in answer.text
    assert len(enrolments(archive)) == 1
    assert inside.get(address()).status_code == 303  # on with it
    assert "paused" in text_of(operator.get("/desk/studies"))
    assert said(capsys, "study", "resume", study.id, archive=archive) == {"study": study.id, "paused": False}
    assert begin(later).status_code == 303
    assert _run(["study", "pause", "cave", "--data", str(archive.root)]) == 2
    assert "did you mean 'caves'" in capsys.readouterr().err
    assert said(capsys, "study", "pause", study.id, "--note", "x", archive=archive)["paused"] is True
    assert visitor.get(address()).status_code == 503
    assert operator.post(f"/desk/studies/{study.id}", data={"verb": "close"}).status_code == 303
    with archive.database.read() as session:
        assert session.get_one(StudyRow, study.id).closed_at is not None
