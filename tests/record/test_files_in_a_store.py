"""Episodes whose files are in an S3-compatible store (moto): sealed, opened in another folder, repaired, refused in words."""

import json
import shutil
from pathlib import Path

import httpx
import pytest
from store_gate import gate

import interplay.record
from interplay.cli import main
from interplay.envs import make
from interplay.record import Archive, RecordingError, journal, verify
from interplay.record.films.film import film
from interplay.store import games
from interplay.store.places.blobs import BlobExistsError, BlobsAddressError, BlobsAwayError, StoredBlobs


@pytest.fixture
def archive(tmp_path, bucket):
    """A data folder whose files are in a store."""
    archive = interplay.record.open(tmp_path / "a", blobs=bucket)
    yield archive
    archive.close()


def elsewhere(archive: Archive, folder: Path) -> Archive:
    """The same database and store, in a folder without files, as on another machine."""
    return interplay.record.open(folder, database=archive.database.address)


def journal_of(archive: Archive, task) -> Path:
    """The journal of a short episode that ended."""
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, actor="tester", actor_kind="agent")
    recorder.start(*env.reset(seed=3))
    for step in range(8):
        recorder.step({"player": 0}, env.step({"player": 0}), clock_us=step * 20_000)
    env.close()
    return recorder.finish("quit")


def test_an_episode_is_read_and_proved_where_its_file_never_was(archive, record, cartpole, tmp_path):
    played = record(cartpole, num_steps=8).episode
    with_files = elsewhere(archive, tmp_path / "b")
    assert with_files.blobs.address == archive.blobs.address, "the database says where"
    found = with_files.get(played.id)
    assert not list((tmp_path / "b").rglob("*.parquet")), "nothing is fetched before it is read"
    assert found.steps() == played.steps()
    shutil.rmtree(tmp_path / "b" / "episodes")
    assert (found.header.episode, found.snapshots(), len(found.rewards())) == (played.id, played.snapshots(), 8)
    assert not list((tmp_path / "b").rglob("*.parquet")), "an open file is not fetched again"
    assert found.path == tmp_path / "b" / played.place.relative_to(tmp_path / "a")
    assert verify(found).equal
    assert [one.id for one in with_files.episodes()] == [played.id]
    with_files.close()


def test_an_episode_of_a_folder_has_the_file_itself(tmp_path, make_cartpole):
    archive = interplay.record.open(tmp_path / "folder")
    episode = archive.seal(journal_of(archive, make_cartpole()))
    assert archive.get(episode.id).path == episode.path == archive.episode_path(episode.task_id, episode.id)
    archive.close()


def test_sealing_waits_for_a_store_that_is_away_and_loses_nothing(archive, cartpole, object_store, monkeypatch, tmp_path):
    path = journal_of(archive, cartpole)
    with gate(object_store) as before:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{before.server_port}")
        seen = []

        def wait(seconds: float) -> None:
            seen.append((seconds, journal.segments(path.parent, journal.episode_of(path)), archive.episodes()))

        archive.blobs = StoredBlobs(archive.root, archive.blobs.address, wait=wait)
        before.num_refusals = 9
        episode = archive.seal(path)
        assert [seconds for seconds, _, _ in seen] == [0.5, 1, 2]
        assert all(paths == [path] and entered == [] for _, paths, entered in seen), "its journal stays, and no row names it"
        assert before.asked == ["PUT"] * 10
    assert not path.exists()
    assert elsewhere(archive, tmp_path / "b").get(episode.id).num_steps == 8


def test_the_journal_stays_when_the_store_stays_away(archive, cartpole, monkeypatch):
    path = journal_of(archive, cartpole)
    monkeypatch.setattr("interplay.store.places.blobs.PUT_WITHIN_S", 0.0)
    address, there = archive.blobs.address, archive.blobs
    with monkeypatch.context() as away:
        away.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        archive.blobs = StoredBlobs(archive.root, address)
        with pytest.raises(BlobsAwayError):
            archive.seal(path)
        with pytest.raises(BlobsAwayError):
            archive.repair()
    assert path.exists()
    archive.blobs = there
    (episode,) = archive.repair().sealed
    assert archive.repair() == interplay.record.archive.Repair()
    assert verify(archive.get(episode.id)).equal


