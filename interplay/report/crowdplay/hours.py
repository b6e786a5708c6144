"""Hours by task and channel: table 2 of CrowdPlay (Gerstgrasser et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence

from interplay.report.crowdplay.plays import OWN, Play
from interplay.report.crowdplay.quality import Quality
from interplay.report.table import Cell, Column, Section, Table, count_columns, number_columns


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
