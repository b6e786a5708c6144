"""Leaderboards by every rating method, from the answers of people or of model judges, cached until the log changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from interplay.judge.ratings.board import agreement
from interplay.judge.ratings.ratings import History, Judges, Track
from interplay.judge.serving.judging import Judging
from interplay.rank import Comparison
from interplay.rank.compare import normalised_over
from interplay.rank.methods import METHODS, Log, rate
from interplay.rank.ranking import Ranking
from interplay.rank.standings import notes, rows

BOARD_METHODS = (*METHODS, "normalised")
COLUMNS = (
    "rank", "group", "agent", "kind", "mu", "sigma", "low", "high", "score", "beats_next", "above_next",
    "num_answers", "won", "drew", "lost", "num_checked", "num_passed",
)  # fmt: skip
"""Fields of a row in JSON, which are also the columns of the CSV."""
_FACTS = ("kind", "withdrawn", "num_checked", "num_passed")
_ROW = tuple(name for name in COLUMNS if name not in _FACTS)
"""Fields that come from `rank.leaderboard`."""
_UNKNOWN = {"kind": "agent", "withdrawn": False, "num_checked": 0, "num_passed": 0}


class Boards:
    """The leaderboards of one judging room. Safe to share between threads; boards are cached until the log or bans change.

    Args:
        publish_every: Boards change only after this number of new answers of people. Judges who look at a board before and
            after their own answer then see no effect of it. So they learn neither which agents they compared nor whether it was
            a check.

    Attributes:
        live: The same boards, but updated after every answer.
    """

    def __init__(self, judging: Judging, publish_every: int = 1) -> None:
        self._judging = judging
        self.publish_every = publish_every
        self.live = self if publish_every == 1 else Boards(judging)
        self._lock = threading.Lock()
        self._cache: dict[Judges, _Cache] = {}

    def board(self, task: str | None = None, method: str = "trueskill", judges: Judges = "people") -> dict[str, Any]:
        """Return the agents sorted by score, for one task or for all tasks together.

        Returns:
            The document of `Judging.leaderboard`, and: `publish_every`, `method`, `judges`, `notes` (facts that a reader needs
            about this fit). Each row also has `low` and `high`, the 95 % interval of mu; `beats_next`, the probability that an
            answer about this agent and the agent in the row below prefers this one, if it is no draw (None if the method
            gives no probability); `above_next`, the probability that this agent's skill is the higher one; and `group`, from
            1. Agents of two groups were never compared, not even through other agents, so each group is ranked separately; the
            last row of a group has None in `beats_next` and `above_next`. For Bradley-Terry and Davidson, `mu` is a log
            strength and equals `score`; for `normalised`, `mu` is the mean z-score.
        Raises:
            NotFoundError: If the task is unknown.
            ValueError: If the method is unknown.
        """
        if method not in BOARD_METHODS:
            raise ValueError(f"method must be one of {', '.join(BOARD_METHODS)}, got {method!r}")
        document = dict(self._judging.leaderboard(task))
        facts = {row["agent"]: row for row in document["rows"]}
        with self._judging.database.read() as session, self._judging.ratings.history(session, judges) as history, self._lock:
            num_published = self._num_published(history, judges)
            last_sequence = history.sequences[num_published - 1] if num_published else 0
            cache = self._cache.get(judges)
            if cache is None or cache.history is not history or cache.num_published != num_published:
                cache = self._cache[judges] = _Cache(history, num_published)
            made, fit = cache.rows.get((task, method)), None
            if made is None:
                fit = _fit(history, num_published, task, method)
                made = cache.rows[task, method] = Future()  # the last thing here: nothing may fail before it is set
        if fit is not None:  # outside every lock: answers and other boards continue; other requests for this board wait for it
            try:
                made.set_result(fit())
            except BaseException as error:
                made.set_exception(error)
                with self._lock:
                    if cache.rows.get((task, method)) is made:
                        del cache.rows[task, method]
        found = made.result()
        if judges == "people" and self.publish_every > 1:
            rated = {row["agent"] for row in found.rows}
            waiting = [name for name in facts if not facts[name]["withdrawn"] and name not in rated]
            document |= {"num_answers": found.num_answers, "num_judges": found.num_judges}
            document["unrated"] = sorted({*document["unrated"], *waiting})
            if document["automatic"] is not None:
                with self._judging.database.read() as session:
                    document["automatic"] = agreement(session, task, last_sequence)
        if judges == "models":
            document |= {"num_answers": found.num_answers, "num_judges": found.num_judges, "next_pair": None, "unrated": []}
        document["rows"] = [{**_UNKNOWN, **_facts(facts.get(row["agent"], {})), **row} for row in found.rows]
        return document | {
            "method": method,
            "judges": judges,
            "notes": list(found.notes),
            "publish_every": self.publish_every if judges == "people" else 1,
        }

    def published_sequence(self) -> int | None:
        """Return the sequence number of the last answer of people that is shown; None if all answers are shown."""
        if self.publish_every == 1:
            return None
        with self._judging.database.read() as session, self._judging.ratings.history(session) as history:
            num_published = self._num_published(history, "people")
            return history.sequences[num_published - 1] if num_published else 0

    def tracks(self, task: str | None = None, judges: Judges = "people") -> dict[str, Track]:
        """Return each agent's track: its TrueSkill ratings after each answer, in the order of the log."""
        with self._judging.database.read() as session, self._judging.ratings.history(session, judges) as history:
            num_answers = history.num_answers(task, self._num_published(history, judges))
            tracks = {agent: track.first(num_answers) for agent, track in history.tracks.get(task, {}).items()}
            return {agent: track for agent, track in tracks.items() if track.mu}

    def _num_published(self, history: History, judges: Judges) -> int:
        step = self.publish_every if judges == "people" else 1
        return len(history.sequences) // step * step


