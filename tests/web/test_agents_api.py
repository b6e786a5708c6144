"""Agents over HTTP: from proposal to matchmaking, each token for its own agents only, garbage refused with reasons."""

import asyncio
import itertools
import shutil

import httpx
import numpy as np
import pytest
import sqlalchemy
from agents_world import NOW, TASK, client, mp4, operator, propose, token, upload

from interplay.cli import main
from interplay.cli.serve import DEFAULT_MAX_VIDEO_MB
from interplay.judge import Judging
from interplay.judge.entrants.roster import MAX_WAITING
from interplay.judge.errors import NothingToJudgeError
from interplay.store import entrants as store
from interplay.store.episodes import EpisodeQuery, agent_names, count_by_task
from interplay.store.tokens import revoke_token
from interplay.tasks import find
from interplay.web.app import MAX_VIDEO_BYTES, create_app

SEEDS = find(TASK).held_out_seeds


@pytest.fixture
def app(archive):
    return create_app(archive, judging=Judging(archive, rng=np.random.default_rng(0)), max_video_bytes=2_000_000)


@pytest.fixture
def team(app, archive):
    """A program with a token of scope `agents`."""
    return client(app, token(archive, "team-red"))


@pytest.fixture
def boss(app, archive):
    """The operator's program."""
    return operator(app, archive)


@pytest.fixture
def visitor(app):
    """Somebody without a token."""
    return client(app)


def message(answer, status: int) -> str:
    assert answer.status_code == status, answer.text
    return answer.json()["message"]


# The way of an agent


def test_an_agent_goes_from_proposal_to_matchmaking_over_http(archive, app, team, boss, visitor):
    judging = app.state.services.judging
    for number, name in enumerate(("red", "redder")):
        answer = propose(team, name, kind="PPO", description="Trained for a day.")
        assert answer.status_code == 201, answer.text
        sent = upload(team, name, SEEDS[0], mp4(number * 50))
        assert sent.status_code == 201, sent.text
        assert sent.json()["missing_seeds"] == list(SEEDS[1:])
    with pytest.raises(NothingToJudgeError):
        judging.serve("judge", TASK)
    assert visitor.get("/api/agents").json() == []
    assert "unknown agent 'red'" in message(visitor.get("/api/agents/red"), 404)
    for name in ("red", "redder"):
        assert boss.post(f"/api/agents/{name}/approve").json()["tasks"][0]["state"] == "approved"
    assert judging.serve("judge", TASK).task == TASK
    shown = visitor.get("/api/agents/red").json()
    assert (shown["kind"], shown["description"], shown["proposed_by"]) == ("PPO", "Trained for a day.", None)
    video = visitor.get(shown["tasks"][0]["videos"][0]["video"])
    assert video.headers["content-type"] == "video/mp4"
    assert video.content[4:8] == b"ftyp"


def test_a_withdrawn_agent_keeps_its_history_and_can_come_back(archive, app, team, boss):
    for number, name in enumerate(("red", "blue")):
        propose(team, name)
        upload(team, name, SEEDS[0], mp4(number * 50))
        boss.post(f"/api/agents/{name}/approve")
    match = app.state.services.judging.serve("judge", TASK)
    app.state.services.judging.release(match.id, "judge")
    assert team.post("/api/agents/red/withdraw").json()["tasks"][0]["state"] == "withdrawn"
    with pytest.raises(NothingToJudgeError):
        app.state.services.judging.serve("judge", TASK)
    assert "only the operator" in message(team.post("/api/agents/red/restore"), 403)
    assert boss.post("/api/agents/red/restore").json()["tasks"][0]["state"] == "approved"
    assert app.state.services.judging.serve("judge", TASK).task == TASK
    assert "nothing to restore" in message(boss.post("/api/agents/red/restore"), 409)


def test_a_declined_agent_learns_why_and_may_be_approved_later(team, boss, visitor):
    propose(team)
    assert boss.post("/api/agents/red/decline", json={"reason": "The video shows another game."}).status_code == 200
    entry = team.get("/api/agents/red").json()["tasks"][0]
    assert (entry["state"], entry["declined_because"]) == ("declined", "The video shows another game.")
    assert visitor.get("/api/agents/red").status_code == 404
    assert boss.post("/api/agents/red/approve").json()["tasks"][0] == entry | {"state": "approved", "declined_because": ""}


