"""Remains of a server that was killed or stopped: games whose players may come back, untaken seats, and journals to seal."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from interplay.play.games.for_study import ForStudy
from interplay.play.nodes.mirror import bring_back
from interplay.play.workers.channel import Acting, Ended
from interplay.record import Archive, RecordingError, journal
from interplay.record.format.schema import Header
from interplay.record.sealed.seal import counted, total_of
from interplay.store import PlaySession, games, sessions
from interplay.tasks import Task

WRITING_S = 3.0
"""How long workers of a server that was killed a moment ago may take to write their last steps."""

log = logging.getLogger("interplay.play")


class LeftGame(NamedTuple):
    """A game that can continue. `people`: sessions of its people in the order of the seats. `acting`: seat -> the agent that
    acted there last, for seats without a person and for people who were away."""

    header: Header
    people: list[PlaySession]
    acting: dict[str, Acting]


class Leftovers(NamedTuple):
    """The result of `find`.

    Attributes:
        games: Games that can continue when their players come back.
        untaken: Sessions in which nothing was played yet, with their tasks; their worlds are made again.
        ended: First segment of every other abandoned journal that can be opened.
        lost: Every other open session -> its episode, or None.
    """

    games: list[LeftGame]
    untaken: list[tuple[PlaySession, Task]]
    ended: list[Path]
    lost: dict[str, str | None]


def study_of(rows: Sequence[PlaySession]) -> ForStudy | None:
    """Return the study of the game of these sessions. Earlier releases did not store it: in such a game nobody joins, and
    players are not told of agents."""
    for row in rows:
        if row.for_study is not None:
            return ForStudy.from_json(row.for_study)
    return ForStudy("", is_blind=True) if any(row.enrolment_id is not None for row in rows) else None


def open_sessions(archive: Archive, node: str) -> tuple[dict[str, PlaySession], dict[str, int]]:
    """Return the sessions of this server that are not over, by id, and the games that it holds: episode -> epoch. Call it
    before the server opens new sessions, so that all of them are from before its start.

    Journals of games that another server of a cluster holds are removed; its mirror has them. Journals that are lost come back
    from the mirror."""
    folder, abandoned = archive.journal_folder, archive.abandoned()
    with archive.database.write() as database:
        elsewhere = games.held_by_others(database, abandoned, node)
        sessions.claim_sessions(database, node, set(abandoned) - elsewhere, datetime.now(UTC))
        games.claim(database, node, set(abandoned) - elsewhere)
        held = games.hold_again(database, node)
        left_open = {row.id: row for row in sessions.open_sessions(database, node)}
    for name in elsewhere:
        log.warning("%s is continued by another server; its journal here is removed", name)
        journal.remove(journal.segments(folder, name), keep=False)
    for name in held:
        if not journal.segments(folder, name):
            bring_back(folder, archive.database, name)
    return left_open, held


def wait_for_writers(archive: Archive, left_open: Mapping[str, PlaySession]) -> None:
    """Wait a moment for the workers of a killed server to close their journals."""
    deadline = time.monotonic() + WRITING_S
    while left_open and time.monotonic() < deadline and any(map(journal.is_live, archive.journal_folder.glob("*.arrows"))):
        time.sleep(0.05)


def find(
    archive: Archive,
    left_open: Mapping[str, PlaySession],
    tasks: Mapping[str, Task],
    *,
    episodes: Sequence[str] | None = None,
    taken_within_s: float,
    is_agent: Callable[[str], bool],
    partner: Callable[[Task], str | None],
) -> Leftovers:
    """Sort the journals that no running process writes (or those of `episodes`), and the sessions `left_open`. A game or seat
    that is older than `taken_within_s` seconds does not continue."""
    found = Leftovers([], [], [], dict.fromkeys(left_open))
    for name in archive.abandoned() if episodes is None else episodes:
        paths = journal.segments(archive.journal_folder, name)
        if not paths:
            continue
        try:
            header = journal.read_header(paths[0])
        except (RecordingError, OSError) as error:  # what cannot be read is for `interplay episodes repair`
            log.warning("%s", error)
            continue
        seated = [row for row in left_open.values() if header.episode == row.episode_id or header.session_id == row.id]
        seated.sort(key=lambda row: header.seats.index(row.seat or header.seats[0]))
        people = {row.seat or header.seats[0]: row.actor for row in seated}
        goes_on = bool(seated) and header.deterministic and _goes_on(paths, taken_within_s)
        study = study_of(seated)
        stand_in = (study.fallback if study else None) or partner(header.task)
        acting = _acting(paths, header, people, is_agent, stand_in) if goes_on else None
        if acting is not None:
            found.games.append(LeftGame(header, seated, acting))
        else:
            found.ended.append(paths[0])
        for row in seated:
            found.lost[row.id] = header.episode
    for game in found.games:
        for row in game.people:
            del found.lost[row.id]
    for session in [session for session, episode in found.lost.items() if episode is None]:
        row = left_open[session]
        task = tasks.get(row.task)
        age_s = (datetime.now(UTC) - row.created_at).total_seconds()
        if task is None or len(task.seats) > 1:  # whom they waited for is not known any more: they open the task again
            continue
        # One that was played and left no journal that can be read cannot go on, and must not begin anew on its seed.
        if row.state == "waiting" and task.content_hash == row.task_hash and age_s <= taken_within_s:
            found.untaken.append((row, task))
            del found.lost[session]
    return found


def _goes_on(paths: list[Path], written_within_s: float) -> bool:
    """Whether a step was recorded, the last one at most `written_within_s` seconds ago, and the episode did not end."""
    try:
        age_s = time.time() - max(path.stat().st_mtime for path in paths)
        record = journal.Journal(paths)
        return age_s < written_within_s and record.table(["step"]).num_rows > 0 and record.end is None
    except Exception as error:  # whatever a damaged journal makes a reader stumble over: the others go on
        log.warning("%s: %s", paths[0].name, error)
        return False


def _acting(
    paths: list[Path],
    header: Header,
    people: Mapping[str, str],
    is_agent: Callable[[str], bool],
    stand_in: str | None,
) -> dict[str, Acting] | None:
    """Return seat -> the agent that acts there when the game continues, for seats of agents; None if the game cannot
    continue."""
    found = {}
    for seat, last in last_acting(paths, header).items():
        if last.owner == people.get(seat):
            continue
        agent = last.owner if is_agent(last.owner) else None
        if agent is None and header.owner_called(last.owner).kind == "human":  # who left a moment before the kill
            agent = stand_in
        if agent is not None:
            found[seat] = Acting(agent, agent, last.step, last.total_reward)
        elif seat not in people:
            return None
    return found


def last_acting(paths: list[Path], header: Header) -> dict[str, Acting]:
    columns = [f"{what}.{seat}" for seat in header.seats for what in ("owner", "reward")]
    steps = journal.Journal(paths).table(columns).slice(1)  # the first row is the first observation
    found = {}
    for seat in header.seats:
        owners = steps.column(f"owner.{seat}").to_pylist()
        last = owners[-1] if owners else header.owners[seat].name
        since = max((step for step, owner in enumerate(owners, 1) if owner != last), default=0)
        earned = steps.column(f"reward.{seat}").slice(0, since).to_pylist()
        found[seat] = Acting(last, last, since, sum(map(counted, earned)))
    return found


def end_journal(folder: Path, episode: str, outcome: str) -> Ended:
    """Record how an episode ended whose worker was killed before it could do so; do not change an ended journal. Return what
    the worker would have answered. Raises `RecordingError` if the disk is full, or the journal cannot be read or is in use."""
    paths = journal.segments(folder, episode)
    if not journal.holds_observations(paths):
        return Ended(outcome, None, (), 0)
    with journal.claim(paths):
        outcome = journal.write_end(paths, outcome)
    record = journal.Journal(paths)
    steps = record.table([f"reward.{seat}" for seat in record.header.seats]).slice(1)  # the first row is the first observation
    rewards = tuple(total_of(column.to_numpy()) for column in steps.columns)
    return Ended(outcome, str(paths[0]), rewards, steps.num_rows)
