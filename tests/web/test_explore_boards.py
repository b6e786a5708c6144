"""The boards of language models, tasks from inside, and pages of runs, over runs that scripted models really made."""

import csv
import html
import io
import json
import math
import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from agents_world import mp4, propose, upload
from fastapi.testclient import TestClient
from hidden_parts import hidden_parts
from sqlalchemy import delete

import interplay.record
from interplay.cli import main
from interplay.explore import published
from interplay.explore.evaluation.runs import FOLDER, read_all
from interplay.explore.instance import parse
from interplay.explore.results.references import Exposures
from interplay.play.connections.tokens import operator_token
from interplay.store import ShownTask
from interplay.tasks import builtin_suites
from interplay.web.app import create_app
from interplay.web.graphs import graph

pytestmark = pytest.mark.long_proof

ASKED = [*published.names("published"), *published.names("planner")[:3]]
"""Ids of tasks that are asked for: all of one set and some of the other."""
NAME = "0013"
TARGET = "lapis"
"""What nobody may read who may still play it."""


def command(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["explore", *arguments, "--json"])
    assert not stop.value.code


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Runs of two scripted models by `paper`, one by `hold`, one that failed, and a proof."""
    folder = tmp_path_factory.mktemp("explored")
    for model in ("careless", "still"):
        command("run", f"explore/{NAME}", "--model", f"scripted/{model}", "--steps", "30", "--data", str(folder))
    hold = ("--protocol", "hold", "--steps", "20")
    command("run", f"explore/{NAME}", "--model", "scripted/careless", *hold, "--data", str(folder))
    command("prove", f"explore/{NAME}", "--data", str(folder))
    path = next(path for path in (folder / FOLDER).glob("*.jsonl") if '"scripted/still"' in path.read_text())
    header, begin, *_ = path.read_text().splitlines()
    document = json.loads(header)
    document["header"] |= {"model": "openai/<b>big</b>", "run": "0123456789abcdef"}
    failed = {"failed": {"error": "CallError: the server is gone\nsecond line", "replies": {}}}
    lines = [json.dumps(document), begin.replace("-", "-0"), json.dumps(failed)]
    (folder / FOLDER / "0123456789abcdef.jsonl").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def client(data):
    archive = interplay.record.open(data)
    with TestClient(create_app(archive, suites=[*builtin_suites(), published.suite()])) as client:
        yield client
    archive.close()


@pytest.fixture
def nobody_was_shown(data):
    """The data folder, in which nobody is said to have been shown a task when the test is over."""
    yield
    with closing(interplay.record.open(data)) as archive, archive.database.write() as session:
        session.execute(delete(ShownTask))


@pytest.fixture
def shown(data):
    """Who was shown a task."""
    with closing(interplay.record.open(data)) as archive:
        yield Exposures(archive.database)


REASON = "The left player went straight to the lapis block and mined the glass behind it; the other one only turned around."


@pytest.fixture(scope="module")
def entrants(data) -> list[str]:
    """Episodes of two agents with videos of the task, of which a program has said which did better."""
    task = published.instances()[f"explore/{NAME}"].task()
    archive = interplay.record.open(data)
    headers = {"Authorization": f"Bearer {operator_token(data)}"}
    with TestClient(create_app(archive, suites=[published.suite()]), headers=headers) as boss:
        episodes = []
        for number, name in enumerate(("red", "blue")):
            propose(boss, name, [task.id])
            episodes.append(upload(boss, name, task.held_out_seeds[0], mp4(50 * number), task.id).json()["episode"])
            boss.post(f"/api/agents/{name}/approve")
        match = boss.post("/api/judge/matches", json={"task": task.id, "judge": "robot"}).json()
        said = {"outcome": "left", "reason": REASON, "responses": {}, "judge": "robot"}
        answer = boss.post(f"/api/judge/matches/{match['match']}/answer", json=said)
        assert answer.status_code == 201, answer.text
    archive.close()
    return episodes


def run_id(data: Path, model: str, protocol: str = "paper") -> str:
    return next(
        run.header["run"]
        for run in read_all(data)[0].values()
        if run.header["model"] == model and run.header["settings"]["protocol"] == protocol
    )


def test_the_page_opens_on_the_protocol_with_most_entrants_and_keeps_the_others_apart(client):
    page = client.get("/explore").text
    assert re.search(r'href="/explore/boards/paper-30" aria-current="page"', page)
    assert client.get("/explore/boards/paper-30").text == page
    other = client.get("/explore/boards/hold-20").text
    assert "scripted/still" in page
    assert "scripted/still" not in other.partition("<h2>Tasks</h2>")[0]
    assert page.count("Play it yourself") == len(published.names())


def test_the_oracle_stands_on_top_by_proof_and_failed_runs_are_listed_with_why(client):
    page = client.get("/explore").text
    rows = re.findall(r'<th scope="row" class="nm">.*?</svg>([^<]*)', page)
    assert [row.strip() for row in rows][:1] == ["oracle"]
    assert page.count("by proof") == 2
    assert "CallError: the server is gone" in page
    assert "Two models at a time" in page
    assert "whether a game may be compared only at its end" in page
    assert "second line" not in page
    assert "openai/&lt;b&gt;big" in page
    assert "<b>big" not in page


def test_csv_and_json_are_the_rows_that_the_command_prints(client, data, capsys):
    capsys.readouterr()
    command("results", "--protocol", "paper-30", "--data", str(data))
    (printed,) = json.loads(capsys.readouterr().out)["tables"]
    board = client.get("/api/explore/boards/paper-30").json()
    assert board["models"] == printed["models"]
    assert board["references"] == printed["references"]
    assert board["pairs"] == printed["pairs"] != []
    assert board["attempts_not_judged"] == printed["attempts_not_judged"] == 0
    assert [one["why"] for one in board["failed"]] == ["CallError: the server is gone"]
    rows = list(csv.DictReader(io.StringIO(client.get("/explore/boards/paper-30.csv").text)))
    assert [(row["kind"], row["model"], row["tsr"]) for row in rows if row["model"] == "oracle"] == [
        ("reference", "oracle", "1.0")
    ]
    assert {row["model"] for row in rows if row["kind"] == "model"} == {"openai/<b>big</b>"}


@pytest.mark.parametrize(
    "address",
    [
        "/explore/boards/nothing",
        "/explore/boards/nothing.csv",
        "/explore/boards/%2e%2e%2fetc",
        "/explore/tasks/nothing",
        "/explore/runs/nothing",
        "/explore/runs/aaaaaaaaaaaaaaaa",
        "/explore/runs/..%2f..%2foperator",
        "/explore/runs/" + "a" * 5000,
        "/leaderboard/explore?board=nothing",
    ],
)
def test_what_there_is_not_is_the_usual_page(client, address):
    answer = client.get(address)
    assert answer.status_code == 404
    assert "Page not found" in answer.text


def test_programs_get_the_usual_error(client):
    for address in ("/api/explore/boards/nothing", "/api/explore/runs/nothing"):
        answer = client.get(address)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")
    assert client.post("/explore/tasks/nothing/shown").status_code == 404


def test_a_task_from_inside_is_for_who_asks_for_it_and_that_is_kept(client, data, shown, nobody_was_shown):
    run = run_id(data, "scripted/careless")
    for address in (f"/explore/tasks/{NAME}", f"/explore/runs/{run}", f"/api/explore/runs/{run}"):
        text = client.get(address).text
        goal = published.instances()[f"explore/{NAME}"].task_text
        assert TARGET not in text.replace(goal, ""), address
    assert client.get(f"/api/explore/runs/{run}").json()["targets"] is None
    page = client.post(f"/explore/tasks/{NAME}/shown").text
    assert 'class="graph ' in page
    assert "find lapis block" in page
    assert len(shown.times()) == 1
    client.post(f"/explore/tasks/{NAME}/shown")
    assert len(shown.times()) == 1, "once is enough"
    document = client.get(f"/api/explore/runs/{run}").json()
    assert [one["name"] for one in document["milestones"]] == ["find lapis block", "mine lime stained glass"]
    assert document["targets"][0]["low"] == [5, 5]
    client.cookies.clear()
    assert client.get(f"/api/explore/runs/{run}").json()["targets"] is None, "somebody else"


def test_the_operator_sees_it_without_asking_and_it_is_kept_that_they_looked(client, data, shown, nobody_was_shown):
    headers = {"Authorization": f"Bearer {operator_token(data)}"}
    assert 'class="graph ' in client.get(f"/explore/tasks/{NAME}", headers=headers).text
    assert shown.times() == {}, "a program, of which nobody knows who it is"
    client.post("/operator", data={"token": operator_token(data)})
    client.get("/explore")
    client.get("/episodes")
    assert shown.times() == {}, "neither says what a task is made of"
    assert 'class="graph ' in client.get(f"/explore/tasks/{NAME}").text
    ((number, task),) = shown.times()
    assert task == f"explore/{NAME}"
    (proof, *_) = of_oracle(data)
    assert client.get(f"/api/episodes/{proof}").status_code == 200
    client.post("/operator/leave")
    assert client.get(f"/api/episodes/{proof}").status_code == 200, "they know it now"
    assert set(shown.times()) == {(number, task)}


def of_oracle(data: Path) -> list[str]:
    with closing(interplay.record.open(data)) as archive:
        return [one.id for one in archive.episodes(agent="oracle")]


def test_nothing_that_gives_a_task_away_is_sent_to_who_may_still_play_it(client, data, entrants):
    runs = [run.header["run"] for run in read_all(data)[0].values()]
    episodes = [run.begin["episode"] for run in read_all(data)[0].values() if run.end and run.begin] + of_oracle(data)
    episodes += entrants
    open_to_all = [f"/explore/tasks/{name.partition('/')[2]}" for name in ASKED]
    open_to_all += [f"{begin}/explore/runs/{run}" for begin in ("", "/api") for run in runs]
    open_to_all += [f"{begin}/explore/boards/{name}" for begin in ("", "/api") for name in ("paper-30", "hold-20")]
    open_to_all += ["/explore", "/explore/boards/paper-30.csv", "/leaderboard/explore", "/episodes", "/agents", "/api/agents"]
    open_to_all += ["/agents/red", "/api/agents/red"]
    texts = {address: client.get(address) for address in open_to_all}
    assert {address for address, answer in texts.items() if answer.status_code != 200} == set()
    for name in ASKED:
        for part in hidden_parts(name):
            assert [page for page, answer in texts.items() if part in html.unescape(answer.text)] == [], (name, part)
    for run in runs:
        document = texts[f"/api/explore/runs/{run}"].json()
        assert (document["calls"], document["path"], document["targets"]) == (None, None, None)
        assert {one["name"] for one in document["milestones"]} <= {None}
        assert "data-replay" not in texts[f"/explore/runs/{run}"].text
    assert [one for one in episodes if one in texts["/episodes"].text] == []
    assert "would reveal the tasks" in texts["/episodes"].text
    parts = ("", "/frames", "/drawing", "/video.mp4", "/milestones")
    kept_back = [f"/api/episodes/{one}{part}" for one in episodes for part in parts]
    kept_back += [f"/api/judge/preview{part}?task=explore/{NAME}" for part in ("", "/left.mp4", "/right.mp4")]
    for address in kept_back:
        answer = client.get(address)
        assert (answer.status_code, answer.json()["error"]) == (403, "not_played_yet"), address
    assert client.get("/api/judge/preview").json()["error"] == "nothing_to_judge", "there is no pair of another task"
    for one in episodes:
        assert client.get(f"/episodes/{one}").status_code == 403
        assert client.post(f"/api/episodes/{one}/film").status_code == 403
        assert client.delete(f"/api/episodes/{one}/film").status_code == 403
        assert not [page for page, answer in texts.items() if one in answer.text and "/explore/" not in page]
    assert len(episodes) == 6


def test_whoever_may_know_a_task_looks_at_its_pair(client, entrants, nobody_was_shown):
    client.post(f"/explore/tasks/{NAME}/shown")
    pair = client.get("/api/judge/preview", params={"task": f"explore/{NAME}"}).json()
    assert [client.get(pair[side]["video"]).status_code for side in ("left", "right")] == [200, 200]


def test_an_operator_who_reads_reasons_of_a_task_was_shown_it(client, data, entrants, shown, nobody_was_shown):
    assert REASON not in client.get("/agents/red").text
    headers = {"Authorization": f"Bearer {operator_token(data)}"}
    assert REASON in client.get("/agents/red", headers=headers).text
    assert shown.times() == {}, "a program"
    client.post("/operator", data={"token": operator_token(data)})
    client.get("/agents")
    assert shown.times() == {}, "the list has no reasons"
    assert REASON in client.get("/agents/red").text
    assert {task for _, task in shown.times()} == {f"explore/{NAME}"}


def test_a_run_says_what_each_call_led_to_and_opens_where_all_was_still_well(client, data, nobody_was_shown):
    run = run_id(data, "scripted/careless")
    client.post(f"/explore/tasks/{NAME}/shown")
    document = client.get(f"/api/explore/runs/{run}").json()
    assert sum(call["ticks"] for call in document["calls"]) == document["num_steps"] == 30
    assert len(document["path"]) == 31
    page = client.get(f"/explore/runs/{run}").text
    assert f'href="/episodes/{document["episode"]}"' in page
    assert f'href="/explore/runs/{run}"' in client.get(f"/episodes/{document['episode']}").text


@pytest.mark.parametrize(
    ("reached", "opens_at"),
    [({}, 0), ({"find_lapis_block": 7}, 7), ({"mine_lime_stained_glass": 9}, 0),
     ({"find_lapis_block": 12, "mine_lime_stained_glass": 9}, 12)],
)  # fmt: skip
def test_a_run_opens_where_the_last_milestone_before_the_first_missed_one_was_reached(client, data, reached, opens_at):
    *lines, end = (data / FOLDER / f"{run_id(data, 'scripted/careless')}.jsonl").read_text().splitlines()
    changed = {"end": json.loads(end)["end"] | {"reached": reached}}
    planted = data / FOLDER / "00000000000000aa.jsonl"
    planted.write_text("\n".join([*lines, json.dumps(changed)]) + "\n")
    try:
        assert client.get("/api/explore/runs/00000000000000aa").json()["opens_at"] == opens_at
    finally:
        planted.unlink()


def test_a_run_says_what_was_carried_and_to_who_may_know_what_was_judged_and_the_proof(client, data, nobody_was_shown):
    address = f"/api/explore/runs/{run_id(data, 'scripted/careless')}"
    hidden = client.get(address).json()
    assert (hidden["seen"], hidden["rules"], hidden["proof"]) == (None, None, None)
    assert "data-beside" not in client.get(address.removeprefix("/api")).text
    headers = {"Authorization": f"Bearer {operator_token(data)}"}
    told = client.get(address, headers=headers).json()
    first = told["seen"][0]
    assert (first["tick"], first["health"], first["food"], first["hotbar"]) == (0, 20.0, 20, 0)
    assert [item for _, item, _ in first["slots"]] == ["iron_pickaxe"]
    (find,), (mine,) = told["rules"]["1"], told["rules"]["2"]
    assert find["type"] == "position_near_with_facing"
    holds, far, turn = first["facts"]["1"][0]
    target = [corner + 0.5 for corner in find["params"]["target"]]
    assert far == pytest.approx(math.dist(told["path"][0], target), abs=0.1)
    assert (holds, 0 <= turn <= 180) == (False, True)
    assert (mine["type"], first["facts"]["2"]) == ("inventory_has", [[False, 0]])
    (proof,) = of_oracle(data)
    assert told["proof"] == proof
    assert f'href="/episodes/{proof}"' in client.get(address.removeprefix("/api"), headers=headers).text


def test_two_milestones_of_one_task_keep_their_own_rules_and_facts(client, data):
    *lines, end = (data / FOLDER / f"{run_id(data, 'scripted/careless')}.jsonl").read_text().splitlines()
    document = json.loads(lines[0])
    first, second = document["header"]["instance"]["milestones"]
    second["task"] = first["task"]
    planted = data / FOLDER / "00000000000000ab.jsonl"
    planted.write_text("\n".join([json.dumps(document), *lines[1:], end]) + "\n")
    try:
        headers = {"Authorization": f"Bearer {operator_token(data)}"}
        told = client.get("/api/explore/runs/00000000000000ab", headers=headers).json()
        page = client.get("/explore/runs/00000000000000ab", headers=headers).text
    finally:
        planted.unlink()
    assert [(one["place"], one["number"]) for one in told["milestones"]] == [(1, 1), (2, 1)]
    rules = [told["rules"][place][0]["type"] for place in ("1", "2")]
    assert rules == ["position_near_with_facing", "inventory_has"]
    assert set(told["seen"][0]["facts"]) == {"1", "2"}
    assert re.findall(r'data-rules="(\d+)"', page) == ["1", "2"]


def test_a_run_that_failed_has_a_page_that_says_so(client):
    page = client.get("/explore/runs/0123456789abcdef").text
    assert "This run failed" in page
    assert "data-replay" not in page


def test_a_broken_file_is_left_out_and_said(client, data):
    broken = data / FOLDER / "ffffffffffffffff.jsonl"
    broken.write_text("not json\n")
    try:
        page = client.get("/explore").text
        assert "1 file of runs cannot be read, or contradicts the recorded episode, and is left out" in page
        assert "scripted/still" in page
    finally:
        broken.unlink()


def test_ratings_from_milestones_stand_apart_from_peoples_answers(client):
    page = client.get("/leaderboard/explore?board=paper-30").text
    assert "scripted/careless" in page
    assert "reached more milestones" in page
    assert "One task says nothing about other tasks" in page
    assert "Bradley-Terry" in page
    assert client.get("/leaderboard/explore?method=trueskill").status_code == 422, "the order of runs means nothing"
    assert 'href="/leaderboard/explore"' in client.get("/leaderboard").text
    assert "scripted/careless" not in client.get("/leaderboard").text


def test_without_any_run_the_page_says_how_to_make_one_and_shows_the_tasks(tmp_path):
    with TestClient(create_app(interplay.record.open(tmp_path), suites=[published.suite()])) as client:
        page = client.get("/explore").text
        assert "interplay explore run published --model" in page
        assert page.count("Play it yourself") == len(published.names())
        assert client.get("/leaderboard/explore").status_code == 200


def test_people_stand_beside_models_with_their_first_attempts_unless_they_were_shown_the_task(
    data, shown, nobody_was_shown, monkeypatch
):
    from interplay.explore.results import references

    asked = []
    monkeypatch.setattr(references, "first_attempts", lambda database, judgement_of, shown: asked.append(shown) or ([], []))
    shown.add(7, f"explore/{NAME}", datetime(2026, 3, 1, tzinfo=UTC))
    with closing(interplay.record.open(data)) as archive:
        made = references.references(archive.database, data, lambda episode: None)
    assert list(made.rows) == ["oracle", "people (first attempts)"]
    assert asked == [{(7, f"explore/{NAME}"): datetime(2026, 3, 1, tzinfo=UTC)}]


def test_the_graph_puts_each_task_below_all_that_it_needs_and_knows_what_proofs_say():
    document = published.instances()["explore/hard_0000"].to_json()
    instance = parse(document)
    edge = instance.edges[0]
    hops = {"edges": [{"first": edge.first, "then": edge.then, "enforced": False, "tick": 5}]}
    document["proofs"] = [{"content_hash": instance.content_hash, "hops": hops}]
    drawn = graph(parse(document))
    assert drawn.most == 5
    at = {" ".join(node.lines): node.y for node in drawn.nodes}
    assert len(at) == len(instance.nodes)
    for arrow in drawn.arrows:
        above, below = (next(y for lines, y in at.items() if task.startswith(lines)) for task in (arrow.first, arrow.then))
        assert above < below
    assert [arrow.verdict for arrow in drawn.arrows] == ["open", *[None] * (len(drawn.arrows) - 1)]
    for said, verdict in (({"enforced": True}, "no way found"), ({"enforced": True, "verdict": "enforced"}, "enforced")):
        hops["edges"][0] |= said  # files of earlier releases said `enforced` where no way was found
        assert graph(parse(document)).arrows[0].verdict == verdict
    assert f"{drawn.arrows[0].then} needs {drawn.arrows[0].first}" in drawn.words
