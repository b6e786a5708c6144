"""What judges saw, held against the database: nothing served twice at once, no wrong pair, no answer lost or made up."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from interplay.rank import Comparison, TaskStandings, rate_all
from interplay.store import Answer, Database, EpisodeRow, Match
from interplay.store import judging as store

Hold = tuple[frozenset[str] | str, float, float]
"""What somebody had before them, from when, until when (seconds)."""


@dataclass
class Findings:
    """Faults by kind, each a list of words; and what was looked at."""

    counts: dict[str, int] = field(default_factory=dict)
    side_z: float = 0.0
    faults: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def to_json(self) -> dict[str, Any]:
        """Counts of faults, with the first few of each kind."""
        return {
            **self.counts,
            "side_z": round(self.side_z, 2),
            "faults": {kind: {"num": len(words), "first": words[:3]} for kind, words in sorted(self.faults.items())},
            "passed": not self.faults,
        }


def check(
    database: Database,
    seen: Sequence[Mapping[str, Any]],
    boards: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    max_z: float = 5.0,
) -> Findings:
    """Everything there is to check after judges have worked.

    Args:
        database: Where matches and answers are; nobody works on it any more.
        seen: What judges wrote down, one `judging_people.Seen` for each crowd that worked on it.
        boards: Task id (empty for all tasks) -> rows of the leaderboard as the server shows them.
        max_z: How far from half the share of a side may be, in standard deviations.
    """
    findings = Findings()
    with database.read() as session:
        matches = session.scalars(sa.select(Match)).all()
        shown = sa.select(EpisodeRow.id, EpisodeRow.task, EpisodeRow.task_hash, EpisodeRow.seed, EpisodeRow.actor)
        episodes = {row.id: row for row in session.execute(shown)}
        log = session.scalars(sa.select(Answer).order_by(Answer.sequence)).all()
        counted = list(store.answers(session))
    for crowd in seen:
        findings.faults["a judge was told something wrong"] += crowd["wrong"]
    _check_holds(findings, matches, seen)
    _check_pairs(findings, matches, episodes)
    _check_sides(findings, matches, max_z)
    _check_log(findings, log, seen)
    replay = rate_all(Comparison(one.left, one.right, one.outcome, one.task, one.judge) for one in counted)  # type: ignore[arg-type]
    _check_boards(findings, replay, boards)
    findings.counts |= {
        "num_matches": len(matches),
        "num_checks": sum(match.purpose != "rating" for match in matches),
        "num_answers": len(log),
        "num_late_answers": sum(1 for one in matches if one.released_at and one.answered_at),
        "num_replies_lost": sum(sequence is None for crowd in seen for sequence, _ in crowd["accepted"].values()),
    }
    findings.faults = defaultdict(list, {kind: words for kind, words in findings.faults.items() if words})
    return findings


def overlaps(holds: Iterable[Hold]) -> list[Hold]:
    """Holds that begin while an earlier one of the same thing lasts.

    >>> overlaps([("a", 0, 2), ("b", 1, 3), ("a", 2, 4), ("a", 3, 5)])
    [('a', 3, 5)]
    """
    until: dict[Any, float] = {}
    found = []
    for thing, begin_s, end_s in sorted(holds, key=lambda hold: (hold[1], hold[2])):
        if begin_s < until.get(thing, -math.inf):
            found.append((thing, begin_s, end_s))
        until[thing] = max(end_s, until.get(thing, -math.inf))
    return found


def _check_holds(findings: Findings, matches: Sequence[Match], seen: Sequence[Mapping[str, Any]]) -> None:
    """No two videos were before two judges at once, and no judge had two matches: by the database, and by the judges.

    Attention checks are left out of the first: they may show one video on both sides, and nobody is rated by them.
    """
    pair_of = {one.id: _shown(one) for one in matches}
    rates = {one.id for one in matches if one.purpose != "attention"}
    spans = {one.id: (one.served_at.timestamp(), _closed_s(one)) for one in matches}
    by_database = "one pair before two judges, by the database"
    findings.faults[by_database] += map(str, overlaps((pair_of[name], *spans[name]) for name in rates))
    findings.faults["two matches of one judge"] += map(str, overlaps((one.judge, *spans[one.id]) for one in matches))
    told: list[Hold] = []
    for crowd in seen:
        for name, _judge, begin_s, end_s in crowd["holds"]:
            if name not in pair_of:
                findings.faults["a match that was served is gone"].append(name)
            elif name in rates:
                told.append((pair_of[name], begin_s, end_s))
    findings.faults["one pair before two judges, by their own account"] += map(str, overlaps(told))


def _shown(match: Match) -> frozenset[str]:
    return frozenset((match.left_episode_id, match.right_episode_id))


def _closed_s(match: Match) -> float:
    """When a match ceased to be open; seconds since the epoch."""
    ends = [time.timestamp() for time in (match.answered_at, match.released_at) if time is not None]
    return min(ends, default=math.inf)


def _check_pairs(findings: Findings, matches: Sequence[Match], episodes: Mapping[str, Any]) -> None:
    """Both sides show one version of one task on one seed, by two agents, and the match says whose they are.

    An attention check may show one video on both sides; a repeat shows what its judge has answered before, sides swapped.
    """
    by_id = {match.id: match for match in matches}
    for match in matches:
        left, right = episodes[match.left_episode_id], episodes[match.right_episode_id]
        sides = {(one.task, one.task_hash, one.seed) for one in (left, right)}
        is_one_video = match.purpose == "attention" and left.id == right.id
        is_right = sides == {(match.task, match.task_hash, match.seed)}
        is_right &= left.actor == match.left_agent and right.actor == match.right_agent
        is_right &= is_one_video or match.left_agent != match.right_agent
        if match.repeat_of is not None:
            first = by_id[match.repeat_of]
            is_right &= first.judge == match.judge and first.answered_at is not None
            is_right &= (first.left_episode_id, first.right_episode_id) == (match.right_episode_id, match.left_episode_id)
        if not is_right:
            findings.faults["wrong pair"].append(f"match {match.id}")


def _check_sides(findings: Findings, matches: Sequence[Match], max_z: float) -> None:
    """Left and right by chance: of all matches by the agents' order, and of every agent."""
    matches = [match for match in matches if match.purpose == "rating"]
    on_left = Counter(match.left_agent for match in matches)
    shown = on_left + Counter(match.right_agent for match in matches)
    first = sum(match.left_agent < match.right_agent for match in matches)
    counts = {"the first by name": (first, len(matches))} | {name: (on_left[name], total) for name, total in shown.items()}
    for name, (num_left, total) in counts.items():
        z = abs(num_left - total / 2) / (math.sqrt(total) / 2)
        findings.side_z = max(findings.side_z, z)
        if z > max_z:
            findings.faults["a side is preferred"].append(f"{name}: on the left in {num_left} of {total} matches")


