"""Leaderboards by every rating method, of people's answers or of automatic judges', kept until the log changes."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from sqlalchemy.orm import Session

from interplay.judge.carried import CarriedOn
from interplay.judge.judging import Judging
from interplay.judge.ratings import comparison
from interplay.rank import Comparison, Standings
from interplay.rank.compare import above, beats, normalised
from interplay.rank.log import Log
from interplay.rank.methods import METHODS, Ranking, ranks, rate
from interplay.rank.normal import Z95
from interplay.store import boards as board_store
from interplay.store import judging as store

BoardMethod = Literal["trueskill", "bradley-terry", "davidson", "through-time", "normalised"]
BOARD_METHODS: tuple[BoardMethod, ...] = get_args(BoardMethod)
Judges = Literal["people", "automatic"]
COLUMNS = (
    "rank", "agent", "kind", "mu", "sigma", "low", "high", "score", "beats_next", "above_next",
    "num_answers", "won", "drew", "lost", "num_checked", "num_passed",
)  # fmt: skip
"""What a row says, in JSON and as the columns of the CSV."""

_Value = TypeVar("_Value")


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
    """The answers of one kind of judges, and what was computed from them."""

    def __init__(self) -> None:
        self.by_task: dict[str | None, list[Comparison]] = {}
        self.standings: dict[str | None, Standings] = {}
        self.tracks: dict[str | None, dict[str, Track]] = {}
        self.computed: dict[Any, Any] = {}

    def add(self, logged: store.LoggedAnswer) -> None:
        """Take one more answer into account, overall and in its task."""
        answer = comparison(logged)
        self.computed.clear()
        for board in (None, answer.task):
            self.by_task.setdefault(board, []).append(answer)
            standings = self.standings.setdefault(board, Standings())
            standings.add(answer.left, answer.right, answer.outcome)
            tracks = self.tracks.setdefault(board, defaultdict(Track))
            for agent in (answer.left, answer.right):
                rating, track = standings.rating(agent), tracks[agent]
                track.num_answers.append(standings.num_answers)
                track.mu.append(rating.mu)
                track.sigma.append(rating.sigma)


class Boards:
    """Leaderboards over one judging room; safe to share between threads.

    Everything follows from the log: as long as nobody answers and no ban is made or lifted, nothing is computed twice.
    """

    def __init__(self, judging: Judging) -> None:
        self._judging = judging
        self._lock = threading.Lock()
        self._people = CarriedOn(_Kept, _Kept.add)
        self._automatic: tuple[store.LogState | None, _Kept] = (None, _Kept())

    def board(self, task: str | None = None, method: BoardMethod = "trueskill", judges: Judges = "people") -> dict[str, Any]:
        """Agents by score, of one task or over all tasks.

        Returns:
            What `Judging.leaderboard` says, and: `method`, `judges`, `notes` (what a reader must know about this fit), and
            in each row `low` and `high`, the 95 % interval of mu; `beats_next`, the probability that the next answer about
            this agent and the one in the row below names this one, if it names any (None where the method cannot say);
            `above_next`, the probability that its skill is higher than that one's. The last row has None in both.
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
            rows = _once(kept, (task, method), lambda: _rows(kept, task, method))
            answers = kept.by_task.get(task, [])
            num_judges = _once(kept, (task, "judges"), lambda: len({answer.judge for answer in answers}))
        if judges == "automatic":
            document |= {"num_answers": len(answers), "num_judges": num_judges, "next_pair": None, "unrated": []}
        unknown = {"kind": "agent", "withdrawn": False, "num_checked": 0, "num_passed": 0}
        document["rows"] = [{**unknown, **_kept_facts(facts.get(row["agent"], {})), **row} for row in rows.rows]
        return document | {"method": method, "judges": judges, "notes": list(rows.notes)}

    def tracks(self, task: str | None = None, judges: Judges = "people") -> dict[str, Track]:
        """How ratings moved, answer by answer: agent -> its track, by TrueSkill in the order of the log."""
        with self._judging.database.read() as session, self._lock:
            tracks = self._current(session, judges).tracks.get(task, {})
            return {agent: Track([*one.num_answers], [*one.mu], [*one.sigma]) for agent, one in tracks.items()}

    def _current(self, session: Session, judges: Judges) -> _Kept:
        """What is kept, up to the last answer `session` can see."""
        if judges == "people":
            return self._people.current(session)
        state, (known_state, kept) = store.log_state(session), self._automatic
        if state != known_state:  # made anew: there are few, and they are rarely added
            kept = _Kept()
            for answer in board_store.automatic_answers(session):
                kept.add(answer)
            self._automatic = (state, kept)
        return kept


