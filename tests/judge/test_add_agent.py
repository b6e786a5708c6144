"""Agents known by their videos: checked whole, stored whole or not at all, whoever is killed and when."""

import json
import signal

import numpy as np
import pytest
import warm_process
from judging_world import form
from video_files import FIND_CAVE, WATERFALL, write_agent, write_video

import interplay.record
from interplay.cli import main
from interplay.errors import InterplayError
from interplay.judge import Judging
from interplay.judge.entrants.uploads import UploadError, add_agent, add_video
from interplay.store import entrants as entrant_store
from interplay.store import uploads as store
from interplay.tasks import parse_suite

SEEDS = FIND_CAVE.held_out_seeds


def videos_of(archive) -> list:
    return archive.episodes(with_uploads=True)


def names_in_media(archive) -> set[str]:
    return {path.name for path in (archive.root / "media").glob("*.mp4")}


def test_an_agent_is_added_with_its_videos_of_every_task(archive, tmp_path):
    told = []
    added = add_agent(
        archive,
        "GoUp",
        write_agent(tmp_path / "GoUp"),
        kind="bc",
        description="A net.",
        on_progress=lambda *now: told.append(now),
    )
    assert [(task.task, sorted(task.episodes)) for task in added.tasks] == [
        ("basalt/find_cave", sorted(SEEDS[:3])),
        ("basalt/make_waterfall", sorted(WATERFALL.held_out_seeds[:3])),
    ]
    assert added.tasks[0].missing_seeds == SEEDS[3:]
    assert {episode.id for episode in videos_of(archive)} == {name.removesuffix(".mp4") for name in names_in_media(archive)}
    with archive.database.read() as session:
        agents = entrant_store.entrants(session, name="GoUp")
        assert [(agent.task, agent.kind, agent.description) for agent in agents] == [
            ("basalt/find_cave", "bc", "A net."),
            ("basalt/make_waterfall", "bc", "A net."),
        ]
        assert {entrant_store.state(agent) for agent in agents} == {"approved"}
    assert told[0] == ("checking videos", 0, 6)
    assert told[-1] == ("copying videos", 6, 6)
    assert not list((archive.root / "media").glob(".*"))


def test_two_agents_of_videos_are_served_to_a_judge_and_rated(archive, tmp_path, clock):
    for number, name in enumerate(("GoUp", "UniTeam")):
        add_agent(archive, name, write_agent(tmp_path / name, first_shade=10 * number))
    judging = Judging(archive, rng=np.random.default_rng(0), clock=clock)
    match = judging.serve("participant-1", "basalt/find_cave")
    for side in ("left", "right"):
        path, _ = judging.video(match.id, side, "participant-1")
        assert path.read_bytes()[4:8] == b"ftyp"
    clock.advance(60)
    judging.answer(match.id, "participant-1", **form("basalt/find_cave"))
    rows = judging.leaderboard("basalt/find_cave")["rows"]
    assert {row["agent"] for row in rows} == {"GoUp", "UniTeam"}


def test_tasks_of_ones_own_are_named_by_suite_and_folder(archive, tmp_path):
    suite = parse_suite(
        '[suite]\nid = "robots"\ntitle = "Robots"\n[[task]]\nname = "pour"\ntitle = "Pour"\ngoal = "Pour."\n'
        'env.id = "video:none"\n'
        'held_out_seeds = [-3, 7]\nquestions = [{ id = "o", factor = "overall", kind = "overall", text = "Who?" }]'
    )
    write_video(tmp_path / "pi" / "robots" / "pour" / "seed_-3.mp4", rate=30)
    write_video(tmp_path / "pi" / "robots" / "pour" / "seed_7.mp4", rate=15, shade=4)
    added = add_agent(archive, "pi", tmp_path / "pi", suites=[suite])
    assert added.tasks[0].task == "robots/pour"
    assert not added.tasks[0].missing_seeds
    assert "1 video of robots/pour: 15 frames a second where the task has 30" in added.notes[0]
    # The database knows the task from now on, so that the suite need not be named again.
    write_video(tmp_path / "act" / "pour" / "seed_7.mp4", shade=9, rate=30)
    assert add_agent(archive, "act", tmp_path / "act").tasks[0].missing_seeds == (-3,)


