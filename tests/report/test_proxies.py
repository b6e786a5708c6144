"""Demonstrations in the report: human episodes of an archive, and the tables and figures of all of them."""

import numpy as np
import pytest

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.report.bedd.demonstrations import Effort, archived_efforts, proxy_section
from interplay.report.bedd.paper import published
from interplay.report.table import Figure
from interplay.store import EpisodeRow
from interplay.tasks import find as find_task


def test_clicks_of_a_human_episode_are_those_of_its_actions(tmp_path):
    archive = interplay.record.open(tmp_path)
    task = find_task("basalt/find_cave")
    episode = rollout(archive, task, find_agent("random", archive), 14169, rng=np.random.default_rng(0), max_steps=12)
    assert list(archived_efforts(archive)) == []  # no person played it
    with archive.database.write() as session:
        row = session.get(EpisodeRow, episode.id)
        row.actor_kind = row.seats[0].actor_kind = "human"
    (effort,) = archived_efforts(archive)
    actions = episode.actions()
    use = [bool(action["use"]) for action in actions]
    assert effort.num_steps == len(actions)
    assert effort.num_clicks == sum(now and not before for now, before in zip(use, [False, *use], strict=False)) > 0
    assert effort.num_moving == sum(any(action[key] for key in ("forward", "back", "left", "right")) for action in actions)
    archive.close()


def table(efforts, id: str) -> dict[str, dict]:
    """Rows of one table of the chapter, by task."""
    section = proxy_section(efforts, "two files")
    return {row["task"]: row for row in next(block for block in section.blocks if block.id == id).records()}


def test_the_section_has_both_figures_or_says_why_not():
    efforts = [Effort("FindCave", 400, 3, 200, True, num_files=2), Effort("FindCave", 600, 5, 500, False)]
    section = proxy_section(efforts, "two files")
    assert "3 recordings of 2 episodes (two files)" in section.paragraphs[0]
    assert [block.id for block in section.blocks if isinstance(block, Figure)] == ["figure-clicks", "figure-moving"]
    row = table(efforts, "proxies")["FindCave"]
    assert (row["recordings"], row["episodes"], row["mean clicks"]) == (3, 2, 4.0)
    assert row["movement (% of steps)"] == pytest.approx(70.0)
    assert "There are no demonstrations" in proxy_section([], "").paragraphs[0]


def test_table_1_counts_episodes_beside_the_paper_and_sums_them_up():
    efforts = [
        Effort("MakeWaterfall", 6_040, 3, 200, False, num_files=2, size_bytes=3 * 10**9),
        Effort("MakeWaterfall", 960, 5, 500, True, size_bytes=10**9),
        Effort("FindCave", 1_000, 5, 500, False, size_bytes=10**9),
    ]
    rows = table(efforts, "demonstrations-by-task")
    assert list(rows) == ["FindCave", "MakeWaterfall", "CreateVillageAnimalPen", "BuildVillageHouse", "Total"]
    names = ("recordings", "episodes", "hours", "size (GB)", "mean length (s)", "ended by ESC (%)", "timed out (%)", "died (%)")
    assert [rows["MakeWaterfall"][name] for name in names] == [3, 2, pytest.approx(350 / 3600), 4.0, 175.0, 50.0, 50.0, 0.0]
    assert [rows["Total"][name] for name in names[:5]] == [4, 3, pytest.approx(400 / 3600), 5.0, pytest.approx(400 / 3)]
    assert [rows["Total"][name] for name in names[5:]] == [pytest.approx(100 / 3)] * 3
    assert [rows["BuildVillageHouse"][name] for name in names] == [None] * 8
    assert [rows["Total"][f"{name} (paper)"] for name in names[:6]] == [13_928, 13_128, 361, 651, 99, 95]


def test_table_1_stands_alone_without_demonstrations_and_has_no_size_of_an_archive_s_own():
    assert {row["episodes (paper)"] for row in table([], "demonstrations-by-task").values()} == {5466, 4176, 2708, 778, 13128}
    assert table([Effort("FindCave", 10, 0, 0, True)], "demonstrations-by-task")["FindCave"]["size (GB)"] is None


def test_an_empty_recording_is_an_episode_of_no_steps():
    assert table([Effort("FindCave", 0, 0, 0, False)], "proxies")["FindCave"]["movement (% of steps)"] is None


def test_the_published_demonstrations_add_up_but_for_the_hours():
    rows, total = published("demonstrations").values(), published("demonstrations_in_all")
    for key in ("videos", "episodes", "size_gb"):
        assert sum(row[key] for row in rows) == total[key], key
    assert sum(row["hours"] for row in rows) == total["hours"] + 1
