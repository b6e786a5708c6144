"""Recordings of people come from a server, become episodes, and episodes become recordings; whatever is cut off in between."""

import json
import os
import resource
import shutil
import signal
import threading
import warnings
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path

import av
import numpy as np
import pytest

import interplay.record
from interplay.cli import main
from interplay.envs import make, minerl_actions
from interplay.envs.minerl_actions import KEYS
from interplay.learn.recordings.counts import (
    PART_STEPS,
    Recording,
    count_recordings,
    episode_document,
    episodes_of,
    write_episode_files,
)
from interplay.learn.recordings.download import FetchError, fetch, open_list
from interplay.learn.recordings.index import read_list, summaries
from interplay.learn.recordings.loader import Loader
from interplay.learn.recordings.names import FOLDERS, RecordingsError, task_ids, why_bad
from interplay.learn.recordings.vpt_export import export, folder_for
from interplay.learn.recordings.vpt_import import import_recordings, task_of_recordings
from interplay.record import Owner
from interplay.record.exchange import http_resume
from interplay.record.exchange.http_resume import LineError
from interplay.record.exchange.importer import Importing
from interplay.record.exchange.pseudonyms import Pseudonyms
from interplay.record.verification.verify import verify
from interplay.tasks import EnvSpec, find

DATA = Path(__file__).parent / "data" / "recordings"
STEMS = [f"red-hen-{number:012x}-20220716-1900{number:02d}" for number in range(4)]
BAD = "whiny-ecru-cougar-f153ac423f61-20220712-192050"


