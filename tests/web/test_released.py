"""Episodes for others over HTTP: who may ask, what is given, and pulls that are cut off at any byte."""

import contextlib
import hashlib
import io
import json
import os
import signal
import socket
import socketserver
import sys
import threading
import zipfile
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest
from warm_process import WarmProcess
from web_server import serving

import interplay.record
from interplay.agents import find as find_agent
from interplay.agents import rollout
from interplay.cli import _run
from interplay.envs import make
from interplay.play.connections.tokens import operator_token
from interplay.record import RecordingError, verify
from interplay.record.exchange.publishing import Publishing
from interplay.record.exchange.pull import FOLDER, Asked, PullError, pull_episodes
from interplay.record.exchange.queries import Queries
from interplay.record.format.schema import METADATA_KEY
from interplay.store.participants import add_participant
from interplay.tasks import find

NUM_EPISODES = 4


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A data folder with games of agents, one of a participant who agreed and one of who did not."""
    archive = interplay.record.open(tmp_path_factory.mktemp("theirs"))
    task = find("atari/space_invaders")
    for seed in range(NUM_EPISODES - 1):
        rollout(archive, task, find_agent("random"), seed, rng=np.random.default_rng(seed), max_steps=300)
    with archive.database.write() as session:
        people = [add_participant(session, f"key-{number}", datetime.now(UTC)).id for number in (1, 2)]
    for number in people:
        env = make(task)
        recorder = archive.recorder(task, env, seed=9, actor=f"participant-{number}", actor_kind="human", participant_id=number)
        played = interplay.record.RecordedEpisode(env, recorder, max_steps=60)
        played.start(9)
        while played.outcome is None:
            played.step({"player": 0})
        archive.seal(recorder.finish(played.outcome))
        env.close()
    Queries(archive).choose("participant-1", may_release=True)
    yield archive
    archive.close()


@pytest.fixture(scope="module")
def address(theirs, tmp_path_factory):
    with serving(theirs.root, tmp_path_factory.mktemp("log"), {}) as address:
        yield address


@pytest.fixture
def ours(tmp_path):
    archive = interplay.record.open(tmp_path / "ours")
    yield archive
    archive.close()


@pytest.fixture
def token(theirs):
    return operator_token(theirs.root)


class Cutting(socketserver.ThreadingTCPServer):
    """Passes bytes on to a server, and cuts each connection after as many as its list says; then it passes all on."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: str, cuts: list[int]) -> None:
        self.behind = httpx.URL(address)
        self.cuts = cuts
        super().__init__(("127.0.0.1", 0), _Passing)
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Passing(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        server = self.server
        assert isinstance(server, Cutting)
        left = server.cuts.pop(0) if server.cuts else None
        with socket.create_connection((server.behind.host, server.behind.port)) as behind:
            threading.Thread(target=self._send, args=(behind,), daemon=True).start()
            while data := behind.recv(4096):
                if left is not None:
                    data, left = data[:left], left - len(data)
                self.request.sendall(data)
                if left is not None and left <= 0:
                    return

    def _send(self, behind: socket.socket) -> None:
        try:
            while data := self.request.recv(4096):
                behind.sendall(data)
        except OSError:
            pass


def files(archive) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (archive.root / "episodes").rglob("*.parquet")}


def test_a_pull_brings_what_may_be_released_and_only_once(theirs, ours, address, token):
    told = []
    pulled = pull_episodes(ours, address, token, Asked(), on_progress=lambda done, total: told.append((done, total)))
    assert (len(pulled.fetched), pulled.num_withheld, pulled.refused) == (NUM_EPISODES, 1, {})
    assert told[-1] == (pulled.size_bytes, pulled.size_bytes)
    for episode in ours.episodes():
        original = theirs.get(episode.id)
        assert verify(episode).equal
        assert episode.actions().tolist() == original.actions().tolist()
        assert episode.participant_id is None
        if original.actor_kind == "human":
            assert episode.actor.startswith("person-")
            assert episode.actor_kind == "human"
    again = pull_episodes(ours, address, token, Asked())
    assert (again.fetched, len(again.there_already), again.size_bytes) == ([], NUM_EPISODES, 0)
    assert list((ours.root / FOLDER).iterdir()) == []


