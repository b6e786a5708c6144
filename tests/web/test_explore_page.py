"""Tasks of `explore` for people: one card, their page, and nothing that would spoil them."""

import html
import re
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient
from hidden_parts import hidden_parts

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.explore import published
from interplay.explore.evaluation.metrics import result_of
from interplay.explore.evaluation.runs import Run, header
from interplay.explore.evaluation.settings import Settings
from interplay.play.connections.tokens import operator_token
from interplay.tasks import builtin_suites, find
from interplay.web.app import create_app
from interplay.web.explore.runs import _milestones
from interplay.web.graphs import graph


@pytest.fixture
def client(tmp_path):
    archive = interplay.record.open(tmp_path)
    with TestClient(create_app(archive, suites=[*builtin_suites(), published.suite()])) as client:
        yield client


def test_the_library_has_one_card_for_all_instances(client):
    page = client.get("/").text
    assert page.count('href="/explore"') == 3  # the menu, its picture and its button
    assert "/play/explore/" not in page
    assert client.get("/explore").text.count("Play it yourself") == len(published.names()) == 126


def test_the_page_has_the_tasks_under_what_they_come_from(client):
    page = client.get("/explore").text
    heads = re.findall(r'<h3 class="set">(.*?) <span class="num soft">(\d+)</span></h3>', page)
    assert heads == [("Published with MineExplorer", "26"), ("Made by the planner", "100")]
    first, second = (part.count("<li ") for part in page.split('<h3 class="set">')[1:])
    assert (first, second) == (26, 100)


def test_a_server_without_instances_has_no_card_and_no_page(tmp_path):
    with TestClient(create_app(interplay.record.open(tmp_path), suites=builtin_suites())) as client:
        assert "/explore" not in client.get("/").text
        pages = [
            "/explore",
            "/explore/boards/paper",
            "/explore/boards/paper.csv",
            "/explore/tasks/0116",
            "/leaderboard/explore",
        ]
        for page in [*pages, "/explore/runs/" + "a" * 16, "/api/explore/runs/" + "a" * 16, "/api/explore/boards/paper"]:
            answer = client.get(page)
            assert answer.status_code == 404, page
            assert "does not offer the tasks of explore" in answer.text, page
        assert client.post("/explore/tasks/0116/shown").status_code == 404


@pytest.mark.processes
def test_the_server_needs_no_inspect():
    program = "import sys; sys.modules['inspect_ai'] = None; import interplay.web.app, interplay.cli.serve"
    subprocess.run([sys.executable, "-c", program], check=True)


ASKED = [*published.names("published"), *published.names("planner")[:3]]
"""Ids of tasks that are asked for: all of one set and some of the other."""
PAGES = ["/", "/explore", "/api/tasks", "/api/openapi.json", "/episodes", "/judge", "/leaderboard", "/agents", "/api/docs"]


def test_a_task_of_an_instance_has_one_number_on_all_pages():
    for instance in published.instances().values():
        drawn = {" ".join(node.lines): node.number for node in graph(instance).nodes}
        assert sorted(drawn.values()) == list(range(1, len(instance.nodes) + 1))
        run = Run(header(instance, Settings(), "m", 1))
        found = _milestones(run, result_of(run), instance, {})
        assert [one["number"] for one in found] == sorted(one["number"] for one in found)
        for one in found:
            assert [number for lines, number in drawn.items() if one["name"].startswith(lines)][:1] == [one["number"]]


def test_nothing_that_gives_an_instance_away_is_sent(client):
    texts = {page: client.get(page) for page in PAGES + [f"/play/{name}" for name in ASKED]}
    assert {page for page, answer in texts.items() if answer.status_code != 200} == set()
    for name in ASKED:
        for part in hidden_parts(name):
            assert [page for page, answer in texts.items() if part in html.unescape(answer.text)] == [], (name, part)
    (one,) = [task for task in client.get("/api/tasks").json() if task["id"] == "explore/0076"]
    assert one["goal"] == "Craft an oak pressure plate."
    assert one["env"] == {"id": "voxel:explore", "options": {}}


def test_an_episode_that_cannot_be_judged_is_told_at_once_and_to_the_operator(tmp_path):
    task = published.instances()["explore/0116"].task()
    other = replace(task, env=replace(task.env, options={**task.env.options, "commands": []}), max_steps=3)
    archive = interplay.record.open(tmp_path)
    episode = rollout(archive, other, find_agent("noop"), 0, rng=np.random.default_rng(0))
    breakout = rollout(
        archive, replace(find("atari/breakout"), max_steps=3), find_agent("noop"), 1, rng=np.random.default_rng(0)
    )
    headers = {"Authorization": f"Bearer {operator_token(archive.root)}"}
    with TestClient(create_app(archive, suites=[*builtin_suites(), published.suite()])) as client:
        address = f"/api/episodes/{episode.id}/milestones"
        assert client.get(address).status_code == 403
        assert client.get(f"/api/episodes/{breakout.id}/milestones", headers=headers).status_code == 404
        assert client.get("/api/episodes/nothing/milestones", headers=headers).status_code == 404
        deadline = time.monotonic() + 300
        while (answer := client.get(address, headers=headers)).status_code == 202:
            assert time.monotonic() < deadline
            assert answer.json()["state"] in ("waiting", "making", "held")
        assert answer.status_code == 409
        assert "was played in another scene of explore/0116: commands differ" in answer.text
        assert client.get(address, headers=headers).status_code == answer.status_code
        page = client.get("/operator", headers=headers).text
        assert "What could not be made" in page
        assert f'href="/episodes/{episode.id}"' in page
        assert "commands differ" in page
        assert "commands differ" not in client.get("/operator").text
