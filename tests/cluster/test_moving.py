"""`data move` brings a folder to another database and a store (moto); pages, films, exports and reports are the same there."""

import io
import json
import re
import shutil
import signal
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa
import warm_process
from fastapi.testclient import TestClient

import interplay.record
from interplay import starter
from interplay.agents.evaluate import evaluate
from interplay.cli import main
from interplay.files import alone, sha256_of
from interplay.play.connections.tokens import operator_token, server_secret
from interplay.record import Archive
from interplay.record.films.mp4 import probe
from interplay.record.moving import MoveError
from interplay.record.moving import move as bring
from interplay.store import Database, games
from interplay.store.models import GameRow, JournalPart, Match
from interplay.store.places import copying, media
from interplay.store.places.blobs import open_blobs
from interplay.tasks import find
from interplay.web.app import create_app

TASK, JUDGE = "atari/breakout", "robot"
PART = bytes(range(256))
TIME = re.compile(r'"elapsed_s":[0-9.]+|[0-9,]+ frames/s')
"""How long the judge has had the match, and how fast a replay was."""
SECRETS = ("secret.key", "operator.token", starter.EXAMPLES)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return int(stop.value.code or 0), *capsys.readouterr()


def client(archive: Archive) -> TestClient:
    headers = {"Authorization": f"Bearer {operator_token(archive.root)}"}
    return TestClient(create_app(archive), base_url="http://127.0.0.1", headers=headers)


def form(task: str) -> dict:
    """An answer of a program."""
    questions = [one for one in find(task).questions if one.kind != "overall"]
    responses = {one.id: {"left": True, "right": False} if one.kind == "direct" else "left" for one in questions}
    reason = "The left player kept moving towards the ball and caught it again and again, and the other one did not."
    return {"outcome": "left", "responses": responses, "reason": reason, "judge": JUDGE}


def fill(archive: Archive) -> None:
    """The starter's episodes and films, an episode without a film, an answer of a judge, a match without an answer, and part
    of the journal of a game whose server is gone."""
    starter.enter(archive)
    with archive.database.write() as session:
        game = {"node": "gone", "lobby": "lobby", "seed": 1, "invitation": "abc", "opened_at": datetime.now(UTC)}
        session.add(GameRow(episode="unfinished", **game))
        session.flush()
        session.add(JournalPart(episode="unfinished", segment=0, start=0, data=PART))
    evaluate(archive, find(TASK), "random", [5], max_steps=60, video=False)
    server_secret(archive.root)
    with client(archive) as http:
        for _ in range(2):
            match = http.post("/api/judge/matches", json={"judge": JUDGE, "task": TASK}).json()
            if _ == 0:
                assert http.post(f"/api/judge/matches/{match['match']}/answer", json=form(TASK)).status_code == 201


@pytest.fixture
def folder(tmp_path) -> Path:
    """A data folder with recordings, films and an answer."""
    with closing(interplay.record.open(tmp_path / "source")) as archive:
        fill(archive)
    return tmp_path / "source"


