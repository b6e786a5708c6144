"""The rollouts made beside a running server: they end with it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import interplay.record
from interplay.agents import first
from interplay.agents.evaluate import has_agents
from interplay.tasks import find

pytest.importorskip("ale_py")


def place(archive: interplay.record.Archive) -> str:
    return json.dumps({"data": str(archive.root), "database": archive.database.address}) + "\n"


def test_it_ends_when_the_server_that_holds_its_input_is_gone(tmp_path: Path) -> None:
    archive = interplay.record.open(tmp_path)
    command = [sys.executable, "-m", "interplay.agents.first", "basalt/find_cave"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as players:
        assert players.stdin is not None
        players.stdin.write(place(archive))
        players.stdin.close()
        assert players.wait(30) == 0
    assert archive.episodes() == []


def test_each_task_gets_a_rollout_of_each_built_in_agent_that_can_be_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first, "MAX_SECONDS", 1.0)
    monkeypatch.setattr(first, "stay_in_the_background", lambda: None)
    monkeypatch.setattr(first, "_end_with_the_server", lambda: None)
    archive = interplay.record.open(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO(place(archive)))
    first.main("atari/breakout")
    assert sorted(episode.actor for episode in archive.episodes()) == ["random", "scripted"]
    assert has_agents(archive, find("atari/breakout"))