def test_everything_that_is_wrong_is_said_at_once_and_nothing_is_stored(archive, tmp_path):
    folder = write_agent(tmp_path / "GoUp")
    cave = folder / "FindCave"
    write_video(cave / "seed_12.mp4")
    write_video(cave / "best run.mp4")
    write_video(folder / "find_cave" / f"seed_{SEEDS[0]}.mp4")
    write_video(cave / f"seed_{SEEDS[4]}.mp4", codec="mpeg4")
    write_video(cave / f"seed_{SEEDS[5]}.mp4", pixels="yuv444p", size=(47, 33))
    (cave / f"seed_{SEEDS[6]}.mp4").write_bytes(b"")
    whole = (cave / f"seed_{SEEDS[0]}.mp4").read_bytes()
    (cave / f"seed_{SEEDS[7]}.mp4").write_bytes(whole[: len(whole) // 2])
    (cave / f"seed_{SEEDS[8]}.mp4").write_bytes(whole[:-60] + bytes(60))
    (cave / f"seed_{SEEDS[9]}.webm").write_bytes(b"\x1aE\xdf\xa3")
    (cave / f"seed_{SEEDS[0]}.jsonl").write_text("{}")
    (cave / f"seed_{SEEDS[1]}-2.mp4").mkdir()
    (cave / f"seed_{SEEDS[2]}.mp4").unlink(missing_ok=True)
    (cave / f"seed_{SEEDS[2]}.mp4").mkdir()
    write_video(folder / "FindCaves" / "seed_1.mp4")
    write_video(folder / "seed_1.mp4")
    with pytest.raises(UploadError) as caught:
        add_agent(archive, "GoUp", folder)
    text = str(caught.value)
    for part in (
        "cannot be added, 13 things to correct; nothing was stored:",
        "FindCaves: unknown task 'FindCaves'; did you mean 'FindCave'?",
        f"seed_1.mp4: lies beside the folders of the tasks\n  Move it to {folder}/TASK/seed_<number>.mp4.",
        f"seed_{SEEDS[1]}-2.mp4: is not called seed_<number>.mp4",
        f"seed_{SEEDS[2]}.mp4: is a folder, not a video\n  Put the mp4 itself there.",
        "seed_12.mp4: 12 is not a held-out seed of basalt/find_cave\n  Held-out: 14169, 65101,",
        "best run.mp4: is not called seed_<number>.mp4",
        f"{folder}/find_cave/seed_{SEEDS[0]}.mp4: {cave}/seed_{SEEDS[0]}.mp4 is of the same task and seed\n  Keep one of them.",
        "its pictures are mpeg4, and not every browser plays that\n  Convert it:  ffmpeg -i ",
        "H.264 High 4:4:4 Predictive in yuv444p, and not every browser plays that\n  Convert it:  ffmpeg -i ",
        "-c:v libx264 -pix_fmt yuv420p -vf 'scale=trunc(iw/2)*2:trunc(ih/2)*2' -movflags +faststart ",
        f"seed_{SEEDS[6]}.mp4 is damaged: the file is empty",
        f"seed_{SEEDS[7]}.mp4 is damaged: it is cut off",
        f"seed_{SEEDS[8]}.mp4 is damaged: ",
        f"seed_{SEEDS[9]}.webm: is not an mp4",
    ):
        assert part in text, f"{part!r} is not in\n{text}"
    assert not videos_of(archive)
    assert not list((archive.root / "media").iterdir())
    with archive.database.read() as session:
        assert not entrant_store.entrants(session)


def test_files_beside_the_videos_and_twins_are_notes(archive, tmp_path):
    folder = write_agent(tmp_path / "GoUp")
    (folder / "README.txt").write_text("hello")
    (folder / ".DS_Store").write_text("")
    write_video(folder / "FindCave" / f"seed_{SEEDS[5]}.mp4", shade=1)
    notes = add_agent(archive, "GoUp", folder).notes
    assert notes[0] == "not videos, ignored: README.txt"
    assert notes[1].startswith("the same video has 2 names, ")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("participant-7", "'participant-7' cannot be an agent's name\nUse 1 to 100 letters"),
        ("", "'' cannot be an agent's name"),
        ("a/b", "'a/b' cannot be an agent's name"),
    ],
)
def test_names_that_cannot_be_are_refused(archive, tmp_path, name, message):
    with pytest.raises(UploadError, match=message):
        add_agent(archive, name, tmp_path)


