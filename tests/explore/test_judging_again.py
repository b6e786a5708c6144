"""Recorded episodes are judged again: as they were played, and differently only where the semantics differ."""

import copy
import json
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from small_instance import FIRST_LOG

import interplay.record
from interplay.cli import main
from interplay.envs import make
from interplay.envs.minerl_actions import CAMERA
from interplay.explore import judging
from interplay.explore.evaluation.runs import FOLDER, RunFile, header
from interplay.explore.evaluation.settings import Settings
from interplay.explore.instance import Instance, parse
from interplay.explore.judging import JudgingError, judge
from interplay.explore.results.cache import ResultCache
from interplay.explore.rules import SEMANTICS, VERSION
from interplay.record import Archive, Episode, RecordedEpisode
from interplay.report import explore_reading

pytestmark = pytest.mark.long_proof

FRAME = {"coordinate_frame": "spawn_relative"}
SIDE = {"target": [0, 0, 4], "max_distance": 16, "facing_tolerance": 60} | FRAME
RULES: dict[str, dict[str, Any]] = {
    "walk": {"type": "position_inside_box", "params": {"min": [-1, 0, 2], "max": [1, 2, 3]} | FRAME},
    "look": {"type": "position_near_with_facing", "params": SIDE},
    "clear": {
        "type": "count_in_box_at_most",
        "params": {"kind": "block", "object": "dirt", "min": [-1, 0, 3], "max": [1, 2, 5], "max_count": 0} | FRAME,
    },
    "dig": {"type": "x.event_at_least", "params": {"event": "mined", "object": "dirt", "min_count": 1}},
    "fly": {"type": "position_inside_box", "params": {"min": [-1, 20, -1], "max": [1, 22, 1]} | FRAME},
}


def instance(**changes: Any) -> dict[str, Any]:
    """One step south a block of dirt, at the height of the eyes."""
    document = copy.deepcopy(FIRST_LOG)
    milestones = [{"task": name, "milestone_id": name, "description": name, "rules": [rule]} for name, rule in RULES.items()]
    tasks = list(RULES)
    graph = {"nodes": tasks, "edges": []}
    document |= {"name": "dirt", "milestones": milestones, "selected_tasks": tasks, "atomic_tasks_ordered": tasks}
    return document | {"reasoning_graph": graph, "commands": ["/setblock ~ ~1 ~4 minecraft:dirt"]} | changes