@dataclass(frozen=True)
class _Rows:
    rows: list[dict[str, Any]]
    notes: tuple[str, ...]


def _once(kept: _Kept, key: Any, compute: Callable[[], _Value]) -> _Value:
    """What was computed since the log last changed, or now."""
    if key not in kept.computed:
        kept.computed[key] = compute()
    return kept.computed[key]


def _kept_facts(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("kind", "withdrawn", "num_checked", "num_passed") if name in row}


def _rows(kept: _Kept, task: str | None, method: BoardMethod) -> _Rows:
    """Rows by score, then by mu, then by name."""
    answers = kept.by_task.get(task, [])
    if not answers:
        return _Rows([], ())
    log = Log.of(answers)
    ranking = _normalised(kept, task, log.agents) if method == "normalised" else _ranking(kept, task, log, method)
    counts = log.won_drew_lost()
    better = None if method == "normalised" else beats(ranking)
    higher = above(ranking)
    place = ranks(ranking.score)
    order = sorted(range(len(log.agents)), key=lambda n: (-ranking.score[n], -ranking.mu[n], log.agents[n]))
    rows = []
    for n, following in zip(order, [*order[1:], None], strict=True):
        won, drew, lost = (int(count) for count in counts[n])
        mu, sigma = float(ranking.mu[n]), float(ranking.sigma[n])
        rows.append(
            {
                "rank": int(place[n]),
                "agent": log.agents[n],
                "mu": mu,
                "sigma": sigma,
                "low": mu - Z95 * sigma,
                "high": mu + Z95 * sigma,
                "score": float(ranking.score[n]),
                "beats_next": None if following is None or better is None else float(better[n, following]),
                "above_next": None if following is None else float(higher[n, following]),
                "num_answers": won + drew + lost,
                "won": won,
                "drew": drew,
                "lost": lost,
            }
        )
    return _Rows(rows, ranking.notes)


def _ranking(kept: _Kept, task: str | None, log: Log, method: BoardMethod) -> Ranking:
    if method != "trueskill":
        assert method in METHODS
        return rate(log, method)
    standings = kept.standings[task]
    ratings = [standings.rating(agent) for agent in log.agents]
    mu, sigma = np.array([rating.mu for rating in ratings]), np.array([rating.sigma for rating in ratings])
    return Ranking("trueskill", log.agents, mu, sigma, mu - 3 * sigma, np.diag(sigma**2))


NORMALISED_NOTE = (
    "mean over tasks of how many standard deviations an agent's mu is above the mean of all agents in that task; the interval "
    "takes that mean and that deviation for known"
)


def _normalised(kept: _Kept, task: str | None, agents: tuple[str, ...]) -> Ranking:
    """The normalised score over the tasks with answers, or in one of them; see `rank.compare.normalised`."""
    tasks = [task] if task is not None else [one for one in kept.standings if one is not None]
    mu, sigma = np.zeros((len(tasks), len(agents))), np.zeros((len(tasks), len(agents)))
    played = np.zeros((len(tasks), len(agents)), bool)
    for row, one in enumerate(tasks):
        for column, agent in enumerate(agents):
            if agent in kept.tracks[one]:
                rating = kept.standings[one].rating(agent)
                mu[row, column], sigma[row, column], played[row, column] = rating.mu, rating.sigma, True
    score = normalised(mu, played)
    deviation = np.array([values[there].std() for values, there in zip(mu, played, strict=True)])
    scaled = np.where(played, sigma / np.where(deviation > 0, deviation, 1)[:, None], 0)
    error = np.sqrt((scaled**2).sum(axis=0)) / np.maximum(played.sum(axis=0), 1)
    # The method of a Ranking names how pairs are compared; `beats` is not asked for here.
    return Ranking("trueskill", agents, score, error, score, np.diag(error**2), (NORMALISED_NOTE,))
