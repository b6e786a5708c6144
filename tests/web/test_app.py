"""The application through its in-process client: headers, identity, errors, episodes, pages."""

import inspect
import multiprocessing
import os
import re
import signal
import struct
import sys
import threading
import time
import warnings
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from fastapi.routing import APIRoute
from itsdangerous import URLSafeSerializer

import interplay.record
from interplay import testing
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.envs import EnvError, Frame, make
from interplay.envs.atari import AtariEnv
from interplay.judge import Judging
from interplay.judge.ratings.boards import COLUMNS
from interplay.play.connections import wire
from interplay.play.connections.codec import FrameDecoder, palette_from_text
from interplay.play.connections.tokens import operator_token
from interplay.play.server import PlayServer
from interplay.rank.normal import Z95
from interplay.store import EpisodeRow, EpisodeSeat, Participant
from interplay.store.entrants import admit
from interplay.store.participants import participant_by_key
from interplay.tasks import builtin_suites, find, parse_suite
from interplay.web.app import STATIC, create_app
from interplay.web.http.identity import COOKIE
from interplay.web.http.rates import Rate
from interplay.web.http.security import MAX_BODY_BYTES, Hosts
from interplay.web.judging.board import board_view
from interplay.web.pages import key_rows
from interplay.web.pictures import PLACEHOLDER_SIZE, Pictures

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would like another HTTP library
    from starlette.testclient import TestClient, WebSocketDenialResponse

CARTPOLE = """
[suite]
id = "classic"
title = "Classic control"
[[task]]
name = "cartpole"
title = "Cart pole"
goal = "Balance."
instructions = "Left and right."
time_limit_s = 10
frame_rate_hz = 50
held_out_seeds = [1]
env.id = "gym:CartPole-v1"
questions = [{ id = "overall", factor = "overall", kind = "overall", text = "Who balanced longer?" }]
[task.keys]
buttons = ["RIGHT"]
bindings = { ArrowRight = "RIGHT" }
actions = { "" = 0, RIGHT = 1 }
"""

PONG = "together/cooperative_pong"
PAGES = ("/", "/play/atari/breakout", "/episodes", "/leaderboard", "/judge", "/nowhere")


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """An archive with one episode of Breakout."""
    archive = interplay.record.open(tmp_path_factory.mktemp("app"))
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def episode(archive):
    """150 steps of random Breakout."""
    agent = find_agent("random", archive)
    return rollout(archive, find("atari/breakout"), agent, 9001, rng=np.random.default_rng(0), max_steps=150)


@pytest.fixture(scope="module")
def app(archive):
    """The application over it."""
    return create_app(archive, suites=[*builtin_suites(), parse_suite(CARTPOLE)])


@pytest.fixture
def client(app):
    """A visitor without cookies."""
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_health_is_answered_at_once(client):
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.parametrize("address", [*PAGES, "/api/tasks", "/api/nowhere", "/static/js/player.js"])
def test_every_answer_forbids_scripts_of_others(client, address):
    headers = client.get(address).headers
    assert "script-src 'self' 'wasm-unsafe-eval';" in headers["content-security-policy"]  # WebAssembly, and no eval of scripts
    assert "'unsafe-" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_the_statistics_of_an_episode_stand_on_its_page(client, archive, episode):
    known = {one.name: one.value for one in archive.measures([episode])[episode.id]}
    page = client.get(f"/episodes/{episode.id}").text
    assert f'<tr><th scope="row">Action changes</th><td>{known["action_changes"]}</td></tr>' in page
    assert '<tr><th scope="row">Active time</th><td>0:02</td></tr>' in page  # 150 steps at 60 Hz


def test_an_outcome_check_stands_on_the_page_of_its_episode(client, archive, episode):
    assert episode.outcome_check == {}
    assert "Outcome check" not in client.get(f"/episodes/{episode.id}").text

    class Checked(AtariEnv):
        def outcome_check(self):
            return {"success": False, "in_view": True, "num_cells": 7}

    task = find("atari/breakout")
    env = Checked(task)
    recorder = archive.recorder(task, env, seed=5, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=5))
    recorder.step({"player": 0}, env.step({"player": 0}), clock_us=0)
    checked = archive.seal(recorder.finish("quit"))
    assert checked.outcome_check == {"success": False, "in_view": True, "num_cells": 7}
    assert archive.get(checked.id).statistics["automatic_in_view"] == 1
    page = client.get(f"/episodes/{checked.id}").text
    for text in ("not passed", '<dt>In view</dt><dd class="num">yes</dd>', '<dt>Cells</dt><dd class="num">7</dd>'):
        assert text in page
    assert "Automatic in view" not in page


