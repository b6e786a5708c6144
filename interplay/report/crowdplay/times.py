"""Make the sections about hours and latency of CrowdPlay (Gerstgrasser et al. 2022).

Hours are by task and channel (table 2). Latency is a distribution; the paper gives its median, seven frames or 116 ms
(appendix A.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.report.crowdplay.plays import OWN, Play, Quality
from interplay.report.plots import SPREAD_CAPTION, plot_shares_below, plot_spreads
from interplay.report.statistics import spread
from interplay.report.table import Cell, Column, Figure, Section, Table, count_columns, number_columns


def hours_section(plays: Sequence[Play], quality: Quality) -> Section:
    people = [play for play in plays if play.is_person]
    channels = sorted({play.channel for play in people}, key=lambda name: (name == OWN, name))
    said = (
        f"n = {len(people):,} plays of people in {len({play.held.episode for play in people}):,} episodes, by "
        f"{len({play.held.participant_id or play.held.actor for play in people}):,} people. A play is what one person did in "
        "one seat of one episode.",
    )
    if not people:
        said = ("No person has played anything in this data folder yet, so there are no hours to show.",)
    return Section("hours", "Hours by task and channel", said, (_hours(people, channels, quality), _actors(plays)))


def _hours(people: Sequence[Play], channels: Sequence[str], quality: Quality) -> Table:
    columns = (
        Column("task"),
        Column("plays", "count"),
        *number_columns(*(f"{channel} (h)" for channel in channels)),
        *number_columns("total (h)", "good (h)"),
    )

    def row(name: str, part: Sequence[Play]) -> tuple[Cell, ...]:
        hours = [sum(play.seconds for play in part if play.channel == channel) / 3600 for channel in channels]
        good = sum(play.seconds for play in part if quality.is_good(play)) / 3600
        return (name, len(part), *(value or None for value in hours), sum(hours), good)

    rows: list[tuple[Cell, ...]] = []
    groups: dict[tuple[str, str], list[Play]] = {}
    for play in people:
        groups.setdefault((play.task.title, play.task.id), []).append(play)
    for (title, _), part in sorted(groups.items()):
        rows.append(row(title, part))
        parts: dict[str, list[Play]] = {}
        for play in part:
            parts.setdefault(_part(play, people), []).append(play)
        if len(parts) > 1:
            rows += [row(f"– {name}", parts[name]) for name in sorted(parts)]
    rows.append(row("all", people))
    return Table(
        "hours-by-task",
        "Hours of people by task and channel (table 2)",
        columns,
        tuple(rows),
        "Hours in which a person had a seat, at the task's frame rate; two people in one game count twice. Lines with a "
        "dash are parts of the line above: what the study asked for, and in games of several seats whether an agent played "
        f"too. Good: {quality.in_words}",
    )


def _part(play: Play, people: Sequence[Play]) -> str:
    name = play.held.variant or "plain"
    if len(play.task.seats) == 1:
        return name
    company = sum(one.held.episode == play.held.episode and one.held.seat != play.held.seat for one in people)
    others = "people only" if company == len(play.task.seats) - 1 else "with an agent"
    return others if play.held.variant is None else f"{name}, {others}"


def _actors(plays: Sequence[Play]) -> Table:
    rows = []
    for kind, title in (("human", "people"), ("agent", "agents"), ("model", "language models")):
        part = [play for play in plays if play.held.kind == kind]
        rows.append(
            (
                title,
                len({play.held.participant_id or play.held.actor for play in part}),
                len({play.held.episode for play in part}),
                sum(play.held.num_steps for play in part),
                sum(play.seconds for play in part) / 3600,
                sum(bool(play.unread) for play in part),
            )
        )
    return Table(
        "who-played",
        "Who played",
        (
            Column("kind"),
            *count_columns("different ones", "episodes", "steps"),
            Column("hours", "number"),
            Column("not readable", "count"),
        ),
        tuple(rows),
        "Not readable: plays whose file is gone or damaged. They count here, by what the catalogue says, and in no other "
        "section that needs their steps.",
    )


LEVELS = (5, 25, 50, 75, 95, 99)
PAPER_MS = 116
_POINTS = 100
"""Most points of a line; more would not be visible."""


def latency_section(plays: Sequence[Play]) -> Section:
    """Make the section on latency, by task: from the frame on screen at a key press until the press took effect."""
    people = [play for play in plays if play.is_person]
    known = [play for play in people if len(play.latencies_ms)]
    groups: dict[str, list[Play]] = {}
    for play in known:
        groups.setdefault(play.task.title, []).append(play)
    if not known:
        return Section(
            "latency",
            "Latency",
            (f"None of the {len(people)} plays of people says anything of latency: that takes games in the browser.",),
        )
    values = {title: np.concatenate([play.latencies_ms for play in part]) for title, part in sorted(groups.items())}
    everything = np.concatenate(list(values.values()))
    said = (
        f"n = {len(everything):,} inputs in {len(known):,} plays; {len(people) - len(known):,} plays of people say nothing "
        "of latency. Measured for each input, from the moment the server made the frame that was on screen when the key was "
        "pressed, until the step in which the press took effect.",
    )
    rows: list[tuple[Cell, ...]] = []
    for title, part in [*groups.items(), ("all", known)]:
        of_part = everything if title == "all" else values[title]
        frames = np.concatenate([play.latencies_ms * play.task.frame_rate_hz / 1000 for play in part])
        levels = np.percentile(of_part, LEVELS)
        rows.append((title, len(part), len(of_part), *map(float, levels), float(np.median(frames))))
    table = Table(
        "latency",
        "Latency by task, percentiles",
        (
            Column("task"),
            *count_columns("plays", "inputs"),
            *(Column(f"{level} % (ms)", "number", 1) for level in LEVELS),
            Column("median (steps)", "number", 1),
        ),
        tuple(rows),
        f"Inputs count alike, whoever made them. The paper's median over all tasks is 7 frames or {PAPER_MS} ms.",
    )
    medians = [{"name": "plays"} | spread([float(np.median(play.latencies_ms)) for play in known])]
    between_people = Figure(
        "figure-latency-plays",
        "Median latency of a play",
        f"{SPREAD_CAPTION} It shows how much networks and machines of people differ.",
        medians,
        lambda rows, ax: plot_spreads(rows, ax, label="median latency of a play (ms)"),
        f"median {medians[0]['median']:.0f} ms over {len(known)} plays",
        height_in=1.6,
    )
    records = [
        {"name": title, "num": len(of_task), "value": float(value), "share": float(share)}
        for title, of_task in values.items()
        for share, value in zip(*_rising(of_task), strict=True)
    ]
    return Section(
        "latency",
        "Latency",
        said,
        (
            Figure(
                "figure-latency",
                "Share of inputs that took effect within a time",
                "One line a task: at each time, the share of inputs that were no slower.",
                records,
                lambda rows, ax: plot_shares_below(rows, ax, label="latency (ms)"),
                "; ".join(f"{title}: median {np.median(of_task):.0f} ms" for title, of_task in values.items()),
                height_in=3.6,
            ),
            table,
            *([] if len(known) < 2 else [between_people]),
        ),
    )


def _rising(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return percentages, and for each the value that so many per cent of the values do not exceed: at most 101 of both."""
    shares = np.linspace(0, 100, min(_POINTS, len(values)) + 1)
    return shares, np.percentile(values, shares)
