"""The first rollouts of tasks whose pictures take long to draw, made beside a server that runs already.

    python -m interplay.agents.first TASK ...      (started by `interplay serve`)

Where the archive is comes as a line of JSON on standard input, not on the command line, which others can read: the database's
address may hold a password. The process ends when its input does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

import interplay.record
from interplay.agents.evaluate import first_rollouts
from interplay.parallel import stay_in_the_background
from interplay.tasks import find

NUM_SEEDS = 1
MAX_SECONDS = 60.0


def main(*task_ids: str) -> None:
    """Play one seed of each task with each built-in agent, in the background."""
    place = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    stay_in_the_background()
    archive = interplay.record.open(Path(place["data"]), database=place["database"])
    for task_id in task_ids:  # one by one, so that the first are there soon
        first_rollouts(archive, [find(task_id)], num_seeds=NUM_SEEDS, max_seconds=MAX_SECONDS)
    archive.close()


def _end_with_the_server() -> None:
    """Wait for the end of standard input, which the server holds open."""
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
