"""A study of play with people in it: they come, are credited with games, and end their visits, through the real services."""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np

from interplay import testing
from interplay.store import Enrolment, EpisodeRow, EpisodeSeat, SeatStatistic, sessions
from interplay.store.study import visits as store
from interplay.study import Arrival
from interplay.study.definition import Study, parse_study
from interplay.study.play.visits import Visits
from interplay.study.studies import Studies
from interplay.tasks import find

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TASK = "atari/space_invaders"
STUDY = """
[study]
id = "orders"
kind = "play"
title = "Shoot in order"
summary = "Play Space Invaders from the inside out."
minutes = 10
contact = "Ada"
instructions = "Shoot the inner columns first."

[pay]
reward = 0.75

[[requirements]]
statistic = "time"
required = 300

[bonus]
max = 1.50
correct = "inside_out.good"
out_of = "inside_out.all"

[[variants]]
task = "atari/space_invaders"
name = "inside_out"
title = "From the inside out"

[channels.prolific]
codes = { done = "DONE1" }
"""


def measured(session, episode: str, actor: str, statistics: Mapping[str, float]) -> None:
    """Keep statistics of somebody in a game: numbers by name, and counts as `name.count`."""
    counts: dict[str, dict[str, float]] = {}
    for name, value in statistics.items():
        of, _, count = name.partition(".")
        counts.setdefault(of, {})[count] = value
    for name, values in counts.items():
        measure = {"kind": "float", "number": values.pop("", None), "counts": values}
        session.add(SeatStatistic(episode_id=episode, seat="player", actor=actor, name=name, **measure))


def agent_seat(agent: str, seconds: float) -> EpisodeSeat:
    """The other seat of a game, in which an agent has played."""
    return EpisodeSeat(seat="other", actor=agent, actor_kind="agent", num_steps=round(seconds * 60), total_reward=5.0)


class PlayWorld:
    """One opened study of play over a real database; `now` is its clock.

    Args:
        archive: Where it is.
        text: The study's file.
    """

    def __init__(self, archive, text: str = STUDY, *, seed: int = 0) -> None:
        self.database = archive.database
        self.now = START
        self.study: Study = parse_study(text)
        self.studies = Studies(archive.database, lambda: self.now)
        self.visits = Visits(archive.database, self.studies, lambda: self.now, np.random.default_rng(seed))
        self.studies.open(self.study)

    def come(self, worker: str, assignment: str = "", *, channel: str = "prolific", hit: str = "S1", **more: str) -> Enrolment:
        """Somebody agrees to take part."""
        arrival = Arrival(channel, worker=worker, assignment=assignment or f"{worker}-1", hit=hit)
        admission = self.studies.enrol(self.study, arrival, more=more)
        assert admission.kind == "new", admission
        return self.again(admission.enrolment)

    def again(self, enrolment: str | Enrolment) -> Enrolment:
        """The enrolment as it is now."""
        found = self.studies.enrolment(enrolment if isinstance(enrolment, str) else enrolment.id)
        assert found is not None
        return found

    def play(
        self,
        enrolment: Enrolment,
        statistics: Mapping[str, float],
        *,
        seconds: float = 60.0,
        score: float = 0.0,
        state: str = "ended",
        is_sealed: bool = True,
        others: tuple[EpisodeSeat, ...] = (),
        partner: str = "",
    ) -> str:
        """Somebody plays a game of their variant; its episode."""
        task, session, episode = find(TASK), secrets.token_hex(6), secrets.token_hex(8)
        self.now += timedelta(seconds=seconds)
        person = enrolment.participant_id
        with self.database.write() as database:
            sessions.open_session(
                database, id=session, task=task.id, task_hash=task.content_hash, seed=1, actor=f"participant-{person}",
                actor_kind="human", participant_id=person, seat="player", now=self.now,
            )  # fmt: skip
            database.flush()
            store.bind(database, session, enrolment.id)
            sessions.set_session_state(database, session, "playing", episode_id=episode, now=self.now)
            if state != "playing":
                sessions.set_session_state(database, session, state, episode_id=episode, now=self.now)
            if is_sealed:
                testing.add_task(database, task)
                mine = EpisodeSeat(
                    seat="player", actor=f"participant-{person}", actor_kind="human", num_steps=round(seconds * 60),
                    total_reward=score, participant_id=person,
                )  # fmt: skip
                values = testing.episode_values(task, f"participant-{person}", 1, id=episode, actor_kind="human")
                database.add(
                    EpisodeRow(
                        **values,
                        participant_id=person,
                        seats=[mine, *others, *([agent_seat(partner, seconds)] if partner else [])],
                    )
                )
                database.flush()
                measured(database, episode, mine.actor, statistics)
        return episode

    def wait(self, enrolment: Enrolment, seconds: float) -> None:
        """Somebody waits for a partner, nobody comes, and they leave their seat."""
        task, session = find(TASK), secrets.token_hex(6)
        self.now += timedelta(seconds=seconds)
        with self.database.write() as database:
            sessions.open_session(
                database, id=session, task=task.id, task_hash=task.content_hash, seed=1, actor="", actor_kind="human",
                participant_id=enrolment.participant_id, seat="player", now=self.now,
            )  # fmt: skip
            database.flush()
            store.bind(database, session, enrolment.id)
            sessions.note_waited(database, session, seconds, "nobody")
            sessions.set_session_state(database, session, "ended", is_known=True, now=self.now)

    def finish(self, enrolment: Enrolment) -> Enrolment:
        """They press Finish."""
        return self.studies.finish(enrolment, "done")
