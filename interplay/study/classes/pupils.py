"""The pupils of a class and their results, for their teacher. Uses no database."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from interplay.store.study.classes import PlayedSeat


@dataclass(frozen=True)
class Pupil:
    """A member of a class; `games` are in order, oldest first.

    Attributes:
        nickname: The nickname, or a number such as `#3` after nicknames were erased.
        is_approved: Whether everybody in the room may read the nickname: it was suggested, or the teacher approved it.
    """

    participant: int
    nickname: str
    joined_at: datetime
    games: tuple[PlayedSeat, ...] = ()
    is_approved: bool = True

    @property
    def public_name(self) -> str:
        return self.nickname if self.is_approved else "new pupil"

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(game.task for game in self.games))

    @property
    def played_s(self) -> float:
        return sum(game.duration_s for game in self.games)

    def best(self, task: str) -> PlayedSeat | None:
        return max((game for game in self.games if game.task == task), key=lambda game: game.score, default=None)


def best_games(pupils: Iterable[Pupil], task: str) -> list[tuple[Pupil, PlayedSeat]]:
    """Return pupils with their best game of a task, best first; of equal values, the one reached first comes first."""
    found = [(pupil, game) for pupil in pupils if (game := pupil.best(task)) is not None]
    return sorted(found, key=lambda one: (-one[1].score, one[1].at))


def scores(pupils: Iterable[Pupil], task: str) -> list[float]:
    return [game.score for pupil in pupils for game in pupil.games if game.task == task]


def middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None


_COLUMNS = ("pupil", "task", "title", "began_utc", "seconds", "score", "ended", "players", "episode")


def table_csv(pupils: Iterable[Pupil], titles: Mapping[str, str], scoreless: Iterable[str]) -> str:
    """Return the games of all pupils as CSV, one line for each game, and one line for a pupil without games.
    `scoreless` are the ids of the tasks without a score."""
    text, without = io.StringIO(), set(scoreless)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for pupil in pupils:
        for game in pupil.games:
            at = game.at.strftime("%Y-%m-%d %H:%M:%S")
            score = "" if game.task in without else f"{game.score:g}"
            writer.writerow(
                (pupil.nickname, game.task, titles.get(game.task, game.task), at, f"{game.duration_s:.1f}", score, game.outcome,
                 game.seats, game.episode)
            )  # fmt: skip
        if not pupil.games:
            writer.writerow((pupil.nickname, *[""] * (len(_COLUMNS) - 1)))
    return text.getvalue()