def tree(folder: Path) -> dict[str, str]:
    """The files of episodes and films, and their hashes."""
    return {
        path.relative_to(folder).as_posix(): sha256_of(path)
        for name in ("episodes", "media")
        for path in sorted((folder / name).rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def moved(folder, bucket, tmp_path, capsys) -> Path:
    """A folder whose rows and files came from `folder`; the files are in a store."""
    target = tmp_path / "target"
    target.mkdir()
    before = tree(folder)
    status, out, _ = run(
        capsys, "data", "move", "--data", str(folder), "--to", f"sqlite:///{target}/interplay.db", "--blobs", bucket
    )
    assert status == 0
    assert "in the other database are equal to those here" in out
    assert tree(folder) == before
    for name in SECRETS:
        shutil.copy(folder / name, target / name)
    return target


def open_match(archive: Archive) -> str:
    with archive.database.read() as session:
        return session.scalars(sa.select(Match.id).where(Match.answered_at.is_(None))).one()


def released(http: TestClient) -> dict[str, bytes]:
    """The contents of the archive of everything that is released."""
    with zipfile.ZipFile(io.BytesIO(http.get("/api/released.zip").content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def content(path: Path) -> bytes | tuple[int, float]:
    """The bytes of a file; of a film that was encoded anew its length: an encoder of two threads may choose other bytes."""
    if path.suffix != ".mp4":
        return path.read_bytes()
    facts = probe(path)
    return facts.num_frames, facts.duration_s


def without_paths(text: str, root: Path) -> str:
    return TIME.sub("", text.replace(str(root), "DATA"))


def test_pages_films_and_matches_are_the_same_from_a_store(folder, moved):
    with (
        closing(interplay.record.open(folder)) as one,
        closing(interplay.record.open(moved)) as other,
        client(one) as here,
        client(other) as there,
    ):
        assert not list((moved / "episodes").rglob("*.parquet"))
        match, episodes = open_match(one), [episode.id for episode in one.episodes()]
        filmed = [name for name in episodes if one.has_video(name)]
        shown = [filmed[0], filmed[-1], next(name for name in episodes if not one.has_video(name))]
        addresses = ["/", "/play/atari/breakout", "/episodes", "/judge", "/leaderboard", "/leaderboard.csv", "/api/leaderboard"]
        addresses += ["/agents", "/scores", "/desk/collected", "/moderation", "/healthz", "/api/tasks", "/api/released"]
        for name in shown:
            addresses += [f"/episodes/{name}", f"/api/episodes/{name}/frames?count=3", f"/api/released/{name}.parquet"]
            addresses += [f"/api/episodes/{name}", f"/api/episodes/{name}/drawing"]
        addresses += [f"/api/episodes/{name}/video.mp4" for name in shown[:2]]
        addresses += [f"/api/judge/matches/{match}{part}?judge={JUDGE}" for part in ("", "/left.mp4", "/right.mp4")]
        addresses += [f"/api/judge/preview{part}?task={TASK}" for part in ("", "/left.mp4", "/right.mp4")]
        for address in addresses:
            answers = [http.get(address) for http in (here, there)]
            assert [answer.status_code for answer in answers] == [200, 200], address
            one_body, other_body = (TIME.sub("", answer.content.decode("latin-1")) for answer in answers)
            assert one_body == other_body, address
        answers = [http.post(f"/api/judge/matches/{match}/answer", json=form(TASK)) for http in (here, there)]
        assert [answer.status_code for answer in answers] == [201, 201]
        assert answers[0].json() == answers[1].json()
        assert here.get("/leaderboard.csv").text == there.get("/leaderboard.csv").text
        assert released(here) == released(there)


def test_exports_replays_proofs_and_reports_are_the_same_from_a_store(folder, moved, tmp_path, capsys):
    with closing(interplay.record.open(folder)) as archive:
        episode = archive.episodes(task=TASK)[0].id
    said, files = [], []
    for root in (folder, moved):
        out = tmp_path / f"out of {root.name}"
        place = ["--data", str(root)]
        texts = [
            run(capsys, *words, *place)
            for words in (
                ["episodes", "list", "--json"],
                ["episodes", "verify", episode],
                ["episodes", "export", "--task", TASK, "--out", str(out / "videos")],
                ["episodes", "replay", episode, "--out", str(out / "replay.mp4")],
                ["judge", "export", str(out / "answers.json")],
                ["report", "bedd", "--out", str(out / "report"), "--seed", "1"],
                ["rank", "--json", "--seed", "1"],
            )
        ]
        assert [status for status, _, _ in texts] == [0] * len(texts), texts
        said.append(
            [without_paths(text.replace(str(out), "OUT").replace(quote(str(out)), "OUT"), root) for _, text, _ in texts]
        )
        files.append({path.relative_to(out).as_posix(): content(path) for path in out.rglob("*") if path.is_file()})
    assert said[0] == said[1]
    assert files[0].keys() == files[1].keys()
    assert [name for name in files[0] if files[0][name] != files[1][name]] == []


# What is refused, and what a killed move leaves


@pytest.fixture
def small(tmp_path) -> Path:
    """A data folder with six short recordings, two films, and the two files of a model that is finished."""
    with closing(interplay.record.open(tmp_path / "small")) as archive:
        evaluate(archive, find(TASK), "random", range(1, 7), max_steps=20, video=False)
        for episode in archive.episodes()[:2]:
            archive.video_place(episode.id).write_bytes(b"film of " + episode.id.encode())
            archive.keep_video(episode.id)
        for name in ("done/model.json", "done/model.safetensors", "begun/config.json", "judges/eye/task.json"):
            (archive.root / "models" / name).parent.mkdir(parents=True, exist_ok=True)
            (archive.root / "models" / name).write_text("{}")
    return tmp_path / "small"


KILLED = """
import os, signal, sys
from interplay.cli import main
from interplay.store.places import copying
from interplay.store.places.blobs import StoredBlobs
place, left = sys.argv[1], 3
def counted(inner):
    def call(*arguments):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return inner(*arguments)
    return call
if place == "files":
    StoredBlobs.put = counted(StoredBlobs.put)
else:
    copying._insert = counted(copying._insert)
main(sys.argv[2:])
"""


@pytest.mark.parametrize("place", ["files", "rows"])
def test_a_move_that_was_killed_is_continued(small, bucket, tmp_path, place, capsys):
    target, before = tmp_path / "target.db", tree(small)
    command = ["data", "move", "--data", str(small), "--to", f"sqlite:///{target}", "--blobs", bucket, "--json"]
    killed = warm_process.run(["-c", KILLED, place, *command])
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with closing(Database.open(f"sqlite:///{target}")) as database, database.read() as session:
        assert copying.num_rows(session) == 0
        assert media.blobs_address(session) is None
    status, out, _ = run(capsys, *command)
    assert status == 0
    moved = json.loads(out)
    assert (moved["num_files"], moved["missing"]) == (10, [])
    assert moved["num_put"] == 0 if place == "rows" else 0 < moved["num_put"] < 10
    assert tree(small) == before
    assert json.loads(run(capsys, *command)[1]) == moved | {"num_put": 0}, "a third time nothing is left to do"
    with closing(interplay.record.open(tmp_path / "elsewhere", f"sqlite:///{target}")) as archive:
        assert all(interplay.record.verify(episode).equal for episode in archive.episodes())
        assert archive.repair().missing == []
        assert {path.name for path in archive.blobs.fetch("models/done").iterdir()} == {"model.json", "model.safetensors"}


@pytest.mark.parametrize("what", ["rows", "files"])
def test_rows_or_files_can_move_alone(small, bucket, tmp_path, what, postgres_url, capsys):
    given = ["--to", postgres_url] if what == "rows" else ["--blobs", bucket]
    assert run(capsys, "data", "move", "--data", str(small), *given)[0] == 0
    database = postgres_url if what == "rows" else None
    with closing(interplay.record.open(small, database)) as archive:
        assert archive.blobs.address == (None if what == "rows" else bucket)
        assert len(archive.episodes()) == 6
        assert sum(archive.has_video(episode.id) for episode in archive.episodes()) == 2
        (new,) = evaluate(archive, find(TASK), "random", [9], max_steps=20, video=False)
        assert archive.get(new.id).num_steps == 20
    if what == "files":
        shutil.rmtree(small / "episodes")
        with closing(interplay.record.open(small)) as archive:
            assert all(interplay.record.verify(episode).equal for episode in archive.episodes())


def test_everything_moves_to_postgresql_and_its_numbers_go_on(folder, bucket, postgres_url, capsys):
    command = ["data", "move", "--data", str(folder), "--to", postgres_url, "--blobs", bucket, "--json"]
    status, out, _ = run(capsys, *command)
    assert status == 0
    assert json.loads(run(capsys, *command)[1])["num_rows"] == json.loads(out)["num_rows"] > 500
    with closing(interplay.record.open(folder, postgres_url)) as archive, client(archive) as http:
        with archive.database.read() as session:
            assert session.scalars(sa.select(JournalPart.data)).all() == [PART]
        match = open_match(archive)
        assert http.post(f"/api/judge/matches/{match}/answer", json=form(TASK)).status_code == 201
        assert http.post("/api/judge/matches", json={"judge": JUDGE, "task": TASK}).status_code == 201


def test_nothing_moves_while_a_server_runs_on_the_folder(small, tmp_path, capsys):
    with alone(small / "serve.lock"):
        status, _, said = run(capsys, "data", "move", "--data", str(small), "--to", f"sqlite:///{tmp_path}/target.db")
    assert status == 1
    assert f"a server runs on {small}; nothing was changed" in said
    assert "Stop it first" in said


def test_nothing_moves_while_a_server_uses_the_database(small, tmp_path, capsys):
    command = ["data", "move", "--data", str(small), "--to", f"sqlite:///{tmp_path}/target.db"]
    with closing(interplay.record.open(small)) as archive:
        with archive.database.write() as session:
            games.join(session, "one", cluster="lab", version="1")
        status, _, said = run(capsys, *command)
        assert (status, "servers run on this database: one; nothing was changed\nStop them first" in said) == (1, True)
        with archive.database.write() as session:
            games.leave(session, "one")
    assert run(capsys, *command)[0] == 0


@pytest.mark.parametrize("what", ["rows and files", "files"])
def test_an_episode_that_came_during_the_move_stops_it(small, bucket, tmp_path, what):
    with closing(interplay.record.open(small)) as archive, closing(Database.open(f"sqlite:///{tmp_path}/target.db")) as target:
        came = []

        def report(what: str, done: int, total: int) -> None:
            if what == "putting files" and done == 1:
                came.extend(evaluate(archive, find(TASK), "random", [9], max_steps=20, video=False))

        given = (archive, target if what == "rows and files" else None, bucket)
        with pytest.raises(MoveError, match=r"1 file came while .*, such as episodes/.*; no row was moved\nStop what records"):
            bring(*given, report)
        with target.read() as session, archive.database.read() as old:
            assert copying.num_rows(session) == 0
            assert media.blobs_address(old) is None
        assert bring(*given).num_put == 1
    with closing(interplay.record.open(tmp_path / "b", (target if given[1] else archive.database).address)) as archive:
        assert archive.get(came[0].id).steps().num_rows == 21


def test_files_stay_in_the_store_that_has_them_when_rows_move(small, bucket, tmp_path, capsys):
    assert run(capsys, "data", "move", "--data", str(small), "--blobs", bucket)[0] == 0
    target = f"sqlite:///{tmp_path}/target.db"
    status, out, _ = run(capsys, "data", "move", "--data", str(small), "--to", target, "--blobs", f"{bucket}/")
    assert (status, f"The files stay in {bucket}/." in out) == (0, True)
    with closing(interplay.record.open(tmp_path / "b", target)) as archive:
        assert archive.blobs.address == bucket
        assert all(interplay.record.verify(episode).equal for episode in archive.episodes())


def test_a_database_with_other_data_is_refused(small, tmp_path, capsys):
    with closing(interplay.record.open(tmp_path / "other")) as other:
        evaluate(other, find(TASK), "random", [1], max_steps=20, video=False)
    status, _, said = run(capsys, "data", "move", "--data", str(small), "--to", f"sqlite:///{tmp_path}/other/interplay.db")
    assert status == 1
    assert re.search(
        r"the database .*other/interplay.db holds other data \(.* rows\); nothing was changed\nMake an empty", said
    )


def test_a_store_with_other_files_is_refused(small, tmp_path, bucket, capsys):
    (tmp_path / "file").write_bytes(b"other")
    open_blobs(tmp_path / "nowhere", bucket).put("episodes/other.parquet", tmp_path / "file")
    status, _, said = run(capsys, "data", "move", "--data", str(small), "--blobs", bucket)
    assert status == 1
    assert f"the store {bucket} holds other files, such as episodes/other.parquet; nothing was changed" in said
    with closing(interplay.record.open(small)) as archive:
        assert archive.blobs.address is None


def test_other_bytes_in_the_store_stop_the_move_before_any_row(small, tmp_path, bucket, capsys):
    with closing(interplay.record.open(small)) as archive:
        key = archive.get(archive.episodes()[0].id).place.relative_to(small).as_posix()
    (tmp_path / "file").write_bytes(b"other")
    open_blobs(tmp_path / "nowhere", bucket).put(key, tmp_path / "file")
    target = f"sqlite:///{tmp_path}/target.db"
    status, _, said = run(capsys, "data", "move", "--data", str(small), "--to", target, "--blobs", bucket)
    assert status == 1
    assert f"the store {bucket} has other bytes under {key}; no row was moved" in said
    with closing(Database.open(target)) as database, database.read() as session:
        assert copying.num_rows(session) == 0


def test_a_missing_file_is_named_and_the_others_move(small, bucket, capsys):
    with closing(interplay.record.open(small)) as archive:
        gone = archive.episodes()[3]
        gone.path.unlink()
    status, out, _ = run(capsys, "data", "move", "--data", str(small), "--blobs", bucket)
    assert status == 0
    assert "9 files" in out
    assert f"1 file is missing here, so there too: episodes/atari/breakout/{gone.id}.parquet" in out


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ([], 2, "name where to: --to DATABASE for the rows, --blobs URL for the files, or both"),
        (["--blobs", "s3://key:secret@lab"], 2, "the address of a store must not hold credentials"),
        (["--to", "nonsense"], 2, "is not a database address"),
    ],
)
def test_wrong_places_are_refused(small, options, status, words, capsys):
    found, _, said = run(capsys, "data", "move", "--data", str(small), *options)
    assert found == status
    assert words in " ".join(said.replace("│", " ").split())
    assert "secret" not in said


def test_a_folder_without_data_is_refused(tmp_path, capsys):
    status, _, said = run(capsys, "data", "move", "--data", str(tmp_path), "--to", "sqlite:///x.db")
    assert (status, "is not a data folder" in said) == (1, True)
