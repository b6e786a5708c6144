"""A real server in its own process, on its own data folder, with a suite of small tasks."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from trial_suite import suite_text
from warm_process import READY, WarmProcess

from interplay.play.client import PlayClient
from interplay.play.connections.tokens import operator_token

HERE = Path(__file__).parent


@dataclass
class RunningServer:
    """A server process and how to reach it."""

    process: WarmProcess
    address: str
    data: Path
    first_words: str

    @property
    def token(self) -> str:
        return operator_token(self.data)

    async def open(self, task: str, *, connect: bool = True, **wanted: Any) -> PlayClient:
        """A seat of a program, without countdown."""
        wanted = {"actor": "tester", "countdown_s": 0} | wanted
        return await PlayClient.open(self.address, task, operator=self.token, connect=connect, **wanted)

    async def statistics(self) -> dict[str, Any]:
        """The operator's view."""
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.token}"}, timeout=60) as http:
            return (await http.get(f"{self.address}/api/play/statistics")).json()


def serve_command(data: Path, *options: str) -> list[str]:
    return ["-m", "interplay.cli", "serve", "--empty", "--data", str(data), *options]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}


@contextlib.contextmanager
def running_server(
    data: Path,
    *options: str,
    expect_exit: int | None = 0,
    loaded: tuple[str, ...] = READY,
    partners: tuple[str, ...] = ("trial/pong=none",),
) -> Iterator[RunningServer]:
    """Start `interplay serve`; stop it at the end and check how it ended. By default, a game for two ends when one of them
    leaves."""
    data.mkdir(parents=True, exist_ok=True)
    suite = data / "trial.toml"
    suite.write_text(suite_text())
    errors = data / "server.log"
    errors.touch()
    arguments = serve_command(data, "--port", "0", "--suite", str(suite), *options)
    arguments += [word for partner in partners for word in ("--partner", partner)]
    process = WarmProcess(arguments, stderr=errors, env=environment(), cwd=data, loaded=loaded, whole_end=True)
    try:
        words = process.stdout.readline()
        assert "http" in words, errors.read_text()
        address = next(word for word in words.split() if word.startswith("http"))
        yield RunningServer(process, address, data, words)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # which ends games and seals them
        code = process.wait(120)
        process.stdout.close()
        if expect_exit is not None:
            assert code == expect_exit, errors.read_text()
