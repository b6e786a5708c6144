"""Published recordings: what is counted in a file, and which files are one episode."""

import json
from datetime import UTC, datetime

import pytest

from interplay.learn.recordings.counts import PART_STEPS, count_recording
from interplay.learn.recordings.names import RecordingName, RecordingsError
from interplay.report.bedd.demonstrations import Effort, recorded_efforts


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
    counted = count_recording(tmp_path / "a.jsonl", "FindCave")
    assert (counted.num_steps, counted.num_clicks, counted.num_moving) == (5, 2, 0)


def test_a_step_of_movement_is_one_with_any_of_four_keys_however_many(tmp_path):
    recording(tmp_path, "a", [frame(keys=["w", "a"]), frame(keys=["space"]), frame(keys=["d"]), frame(keys=["s"]), frame()])
    assert count_recording(tmp_path / "a.jsonl", "FindCave").num_moving == 3


def test_escape_counts_where_it_goes_down_and_not_in_a_menu(tmp_path):
    recording(tmp_path, "menu", [frame(keys=["escape"], gui=True)])
    recording(tmp_path, "world", [frame(keys=["escape"])])
    recording(tmp_path, "held", [frame(gui=True), frame(keys=["escape"], gui=True), frame(keys=["escape"]), frame()])
    recording(tmp_path, "twice", [frame(keys=["escape"], gui=True), frame(), frame(keys=["escape"])])
    found = {
        name: count_recording(tmp_path / f"{name}.jsonl", "FindCave").has_escape for name in ("menu", "world", "held", "twice")
    }
    assert found == {"menu": False, "world": True, "held": False, "twice": True}


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
    counted = count_recording(tmp_path / "a.jsonl", "FindCave")
    assert (counted.num_steps, counted.num_clicks, counted.num_moving, counted.num_unreadable) == (5, 0, 1, 2)


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


def part(task, name: str, num_frames: int = PART_STEPS, *, end: dict | None = None, at: int = -1) -> None:
    """A recording of frames with the right button going down once and W held, one of them replaced by `end`."""
    frames = [frame(keys=["w"], new=[1] if not place else []) for place in range(num_frames)]
    if end is not None:
        frames[at] = end
    recording(task, name, frames)


ESCAPE = frame(keys=["escape"])
SESSION = "red-hen-0123456789ab"


def test_a_name_is_alias_session_and_time():
    time = datetime(2022, 7, 16, 19, 0, 15, tzinfo=UTC)
    assert RecordingName.parse("gloppy-persimmon-ferret-3e42e8e14be0-20220716-190015") == (
        "gloppy-persimmon-ferret",
        "3e42e8e14be0",
        time,
    )
    assert RecordingName.parse("Player123-f153ac423f61a-20220716-190015") == ("Player123", "f153ac423f61a", time)
    for other in ("a", "Player1-20220716-190015", "red-hen-0123456789ab-20221316-190015", "-0123456789ab-20220716-190015"):
        assert RecordingName.parse(other) is None, other


def test_files_of_a_session_are_one_episode_until_escape_or_a_shorter_file(tmp_path):
    house = tmp_path / "build-house"
    part(house, f"{SESSION}-20220716-190000")
    part(house, f"{SESSION}-20220716-190501", end=frame(keys=["escape"], gui=True), at=7)  # a menu was closed
    part(house, f"{SESSION}-20220716-191002", 500, end=ESCAPE)
    part(house, f"{SESSION}-20220716-191100", 200)  # after the ESC: the next episode
    part(house, f"{SESSION}-20220716-191200", 300)  # after a file that is too short
    assert recorded_efforts(tmp_path) == [
        Effort("BuildVillageHouse", 12_500, 3, 12_498, True, num_files=3, size_bytes=size(house, "1900", "1905", "1910")),
        Effort("BuildVillageHouse", 200, 1, 200, False, size_bytes=size(house, "1911")),
        Effort("BuildVillageHouse", 300, 1, 300, False, size_bytes=size(house, "1912")),
    ]


def size(folder, *times: str) -> int:
    """Bytes of the recordings that began at those hours and minutes."""
    return sum(path.stat().st_size for time in times for path in folder.glob(f"*-{time}??.jsonl"))


@pytest.mark.parametrize("num_frames", [PART_STEPS - 1, PART_STEPS + 1])
def test_only_exactly_five_minutes_go_on(tmp_path, num_frames):
    part(tmp_path / "waterfall", f"{SESSION}-20220716-190000", num_frames)
    part(tmp_path / "waterfall", f"{SESSION}-20220716-190500", 60, end=ESCAPE)
    assert [effort.num_files for effort in recorded_efforts(tmp_path)] == [1, 1]


def test_escape_in_a_file_of_five_minutes_ends_the_episode_there(tmp_path):
    part(tmp_path / "waterfall", f"{SESSION}-20220716-190000", end=ESCAPE)
    part(tmp_path / "waterfall", f"{SESSION}-20220716-190500", 60)
    assert [(effort.num_files, effort.ending) for effort in recorded_efforts(tmp_path)] == [(1, "escape"), (1, "death")]


def test_other_sessions_tasks_and_names_are_other_episodes(tmp_path):
    part(tmp_path / "waterfall", f"{SESSION}-20220716-190000")
    part(tmp_path / "waterfall", "red-hen-ba9876543210-20220716-190500", 60)
    part(tmp_path / "pen-animals", f"{SESSION}-20220716-190500", 60)
    part(tmp_path / "waterfall", "a")
    part(tmp_path / "waterfall", "b", 60)
    assert [effort.num_files for effort in recorded_efforts(tmp_path)] == [1] * 5


def test_a_session_is_of_one_player_though_others_have_one_of_that_name(tmp_path):
    part(tmp_path / "waterfall", "b-f153ac423f61-20220716-190000")
    part(tmp_path / "waterfall", "a-f153ac423f61-20220716-190500", 50, end=ESCAPE)
    assert sorted(effort.num_steps for effort in recorded_efforts(tmp_path)) == [50, 6_000]


@pytest.mark.parametrize(
    ("task", "limit"),
    [("FindCave", 3_600), ("MakeWaterfall", 6_000), ("CreateVillageAnimalPen", 6_000), ("BuildVillageHouse", 14_400)],
)
def test_without_escape_the_time_limit_tells_a_timeout_from_a_death(task, limit):
    endings = [Effort(task, steps, 0, 0, False).ending for steps in (limit - 1, limit, limit + 60)]
    assert endings == ["death", "timeout", "timeout"]
    assert Effort(task, limit, 0, 0, True).ending == "escape"


def test_a_video_beside_its_recording_counts_for_the_size(tmp_path):
    part(tmp_path / "find-cave", f"{SESSION}-20220716-190000", 10)
    (tmp_path / "find-cave" / f"{SESSION}-20220716-190000.mp4").write_bytes(b"0" * 5_000)
    (effort,) = recorded_efforts(tmp_path)
    assert effort.size_bytes == 5_000 + size(tmp_path / "find-cave", "1900")
