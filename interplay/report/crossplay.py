"""`interplay report crossplay`: how well each agent plays with each other agent, seat by seat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.errors import InterplayError, unknown_name
from interplay.record import OUTCOME_CHECK_SUCCESS, Archive, Episode
from interplay.report.plots import plot_matrix
from interplay.report.statistics import mean_interval
from interplay.report.table import Cell, Column, Figure, Report, Section, Table, number_columns
from interplay.statistics import Measure
from interplay.tasks import Task
from interplay.wording import amount

RETURN = "return"
"""Name of the default score of a seat: the sum of the seat's rewards."""
PEOPLE = "people"


class Game(NamedTuple):
    """One game: names and scores by seat; all people have the same name."""

    names: dict[str, str]
    scores: dict[str, float]
    seed: int


class Place(NamedTuple):
    """A cell of a matrix: an agent in a seat, and the agent in all other seats."""

    seat: str
    agent: str
    other: str


def games_of(archive: Archive, episodes: Iterable[Episode], score: str) -> list[Game]:
    """Read the games for the tables from episodes; a game that lacks the score is left out.

    `score`: `return` or a statistic, such as `automatic_success`: that of a seat's player, or else that of the episode.

    Raises:
        NotFoundError: If no episode has that statistic.
    """
    episodes = list(episodes)
    measures = {} if score == RETURN else archive.measures(episodes)
    found, known = [], set[str]()
    for episode in episodes:
        mine = measures.get(episode.id, [])
        known |= {one.name for one in mine} | {name for name, value in episode.statistics.items() if not isinstance(value, str)}
        scores = {held.seat: _score(episode, held.seat, held.actor, held.total_reward, mine, score) for held in episode.seats}
        if all(value is not None for value in scores.values()):
            names = {held.seat: PEOPLE if held.actor_kind == "human" else held.actor for held in episode.seats}
            found.append(Game(names, {seat: float(value or 0.0) for seat, value in scores.items()}, episode.seed))
    if episodes and not found:
        raise unknown_name("statistic", score, sorted(known | {RETURN}), hint="--score takes a statistic of these games.")
    return found


def _score(
    episode: Episode, seat: str, actor: str, total_reward: float, measures: Sequence[Measure], score: str
) -> float | None:
    if score == RETURN:
        return total_reward
    own = next((one.value for one in measures if (one.seat, one.actor, one.name) == (seat, actor, score)), None)
    value = episode.statistics.get(score) if own is None else own
    return None if value is None or isinstance(value, str) else float(value)


def peoples_games(archive: Archive, task: Task, agents: Iterable[str]) -> list[Episode]:
    """Return games of this version of a task that people played with people or `agents`, with one player in each seat."""
    known = set(agents)
    return [
        episode
        for episode in archive.episodes(task=task, task_hash=task.content_hash, actor="human")
        if [held.seat for held in episode.seats] == list(task.seats)
        and all(held.actor_kind == "human" or held.actor in known for held in episode.seats)
    ]


def default_score(episodes: Sequence[Episode]) -> str:
    """Return the default score: the outcome check if no game has rewards and every game has the check, else `return`."""
    has_rewards = any(held.total_reward for episode in episodes for held in episode.seats)
    checked = bool(episodes) and all(OUTCOME_CHECK_SUCCESS in episode.statistics for episode in episodes)
    return OUTCOME_CHECK_SUCCESS if checked and not has_rewards else RETURN


def crossplay_report(
    task: Task,
    games: Sequence[Game],
    agents: Sequence[str],
    *,
    score: str,
    seeds: Sequence[int],
    facts: Mapping[str, str] | None = None,
) -> Report:
    """Make the report on a task's games; rows and columns have the order of `agents`; `seeds` are those of agents' games."""
    if not games:
        raise InterplayError(f"there are no games of {task.id} to report on")
    order = [*agents, *([PEOPLE] if any(PEOPLE in game.names.values() for game in games) else [])]
    label = "return" if score == RETURN else score
    is_one = all(len(set(game.scores.values())) == 1 for game in games)
    seats = task.seats[:1] if is_one else task.seats
    cells = _cells(task, games)
    num_people = sum(PEOPLE in game.names.values() for game in games)
    said = [
        f"n = {amount(len(games), 'game')}; {len(games) - num_people:,} of agents alone, all on the seeds "
        f"{', '.join(map(str, seeds))}. Each agent sits in each seat, with each agent in the other "
        + ("seat" if len(task.seats) == 2 else "seats")
        + ", and with itself. "
        + (
            "Both seats always had the same score, so one matrix shows everything."
            if is_one and len(task.seats) == 2
            else "All seats always had the same score, so one matrix shows everything."
            if is_one
            else "The seats have scores of their own, and there is a matrix for each."
        )
    ]
    if num_people:
        said.append(f"Games of people ({num_people:,}) are counted as they were recorded, on seeds of their own.")
    if len(task.seats) > 2:
        said.append("With more than two seats, one agent sits in one seat and another one in all the others.")
    figures = [_matrix(task, seat, order, cells, label, is_one) for seat in seats]
    blocks = (*figures, _scores(task, games, order, label), _with_others(cells, order, label))
    seats_word = " and ".join(task.seats)
    return Report(
        "crossplay",
        f"How well agents play with each other: {task.title}",
        f"Every agent with every other in {task.id}, in the seats {seats_word}. Score: {label}"
        + (", the sum of a seat's rewards." if score == RETURN else ", a statistic of each game."),
        (Section("crossplay", "Every agent with every other", tuple(said), blocks),),
        (("games", f"{len(games):,}"), ("agents", str(len(order))), ("seeds", str(len(seeds))), *(facts or {}).items()),
    )