def test_an_empty_and_a_missing_folder_are_refused(archive, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UploadError, match=r"there are no videos in .*\nName them .*/TASK/seed_<number>.mp4"):
        add_agent(archive, "GoUp", tmp_path / "empty")
    with pytest.raises(UploadError, match="nowhere: no such folder\n  Give the folder that holds one folder for each task"):
        add_agent(archive, "GoUp", tmp_path / "nowhere")


def test_what_an_agent_showed_is_never_replaced(archive, tmp_path):
    folder = write_agent(tmp_path / "GoUp")
    add_agent(archive, "GoUp", folder)
    before = {episode.id: episode.sha256 for episode in videos_of(archive)}
    with pytest.raises(
        UploadError,
        match="there is an agent 'GoUp' already in basalt/find_cave, basalt/make_waterfall; its videos are not replaced",
    ):
        add_agent(archive, "GoUp", folder)
    with pytest.raises(UploadError, match="an agent whose name differs from 'goup' only in capital letters"):
        add_agent(archive, "goup", folder, replace_missing=True)
    write_video(folder / "FindCave" / f"seed_{SEEDS[0]}.mp4", shade=77)
    write_video(folder / "FindCave" / f"seed_{SEEDS[3]}.mp4", shade=78)
    added = add_agent(archive, "GoUp", folder, replace_missing=True)
    assert list(added.tasks[0].episodes) == [SEEDS[3]]
    assert sorted(added.tasks[0].kept_seeds) == sorted(SEEDS[:3])
    after = {episode.id: episode.sha256 for episode in videos_of(archive)}
    assert len(after) == 7
    assert before.items() <= after.items()


def test_a_lost_video_comes_back_under_its_own_name(archive, tmp_path):
    folder = write_agent(tmp_path / "GoUp")
    add_agent(archive, "GoUp", folder)
    lost = archive.video_path(videos_of(archive)[0].id)
    lost.unlink()
    assert archive.repair().missing == [lost.stem]
    add_agent(archive, "GoUp", folder, replace_missing=True)
    assert lost.exists()
    assert not archive.repair().missing


def test_a_withdrawn_agent_stays_withdrawn_when_it_gets_more_videos(archive, tmp_path):
    folder = write_agent(tmp_path / "GoUp")
    add_agent(archive, "GoUp", folder, kind="bc")
    with archive.database.write() as session:
        entrant_store.withdraw(session, name="GoUp", now=videos_of(archive)[0].created_at)
    write_video(folder / "FindCave" / f"seed_{SEEDS[3]}.mp4", shade=78)
    add_agent(archive, "GoUp", folder, replace_missing=True)
    with archive.database.read() as session:
        assert {(entrant_store.state(agent), agent.kind) for agent in entrant_store.entrants(session)} == {("withdrawn", "bc")}


KILLED = """
import os, signal, sys
from pathlib import Path
import interplay.record
from interplay.judge.entrants import uploads
from interplay.judge.entrants import video_staging
from interplay.store import database
place, moment = sys.argv[3], int(sys.argv[4])
calls = 0
def killing(function):
    def called(*args, **kwargs):
        global calls
        calls += 1
        if calls == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return called
if place == "copying":
    video_staging.copy_to_stream = killing(video_staging.copy_to_stream)
elif place == "placing":
    video_staging.store.put_episode = killing(video_staging.store.put_episode)
elif place == "admitting":
    uploads.entrant_store.admit = killing(uploads.entrant_store.admit)
uploads.add_agent(interplay.record.open(sys.argv[1]), "GoUp", Path(sys.argv[2]))
"""