def play(archive: Archive, made: Instance) -> Episode:
    """Turn 40 degrees off, walk up to the block sideways on, turn to it, and dig it away."""
    env = make(made.task())
    recorder = archive.recorder(made.task(), env, seed=made.seed, actor="somebody", actor_kind="agent")
    episode = RecordedEpisode(env, recorder)
    episode.start(made.seed)
    noop = dict(made.task().keys.noop)

    def step(number: int, yaw: float = 0.0, **keys: int) -> None:
        for _ in range(number):
            episode.step({"player": noop | keys | {CAMERA: np.array([0.0, yaw], np.float32)}})

    step(1, 40.0)
    step(3)
    step(1, -40.0)
    step(14, forward=1)
    step(40, attack=1)
    sealed = archive.seal(recorder.finish("quit"))
    env.close()
    return sealed


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Archive:
    return interplay.record.open(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def episode(archive) -> Episode:
    return play(archive, parse(instance()))


def test_an_episode_is_judged_as_it_was_played(episode):
    found = judge(episode, parse(instance()))
    assert (found.episode, found.instance, found.semantics, found.num_steps) == (episode.id, "dirt", VERSION, 59)
    assert found.milestones == tuple(RULES)
    assert list(found.reached) == ["look", "walk", "clear", "dig"]
    assert found.reached["look"] == 0  # before the first step they look at it
    assert 5 < found.reached["walk"] < 19
    assert 19 < found.reached["clear"] == found.reached["dig"]
    assert found.by_player == {"clear": True}
    assert not found.success


def test_other_semantics_change_only_the_rule_that_they_read_otherwise(archive):
    """One who looks 85 degrees past it, and then 45, is within 60 degrees of it, but not within 30."""
    made = parse(instance(name="turned", commands=["/setblock ~ ~1 ~4 minecraft:dirt", "/tp @p ~ ~ ~ -85 0"]))
    turned = play(archive, made)
    verdicts = {name: judge(turned, made, name) for name in SEMANTICS}
    assert {name: one.reached.get("look") for name, one in verdicts.items()} == {
        "interplay-1": None,
        "published-prompt": 1,
        "published-checker-1": 0,
        "published-checker-2": None,
        "published-view": 1,
    }
    others = [{key: step for key, step in one.reached.items() if key != "look"} for one in verdicts.values()]
    assert all(one == others[0] for one in others)


def test_an_episode_of_another_instance_or_scene_is_refused(episode):
    with pytest.raises(JudgingError, match="is of explore/dirt, and was not played in explore/other"):
        judge(episode, parse(instance(name="other")))
    with pytest.raises(JudgingError, match="another scene of explore/dirt: commands differ"):
        judge(episode, parse(instance(commands=[])))
    with pytest.raises(JudgingError, match="kind, seed differ"):
        judge(episode, parse(instance(land="plains", seed=3)))


@pytest.mark.parametrize(
    ("change", "status"),
    [({}, 0), ({"fly": 30}, 1), ({"walk": 5}, 1), ({"walk": None}, 1), ("fly", 1)],
    ids=["right", "one too many", "earlier", "one too few", "one left out"],
)
def test_a_run_whose_file_says_something_else_than_its_episode_is_named(archive, episode, tmp_path, capsys, change, status):
    made, found = parse(instance()), judge(episode, parse(instance()))
    file = tmp_path / "dirt.json"
    file.write_text(json.dumps(instance()))
    head, begin = header(made, Settings(), "cheat", 1), {"episode": episode.id, "at_start": [], "not_judged": []}
    reached = dict(found.reached)
    if isinstance(change, str):
        begin["not_judged"].append(change)
    else:
        reached = {name: tick for name, tick in (reached | change).items() if tick is not None}
    begin["at_start"] = [name for name, tick in reached.items() if tick == 0]
    place = archive.root / FOLDER / f"{head['run']}.jsonl"
    with closing(RunFile(place, head, datetime(2026, 3, 1, tzinfo=UTC))) as run:
        run.append({"begin": begin})
        run.append({"end": {"outcome": "time_limit", "num_steps": 59, "reached": reached, "replies": {}}})
    try:
        with pytest.raises(SystemExit) as ended:
            main(["explore", "judge", str(file), "--data", str(archive.root)])
    finally:
        place.unlink()
    said = capsys.readouterr().out
    assert (ended.value.code or 0, "says otherwise" in said, head["run"] in said) == (status, bool(status), bool(status))


def test_runs_without_an_episode_or_with_that_of_another_and_files_that_cannot_be_read_are_named(
    archive, episode, tmp_path, capsys
):
    made, found = parse(instance()), judge(episode, parse(instance()))
    file = tmp_path / "dirt.json"
    file.write_text(json.dumps(instance()))
    folder = archive.root / FOLDER

    def write(model: str, of: Any, made: Instance = made, **changes: int) -> str:
        """A run; its milestones are reached as in the episode, aside from changes."""
        head, reached = header(made, Settings(), model, 1), dict(found.reached) | changes
        with closing(RunFile(folder / f"{model}.jsonl", head, datetime(2026, 3, 1, tzinfo=UTC))) as run:
            begin = {"episode": of, "at_start": [name for name, tick in reached.items() if tick == 0], "not_judged": []}
            run.append({"begin": begin})
            run.append({"end": {"outcome": "time_limit", "num_steps": 59, "reached": reached, "replies": {}}})
        return model

    def wrong(*named: str) -> tuple[int, dict[str, list[str]]]:
        """The status, and what is said of each run."""
        said: dict[str, list[str]] = {}
        with pytest.raises(SystemExit) as ended:
            main(["explore", "judge", str(file), *named, "--data", str(archive.root), "--json"])
        for one in json.loads(capsys.readouterr().out)["wrong_runs"]:
            said.setdefault(one["file"].removeprefix(f"{folder}/").removesuffix(".jsonl"), []).append(one["text"])
        return int(ended.value.code or 0), said

    try:
        write("honest", episode.id)
        write("elsewhere", "20260301T000000-00000002", parse(instance(name="other")))
        assert wrong() == (0, {}), "runs of instances that are not named do not matter"
        write("invented", "20260301T000000-00000001", fly=3)
        (folder / "torn.jsonl").write_text("no run\n")
        write("strange", [episode.id])
        assert wrong(episode.id) == (0, {}), "only the runs of that episode"
        status, said = wrong()
        assert (status, sorted(said)) == (1, ["invented", "strange", "torn"])
        assert "there is no episode 20260301T000000-00000001 of explore/dirt" in said["invented"][0]
        assert "cannot be read" in said["torn"][0]
        assert "must be texts" in said["strange"][0]
        write("a_forgery", episode.id, fly=3)
        status, said = wrong(episode.id)
        assert (status, {name: len(texts) for name, texts in said.items()}) == (1, {"a_forgery": 2, "honest": 1})
        assert f"2 runs say that they are episode {episode.id}" in said["honest"][0]
        assert "says otherwise" in said["a_forgery"][1]
        (folder / "a_forgery.jsonl").unlink()
        (folder / "honest.jsonl").unlink()
        write("another_task", episode.id, parse(instance(name="other")))
        assert "says otherwise" in wrong(episode.id)[1]["another_task"][0]
    finally:
        for path in folder.glob("*.jsonl"):
            path.unlink()


def test_results_leave_out_a_forged_run_and_play_each_episode_again_once(archive, episode, tmp_path, capsys, monkeypatch):
    found, judged = judge(episode, parse(instance())), []
    monkeypatch.setattr(judging, "judge", lambda *given: judged.append(given[0].id) or judge(*given))
    folder = archive.root / FOLDER

    def write(model: str, of: str = episode.id, changes: Any = (), first: Any = (), **end: Any) -> None:
        head, reached = header(parse(instance()), Settings(), model, 1) | dict(first), dict(found.reached) | dict(changes)
        with closing(RunFile(folder / f"{model}.jsonl", head, datetime(2026, 3, 1, tzinfo=UTC))) as run:
            run.append({"begin": {"episode": of, "at_start": ["look"], "not_judged": []}})
            ended = {"outcome": episode.outcome, "num_steps": episode.num_steps, "reached": reached, "replies": {}}
            run.append({"end": ended | end})

    def results() -> tuple[list[Any], dict[str, str]]:
        with pytest.raises(SystemExit):
            main(["explore", "results", "--data", str(archive.root), "--json"])
        said = json.loads(capsys.readouterr().out)
        rows = [(row["model"], row["msr"]["value"]) for made in said["tables"] for row in made["models"]]
        return rows, {one["model"]: one["why"] for one in said["left_out"]}

    try:
        write("honest")
        assert results() == results() == ([("honest", 0.75)], {})
        assert judged == [episode.id], "the second time nothing is played"
        write("copied", changes={"fly": 30})
        rows, left_out = results()
        assert (rows, set(left_out)) == ([], {"honest", "copied"})
        assert "2 runs say that they are episode" in left_out["honest"]
        (folder / "honest.jsonl").unlink()
        assert "says otherwise than episode" in results()[1]["copied"]
        kept = ResultCache(archive.database, archive.root, {}.get)
        assert (kept.boards(), kept.results()[0]) == ([], []), "the pages know it now"
        assert "says otherwise than episode" in str(kept.results()[1][0])
        (folder / "copied.jsonl").unlink()
        for end in ({"num_steps": 2}, {"outcome": "terminated"}, {"said_done": True}):
            write("ended", **end)
            (why,) = results()[1].values()
            assert "it says" in why, end
            (folder / "ended.jsonl").unlink()
        write("invented", of="20260301T000000-00000001")
        write("easier", first={"milestones": header(parse(instance()), Settings(), "easier", 1)["milestones"][:1]})
        rows, left_out = results()
        assert rows == []
        assert "there is no episode" in left_out["invented"]
        assert "first line says otherwise" in left_out["easier"]
        (folder / "a.jsonl").write_text('{"header": {}}\n[]\n')
        (folder / "b.jsonl").mkdir()
        (folder / "c.jsonl").write_text('{"header": {"schema": 1}}\n')  # its lines can be read, but not what they say
        with pytest.raises(SystemExit) as ended:
            main(["explore", "results", "--data", str(archive.root), "--json"])
        said = json.loads(capsys.readouterr().out)
        assert (ended.value.code, len(said["left_out"]), len(said["unreadable"])) == (1, 2, 2)
        assert "a.jsonl cannot be read as a run: line 2 is b'[]', expected" in said["unreadable"][0]["why"]
        assert "cannot be read: KeyError" in said["unreadable"][1]["why"]
        assert explore_reading.played(archive) == [], "one bad file does not end a report"
        (folder / "b.jsonl").rmdir()
    finally:
        for path in folder.glob("*.jsonl"):
            path.unlink()


def test_the_command_judges_all_episodes_of_instances_or_those_named(archive, episode, tmp_path, capsys):
    file = tmp_path / "dirt.json"
    file.write_text(json.dumps(instance()))

    def run(*arguments: str) -> tuple[int, Any]:
        with pytest.raises(SystemExit) as ended:
            main(["explore", "judge", *arguments, "--data", str(archive.root)])
        assert isinstance(ended.value.code, int)
        return ended.value.code, capsys.readouterr().out

    code, said = run(str(tmp_path), "--semantics", "published-checker-1", "--json")
    document = json.loads(said)
    assert (code, document["semantics"], document["milestones"], document["milestones_reached"]) == (
        0,
        "published-checker-1",
        5,
        4,
    )
    assert [one["episode"] for one in document["episodes"]] == [episode.id]
    code, said = run(str(file), episode.id)
    assert (code, "4 of 5 reached: look at step 0, walk at step" in said, "(by the player)" in said) == (0, True, True)
    code, said = run(episode.id, "--json")
    assert code == 1
    assert "no instance of explore/dirt was named\nRemedy: name its file" in json.loads(said)["refused"][0]["text"]
    assert run(str(file), "--semantics", "mine")[0] == 2
