"""Rows of a published evaluation set, as small as they can be and still hold everything."""

from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.synthetic_bedd import synthetic_answers
from interplay.tasks import Task, find

__all__ = ["row", "rows", "synthetic_answers"]

BEGIN = datetime(2022, 11, 21, 9, tzinfo=UTC)
FIND_CAVE = find("basalt/find_cave")


def row(
    number: int = 0,
    *,
    task: Task = FIND_CAVE,
    spelling: str = "FindCave",
    agents: tuple[str, str] = ("GoUp", "Random"),
    winner: str = "p1",
    worker: str = "A1B2C3D4",
    seed: int | None = None,
    seconds: float = 120,
) -> dict[str, Any]:
    """One comparison; a greater `number` came later."""
    time = BEGIN + timedelta(minutes=10 * number)
    start_ms = round(time.timestamp() * 1000)
    seed = task.held_out_seeds[0] if seed is None else seed
    episodes = [{"agent_name": name, "seed": str(seed), "hash": f"video-{name}-{seed}"} for name in agents]
    hashes = [episode["hash"] for episode in episodes]
    ranks = hashes[::-1] if winner == "p2" else hashes
    kinds = {kind: [one for one in task.questions if one.kind == kind] for kind in ("direct", "comparative")}
    metadata = {
        "start_time": start_ms,
        "end_time": start_ms + round(1000 * seconds),
        "VIDEO_EVENTS": [{"type": "play", "source": "a", "time": start_ms + 5, "player_id": "player_1"}],
        "responses": {
            "direct_question": [
                {"question": f"Direct sentence {place}?", "player_1": "true", "player_2": "false"}
                for place, _ in enumerate(kinds["direct"])
            ],
            "comparisons": [
                {"question": f"Comparing sentence {place}?", "answer": ("p1", "p2", "draw", "na")[place % 4]}
                for place, _ in enumerate(kinds["comparative"])
            ],
            "justificationText": f"Reason {number}: the first player walked further and looked into more holes than the other.",
        },
        "win_player": winner,
        "mturk_workerId": worker,
        "mturk_assignmentId": f"assignment-{number}",
    }
    return {
        "worker_id": worker,
        "task": spelling,
        "episodes": episodes,
        "result": {"hash": f"result-{number}", "ranks": ranks, "is_draw": winner == "draw", "eval_metadata": metadata},
        "hash": f"match-{number}",
        "created_at": time.replace(tzinfo=None).isoformat(),
        "updated_at": (time + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat(),
        "expiry_at": None,
        "something_new": {"kept": [1, 2.5, None, True]},
    }


def rows(count: int, **changes: Any) -> list[dict[str, Any]]:
    """So many, newest first."""
    return [deepcopy(row(number, **changes)) for number in reversed(range(count))]
