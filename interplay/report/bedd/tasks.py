"""The chapters about the data set and about time, by task: BEDD's tables 2 and 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.report.bedd.paper import published
from interplay.report.bedd.reasons import SENTIMENTS, Groups, Reading, points_per_answer, sentiment_counts
from interplay.report.plots import SPREAD_CAPTION, plot_spreads
from interplay.report.statistics import describe, spread
from interplay.report.table import Column, Figure, Measured, Section, Table, count_columns, number_columns
from interplay.tasks import Question

Forms = Mapping[str, Sequence[Question]]


def data_section(
    groups: Groups, readings: Sequence[Reading], forms: Forms, of_focus: Sequence[Reading], focus: Sequence[str]
) -> Section:
    """Make the chapter about the amount of data; `of_focus` has only the answers that compare two agents of `focus`."""
    return Section(
        "data",
        "The data set",
        ("How much was compared, by whom, and how much each answer says.",),
        (
            _data_table(groups, readings),
            _totals_table(readings, forms, of_focus, focus),
            _points_table(groups, forms),
            _judges(readings),
        ),
    )


def timing_section(groups: Groups) -> Section:
    rows = []
    for name, readings in [*groups.items(), ("all", [each for group in groups.values() for each in group])]:
        seconds, total_s = describe(_seconds(readings)), sum(_seconds(readings))
        where = ("overall",) if name == "all" else ("tasks", name)
        mean = published("tasks", name, "seconds") if name != "all" else published("overall", "minutes_per_comparison") * 60
        rows.append(
            (
                name,
                len(readings),
                Measured(seconds.mean, mean),
                seconds.median,
                Measured(seconds.sd, published(*where, "seconds_sd")),
                seconds.se,
                Measured(total_s, published(*where, "total_s")),
                total_s / 3600,
            )
        )
    table = Table(
        "time-by-task",
        "Time per comparison in seconds (table 5)",
        (
            Column("task"),
            Column("answers", "count"),
            *number_columns("mean (s)", "median (s)", "standard deviation (s)", "standard error (s)", "total (s)", "total (h)"),
        ),
        tuple(rows),
        "Time from the moment a match is shown to its answer. The paper calls its ± a standard error. Here it stands beside "
        "our standard deviation, because a standard error over hundreds of answers would be about ten seconds. Some times "
        "are very long, so the median shows a typical answer better than the mean. The paper's mean over all is 5.12 minutes.",
    )
    minutes = {name: [seconds / 60 for seconds in _seconds(group)] for name, group in groups.items()}
    records = [{"name": name} | spread(values) for name, values in minutes.items() if values]
    figure = Figure(
        "figure-timing",
        "Time per comparison",
        SPREAD_CAPTION,
        records,
        lambda table, ax: plot_spreads(table, ax, label="minutes per comparison"),
        "; ".join(f"{row['name']}: median {row['median']:.1f} minutes" for row in records),
        height_in=1.0 + 0.55 * len(records),
    )
    return Section("timing", "Time", ("How long judges took, from being shown two videos to answering.",), (figure, table))


def _seconds(readings: Sequence[Reading]) -> list[float]:
    return [reading.answer.duration_s for reading in readings if reading.answer.duration_s is not None]


def _data_table(groups: Groups, readings: Sequence[Reading]) -> Table:
    rows = []
    for name, group in [*groups.items(), ("all", readings)]:
        where = ("overall",) if name == "all" else ("tasks", name)
        counts = sentiment_counts(reading.sentiment for reading in group)
        ours = {
            "comparisons": len(group),
            "hours": sum(_seconds(group)) / 3600,
            "words": sum(reading.num_words for reading in group),
            **{each: 100 * count / len(group) for count, each in zip(counts, SENTIMENTS, strict=True)},
        }
        rows.append((name, *(Measured(value, published(*where, key)) for key, value in ours.items())))
    return Table(
        "data-by-task",
        "Answers by task (table 2)",
        (
            Column("task"),
            Column("comparisons", "count"),
            Column("hours", "number", 1),
            Column("words", "count"),
            *number_columns(*(f"{each} (%)" for each in SENTIMENTS)),
        ),
        tuple(rows),
        "Hours are the sum of the times from showing a match to its answer. Words are those of the reasons. Sentiments are "
        "compared with table 6, which has more digits than table 2.",
    )


def _totals_table(readings: Sequence[Reading], forms: Forms, of_focus: Sequence[Reading], focus: Sequence[str]) -> Table:
    agents = {agent for reading in readings for agent in (reading.answer.left, reading.answer.right)}
    points = sum(points_per_answer(tuple(forms.get(reading.answer.task, ()))) for reading in readings)
    is_theirs = set(focus) == set(published("source", "agents"))
    theirs = {name: published("overall", name) if is_theirs else None for name in ("focus_comparisons", "focus_hours")}
    rows = (
        ("comparisons", Measured(len(readings), published("overall", "comparisons"))),
        ("single judgements (comparison points)", Measured(points, published("overall", "comparison_points"))),
        ("judges", Measured(len({reading.answer.judge for reading in readings}), published("overall", "workers"))),
        ("agents", Measured(len(agents), published("overall", "agents"))),
        ("comparisons among " + ", ".join(focus), Measured(len(of_focus), theirs["focus_comparisons"])),
        ("hours of those comparisons", Measured(sum(_seconds(of_focus)) / 3600, theirs["focus_hours"])),
        ("draws", sum(reading.answer.outcome == "draw" for reading in readings)),
    )
    return Table(
        "totals",
        "In all (section 3.2)",
        (Column("what"), Column("number", "mixed", 1)),
        rows,
        "Judges whose answers do not count are left out. The paper counts 394 comparisons among its six agents, nearly 34 "
        "hours (section 5).",
    )


def _points_table(groups: Groups, forms: Forms) -> Table:
    rows: list[tuple[Any, ...]] = []
    for name, group in groups.items():
        questions = forms.get(group[0].answer.task, ())
        kinds = Counter(question.kind for question in questions)
        per_answer = points_per_answer(tuple(questions))
        rows.append((name, len(group), kinds["direct"], kinds["comparative"], per_answer, per_answer * len(group)))
    rows.append(("all", sum(row[1] for row in rows), None, None, None, sum(row[5] for row in rows)))
    return Table(
        "points",
        "Single judgements by task",
        (
            Column("task"),
            *count_columns("answers", "direct questions", "comparative questions", "judgements per answer", "judgements"),
        ),
        tuple(rows),
        "One for the overall question, one for each direct and each comparative question of the form.",
    )


def _judges(readings: Sequence[Reading]) -> Table:
    answers = Counter(reading.answer.judge for reading in readings)
    counts = sorted(answers.values())
    hours = Counter[str]()
    for reading in readings:
        hours[reading.answer.judge] += (reading.answer.duration_s or 0) / 3600  # type: ignore[assignment]
    median = float(np.median(counts))
    rows = (
        ("fewest answers of a judge", counts[0]),
        ("median", int(median) if median.is_integer() else median),
        ("most", counts[-1]),
        ("share of the busiest judge (%)", 100 * counts[-1] / len(readings)),
        ("hours of a judge, median", float(np.median(list(hours.values())))),
    )
    return Table(
        "judges",
        "Work per judge",
        (Column("what"), Column("number", "mixed", 1)),
        rows,
        "Over judges with an answer that counts.",
    )
