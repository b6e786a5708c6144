"""Instances: what a document says, what is refused, and that one is a task of the block world."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest
from small_instance import FIRST_LOG

from interplay.cli import main
from interplay.envs import make
from interplay.explore import facts
from interplay.explore.instance import GAME_RULES, InstanceError, load, parse, read_json
from interplay.explore.rules import Progress
from interplay.tasks import Task

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def document() -> dict:
    return copy.deepcopy(FIRST_LOG)


@pytest.fixture
def instance_file(tmp_path) -> Path:
    file = tmp_path / "first_log.json"
    file.write_text(json.dumps(FIRST_LOG))
    return file


def test_an_instance_is_read_and_written_back_unchanged(document, instance_file):
    made = load(instance_file)
    assert made == parse(document)
    assert parse(made.to_json()) == made
    assert {name: value for name, value in made.to_json().items() if name in document} == document
    assert (made.land, made.seed, made.time, made.game_rules, made.step_budget) == ("flat", 0, 6000, GAME_RULES, 1800)
    assert made.num_hops == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "schema: is 2; this version reads 1\nRemedy: write 1; a newer"),
        ({"schema": None}, "schema: must be a whole number"),
        ({"comands": []}, "comands: is not a known key\nRemedy: did you mean 'commands'"),
        ({"name": "First log"}, "name: 'First log' is not a name"),
        ({"task_text": " "}, "task_text: is empty"),
        ({"commands": ["/fill", 3]}, "commands: must hold texts"),
        ({"milestones": {}}, "milestones: must be a list"),
        ({"milestones": [{"task": "a", "milestone_id": "a", "rules": [{"type": "fly"}]}]}, "rules[0].params: is missing"),
        ({"milestones": [{"task": "a", "rules": []}]}, 'milestones[0].milestone_id: is missing\nRemedy: add "milestone_id"'),
        ({"reasoning_graph": {"nodes": []}}, 'reasoning_graph.edges: is missing\nRemedy: add "edges"'),
        ({"reasoning_graph": {"nodes": [], "edges": [{"from": "a"}]}}, "reasoning_graph.edges[0].to: is missing"),
        ({"capabilities": ["action.jmp"]}, "capabilities: 'action.jmp' is not known\nRemedy: did you mean 'action.jump'"),
        ({"action_spaces": ["tools"]}, "action_spaces: 'tools' is not known"),
        ({"step_budget": 0}, "step_budget: must lie between 1 and"),
        ({"seed": -1}, "seed: must lie between 0 and"),
    ],
)
def test_a_document_that_cannot_be_read_names_file_key_and_remedy(document, change, said):
    with pytest.raises(InstanceError) as refused:
        parse(document | change, source="log.json")
    assert str(refused.value).startswith("log.json: ")
    assert "\nRemedy: " in str(refused.value)
    assert said in str(refused.value)


def test_each_key_that_must_be_there_is_missed_by_name(document):
    for key in document.keys() - {"scene_name", "scene_description"}:
        with pytest.raises(InstanceError, match=f"<document>: {key}: is missing"):
            parse({name: value for name, value in document.items() if name != key})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ('{"schema": 1, "schema": 1}', "schema: occurs twice"),
        ('{"schema": NaN}', "NaN is not a finite number"),
        ('{"seed": 1e999}', "1e999 is not a finite number, or is too large"),
        ('{"seed": -1e999}', "-1e999 is not a finite number"),
        ('{"seed": ' + "1" * 5000 + "}", "1{20} is not a finite number, or is too large\nRemedy: write a smaller number"),
        ("[" * 100_000, "nested too deeply"),
        ("[1]", "is not a JSON object"),
    ],
)
def test_a_file_that_is_no_table_of_json_is_refused(tmp_path, text, said):
    file = tmp_path / "odd.json"
    file.write_text(text)
    with pytest.raises(InstanceError, match=said) as refused:
        load(file)
    assert str(refused.value).startswith(str(file))


def test_numbers_of_a_document_stay_whole_or_broken():
    assert repr(read_json("[-1, 0, 12, 1.0, 1e2, -0.5]", "a.json")) == "[-1, 0, 12, 1.0, 100.0, -0.5]"


def test_a_missing_file_says_what_to_give(tmp_path):
    with pytest.raises(InstanceError, match="no such file\nGive the path of an instance"):
        load(tmp_path / "none.json")


def test_the_task_of_an_instance_says_the_goal_and_nothing_of_rules_or_milestones(document):
    task = parse(document).task()
    assert (task.id, task.goal, task.max_steps, task.held_out_seeds) == ("explore/first_log", "Get a log of oak.", 1800, (0,))
    assert Task.from_json(task.to_json()) == task
    assert not any(word in json.dumps(task.to_json()) for word in ("inventory_has", "milestone", "trunk of three"))


def test_a_milestone_is_reached_in_the_world_of_the_task(document):
    made = parse(document)
    env = make(made.task())
    env.reset(seed=made.seed)
    spawn = facts.feet(facts.ready(env.world))
    progress = Progress({one.id: one.rules for one in made.milestones})
    action = made.task().keys.noop
    turn = {**action, "forward": 1}
    for tick in range(1, 200):
        env.step_unseen({"player": turn if tick < 12 else {**action, "attack": 1} if tick < 100 else turn})
        if progress.update(facts.collect(env.world, spawn, []), tick):
            break
    assert progress.reached.keys() == {"mine_oak_log"}
    assert progress.reached["mine_oak_log"] >= 12 + 60  # a log takes three seconds by hand
    env.close()


@pytest.mark.journey("its commands and checks of the tasks")
def test_an_instance_is_played_recorded_and_verified_on_the_command_line(instance_file, tmp_path, capsys):
    place = ["--data", str(tmp_path / "data"), "--json"]
    options = ["--agent", "random", "--max-seconds", "2", "--no-video", "--seed", "1"]
    with pytest.raises(SystemExit) as ended:
        main(["play", str(instance_file), *options, *place])
    assert ended.value.code == 0
    played = json.loads(capsys.readouterr().out)
    assert played["task"] == "explore/first_log"
    (episode,) = played["episodes"]
    assert (episode["seed"], episode["num_steps"]) == (0, 40)
    with pytest.raises(SystemExit) as ended:
        main(["episodes", "verify", "--all", *place])
    assert ended.value.code == 0
    verified = json.loads(capsys.readouterr().out)
    assert (verified["num_equal"], verified["num_different"]) == (1, 0)


def test_rules_load_without_the_world():
    code = "import sys, interplay.explore.rules, interplay.explore\n"
    code += "print([name for name in ('numpy', 'numba', 'blockworld') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert said.strip() == "[]"