_Scores = list[tuple[int, float]]


def _of_seeds(scores: Iterable[tuple[int, float]]) -> list[float]:
    """Return the mean score on each seed: games on one seed are alike, and deterministic agents repeat the same game."""
    found: dict[int, list[float]] = {}
    for seed, score in scores:
        found.setdefault(seed, []).append(score)
    return [float(np.mean(of_seed)) for of_seed in found.values()]


def _cells(task: Task, games: Sequence[Game]) -> dict[Place, _Scores]:
    found: dict[Place, _Scores] = {}
    for game in games:
        for seat in task.seats:
            others = {name for other, name in game.names.items() if other != seat}
            if len(others) == 1:
                found.setdefault(Place(seat, game.names[seat], others.pop()), []).append((game.seed, game.scores[seat]))
    return found


def _matrix(task: Task, seat: str, order: Sequence[str], cells: Mapping[Place, _Scores], label: str, is_one: bool) -> Figure:
    records: list[dict[str, Any]] = []
    for agent in order:
        for other in order:
            scores = cells.get(Place(seat, agent, other), [])
            means = _of_seeds(scores)
            low, high = mean_interval(means) if means else (None, None)
            mean = float(np.mean(means)) if means else None
            records.append({"row": agent, "column": other, "value": mean, "low": low, "high": high, "num": len(scores)})
    known = [abs(one["value"]) for one in records if one["value"] is not None]
    digits = 2 if known and max(known) < 10 else 0 if known and max(known) >= 1000 else 1
    others = " and ".join(other for other in task.seats if other != seat)
    whose = "of the team" if is_one else f"of {seat}"
    return Figure(
        f"matrix-{seat}",
        f"Mean score {whose}",
        f"Rows: who sits in {seat}. Columns: who sits in {others}. Number: mean {label} {whose}. Framed: an agent with "
        "itself. A dash: no game. Darker is more.",
        records,
        lambda table, ax: plot_matrix(table, ax, rows=f"in {seat}", columns=f"in {others}", digits=digits),
        "; ".join(f"{one['row']} with {one['column']} {one['value']:.1f}" for one in records if one["value"] is not None),
        height_in=1.4 + 0.5 * len(order),
    )


def _scores(task: Task, games: Sequence[Game], order: Sequence[str], label: str) -> Table:
    groups: dict[tuple[str, ...], list[Game]] = {}
    for game in games:
        groups.setdefault(tuple(game.names[seat] for seat in task.seats), []).append(game)
    rows: list[tuple[Cell, ...]] = []
    for who in sorted(groups, key=lambda who: [order.index(name) for name in who]):
        row: list[Cell] = [*who, len(groups[who])]
        for seat in task.seats:
            means = _of_seeds((game.seed, game.scores[seat]) for game in groups[who])
            row += [float(np.mean(means)), *mean_interval(means)]
        rows.append((*row, "itself" if len(set(who)) == 1 else ""))
    return Table(
        "scores",
        "Every line-up, with intervals",
        (
            *(Column(f"in {seat}") for seat in task.seats),
            Column("games", "count"),
            *number_columns(*(f"{seat}: {part}" for seat in task.seats for part in ("mean", "from", "to"))),
            Column("with"),
        ),
        tuple(rows),
        f"Mean {label} of each seat with Student's 95 % interval over seeds, on each of which its games count "
        "as one. One seed has no interval, and neither have seeds that all gave the same. It is about seeds that are drawn as "
        "these were.",
    )


def _with_others(cells: Mapping[Place, _Scores], order: Sequence[str], label: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for agent in order:
        own = [score for cell, scores in cells.items() if cell.agent == cell.other == agent for score in scores]
        others = [score for cell, scores in cells.items() if cell.agent == agent != cell.other for score in scores]
        partners = [score for cell, scores in cells.items() if cell.other == agent != cell.agent for score in scores]
        means = [float(np.mean(_of_seeds(scores))) if scores else None for scores in (own, others, partners)]
        gap = None if means[0] is None or means[1] is None else means[0] - means[1]
        rows.append(
            (agent, *means[:2], *(mean_interval(_of_seeds(others)) if others else (None, None)), gap, means[2], len(others))
        )
    return Table(
        "with-others",
        "With itself and with others",
        (
            Column("agent"),
            *number_columns("with itself", "with others", "from", "to", "difference", "others with it"),
            Column("games with others", "count"),
        ),
        tuple(rows),
        f"Mean {label} of the agent's own seat, over all orders of the seats, with Student's 95 % interval over seeds. "
        "Others with it: what the others score beside "
        "it. An agent that is much better with itself than with others relies on habits that others do not share.",
    )
