"""Real agents play a task of one's own, real videos are judged over HTTP, and the ranking comes out of the command line."""

import io
import json
from datetime import UTC, datetime

import av
import numpy as np
import pytest
from judging_world import AT_ONCE, REASON
from starlette.testclient import TestClient

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.cli import main
from interplay.judge import Judging, ScriptedJudge
from interplay.play.connections.tokens import operator_token
from interplay.record.films.film import film
from interplay.store import judging as store
from interplay.store.entrants import admit
from interplay.tasks import parse_suite
from interplay.web.app import create_app

SUITE = """
[suite]
id = "lab"
title = "A lab's own"
description = "One task nobody else has."

[[task]]
name = "short_breakout"
title = "Two seconds of Breakout"
goal = "Serve the ball."
instructions = "Press space."
time_limit_s = 2
held_out_seeds = [1, 2]
env.id = "ale:breakout"
[task.keys]
buttons = ["FIRE", "RIGHT", "LEFT"]
opposites = [["LEFT", "RIGHT"]]
bindings = { Space = "FIRE", ArrowRight = "RIGHT", ArrowLeft = "LEFT" }
actions = { "" = 0, FIRE = 1, RIGHT = 3, LEFT = 4, "RIGHT+FIRE" = 11, "LEFT+FIRE" = 12 }
[[task.questions]]
id = "busy"
factor = "effort"
kind = "direct"
text = "Did this player do anything?"
[[task.questions]]
id = "overall"
factor = "overall"
kind = "overall"
text = "Who played better?"
"""
AGENTS = ("noop", "random")


@pytest.fixture(scope="module")
def task():
    return parse_suite(SUITE).tasks[0]


@pytest.fixture(scope="module")
def recorded(task, tmp_path_factory):
    """A data folder in which two agents have played both held-out seeds."""
    archive = interplay.record.open(tmp_path_factory.mktemp("lab"))
    rng = np.random.default_rng(0)
    for name in AGENTS:
        for seed in task.held_out_seeds:
            film(archive, rollout(archive, task, find_agent(name, archive), seed, rng=rng).id)
        with archive.database.write() as session:
            admit(session, name=name, task=task.id, kind="agent", now=datetime.now(UTC))
    yield archive
    archive.database.close()


@pytest.fixture
def client(recorded):
    return TestClient(create_app(recorded, judging=Judging(recorded, rng=np.random.default_rng(0), rules=AT_ONCE)))


def test_a_person_watches_two_real_videos_and_answers(client, recorded, task):
    match = client.post("/api/judge/matches", json={}).json()
    assert (match["task"], match["title"]) == (task.id, task.title)
    lengths = []
    for side in ("left", "right"):
        content = client.get(match[side]["video"]).content
        with av.open(io.BytesIO(content)) as video:
            lengths.append(sum(1 for _ in video.decode(video=0)))
        with recorded.database.read() as session:
            row = store.match_by_id(session, match["match"])
        for secret in (*AGENTS, row.left_episode_id, row.right_episode_id, str(recorded.root)):
            assert secret.encode() not in content
    assert lengths == [121, 121]  # two seconds at 60 Hz, and the frame before the first step
    response = client.post(
        f"/api/judge/matches/{match['match']}/answer",
        json={"outcome": "draw", "responses": {"busy": {"left": True, "right": True}}, "reason": REASON},
    )
    assert response.status_code == 201, response.text


def test_scripted_judges_answer_and_the_command_line_ranks(client, recorded, task, capsys):
    client.headers["Authorization"] = f"Bearer {operator_token(recorded.root)}"
    before = client.get("/api/leaderboard").json()["num_answers"]
    rng = np.random.default_rng(0)
    for number in range(6):
        judge = ScriptedJudge(f"robot-{number}")
        match = client.post("/api/judge/matches", json={"task": task.id, "judge": judge.name}).json()
        form = judge.form(match["questions"], 1.0, 0.0, rng)
        response = client.post(f"/api/judge/matches/{match['match']}/answer", json={**form, "judge": judge.name})
        assert response.status_code == 201, response.text
    served = client.get("/api/leaderboard", params={"task": task.id}).json()
    assert served["num_answers"] == before + 6
    with pytest.raises(SystemExit, match="0"):
        main(["rank", "--data", str(recorded.root), "--task", task.id, "--json"])
    ranked = json.loads(capsys.readouterr().out)
    assert [(row["agent"], row["mu"], row["sigma"]) for row in ranked["leaderboard"]] == [
        (row["agent"], row["mu"], row["sigma"]) for row in served["rows"]
    ]
