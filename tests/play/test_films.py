"""Films made in the background: asked for, followed, held for games, and made whatever dies."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.play.background.filming import NICENESS
from interplay.play.background.films import LATER, LATER_S, NOW, Films
from interplay.record import Archive, Episode
from interplay.record.films.film import Clip
from interplay.record.films.mp4 import probe
from interplay.tasks import find

TASK = find("atari/breakout")
WITHIN_S = 60


def recorded(archive: Archive, *, num_steps: int = 60, seed: int = 1) -> Episode:
    return rollout(archive, TASK, find_agent("random"), seed, rng=np.random.default_rng(0), max_steps=num_steps)


@pytest.fixture
def films(archive: Archive) -> Iterator[Films]:
    one = Films(archive, later_s=0)
    yield one
    one.close()


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < deadline, "this never came true"
        time.sleep(0.01)


def process_of(films: Films) -> int:
    """The id of the process that makes films, once it says how far it is."""
    until(lambda: films._filmer is not None)
    assert films._filmer is not None
    return films._filmer.pid


def test_a_film_is_made_for_whoever_asks_without_anybody_waiting(archive: Archive, films: Films) -> None:
    episode = recorded(archive)
    assert films.progress(episode.id).state == "missing"
    assert films.wanted(episode.id)
    assert films.progress(episode.id).state in ("waiting", "making")
    assert films.wait(episode.id, WITHIN_S) == ("made", 1.0, "")
    assert probe(archive.video_path(episode.id)).num_frames == 61
    assert not films.wanted(episode.id)
    assert os.getpriority(os.PRIO_PROCESS, process_of(films)) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)


def test_a_clip_is_made_as_a_film_is_and_says_what_it_lacks(archive: Archive, films: Films) -> None:
    episode = recorded(archive)
    clip, other = Clip(episode.id, 8, 27).name, Clip("gone", 8, 27).name
    assert films.wanted(clip)
    assert films.wanted(other)
    until(lambda: films.progress(clip).state == "made" and films.progress(other).state == "failed")
    assert archive.video_path(clip).parent.name == "clips"
    assert not archive.video_path(episode.id).exists()
    assert "gone" in films.progress(other).reason


def test_what_somebody_waits_for_is_made_before_what_nobody_asked_for(archive: Archive, films: Films) -> None:
    later = [recorded(archive, num_steps=3000, seed=seed) for seed in (1, 2)]
    now = recorded(archive, seed=3)
    for episode in later:
        films.wanted(episode.id, LATER)
    until(lambda: films.progress(later[0].id).state == "making")
    films.wanted(now.id, NOW)
    assert films.wait(now.id, WITHIN_S).state == "made"
    assert films.progress(later[1].id).state == "waiting"  # and the one that was begun begins again


def test_what_nobody_asked_for_waits_ten_seconds(archive: Archive) -> None:
    now_s = 0.0
    films = Films(archive, clock=lambda: now_s)
    try:
        later, now = recorded(archive), recorded(archive, seed=2)
        films.wanted(later.id, LATER)
        films.wanted(now.id)
        assert films.wait(now.id, WITHIN_S).state == "made"
        assert films.progress(later.id).state == "waiting"
        now_s = LATER_S
        films.wanted(later.id, LATER)
        assert films.wait(later.id, WITHIN_S).state == "made"
    finally:
        films.close()


def test_films_are_held_while_games_need_the_core(archive: Archive) -> None:
    needed = 1.5
    films = Films(archive, cores_needed=lambda: needed, num_cores=2)
    try:
        episode = recorded(archive)
        films.wanted(episode.id)
        until(lambda: films.progress(episode.id).state == "held")
        assert films.wait(episode.id, 1.0).state == "held"
        assert films.is_held
        assert not archive.video_path(episode.id).exists()
        needed = 1.0
        assert films.wait(episode.id, WITHIN_S).state == "made"
    finally:
        films.close()


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="this system shares the cores out without looking at sessions"
)
def test_films_give_way_to_programs_of_other_sessions_too(archive: Archive, films: Films) -> None:
    assert films.wanted(recorded(archive, num_steps=3000).id)
    process = process_of(films)
    until(lambda: Path(f"/proc/{process}/autogroup").read_text().endswith(f" nice {NICENESS}\n"))
    assert os.getsid(process) == process
    assert os.getpriority(os.PRIO_PROCESS, process) == NICENESS + os.getpriority(os.PRIO_PROCESS, 0)


@pytest.mark.long_proof
def test_a_film_that_was_done_as_it_was_held_does_not_hold_the_next_one(archive: Archive, films: Films) -> None:
    first, second = recorded(archive), recorded(archive, seed=2)
    films.wanted(first.id)
    assert films.wait(first.id, WITHIN_S).state == "made"
    assert films._filmer is not None
    films._filmer.hold(True)  # the order crossed the answer: the film is made, the process waits
    films.wanted(second.id)
    assert films.wait(second.id, WITHIN_S).state == "made"


@pytest.mark.long_proof
def test_a_process_that_is_killed_over_a_film_costs_no_film(archive: Archive, films: Films) -> None:
    episode = recorded(archive, num_steps=3000)
    films.wanted(episode.id)
    os.kill(process_of(films), signal.SIGKILL)
    assert films.wait(episode.id, WITHIN_S).state == "made"


def test_a_film_that_cannot_be_made_says_why_and_the_next_is_made(archive: Archive, films: Films) -> None:
    broken, whole = recorded(archive), recorded(archive, seed=2)
    broken.path.write_bytes(b"no Parquet")
    films.wanted(broken.id)
    films.wanted(whole.id)
    assert films.wait(whole.id, WITHIN_S).state == "made"
    progress = films.progress(broken.id)
    assert progress.state == "failed"
    assert "Restore the file from a backup" in progress.reason
    assert films.failures()[broken.id].num == 1
    assert not films.wanted(broken.id, LATER)
    assert films.wanted(broken.id, NOW)


def test_what_failed_is_tried_again_after_a_while_and_each_time_after_a_longer_one(archive: Archive) -> None:
    now_s = 0.0
    films = Films(archive, clock=lambda: now_s)
    try:
        episode = recorded(archive)
        whole = episode.path.read_bytes()
        episode.path.write_bytes(b"no Parquet")
        films.wanted(episode.id)
        assert films.wait(episode.id, WITHIN_S).state == "failed"
        now_s = 59.9
        assert not films.wanted(episode.id, LATER), "a minute after the first failure"
        now_s = 60.0
        assert films.wanted(episode.id, LATER)
        assert films.wait(episode.id, WITHIN_S).state == "failed"
        assert films.failures()[episode.id].num == 2
        now_s = 299.9
        assert not films.wanted(episode.id, LATER), "four minutes after the second"
        now_s = 300.0
        episode.path.write_bytes(whole)
        assert films.wanted(episode.id, LATER)
        assert films.wait(episode.id, WITHIN_S).state == "made"
        assert films.failures() == {}
    finally:
        films.close()


def test_what_failed_is_made_once_it_can_be_though_nobody_asks_again(archive: Archive, films: Films, monkeypatch) -> None:
    monkeypatch.setattr("interplay.play.background.films.RETRY_S", 0.05)
    episode = recorded(archive)
    whole = episode.path.read_bytes()
    episode.path.write_bytes(b"no Parquet")
    films.wanted(episode.id)
    until(lambda: episode.id in films.failures() and films.failures()[episode.id].num >= 2)
    episode.path.write_bytes(whole)
    until(lambda: films.progress(episode.id).state == "made" and not films.failures())
    assert probe(archive.video_path(episode.id)).num_frames == 61


def test_what_waits_for_its_next_try_keeps_no_process(archive: Archive, films: Films, monkeypatch) -> None:
    monkeypatch.setattr("interplay.play.background.films.IDLE_S", 0.2)
    broken, whole = recorded(archive), recorded(archive, seed=2)
    broken.path.write_bytes(b"no Parquet")
    films.wanted(broken.id)
    films.wanted(whole.id)
    assert films.wait(whole.id, WITHIN_S).state == "made"
    until(lambda: films._filmer is None)
    assert films.failures()[broken.id].num == 1


def test_closing_ends_the_process_at_once(archive: Archive, films: Films) -> None:
    episode = recorded(archive, num_steps=3000)
    films.wanted(episode.id)
    process = process_of(films)
    films.close()
    assert not Path(f"/proc/{process}").exists()
    assert not archive.video_path(episode.id).exists()
    assert not films.wanted(episode.id)
