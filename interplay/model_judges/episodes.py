"""Episodes for model judges: which can be compared, and their features."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
from sqlalchemy.orm import Session

from interplay.errors import NotFoundError
from interplay.files import write_json
from interplay.judge.pairing.candidates import Candidates
from interplay.judge.pairing.matchmaking import Candidate, comparable
from interplay.model_judges import features
from interplay.model_judges.task_judge import ModelJudgeError
from interplay.record import Archive
from interplay.store.episodes import UPLOADED, episodes_by_id

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is, and of how much."""


def candidates_with_videos(archive: Archive, offered: Candidates, session: Session, task: str) -> list[Candidate]:
    """Candidates whose video exists: an imported answer may be about an episode without one."""
    try:
        return [one for one in offered.of_task(session, task) if archive.video_path(one.episode_id).is_file()]
    except NotFoundError:
        return []


def couples_to_answer(archive: Archive, offered: Candidates, session: Session, task: str) -> list[tuple[Candidate, Candidate]]:
    """Every two videos of a task that could be shown together."""
    couples = couples_of(candidates_with_videos(archive, offered, session, task))
    if not couples:
        raise ModelJudgeError(
            f"there are no two agents with videos of the same seed in {task}\n"
            f"Record some:  interplay play {task} --agent random --seeds heldout"
        )
    return couples


def couples_of(candidates: Iterable[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """Every two episodes of different agents that may be compared, seat by seat, the agents in order of name."""
    by_place: dict[tuple[str, int, str], list[Candidate]] = {}
    for candidate in candidates:
        by_place.setdefault((candidate.task_hash, candidate.seed, candidate.seat), []).append(candidate)
    return [
        (one, other) if one.agent < other.agent else (other, one)
        for _, together in sorted(by_place.items())
        for one, other in itertools.combinations(together, 2)
        if one.agent != other.agent and one.episode_id != other.episode_id and comparable(one, other)
    ]


def features_of(archive: Archive, episodes: Iterable[str], on_progress: Progress) -> dict[str, dict[str, float]]:
    """Episode id -> features; those of videos are cached in `media/features/`, because looking takes long."""
    folder = archive.root / "media" / "features"
    folder.mkdir(parents=True, exist_ok=True)
    with archive.database.read() as session:
        rows = episodes_by_id(session, sorted(episodes))
    found: dict[str, dict[str, float]] = {}
    for place, row in enumerate(rows):
        on_progress("looking at videos", place, len(rows))
        statistics = {one.name: one.number for one in row.statistics if one.number is not None}
        facts: dict[str, float] = {}
        if row.frames != UPLOADED or row.path:  # else an imported answer's, whose zeros stand for what nobody knows
            facts = features.from_facts(
                num_steps=row.num_steps,
                duration_s=row.duration_s,
                total_reward=row.total_reward,
                outcome=row.outcome,
                statistics=statistics,
            )
        found[row.id] = facts | _seen(archive.video_path(row.id), folder / f"{row.id}.json")
    return found


def known(table: Mapping[str, Mapping[str, float]]) -> set[str]:
    """Episodes of which something is known that could tell them from others: a video, or a fact in which episodes differ."""
    rows = [row for row in table.values() if row]
    names = sorted({name for row in rows for name in row})
    values = features.matrix(rows, names)
    telling = {name for name, column in zip(names, values.T, strict=True) if len(np.unique(column[np.isfinite(column)])) > 1}
    return {
        episode
        for episode, row in table.items()
        if not telling.isdisjoint(row) or any(name.startswith(features.SEEN) for name in row)
    }


def _seen(video: Path, kept: Path) -> dict[str, float]:
    """Features of a video, from the file beside it if that is of this version; empty without a video."""
    try:
        document = json.loads(kept.read_text("utf-8"))
        if document["version"] == features.VERSION:
            return document["features"]
    except (OSError, ValueError, KeyError):
        pass  # not looked at yet, or cut off while being written
    if not video.is_file():
        return {}
    try:
        seen = features.from_video(video)
    except ValueError as error:
        raise ModelJudgeError(str(error)) from error
    write_json(kept, {"version": features.VERSION, "features": seen})
    return seen
