"""The log as JSON: one object for each record, with what is known about it and without secrets."""

import asyncio
import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from play_server import RunningServer, running_server

from interplay import logs
from interplay.play.client import PlayClientError

SPOKEN = ("Made a new data folder", "Stopping: ")
"""How lines begin that are for the person at the terminal, and no records."""


def records(text: str) -> list[dict[str, Any]]:
    """The records of a log. Every other line is for the person at the terminal."""
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith(("{", *SPOKEN))] == []
    return [json.loads(line) for line in lines if line.startswith("{")]


def log_of(code: str) -> list[dict[str, Any]]:
    """The records that a program writes whose log is JSON."""
    code = f"import logging, asyncio\nfrom interplay import logs\nlogs.configure('', level=logging.INFO, process='it')\n{code}"
    environment = os.environ | {logs.FORMAT_VARIABLE: "json", logs.NODE_VARIABLE: "lab"}
    return records(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stderr)


@pytest.mark.processes
def test_every_record_of_every_process_is_one_json_line(tmp_path: Path) -> None:
    async def scenario(server: RunningServer) -> list[str]:
        client = await server.open("trial/raises")
        await client.start()
        with pytest.raises(PlayClientError, match="RuntimeError"):
            async for _ in client.frames():
                pass
        async with httpx.AsyncClient(base_url=server.address) as http:
            await http.get("/studies/none/next?enrolment=SECRET.abc", headers={"X-Request-Id": "named-by-a-proxy"})
            await http.get("/tasks", headers={"X-Request-Id": "x" * 65})
            await http.get("/tasks", headers={"X-Request-Id": 'a"b'})
        return [client.grant["token"], server.token, "SECRET"]

    options = ("--workers", "1", "--log-format", "json", "--verbose", "--node", "lab-1")
    with running_server(tmp_path / "data", *options) as server:
        secrets = asyncio.run(scenario(server))
    text = (tmp_path / "data" / "server.log").read_text()
    assert [secret for secret in secrets if secret in text] == []
    found = records(text)
    for record in found:
        assert {"time", "level", "logger", "message", "process", "pid", "node"} <= record.keys(), record
        assert datetime.fromisoformat(record["time"]).utcoffset() is not None
        assert record["node"] == "lab-1"

    (failed,) = (record for record in found if record["level"] == "error")
    assert (failed["process"], failed["logger"], failed["game"]) == ("worker", "interplay.play.workers.worker", 1)
    (error,) = failed["exception"]
    assert (error["exc_type"], error["exc_value"]) == ("RuntimeError", "the volcano erupted")
    assert error["frames"][-1]["name"] == "step"
    assert not any("locals" in frame for frame in error["frames"])

    asked = [record for record in found if record["logger"] == "uvicorn.access"]
    assert asked[-3]["request"] == "named-by-a-proxy"
    assert "enrolment=..." in asked[-3]["message"]
    made = [record["request"] for record in asked[-2:]]
    assert len(set(made)) == 2
    assert all(len(name) == 16 for name in made)


def test_a_record_shows_what_its_task_knows_and_no_other():
    found = log_of(
        "async def play(game):\n"
        "    logs.bind(game=game, session=f's{game}')\n"
        "    await asyncio.sleep(0)\n"
        "    await asyncio.to_thread(logging.info, 'played')\n"
        "async def both():\n"
        "    await asyncio.gather(play(1), play(2))\n"
        "    logging.info('over', extra={'game': 3, 'token': 'SECRET'})\n"
        "asyncio.run(both())\n"
    )
    known = [(one["message"], one.get("game"), one.get("session"), one["node"], one["process"]) for one in found]
    assert sorted(known) == [("over", 3, None, "lab", "it"), ("played", 1, "s1", "lab", "it"), ("played", 2, "s2", "lab", "it")]
    assert "token" not in found[-1]


def test_a_warning_of_python_and_a_message_of_several_lines_are_one_line_each():
    found = log_of("import warnings\nwarnings.warn('old')\nlogging.error('first\\nsecond %s', '\\u2028')\n")
    assert [(one["logger"], one["level"]) for one in found] == [("py.warnings", "warning"), ("root", "error")]
    assert found[1]["message"] == "first\nsecond \u2028"


def test_text_needs_no_further_package_and_is_as_python_logs():
    code = "import logging, sys\nfrom interplay import logs\n"
    code += "logs.configure('%(levelname)s: %(message)s', level=logging.INFO, process='it')\n"
    code += "logs.bind(game=1)\nlogging.info('played')\nassert 'structlog' not in sys.modules"
    environment = {name: value for name, value in os.environ.items() if name != logs.FORMAT_VARIABLE}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == "INFO: played\n"
