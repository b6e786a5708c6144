"""Videos: every frame there, right colours, right speed, whole or not at all."""

import json

import av
import numpy as np
import pytest

from interplay.cli import _run
from interplay.envs.pictures import PALETTE
from interplay.record import RecordingError
from interplay.record.films.film import film, write_mp4


def pictures(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return stream.average_rate, [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]


def test_a_video_shows_every_frame_in_its_colours(record, archive, invaders):
    played = record(invaders, num_steps=150)
    path = film(archive, played.episode.id)
    assert path == archive.video_path(played.episode.id)
    rate, shown = pictures(path)
    assert rate == 60
    assert len(shown) == 151
    assert shown[0].shape == (420, 320, 3)
    for index in (0, 75, 150):
        expected = PALETTE[played.views[index]].repeat(2, 0).repeat(2, 1)
        assert np.abs(shown[index].astype(int) - expected).mean() < 3
    assert list(archive.root.glob("media/.*")) == []


def test_a_video_is_made_once(record, archive, cartpole):
    episode = record(cartpole, num_steps=20).episode
    path = film(archive, episode.id)
    made = path.stat().st_mtime_ns
    assert film(archive, episode.id).stat().st_mtime_ns == made
    rate, shown = pictures(path)
    assert (rate, len(shown), shown[0].shape) == (50, episode.num_steps + 1, (400, 600, 3))


def test_a_video_can_start_before_it_is_loaded(record, archive, cartpole):
    data = film(archive, record(cartpole, num_steps=5).episode.id).read_bytes()
    assert data.index(b"moov") < data.index(b"mdat")


def test_a_video_that_cannot_be_written_leaves_nothing(record, cartpole, tmp_path):
    with pytest.raises(RecordingError, match="The episode itself is safe; give another place and try again"):
        write_mp4(record(cartpole, num_steps=5).episode, tmp_path / "missing" / "a.mp4")


def test_an_export_goes_on_where_it_stopped(record, archive, cartpole, tmp_path, capsys):
    names = [record(cartpole, num_steps=5, seed=seed).episode.id for seed in (1, 2)]
    out = tmp_path / "out"
    command = ["episodes", "export", "--out", str(out), "--data", str(archive.root), "--json"]
    assert _run([*command, names[0]]) == 0
    assert _run([*command, "--all"]) == 0
    documents = capsys.readouterr().out
    second = json.loads(documents[documents.index("}\n{") + 2 :])
    assert second == {
        "written": [str(out / f"{names[1]}.mp4")],
        "kept": [str(out / f"{names[0]}.mp4")],
        "num_withheld": 0,
    }
    assert _run([*command, "--all", "--format", "mp5"]) == 2
    assert "did you mean 'mp4'" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_said_in_words(record, archive, cartpole, tmp_path, capsys):
    record(cartpole, num_steps=5)
    (tmp_path / "file").touch()
    assert _run(["episodes", "export", "--all", "--out", str(tmp_path / "file"), "--data", str(archive.root)]) == 1
    assert capsys.readouterr().err.split("\n")[:2] == [
        f"error: cannot write to {tmp_path / 'file'}: File exists",
        "Give another folder with --out.",
    ]


def test_replay_writes_a_video(record, archive, cartpole, tmp_path, capsys):
    name = record(cartpole, num_steps=5).episode.id
    out = tmp_path / "a.mp4"
    assert _run(["episodes", "replay", name, "--out", str(out), "--data", str(archive.root)]) == 0
    assert f"Wrote {out}" in capsys.readouterr().out.replace("\n", " ")
    assert len(pictures(out)[1]) == 6
