"""Compare groups of people: incentive treatments, and teams of several seats.

Treatments are compared by each person's amount of good data (section 4.3, figure 4 and tables 3 and 4 of CrowdPlay); teams
are compared by the players who played together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.report.crowdplay.plays import Play, Quality
from interplay.report.plots import SPREAD_CAPTION, plot_intervals, plot_spreads
from interplay.report.statistics import SIGNIFICANCE, describe, mann_whitney, mean_interval, spread
from interplay.report.table import Cell, Column, Figure, Section, Table, number_columns, text_columns
from interplay.wording import amount

FEW = 8
"""Least number of people in a treatment for which its distribution tells something."""


class Given(NamedTuple):
    """One person's seconds under one treatment: seconds of good plays, and of all plays."""

    good_s: float
    total_s: float

    @property
    def share(self) -> float:
        return self.good_s / self.total_s if self.total_s else 0.0


def treatments(plays: Sequence[Play], quality: Quality) -> dict[tuple[str, str], dict[str, list[Given]]]:
    """Return (task title, variant) -> treatment -> each person's seconds, for variants with two treatments or more.

    A treatment is a study; if people came to a study through several channels, each channel is a treatment, as in the paper.
    """
    visits = [play for play in plays if play.is_person and play.held.study is not None]
    channels: dict[str, set[str]] = {}
    for play in visits:
        channels.setdefault(play.held.study or "", set()).add(play.channel)
    given: dict[tuple[str, str], dict[str, dict[str, list[float]]]] = {}
    for play in visits:
        study = play.held.study or ""
        name = study if len(channels[study]) == 1 else f"{study}, {play.channel}"
        person = str(play.held.participant_id or play.held.actor)
        of_person = given.setdefault((play.task.title, play.behaviour), {}).setdefault(name, {}).setdefault(person, [0.0, 0.0])
        of_person[0] += play.seconds if quality.is_good(play) else 0.0
        of_person[1] += play.seconds
    return {
        what: {name: [Given(*seconds) for seconds in people.values()] for name, people in sorted(by_name.items())}
        for what, by_name in sorted(given.items())
        if len(by_name) > 1
    }


def treatments_section(plays: Sequence[Play], quality: Quality) -> Section:
    found = treatments(plays, quality)
    if not found:
        return Section(
            "treatments",
            "Incentives",
            (
                "Nothing to compare: that takes two studies, or one study with two channels, in which people played the "
                "same variant of the same task. The five treatments of the paper are the studies incentives-time, "
                "incentives-active-time, incentives-requirement, incentives-bonus and incentives-all.",
            ),
        )
    said = [
        "How much good data one person gave under each treatment: in seconds, and as a share of all that the person played. "
        f"Good: {quality.in_words} All plays stand beside good ones, so that the filter can be judged.",
    ]
    blocks: list[Table | Figure] = []
    for number, ((task, variant), groups) in enumerate(found.items(), start=1):
        few = [f"{name} (n = {len(people)})" for name, people in groups.items() if len(people) < FEW]
        if few:
            said.append(f"Few people, so that only large differences could show: {', '.join(few)}, in {task}, {variant}.")
        blocks += _blocks(number, f"{task}, {variant}", groups)
    return Section("treatments", "Incentives", tuple(said), tuple(blocks))


def _blocks(number: int, what: str, groups: dict[str, list[Given]]) -> list[Table | Figure]:
    blocks: list[Table | Figure] = [_amounts(number, what, groups)]
    measures = {
        "seconds": ("seconds of good data a person", {name: [one.good_s for one in people] for name, people in groups.items()}),
        "share": (
            "share of good data (%) a person",
            {name: [100 * one.share for one in people] for name, people in groups.items()},
        ),
    }
    for id, (label, values) in measures.items():
        records = [{"name": name} | spread(of_name) for name, of_name in values.items()]
        blocks.append(
            Figure(
                f"figure-treatments-{number}-{id}",
                f"{what}: {label} (figure 4)",
                f"{SPREAD_CAPTION} Of people; the paper's bars show means.",
                records,
                lambda table, ax, label=label: plot_spreads(table, ax, label=label),  # type: ignore[misc]
                "; ".join(f"{row['name']}: median {row['median']:.1f}" for row in records),
                height_in=1.0 + 0.55 * len(records),
            )
        )
        blocks.append(_tests(number, what, id, label, values))
    return blocks


def _amounts(number: int, what: str, groups: dict[str, list[Given]]) -> Table:
    rows = []
    for name, people in groups.items():
        total, good = describe([one.total_s for one in people]), describe([one.good_s for one in people])
        share = describe([100 * one.share for one in people])
        rows.append((name, len(people), total.mean, good.mean, good.median, share.mean, share.median))
    return Table(
        f"treatments-{number}",
        f"{what}: data a person, by treatment",
        (
            Column("treatment"),
            Column("people", "count"),
            *number_columns(
                "all, mean (s)",
                "good, mean (s)",
                "good, median (s)",
                "good share, mean (%)",
                "good share, median (%)",
                digits=1,
            ),
        ),
        tuple(rows),
        "Over people who played at all; visits without a recorded game are not in it. A person who came to a study twice "
        "counts once.",
    )


def _tests(number: int, what: str, id: str, label: str, values: dict[str, list[float]]) -> Table:
    tests = mann_whitney(values)
    return Table(
        f"treatments-{number}-{id}-pairs",
        f"{what}: {label}, pairs of treatments (table {'3' if id == 'seconds' else '4'})",
        (
            *text_columns("first", "second", "people"),
            Column("U", "mixed", 1),
            Column("p", "p"),
            Column("p corrected", "p"),
            *number_columns("chance that the first is higher", "from", "to"),
            Column("significant"),
        ),
        tuple((test.a, test.b, f"{test.num_a} and {test.num_b}", *test[4:], test.corrected_p < SIGNIFICANCE) for test in tests),
        f"Two-sided Mann-Whitney tests, corrected by Holm's method over these {len(tests)} pairs. The effect is the chance "
        "that a person of the first treatment gives more than one of the second, ties by half: 0.5 means no difference. Its "
        "95 % interval is Newcombe's (2006, method 5), for each pair alone. The paper tests means and does not correct.",
    )


class Team(NamedTuple):
    """One game of several seats; `pairing` names the players in words, without their seats."""

    task: str
    title: str
    pairing: str
    scores: dict[str, float]

    @property
    def score(self) -> float:
        return float(np.mean(list(self.scores.values())))


def teams(plays: Sequence[Play]) -> list[Team]:
    """Return every game of several seats, oldest first; a seat that several played has the names of all of them."""
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