def test_the_same_video_twice_is_one_and_another_of_that_seed_is_refused(team):
    propose(team)
    first = upload(team, "red", SEEDS[0], mp4())
    assert upload(team, "red", SEEDS[0], mp4()).json()["episode"] == first.json()["episode"]
    assert "already" in message(upload(team, "red", SEEDS[0], mp4(90)), 409)


def test_what_was_approved_stays_as_it_was_approved(team, boss):
    propose(team)
    upload(team, "red", SEEDS[0], mp4())
    boss.post("/api/agents/red/approve")
    assert "propose a changed agent under another name" in message(upload(team, "red", SEEDS[1], mp4(30)), 409)
    assert upload(boss, "red", SEEDS[1], mp4(30)).status_code == 201


def test_more_tasks_can_be_proposed_later(team, boss):
    propose(team)
    boss.post("/api/agents/red/approve")
    tasks = propose(team, tasks=["atari/qbert"]).json()["tasks"]
    assert {entry["task"]: entry["state"] for entry in tasks} == {TASK: "approved", "atari/qbert": "waiting"}
    assert boss.post("/api/agents/red/approve", json={"task": "atari/qbert"}).status_code == 200


# Who may do what


def test_without_a_good_token_nothing_can_be_changed(app, archive, visitor, team):
    propose(team)
    calls = [
        ("post", "/api/agents", {"json": {"name": "x", "tasks": [TASK]}}),
        ("put", f"/api/agents/red/tasks/{TASK}/videos/{SEEDS[0]}", {"content": mp4()}),
        *[
            ("post", f"/api/agents/red/{verb}", {"json": {"reason": "x"}})
            for verb in ("approve", "decline", "withdraw", "restore")
        ],
    ]
    with archive.database.write() as session:
        store.approve(session, name="red", now=NOW)
    revoked = token(archive, "gone")
    with archive.database.write() as session:
        revoke_token(session, name="gone", now=NOW)
    for method, address, body in calls:
        for somebody in (visitor, client(app, "interplay-guess"), client(app, revoked)):
            answer = getattr(somebody, method)(address, **body)
            assert (answer.status_code, answer.json()["error"]) == (401, "unauthorized"), (address, answer.text)
            assert answer.headers["www-authenticate"] == "Bearer"
            if somebody is not visitor:
                assert (
                    "this server does not know this token, or it was revoked; ask the operator of the server"
                    in answer.json()["message"]
                )
        for scope in ("judge", "read"):
            holder = client(app, token(archive, f"{scope}-{next(_NUMBERS)}", scope))
            assert getattr(holder, method)(address, **body).status_code == 403, address


_NUMBERS = itertools.count()


def test_a_token_speaks_for_its_own_agents_only(app, archive, team):
    propose(team)
    other = client(app, token(archive, "team-blue"))
    assert "taken" in message(propose(other), 409)
    assert "unknown agent" in message(upload(other, "red", SEEDS[0], mp4()), 404)
    assert other.get("/api/agents").json() == []
    with archive.database.write() as session:
        store.approve(session, name="red", now=NOW)
    assert "somebody else" in message(upload(other, "red", SEEDS[0], mp4()), 403)
    assert "somebody else" in message(other.post("/api/agents/red/withdraw"), 403)
    assert other.get("/api/agents/red").json()["proposed_by"] is None
    assert team.get("/api/agents/red").json()["proposed_by"] == "team-red"


def test_a_token_for_reading_sees_what_waits(app, archive, team):
    propose(team)
    reader = client(app, token(archive, "reader", "read"))
    assert [agent["name"] for agent in reader.get("/api/agents").json()] == ["red"]


def test_a_known_token_is_no_operator_on_the_leaderboard_and_no_stranger(team):
    assert team.get("/api/leaderboard").status_code == 200


@pytest.mark.parametrize("name", ["random", "Random", "NOOP", "red", "RED"])
def test_names_that_are_taken_cannot_be_claimed(app, archive, team, name):
    propose(client(app, token(archive, "team-blue")), "Red")
    assert "is taken" in message(propose(team, name), 409)


def test_waiting_agents_are_limited(team, boss):
    for number in range(MAX_WAITING):
        assert propose(team, f"red-{number}").status_code == 201
    assert f"{MAX_WAITING} of your agents wait" in message(propose(team, "one-more"), 409)
    boss.post("/api/agents/red-0/approve")
    assert propose(team, "one-more").status_code == 201