def test_no_page_refers_to_another_host(client, episode):
    for address in (*PAGES, f"/episodes/{episode.id}"):
        html = client.get(address).text
        assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", html) == [], address
        assert "<script>" not in html
        assert not re.search(r"\son\w+=|\sstyle=", html), f"{address} has inline code that its own policy forbids"


def test_no_script_or_style_of_ours_loads_from_another_host():
    for path in [*STATIC.glob("js/*.js"), *STATIC.glob("css/*.css"), *STATIC.glob("vendor/**/*.css")]:
        loads = re.findall(r"""(?:url\(|@import\s|from\s|fetch\()\s*["']?(?:https?:)?//[^"')]+""", path.read_text())
        assert loads == [], path


def test_vendored_libraries_keep_their_licences():
    folders = [path for path in (STATIC / "vendor").iterdir() if path.is_dir()]
    assert {folder.name for folder in folders} == {"d3", "htmx", "pico", "plot"}
    assert all(any(file.name.startswith("LICENSE") for file in folder.iterdir()) for folder in folders)


def test_everything_a_page_loads_is_there(client, episode):
    for address in (*PAGES, f"/episodes/{episode.id}"):
        for asset in re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get(address).text):
            assert client.get(asset).status_code == 200, asset
    for script in STATIC.glob("js/*.js"):
        for module in re.findall(r'from "\./([^"]+)"', script.read_text()):
            assert (STATIC / "js" / module).is_file(), f"{script.name} imports {module}"


def test_handlers_run_in_threads_so_the_database_never_stops_the_frames(app):
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    blocking = [route.path for route in routes if inspect.iscoroutinefunction(route.endpoint)]
    assert blocking == []


# Who is asking


def num_participants(archive) -> int:
    with archive.database.read() as session:
        return session.query(Participant).count()


def test_reading_pages_leaves_no_trace(client, archive):
    before = num_participants(archive)
    for address in PAGES:
        assert "set-cookie" not in client.get(address).headers
    assert num_participants(archive) == before


def test_judging_makes_one_participant_whose_cookie_scripts_cannot_read(client, archive):
    before = num_participants(archive)
    first = client.post("/api/judge/matches", json={})
    cookie = first.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie  # plain http on one's own machine
    assert "set-cookie" not in client.post("/api/judge/matches", json={}).headers
    assert num_participants(archive) == before + 1


def test_a_forged_cookie_is_a_stranger(client, archive):
    client.post("/api/judge/matches", json={})
    before = num_participants(archive)
    forged = client.cookies[COOKIE].strip('"')[:-2] + "xx"
    client.cookies.clear()
    client.cookies.set(COOKIE, forged)
    assert "set-cookie" in client.post("/api/judge/matches", json={}).headers
    assert num_participants(archive) == before + 1


def test_a_cookie_of_another_database_makes_its_participant_once(client, archive):
    """The server's secret is kept and the database is new: the key stays the person's own."""
    before = num_participants(archive)
    signer = URLSafeSerializer(client.app.state.services.secret, salt="interplay.participant")
    client.cookies.set(COOKIE, signer.dumps("a-key-of-before"))
    for _ in range(3):
        client.post("/api/judge/matches", json={})
    assert num_participants(archive) == before + 1
    with archive.database.read() as session:
        assert participant_by_key(session, "a-key-of-before") is not None


def test_pages_of_other_sites_cannot_act_in_a_visitors_name(client, archive):
    before = num_participants(archive)
    for site in ("cross-site", "same-site"):
        answer = client.post("/api/judge/matches", json={}, headers={"Sec-Fetch-Site": site})
        assert answer.status_code == 403
        assert answer.json()["error"] == "cross_site"
    assert num_participants(archive) == before


