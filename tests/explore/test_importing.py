"""The published layout is read whole: nothing is dropped without a word."""

import copy
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_instance import FIRST_LOG

from blockworld import Action, World, run_all
from blockworld.registry import name_of
from interplay.cli import main
from interplay.explore import checking, facts, rules
from interplay.explore.instance import InstanceError, load, parse
from interplay.explore.mineexplorer import PUBLISHED, convert, import_path
from interplay.explore.published import files_of

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "mineexplorer"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the published instances are not in {DATA}")
PARTS = {"id": "0001", "selection_reasoning": "One task.", "design_notes": "None."}


def published(hops: int = 1, **changes: Any) -> dict[str, Any]:
    """A published document of our own making."""
    first = {key: value for key, value in copy.deepcopy(FIRST_LOG).items() if key not in ("schema", "name", "commands")}
    tasks = [f"mine log {number}" for number in range(hops)]
    milestones = [first["milestones"][0] | {"task": task, "milestone_id": task.replace(" ", "_")} for task in tasks]
    made = first | PARTS | {"selected_tasks": tasks, "atomic_tasks_ordered": tasks, "commands": ["/time set day"]}
    made |= {"reasoning_graph": {"nodes": tasks, "edges": []}, "milestones": {"milestones": milestones}}
    return {key: value for key, value in (made | changes).items() if value is not None}