def test_the_name_of_an_agent_that_waits_is_on_no_page(archive, team, boss, visitor):
    propose(team, "secret-red")
    assert upload(team, "secret-red", SEEDS[0], mp4()).status_code == 201
    for address in ("/", "/episodes", "/agents", "/leaderboard", "/judge"):
        assert "secret-red" not in visitor.get(address).text, address
    assert f'<option value="{TASK}"' not in visitor.get("/episodes").text  # nor is it said where something waits
    with archive.database.read() as session:
        assert (agent_names(session), count_by_task(session, EpisodeQuery(with_waiting=False))) == ([], {})
        assert agent_names(session, with_waiting=True) == ["secret-red"]
        assert count_by_task(session, EpisodeQuery()) == {TASK: 1}
    boss.post("/api/agents/secret-red/approve")
    assert '<option value="secret-red"' in visitor.get("/episodes").text


def test_many_agents_are_listed_with_one_look_at_their_episodes(archive, team, visitor):
    for number in range(8):
        assert propose(team, f"red-{number}", tasks=[TASK, "atari/qbert"]).status_code == 201
    upload(team, "red-3", SEEDS[0], mp4())
    with archive.database.write() as session:
        for number in range(8):
            store.approve(session, name=f"red-{number}", now=NOW)
    statements = []
    with archive.database.read() as session:
        engine = session.get_bind()
    sqlalchemy.event.listen(engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))
    listed = visitor.get("/api/agents").json()
    assert len([statement for statement in statements if "FROM episodes" in statement]) == 1
    assert [len(agent["tasks"]) for agent in listed] == [2] * 8
    assert [bool(agent["tasks"][0]["videos"]) for agent in listed] == [number == 3 for number in range(8)]


# Room


def test_a_video_there_is_no_room_for_is_refused_before_it_is_read(team, archive, monkeypatch):
    propose(team)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: shutil._ntuple_diskusage(10**9, 10**9 - 3000, 3000))
    assert "no space for this video" in message(upload(team, "red", SEEDS[0], b"x" * 2000), 503)
    assert list((archive.root / "media" / "uploads").iterdir()) == []


def test_a_token_sends_one_video_at_a_time(app, archive):
    key = token(archive, "team-red")
    propose(client(app, key))
    address = f"/api/agents/red/tasks/{TASK}/videos"
    headers = {"Authorization": f"Bearer {key}"}

    async def race():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver", headers=headers) as both:
            is_receiving, may_end = asyncio.Event(), asyncio.Event()

            async def slowly():
                yield mp4()[:100]
                is_receiving.set()
                await may_end.wait()
                yield mp4()[100:]

            first = asyncio.create_task(both.put(f"{address}/{SEEDS[0]}", content=slowly()))
            await is_receiving.wait()
            second = await both.put(f"{address}/{SEEDS[1]}", content=mp4(30))
            may_end.set()
            return await first, second, await both.put(f"{address}/{SEEDS[1]}", content=mp4(30))

    first, second, third = asyncio.run(race())
    assert "another video of yours" in message(second, 429)
    assert second.json()["error"] == "busy"
    assert (first.status_code, third.status_code) == (201, 201)


# Garbage


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"tasks": [TASK]}, "name: Field required"),
        ({"name": "a b", "tasks": [TASK]}, "name: must be 1 to 60 letters, digits or . _ + -"),
        ({"name": "../x", "tasks": [TASK]}, "name: must be"),
        ({"name": "x\n", "tasks": [TASK]}, "name: must be"),
        ({"name": "participant-3", "tasks": [TASK]}, "names of that form are for people"),
        ({"name": "x", "tasks": []}, "tasks: "),
        ({"name": "x", "tasks": ["atari/breakot"]}, "did you mean 'atari/breakout'?"),
        ({"name": "x", "tasks": [TASK], "description": "a\0b"}, "description: must not contain the character NUL"),
        ({"name": "x", "tasks": [TASK], "kind": "a\nb"}, "kind: must be one line"),
        ({"name": "x", "tasks": [TASK], "kind": ""}, "kind: "),
    ],
)
def test_a_proposal_with_a_fault_is_refused_by_its_name(team, body, says):
    assert says in message(team.post("/api/agents", json=body), 422)


