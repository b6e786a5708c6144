"""A small crowd: studies that are opened, people who come to them, and real games of theirs, recorded step by step."""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from interplay import envs, testing
from interplay.record import Archive, InputTiming, Owner, RecordedEpisode
from interplay.store import EpisodeRow, EpisodeSeat, sessions
from interplay.store.study import visits
from interplay.study import Arrival
from interplay.study.definition import Study, parse_study
from interplay.study.studies import Studies
from interplay.tasks import Task, find

SPACE_INVADERS = "atari/space_invaders"
FRAMES = 420
STUDY = """
[study]
id = "{id}"
kind = "play"
title = "Stay on the right"
summary = "Play Space Invaders on the right side of the screen."
minutes = 10
contact = "Ada"
instructions = "Stay on the right side."

[pay]
reward = 0.75

[[requirements]]
{requirement}

[[variants]]
task = "atari/space_invaders"
name = "right"
title = "On the right"

[channels.open]

[channels.prolific]
codes = {{ done = "DONE1" }}
"""
TIME = 'statistic = "time"\nrequired = 300'
RIGHT = 'statistic = "right_side.there"\nout_of = "right_side.steps"\nrequired = 0.4'


class Crowd:
    """Who comes to the studies of an archive, and plays.

    Args:
        archive: Where it is.
    """

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
        self.studies = Studies(archive.database, lambda: self.now)
        self._env = envs.make(find(SPACE_INVADERS))

    def open(self, id: str, requirement: str) -> Study:
        """A study that is open."""
        study = parse_study(STUDY.format(id=id, requirement=requirement))
        self.studies.open(study)
        return study

    def play(self, study: Study, worker: str, style: str, *, seed: int, channel: str = "prolific", games: int = 1) -> None:
        """Somebody comes, and plays some games in a style."""
        arrival = Arrival(channel, worker=worker, assignment=f"{study.id}-{worker}", hit="S1")
        admission = self.studies.enrol(study, arrival, more={})
        enrolment = self.studies.enrolment(admission.enrolment or "")
        assert enrolment is not None
        with self.archive.database.write() as session:
            visits.give_variant(session, enrolment.id, "right", "target")
        person = enrolment.participant_id
        for game in range(games):
            self.now += timedelta(minutes=1)
            owner = Owner(f"participant-{person}", "human", person)
            episode = self.record(owner, style, seed=seed + game)
            id = secrets.token_hex(6)
            with self.archive.database.write() as session:
                task = find(SPACE_INVADERS)
                sessions.open_session(
                    session, id=id, task=task.id, task_hash=task.content_hash, seed=seed, actor=owner.name, actor_kind="human",
                    participant_id=person, seat="player", now=self.now,
                )  # fmt: skip
                session.flush()
                visits.bind(session, id, enrolment.id)
                sessions.set_session_state(session, id, "ended", episode_id=episode, now=self.now)

    def record(self, owner: Owner, style: str, *, seed: int) -> str:
        """A real game; its id. People's inputs take 40 ms, and now and then 200."""
        task, rng = self._env.task, np.random.default_rng(seed)
        recorder = self.archive.recorder(task, self._env, seed=seed, owners={"player": owner}, created_at=self.now)
        episode = RecordedEpisode(self._env, recorder, max_steps=FRAMES)
        episode.start(seed)
        timing = None
        for step, action in enumerate(actions(style, rng)):
            if owner.kind == "human" and step % 20 == 0:
                timing = InputTiming(step, 16.7 * step, 1000 * step + seed, 1, 200.0 if step % 200 == 0 else 40.0)
            episode.step({"player": action}, timing={"player": timing})
            if episode.outcome is not None:
                break
        return self.archive.seal(recorder.finish(episode.outcome or "quit")).id

    def team(self, task: Task, score: float, *names: str, second: float | None = None) -> None:
        """A game of several seats as the catalogue keeps it, without its file; `ada` and `bob` are people."""
        id = secrets.token_hex(6)
        with self.archive.database.write() as session:
            testing.add_task(session, task)
            earned = (score, score if second is None else second)
            seats = [
                EpisodeSeat(
                    seat=seat, actor=name, actor_kind="human" if name in ("ada", "bob") else "agent", num_steps=100,
                    total_reward=reward, position=place,
                )
                for place, (seat, name, reward) in enumerate(zip(task.seats, names, earned, strict=True))
            ]  # fmt: skip
            session.add(EpisodeRow(**testing.episode_values(task, names[0], 1, id=id, total_reward=score), seats=seats))


def actions(style: str, rng: np.random.Generator) -> Iterator[int]:
    """Actions of a way to play: `still` stays and shoots, `left` and `right` go to a side, `idle` presses nothing."""
    while True:
        for held in range(4):
            if style == "idle":
                yield 0
            elif style == "still":
                yield 1 if held else int(rng.choice([1, 3, 4]))
            else:
                yield {"left": 12, "right": 11}[style] if rng.random() < 0.8 else 1