@dataclass(frozen=True)
class _Cache:
    """The boards after the first `num_published` answers of a history; some of them may still be being computed."""

    history: History
    num_published: int
    rows: dict[tuple[str | None, str], Future[_Rows]] = field(default_factory=dict)


def _fit(history: History, num_published: int, task: str | None, method: str) -> Callable[[], _Rows]:
    """Return a function that makes the rows of a board after `num_published` answers, even if answers are added meanwhile."""
    num_answers = history.num_answers(task, num_published)
    answers = history.answers.get(task, [])[:num_answers]
    if not answers:
        return lambda: _Rows([], (), 0, 0)
    if method == "trueskill":
        ranking = history.ranking(task, num_answers)
        return lambda: _rows(answers, Log.of(answers), ranking)
    if method == "normalised":
        tasks = sorted({answer.task for answer in answers})
        rankings = [history.ranking(one, history.num_answers(one, num_published)) for one in tasks]
        return lambda: _rows(answers, log := Log.of(answers), normalised_over(log.agents, rankings))
    return lambda: _rows(answers, log := Log.of(answers), rate(log, method))


def rows_of(answers: Iterable[Comparison], task: str | None, method: str) -> list[dict[str, Any]]:
    """Return the rows of a board, as in `Boards.board`, for answers that are not in the log."""
    history = History()
    for answer in answers:
        history.add(answer)
    return [{**_UNKNOWN, **row} for row in _fit(history, len(history.sequences), task, method)().rows]


@dataclass(frozen=True)
class _Rows:
    rows: list[dict[str, Any]]
    notes: tuple[str, ...]
    num_answers: int
    num_judges: int


def _facts(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _FACTS if name in row}


def _rows(answers: list[Comparison], log: Log, ranking: Ranking) -> _Rows:
    num_judges = len({answer.judge for answer in answers} - {""})
    made = rows(ranking, log.won_drew_lost(), log.groups())
    return _Rows([{name: getattr(row, name) for name in _ROW} for row in made], notes(ranking, made), len(answers), num_judges)
