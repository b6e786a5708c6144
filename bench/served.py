"""The server that a bench measures: its own process on a fresh data folder, ended with the bench."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def served(data: Path, *options: str, program: Sequence[str] = ("interplay.cli", "serve")) -> Iterator[str]:
    """The address of a server without the demonstration.

    Args:
        data: Its data folder.
        options: More of the command line.
        program: The module that serves, and what comes first on its command line.
    Raises:
        RuntimeError: If it does not start; it has written why.
    """
    command = [sys.executable, "-m", *program, "--port", "0", "--data", str(data), "--empty", *options]
    environment = os.environ | {"INTERPLAY_DATABASE": ""}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            address = next((word for word in server.stdout.readline().split() if word.startswith("http")), None)
            if address is None:
                raise RuntimeError("the server did not start")
            yield address
        finally:
            server.send_signal(signal.SIGINT)  # which ends games and seals them
            server.wait(60)
