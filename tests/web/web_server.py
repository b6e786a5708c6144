"""A real `interplay serve`, for the tests that drive pages."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warm_process import WarmProcess

TRIAL_WORLDS = Path(__file__).parent.parent / "play"
"""Where the small worlds of the live play tests are."""


@contextmanager
def serving(data: Path, folder: Path, suites: dict[str, str], *options: str) -> Iterator[str]:
    """A real `interplay serve` on a data folder, with more suites on offer; the address it serves at.

    Args:
        folder: Where its log and the suites' files go.
        suites: Name of a file -> the text of a suite.
        options: More of the command line.
    """
    command = ["-m", "interplay.cli", "serve", "--port", "0", "--workers", "1", "--empty"]
    for name, text in suites.items():
        (folder / f"{name}.toml").write_text(text)
        command += ["--suite", str(folder / f"{name}.toml")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TRIAL_WORLDS), *sys.path])}
    # Games on seeds that nobody is asked about, unless a test wants the others.
    command += ["--data", str(data), "--held-out-share", "0", *options]
    process = WarmProcess(command, stderr=folder / "log.txt", env=environment)
    try:
        line = process.stdout.readline()
        address = re.search(r"http://\S+", line)
        assert address, f"the server did not start: {line}{(folder / 'log.txt').read_text()}"
        yield address.group()
    finally:
        process.terminate()
        process.wait(120)
        process.stdout.close()