def test_a_pull_takes_conditions_and_saved_queries(theirs, ours, address, token):
    Queries(theirs).save("first", where=["seed = 0"])
    assert len(pull_episodes(ours, address, token, Asked(query="first@1")).fetched) == 1
    assert len(pull_episodes(ours, address, token, Asked(where=("seed < 2",))).fetched) == 1
    assert pull_episodes(ours, address, token, Asked("atari/breakout")).fetched == []
    with pytest.raises(PullError, match="answers 404: unknown saved query 'frist'; did you mean 'first@1'"):
        pull_episodes(ours, address, token, Asked(query="frist"))


def test_a_connection_cut_at_any_byte_goes_on(ours, address, token):
    """Forty connections, each cut after a drawn number of bytes: every file is whole and no byte comes twice over."""
    rng = np.random.default_rng(0)
    whole = pull_episodes(ours, address, token, Asked()).size_bytes
    other = interplay.record.open(ours.root.parent / "cut")
    cuts = [5000, *(int(cut) for cut in rng.integers(1, 3000, 40))]
    with Cutting(address, cuts) as line:
        pulled, said = None, "Call the same command again: it goes on where it stopped."
        while pulled is None:
            try:
                pulled = pull_episodes(other, line.address, token, Asked(), sleep=lambda seconds: None)
            except RecordingError as error:
                said = str(error)
        line.shutdown()
    assert cuts == []
    assert "Call the same command again: it goes on where it stopped." in said
    assert files(other) == files(ours)
    assert {episode.id for episode in other.episodes()} == {episode.id for episode in ours.episodes()}
    assert pulled.size_bytes <= whole
    other.close()


@pytest.mark.processes
def test_a_process_killed_at_any_byte_goes_on(ours, address, token, tmp_path):
    """Killed in the middle of a file, again and again: the next call goes on, and the end is the same."""
    pull_episodes(ours, address, token, Asked())
    data = tmp_path / "killed"
    rng = np.random.default_rng(1)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "INTERPLAY_TOKEN": token}
    code = f"""
import os, signal, sys
from interplay.record.exchange import http_resume
http_resume._CHUNK_BYTES = 512
left = [int(sys.argv[1])]
came = http_resume.Line.file
def counted(self, path, part, size, told):
    def tell(done):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        told(done)
    return came(self, path, part, size, tell)
http_resume.Line.file = counted
from interplay.cli import main
main(["episodes", "pull", {address!r}, "--data", {str(data)!r}, "--json"])
"""
    statuses = []
    for chunks in [*(int(count) for count in rng.integers(1, 40, 6)), 10**9]:
        process = WarmProcess(["-c", code, str(chunks)], stderr=tmp_path / "errors.txt", env=environment)
        out = process.stdout.read()
        statuses.append(process.wait(120))
        process.stdout.close()
    assert statuses == [-signal.SIGKILL] * 6 + [0], (tmp_path / "errors.txt").read_text()
    assert json.loads(out)["refused"] == {}
    killed = interplay.record.open(data)
    assert files(killed) == files(ours)
    assert len(killed.episodes()) == NUM_EPISODES
    killed.close()


def test_only_the_operator_is_given_anything(theirs, ours, address, token, capsys):
    with pytest.raises(PullError, match="does not accept this token"):
        pull_episodes(ours, address, "wrong", Asked())
    for path in ("/api/released", "/api/released.zip", f"/api/released/{theirs.episodes()[0].id}.parquet"):
        assert httpx.get(address + path).status_code == 401
    headers = {"Authorization": f"Bearer {token}"}
    kept = theirs.episodes(where=["participant_id = 2"])[0]
    answer = httpx.get(f"{address}/api/released/{kept.id}.parquet", headers=headers)
    assert answer.status_code == 404
    assert "may not be released" in answer.json()["message"]
    for url, problem in [("ftp://x", "is no address of a server"), ("x", "is no address of a server")]:
        with pytest.raises(PullError, match=problem):
            pull_episodes(ours, url, token, Asked())
    with pytest.raises(RecordingError, match="does not answer"):
        pull_episodes(ours, "http://127.0.0.1:9", token, Asked(), sleep=lambda seconds: None)
    assert _run(["episodes", "pull", address, "--data", str(ours.root)]) == 2
    assert "--token TOKEN" in " ".join(capsys.readouterr().err.split())


