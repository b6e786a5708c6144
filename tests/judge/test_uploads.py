"""Episodes that are videos only: probed, wrapped for streaming, listed, shown, verified and exported like all others."""

import json

import av
import pytest
from starlette.testclient import TestClient
from video_files import FIND_CAVE, pictures, write_agent, write_video

from interplay.cli import main
from interplay.judge.entrants.uploads import add_agent
from interplay.judge.published import import_answers
from interplay.record import RecordingError, verify
from interplay.record.films.film import film
from interplay.record.films.mp4 import copy_to_stream, probe
from interplay.store import EpisodeRow
from interplay.tasks import Suite, parse_suite
from interplay.web.app import create_app


@pytest.fixture
def uploaded(archive, tmp_path):
    """The archive with one agent that is known by its videos."""
    add_agent(archive, "GoUp", write_agent(tmp_path / "GoUp"))
    return archive


@pytest.fixture
def episode(uploaded):
    return uploaded.episodes(with_uploads=True)[0]


@pytest.fixture
def client(uploaded):
    return TestClient(create_app(uploaded), raise_server_exceptions=False)


def run(capsys, *arguments) -> tuple[int, str, str]:
    """Exit status and output of a command."""
    with pytest.raises(SystemExit) as stop:
        main([str(one) for one in arguments])
    out = capsys.readouterr()
    return int(stop.value.code or 0), out.out, out.err


def test_a_video_is_probed_for_what_the_catalogue_says(tmp_path):
    facts = probe(write_video(tmp_path / "a.mp4", num_frames=30, rate=20, size=(64, 48)))
    assert (facts.num_frames, facts.duration_s, facts.frame_rate_hz) == (30, 1.5, 20.0)
    assert (facts.width, facts.height, facts.profile) == (64, 48, "High")
    assert facts.streams_at_once


@pytest.mark.parametrize("reason", ["index last", "title", "neither"])
def test_a_video_is_wrapped_anew_without_words_and_with_the_same_pictures(tmp_path, reason):
    source = write_video(
        tmp_path / "a.mp4", index_first=reason != "index last", title="GoUp run 7" if reason == "title" else ""
    )
    facts = probe(source)
    assert facts.streams_at_once == (reason != "index last")
    copied = copy_to_stream(source, facts, tmp_path / "copy.part")
    assert copied.streams_at_once
    assert b"GoUp" not in (tmp_path / "copy.part").read_bytes()
    assert pictures(tmp_path / "copy.part") == pictures(source)


def test_names_between_the_pictures_are_left_out_and_every_picture_stays(tmp_path):
    plain = write_video(tmp_path / "plain.mp4", num_frames=40)
    assert b"x264 - core" in plain.read_bytes()
    source = tmp_path / "named.mp4"
    name = b"made by the GoUp team"
    message = bytes([5, 16 + len(name)]) + bytes(range(16, 32)) + name + b"\x80"  # user data, a uuid, the text
    units = {6: b"\x06" + message, 12: b"\x0c" + name + b"\x80", 30: b"\x1e" + name + b"\x80"}
    with av.open(str(plain)) as old, av.open(str(source), "w", format="mp4", options={"movflags": "+faststart"}) as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        for number, packet in enumerate(old.demux(video=0)):
            if packet.dts is None:
                continue
            extra = b"".join(len(unit).to_bytes(4, "big") + unit for unit in units.values()) if number % 3 == 0 else b""
            named = av.Packet(extra + bytes(packet))
            named.pts, named.dts, named.duration, named.time_base = packet.pts, packet.dts, packet.duration, packet.time_base
            named.is_keyframe, named.stream = packet.is_keyframe, stream
            new.mux(named)
    assert source.read_bytes().count(name) >= 3 * 13
    facts = probe(source)
    copied = copy_to_stream(source, facts, tmp_path / "copy.mp4")
    written = (tmp_path / "copy.mp4").read_bytes()
    for words in (name, b"x264", b"core"):
        assert words not in written
    assert (copied.num_frames, copied.duration_s, copied.frame_rate_hz) == (40, facts.duration_s, facts.frame_rate_hz)
    assert pictures(tmp_path / "copy.mp4") == pictures(source) == pictures(plain)