def _check_log(findings: Findings, log: Sequence[Answer], seen: Sequence[Mapping[str, Any]]) -> None:
    """Every accepted answer is in the log exactly once and as it was given; nothing else is."""
    accepted = {match: answer for crowd in seen for match, answer in crowd["accepted"].items()}
    times = Counter(answer.match_id for answer in log)
    findings.faults["accepted, and not in the log"] += [match for match in accepted if match not in times]
    findings.faults["in the log twice"] += [match for match, count in times.items() if count > 1]
    findings.faults["in the log, and of no judge's doing"] += [match for match in times if match not in accepted]
    for answer in log:
        sequence, outcome = accepted.get(answer.match_id, (answer.sequence, answer.outcome))
        if answer.outcome != outcome or sequence not in (None, answer.sequence):
            findings.faults["not as it was given"].append(answer.match_id)


def _check_boards(findings: Findings, replay: TaskStandings, boards: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """What the server shows is what the log says, to the last bit."""
    for task, rows in boards.items():
        expected = (replay.task(task) if task else replay.overall).leaderboard()
        shown = [(row["agent"], row["mu"], row["sigma"]) for row in rows]
        if shown != [(row.agent, row.mu, row.sigma) for row in expected]:
            findings.faults["leaderboard is not a replay of the log"].append(task or "all tasks")