@pytest.mark.processes
@pytest.mark.parametrize(("place", "moment"), [("copying", 4), ("placing", 5), ("admitting", 2)])
def test_who_is_killed_in_the_middle_leaves_nothing_visible_and_tries_again(tmp_path, place, moment):
    folder, data = write_agent(tmp_path / "GoUp"), tmp_path / "data"
    result = warm_process.run(["-c", KILLED, str(data), str(folder), place, str(moment)])
    assert result.returncode == -signal.SIGKILL, result.stderr
    archive = interplay.record.open(data)
    try:
        assert not videos_of(archive)
        with archive.database.read() as session:
            assert not entrant_store.entrants(session)
            assert not store.uploaded_files(session)
        assert not archive.repair().missing
        add_agent(archive, "GoUp", folder)
        # Nothing is left over: what the killed one had placed has the names that the second attempt gave.
        assert names_in_media(archive) == {f"{episode.id}.mp4" for episode in videos_of(archive)}
        assert len(videos_of(archive)) == 6
    finally:
        archive.close()


def test_one_video_is_added_by_the_api_of_agents_once(archive, tmp_path):
    path = write_video(tmp_path / "one.mp4")
    name = add_video(archive, FIND_CAVE, "GoUp", SEEDS[0], path)
    assert add_video(archive, FIND_CAVE, "GoUp", SEEDS[0], path) == name
    assert archive.get(name).seed == SEEDS[0]
    with pytest.raises(UploadError, match=f"GoUp already has another video of seed {SEEDS[0]} of basalt/find_cave"):
        add_video(archive, FIND_CAVE, "GoUp", SEEDS[0], write_video(tmp_path / "two.mp4", shade=9))
    with pytest.raises(UploadError, match="12 is not a held-out seed of basalt/find_cave; its held-out seeds: 14169"):
        add_video(archive, FIND_CAVE, "GoUp", 12, path)
    empty = tmp_path / "empty.mp4"
    empty.write_bytes(b"")
    with pytest.raises(InterplayError, match="is damaged: the file is empty"):
        add_video(archive, FIND_CAVE, "GoUp", SEEDS[1], empty)
    assert names_in_media(archive) == {f"{name}.mp4"}
    assert not list((archive.root / "media").glob(".*"))


def test_a_full_disk_stores_nothing(archive, tmp_path, monkeypatch):
    from interplay.judge.entrants import video_staging

    monkeypatch.setattr(video_staging.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 100})())
    with pytest.raises(
        UploadError, match=r"the videos of GoUp need 0 MB, but .* has 0 MB left; nothing was added\nFree some space"
    ):
        add_agent(archive, "GoUp", write_agent(tmp_path / "GoUp"))
    assert not videos_of(archive)


def test_the_command_line_says_what_it_wrote_and_what_is_missing(tmp_path, capsys):
    folder, data = write_agent(tmp_path / "GoUp"), tmp_path / "data"
    with pytest.raises(SystemExit, match="0"):
        main(["judge", "add-agent", "GoUp", str(folder), "--data", str(data)])
    out = capsys.readouterr().out
    assert "basalt/find_cave: 3 videos added" in out
    assert f"warning: none of seed {', '.join(map(str, SEEDS[3:]))}; others cannot be compared there" in out
    assert f"GoUp (agent) has 6 new videos.\nNext:  interplay serve --data {data}" in out
    with pytest.raises(SystemExit, match="0"):
        main(["judge", "add-agent", "Two", str(write_agent(tmp_path / "Two", first_shade=30)), "--data", str(data), "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["name"] == "Two"
    assert len(document["tasks"][0]["episodes"]) == 3
    with pytest.raises(SystemExit, match="1"):
        main(["judge", "add-agent", "GoUp", str(folder), "--data", str(data)])
    assert "or add only the missing videos with --replace-missing" in capsys.readouterr().err