def test_what_is_no_video_is_refused_without_a_trace(archive, team):
    propose(team)
    for content in (b"", b"hello", b"\0\0\0\x18ftypmp42" + b"x" * 400, mp4()[:-500]):
        text = message(upload(team, "red", SEEDS[0], content), 422)
        assert str(archive.root) not in text
        assert "video.mp4" in text
    assert list((archive.root / "media").rglob("*.mp4")) == []
    assert upload(team, "red", SEEDS[0], mp4()).status_code == 201


def test_a_video_for_a_wrong_place_is_refused_before_it_is_read(team, boss):
    propose(team)
    assert "not a held-out seed" in message(upload(team, "red", 1, mp4()), 422)
    assert "not proposed for atari/qbert" in message(
        upload(team, "red", find("atari/qbert").held_out_seeds[0], mp4(), "atari/qbert"), 404
    )
    assert "did you mean" in message(upload(team, "red", 1, mp4(), "atari/breakot"), 422)
    assert upload(team, "nobody", SEEDS[0], mp4()).status_code == 404


def test_a_video_may_be_larger_than_other_bodies_and_has_a_limit_of_its_own(archive, team):
    propose(team)
    noise = np.random.default_rng(0).bytes(2_000_001)
    answer = upload(team, "red", SEEDS[0], noise)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")
    assert "larger than 2 MiB" in answer.json()["message"]
    address = f"/api/agents/red/tasks/{TASK}/videos/{SEEDS[0]}"
    chunked = team.put(address, content=(noise[start : start + 65536] for start in range(0, len(noise), 65536)))
    assert chunked.status_code == 413  # no length was claimed: counted while it came
    assert list((archive.root / "media").rglob("*.mp4")) == []
    assert "mp4" in message(upload(team, "red", SEEDS[0], noise[:1_000_000]), 422)  # far over the limit of other bodies
    assert team.post("/api/agents", content=b" " * 300_000).status_code == 413


@pytest.mark.processes
def test_serve_takes_the_largest_video_as_an_option(archive, serve, tmp_path):
    bearer = {"Authorization": f"Bearer {token(archive, 'team-red')}"}
    with serve(archive.root, tmp_path, {}, "--max-video-mb", "1") as address, httpx.Client(headers=bearer) as team:
        team.post(f"{address}/api/agents", json={"name": "red", "tasks": [TASK]}).raise_for_status()
        video = f"{address}/api/agents/red/tasks/{TASK}/videos/{SEEDS[0]}"
        answer = team.put(video, content=bytes(2**20 + 1))
        assert "larger than 1 MiB" in message(answer, 413)
        assert team.put(video, content=mp4()).status_code == 201


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("0", "--max-video-mb takes a whole number from 1 on, got 0; leave it out for 500"),
        ("-3", "--max-video-mb takes a whole number from 1 on, got -3; leave it out for 500"),
        ("many", "valid integer"),
    ],
)
def test_a_size_that_is_none_is_misuse_and_nothing_is_served(tmp_path, monkeypatch, capsys, value, says):
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--port", "0", "--max-video-mb", value, "--data", str(tmp_path / "none")])
    assert says in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_the_size_of_the_command_line_is_that_of_the_application():
    assert DEFAULT_MAX_VIDEO_MB * 2**20 == MAX_VIDEO_BYTES


@pytest.mark.parametrize("name", ["%00", "x" * 300, "%ff%fe", "..", "%2e%2e%2fx", "a%0ab"])
def test_odd_names_in_addresses_are_unknown_agents_and_no_errors(team, boss, name):
    for somebody in (team, boss):
        assert somebody.get(f"/api/agents/{name}").status_code in (400, 404, 200)
        assert somebody.post(f"/api/agents/{name}/withdraw").status_code in (400, 404, 405)
        assert upload(somebody, name, SEEDS[0], b"x").status_code in (400, 404, 405)


# The description


def test_the_description_names_every_body_answer_and_refusal(visitor):
    document = visitor.get("/api/openapi.json").json()
    paths = document["paths"]
    put = paths["/api/agents/{name}/tasks/{suite}/{task}/videos/{seed}"]["put"]
    assert put["requestBody"]["content"] == {"video/mp4": {"schema": {"type": "string", "format": "binary"}}}
    assert {"201", "401", "403", "404", "409", "413", "422"} <= set(put["responses"])
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert document["components"]["schemas"]["Proposal"]["required"] == ["name", "tasks"]
    for path, verbs in paths.items():
        for verb, operation in verbs.items():
            assert {"summary", "description"} <= set(operation), (verb, path)