def test_a_seal_that_was_killed_after_its_file_was_put_is_finished(archive, cartpole, monkeypatch):
    path = journal_of(archive, cartpole)
    with monkeypatch.context() as killed:
        killed.setattr(archive, "enter", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            archive.seal(path)
    assert archive.blobs.keys("episodes") == {f"episodes/lab/cartpole/{journal.episode_of(path)}.parquet"}
    assert archive.seal(path).num_steps == 8
    assert not path.exists()


def test_an_episode_never_replaces_another_file_of_its_name(archive, cartpole, tmp_path):
    path = journal_of(archive, cartpole)
    other = tmp_path / "other"
    other.write_bytes(b"another file")
    archive.blobs.put(f"episodes/lab/cartpole/{journal.episode_of(path)}.parquet", other)
    with pytest.raises(BlobExistsError, match="it was not replaced"):
        archive.seal(path)
    assert path.exists()
    assert archive.episodes() == []


def test_the_holder_of_a_game_replaces_what_a_server_put_that_had_lost_it(archive, cartpole, tmp_path):
    path = journal_of(archive, cartpole)
    name = journal.episode_of(path)
    other = tmp_path / "other"
    other.write_bytes(b"a shorter recording")
    archive.blobs.put(f"episodes/lab/cartpole/{name}.parquet", other)
    with archive.database.write() as session:
        games.grant(session, name, "me", lobby="", seed=3, invitation="", is_open=False)
    with pytest.raises(RecordingError, match="a running server holds this game"):
        archive.seal(path, held_as=games.Lease("me", 2))
    episode = archive.seal(path, held_as=games.Lease("me", 1))
    assert verify(elsewhere(archive, tmp_path / "b").get(episode.id)).equal
    assert not path.exists()
    with archive.database.read() as session:
        assert games.all_held(session) == set()


def test_a_whole_attempt_replaces_one_that_was_cut(archive, cartpole, tmp_path):
    env = make(cartpole)
    for attempt, outcome in (("first", "interrupted"), ("second", "quit"), ("third", "interrupted")):
        more = {"episode_id": "20261129T000000-abc", "attempt": attempt}
        recorder = archive.recorder(cartpole, env, seed=3, actor="tester", actor_kind="agent", **more)
        recorder.start(*env.reset(seed=3))
        for step in range(4 if attempt == "first" else 8):
            recorder.step({"player": 0}, env.step({"player": 0}), clock_us=step * 20_000)
        episode = archive.seal(recorder.finish(outcome))
        assert episode.outcome == ("interrupted" if attempt == "first" else "quit")
    env.close()
    found = elsewhere(archive, tmp_path / "b").get(episode.id)
    assert (found.num_steps, found.outcome, verify(found).equal) == (8, "quit", True)
    assert list(archive.journal_folder.iterdir()) == []


def test_a_lost_database_is_rebuilt_from_the_store(archive, record, cartpole, bucket, tmp_path):
    episode = record(cartpole, num_steps=8).episode
    again = interplay.record.open(tmp_path / "c", blobs=bucket)
    assert [one.id for one in again.repair().catalogued] == [episode.id]
    assert again.get(episode.id).sha256 == episode.sha256
    assert again.repair().missing == []
    again.blobs.delete(f"episodes/lab/cartpole/{episode.id}.parquet")
    assert again.repair().missing == [episode.id]
    with pytest.raises(RecordingError, match="no such file"):
        again.get(episode.id).steps()
    again.close()


def test_a_film_that_another_server_has_put_meanwhile_is_the_one_returned(archive, record, cartpole, tmp_path):
    name = record(cartpole, num_steps=8).episode.id
    with_films = elsewhere(archive, tmp_path / "b")
    place = with_films.video_place(name)
    place.write_bytes(b"the other server's")
    with_films.put(place)
    assert film(archive, name).read_bytes() == b"the other server's"
    with_films.close()


@pytest.mark.parametrize("description", ["model.json", "vpt.json"])
def test_a_model_is_put_with_its_description_last(archive, monkeypatch, description):
    folder = archive.root / "models" / "mine"
    folder.mkdir(parents=True)
    for name in (description, "a.safetensors", "z.safetensors", ".lock"):
        (folder / name).write_bytes(b"x")
    put = []
    monkeypatch.setattr(archive, "put", lambda file: put.append(file.name))
    archive.put_model(folder)
    assert put == ["a.safetensors", "z.safetensors", description]


def test_another_store_than_the_noted_one_is_refused(archive, bucket):
    with pytest.raises(
        BlobsAddressError, match=f"the files of this database are in {bucket}, not in s3://other\nLeave --blobs"
    ):
        interplay.record.open(archive.root, blobs="s3://other")
    interplay.record.open(archive.root, blobs=f"{bucket}/").close()


def test_a_store_is_refused_where_files_are_in_the_folder(tmp_path, bucket, make_cartpole):
    archive = interplay.record.open(tmp_path / "folder")
    archive.seal(journal_of(archive, make_cartpole()))
    with pytest.raises(BlobsAddressError, match=r"are in its data folder, not in s3://.*\n.*interplay data move --blobs"):
        interplay.record.open(archive.root, blobs=bucket)
    assert interplay.record.open(archive.root).blobs.address is None
    archive.close()


def test_the_operator_gets_a_signed_address_and_lists_fetch_nothing(archive, record, cartpole, tmp_path, capsys):
    episode = record(cartpole, num_steps=8).episode
    content = episode.path.read_bytes()
    elsewhere(archive, tmp_path / "b").close()
    place = ["--data", str(tmp_path / "b"), "--database", archive.database.address, "--json"]

    def said(*words: str):
        with pytest.raises(SystemExit):
            main([*words, *place])
        return json.loads(capsys.readouterr().out)

    (listed,) = said("episodes", "list")
    assert listed["id"] == episode.id
    assert not list((tmp_path / "b").rglob("*.parquet"))
    assert httpx.get(said("episodes", "show", episode.id)["url"]).content == content
