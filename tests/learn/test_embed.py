"""Embeddings: each picture's latents as the network says them one at a time, whole files, and runs that are stopped."""

import json
import os
import resource
from multiprocessing import active_children

import numpy as np
import pytest

torch = pytest.importorskip("torch")
av = pytest.importorskip("av")

from tiny_vpt import tiny_network  # noqa: E402

import interplay.record  # noqa: E402
from interplay.agents import NoopAgent, rollout  # noqa: E402
from interplay.agents.vpt.agent import save  # noqa: E402
from interplay.agents.vpt.network import resized  # noqa: E402
from interplay.cli import main  # noqa: E402
from interplay.errors import NotFoundError  # noqa: E402
from interplay.files import part_of  # noqa: E402
from interplay.jobs import Executor, LostError  # noqa: E402
from interplay.learn import embed as module  # noqa: E402
from interplay.learn.embed import EmbedError, embed, read_shard, recordings_in, shard_path  # noqa: E402
from interplay.tasks import find  # noqa: E402


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A folder with a tiny network."""
    folder = tmp_path_factory.mktemp("data") / "models" / "tiny"
    save(folder, tiny_network(), made_from=[])
    return folder


def write_video(path, num_frames, *, index_first=True):
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(num_frames)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"} if index_first else {}) as container:
        stream = container.add_stream("libx264", rate=20, options={"preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = 64, 36, "yuv420p"
        for _ in range(num_frames):
            picture = np.repeat(np.repeat(rng.integers(0, 256, (9, 16, 3), np.uint8), 4, axis=0), 4, axis=1)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    """Three recordings, one of them in a folder of its own."""
    folder = tmp_path_factory.mktemp("videos")
    write_video(folder / "a.mp4", 150)
    write_video(folder / "b.mp4", 3)
    write_video(folder / "more" / "c.mp4", 20)
    return folder


def one_at_a_time(path, **sizes):
    """The latents of a video as an agent has them."""
    network, found = tiny_network(**sizes), []
    state = network.initial_state(1)
    with av.open(str(path)) as container, torch.inference_mode():
        for frame in container.decode(video=0):
            picture = resized(frame.to_ndarray(format="rgb24"), (32, 32, 3))
            latents, state = network.latents(torch.from_numpy(picture)[None, None], state)
            found.append(latents[0, 0].numpy())
    return np.stack(found)


def names_in(out):
    """Names of the files of a folder and of those below it, but for the lock."""
    return sorted(path.name for path in out.rglob("*") if path.is_file() and path.name != module.LOCK)


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(one) for one in arguments])
    return ended.value.code


@pytest.mark.journey("its embeddings")
def test_each_recording_gets_a_file_with_the_latents_of_its_pictures(videos, network, tmp_path, capsys):
    out = tmp_path / "out"
    command = ["demos", "embed", videos, "--vpt", network, "--out", out, "--chunk", 64, "--data", tmp_path / "none", "--json"]
    assert run(*command) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["written"], document["num_frames"]) == (["a", "b", "more/c"], 173)
    for name in document["written"]:
        latents = read_shard(shard_path(out, name))
        assert (latents.dtype, latents.flags.writeable) == (np.float32, False)
        np.testing.assert_allclose(latents, one_at_a_time(videos / f"{name}.mp4"), rtol=0, atol=5e-4)
    assert json.loads((out / "embedding.json").read_text())["network"] == "tiny"

    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.safetensors")}
    shard_path(out, "b").unlink()
    assert run(*command) == 0  # only what is missing
    document = json.loads(capsys.readouterr().out)
    assert (document["written"], document["kept"]) == (["b"], ["a", "more/c"])
    assert all(path.stat().st_mtime_ns == when for path, when in before.items() if path.name != "b.safetensors")
    assert not (tmp_path / "none").exists()


def test_a_recording_that_changed_or_a_shard_that_is_damaged_is_done_again(videos, network, tmp_path):
    path = write_video(tmp_path / "videos" / "one.mp4", 4)
    sources, out = recordings_in(path.parent), tmp_path / "out"
    assert embed(sources, network, out).written == ["one"]
    write_video(path, 5)
    assert embed(sources, network, out).written == ["one"]
    assert len(read_shard(shard_path(out, "one"))) == 5
    whole, latents = shard_path(out, "one").read_bytes(), np.array(read_shard(shard_path(out, "one")))
    for damaged in (b"nothing", whole[:-4]):
        shard_path(out, "one").write_bytes(damaged)
        with pytest.raises(EmbedError, match="is not a shard of embeddings"):
            read_shard(shard_path(out, "one"))
        assert embed(sources, network, out).written == ["one"]
    np.testing.assert_array_equal(read_shard(shard_path(out, "one")), latents)


def test_what_cannot_be_read_is_reported_and_the_rest_is_embedded(network, tmp_path, capsys):
    folder = tmp_path / "videos"
    write_video(folder / "whole.mp4", 3)
    cut = write_video(folder / "cut.mp4", 60)
    cut.write_bytes(cut.read_bytes()[:-3000])
    headless = write_video(folder / "headless.mp4", 60, index_first=False)
    headless.write_bytes(headless.read_bytes()[:-3000])
    (folder / "missing.jsonl").write_text("{}\n")
    (folder / "nothing.mp4").symlink_to(folder / "whole.mp4")
    (folder / "nothing.jsonl").write_text("")
    (folder / "empty.mp4").write_bytes(b"")
    out = tmp_path / "out"
    assert run("demos", "embed", folder, "--vpt", network, "--out", out) == 1
    said = capsys.readouterr().out
    assert "Wrote 1 shard" in said
    assert "failed: 5" in said
    for expected in (
        "FAILED cut: ",
        "FAILED headless: ",
        "FAILED missing: ",
        "nothing.mp4 has no pictures\n",
        f"{folder}/missing.mp4 cannot be read: No such file or directory\n  Fetch it again; it is missing or was cut off.",
    ):
        assert expected in said
    assert names_in(out) == ["embedding.json", "whole.safetensors"]


@pytest.mark.processes
def test_a_kill_in_the_middle_costs_no_finished_shard(network, tmp_path):
    folder, out = tmp_path / "videos", tmp_path / "out"
    for name, num_frames in (("a", 2), ("b", 1500), ("c", 1500)):
        write_video(folder / f"{name}.mp4", num_frames)
    sources = recordings_in(folder)

    def kill(done, total):
        for process in active_children() if done else ():
            process.kill()

    with pytest.raises(LostError, match=r"ended without a message, perhaps at [bc]\nFinished shards are kept\. Run the same"):
        embed(sources, network, out, chunk=1, executor=Executor(2), on_shard=kill)
    part_of(shard_path(out, "b")).write_bytes(b"half")  # as if it had been killed while it wrote
    result = embed(sources, network, out)
    assert (result.kept, result.written) == (["a"], ["b", "c"])
    assert [len(read_shard(shard_path(out, source.name))) for source in sources] == [2, 1500, 1500]
    assert names_in(out) == ["a.safetensors", "b.safetensors", "c.safetensors", "embedding.json"]
    embed(sources[:1], network, tmp_path / "here")
    one, other = (read_shard(shard_path(place, "a")) for place in (out, tmp_path / "here"))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-5)


def test_one_run_at_a_time_writes_to_a_folder(videos, network, tmp_path):
    """Two would do the same work, and each remove what the other is writing."""
    out, sources, refused = tmp_path / "out", recordings_in(videos)[1:2], []

    def again(done, total):
        with pytest.raises(EmbedError, match=r"another run writes to .*\nWait until it has ended, or choose another folder"):
            embed(sources, network, out)
        refused.append(done)

    assert embed(sources, network, out, on_shard=again).written == ["b"]
    assert refused == [0, 1]
    assert embed(sources, network, out).kept == ["b"]


def test_more_threads_than_cores_are_not_begun(videos, network, tmp_path):
    used = []
    embed(
        recordings_in(videos)[1:2],
        network,
        tmp_path,
        threads=5000,
        on_shard=lambda done, _: used.append(torch.get_num_threads()),
    )
    assert used == [1, os.cpu_count()]
    assert torch.get_num_threads() == 1


def test_the_cursor_of_a_recording_is_in_its_latents(network, tmp_path):
    for name, is_open in (("closed", False), ("open", True)):
        path = write_video(tmp_path / "videos" / f"{name}.mp4", 4)
        mouse = {"x": 640, "y": 360, "dx": 0, "dy": 0, "dwheel": 0, "buttons": [], "newButtons": []}
        line = {"mouse": mouse, "keyboard": {"keys": [], "newKeys": [], "chars": ""}, "isGuiOpen": is_open, "hotbar": 0}
        path.with_suffix(".jsonl").write_text((json.dumps(line) + "\n") * 4)
    result = embed(recordings_in(tmp_path / "videos"), network, tmp_path / "out")
    assert result.failed == {}
    closed, opened = (read_shard(shard_path(tmp_path / "out", name)) for name in ("closed", "open"))
    np.testing.assert_allclose(closed, one_at_a_time(tmp_path / "videos" / "closed.mp4"), rtol=0, atol=5e-4)
    assert np.abs(opened - closed).max() > 0.01


def test_episodes_are_embedded_with_the_picture_after_their_last_action(network, tmp_path, capsys):
    archive = interplay.record.open(tmp_path / "data")
    for seed, steps in ((1, 5), (2, 9)):
        rollout(archive, find("atari/breakout"), NoopAgent(), seed, rng=np.random.default_rng(0), max_steps=steps)
    archive.close()
    arguments = ["demos", "embed", "--vpt", network, "--out", tmp_path / "out", "--data", tmp_path / "data"]
    assert run(*arguments, "--where", "num_steps > 5", "--json") == 0
    (name,) = json.loads(capsys.readouterr().out)["written"]
    assert read_shard(shard_path(tmp_path / "out", name)).shape == (10, 16)
    assert run(*arguments, "--task", "atari/qbert") == 1
    assert "no episode meets these conditions" in capsys.readouterr().err


def test_a_full_disk_stops_the_run_and_leaves_nothing_half_written(videos, network, tmp_path):
    out = tmp_path / "out"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(EmbedError, match=r"a\.safetensors: the disk is full\nFinished shards are kept\. Make room"):
            embed(recordings_in(videos)[::-1], network, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names_in(out) == ["b.safetensors", "c.safetensors", "embedding.json"]
    assert embed(recordings_in(videos), network, out).written == ["a"]


def test_what_is_asked_for_and_cannot_be_says_what_to_do(videos, network, tmp_path, monkeypatch):
    out, sources = tmp_path / "out", recordings_in(videos)
    embed(sources[1:2], network, out)
    other = tmp_path / "other"
    save(other, tiny_network(seed=1), made_from=[])
    with pytest.raises(EmbedError, match=r"has embeddings of another network than 'other'\nChoose another folder"):
        embed(sources, other, out)
    with pytest.raises(EmbedError, match="is not a folder"):
        recordings_in(tmp_path / "nowhere")
    with pytest.raises(EmbedError, match=r"has no videos \(\.mp4\)"):
        recordings_in(other)
    with pytest.raises(NotFoundError, match="unknown device 'gpu'; did you mean 'cpu'"):
        embed(sources, network, out, device="gpu")
    with pytest.raises(EmbedError, match=r"is not a shard of embeddings: .*\nEmbed its recording again"):
        read_shard(videos / "a.mp4")
    (out / "embedding.json").write_text("{")
    with pytest.raises(EmbedError, match=r"embedding\.json is damaged"):
        embed(sources, network, out)
    text = str(module._too_large(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nmore"), 64))
    assert "too little memory for 64 pictures at once: CUDA out of memory. Tried to allocate 2 GiB\n" in text
    assert "with --chunk 32" in text


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        (["videos", "--out", "out"], 2, "say which network: --vpt NAME"),
        (["videos", "--vpt", "tiny"], 2, "say where the embeddings go: --out DIR"),
        (["videos", "--vpt", "tiny", "--out", "out", "--task", "atari/qbert"], 2, "leave out the folder, or both of them"),
        (
            ["videos", "--vpt", "tiny", "--out", "out", "--threads", "2", "--processes", "2"],
            2,
            "leave out --threads, or --proc",
        ),
        (["videos", "--vpt", "tyni", "--out", "out"], 2, "unknown VPT network 'tyni'; did you mean 'tiny'?"),
    ],
)
def test_misuse_says_what_is_missing(words, status, expected, network, capsys):
    assert run("demos", "embed", *words, "--data", network.parent.parent) == status
    assert expected in " ".join(capsys.readouterr().err.split())