def test_a_video_that_changes_while_it_is_read_is_refused(tmp_path):
    source = write_video(tmp_path / "a.mp4")
    facts = probe(source)
    write_video(source, shade=50)
    with pytest.raises(RecordingError, match="changed while it was read; try again when nothing writes to it"):
        copy_to_stream(source, facts, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize("cut", [1, 7, 9, 40, 200, 700])
def test_no_cut_off_video_passes(tmp_path, cut):
    source = write_video(tmp_path / "a.mp4")
    whole = source.read_bytes()
    source.write_bytes(whole[: len(whole) - cut])
    with pytest.raises(RecordingError, match=r"is damaged|no mp4"):
        probe(source)


def test_only_who_asks_gets_videos_among_recorded_episodes(uploaded):
    assert uploaded.episodes() == []
    assert len(uploaded.episodes(with_uploads=True)) == 6


def test_an_upload_knows_its_task_and_has_no_steps(uploaded, episode):
    found = uploaded.get(episode.id)
    assert found.task == FIND_CAVE
    assert found.is_video_only
    assert found.outcome_check == {}
    for ask in (lambda: found.actions(), lambda: found.frames, lambda: found.steps(), lambda: found.header):
        with pytest.raises(RecordingError, match="is a video only: nothing was recorded step by step"):
            ask()
    assert film(uploaded, found.id).read_bytes() == uploaded.video_path(found.id).read_bytes()


def test_verifying_compares_the_bytes_and_says_that_there_is_no_replay(uploaded, episode):
    verdict = verify(episode)
    assert (verdict.equal, verdict.replayed) == (True, False)
    assert "it is a video only, so no replay" in verdict.reason
    path = uploaded.video_path(episode.id)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert verify(episode).reason == "the video is not the one that was uploaded"
    path.unlink()
    assert not verify(episode).equal


def test_the_command_line_lists_shows_verifies_replays_and_exports(uploaded, episode, tmp_path, capsys):
    data = uploaded.root
    status, out, _ = run(capsys, "episodes", "list", "--data", data, "--json")
    assert status == 0
    assert {one["frame_policy"] for one in json.loads(out)} == {"uploaded"}
    status, out, _ = run(capsys, "episodes", "show", episode.id, "--data", data)
    assert status == 0
    assert "A video only: nothing was recorded step by step." in out
    status, out, _ = run(capsys, "episodes", "verify", "--all", "--data", data)
    assert (status, out) == (0, "6 equal, 0 different.\n")
    status, _, error = run(capsys, "episodes", "replay", episode.id, "--data", data)
    assert status == 1
    assert "is a video only: no actions were recorded, so there is nothing to play again" in error
    target = tmp_path / "copy.mp4"
    assert run(capsys, "episodes", "replay", episode.id, "--out", target, "--data", data)[0] == 0
    assert target.read_bytes() == uploaded.video_path(episode.id).read_bytes()
    status, out, _ = run(capsys, "episodes", "export", "--all", "--out", tmp_path / "export", "--data", data)
    assert (status, out) == (0, f"Wrote 6 files to {tmp_path / 'export'}\n")
    assert run(capsys, "episodes", "repair", "--data", data)[0] == 0


def test_a_missing_video_is_reported_by_repair(uploaded, episode, capsys):
    uploaded.video_path(episode.id).unlink()
    status, out, _ = run(capsys, "episodes", "repair", "--data", uploaded.root)
    assert status == 1
    assert f"MISSING {episode.id}: its file is gone" in out


def test_the_pages_show_an_upload_as_a_video(client, episode):
    page = client.get(f"/episodes/{episode.id}")
    assert page.status_code == 200
    assert "without recorded steps" in page.text
    assert f'src="/api/episodes/{episode.id}/video.mp4"' in page.text
    assert "data-replay" not in page.text
    assert client.get("/episodes").status_code == 200
    part = client.get(f"/api/episodes/{episode.id}/video.mp4", headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, b"ftyp")
    facts = client.get(f"/api/episodes/{episode.id}").json()
    assert (facts["frame_policy"], facts["width"], facts["num_frames"]) == ("uploaded", None, 12)
    frames = client.get(f"/api/episodes/{episode.id}/frames")
    assert frames.status_code == 409
    assert "is a video only" in frames.json()["message"]


def test_an_episode_whose_video_was_not_imported_says_so_everywhere(archive, tmp_path, capsys):
    answer = {
        "worker_id": "w",
        "task": "FindCave",
        "episodes": [{"agent_name": name, "seed": str(FIND_CAVE.held_out_seeds[0]), "hash": name} for name in ("A", "B")],
        "result": {"eval_metadata": {"win_player": "p1"}},
        "created_at": "2022-11-21T09:00:00",
    }
    (tmp_path / "answers.json").write_text(json.dumps([answer]))
    import_answers(archive, tmp_path / "answers.json")
    episode = archive.episodes(with_uploads=True)[0]
    with pytest.raises(
        RecordingError, match="answers about it were imported, its video was not\nBring the videos:  interplay judge"
    ):
        film(archive, episode.id)
    assert verify(episode).reason == "its video was not imported, so there is nothing to compare"
    assert not archive.repair().missing
    client = TestClient(create_app(archive), raise_server_exceptions=False)
    page = client.get(f"/episodes/{episode.id}")
    assert page.status_code == 200
    assert "Answers about this video were imported, but the video was not." in page.text
    assert client.get(f"/api/episodes/{episode.id}/video.mp4").status_code == 404
    assert client.get("/episodes").status_code == 200
    status, out, _ = run(capsys, "episodes", "show", episode.id, "--data", archive.root)
    assert status == 0
    assert "its video was not imported" in out
    status, out, _ = run(capsys, "episodes", "export", "--all", "--out", tmp_path / "export", "--data", archive.root)
    assert (status, out) == (0, f"Wrote 0 files to {tmp_path / 'export'}\n")


@pytest.fixture
def robots() -> Suite:
    return parse_suite(
        '[suite]\nid = "robots"\ntitle = "Robots"\n[[task]]\nname = "pour"\ntitle = "Pour tea"\ngoal = "Pour."\n'
        'env.id = "video:none"\nheld_out_seeds = [-3, 7]\n'
        'questions = [{ id = "o", factor = "overall", kind = "overall", text = "Who?" }]'
    )


def test_the_library_offers_videos_to_judge_and_not_to_play(archive, robots):
    client = TestClient(create_app(archive, suites=[robots]), raise_server_exceptions=False)
    page = client.get("/").text
    assert "videos to judge, no game" in page
    assert "/play/robots/pour" not in page
    assert 'href="/judge?task=robots/pour"' in page
    assert client.get("/play/robots/pour").status_code == 404
    assert client.get("/tasks/robots/pour/picture.png").status_code == 404


def test_seeds_below_zero_are_kept_by_the_database(archive, robots, tmp_path):
    for name, shade in (("pi", 0), ("act", 9)):
        write_video(tmp_path / name / "pour" / "seed_-3.mp4", shade=shade, rate=30)
        add_agent(archive, name, tmp_path / name, suites=[robots])
    assert [episode.seed for episode in archive.episodes(with_uploads=True)] == [-3, -3]
    with archive.database.read() as session:
        assert {row.env for row in session.query(EpisodeRow)} == {"video:none"}
