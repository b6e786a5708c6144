"""`SegmentStudies` draws the segments of a study when it is opened, and stores their step numbers, not copies of games."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.errors import InterplayError, unknown_name
from interplay.judge.segments.definition import STEPS_OF_A_DECISION, Segments
from interplay.judge.segments.selection import overlap
from interplay.record import Archive, Episode
from interplay.record.catalogue import parse_condition
from interplay.record.films.film import Clip, film
from interplay.store import judging as store
from interplay.store.judging import NewSegment
from interplay.tasks import Task
from interplay.wording import amount


class Game(NamedTuple):
    """An episode from which segments are drawn: its id, its world, the number of steps that the seat played, and the player."""

    id: str
    seed: int
    num_steps: int
    agent: str


def draw_segments(
    games: Sequence[Game], *, num_steps: int, number: int, held_out: float, rng: np.random.Generator
) -> list[NewSegment]:
    """Draw different segments of equal length. Return them in random order.

    A share of the worlds is held out (at least one if there are two worlds), and the same share of the segments comes from
    these worlds. Within the held-out worlds, and within all others, every possible beginning of a segment is equally likely.

    Args:
        games: Games in a fixed order; the result depends on this order.
        number: Number of segments. Fewer are drawn if the games have fewer possible beginnings.
    """
    games = [game for game in games if game.num_steps >= num_steps]
    worlds = sorted({game.seed for game in games})
    num_worlds = 0 if len(worlds) < 2 else min(len(worlds) - 1, max(1, round(held_out * len(worlds))))
    apart = set(rng.permutation(worlds)[:num_worlds].tolist())
    num_apart = max(2, round(held_out * number)) if apart else 0
    drawn = []
    for is_held_out, wanted in ((False, number - num_apart), (True, num_apart)):
        ours = [game for game in games if (game.seed in apart) == is_held_out]
        places = np.array([(game.num_steps - num_steps) // STEPS_OF_A_DECISION + 1 for game in ours], np.int64)
        if not len(places):
            continue
        ends = np.cumsum(places)
        for place in rng.choice(ends[-1], min(wanted, int(ends[-1])), replace=False):
            which = int(np.searchsorted(ends, place, side="right"))
            first = int(place - ends[which] + places[which]) * STEPS_OF_A_DECISION
            drawn.append(NewSegment(ours[which].id, first, first + num_steps - 1, ours[which].agent, is_held_out))
    return [drawn[place] for place in rng.permutation(len(drawn))]


class SegmentError(InterplayError):
    """Segments cannot be drawn; the text says the reason and the remedy."""


class SegmentStudies:
    """The segments of the studies of one data folder."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def keep(self, study: str, study_hash: str, drawn: Sequence[NewSegment]) -> int:
        """Store the drawn segments for a version of a study. Return the number of its segments that may be shown."""
        with self._archive.database.write() as session:
            if drawn and not store.segments_of(session, study_hash):
                store.add_segments(session, study, study_hash, drawn)
            return len(store.segments_of(session, study_hash))

    def draw(self, part: Segments, task: Task, study_hash: str = "") -> list[NewSegment]:
        """Draw the segments for a study's table, without storing them. The same games give the same segments. If this version
        of a study has segments already, return no new ones.

        Raises:
            SegmentError: If no game fits, every game is shorter than a segment, no two segments can be compared, or the task
                shows no pictures.
            NotFoundError: If an entrant, or a name in `where`, is unknown.
            ConditionError: If a condition cannot be read.
        """
        with self._archive.database.read() as session:
            if study_hash and store.segments_of(session, study_hash):
                return []
        seat = check_segments(part, task)
        games = self._games(part, task, seat)
        num_steps = part.num_steps(task.frame_rate_hz)
        longest = max(game.num_steps for game in games)
        if longest < num_steps:
            raise SegmentError(
                f"segments of {num_steps / task.frame_rate_hz:g} s have {num_steps} steps, but the longest of the "
                f"{amount(len(games), 'game')} of {task.id} has only {longest}\n"
                f"Remedy: write seconds = {longest / task.frame_rate_hz:.2g} or less, or choose longer games."
            )
        drawn = draw_segments(
            games, num_steps=num_steps, number=part.number, held_out=part.held_out, rng=np.random.default_rng(part.seed)
        )
        teaching = [one for one in drawn if not one.is_held_out]
        if all(overlap(one, other) for one, other in itertools.combinations(teaching, 2)):
            raise SegmentError(
                f"{amount(len(drawn), 'segment was', 'segments were')} drawn from {amount(len(games), 'game')} of {task.id}; "
                "outside the held-out worlds there are no two segments that can be compared: fewer than two, or all overlap\n"
                "Remedy: in [judging.segments] set a larger `number` or smaller `seconds`, or choose more games."
            )
        try:  # one video, so that a task without pictures is refused before anybody is asked to judge it
            film(self._archive, Clip(drawn[0].episode_id, drawn[0].first_step, drawn[0].last_step).name)
        except InterplayError as error:
            raise SegmentError(
                f"the first segment of {task.id} cannot be filmed: {error}\n"
                "Remedy: correct this error; a task whose world shows no pictures cannot be compared."
            ) from None
        return drawn

    def _games(self, part: Segments, task: Task, seat: str) -> list[Game]:
        """Return the games from which segments are drawn, ordered by seed, then by player.
        Because of this order, the same games give the same segments when they are played again."""
        found = self._archive.episodes(task=task, where=part.where)
        left_out: Counter[str] = Counter()
        with self._archive.database.read() as session:
            agreed = store.agreed_to(session, [episode.id for episode in found])
            entered = store.entered_by(session, task.id, part.entrants) if part.entrants else []
            if unknown := sorted(set(part.entrants) - {row.agent for row in entered}):
                known = {row.agent for row in store.candidates_of(session, task.id)}
                raise unknown_name(
                    "entrant", unknown[0], known, hint=f"All who are ranked:  interplay judge list-agents --task {task.id}"
                )
        names = {row.episode_id: row.agent for row in entered if row.seat == seat}
        games = []
        for episode in sorted(found, key=lambda one: (one.seed, one.actor, one.created_at, one.id)):
            why = _why_not(episode, task)
            if why or episode.id not in agreed or (part.entrants and episode.id not in names):
                left_out[why or ("of people who did not agree" if episode.id not in agreed else "of other players")] += 1
                continue
            num_steps = episode.num_steps if len(task.seats) == 1 else episode.ended(seat)[0]  # then it decides nothing more
            games.append(Game(episode.id, episode.seed, num_steps, names.get(episode.id) or _actor(episode, seat)))
        if not games:
            why = ", ".join(f"{number} {reason}" for reason, number in left_out.items())
            raise SegmentError(
                f"there is no game of {task.id} to draw segments from" + (f": of {len(found)} found, {why}" if why else "")
                + f"\nRemedy: record games (interplay play {task.id} --agent random --seeds 1,2), or change entrants and where."
            )  # fmt: skip
        return games


def check_segments(part: Segments, task: Task) -> str:
    """Check everything that can be checked before games exist. Return the seat that is compared.

    Raises:
        NotFoundError, SegmentError: If the task lacks the named seat, or has several seats and the table names no seat.
        ConditionError: If a condition on games cannot be read.
    """
    for condition in part.where:
        parse_condition(condition, None)
    seats = list(task.seats)
    if part.seat and part.seat not in seats:
        raise unknown_name("seat", part.seat, seats, hint=f"The name is in judging.segments.seat; the task is {task.id}.")
    if not part.seat and len(seats) > 1:
        raise SegmentError(
            f"{task.id} has {len(seats)} seats, and the study does not say which one is compared\n"
            f'Remedy: write seat = "{seats[0]}", or another seat: {", ".join(seats)}.'
        )
    return part.seat or seats[0]


def _why_not(episode: Episode, task: Task) -> str:
    if episode.task_hash != task.content_hash:
        return "of another version of the task"
    if episode.is_lost:
        return "whose recording is not here"
    return "that an error cut short" if episode.outcome == "interrupted" else ""


def _actor(episode: Episode, seat: str) -> str:
    return next((held.actor for held in episode.seats if held.seat == seat), episode.actor)
