"""Agents to judge: catalogue rows and stand-in videos, good forms, a clock that is told, many threads at once."""

import hashlib
import json
import threading
from collections.abc import Iterable
from datetime import datetime, timedelta

import sqlalchemy as sa

from interplay import testing
from interplay.judge import Rules
from interplay.store import Answer
from interplay.store.entrants import admit
from interplay.store.places import media
from interplay.store.study import studies
from interplay.tasks import find
from interplay.testing import START

TASKS = ("atari/breakout", "atari/qbert", "atari/space_invaders", "atari/beam_rider")
REASON = "The left player kept moving towards the ball and caught it again and again, while the other one stood in its corner."
LONG = 30.0
AT_ONCE = Rules(min_viewing_s=0, min_watched_share=0)
"""Rules under which nobody has to watch first."""


class Clock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def episode_id(task: str, agent: str, seed: int, copy: int = 0) -> str:
    return f"{task.rpartition('/')[2]}-{agent}-{seed}-{copy}"


def add_episode(archive, *args, **kwargs):
    """One catalogue row, see `enter_episode`, in a transaction of its own."""
    with archive.database.write() as session:
        return enter_episode(session, archive, *args, **kwargs)


def enter_episode(
    session, archive, task_id: str, agent: str, seed: int, *, copy: int = 0, task_hash: str | None = None, outcome="terminated"
):
    """One catalogue row, and a file where its video would be."""
    task = find(task_id)
    name = episode_id(task_id, agent, seed, copy) + (f"-{task_hash}" if task_hash else "")
    played = {"outcome": outcome, "duration_s": 1.7, "total_reward": 3.0}
    testing.add_episode(session, task, agent, seed, id=name, task_hash=task_hash or task.content_hash, **played)
    archive.video_place(name).write_bytes(b"\0\0\0\x18ftypmp42" + name.encode() * 20)
    media.note_made(session, [name], START)
    return name


def fill(archive, *, tasks: Iterable[str] = TASKS[:1], agents: Iterable[str] = ("ada", "bob", "cyd"), num_seeds: int = 3):
    """Admit agents and give each one episode on the first held-out seeds of every task."""
    with archive.database.write() as session:
        for task_id in tasks:
            for agent in agents:
                for seed in find(task_id).held_out_seeds[:num_seeds]:
                    enter_episode(session, archive, task_id, agent, seed)
                admit(session, name=agent, task=task_id, kind="agent", now=START)
    return archive


def form(task_id: str, outcome: str = "left") -> dict:
    """A whole, good answer."""
    responses = {
        question.id: {"left": True, "right": False} if question.kind == "direct" else "left"
        for question in find(task_id).questions
        if question.kind != "overall"
    }
    return {"outcome": outcome, "responses": responses, "reason": REASON, "viewing": played()}


def played(left: float = 12.5, right: float = 12.5, *, length: float = 20.0) -> dict:
    """The report of a page on which so many seconds of each of two videos were played, from the beginning on."""
    side = lambda watched: {"length_s": length, "watched_s": watched, "stretches": [[0, watched]]}  # noqa: E731
    longer = max(left, right)
    events = [{"t": 1.0, "event": "play", "at": 0, "speed": 1}, {"t": 1.0 + longer, "event": "pause", "at": longer}]
    return {
        "events": events,
        "num_events": len(events),
        "played_s": longer,
        "watched_s": left + right,
        "left": side(left),
        "right": side(right),
    }


def num_answers(archive) -> int:
    """How many answers the log holds, whether they count or not."""
    with archive.database.read() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(Answer))


def in_threads(num: int, work) -> list:
    """Run `work(number)` in `num` threads that begin together; returns the results, raises the first error."""
    results, errors = [None] * num, []
    barrier = threading.Barrier(num)

    def run(number: int) -> None:
        try:
            barrier.wait(LONG)
            results[number] = work(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(num)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def open_study(archive, study_id: str = "lab", *, num_answers: int | None = None, now: datetime = START, **judging) -> str:
    """Open a study whose table [judging] holds these settings, on top of nothing to watch first; returns its id."""
    study = {
        "id": study_id,
        "title": "Who did better?",
        "summary": "Compare.",
        "minutes": 5,
        "instructions": "Watch.\n\nThen say.",
    }
    document = {
        "study": study | ({} if num_answers is None else {"answers": num_answers}),
        "channels": {"open": {}},
        "judging": {"min_viewing_s": 0, "min_watched_share": 0, **judging},
    }
    content_hash = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    with archive.database.write() as session:
        studies.open_study(session, study=study_id, content_hash=content_hash, definition=document, now=now)
    return study_id
