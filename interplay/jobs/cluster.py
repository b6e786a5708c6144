"""Jobs as tasks of a Ray cluster. Ray chooses the nodes, and repeats the jobs of nodes that are gone.

Ray pickles what it sends, so everybody who reaches a cluster can run code in it. Only a cluster that demands a token is used,
and only texts and bytes are sent: the name of an importable function, and packed arguments (`design/jobs.md`).
"""

from __future__ import annotations

import logging
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from typing import Any

from interplay.errors import not_installed
from interplay.jobs.errors import JobsError
from interplay.jobs.place import DATA_VARIABLE, DATABASE_VARIABLE, Place
from interplay.jobs.wire import Outcome, failure, perform

log = logging.getLogger("interplay.jobs")

MODE_VARIABLE = "RAY_AUTH_MODE"
RETRIES = 10
"""Number of times that a job is repeated when its node or process is gone; a job that always ends its process fails then."""
_CONNECT_S = 5.0
_PROBE_S = 30.0
_PROBE = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
"""Program that succeeds if a cluster lets it in."""
_TOKEN = f"""\
Start the cluster with {MODE_VARIABLE}=token in the environment of every node and of this command, and the same token for all:
  ray get-auth-token --generate"""
_ON_A_NODE = """\
Run this command on a node of the cluster, with the same Python and the same version of Ray as on every node.
To make this machine a node that does no jobs:  ray start --address HEAD:6379 --num-cpus 0"""
_PASSWORD = re.compile(r"postgres[\w+]*://([^:/@]*:[^@]+@|\S*[?&]\w*password=)")
_joined = ""
"""Address of the cluster to which this process is connected."""


def run(
    address: str,
    name: str,
    jobs: Mapping[str, list[bytes]],
    digest: str,
    gpus: int,
    tick_s: float,
    tick: Callable[[], None],
) -> Generator[tuple[str, Outcome | None]]:
    """Yield (key, outcome) of each job as it ends; None for a job that was lost `RETRIES` times.

    Closing the generator, or Ctrl-C, ends all jobs at once.

    Args:
        digest: That of the `Place` in which the jobs work; empty if they need none.
        gpus: Number of GPUs of each job.
    """
    ray = connected(address)
    _check_room(ray, address, 1, gpus)
    task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=RETRIES, scheduling_strategy="SPREAD")(work)
    waiting = {task.remote(name, packed, digest): key for key, packed in jobs.items()}
    try:
        while waiting:
            ended, _ = ray.wait(list(waiting), timeout=tick_s)
            for reference in ended:
                yield waiting.pop(reference), _outcome(ray, reference)
            tick()
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)


def workers(address: str, number: int) -> list[ClusterWorker]:
    ray = connected(address)
    _check_room(ray, address, number, 0)
    return [ClusterWorker(ray) for _ in range(number)]


