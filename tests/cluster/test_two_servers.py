"""Two servers on one PostgreSQL database: neither touches the games of the other, or the second is refused in words."""

import asyncio
import random
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from play_server import RunningServer, environment, running_server, serve_command
from play_watcher import Watcher

from interplay.store import Database, PlaySession

pytestmark = pytest.mark.processes


def states(url: str) -> dict[str, tuple[str, str | None]]:
    """Session -> its state, and the server that holds it."""
    database = Database.open(url)
    with database.read() as session:
        found = {row.id: (row.state, row.node) for row in session.query(PlaySession)}
    database.close()
    return found


def refused(data: Path, url: str) -> str:
    """The words with which a second server does not start."""
    command = [sys.executable, *serve_command(data, "--port", "0", "--workers", "1")]
    second = subprocess.run(
        command, env=environment() | {"INTERPLAY_DATABASE": url}, capture_output=True, text=True, timeout=120
    )
    assert second.returncode == 1
    return second.stderr


def test_a_second_server_changes_no_session_of_the_first(postgres_url, tmp_path: Path) -> None:
    async def scenario(first: RunningServer) -> None:
        watcher = Watcher(await first.open("atari/breakout", seed=1), random.Random(1))
        await watcher.client.start()
        waiting = await first.open("trial/pong", seed=2)
        untaken = await first.open("atari/qbert", seed=3, connect=False)
        await watcher.play(60)
        before = states(postgres_url)
        with running_server(tmp_path / "b", "--workers", "1", "--database", postgres_url) as second:
            other = Watcher(await second.open("atari/breakout", seed=4), random.Random(4))
            await other.client.start()
            await asyncio.gather(watcher.play(watcher.steps[-1] + 60), other.play(60))
            now = states(postgres_url)
            assert {one: now[one] for one in before} == before
            assert [before[client.grant["session"]][0] for client in (watcher.client, waiting)] == ["playing", "waiting"]
            assert before[untaken.grant["session"]][0] == "waiting"
            assert {before[one][1] for one in before}.isdisjoint(now[one][1] for one in now.keys() - before.keys())
            await other.client.quit()
            await other.play()
            episode = other.client.ended["episode"]
            async with httpx.AsyncClient(base_url=first.address) as http:
                assert episode in (await http.get("/episodes")).text
                for path in ("", "/frames", "/video.mp4"):
                    path = f"/api/episodes/{episode}{path}"
                    answer = await http.get(path)
                    assert (answer.status_code, "is not on this server" in answer.text) == (404, True), path
                page = await http.get(f"/episodes/{episode}")
                assert (page.status_code, "is not on this server" in page.text) == (404, True)
        assert {one: states(postgres_url)[one] for one in before} == before
        await watcher.client.quit()
        await watcher.play()
        while (state := states(postgres_url)[watcher.client.grant["session"]][0]) == "playing":  # written behind the message
            await asyncio.sleep(0.05)
        assert state == "ended"

    with running_server(tmp_path / "a", "--workers", "1", "--database", postgres_url) as first:
        asyncio.run(scenario(first))


def test_a_second_server_on_the_same_folder_or_a_copy_is_refused(postgres_url, tmp_path: Path) -> None:
    with running_server(tmp_path / "a", "--workers", "1", "--database", postgres_url) as first:
        assert "is being served already, by process" in refused(first.data, postgres_url)
        shutil.copytree(first.data, tmp_path / "copy")
        said = refused(tmp_path / "copy", postgres_url)
        assert "another server with the name" in said
        assert "serve an empty folder with --data, or name this server as one of a cluster: --node" in said
        assert "password" not in said
    with running_server(tmp_path / "copy", "--workers", "1", "--database", postgres_url):
        pass  # the name is free again
