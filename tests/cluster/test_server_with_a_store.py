"""A server with `--blobs`: its workers, sealer and filmer put everything into the store (moto), and no process shows a key."""

import asyncio
import os
import random
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest
from play_server import RunningServer, running_server
from play_watcher import Watcher

import interplay.record
from interplay.store.places.blobs import open_blobs

pytestmark = pytest.mark.processes


def test_what_people_play_is_in_the_store_and_on_another_machine(bucket, tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> tuple[str, list[str]]:
        watcher = Watcher(await server.open("atari/breakout", seed=1), random.Random(1))
        await watcher.client.start()
        await watcher.play(60)
        await watcher.client.quit()
        await watcher.play()
        episode = watcher.client.ended["episode"]
        headers = {"Authorization": f"Bearer {server.token}"}
        async with httpx.AsyncClient(base_url=server.address, headers=headers, timeout=60) as http:
            while (answer := await http.get(f"/api/episodes/{episode}/video.mp4")).status_code == 202:
                await asyncio.sleep(0.1)
            assert answer.status_code == 200
        everybody = psutil.Process(os.getpid()).children(recursive=True)
        return episode, [" ".join(one.cmdline()) for one in everybody]

    with running_server(tmp_path / "a", "--workers", "1", "--blobs", bucket) as server:
        episode, commands = asyncio.run(scenario(server))
    secret = os.environ["AWS_SECRET_ACCESS_KEY"]
    assert not [command for command in commands if secret in command]
    assert secret not in (tmp_path / "a" / "server.log").read_text()
    keys = open_blobs(tmp_path / "nowhere", bucket)
    assert {f"episodes/atari/breakout/{episode}.parquet"} == keys.keys("episodes")
    assert {f"media/{episode}.mp4"} == keys.keys("media")
    database = f"sqlite:///{tmp_path / 'a' / 'interplay.db'}"
    with closing(interplay.record.open(tmp_path / "b", database)) as archive:
        assert interplay.record.verify(archive.get(episode)).equal
        assert archive.has_video(episode)


def test_a_server_does_not_start_without_its_store(bucket, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(AssertionError, match=f"error: the store {bucket} cannot be read: "):  # noqa: SIM117
        with running_server(tmp_path / "a", "--workers", "1", "--blobs", bucket, expect_exit=None):
            pass
