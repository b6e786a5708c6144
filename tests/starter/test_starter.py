"""The starter set that is shipped: whole, small, of today's tasks, and entered into new data folders once."""

import hashlib
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import warm_process
from fastapi.testclient import TestClient

import interplay.record
from interplay import starter
from interplay.agents import RandomAgent, rollout
from interplay.agents.scripted import has_player
from interplay.explore import published
from interplay.judge import Judging
from interplay.record import Archive
from interplay.record.verification.verify import verify_file
from interplay.store import entrants as store
from interplay.study.definition import find_study
from interplay.tasks import builtin_suites, find
from interplay.web.app import create_app
from interplay.web.pictures import SHIPPED, shipped_picture

ANEW = "make it anew:  python tools/make_starter.py   (--again after a change of the world or of an agent)"
TASKS = [task for suite in builtin_suites() for task in suite.tasks]
PLAYED = [task for task in TASKS if has_player(task) and len(task.seats) == 1]
MAX_FILMS_BYTES = 15_000_000
MAX_RECORDINGS_BYTES = 2_500_000

pytest.importorskip("ale_py")
pytest.importorskip("numba")


def agents_of(archive: Archive, task: str) -> set[str]:
    with archive.database.read() as session:
        return {agent.name for agent in store.entrants(session, task)}


# What is shipped


def test_the_set_is_whole_and_of_the_tasks_as_they_are_now():
    assert starter.faults() == [], ANEW


def test_every_task_that_has_a_player_has_a_pair_of_films_on_a_held_out_seed():
    for task in PLAYED:
        by_seed: dict[int, set[str]] = {}
        for shipped in starter.episodes():
            if shipped.task == task.id:
                by_seed.setdefault(shipped.seed, set()).add(shipped.agent)
        assert set(by_seed) <= set(task.held_out_seeds), ANEW
        assert {"random", "scripted"} in by_seed.values(), f"{task.id} has no pair; {ANEW}"


def test_the_set_was_played_in_the_world_as_it_is_now():
    from blockworld import VERSION

    versions = {shipped.world for shipped in starter.episodes()} - {""}
    assert versions == {str(VERSION)}, ANEW


def test_the_set_stays_small():
    assert sum(shipped.film_bytes for shipped in starter.episodes()) <= MAX_FILMS_BYTES
    assert sum(shipped.episode_bytes for shipped in starter.episodes()) <= MAX_RECORDINGS_BYTES
    listed = {path for shipped in starter.episodes() for path in (shipped.recording, shipped.film)}
    there = {*starter.FOLDER.rglob("*.parquet"), *starter.FOLDER.rglob("*.mp4")}
    assert there == listed, f"files that the manifest does not list, or lacks; {ANEW}"


@pytest.mark.long_proof
@pytest.mark.parametrize("task", ["atari/breakout", "atari/riverraid", "basalt/make_waterfall"])
def test_a_shipped_recording_replays_as_it_was_recorded(task):
    shipped = starter.example(task)
    assert shipped is not None
    verdict = verify_file(shipped.recording, shipped.id, shipped.episode_sha256)
    assert (verdict.equal, verdict.replayed) == (True, True), f"{verdict.reason}; {ANEW}"


def test_every_task_of_the_package_has_its_own_picture_and_none_is_black():
    cv2 = pytest.importorskip("cv2")
    seen: dict[str, np.ndarray] = {}
    tasks = [
        *TASKS,
        *(published.instances()[name].task() for name in published.names(published.SET)),
    ]  # others are drawn when asked for
    for task in tasks:
        path = shipped_picture(task.id)
        assert path is not None, f"{task.id} has no picture; {ANEW}"
        picture = cv2.imread(str(path))
        # Black grounds are usual on this console; a picture of which a part is drawn shows something.
        assert np.mean(picture.max(axis=2) > 40) > 0.04, f"{path} is nearly black"
        assert picture.std() > 15, f"{path} shows nothing"
        small = cv2.resize(picture, (16, 16), interpolation=cv2.INTER_AREA).astype(int)
        # Scenes of explore share their ground and sky, and Gymnasium draws some thin lines on white.
        apart = 3 if task.suite == "gymnasium" else 6 if task in TASKS else 4
        rom = task.env.name if task.env.backend in ("ale", "ale2p") else None  # tasks of one ROM show one game
        for other, other_small in seen.items():
            if rom is not None and find(other).env.name == rom:
                continue
            assert np.abs(small - other_small).mean() > apart, f"{task.id} and {other} look alike; {ANEW}"
        seen[task.id] = small
    assert {path.stem for path in SHIPPED.iterdir()} == {task.id.replace("/", "-") for task in tasks}


# How it gets into a data folder


def test_a_new_data_folder_is_full_at_once_and_has_pairs_of_every_task(archive):
    assert starter.enter(archive) == len(starter.episodes()) == len(archive.episodes())
    for shipped in starter.episodes():
        episode = archive.get(shipped.id)
        assert hashlib.sha256(episode.path.read_bytes()).hexdigest() == episode.sha256 == shipped.episode_sha256
        assert archive.video_path(shipped.id).read_bytes() == shipped.film.read_bytes()
        assert (episode.task_id, episode.actor, episode.seed) == (shipped.task, shipped.agent, shipped.seed)
        assert episode.header.task == find(shipped.task)
    judging = Judging(archive, rng=np.random.default_rng(0))
    for task in PLAYED:
        assert judging.serve(f"judge of {task.id}", task.id).task == task.id


