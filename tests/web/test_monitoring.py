"""What an operator sees of a running server: metrics, and whether it may take new games."""

import asyncio
import os
import random
import re
import signal
import socket
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient
from play_server import RunningServer, running_server
from play_watcher import Watcher
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import create_engine

import interplay.record
from interplay.cli import main
from interplay.play.limits import MAX_SEATS
from interplay.play.server import PlayServer
from interplay.store import Database
from interplay.web.app import create_app
from interplay.web.monitoring.metrics import MetricsError, serve_metrics
from interplay.web.monitoring.probe import DatabaseProbe
from interplay.web.monitoring.readiness import disk_trouble

ROOT = Path(__file__).parent.parent.parent
Numbers = dict[tuple[str, ...], float]


def read(server: RunningServer) -> tuple[str, Numbers]:
    """The text of the metrics, and (name, values of its labels) -> number."""
    port = re.search(r"Metrics are at port (\d+)", (server.data / "server.log").read_text())
    assert port is not None
    text = httpx.get(f"http://127.0.0.1:{port[1]}/metrics", timeout=60).text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return text, {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def by_worker(numbers: Numbers, name: str) -> dict[str, float]:
    return {labels[0]: value for (found, *labels), value in numbers.items() if found == name}


@pytest.mark.processes
def test_metrics_count_what_players_get_and_survive_the_death_of_a_worker(tmp_path: Path) -> None:
    async def until(server: RunningServer, name: tuple[str, ...], least: float) -> Numbers:
        async with asyncio.timeout(60):
            while (numbers := read(server)[1])[name] < least:
                await asyncio.sleep(0.1)
        return numbers

    async def scenario(server: RunningServer) -> None:
        _, numbers = read(server)
        assert numbers["interplay_players", "playing"] == numbers["interplay_seats",] == 0
        watchers = [Watcher(await server.open("atari/breakout", seed=seed), random.Random(seed)) for seed in range(3)]
        for watcher in watchers[:2]:
            await watcher.client.start()
        await asyncio.gather(*(watcher.play(120) for watcher in watchers[:2]))
        numbers = await until(server, ("interplay_steps_total", "0"), 60)
        assert (numbers["interplay_players", "playing"], numbers["interplay_players", "waiting"]) == (2, 1)
        assert (numbers["interplay_games", "playing"], numbers["interplay_seats",]) == (2, 3)
        assert numbers["interplay_seats_limit",] == MAX_SEATS
        assert sum(by_worker(numbers, "interplay_frames_total").values()) >= 240
        steps = by_worker(numbers, "interplay_steps_total")
        assert steps.keys() == {"0", "1"}
        assert by_worker(numbers, "interplay_step_lateness_seconds_count") == steps
        assert numbers["interplay_database_up",] == 1
        assert numbers["interplay_answers_total",] == 0
        kinds = {labels[1] for labels in numbers if labels[0] == "interplay_work_waiting"}
        assert kinds == {"films", "milestones", "proofs", "seals", "recoveries"}

        victim = (await server.statistics())["workers"][0]["pid"]
        errors = numbers["interplay_log_records_total", "ERROR"]
        os.kill(victim, signal.SIGKILL)
        numbers = await until(server, ("interplay_worker_deaths_total",), 1)
        after = by_worker(numbers, "interplay_steps_total")
        assert all(after[worker] >= steps[worker] for worker in steps), "numbers of dead workers are kept"
        assert numbers["interplay_log_records_total", "ERROR"] > errors
        for watcher in watchers[:2]:
            await watcher.client.quit()
            await watcher.play()
        numbers = await until(server, ("interplay_players", "ended"), 2)
        assert (numbers["interplay_players", "playing"], numbers["interplay_seats",]) == (0, 1)
        text, numbers = read(server)
        page = (ROOT / "docs" / "serving.md").read_text()
        named = {re.sub(r"_(bucket|count|sum)$", "", name) for name, *_ in numbers if not name.startswith("process_")}
        assert [name for name in named if f"`{name}`" not in page] == []
        grants = [watcher.client.grant for watcher in watchers]
        secrets = [grant[name] for grant in grants for name in ("session", "token")]
        assert not [secret for secret in [*secrets, server.token, "tester", "127.0.0.1"] if secret in text]
        async with httpx.AsyncClient(base_url=server.address) as http:
            assert (await http.get("/metrics")).status_code == 404, "they have a port of their own"
            assert (await http.get("/readyz")).json() == {"status": "ready"}
        await watchers[2].client.close()

    with running_server(tmp_path / "data", "--workers", "2", "--metrics", "0") as server:
        asyncio.run(scenario(server))


def test_a_port_that_is_in_use_is_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            MetricsError, match=f"cannot serve metrics at 127.0.0.1:{port}: Address already in use\n.*--metrics"
        ):
            serve_metrics("127.0.0.1", port)


@pytest.mark.parametrize("place", ["", "port", "127.0.0.1", "host:", "70000", "-1", "²"])
def test_a_wrong_place_for_metrics_is_refused_in_words(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", f"--metrics={place}"])
    assert ended.value.code == 2
    assert "takes PORT or HOST:PORT" in capsys.readouterr().err


def test_a_server_whose_seats_are_taken_is_not_ready_and_says_so(tmp_path: Path) -> None:
    archive = interplay.record.open(tmp_path)
    play = PlayServer(archive, secret=b"secret", num_workers=1)
    client = TestClient(create_app(archive, play=play))
    assert client.get("/readyz").json() == {"status": "ready"}
    for _ in range(MAX_SEATS):
        play.create_session("atari/breakout", seed=1)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "not ready", "troubles": ["all 1000 seats are taken"]})
    assert client.get("/healthz").status_code == 200, "it is alive: restarting it would not help"
    archive.close()


def test_a_server_without_games_is_not_ready(tmp_path: Path) -> None:
    archive = interplay.record.open(tmp_path)
    answer = TestClient(create_app(archive)).get("/readyz")
    assert (answer.status_code, answer.json()["troubles"]) == (503, ["this server offers no games"])
    archive.close()


def test_a_full_disk_is_a_trouble(tmp_path: Path) -> None:
    assert disk_trouble(tmp_path, min_free_bytes=0) is None
    assert str(disk_trouble(tmp_path, min_free_bytes=1 << 62)).startswith("the disk of the data folder has only")


def test_a_database_that_hangs_is_asked_once_and_not_waited_for() -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            silent.settimeout(60)
            address = f"postgresql+psycopg://nobody@127.0.0.1:{silent.getsockname()[1]}/none"
            probe = DatabaseProbe(Database(create_engine(address)))
            asked = asyncio.create_task(probe.answers(within_s=60))
            connection, _ = await asyncio.to_thread(silent.accept)
            assert [await probe.answers(within_s=0.01) for _ in range(3)] == [False] * 3
            silent.setblocking(False)
            with pytest.raises(BlockingIOError):
                silent.accept()
            connection.close()
            assert not await asked

    asyncio.run(scenario())


def test_a_database_that_answers_is_ready(tmp_path: Path) -> None:
    archive = interplay.record.open(tmp_path)
    assert asyncio.run(DatabaseProbe(archive.database).answers(within_s=60))
    archive.close()
