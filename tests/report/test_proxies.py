"""Clicks and movement counted in published recordings and in human episodes."""

import json

import numpy as np
import pytest

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.report.proxies import (
    Effort,
    RecordingsError,
    archived_efforts,
    proxy_section,
    recorded_effort,
    recorded_efforts,
)
from interplay.report.table import Figure
from interplay.store import EpisodeRow
from interplay.tasks import find as find_task


def frame(*, keys=(), new=(), held=(), gui=False) -> dict:
    return {
        "mouse": {"buttons": list(held), "newButtons": list(new)},
        "keyboard": {"keys": [f"key.keyboard.{key}" for key in keys]},
        "isGuiOpen": gui,
    }


def recording(folder, name: str, frames) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line if isinstance(line, str) else json.dumps(line) for line in frames]
    (folder / f"{name}.jsonl").write_text("\n".join(lines))


def test_a_click_counts_once_however_long_it_is_held(tmp_path):
    frames = [frame(new=[1], held=[1]), frame(held=[1]), frame(held=[1]), frame(new=[0], held=[0]), frame(new=[0, 1])]
    recording(tmp_path, "a", frames)
    assert recorded_effort(tmp_path / "a.jsonl", "FindCave") == Effort("FindCave", 5, 2, 0, False)


def test_a_step_of_movement_is_one_with_any_of_four_keys_however_many(tmp_path):
    recording(tmp_path, "a", [frame(keys=["w", "a"]), frame(keys=["space"]), frame(keys=["d"]), frame(keys=["s"]), frame()])
    assert recorded_effort(tmp_path / "a.jsonl", "FindCave").num_moving == 3


def test_the_player_ends_an_episode_by_escape_but_not_in_a_menu(tmp_path):
    recording(tmp_path, "menu", [frame(keys=["escape"], gui=True)])
    recording(tmp_path, "world", [frame(keys=["escape"])])
    assert not recorded_effort(tmp_path / "menu.jsonl", "FindCave").ended_by_player
    assert recorded_effort(tmp_path / "world.jsonl", "FindCave").ended_by_player


def test_lines_that_are_no_frames_are_stepped_over_and_counted(tmp_path):
    odd = [
        frame(keys=["w"]),
        '{"mouse": {"newBut',
        "[]",
        "",
        {"mouse": None, "keyboard": None},
        {"mouse": {"newButtons": 1}, "keyboard": {"keys": [["w"]]}},
    ]
    recording(tmp_path, "a", odd)
    assert recorded_effort(tmp_path / "a.jsonl", "FindCave") == Effort("FindCave", 5, 0, 1, False, num_unreadable=2)


def test_the_folder_of_a_recording_says_its_task(tmp_path):
    recording(tmp_path / "data" / "waterfall", "a", [frame(new=[1])])
    recording(tmp_path / "BuildVillageHouse", "b", [frame()])
    recording(tmp_path / "elsewhere", "c", [frame()])
    assert sorted(effort.task for effort in recorded_efforts(tmp_path)) == ["BuildVillageHouse", "MakeWaterfall"]


def test_folders_without_recordings_say_what_was_looked_for(tmp_path):
    with pytest.raises(RecordingsError, match="there is no folder"):
        recorded_efforts(tmp_path / "none")
    with pytest.raises(RecordingsError, match="holds no recordings"):
        recorded_efforts(tmp_path)
    recording(tmp_path / "elsewhere", "c", [frame()])
    with pytest.raises(RecordingsError, match="none below a folder named for its task\nPut them into folders find-cave"):
        recorded_efforts(tmp_path)


def test_clicks_of_a_human_episode_are_those_of_its_actions(tmp_path):
    archive = interplay.record.open(tmp_path)
    task = find_task("basalt/find_cave")
    episode = rollout(archive, task, find_agent("random", archive), 14169, rng=np.random.default_rng(0), max_steps=12)
    assert list(archived_efforts(archive)) == []  # no person played it
    with archive.database.write() as session:
        row = session.get(EpisodeRow, episode.id)
        row.actor_kind = "human"
    (effort,) = archived_efforts(archive)
    actions = episode.actions()
    use = [bool(action["use"]) for action in actions]
    assert effort.num_steps == len(actions)
    assert effort.num_clicks == sum(now and not before for now, before in zip(use, [False, *use], strict=False)) > 0
    assert effort.num_moving == sum(any(action[key] for key in ("forward", "back", "left", "right")) for action in actions)
    archive.close()


def test_the_section_has_both_figures_or_says_why_not():
    section = proxy_section([Effort("FindCave", 400, 3, 200, True), Effort("FindCave", 600, 5, 500, False)], "two files")
    assert [block.id for block in section.blocks if isinstance(block, Figure)] == ["figure-clicks", "figure-moving"]
    (row,) = next(block for block in section.blocks if block.id == "proxies").records()
    assert (row["mean length (s)"], row["mean clicks"], row["ended by the player (%)"]) == (25.0, 4.0, 50.0)
    assert row["movement (% of steps)"] == pytest.approx(70.0)
    assert "No demonstrations here" in proxy_section([], "").paragraphs[0]
