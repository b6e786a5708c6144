"""The first rollouts of tasks whose pictures take long to draw, made beside a server that runs already.

python -m interplay.agents.first DATA DATABASE TASK ...      (started by `interplay serve`; ends when its input does)
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import interplay.record
from interplay.agents.evaluate import first_rollouts
from interplay.tasks import find

NICENESS = 15
NUM_SEEDS = 1
MAX_SECONDS = 60.0


def main(data: str, database: str, *task_ids: str) -> None:
    """Play one seed of each task with each built-in agent, at low priority."""
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    os.nice(NICENESS)
    archive = interplay.record.open(Path(data), database=database)
    for task_id in task_ids:  # one by one, so that the first are there soon
        first_rollouts(archive, [find(task_id)], num_seeds=NUM_SEEDS, max_seconds=MAX_SECONDS)
    archive.close()


def _end_with_the_server() -> None:
    """Wait for the end of standard input, which the server holds open."""
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