def test_a_file_that_is_another_one_is_refused(theirs, ours, address, token):
    """A server whose file changed since it was listed: nothing is entered, and the next pull fetches it anew."""
    episode = theirs.episodes()[0]
    part = ours.root / FOLDER / f"{episode.id}-{episode.sha256[:16]}.part"
    part.parent.mkdir()
    part.write_bytes(b"x" * 100)
    pulled = pull_episodes(ours, address, token, Asked())
    assert "its hash differs" in pulled.refused[episode.id]
    assert len(pulled.fetched) == NUM_EPISODES - 1
    assert len(pull_episodes(ours, address, token, Asked()).fetched) == 1


class Hostile(ThreadingHTTPServer):
    """A server that lists what it likes and sends what it likes, and never stops sending.

    Attributes:
        page: Its list.
        body: Of every file.
        follows: Is sent after a file, without an end.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.page, self.body, self.follows = page_of(), b"", b""
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def offers(self, episode: str, body: bytes) -> None:
        digest = hashlib.sha256(body).hexdigest()
        self.body, self.page = body, page_of({"id": episode, "sha256": digest, "size_bytes": len(body)})


def page_of(*episodes: dict, following: int | None = None) -> dict:
    return {"episodes": list(episodes), "num_withheld": 0, "next": following}


class _Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, Hostile)
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):  # whoever asked has read enough
            if "parquet" not in self.path:
                self.wfile.write(json.dumps(server.page).encode())
                return
            self.wfile.write(server.body)
            while server.follows:
                self.wfile.write(server.follows)

    def log_message(self, *words) -> None:
        """Nothing on the screen."""


@pytest.fixture
def hostile():
    with Hostile() as server:
        yield server
        server.shutdown()


def changed(episode, change) -> bytes:
    """The file of an episode, with other facts."""
    table = pq.read_table(episode.path)
    facts = json.loads(pq.read_metadata(episode.path).metadata[METADATA_KEY])
    change(facts)
    file = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(facts)}), file)
    return file.getvalue()


def test_a_list_that_cannot_be_is_refused(hostile, ours):
    good = {"id": "20260101T000000-00000000", "sha256": "0" * 64, "size_bytes": 1}
    for page, problem in [
        (page_of(good | {"id": "../../../x"}), "an episode has no valid id or hash: '../../../x'"),
        (page_of(good | {"sha256": "../x"}), "an episode has no valid id or hash"),
        (page_of(good | {"size_bytes": 0}), "has 0 bytes"),
        (page_of(good | {"size_bytes": -1}), "has -1 bytes"),
        (page_of(following=5), "its list of episodes does not end"),
        (page_of(good, following=0), "its list of episodes does not end"),
        ({"message": "x" * (5 << 20)}, "does not answer as an Interplay server"),
    ]:
        hostile.page = page
        with pytest.raises(PullError, match=problem):
            pull_episodes(ours, hostile.address, "token", Asked())
    for url in ("http://lab:x", "http://me:secret@lab.example"):
        with pytest.raises(PullError, match="is no address of a server"):
            pull_episodes(ours, url, "token", Asked())
    with pytest.raises(PullError, match="the token has characters that no token has"):
        pull_episodes(ours, hostile.address, "token\n", Asked())
    assert files(ours) == {}


def test_what_is_sent_after_a_file_is_left_alone(hostile, theirs, ours):
    episode = theirs.episodes(actor="agent")[0]
    hostile.offers(episode.id, episode.path.read_bytes())
    hostile.follows = b"x" * 65536
    assert [one.id for one in pull_episodes(ours, hostile.address, "token", Asked()).fetched] == [episode.id]
    assert files(ours)[episode.path.name] == episode.path.read_bytes()


def test_a_file_that_names_code_or_nonsense_is_refused(hostile, theirs, ours, tmp_path):
    """Nothing of it is called, nothing of it gets into the catalogue, and nothing lies outside the folder of pulls."""
    episode = theirs.episodes(actor="agent")[0]
    mark = tmp_path / "called"
    code = {"name": "os:mkdir", "parameters": {"path": str(mark)}}

    def refused(change) -> str:
        hostile.offers(episode.id, changed(episode, change))
        pulled = pull_episodes(ours, hostile.address, "token", Asked())
        assert pulled.fetched == []
        return pulled.refused[episode.id]

    code_in_task = "its task names code to run, the statistic 'os:mkdir', and this task was never played here"
    assert refused(lambda facts: facts["header"]["task"].update(statistics=[code])).startswith(code_in_task)
    assert refused(lambda facts: facts["header"].update(statistics=[code])).startswith(code_in_task)
    world = {"id": "gym:antigravity:CartPole-v1", "options": {}}
    assert "the world 'gym:antigravity:CartPole-v1'" in refused(lambda facts: facts["header"]["task"].update(env=world))
    world = {"id": "voxel:flat", "options": {"check": "os:abort"}}
    assert "the outcome check 'os:abort'" in refused(lambda facts: facts["header"]["task"].update(env=world))
    assert "expected SUITE/NAME" in refused(lambda facts: facts["header"]["task"].update(id="../../x"))
    for name, value in [("num_steps", "x"), ("num_steps", 10**30), ("seed", None), ("seats", 7), ("total_reward", "1")]:
        assert "its facts cannot be read" in refused(lambda facts, one=(name, value): facts["summary"].update([one]))
    assert "names participants of that server" in refused(
        lambda facts: facts["header"]["owners"]["player"].update(participant_id=1)
    )
    hostile.offers(episode.id, b"PAR1" * 9)
    assert "not a Parquet file" in pull_episodes(ours, hostile.address, "token", Asked()).refused[episode.id]
    assert not mark.exists()
    assert (files(ours), ours.episodes()) == ({}, [])


def test_the_page_of_episodes_downloads_for_the_operator_alone(theirs, address, token, tmp_path):
    with httpx.Client(base_url=address) as client:
        assert "Download episodes" not in client.get("/episodes").text
        client.post("/operator", data={"token": token}, headers={"Origin": address})
        page = client.get("/episodes", params={"actor": "human"}).text
        assert 'value="seat.actor_kind = human"' in page
        answer = client.get("/api/released.zip", params={"where": ["seat.actor_kind = human", ""]})
        assert answer.headers["content-disposition"] == 'attachment; filename="episodes.zip"'
        with zipfile.ZipFile(io.BytesIO(answer.content)) as found:
            told = json.loads(found.read("episodes.json"))
        assert [one["seats"][0]["actor_kind"] for one in told["episodes"]] == ["human"]
        assert told["num_withheld"] == 1
        assert client.get("/api/released.zip", params={"where": "scroe > 1"}).status_code == 404
        answer = client.get("/api/released", params={"where": "score"})
        assert (answer.status_code, answer.json()["message"]) == (
            422, "cannot read the condition 'score': it is not of the form NAME OPERATOR VALUE."
        )  # fmt: skip


def test_an_episode_whose_recording_is_not_here_is_left_out_of_lists_and_zips(ours, caplog):
    task = find("atari/breakout")
    made = [rollout(ours, task, find_agent("noop"), seed, rng=np.random.default_rng(0), max_steps=8) for seed in (1, 2)]
    made[0].path.unlink()
    publishing = Publishing(ours)
    page = publishing.page(None, (), None, 0)
    assert ([one.id for one in page.episodes], page.num_episodes, page.following) == ([made[1].id], 2, None)
    with zipfile.ZipFile(io.BytesIO(b"".join(publishing.zipped(None, ())))) as file:
        assert [Path(name).stem for name in file.namelist()] == [made[1].id, "episodes"]
    assert f"episode {made[0].id} is not offered" in caplog.text
    with pytest.raises(RecordingError, match="no such file"):
        publishing.file(made[0].id)