# Errors


def test_a_long_body_is_refused_whether_it_says_its_length_or_not(client):
    chunks = [b"x" * (MAX_BODY_BYTES // 2)] * 3
    for body in (b"".join(chunks), iter(chunks)):
        answer = client.post("/api/sessions", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413
        assert answer.json() == {"error": "too_large", "message": "the request is larger than 256 KiB"}


def test_a_body_that_is_no_json_is_refused_in_words(client):
    answer = client.post("/api/sessions", content='{"task": "atari/breakout"}', headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415
    assert answer.json() == {
        "error": "unsupported_media_type",
        "message": "send the body as JSON, with the header 'Content-Type: application/json', got 'text/plain'",
    }
    answer = client.post("/api/sessions", content="")
    assert (answer.status_code, answer.json()["message"]) == (422, "body: Field required")


def test_a_mistyped_task_gets_a_page_with_the_nearest_one(client):
    answer = client.get("/play/atari/breakot")
    assert answer.status_code == 404
    assert "Page not found" in answer.text
    assert 'href="/play/atari/breakout"' in answer.text


def test_programs_get_errors_as_json(client):
    answer = client.get("/api/episodes/nobody")
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert "nobody" in answer.json()["message"]
    assert "\n" not in answer.json()["message"]  # folders of the server are no business of the client
    assert client.get("/api/episodes/x/frames?count=ten").json()["errors"][0]["field"] == "count"
    assert client.get(f"/api/episodes/{'x' * 500}").status_code == 404


def test_a_crash_is_a_calm_page_with_the_same_headers(archive):
    class Broken(Judging):
        def leaderboard(self, task=None):
            raise RuntimeError("secret detail")

    app = create_app(archive, judging=Broken(archive, rng=np.random.default_rng(0)))
    with TestClient(app, raise_server_exceptions=False) as client:
        page, document = client.get("/leaderboard"), client.get("/api/leaderboard")
    assert (page.status_code, document.status_code) == (500, 500)
    assert "Something went wrong on our side" in page.text
    assert document.json()["error"] == "internal_error"
    assert "secret" not in page.text + document.text
    assert "script-src 'self'" in page.headers["content-security-policy"]


def test_a_broken_recording_is_our_fault_and_says_nothing_of_our_folders(client, archive):
    played = rollout(
        archive, find("atari/breakout"), find_agent("noop", archive), 9002, rng=np.random.default_rng(0), max_steps=8
    )
    archive.episode_path(played.task_id, played.id).write_bytes(b"PAR1")
    for address in (f"/api/episodes/{played.id}", f"/episodes/{played.id}", f"/api/episodes/{played.id}/video.mp4"):
        answer = client.get(address)
        assert answer.status_code == 500, address
        assert "An unexpected error happened on the server" in answer.text
        assert str(archive.root) not in answer.text


def test_a_recording_that_another_server_made_is_said_not_to_be_here(client, archive):
    for task in (find("atari/breakout"), parse_suite(CARTPOLE).tasks[0]):
        played = rollout(archive, task, find_agent("noop", archive), 9003, rng=np.random.default_rng(0), max_steps=8)
        archive.episode_path(played.task_id, played.id).unlink()
        for method, end in (("GET", ""), ("GET", "/frames"), ("GET", "/video.mp4"), ("POST", "/film")):
            answer = client.request(method, f"/api/episodes/{played.id}{end}")
            assert (answer.status_code, answer.json()["error"]) == (404, "not_found"), (task.id, end)
            assert answer.json()["message"] == f"The recording of episode {played.id} is not on this server."
        page = client.get(f"/episodes/{played.id}")
        assert (page.status_code, f"episode {played.id} is not on this server" in page.text) == (404, True)


def test_a_server_that_is_full_or_stopping_says_come_back_later(archive, monkeypatch):
    play = PlayServer(archive, secret=b"x" * 32, num_workers=1)
    client = TestClient(create_app(archive, play=play))  # not entered: its workers are not needed
    monkeypatch.setattr("interplay.play.limits.MAX_SEATS", 0)
    full = client.post("/api/sessions", json={"task": "atari/breakout"})
    assert (full.status_code, full.json()["error"]) == (503, "unavailable")
    assert "try again in a few minutes" in full.json()["message"]
    assert full.headers["retry-after"] == "180"
    assert client.post("/api/sessions", json={"task": "atari/brekout"}).status_code == 404


def test_who_asks_for_games_with_others_again_and_again_is_told_to_wait(archive):
    play = PlayServer(archive, secret=b"x" * 32, num_workers=1)
    app = create_app(archive, play=play)
    now = iter(range(1000)).__next__
    app.state.services = replace(
        app.state.services, joins=(Rate(2, 60, clock=lambda: now() / 100), Rate(4, 60, clock=lambda: now() / 100))
    )

    def ask(client, **wanted):
        return client.post("/api/sessions", json={"task": "gymnasium/frozen_lake"} | wanted)

    person, other, third = (TestClient(app) for _ in range(3))
    for one in (person, other):
        assert [ask(one, task=PONG).status_code for _ in range(3)] == [201, 201, 429]
    refused = ask(third, task=PONG)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    assert "2 games with others in a minute, or your address for 4; wait a minute" in refused.json()["message"]
    assert ask(person).status_code == 201, "a game for one disturbs nobody"
    assert ask(person, task=PONG, partner="scripted").status_code == 201, "nor does one with an agent"


@pytest.mark.parametrize("address", [*PAGES, "/static/js/player.js", "/api/tasks", "/tasks/atari/breakout/picture.png"])
def test_head_is_answered_as_get_without_a_body(client, address):
    got, head = client.get(address), client.head(address)
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert head.headers.get("content-length") == got.headers.get("content-length")


def test_head_of_a_stream_ends_with_its_headers(client, episode):
    head = client.head(f"/api/episodes/{episode.id}/frames")
    assert (head.status_code, head.content) == (200, b"")
    assert client.head("/api/sessions").status_code == 405, "as GET"


def test_text_from_a_task_file_is_escaped(archive):
    nasty = CARTPOLE.replace("Balance.", "</script><script>alert(1)</script>")
    with TestClient(create_app(archive, suites=[parse_suite(nasty)])) as client:
        for address in ("/", "/play/classic/cartpole"):
            assert "<script>alert" not in client.get(address).text


# Episodes


def split(body: bytes) -> list[bytes]:
    """The messages of a frames answer."""
    messages = []
    while body:
        (length,) = struct.unpack_from("<I", body)
        messages.append(body[4 : 4 + length])
        body = body[4 + length :]
    return messages


@pytest.mark.parametrize(("start", "count"), [(0, 600), (37, 20), (150, 600)])
def test_frames_over_http_equal_the_recording(client, episode, start, count):
    answer = client.get(f"/api/episodes/{episode.id}/frames", params={"start": start, "count": count})
    decoder = FrameDecoder(160, 210, palette_from_text(answer.headers["x-palette"]))
    messages = split(answer.content)
    assert len(messages) == min(count, 151 - start)
    total = 0.0
    for step, message in enumerate(messages, start=start):
        header = decoder.apply(message)
        total += header.reward
        assert header.step == step
        assert header.flags == (step == 150)
        np.testing.assert_array_equal(decoder.pixels, episode.frames[step].pixels)
    assert total == pytest.approx(episode.rewards()[max(0, start - 1) : start + count - 1].sum())
    assert "immutable" in answer.headers["cache-control"]


def test_frames_past_the_end_are_none_and_too_many_are_refused(client, episode):
    beyond = client.get(f"/api/episodes/{episode.id}/frames", params={"start": 151})
    assert (beyond.status_code, beyond.content) == (200, b"")
    assert client.get(f"/api/episodes/{episode.id}/frames", params={"count": 601}).status_code == 422
    assert client.get(f"/api/episodes/{episode.id}/frames", params={"start": -1}).status_code == 422


def test_rewards_that_are_not_finite_are_shown_plainly_and_leave_every_answer_json(client, archive):
    task = parse_suite(CARTPOLE.replace('name = "cartpole"', 'name = "odd"')).tasks[0]
    env = make(task)
    recorder = archive.recorder(task, env, seed=5, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=5))
    for step, reward in enumerate((1.0, np.nan, np.inf, 1e300, -1e300, 2.0)):
        observations, _, _, _, info = env.step({"player": 0})
        recorder.step({"player": 0}, (observations, {"player": reward}, False, False, info), clock_us=step * 20_000)
    odd = archive.seal(recorder.finish("quit"))
    page = client.get(f"/episodes/{odd.id}").text
    assert '<dt>Score</dt><dd class="num">2</dd>' in page
    assert '<dt>NaN or infinite rewards</dt><dd class="num">2</dd>' in page
    facts = client.get(f"/api/episodes/{odd.id}")
    assert facts.json()["total_reward"] == 2  # 1 is lost beside 1e300
    assert odd.id in client.get("/episodes?task=classic/odd").text
    heads = [wire.unpack_header(message) for message in split(client.get(f"/api/episodes/{odd.id}/frames").content)]
    assert [head.reward for head in heads][:4] == [0, 1, 0, 0]
    assert heads[4].reward > 1e38


def test_frames_of_any_gymnasium_world_come_in_their_true_colours(client, archive):
    task = parse_suite(CARTPOLE).tasks[0]
    played = rollout(archive, task, find_agent("random", archive), 1, rng=np.random.default_rng(0), max_steps=30)
    facts = client.get(f"/api/episodes/{played.id}").json()
    answer = client.get(f"/api/episodes/{played.id}/frames")
    palette = palette_from_text(answer.headers["x-palette"])
    decoder = FrameDecoder(facts["width"], facts["height"], palette)
    for step, message in enumerate(split(answer.content)):
        decoder.apply(message)
        np.testing.assert_array_equal(palette[decoder.pixels], played.frames[step].rgb())
    assert step == facts["num_steps"]


def test_facts_of_an_episode_tell_what_a_replay_needs(client, episode):
    facts = client.get(f"/api/episodes/{episode.id}").json()
    wanted = {"width": 160, "height": 210, "num_steps": 150, "num_frames": 151, "frame_rate_hz": 60.0, "actor": "random"}
    assert wanted.items() <= facts.items()
    assert "participant_id" not in facts


def test_a_film_that_is_not_there_yet_is_said_to_be_under_way_and_downloaded_once_it_is_made(archive, tmp_path):
    played = rollout(
        archive, find("atari/breakout"), find_agent("random", archive), 3, rng=np.random.default_rng(0), max_steps=90
    )
    with TestClient(create_app(archive)) as client:
        address = f"/api/episodes/{played.id}"
        assert client.post(f"{address}/film").json()["state"] in ("waiting", "making")
        deadline = time.monotonic() + 60
        while (answer := client.get(f"{address}/video.mp4")).status_code == 202:
            assert time.monotonic() < deadline, "the film was never made"
            assert answer.headers["retry-after"] == "1"
            assert answer.headers["cache-control"] == "no-store"
            assert answer.json()["state"] in ("waiting", "making")
        assert client.post(f"{address}/film").json() == {"episode": played.id, "state": "made", "share": 1.0}
    assert answer.headers["content-type"] == "video/mp4"
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.content[4:8] == b"ftyp"


def test_a_film_that_failed_is_tried_again_for_who_asks_once_its_time_has_come(archive):
    agent, rng = find_agent("random", archive), np.random.default_rng(0)
    played = rollout(archive, find("atari/breakout"), agent, 4, rng=rng, max_steps=30)
    whole = played.path.read_bytes()
    played.path.write_bytes(b"no Parquet")
    with TestClient(create_app(archive)) as client:
        films = client.app.state.services.films

        def state_once_tried():
            deadline = time.monotonic() + 60
            while (state := client.post(f"/api/episodes/{played.id}/film").json()["state"]) in ("waiting", "making"):
                assert time.monotonic() < deadline, "it was never tried"
                time.sleep(0.01)
            return state

        assert state_once_tried() == "failed"
        played.path.write_bytes(whole)
        assert client.post(f"/api/episodes/{played.id}/film").json()["state"] == "failed"
        assert films.failures()[played.id].num == 1, "asking often is no reason to try often"
        films._clock = lambda: time.monotonic() + 61
        assert state_once_tried() == "made"


def as_operator(archive) -> dict[str, str]:
    """Headers of who sees every episode."""
    return {"Authorization": f"Bearer {operator_token(archive.root)}"}


def test_the_catalogue_is_paged_and_filtered(tmp_path):
    archive = interplay.record.open(tmp_path)
    with archive.database.write() as session:
        for number in range(120):
            actor, kind = ("participant-7", "human") if number % 3 == 0 else ("random", "agent")
            hours_ago = datetime.now(UTC) - timedelta(hours=number)
            new = {"id": f"e{number:03}", "actor_kind": kind, "total_reward": float(number), "created_at": hours_ago}
            testing.add_episode(session, find("atari/qbert"), actor, number, **new)
    with TestClient(create_app(archive), headers=as_operator(archive)) as client:
        first, last = client.get("/episodes").text, client.get("/episodes?page=3").text
        people = client.get("/episodes?actor=human").text
        beyond = client.get("/episodes?page=99").text
        nothing = client.get("/episodes?task=atari/breakout").text
    archive.close()
    assert "120 episodes" in first
    assert "page 1 of 3" in first
    assert first.count('href="/episodes/e') == 50
    assert (last.count('href="/episodes/e'), "Older" in last) == (20, False)
    assert beyond.count('href="/episodes/e') == 20  # the last page there is
    assert "40 episodes" in people
    assert "person 7" in people
    assert "No episode matches" in nothing


def test_everybody_who_played_is_named_with_their_seats(tmp_path):
    archive = interplay.record.open(tmp_path)
    task = find("together/cooperative_pong")
    with archive.database.write() as session:
        testing.add_episode(
            session, task, "participant-7", task.held_out_seeds[0], id="two", actor_kind="human", frames="uploaded"
        )
        row = session.get_one(EpisodeRow, "two")
        row.seats = []
        session.flush()
        for seat, actor, kind in (("left", "participant-7", "human"), ("right", "random", "agent")):
            row.seats.append(EpisodeSeat(seat=seat, actor=actor, actor_kind=kind, num_steps=9, total_reward=1.0))
        testing.add_episode(session, find("atari/qbert"), "random", 1, id="one", frames="uploaded")
        for name in ("participant-7", "random"):
            origin = "person" if name != "random" else "agent"
            admit(session, name=name, task=task.id, kind="agent", now=datetime.now(UTC), origin=origin)
    with TestClient(create_app(archive), headers=as_operator(archive)) as client:
        rows, two, one = (client.get(path).text for path in ("/episodes", "/episodes/two", "/episodes/one"))
        videos = client.get("/api/agents/random").json()["tasks"][0]["videos"]
        page = client.get("/agents/random").text
    archive.close()
    both = "person 7 (left) and random (right)"
    assert both in rows
    assert f"<h1>{task.title}, played by {both}</h1>" in two
    assert "played by random</h1>" in one
    assert [video["seats"] for video in videos] == [["right"]]
    assert "in seat right" in page


# Pages


def test_an_empty_archive_has_pages_that_say_how_to_fill_it(tmp_path):
    archive = interplay.record.open(tmp_path)
    with TestClient(create_app(archive)) as client:
        assert "interplay play" in client.get("/episodes").text
        assert "No answers yet" in client.get("/leaderboard").text
        assert "interplay play" in client.get("/judge").text
        assert client.get("/leaderboard.csv").text == ",".join(COLUMNS) + "\n"
    archive.close()


def test_walking_looking_and_the_hotbar_take_a_row_each():
    rows = {label: keys for _, label, keys in key_rows(find("basalt/find_cave"))}
    assert rows["look around"] == ["mouse", "←", "→", "↑", "↓"]
    assert rows["walk"] == ["W", "A", "S", "D"]
    assert not any(label.startswith(("walk ", "look l", "step")) for label in rows)
    assert len(rows) <= 14
    assert "walk" not in {label for _, label, _ in key_rows(find("atari/breakout"))}


def test_keys_without_effect_are_not_listed(client):
    html = client.get("/play/atari/breakout").text
    assert "serve the ball" in html
    assert "no effect" not in html.partition('class="keys"')[2].partition("</dl>")[0]


def picture_of(client, task: str):
    """The answer with a task's picture, once it is made."""
    deadline = time.monotonic() + 60
    while "retry-after" in (answer := client.get(f"/tasks/{task}/picture.png")).headers:
        assert time.monotonic() < deadline, f"no picture of {task} came"
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "image/png"
    return answer


def test_a_task_picture_is_a_frame_of_its_game_drawn_once(client, tmp_path):
    cv2 = pytest.importorskip("cv2")
    path = Pictures(tmp_path).path(find("atari/breakout"))
    assert path is not None
    written = path.stat().st_mtime_ns
    picture = cv2.imread(str(path))
    assert picture.shape == (210, 160, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 5  # a wall of colours, not a black screen
    assert Pictures(tmp_path).path(find("atari/breakout")) == path
    assert path.stat().st_mtime_ns == written
    assert picture_of(client, "atari/breakout").content == path.read_bytes()  # the seed is fixed
    picture_of(client, "classic/cartpole")


def test_a_picture_that_takes_long_is_stood_in_for_until_it_is_made(archive, tmp_path, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr("interplay.web.pages.PICTURE_WAIT_S", 0.0)
    monkeypatch.setattr(
        "interplay.web.pictures._a_moment", lambda task: go_on.wait() and Frame(np.zeros((2, 4, 3), np.uint8), None)
    )
    app = create_app(archive, suites=builtin_suites())
    app.state.services = replace(app.state.services, pictures=(Pictures(tmp_path)))
    client = TestClient(app)
    answers = [client.get(f"/tasks/atari/breakout/picture.png?again={n}") for n in range(3)]
    go_on.set()
    for answer in answers:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("image/svg+xml")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["retry-after"] == "5"
        root = ElementTree.fromstring(answer.content)
        assert (root.get("width"), root.get("height")) == tuple(map(str, PLACEHOLDER_SIZE))
        assert "".join(root.itertext()) == "Breakout"
    assert picture_of(client, "atari/breakout").content.startswith(b"\x89PNG")
    script = (STATIC / "js" / "pictures.js").read_text()
    assert f"[WIDTH, HEIGHT] = [{PLACEHOLDER_SIZE[0]}, {PLACEHOLDER_SIZE[1]}]" in script


def test_a_world_that_cannot_be_drawn_is_told_and_tried_again(tmp_path, monkeypatch):
    tries = []

    def fails(task):
        tries.append(task)
        raise EnvError("no such world")

    monkeypatch.setattr("interplay.web.pictures._a_moment", fails)
    pictures = Pictures(tmp_path)
    for _ in range(2):
        with pytest.raises(EnvError, match="no such world"):
            pictures.path(find("atari/breakout"))
    assert len(tries) == 2


def test_the_process_that_draws_ends_with_the_application(tmp_path):
    before = set(multiprocessing.active_children())
    pictures = Pictures(tmp_path)
    task = next(task for suite in builtin_suites() for task in suite.tasks if task.env.backend == "voxel")
    assert pictures.path(task, within_s=0) is None
    deadline = time.monotonic() + 60
    while not set(multiprocessing.active_children()) - before:
        assert time.monotonic() < deadline, "nothing was started"
        time.sleep(0.01)
    (painter,) = set(multiprocessing.active_children()) - before
    assert painter.pid is not None
    os.kill(painter.pid, signal.SIGINT)  # Ctrl-C in the server's terminal
    painter.join(0.5)
    assert painter.is_alive()
    pictures.close()
    assert set(multiprocessing.active_children()) <= before
    with pytest.raises(EnvError, match="the server is stopping"):
        pictures.path(task, within_s=60)


def test_leaderboard_bars_share_one_axis():
    rows = [
        {"mu": 30.0, "low": 30 - 2 * Z95, "high": 30 + 2 * Z95, "won": 3, "drew": 1, "lost": 0},
        {"mu": 20.0, "low": 20 - Z95, "high": 20 + Z95, "won": 0, "drew": 1, "lost": 3},
        {"mu": 20.0, "low": None, "high": None, "won": 0, "drew": 0, "lost": 0},
    ]
    view = board_view(rows)
    # 30 + 1.96 * 2 = 33.92 -> 34; 20 - 1.96 = 18.04 -> 18: an axis of 16 points
    assert (view.low, view.high) == (18, 34)
    assert view.prior == pytest.approx(100 * (25 - 18) / 16)
    first, second, unknown = (bar for _, bar in view.rows)
    assert (unknown.start, unknown.width) == (unknown.middle, 0)
    assert first.middle == pytest.approx(75)
    assert first.start + first.width == pytest.approx(100 * (30 + 2 * Z95 - 18) / 16, abs=1e-2)
    assert second.start >= 0
    assert (first.won, first.drew, first.lost) == (75, 25, 0)


def test_an_empty_leaderboard_still_has_an_axis():
    assert (board_view([]).low, board_view([]).high) == (20, 30)


def test_templates_name_only_scripts_that_exist():
    templates = Path(STATIC).parent / "templates"
    for page in templates.glob("*.html"):
        for asset in re.findall(r'/static/([^"\']+)', page.read_text()):
            assert (STATIC / asset).is_file(), f"{page.name}: {asset}"


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://testserver", 401), ("http://evil.example", 403), (None, 401), ("null", 403), ("", 403), ("http://[", 403)],
)
def test_servers_without_https_go_by_the_origin_a_browser_names(client, origin, status):
    headers = {} if origin is None else {"Origin": origin}
    assert client.post("/operator", headers=headers).status_code == status


def test_a_page_that_leads_its_own_name_here_gets_no_answer_and_no_socket(archive):
    """DNS rebinding: the browser takes us for that page's own server."""
    play = PlayServer(archive, secret=b"x" * 32, num_workers=1)
    client = TestClient(create_app(archive, play=play, hosts=Hosts.of("127.0.0.1", ["Lab.example:443"])))
    evil = {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"}
    for name in ("127.0.0.1:8000", "localhost", "LOCALHOST.", "[::1]:80", "lab.example"):
        assert client.get("/healthz", headers={"Host": name}).status_code == 200, name
    for name in ("evil.example", "192.0.2.7", "127.0.0.1.evil.example", "localhost@evil.example", "[", "", "a b"):
        assert client.get("/healthz", headers={"Host": name}).status_code == 421, name
    answer = client.post("/api/sessions", json={"task": "atari/breakout"}, headers=evil)
    assert (answer.status_code, answer.json()["error"]) == (421, "wrong_host")
    assert "interplay serve --allow-host evil.example" in answer.json()["message"]
    page = client.get("/", headers=evil)
    assert (page.status_code, page.headers["content-type"]) == (421, "text/plain; charset=utf-8")
    with (
        pytest.raises(WebSocketDenialResponse) as refused,
        client.websocket_connect("/api/play", subprotocols=["interplay.v1"], headers=evil),
    ):
        pass
    assert refused.value.status_code == 421


def test_who_says_done_reads_what_that_ends(client):
    alone, together = (client.get(f"/play/{task}").text for task in ("atari/breakout", "together/build_shelter"))
    assert "This ends the task." in alone
    assert "This ends the task." not in together
    assert "The task ends when every player is done." in together


def test_a_world_that_is_not_installed_is_not_offered_and_its_pages_have_the_line_that_installs_it(client, monkeypatch):
    line = "pip install -e &#39;.[atari2p]&#39;"
    task = "atari-two/space_invaders_competitive"
    assert line not in client.get("/").text
    assert f'href="/play/{task}" aria-label="Play' in client.get("/").text
    monkeypatch.setitem(sys.modules, "multi_agent_ale_py", None)
    home, page = client.get("/").text, client.get(f"/play/{task}").text
    assert f"Not installed on this server: <code>{line}</code>" in home
    assert f'href="/play/{task}" aria-label="Play' not in home
    assert 'href="/play/atari/breakout" aria-label="Play' in home
    assert "<b>This game is not installed on this server.</b>" in page
    assert line in page
    assert "player.js" not in page
    monkeypatch.setitem(sys.modules, "numba", None)
    assert "Play it yourself" not in client.get("/explore").text