def write(file: Path, document: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def run(capsys, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Exit status and JSON of an import."""
    with pytest.raises(SystemExit) as ended:
        main(["explore", "import", *arguments, "--json"])
    assert isinstance(ended.value.code, int)
    return ended.value.code, json.loads(capsys.readouterr().out)


def test_folders_flat_files_and_json_lines_are_read(tmp_path):
    write(tmp_path / "0001" / "multi-agent" / "metadata.json", published())
    write(tmp_path / "0001" / "multi-agent" / "milestones.json", [])
    write(tmp_path / "flat" / "0002.json", published(2, id="0002"))
    write(tmp_path / "set.jsonl", f"{json.dumps(published(3))}\n\n{json.dumps(published(8))}\n")
    write(tmp_path / "other.json", {"task": "no instance"})
    write(tmp_path / "cut.json", '{"milestones": ')
    found = import_path(tmp_path)
    assert found.files == 7
    assert {one.name for one in found.instances.values()} == {"0001-multi-agent", "flat-0002", "set-1", "set-3"}
    assert found.counts() == {"1": 1, "2": 1, "3": 1, "hard": 1}
    assert [Path(one.file).name for one in found.refused] == ["cut.json", "other.json"]
    assert "not valid JSON" in found.refused[0].text
    assert found.refused[1].text == "this is not an instance: it has no milestones"
    assert [Path(one.file).name for one in found.irregularities if one.key == ""] == ["milestones.json"]
    assert len(found.instances) + len(found.refused) + 1 == found.files


def test_what_is_irregular_is_listed_and_read():
    for changes, key, said in [
        ({"id": "0874"}, "id", "'0874'"),
        ({"selection_reasoning": ""}, "selection_reasoning", "is empty"),
        ({"design_notes": {"layout": "flat"}}, "design_notes", "not a text"),
        ({"selected_tasks": ["mine_oak_log"]}, "selected_tasks", "'mine_oak_log' is written with '_'"),
        ({"selected_tasks": None}, "selected_tasks", "is missing; the nodes"),
        ({"atomic_tasks_ordered": None}, "atomic_tasks_ordered", "is missing; the nodes"),
        ({"reasoning_graph": None}, "reasoning_graph", "is missing; the tasks are its nodes"),
        ({"commands": None}, "commands", "there is no scene; the instance is kept"),
        ({"commands": []}, "commands", "there is no scene"),
    ]:
        document, odd = convert(published(**changes), "0001")
        assert parse(document).num_hops == 1
        assert [text for where, text in odd if where == key and said in text]


def test_what_is_no_part_of_an_instance_is_kept_beside_it():
    changes = {"debate_log": ["a", "b"], "reasoning_graph": {"nodes": ["mine log 0"], "edges": [], "title": "t"}}
    document, odd = convert(published(**changes), "0001")
    assert odd == []
    assert document["source"]["published"] == PARTS | {"debate_log": ["a", "b"], "reasoning_graph.title": "t"}


def test_parameters_left_out_are_those_of_the_prompts_and_said_so():
    rule = {"type": "position_near_with_facing", "params": {"target": [1, 0, 5]}}
    milestone = {"task": "mine log 0", "milestone_id": "a", "rules": [rule, rule], "note": "n"}
    document, odd = convert(published(milestones=[milestone]), "0001")
    params = document["milestones"][0]["rules"][1]["params"]
    assert params == rule["params"] | {"max_distance": 16, "facing_tolerance": 60, "coordinate_frame": "spawn_relative"}
    assert [key for key, _ in odd].count("milestones[0].rules[0].params.max_distance") == 1
    assert ("milestones[0].note", "is not a key of a milestone and is left out: 'n'") in odd
    assert [text for key, text in odd if key == "milestones[0].rules"] == ["are 2; all must hold at the same tick"]


def test_a_rule_nobody_knows_is_kept_and_not_judged(tmp_path, capsys):
    document = published()
    document["milestones"]["milestones"][0]["rules"][0]["type"] = "player_smiles"
    status, said = run(capsys, str(write(tmp_path / "0001.json", document)))
    assert (status, said["imported"], said["milestones"], said["milestones_judged"]) == (0, 1, 1, 0)
    assert any("'player_smiles' is not a rule" in one["text"] for one in said["irregularities"])


def test_an_empty_folder_says_what_to_name(tmp_path):
    with pytest.raises(InstanceError, match=r"holds no \.json and no \.jsonl file\nRemedy: name a folder"):
        import_path(tmp_path)


def test_imported_instances_are_written_once_and_read_as_ours(tmp_path, capsys):
    write(tmp_path / "in" / "0001.json", published())
    out = tmp_path / "out"
    status, said = run(capsys, str(tmp_path / "in"), "--out", str(out))
    assert (status, said["written"]) == (0, [str(out / "0001.json")])
    assert load(out / "0001.json").commands == ("/time set day",)
    with pytest.raises(SystemExit) as ended:
        main(["explore", "import", str(tmp_path / "in"), "--out", str(out)])
    assert ended.value.code == 1
    assert "is there already\nRemedy: name an empty folder" in capsys.readouterr().out


@pytest.mark.parametrize("inside", ["", "more"])
def test_a_folder_that_cannot_be_written_is_said_before_any_scene_is_built(tmp_path, capsys, monkeypatch, inside):
    source, taken = write(tmp_path / "in" / "0001.json", published()), write(tmp_path / "taken", "mine")
    monkeypatch.delattr("interplay.explore.checking.check")
    with pytest.raises(SystemExit) as ended:
        main(["explore", "import", str(source), "--out", str(taken / inside)])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert f"{taken / inside} cannot be written: " in said
    assert "Remedy: name another folder with --out." in said
    assert taken.read_text() == "mine"


def test_a_file_that_cannot_be_written_at_the_end_is_an_error_with_its_name(tmp_path, capsys, monkeypatch):
    source, out = write(tmp_path / "in" / "0001.json", published()), tmp_path / "out"
    build = checking.check

    def take_the_place(made):
        (out / "0001.json").mkdir()
        return build(made)

    monkeypatch.setattr("interplay.explore.checking.check", take_the_place)
    with pytest.raises(SystemExit) as ended:
        main(["explore", "import", str(source), "--out", str(out)])
    assert ended.value.code == 1
    assert f"{out / '0001.json'} cannot be written: " in capsys.readouterr().err


def test_what_cannot_be_read_in_a_folder_is_refused_and_the_rest_is_imported(tmp_path, capsys):
    good = write(tmp_path / "0001.json", published())
    latin, gone = tmp_path / "latin.jsonl", tmp_path / "gone.json"
    latin.write_bytes(b'{"name": "caf\xe9"}')
    gone.symlink_to(tmp_path / "nowhere.json")
    (tmp_path / "folder.json").mkdir()
    write(tmp_path / "large.json", json.dumps(published(note=0)).replace('"note": 0', '"note": 1e999'))
    status, said = run(capsys, str(tmp_path), "--out", str(tmp_path / "out"))
    assert (status, said["files"], said["imported"]) == (0, 4, 1)
    texts = {Path(one["file"]).name: one["text"] for one in said["refused"]}
    assert texts.keys() == {"latin.jsonl", "gone.json", "large.json"}
    assert "cannot be read as UTF-8 text" in texts["latin.jsonl"]
    assert "no such file" in texts["gone.json"]
    assert "1e999 is not a finite number" in texts["large.json"]
    assert said["written"] == [str(tmp_path / "out" / good.name)]
    with pytest.raises(InstanceError, match="cannot be read as UTF-8 text"):
        import_path(latin)


def test_the_counts_of_the_published_set_are_compared():
    assert PUBLISHED == {"1": 260, "2": 254, "3": 145, "4": 154, "hard": 100}
    assert sum(PUBLISHED.values()) == 813 + 100


def test_expect_fails_where_instances_are_missing_and_says_which(tmp_path, capsys, monkeypatch):
    lines = [json.dumps(published(hops)) for hops in (1, 1, 2, 9)]
    file = write(tmp_path / "set.jsonl", "\n".join(lines))
    monkeypatch.setattr("interplay.explore.mineexplorer.PUBLISHED", {"1": 2, "2": 1, "hard": 1})
    assert run(capsys, str(file), "--expect", "published")[0] == 0
    write(file, "\n".join(lines[1:]))
    with pytest.raises(SystemExit) as ended:
        main(["explore", "import", str(file), "--expect", "published"])
    assert ended.value.code == 1
    assert "Expected 2 instances of hops 1, got 1." in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["explore", "import", str(file), "--expect", "all"])
    assert ended.value.code == 2


@needs_data
def test_all_26_load_and_all_82_milestones_are_judged(tmp_path, capsys):
    folder = tmp_path / "mineexplorer"
    shutil.copytree(DATA, folder)
    status, said = run(capsys, str(folder))
    assert status == 0
    assert (said["files"], said["imported"], said["milestones"], said["milestones_judged"]) == (27, 26, 82, 82)
    assert said["hops"] == {"1": 6, "2": 6, "3": 6, "4": 6, "hard": 2}
    assert [Path(one["file"]).name for one in said["refused"]] == ["task_analysis_sample.json"]
    odd = {(Path(one["file"]).stem, one["key"]) for one in said["irregularities"]}
    assert odd >= {
        ("0122", "selected_tasks"),
        ("0113", "design_notes"),
        ("0113", "commands"),  # the player stands in the ground
        ("0173", "milestones[2].rules"),
        ("0076", "selection_reasoning"),
        ("hard_0000", "selection_reasoning"),
        ("0109", "selected_tasks"),
        ("0095", "milestones[0]"),  # a cow is near and in front at the start
    }


@needs_data
def test_every_command_of_the_26_is_run_and_each_reading_of_facing_gives_its_own_starts():
    reached = dict.fromkeys(rules.SEMANTICS, 0)
    for made in import_path(DATA).instances.values():
        world = World(made.seed, made.land)
        assert all(one.worked for one in run_all(world, made.commands))
        ready = facts.ready(world)
        for milestone in made.milestones:
            now = facts.collect(ready, facts.feet(ready), rules.boxes(milestone.rules))
            for name in reached:
                reached[name] += rules.all_hold(milestone.rules, now, name)
    # half a cone, a whole one, none, half a one again, and a whole one around the view: what is there before anybody has moved
    assert list(reached.values()) == [2, 8, 11, 2, 8]


def set_by(command: str, world: World) -> tuple[np.ndarray, str] | None:
    """Which cells a fill or setblock sets, bool (x, z, y), and to which block; None of any other command."""
    words = command.lstrip("/").split()
    if words[0] not in ("fill", "setblock"):
        return None
    at = 4 if words[0] == "setblock" else 7
    me = world.player
    here = (me.x, me.y, me.z)
    numbers = [
        math.floor(here[i % 3] + float(word[1:] or 0)) if word[0] == "~" else int(word) for i, word in enumerate(words[1:at])
    ]
    low, high = (tuple(side(pair) for pair in zip(numbers[:3], numbers[-3:], strict=True)) for side in (min, max))
    box = tuple(slice(low[axis], high[axis] + 1) for axis in (0, 2, 1))
    cells = np.zeros(world.grid.blocks.shape, np.bool_)
    mode = words[at + 1 : at + 2]
    assert mode in ([], ["replace"], ["hollow"])
    assert len(words) <= at + 2
    cells[box] = True
    if mode == ["hollow"]:
        cells[tuple(slice(part.start + 1, part.stop - 1) for part in box)] = False
    return cells, re.split(r"[\[{]", words[at].removeprefix("minecraft:"))[0]


CHANGES_BY_ITSELF = {("grass_block", "dirt"), ("farmland", "dirt")}
"""As in the game: grass dies under a block that lets no light through, and soil dries far from water."""


@pytest.mark.long_proof
def test_what_the_553_commands_of_the_26_set_stands_after_100_ticks():
    num_commands, wrong = 0, []
    for file in files_of(["published"]):
        made = load(file)
        world = World(made.seed, made.land)
        world.rules["doMobSpawning"] = "false"
        asked: dict[str, np.ndarray] = {}
        for command in made.commands:
            num_commands += 1
            found = set_by(command, world)
            assert run_all(world, [command])[0].worked
            if found is None:
                continue
            others = ~found[0]
            for cells in asked.values():
                cells &= others
            asked[found[1]] = asked.get(found[1], False) | found[0]
        for _ in range(100):
            world.step(Action())
        for name, cells in asked.items():
            there = {name_of(int(state)) for state in np.unique(world.grid.blocks[cells])}
            wrong += [(file.name, name, other) for other in there - {name} if (name, other) not in CHANGES_BY_ITSELF]
    assert num_commands == 553
    assert wrong == []


def test_what_the_world_does_not_have_is_refused_by_name_and_changes_nothing():
    for name in ["fox", "bee", "husk", "boat", "armor_stand", "minecart", "item_frame", "wither", "phantom"]:
        world = World(0, "flat", inhabited=False)
        before = world.digest()
        (result,) = run_all(world, [f"/summon minecraft:{name} ~ ~ ~3"])
        assert not result.worked
        assert f"{name} is not simulated; this world has cow, pig" in result.text
        assert world.digest() == before


def test_an_import_counts_what_is_refused(tmp_path, capsys):
    commands = ["/summon minecraft:fox ~ ~ ~3", "/summon fox ~2 ~ ~3", "/summon cow ~4 ~ ~3", "/summon boat ~ ~ ~5"]
    write(tmp_path / "0001.json", published(commands=commands))
    code, said = run(capsys, str(tmp_path))
    assert (code, said["commands_refused"]) == (0, {"fox is not simulated": 2, "boat is not simulated": 1})


def test_milestones_alone_are_kept_and_what_a_mac_adds_is_no_file(tmp_path, capsys):
    alone = write(tmp_path / "in" / "0003" / "milestones.json", {"milestones": published(2)["milestones"]["milestones"]})
    for name in ("._0003.json", "__MACOSX/0003.json"):
        write(tmp_path / "in" / name, "\0")
    code, document = run(capsys, str(tmp_path / "in"), "--out", str(tmp_path / "out"))
    assert (code, document["files"], document["refused"]) == (0, 1, [])
    told = [one["text"] for one in document["irregularities"] if one["key"] == "task_text"]
    assert told == ["is missing; 'Do all of this: mine log 0, mine log 1.' stands for it"]
    assert load(tmp_path / "out" / "0003.json").nodes == ("mine log 0", "mine log 1")
    assert files_of([str(tmp_path / "out")]) == [tmp_path / "out" / "0003.json"]
    write(alone.parents[1] / "0004.json", published())
    code, document = run(capsys, str(tmp_path / "in"), "--out", str(tmp_path / "out"))
    assert (code, document["imported"], document["written"]) == (1, 2, [str(tmp_path / "out" / "0004.json")])
    assert document["not_written"] == [f"{tmp_path / 'out' / '0003.json'} is there already"]


@pytest.mark.long_proof
@pytest.mark.parametrize("verb", ["check", "prove", "judge", "run", "bank"])
def test_one_bad_file_does_not_hide_the_others(tmp_path, capsys, monkeypatch, verb):
    monkeypatch.chdir(tmp_path)
    Path("good.json").write_text(json.dumps(FIRST_LOG))
    Path("bad.json").write_text('{"schema": 1')
    Path("tasks.txt").write_text("find the lost hat\n")
    if verb == "judge":
        with pytest.raises(SystemExit):
            main(["play", "good.json", "--agent", "random", "--max-seconds", "1", "--no-video"])
        capsys.readouterr()
    more = {"bank": ["--add", "bad.json", "--add", "tasks.txt"], "run": ["--model", "scripted/still", "--steps", "5"]}
    files = [] if verb == "bank" else ["bad.json", "explore/nothing", "good.json"]
    with pytest.raises(SystemExit) as ended:
        main(["explore", verb, *files, *more.get(verb, []), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert ended.value.code == 1
    said = document["errors" if verb == "check" else "refused"]
    assert [one.get("file", one.get("episode")) for one in said] == ["bad.json", *(["explore/nothing"] if files else [])]
    assert "not valid JSON" in said[0]["text"]
    assert document[{"check": "good", "prove": "solved", "judge": "milestones", "run": "log", "bank": "tasks"}[verb]]
