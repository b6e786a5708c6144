"""Rows say which films were made: judging asks no store, another machine shows the same films, deleted ones are made again."""

import numpy as np
import pytest
import sqlalchemy as sa
from judging_world import AT_ONCE, TASKS, add_episode, fill
from store_gate import gate
from video_files import write_video

import interplay.record
from interplay.judge.errors import VideosBeingMadeError
from interplay.judge.serving.judging import Judging
from interplay.record import Archive
from interplay.record.films.film import film
from interplay.store.models import MediaFile


@pytest.fixture
def stored(tmp_path, bucket):
    """A data folder whose files are in a store."""
    archive = interplay.record.open(tmp_path / "a", blobs=bucket)
    yield archive
    archive.close()


def room(archive, clock, **more) -> Judging:
    return Judging(archive, rng=np.random.default_rng(0), clock=clock, rules=AT_ONCE, **more)


def test_judging_many_candidates_asks_no_store(stored, clock, object_store, monkeypatch, tmp_path):
    fill(stored, agents=[f"agent-{number:02}" for number in range(60)], num_seeds=10)
    with gate(object_store) as before:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{before.server_port}")
        elsewhere = interplay.record.open(tmp_path / "b", database=stored.database.address)
        judging = room(elsewhere, clock)
        for judge in ("eve", "fay"):
            judging.serve(judge, TASKS[0])
        assert len(elsewhere.videos_made(row.id for row in elsewhere.episodes())) == 600
        assert before.asked == []
        elsewhere.close()


def test_a_film_made_on_one_machine_is_shown_on_another(stored, clock, tmp_path):
    name = add_episode(stored, TASKS[0], "ada", 1)
    content = write_video(stored.video_place(name), num_frames=5).read_bytes()
    stored.keep_video(name)
    elsewhere = interplay.record.open(tmp_path / "b", database=stored.database.address)
    assert elsewhere.has_video(name)
    assert not elsewhere.video_place(name).exists()
    assert film(elsewhere, name).read_bytes() == content
    elsewhere.close()


def test_of_two_films_of_one_episode_the_first_stays(stored, tmp_path):
    elsewhere = interplay.record.open(tmp_path / "b", database=stored.database.address)
    for archive, content in ((stored, b"first"), (elsewhere, b"second")):
        archive.video_place("one").write_bytes(content)
        archive.keep_video("one")
    assert stored.video_path("one").read_bytes() == elsewhere.video_path("one").read_bytes() == b"first"
    elsewhere.close()


def test_a_film_that_was_deleted_from_the_store_is_made_again(stored, tmp_path):
    stored.video_place("one").write_bytes(b"film")
    stored.keep_video("one")
    stored.blobs.delete("media/one.mp4")
    elsewhere = interplay.record.open(tmp_path / "b", database=stored.database.address)
    assert elsewhere.has_video("one"), "rows say so, and nobody asks the store"
    assert not elsewhere.video_path("one").exists()
    assert not elsewhere.has_video("one")
    elsewhere.video_place("one").write_bytes(b"other film")
    elsewhere.keep_video("one")
    assert stored.video_path("one").read_bytes() == b"other film"
    elsewhere.close()


def test_films_of_an_earlier_release_are_entered_when_the_folder_is_opened(archive):
    for name in ("one", "clips/one-2-8", "twins/one", "clips/twins/one-2-8"):
        archive.video_place(name).parent.mkdir(parents=True, exist_ok=True)
        archive.video_place(name).write_bytes(b"film")
    archive.video_place(".one.part").write_bytes(b"half")
    (archive.root / "media" / "uploads").mkdir()
    (archive.root / "media" / "uploads" / "x.mp4").write_bytes(b"upload")
    again = interplay.record.open(archive.root)
    with again.database.read() as session:
        assert set(session.scalars(sa.select(MediaFile.name))) == {"one", "clips/one-2-8", "twins/one", "clips/twins/one-2-8"}
    again.close()


def test_films_of_an_earlier_release_are_all_entered_after_a_kill(archive, monkeypatch):
    for name in ("one", "two", "three"):
        archive.video_place(name).write_bytes(b"film")
    left = [1, 2]
    with monkeypatch.context() as killed:
        killed.setattr(Archive, "put", lambda *_: left.pop())
        with pytest.raises(IndexError):
            interplay.record.open(archive.root)
    again = interplay.record.open(archive.root)
    assert again.videos_noted(["one", "two", "three"]) == {"one", "two", "three"}
    again.close()


def test_a_film_that_was_put_into_a_folder_by_hand_is_found_when_a_server_starts(archive):
    archive.video_place("one").write_bytes(b"film")
    archive.keep_video("one")
    archive.video_place("two").write_bytes(b"film")
    assert not archive.has_video("two")
    archive.find_videos()
    assert archive.has_video("two")


def test_a_film_that_was_deleted_from_a_folder_by_hand_is_wanted_again(archive, clock):
    fill(archive, agents=("ada", "bob"), num_seeds=1)
    wanted = []
    judging = room(archive, clock, want_video=lambda name: bool(wanted.append(name)) or True)
    names = {one.id for one in archive.episodes()}
    for name in names:
        archive.video_path(name).unlink()
    with pytest.raises(VideosBeingMadeError):
        judging.serve("eve", TASKS[0])
    assert set(wanted) == names