class Server(ThreadingHTTPServer):
    """Files of a folder, in parts; every answer is cut off after some bytes while `cut_after` has any."""

    def __init__(self, folder):
        self.folder, self.cut_after, self.asked = folder, [], []
        super().__init__(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.server.folder / self.path.lstrip("/")
        if path.name == "moved":
            self.send_response(302)
            self.send_header("Location", "https://example.org/there")
            self.end_headers()
            return
        if not path.is_file():
            self.send_error(404)
            return
        data, begin = path.read_bytes(), 0
        size = len(data)
        if "Range" in self.headers:
            begin = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(size - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{size - 1}/{size}")
        self.end_headers()
        if self.command == "GET":
            self.server.asked.append((path.name, begin))
            data = data[begin:]
            if self.server.cut_after and path.suffix in (".mp4", ".jsonl"):
                data = data[: self.server.cut_after.pop()]
            self.wfile.write(data)
            self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Recordings as they are published, with an index that has one link too many."""
    folder = tmp_path_factory.mktemp("published")
    place = folder / "data" / "find-cave"
    place.mkdir(parents=True)
    for stem, name in zip([*STEMS, BAD], ["anything", "wheel", "escape", "angles", "escape"], strict=True):
        for ending in (".jsonl", ".mp4"):
            shutil.copy(DATA / f"{name}{ending}", place / f"{stem}{ending}")
    return folder


@pytest.fixture(scope="module")
def server(published):
    server = Server(published)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    stems = [*STEMS, BAD, "gone-0123456789ab-20220716-190099"]
    index = {"basedir": server.address, "relpaths": [f"data/find-cave/{stem}.mp4" for stem in stems]}
    (published / "find-cave-Jul-28.json").write_text(json.dumps(index))
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def entries(server):
    server.asked.clear()
    return open_list(f"{server.address}find-cave-Jul-28.json")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


# Lists


def test_an_index_has_paths_with_and_without_an_ending():
    base = "https://example.org/minecraft-rl"
    paths = ["data/find-cave/a-0123456789ab-20220716-190000.mp4", "/8.0/b-options.json", "8.0/b", "8.0/b.mp4", "8.0/b.jsonl"]
    for basedir in (base, f"{base}/"):
        cave, other = sorted(
            read_list(json.dumps({"basedir": basedir, "relpaths": paths}), "all.json"), key=lambda one: one.stem
        )
        assert (cave.task, cave.folder, cave.address) == ("FindCave", "find-cave", f"{base}/{paths[0].removesuffix('.mp4')}")
        assert (other.stem, other.task, other.folder, other.address) == ("b", None, "recordings", f"{base}/8.0/b")


def test_a_list_has_addresses_or_names_and_its_own_name_tells_the_task():
    (entry,) = read_list("https://example.org/x/a.jsonl\nhttps://example.org/x/a.mp4\n", "lists/MakeWaterfall_urls.txt")
    assert (entry.stem, entry.task, entry.address) == ("a", "MakeWaterfall", "https://example.org/x/a")
    (entry,) = read_list("a.mp4", "pen-animals-Jul-28.json")
    assert (entry.task, entry.address) == ("CreateVillageAnimalPen", "")


def test_a_list_that_is_none_says_what_was_expected():
    for text, said in [
        ('{"basedir": "https://a', "is not JSON"),
        ('{"basedir": "https://a.org"}', "has no base address with paths"),
        ('{"basedir": "https://a.org", "relpaths": [1]}', "has no base address with paths"),
        ("[]", "has no base address with paths"),
        ("\n\n", "lists no recordings"),
        ('{"basedir": "https://a.org", "relpaths": ["../../etc/passwd"]}', "not the name of a recording"),
        ("find-cave/.hidden", "not the name of a recording"),
        ("file:///etc/passwd", "An address begins with http"),
        ("https://", "An address begins with http"),
        ("https://a.org:99999999/find-cave/a", "An address begins with http"),
        ("https://a\u2024.org\x01/find-cave/a", "An address begins with http"),
        ("https://a.org/find-cave/a.mp4?key=1", r"has no \? or #"),
        ("https://a.org", "not the name of a recording"),
        ("find-cave/" + "\u00e9" * 101, "not the name of a recording"),
    ]:
        with pytest.raises(RecordingsError, match=said):
            read_list(text, "a.json")


def test_every_folder_of_the_published_recordings_names_its_task():
    for folder, task in FOLDERS.items():
        assert {one.task for one in read_list(f"{folder}/a-0123456789ab-20220716-190000", "x")} == {task}
        assert task_of_recordings(task).env.id == f"minerl:MineRLBasalt{task}-v0"
        assert {folder_for(one) for one in (task_of_recordings(task), find(task_ids()[task]))} == {folder}


def test_what_the_paper_says_is_bad_is_known_as_such():
    assert why_bad("shabby-pink-molly-0123456789ab-20220716-190000", "FindCave")
    assert not why_bad("shabby-pink-molly-0123456789ab-20220716-190000", "MakeWaterfall")
    assert why_bad(BAD, "FindCave")
    assert not why_bad(STEMS[0], "FindCave")


def test_a_summary_counts_a_session_once_for_each_player():
    names = ["a-f153ac423f61-20220716-190000", "b-f153ac423f61-20220716-190000", "b-f153ac423f61-20220717-190000", "other", BAD]
    (one,) = summaries(read_list("\n".join(names), "find-cave.txt"))
    assert (one.num_recordings, one.num_players, one.num_sessions, one.num_bad, one.num_unnamed) == (5, 3, 3, 1, 1)


# Episodes


def test_two_hundred_sessions_are_joined_as_they_were_played(tmp_path):
    """Episodes of one to three parts, of exactly five minutes, with shared sessions and ids of 13 digits; shuffled."""
    rng = np.random.default_rng(5)
    recordings, expected = [], []
    for number in range(200):
        session = f"{number + 1:012x}" if number % 50 else f"{number:013x}"
        task = "BuildVillageHouse" if number % 2 else "MakeWaterfall"
        begin = 0
        for _ in range(rng.integers(1, 4)):
            kind = rng.choice(["escape", "death", "whole", "escape at five minutes"])
            parts = []
            num_parts = int(rng.integers(1, 4)) if kind != "whole" else 1
            for part in range(num_parts):
                is_last = part == num_parts - 1
                steps = (
                    PART_STEPS if not is_last or kind in ("whole", "escape at five minutes") else int(rng.integers(1, 5_999))
                )
                has_escape = is_last and kind != "death"  # five minutes without ESC would go on in the next episode
                stem = f"p{number}-{session}-20220716-{begin // 3600:02d}{begin // 60 % 60:02d}{begin % 60:02d}"
                recordings.append(Recording(stem, task, steps, 0, 0, has_escape, 0, 1, True))
                parts.append(stem)
                begin += 301
            expected.append(parts)
    shuffled = [recordings[place] for place in rng.permutation(len(recordings))]
    assert sorted([part.stem for part in parts] for parts in episodes_of(shuffled)) == sorted(expected)
    written = write_episode_files(shuffled, tmp_path / "lists")
    assert [path.name for path in written] == ["build-house-episodes.json", "waterfall-episodes.json"]
    listed = [one for path in written for one in json.loads(path.read_text())["episodes"]]
    assert sorted(one["files"] for one in listed) == sorted(expected)


def test_an_episode_file_says_how_it_ended_and_what_is_missing():
    def document(*parts, task="BuildVillageHouse"):
        made = [Recording(f"a-0123456789ab-20220716-19{place}000", task, *part) for place, part in enumerate(parts)]
        return {name: value for name, value in episode_document(made).items() if name not in ("files", "known_bad")}

    whole, cut, last = (
        (PART_STEPS, 0, 0, False, 0, 1, True),
        (PART_STEPS, 0, 0, False, 0, 1, False),
        (50, 0, 0, True, 0, 1, True),
    )
    assert document(whole, last) == {"num_steps": 6_050, "ended_by_escape": True, "ending": "escape", "incomplete": False}
    assert document(whole)["incomplete"], "the house has twelve minutes, and nothing follows the first five"
    assert document(cut, last)["incomplete"], "a video is missing"
    assert document(whole, task="MakeWaterfall") == {
        "num_steps": 6_000,
        "ended_by_escape": False,
        "ending": "timeout",
        "incomplete": False,
    }


# Fetching


@pytest.mark.journey("the recordings of BASALT and VPT")
def test_recordings_are_fetched_whole_and_once(entries, server, published, tmp_path):
    result = fetch(entries, tmp_path)
    names = [f"find-cave/{stem}" for stem in (*STEMS, BAD)]
    assert (sorted(result.fetched), result.there_already, list(result.refused)) == (
        sorted(names),
        [],
        ["find-cave/gone-0123456789ab-20220716-190099"],
    )
    assert "was not found (the server answers 404)" in next(iter(result.refused.values()))
    assert files(tmp_path) == files(published / "data")
    assert result.size_bytes == sum(map(len, files(tmp_path).values()))
    server.asked.clear()
    again = fetch(entries, tmp_path)
    assert (again.fetched, sorted(again.there_already), server.asked) == ([], sorted(names), [])


def test_a_line_that_is_cut_at_any_byte_goes_on_there(entries, server, published, tmp_path):
    rng = np.random.default_rng(3)
    wanted = [entry for entry in entries if entry.stem in STEMS]
    server.cut_after = rng.integers(1, 30_000, 12).tolist()
    waited = []
    result = fetch(wanted, tmp_path, sleep=waited.append)
    assert len(result.fetched) == 4
    assert waited, "it was cut"
    assert server.cut_after == []
    assert any(begin for _, begin in server.asked)
    assert files(tmp_path) == {name: data for name, data in files(published / "data").items() if BAD not in name}
    assert result.size_bytes == sum(map(len, files(tmp_path).values())), "nothing came twice"


def test_a_process_killed_at_any_byte_goes_on(entries, published, tmp_path):
    wanted = [entry for entry in entries if entry.stem in STEMS]
    statuses = []
    for kill_at in (1, 3_000, 20_000, 50_000, 10**9):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads in a process that forks
            child = os.fork()
        if not child:
            try:
                http_resume._CHUNK_BYTES = 997
                fetch(
                    wanted,
                    tmp_path,
                    on_progress=lambda done, total, came, limit=kill_at: came < limit or os.kill(os.getpid(), 9),
                )
            finally:
                os._exit(0)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    assert statuses == [-signal.SIGKILL] * 4 + [0]
    assert files(tmp_path) == {name: data for name, data in files(published / "data").items() if BAD not in name}


def test_a_quota_counts_what_is_there_and_begins_no_recording_that_does_not_fit(entries, published, tmp_path):
    wanted = [entry for entry in entries if entry.stem in STEMS]
    sizes = [
        sum((published / "data" / "find-cave" / f"{stem}{ending}").stat().st_size for ending in (".jsonl", ".mp4"))
        for stem in STEMS
    ]
    result = fetch(wanted, tmp_path, quota_bytes=sizes[0] + sizes[1])
    assert result.fetched == [f"find-cave/{stem}" for stem in STEMS[:2]]
    assert result.over_quota == [f"find-cave/{stem}" for stem in STEMS[2:]]
    assert sum(map(len, files(tmp_path).values())) == sizes[0] + sizes[1]
    assert fetch(wanted, tmp_path, quota_bytes=sizes[0] + sizes[1]).over_quota == result.over_quota


def test_an_index_of_dead_links_says_the_first(server, tmp_path):
    dead = read_list(json.dumps({"basedir": server.address, "relpaths": ["no/a-0123456789ab-20220716-190000", "no/b"]}), "dead")
    with pytest.raises(RecordingsError, match=r"none of 2 recordings can be fetched; the first:\n.*a-0123[\s\S]*answers 404"):
        fetch(dead, tmp_path)
    assert files(tmp_path) == {}
    with pytest.raises(LineError, match=r"does not answer[\s\S]*goes on where it stopped"):
        fetch(read_list("http://127.0.0.1:9/find-cave/a", "dead"), tmp_path, sleep=lambda _: None)
    with pytest.raises(RecordingsError, match=r"has moved to https://example\.org/there\nGive that address"):
        open_list(f"{server.address}moved")
    with pytest.raises(FetchError, match="the list has no address of a"):
        fetch(read_list("find-cave/a", "names"), tmp_path)
    with pytest.raises(FetchError, match=r"nothing\.json cannot be read"):
        open_list(str(tmp_path / "nothing.json"))
    with pytest.raises(FetchError, match="File name too long"):
        open_list("x" * 300)
    with pytest.raises(FetchError, match="'http://' is not an address"):
        open_list("http://")


def test_two_that_fetch_to_one_folder_do_not_spoil_it(entries, published, tmp_path):
    wanted = [entry for entry in entries if entry.stem in STEMS]
    refused = []

    def meanwhile(done, total, came):
        if not refused:
            with pytest.raises(RecordingsError, match=r"another process fetches recordings to .*find-cave\nWait") as raised:
                fetch(wanted, tmp_path)
            refused.append(raised)

    assert len(fetch(wanted, tmp_path, quota_bytes=float("inf"), on_progress=meanwhile).fetched) == 4
    assert refused
    assert files(tmp_path) == {name: data for name, data in files(published / "data").items() if BAD not in name}


@contextmanager
def disk_of(num_bytes):
    """Writes of more bytes to one file fail, as on a full disk."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_keeps_what_came_and_the_next_call_goes_on(entries, published, tmp_path):
    wanted = [entry for entry in entries if entry.stem == STEMS[0]]
    with (
        pytest.raises(RecordingsError, match=r"cannot write to .*\nThe first part is kept. Free some space"),
        disk_of(20_000),
    ):
        fetch(wanted, tmp_path)
    names = sorted(files(tmp_path))
    assert len(names) == 2
    assert names[0].startswith(f".{STEMS[0]}.mp4."), "the video is a part still"
    assert fetch(wanted, tmp_path).fetched == [f"find-cave/{STEMS[0]}"]
    assert all(files(published / "data")[name] == data for name, data in files(tmp_path).items())


# The command line


def run(capsys, *words):
    """Exit status and output of a command."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code, capsys.readouterr().out


@pytest.fixture
def folder(published, tmp_path):
    """The published recordings, and three more that are broken."""
    shutil.copytree(published / "data", tmp_path / "recordings")
    place = tmp_path / "recordings" / "find-cave"
    for stem in ("cut", "lonely", "long"):
        shutil.copy(DATA / "wheel.jsonl", place / f"{stem}.jsonl")
    (place / "cut.mp4").write_bytes((DATA / "wheel.mp4").read_bytes()[:5_000])
    shutil.copy(DATA / "short-video.mp4", place / "long.mp4")
    return tmp_path / "recordings"


def test_what_is_broken_is_found_and_not_imported(folder, tmp_path, capsys):
    place = folder / "find-cave"
    (place / "._lonely.mp4").write_bytes(b"a Mac's notes")
    shutil.copy(DATA / "short-video.mp4", place / "latin.mp4")
    first, rest = (DATA / "wheel.jsonl").read_bytes().split(b"\n", 1)
    (place / "latin.jsonl").write_bytes(first[:-1] + b', "name": "caf\xe9"}\n' + rest)
    status, said = run(capsys, "demos", "check", folder, "--json")
    found = {Path(one["path"]).stem: one for one in json.loads(said)["recordings"]}
    assert status == 1
    said = {stem: " ".join(one["problems"]) for stem, one in found.items() if one["problems"]}
    assert sorted(said) == ["cut", "latin", "lonely", "long"]
    assert "line 1 of latin.jsonl is not a JSON object" in said["latin"]
    assert "is damaged: it is cut off" in said["cut"]
    assert said["lonely"].startswith(f"it has no video: there is no file {folder / 'find-cave' / 'lonely.mp4'}")
    assert "10 lines, and 4 frames" in said["long"]
    assert found[BAD]["known_bad"]
    status, said = run(capsys, "demos", "import", folder, "--data", tmp_path / "data", "--json")
    document = json.loads(said)
    assert status == 1
    assert sorted(document["refused"]) == ["cut", "latin", "lonely", "long"]
    assert sorted(document["imported"]) == STEMS
    assert list(document["left_out"]) == [BAD]
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        assert sorted(episode.id for episode in archive.episodes()) == STEMS
        assert not list(archive.root.glob(".import-*"))
        _check_imported(archive)
    small = ["--updates", 1, "--batch-size", 4, "--channels", 4, "--blocks", 1, "--features", 8, "--threads", 1]
    words = ["--task", "bedd/find_cave", *small, "--out", "seen", "--data", tmp_path / "data"]
    status, said = run(capsys, "learn", "clone", *words)
    assert status == 0
    assert f"decisions of {len(STEMS)} episodes" in said
    assert "Next:  interplay play FILE.toml:NAME --agent seen" in said


def test_check_refuses_no_video_that_import_takes(tmp_path, capsys):
    place = tmp_path / "recordings" / "find-cave"
    place.mkdir(parents=True)
    shutil.copy(DATA / "wheel.jsonl", place / "a.jsonl")
    with av.open(str(DATA / "wheel.mp4")) as source, av.open(str(place / "a.mp4"), "w") as target:
        stream = target.add_stream("libx264", rate=20)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv444p"  # which not every browser plays
        for frame in source.decode(video=0):
            target.mux(stream.encode(frame.reformat(format="yuv444p")))
        target.mux(stream.encode())
    for verb in ("check", "import"):
        words = ["--data", tmp_path / "data"] if verb == "import" else []
        status, said = run(capsys, "demos", verb, tmp_path / "recordings", *words)
        assert status == 0, said


def test_recordings_that_cannot_be_told_apart_or_read_say_which(tmp_path, capsys):
    first, second = (tmp_path / "recordings" / name for name in ("a", "b"))
    for place, name in ((first, "wheel"), (second, "escape")):
        place.mkdir(parents=True)
        for ending in (".jsonl", ".mp4"):
            shutil.copy(DATA / f"{name}{ending}", place / f"mine{ending}")
    assert run(capsys, "demos", "import", first.parent, "--data", tmp_path / "data", "--task", "bedd/find_cav")[0] == 2
    assert not (tmp_path / "data").exists()
    words = ("demos", "import", first.parent, "--data", tmp_path / "data", "--task", "bedd/find_cave", "--json")
    status, said = run(capsys, *words)
    assert status == 1
    assert json.loads(said)["refused"] == {
        str(second / "mine.jsonl"): f"{first / 'mine.jsonl'} has the same name\nGive each recording a name of its own."
    }
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        (episode,) = archive.episodes()
        assert (episode.task_id, episode.num_steps, episode.outcome) == ("bedd/find_cave", 10, "terminated")
    (second / "mine.jsonl").unlink()
    (second / "mine.jsonl").symlink_to(tmp_path / "nothing")
    with pytest.raises(RecordingsError, match=r"mine.jsonl cannot be read: No such file[^\n]*\nFetch it again, or remove it"):
        count_recordings(second.rename(tmp_path / "find-cave"))
    (tmp_path / "find-cave" / "mine.jsonl").rename(tmp_path / "find-cave" / "two\nlines.jsonl")
    with pytest.raises(RecordingsError, match=r"'two\\nlines.jsonl' has characters that cannot be written\nRename"):
        count_recordings(tmp_path / "find-cave")


def test_one_import_at_a_time_and_what_a_killed_one_left_is_removed(archive):
    (archive.root / ".import-killed" / "journal").mkdir(parents=True)
    with (
        Importing.to(archive),
        pytest.raises(interplay.record.RecordingError, match=r"another process imports .*\nWait"),
        Importing.to(archive),
    ):
        raise AssertionError("two at a time")
    assert not list(archive.root.glob(".import-*"))


def test_commands_say_what_there_is_and_refuse_what_there_is_not(folder, tmp_path, capsys):
    status, said = run(capsys, "demos", "index", folder, "--episodes", tmp_path / "lists")
    assert status == 0
    assert "FindCave           8        2         5          1            3" in said
    assert len(json.loads((tmp_path / "lists" / "find-cave-episodes.json").read_text())["episodes"]) == 8
    for words in (
        ["get", folder, "--task", "FindCvae"],
        ["get", folder, "--limit", "0"],
        ["index", __file__, "--episodes", "."],
    ):
        assert run(capsys, "demos", *words)[0] == 2


def _check_imported(archive):
    """An imported recording is found, looked at and read like any episode."""
    (episode,) = archive.episodes(where=["num_steps = 40"])
    assert (episode.id, episode.task_id, episode.actor_kind) == (STEMS[0], "bedd/find_cave", "human")
    assert (episode.terminated, episode.outcome) == (True, "terminated"), "the player pressed ESC"
    assert episode.created_at.isoformat() == "2022-07-16T19:00:00+00:00"
    steps = next(iter(Loader([DATA / "anything.jsonl"], is_small=False)))
    actions = episode.actions()
    assert [[action[key] for key in KEYS] for action in actions] == steps.keys.tolist()
    assert np.array([action["camera"] for action in actions]) == pytest.approx(np.clip(steps.camera, -180, 180), rel=1e-6)
    assert len(episode.frames) == 41
    difference = episode.frames[20].rgb().astype(int) - steps.frames[20]
    assert abs(difference).mean() < 4, "the same picture, but for the video's loss"
    assert verify(episode).equal
    assert archive.episodes(where=["num_steps = 10"])[0].truncated is False, "without ESC and before time is up: a death"


def test_parts_become_one_episode_and_a_timeout_is_truncated(tmp_path):
    place = tmp_path / "recordings"
    place.mkdir()
    for ending in (".jsonl", ".mp4"):
        shutil.copy(DATA / f"wheel{ending}", place / f"mine{ending}")
    task = replace(find("basalt/find_cave"), id="mine/cave", env=EnvSpec("minerl:Mine-v0", {}))
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        with pytest.raises(RecordingsError, match=r"none below a folder named for its task\n.*--task TASK"):
            import_recordings(archive, place)
        result = import_recordings(archive, place, task=task, labels="bedd")
        (episode,) = archive.episodes()
        assert list(result.imported.kept) == [episode.id]
        assert (episode.task_id, episode.outcome, episode.truncated) == ("mine/cave", "quit", True)
        pressed = [[key for key in KEYS if action[key]] for action in episode.actions()]
        assert pressed[0] == ["hotbar.6"], "one frame late, as BEDD has it"
        assert import_recordings(archive, place, task=task).imported.there_already == [episode.id]


def test_an_import_says_once_that_a_statistic_is_left_out(archive, tmp_path, caplog):
    for name, ending in product(("wheel", "escape"), (".jsonl", ".mp4")):
        shutil.copy(DATA / f"{name}{ending}", tmp_path / f"{name}{ending}")
    result = import_recordings(archive, tmp_path, task=find("basalt/find_cave"))
    assert len(result.imported.kept) == 2
    assert sum("path_length is left out" in record.getMessage() for record in caplog.records) == 1


def test_a_full_disk_leaves_no_half_episode_and_the_next_import_makes_it(tmp_path):
    place = tmp_path / "find-cave"
    place.mkdir()
    for ending in (".jsonl", ".mp4"):
        shutil.copy(DATA / f"wheel{ending}", place / f"{STEMS[0]}{ending}")
    with closing(interplay.record.open(tmp_path / "data")) as archive:
        with pytest.raises(interplay.record.RecordingError, match=f"the disk is full: {STEMS[0]} .*\nFree"), disk_of(20_000):
            import_recordings(archive, tmp_path)
        assert archive.episodes() == []
        assert not list(archive.root.glob(".import-*"))
        assert list(import_recordings(archive, tmp_path).imported.kept) == [STEMS[0]]


# Our own episodes


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A short episode of the block world in which every kind of action is taken."""
    pytest.importorskip("numba")
    archive = interplay.record.open(tmp_path_factory.mktemp("played"))
    options = {"size": [64, 36], "kind": "flat", "time": 6000}
    task = replace(find("basalt/find_cave"), env=EnvSpec("voxel:basalt", options))
    env = make(task)
    recorder = archive.recorder(task, env, seed=3, owners={task.seats[0]: Owner("participant-7", "human")})
    played = interplay.record.RecordedEpisode(env, recorder)
    played.start(3)
    actions = [{"attack": 1, "forward": 1, "camera": [1.23456, -7.1]}, {"attack": 1, "hotbar.4": 1}, {}, {"attack": 1}]
    actions += [{"hotbar.9": 1, "hotbar.2": 1, "jump": 1, "sneak": 1}, {"pickItem": 1, "swapHands": 1, "drop": 1}]
    actions += [{"inventory": 1}, {"camera": [3.0, 4.5]}, {"camera": [-1.7, 0.3], "use": 1}, {"hotbar.1": 1}, {"inventory": 1}]
    actions += [{"camera": [0.05, 179.5]}, {"sprint": 1, "left": 1, "right": 1, "back": 1}, {"ESC": 1}]
    for action in actions:
        played.step({task.seats[0]: minerl_actions.read(action).to_minerl()})
    episode = archive.seal(recorder.finish("terminated"))
    env.close()
    yield archive, episode
    archive.close()


@pytest.mark.journey("your own written as theirs")
def test_an_episode_comes_back_from_a_recording_with_the_same_actions(played, tmp_path):
    _, episode = played
    result = export([episode], tmp_path, pseudonyms=Pseudonyms(b"key"))
    (path,) = map(Path, result.written)
    assert path.parent.name == "find-cave"
    assert path.name.startswith("person-"), "people have no names here"
    (steps,) = Loader([path.with_suffix(".jsonl")])
    actions = episode.actions()
    assert len(steps) == len(actions) == 14
    assert [[int(action[key]) for key in KEYS] for action in actions] == steps.keys.tolist()
    assert np.array([action["camera"] for action in actions]) == pytest.approx(steps.camera, abs=1e-9)
    assert steps.frames.shape == (14, 128, 128, 3)
    lines = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
    assert [line["isGuiOpen"] for line in lines] == [False] * 7 + [True] * 4 + [False] * 3
    assert export([episode], tmp_path, pseudonyms=Pseudonyms(b"key")).kept == result.written
    (whole,) = Loader([path.with_suffix(".jsonl")], labels="bedd")
    assert [bool(keys[KEYS.index("attack")]) for keys in whole.keys] == [bool(action["attack"]) for action in actions]
    data = interplay.record.open(tmp_path / "data")
    import_recordings(data, tmp_path)
    (again,) = data.episodes()
    assert [[int(action[key]) for key in KEYS] for action in again.actions()] == steps.keys.tolist()
    data.close()


def test_a_full_disk_leaves_no_half_recording(played, tmp_path):
    _, episode = played
    with pytest.raises(interplay.record.RecordingError, match="cannot write"), disk_of(1_000):
        export([episode], tmp_path, pseudonyms=Pseudonyms(b"key"))
    assert files(tmp_path) == {}


def test_what_is_no_play_of_minecraft_is_left_out_with_the_reason(archive, tmp_path, capsys):
    words = ("--all", "--format", "vpt", "--data", archive.root, "--out", tmp_path / "out", "--json")
    status, said = run(capsys, "episodes", "export", *words)
    assert status == 0
    assert set(json.loads(said)["left_out"].values()) == {"its actions are not the keys and the camera of Minecraft"}
