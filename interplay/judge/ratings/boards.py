"""Leaderboards by every rating method, of people's answers or of model judges', kept until the log changes."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sqlalchemy.orm import Session

from interplay.judge.ratings.board import agreement
from interplay.judge.ratings.carried import CarriedOn
from interplay.judge.ratings.ratings import comparison
from interplay.judge.serving.judging import Judging
from interplay.rank import Comparison, TaskStandings
from interplay.rank.compare import normalised_over
from interplay.rank.log import Log
from interplay.rank.methods import rate
from interplay.rank.ranking import Ranking
from interplay.rank.rows import notes, rows
from interplay.store import boards as board_store
from interplay.store import judging as store

BoardMethod = Literal["trueskill", "bradley-terry", "davidson", "normalised"]
BOARD_METHODS: tuple[BoardMethod, ...] = get_args(BoardMethod)
Judges = Literal["people", "models"]
COLUMNS = (
    "rank", "group", "agent", "kind", "mu", "sigma", "low", "high", "score", "beats_next", "above_next",
    "num_answers", "won", "drew", "lost", "num_checked", "num_passed",
)  # fmt: skip
"""What a row says, in JSON and as the columns of the CSV."""
_FACTS = ("kind", "withdrawn", "num_checked", "num_passed")
_ROW = tuple(name for name in COLUMNS if name not in _FACTS)
"""What `rank.leaderboard` knows of it."""
_UNKNOWN = {"kind": "agent", "withdrawn": False, "num_checked": 0, "num_passed": 0}


@dataclass
class Track:
    """How one agent's rating moved.

    Attributes:
        num_answers: The board's answers so far, after each answer about this agent.
        mu, sigma: TrueSkill after it.
    """

    num_answers: list[int] = field(default_factory=list)
    mu: list[float] = field(default_factory=list)
    sigma: list[float] = field(default_factory=list)


class _Kept:
    """The answers of one kind of judges, and what was computed from them; those of an unfinished step wait."""

    def __init__(self, publish_every: int = 1) -> None:
        self.publish_every = publish_every
        self.waiting: list[store.LoggedAnswer] = []
        self.last_sequence = 0
        self.by_task: dict[str | None, list[Comparison]] = {}
        self.standings = TaskStandings()
        self.tracks: dict[str | None, dict[str, Track]] = {}
        self.computed: dict[Any, Future[_Rows]] = {}

    def add(self, logged: store.LoggedAnswer) -> None:
        """Take one more answer into account, once its step is full."""
        self.waiting.append(logged)
        if len(self.waiting) < self.publish_every:
            return
        for one in self.waiting:
            self.show(comparison(one))
        self.last_sequence = logged.sequence
        self.waiting.clear()

    def show(self, answer: Comparison) -> None:
        """Take one answer into account, overall and in its task."""
        self.computed.clear()
        self.standings.add(answer)
        for board, standings in ((None, self.standings.overall), (answer.task, self.standings.task(answer.task))):
            self.by_task.setdefault(board, []).append(answer)
            tracks = self.tracks.setdefault(board, defaultdict(Track))
            for agent in (answer.left, answer.right):
                rating, track = standings.rating(agent), tracks[agent]
                track.num_answers.append(standings.num_answers)
                track.mu.append(rating.mu)
                track.sigma.append(rating.sigma)

    def fit(self, task: str | None, method: BoardMethod) -> Callable[[], _Rows]:
        """What makes the rows of a board as the log is now, whatever is added meanwhile."""
        answers = self.by_task.get(task, [])[:]
        if not answers:
            return lambda: _Rows([], ())
        if method == "trueskill":
            ranking = (self.standings.overall if task is None else self.standings.task(task)).ranking()
            return lambda: _rows(Log.of(answers), ranking)
        if method == "normalised":
            tasks = [task] if task is not None else sorted(self.standings.by_task)
            rankings = [self.standings.task(one).ranking() for one in tasks]
            return lambda: _rows(log := Log.of(answers), normalised_over(log.agents, rankings))
        return lambda: _rows(log := Log.of(answers), rate(log, method))


class Boards:
    """Leaderboards over one judging room; safe to share between threads.

    Everything follows from the log: as long as nobody answers and no ban is made or lifted, nothing is computed twice.

    Args:
        judging: The room.
        publish_every: People's answers are shown in steps of so many, in the order of the log. Whoever looks before and after
            an answer of their own then learns nothing about it: neither whose it was, nor whether it was a check.
    """

    def __init__(self, judging: Judging, publish_every: int = 1) -> None:
        self._judging = judging
        self.publish_every = publish_every
        self._lock = threading.Lock()
        self._people = CarriedOn(lambda: _Kept(publish_every), _Kept.add)
        self._models: tuple[store.LogState | None, _Kept] = (None, _Kept())

    def board(self, task: str | None = None, method: BoardMethod = "trueskill", judges: Judges = "people") -> dict[str, Any]:
        """Agents by score, of one task or over all tasks.

        Returns:
            What `Judging.leaderboard` says, and: `publish_every`, `method`, `judges`, `notes` (what a reader must know about
            this fit), and in each row `low` and `high`, the 95 % interval of mu; `beats_next`, the probability that the next
            answer about this agent and the one in the row below names this one, if it names any (None where the method cannot
            say); `above_next`, the probability that its skill is higher than that one's. The last row of a group has None in
            both: agents of two groups (`group`, from 1 on) were never compared, directly or through third ones, and are ranked
            apart.
            For Bradley-Terry and Davidson `mu` is a log strength, `score` the same; for `normalised` it is the mean z-score.
        Raises:
            NotFoundError: If no such task is known.
            ValueError: If there is no such method.
        """
        if method not in BOARD_METHODS:
            raise ValueError(f"method must be one of {', '.join(BOARD_METHODS)}, got {method!r}")
        document = dict(self._judging.leaderboard(task))
        facts = {row["agent"]: row for row in document["rows"]}
        with self._judging.database.read() as session, self._lock:
            kept = self._current(session, judges)
            num_answers, num_judges = len(kept.by_task.get(task, [])), kept.standings.num_judges(task)
            last_sequence = kept.last_sequence
            made, fit = kept.computed.get((task, method)), None
            if made is None:
                fit = kept.fit(task, method)
                made = kept.computed[task, method] = Future()  # the last thing here: nothing may fail before it is set
        if fit is not None:  # outside every lock: answers and other boards go on; who asks for this board waits for it
            try:
                made.set_result(fit())
            except BaseException as error:
                made.set_exception(error)
                with self._lock:
                    if kept.computed.get((task, method)) is made:
                        del kept.computed[task, method]
        found = made.result()
        if judges == "people" and self.publish_every > 1:
            rated = {row["agent"] for row in found.rows}
            waiting = [name for name in facts if not facts[name]["withdrawn"] and name not in rated]
            document |= {"num_answers": num_answers, "num_judges": num_judges}
            document["unrated"] = sorted({*document["unrated"], *waiting})
            if document["automatic"] is not None:
                with self._judging.database.read() as session:
                    document["automatic"] = agreement(session, task, last_sequence)
        if judges == "models":
            document |= {"num_answers": num_answers, "num_judges": num_judges, "next_pair": None, "unrated": []}
        document["rows"] = [{**_UNKNOWN, **_kept_facts(facts.get(row["agent"], {})), **row} for row in found.rows]
        return document | {
            "method": method,
            "judges": judges,
            "notes": list(found.notes),
            "publish_every": self.publish_every if judges == "people" else 1,
        }

    def published_sequence(self) -> int | None:
        """The last answer of people that is shown; None where all are."""
        if self.publish_every == 1:
            return None
        with self._judging.database.read() as session, self._lock:
            return self._people.current(session).last_sequence

    def tracks(self, task: str | None = None, judges: Judges = "people") -> dict[str, Track]:
        """How ratings moved, answer by answer: agent -> its track, by TrueSkill in the order of the log."""
        with self._judging.database.read() as session, self._lock:
            tracks = self._current(session, judges).tracks.get(task, {})
            return {agent: Track([*one.num_answers], [*one.mu], [*one.sigma]) for agent, one in tracks.items()}

    def _current(self, session: Session, judges: Judges) -> _Kept:
        """What is kept, up to the last answer `session` can see."""
        if judges == "people":
            return self._people.current(session)
        state, (known_state, kept) = store.log_state(session), self._models
        if state != known_state:  # made anew: there are few, and they are rarely added
            kept = _Kept()
            for answer in board_store.model_answers(session):
                kept.add(answer)
            self._models = (state, kept)
        return kept


def rows_of(answers: Iterable[Comparison], task: str | None, method: BoardMethod) -> list[dict[str, Any]]:
    """The rows of a board of answers that are in no log, as `Boards.board` has them."""
    kept = _Kept()
    for answer in answers:
        kept.show(answer)
    return [{**_UNKNOWN, **row} for row in kept.fit(task, method)().rows]


@dataclass(frozen=True)
class _Rows:
    rows: list[dict[str, Any]]
    notes: tuple[str, ...]


def _kept_facts(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _FACTS if name in row}


def _rows(log: Log, ranking: Ranking) -> _Rows:
    """A ranking of the agents of a log as rows."""
    made = rows(ranking, log.won_drew_lost(), log.groups())
    return _Rows([{name: getattr(row, name) for name in _ROW} for row in made], notes(ranking, made))