def test_the_set_is_entered_once(archive):
    starter.enter(archive)
    before = {episode.id: episode.path.stat().st_mtime_ns for episode in archive.episodes()}
    assert starter.enter(archive) == 0
    assert {episode.id: episode.path.stat().st_mtime_ns for episode in archive.episodes()} == before


def test_tasks_that_have_agents_are_left_alone_also_when_those_were_withdrawn(archive):
    with archive.database.write() as session:
        store.admit(session, name="ours", task="atari/breakout", kind="agent", now=datetime.now(UTC))
        store.withdraw(session, name="ours", now=datetime.now(UTC))
    assert starter.enter(archive) > 0
    assert agents_of(archive, "atari/breakout") == {"ours"}
    assert archive.episodes(task="atari/breakout") == []
    assert agents_of(archive, "atari/qbert") == {"random", "scripted"}


def test_a_folder_with_episodes_of_somebody_gets_nothing(archive):
    rollout(archive, find("atari/breakout"), RandomAgent(), 1, rng=np.random.default_rng(0), max_steps=5)
    assert starter.enter(archive) == 0
    assert len(archive.episodes()) == 1


def test_a_set_that_does_not_fit_leaves_no_files_and_is_entered_later(archive):
    in_the_way = archive.root / "episodes" / "basalt"
    in_the_way.write_bytes(b"no folder can be made here")
    with pytest.raises(OSError, match="basalt"):
        starter.enter(archive)
    left = [path for folder in ("episodes", "media") for path in (archive.root / folder).rglob("*") if path.is_file()]
    assert left == [in_the_way]
    in_the_way.unlink()
    assert starter.enter(archive) == len(starter.episodes())


def test_a_file_that_is_there_is_not_written_over(archive):
    shipped = starter.episodes()[0]
    film = archive.video_path(shipped.id)
    film.write_bytes(b"somebody's own")
    starter.enter(archive)
    assert film.read_bytes() == b"somebody's own"


def test_another_version_of_a_task_gets_nothing(archive):
    suites = [replace(suite, tasks=tuple(replace(task, goal="Other.") for task in suite.tasks)) for suite in builtin_suites()]
    assert starter.enter(archive, suites) == 0
    assert archive.episodes() == []


ENTER = """
import os, signal, sys
import interplay.record
from interplay import starter
left = int(sys.argv[2])
def put(path):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
starter.enter(interplay.record.open(sys.argv[1]), report=put)
"""


@pytest.mark.parametrize("num_files", [1, 25])
def test_a_start_that_was_killed_half_way_is_finished_by_the_next(archive, num_files):
    assert warm_process.run(["-c", ENTER, str(archive.root), str(num_files)]).returncode < 0
    assert archive.episodes() == []
    assert starter.enter(archive) == len(starter.episodes())
    for shipped in starter.episodes():
        assert archive.video_path(shipped.id).stat().st_size == shipped.film_bytes
        assert archive.get(shipped.id).path.stat().st_size == shipped.episode_bytes
    assert archive.repair().missing == []
    assert list(archive.root.rglob("*.part")) == []


def test_files_of_a_killed_start_that_a_repair_entered_first_do_no_harm(archive):
    warm_process.run(["-c", ENTER, str(archive.root), "9"])
    assert archive.repair().catalogued
    assert starter.enter(archive) == len(starter.episodes()) == len(archive.episodes())


# What people see


def test_cards_and_examples_of_studies_lead_to_files_that_come_with_the_package(archive):
    with TestClient(create_app(archive)) as client:
        page = client.get("/").text
        for task in TASKS:
            address = f"/static/tasks/{task.id.replace('/', '-')}."
            assert page.count(address) == 1, f"the card of {task.id} has no picture of its own"
        assert "picture.png" not in page
        study = find_study("basalt")
        assert [example.task for example in study.examples] == study.judging["tasks"]
        for example in study.examples:
            film = client.get(example.video)
            assert film.headers["content-type"] == "video/mp4"
            assert film.content[4:8] == b"ftyp"
        assert client.get("/starter/basalt/no_such.mp4").status_code == 404


def test_a_server_on_a_new_folder_has_everything_when_it_says_where_it_is(tmp_path):
    command = ["-m", "interplay.cli", "serve", "--port", "0", "--workers", "1", "--data", str(tmp_path)]
    for options, wanted in ((["--empty"], 0), ([], len(starter.episodes()))):
        server = warm_process.WarmProcess([*command, *options], stderr=Path(os.devnull))
        assert server.stdout is not None
        with server.stdout:
            assert server.stdout.readline().startswith("Interplay is at http://")
            folder = interplay.record.open(tmp_path)
            assert len(folder.episodes()) == wanted
            assert (tmp_path / starter.EXAMPLES).exists() == (wanted > 0)
            folder.close()
            server.terminate()
            server.stdout.read()
