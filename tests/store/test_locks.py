"""Locks by what they guard: their order, who waits for whom, and two servers that write the same rows at the same moment."""

from contextlib import closing

import pytest
from meeting import meet, num_rows

from interplay import testing
from interplay.envs import make
from interplay.record import Owner, RecordedEpisode
from interplay.store import Database, Entrant, EpisodeRow, TaskRow, entrants
from interplay.store.locks import key_of, lock, try_lock
from interplay.store.participants import Exposure, add_exposures
from interplay.tasks import find

TASK = "atari/breakout"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_locks_are_taken_in_one_order(kind, request, tmp_path):
    url = request.getfixturevalue("postgres_url") if kind == "postgresql" else f"sqlite:///{tmp_path}/interplay.db"
    with closing(Database.open(url)) as database, database.write() as session:
        lock(session, "study", "lab")
        lock(session, "judge", "bob", "ada")
        lock(session, "judge", "ada")
        lock(session, "study", "lab")
        assert try_lock(session, "pair", "a b")
        for later in (("study", "other"), ("judge", "ann")):
            with pytest.raises(RuntimeError, match="was asked for after"):
                lock(session, *later)
        lock(session, "log", "answers")


def test_each_lock_is_of_its_kind_and_name_alone():
    keys = [key_of(kind, name) for kind in ("judge", "study") for name in ("ada", "bob", "")]
    assert len(set(keys)) == len(keys)
    assert all(-(2**63) <= key < 2**63 for key in keys)


def test_a_task_that_two_pages_show_is_known_once(here, there):
    def show(archive) -> None:
        with archive.database.write() as session:
            add_exposures(session, [Exposure(1, TASK, testing.START)])

    assert meet(here.database, lambda: show(here), lambda: show(there)) == (None, None)


def test_one_name_is_admitted_once(here, there):
    def admit(archive) -> str:
        with archive.database.write() as session:
            return entrants.admit(session, name="ada", task=TASK, kind="agent", now=testing.START).name

    assert meet(here.database, lambda: admit(here), lambda: admit(there)) == ("ada", "ada")
    assert num_rows(here, Entrant) == 1


def sealed(archive, monkeypatch):
    """A sealed episode of the first version of its task, which the catalogue does not have."""
    task = find(TASK)
    with closing(make(task)) as world, monkeypatch.context() as patch:
        recorder = archive.recorder(task, world, seed=1, owners={task.seats[0]: Owner("ada", "agent")})
        played = RecordedEpisode(world, recorder)
        played.start(1)
        played.step({task.seats[0]: 0})
        patch.setattr(archive, "catalogue", lambda episode: None)
        return archive.seal(recorder.finish("quit"))


@pytest.mark.parametrize("is_same", [True, False])
def test_one_episode_sealed_twice_and_two_of_a_new_task_are_entered(here, there, monkeypatch, is_same):
    first = sealed(here, monkeypatch)
    second = first if is_same else sealed(here, monkeypatch)
    if is_same:
        with here.database.write() as session:
            testing.add_task(session, find(TASK))
    assert meet(here.database, lambda: here.catalogue(first), lambda: there.catalogue(second)) == (None, None)
    assert num_rows(here, EpisodeRow) == (1 if is_same else 2)
    assert num_rows(here, TaskRow) == 1


def test_an_episode_is_sealed_while_judges_answer_and_people_enrol(here, there, monkeypatch):
    episode = sealed(here, monkeypatch)
    with there.database.write() as session:
        lock(session, "study", "lab")
        lock(session, "entrant", "ada", "people")
        lock(session, "judge", "ada", "participant-1")
        lock(session, "log", "answers")
        here.catalogue(episode)
    assert num_rows(here, EpisodeRow) == 1