class ClusterWorker:
    """An actor: one process in the cluster that keeps its state between calls."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._actor = ray.remote(num_cpus=1, scheduling_strategy="SPREAD")(Actor).remote()

    def ask(self, name: str, arguments: list[bytes]) -> Callable[[], Outcome | None]:
        reference = self._actor.work.remote(name, arguments)
        return lambda: _outcome(self._ray, reference)

    def stop(self) -> None:
        self._ray.kill(self._actor)


class Actor:
    """The process of a `ClusterWorker`."""

    def work(self, name: str, arguments: list[bytes]) -> tuple[bool, bytes]:
        return work(name, arguments, "")


def work(name: str, arguments: list[bytes], digest: str) -> tuple[bool, bytes]:
    """Do a job in a process of the cluster."""
    try:
        if digest and Place.of_environment().digest() != digest:
            raise JobsError(
                f"node {socket.gethostname()} has another {DATA_VARIABLE} or {DATABASE_VARIABLE} than this command\n"
                f"Start Ray on every node with {DATA_VARIABLE} and {DATABASE_VARIABLE} of the same archive."
            )
    except JobsError as error:
        return tuple(failure(error))
    return tuple(perform(name, arguments))


def connected(address: str) -> Any:
    """Connect this process to a cluster unless it is connected; return the package `ray`.

    Raises:
        JobsError: If Ray is not installed, or there is no cluster at this address that demands a token and accepts ours.
            Also if this process is connected to another cluster, or has a password among its arguments.
    """
    global _joined
    if any(map(_PASSWORD.search, sys.argv)):
        raise JobsError(
            "the arguments of this command hold the password of a database, and Ray shows them to everybody in the cluster\n"
            f"Give the address in the variable {DATABASE_VARIABLE} instead of --database."
        )
    try:
        import ray
    except ModuleNotFoundError as error:
        raise JobsError(not_installed("a Ray cluster needs", error.name, "ray")) from None
    if ray.is_initialized():
        if address == _joined:
            return ray
        raise JobsError(f"this process is already connected to another Ray cluster than {address}\nCall ray.shutdown() first.")
    if os.environ.get(MODE_VARIABLE) != "token":
        raise JobsError(f"{MODE_VARIABLE} is not `token`, so this command does not use the cluster at {address}\n{_TOKEN}")
    _check_answers(address)
    # Ray tells of nodes that are gone on the standard output, where results of commands go. It has no option for this.
    vars(ray._private.worker)["print_to_stdstream"] = lambda data, ignore_prefix: log.info("%s", "\n".join(data["lines"]))
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, RuntimeError, ray.exceptions.RayError) as error:
        remedy = _ON_A_NODE if isinstance(error, RuntimeError) else _TOKEN
        reason = " ".join(str(error).split())[:300]
        raise JobsError(f"the Ray cluster at {address} does not accept this command: {reason}\n{remedy}") from None
    try:
        check_token(address, ray.get_runtime_context().gcs_address)
    except JobsError:
        ray.shutdown()
        raise
    _joined = address
    return ray


def check_token(address: str, gcs: str) -> None:
    """Refuse a cluster unless it turns away a client without a token.

    Args:
        gcs: Where the cluster's control service answers, `HOST:PORT`.
    """
    environment = os.environ | {MODE_VARIABLE: "disabled"}
    command = [sys.executable, "-c", _PROBE, gcs]
    try:
        probe = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_PROBE_S, check=False)
    except subprocess.TimeoutExpired:
        raise JobsError(f"{_unchecked(address)}: no answer in {_PROBE_S:g} s\n{_TOKEN}") from None
    if probe.returncode == 0:
        raise JobsError(f"the Ray cluster at {address} lets in everybody: it demands no token\n{_TOKEN}")
    if "AuthenticationError" not in probe.stderr:
        reason = (probe.stderr.strip().splitlines() or [f"exit status {probe.returncode}"])[-1][:300]
        raise JobsError(f"{_unchecked(address)}: {reason}\n{_TOKEN}")


def _unchecked(address: str) -> str:
    return f"whether the Ray cluster at {address} demands a token cannot be checked"


def _check_room(ray: Any, address: str, cpus: int, gpus: int) -> None:
    """Refuse a cluster that can never do the jobs; Ray would wait without an end."""
    there = ray.cluster_resources()
    for kind, needed in (("CPU", cpus), ("GPU", gpus)):
        if there.get(kind, 0) < needed:
            raise JobsError(
                f"the jobs need {needed} {kind}, but the Ray cluster at {address} has {there.get(kind, 0):g}\n"
                "Add a node to the cluster, or ask for less. `ray status` tells what the nodes have."
            )


def _check_answers(address: str) -> None:
    """Refuse an address at which nothing answers; Ray would wait for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), _CONNECT_S).close()
    except OSError as error:
        raise JobsError(f"no Ray cluster answers at {address}: {error}\nStart one:  ray start --head --port {port}") from None


def _outcome(ray: Any, reference: Any) -> Outcome | None:
    try:
        return Outcome(*ray.get(reference))
    except ray.exceptions.RayTaskError as error:
        raise JobsError(
            f"a node of the cluster cannot do jobs: {str(error).strip().splitlines()[-1][:300]}\n"
            "Install the same version of Interplay on every node, in the Python in which Ray runs."
        ) from None
    except ray.exceptions.RayError:
        return None
