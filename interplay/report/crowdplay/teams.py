"""Scores of teams by who played together, in tasks of several seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.report.crowdplay.plays import Play
from interplay.report.plots import plot_intervals
from interplay.report.statistics import mean_interval
from interplay.report.table import Cell, Column, Figure, Section, Table, number_columns, text_columns
from interplay.wording import amount


class Team(NamedTuple):
    """One game of several seats; `pairing` names the players in words, whatever their seats."""

    task: str
    title: str
    pairing: str
    scores: dict[str, float]

    @property
    def score(self) -> float:
        return float(np.mean(list(self.scores.values())))


def teams(plays: Sequence[Play]) -> list[Team]:
    """Every game of several seats, oldest first. A seat that changed hands is named by all who had it."""
    games: dict[str, list[Play]] = {}
    for play in plays:
        if len(play.task.seats) > 1:
            games.setdefault(play.held.episode, []).append(play)
    found = []
    for part in games.values():
        task = part[0].task
        names = [
            ["person" if play.is_person else play.held.actor for play in part if play.held.seat == seat] for seat in task.seats
        ]
        if not all(names):
            continue
        pairing = " + ".join(sorted(" then ".join(dict.fromkeys(held)) for held in names))
        scores = {seat: sum(play.held.total_reward for play in part if play.held.seat == seat) for seat in task.seats}
        found.append(Team(task.id, task.title, pairing, scores))
    return found


def teams_section(plays: Sequence[Play]) -> Section:
    found = teams(plays)
    if not found:
        return Section("teams", "Teams", ("No game of several seats was recorded here, so there are no teams to compare.",))
    by_task: dict[str, list[Team]] = {}
    for team in found:
        by_task.setdefault(team.task, []).append(team)
    rows: list[tuple[Cell, ...]] = []
    figures = []
    for number, (_, part) in enumerate(sorted(by_task.items()), start=1):
        records = _of_task(part)
        rows += [
            (part[0].title, one["name"], one["num"], one["value"], one["low"], one["high"], one["median"], one["apart"])
            for one in records
        ]
        drawn = [one for one in records if np.isfinite(one["low"])]
        if drawn:
            figures.append(
                Figure(
                    f"figure-teams-{number}",
                    f"{part[0].title}: score of a team by pairing",
                    f"n = {amount(len(part), 'game')}. Mean with Student's 95 % interval over games; pairings with one game, "
                    "or with games that all gave the same, have no interval and are in the table alone.",
                    drawn,
                    lambda table, ax: plot_intervals(table, ax, label="score of a team (mean of the seats)"),
                    "; ".join(f"{one['name']}: {one['value']:.1f}" for one in drawn),
                    height_in=1.0 + 0.55 * len(drawn),
                )
            )
    table = Table(
        "teams",
        "Score of a team by pairing",
        (
            *text_columns("task", "pairing"),
            Column("games", "count"),
            *number_columns("mean", "from", "to", "median", "difference of the seats, mean"),
        ),
        tuple(rows),
        "A team's score is the mean of what its seats earned, so that games which give both the same and games which do not "
        "read alike. From and to: Student's 95 % interval of the mean over games. Seats do not count here; the "
        "table of every agent with every other, seat by seat, is interplay report crossplay TASK.",
    )
    said = f"n = {amount(len(found), 'game')} of several seats, in {amount(len(by_task), 'task')}."
    return Section("teams", "Teams", (said,), (*figures, table))


def _of_task(part: Sequence[Team]) -> list[dict[str, Any]]:
    groups: dict[str, list[Team]] = {}
    for team in part:
        groups.setdefault(team.pairing, []).append(team)
    records = []
    for pairing, games in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        scores = [game.score for game in games]
        low, high = mean_interval(scores)
        apart = float(np.mean([max(game.scores.values()) - min(game.scores.values()) for game in games]))
        records.append(
            {
                "name": pairing,
                "num": len(games),
                "value": float(np.mean(scores)),
                "low": low,
                "high": high,
                "median": float(np.median(scores)),
                "apart": apart,
            }
        )
    return records
