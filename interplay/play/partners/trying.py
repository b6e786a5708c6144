"""A test whether an agent can play a task, before anybody plays with it: the agent is built and begins a game, in a process of
its own, because its imports may be large, or may fail. `main` runs in that process."""

from __future__ import annotations

import json
import logging
import socket
from pathlib import Path

import numpy as np

import interplay.record
from interplay.agents import AgentError, SeatedAgent, find
from interplay.errors import InterplayError
from interplay.play.partners.driving import reason_of
from interplay.play.workers import processes, starting
from interplay.record import Archive
from interplay.tasks import Task

TRYING_MODULE = "interplay.play.partners.trying"
BEGINS_WITHIN_S = 120.0


def require_player(agent: str, task: Task, archive: Archive, *, beside: bool) -> None:
    """Raise `AgentError` for an agent that cannot begin a game of a task. `beside`: try it in a process of its own."""
    reason = _tried_beside(agent, task, archive) if beside else _tried(agent, task, archive)
    if reason:
        raise AgentError(
            f"agent {agent!r} cannot be the partner of {task.id}: {reason}\n"
            f"Name another one, or nobody:  --partner {task.id}=none    All agents:  interplay agents list"
        )


def _tried(agent: str, task: Task, archive: Archive | None) -> str:
    try:
        SeatedAgent(find(agent, archive), task, rng=np.random.default_rng(0))
    except InterplayError as error:
        return str(error).splitlines()[0].removeprefix(f"agent {agent!r}: ")
    except Exception as error:
        return reason_of(error)
    return ""


def _tried_beside(agent: str, task: Task, archive: Archive) -> str:
    process, ours = starting.start(TRYING_MODULE)
    with ours:
        try:
            ours.settimeout(BEGINS_WITHIN_S)
            asked = {
                "agent": agent,
                "task": task.to_json(),
                "data": str(archive.root.resolve()),
                "database": archive.database.address,
            }
            ours.sendall(json.dumps(asked).encode() + b"\n")
            with ours.makefile("rb") as answers:
                answer = answers.readline()
        except TimeoutError:
            return f"it has not begun a game within {BEGINS_WITHIN_S:g} s"
        finally:
            process.kill()
    return json.loads(answer)["reason"] if answer else "its process died"


def main(descriptor: int) -> None:
    processes.shield_from_the_terminal()
    logging.basicConfig(format="%(asctime)s trying %(process)d: %(message)s", level=logging.WARNING)
    with socket.socket(fileno=descriptor) as channel:
        channel.setblocking(True)
        with channel.makefile("rb") as questions:
            asked = json.loads(questions.readline())
        archive = interplay.record.open(Path(asked["data"]), database=asked["database"])
        reason = _tried(asked["agent"], Task.from_json(asked["task"]), archive)
        channel.sendall(json.dumps({"reason": reason}).encode() + b"\n")
