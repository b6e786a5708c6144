"""`interplay report bedd`: all tables and figures of BEDD's sections 4 and 5 and appendix E, from answers of any archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import Any

from sqlalchemy.orm import Session

from interplay.errors import InterplayError, unknown_name
from interplay.report.bedd.demonstrations import Effort, proxy_section
from interplay.report.bedd.factors import factor_section
from interplay.report.bedd.paper import paper, published
from interplay.report.bedd.ratings import boards_of, focus_agents, methods_table, rating_section, resampling_of
from interplay.report.bedd.reasons import among, by_agent, by_task, read
from interplay.report.bedd.tasks import Forms, data_section, timing_section
from interplay.report.bedd.texts import text_blocks
from interplay.report.statistics import anova_from_summaries
from interplay.report.table import Report, Section, Table, text_columns
from interplay.store import Database
from interplay.store.judging.verdicts import FullAnswer, full_answers, judged_definitions, num_full_answers
from interplay.tasks import Task, builtin_suites


class NothingToReportError(InterplayError):
    """Raised when the report finds no answers."""


def database_report(
    database: Database,
    *,
    on_begin: Callable[[int], Callable[[], None]] = lambda total: lambda: None,
    **options: Any,
) -> Report:
    """Make the whole report from the answers of a database, all read at the same moment.

    Args:
        on_begin: Called with the number of answers; it returns a function that is called after each answer.
        options: Arguments of `bedd_report`; its errors can occur, too.
    """
    with database.read() as session:
        on_answer = on_begin(num_full_answers(session))
        return bedd_report(full_answers(session), forms(session), on_answer=on_answer, **options)


def forms(session: Session) -> Forms:
    """Return task id -> questions, from the version of the task that was judged, or else from the built-in task."""
    known = {task.id: task.questions for suite in builtin_suites() for task in suite.tasks}
    return known | {id: Task.from_json(definition).questions for id, definition in judged_definitions(session).items()}


def bedd_report(
    answers: Iterable[FullAnswer],
    forms: Forms,
    *,
    agents: Sequence[str] | None = None,
    efforts: Sequence[Effort] = (),
    effort_source: str = "",
    seed: int = 0,
    on_answer: Callable[[], None] = lambda: None,
) -> Report:
    """Make the whole report from answers.

    Args:
        answers: The answers that count, in the order of the log.
        agents: Agents for the details; by default the paper's six, if they were judged, then the best by score.
    Raises:
        NothingToReportError: If there is no answer.
        NotFoundError: If one of `agents` was never judged.
    """
    readings = read(answers, on_answer=on_answer)
    if not readings:
        raise NothingToReportError(
            "there are no answers to report on\n"
            "Import the published ones with `interplay judge import`, or compare some videos: interplay serve"
        )
    resampling = resampling_of(readings, seed)
    boards = boards_of(readings, resampling)
    judged = [row.agent for row in boards.overall.rows]
    for agent in agents or ():
        if agent not in judged:
            raise unknown_name("agent", agent, judged, hint="--agents takes agents that were judged.")
    focus = list(dict.fromkeys(agents or focus_agents(boards)))
    roster = [*focus, *(agent for agent in judged if agent not in focus)]
    tasks = by_task(readings)
    groups = by_agent(readings, focus)
    sections = [
        data_section(tasks, readings, forms, among(readings, focus), focus),
        timing_section(tasks),
        Section("by-task", "Reasons by task", ("Words of judges, task by task.",), list(text_blocks(tasks, "tasks"))),
        Section(
            "by-agent",
            "Reasons by agent",
            ("Words of judges in all comparisons of an agent, those it won and those it lost.",),
            list(text_blocks(groups, "agents", roster)),
        ),
        rating_section(boards, resampling, focus, roster, methods_table(boards.overall, tasks, forms)),
        factor_section(tasks, forms, focus, roster),
        proxy_section(efforts, effort_source),
        _inconsistency_section(),
    ]
    days = [reading.answer.created_at.date().isoformat() for reading in readings]
    first, last = min(days), max(days)
    facts = (
        ("answers", f"{len(readings):,}"),
        ("tasks", str(len(tasks))),
        ("agents", str(len(judged))),
        ("judges", f"{len({reading.answer.judge for reading in readings}):,}"),
        ("answered", first if first == last else f"{first} to {last}"),
    )
    return Report(
        "bedd",
        "Human judgements of agents",
        "The analyses of BEDD (Milani et al. 2023) on these answers. "
        "Small print under a number is the paper's number and, in brackets, our number minus the paper's.",
        sections,
        facts,
    )


def _inconsistency_section() -> Section:
    """List the values of the paper that contradict each other, so that readers expect no match there."""
    tasks = paper()["tasks"]
    statistic, p = anova_from_summaries(
        {name: (row["comparisons"], row["words_mean"], row["words_se"]) for name, row in tasks.items()}
    )
    total_s, comparisons = sum(row["total_s"] for row in tasks.values()), published("overall", "comparisons")
    again = {
        "statistic": statistic,
        "p": p,
        "error_s": tasks["FindCave"]["seconds_sd"] / sqrt(tasks["FindCave"]["comparisons"]),
        "minutes": total_s / comparisons / 60,
        "total_s": total_s,
        "comparisons": comparisons,
        "hours": total_s / 3600,
        "demonstration_hours": sum(row["hours"] for row in paper()["demonstrations"].values()),
    }
    said = (
        "The columns beside our numbers show these values as they are printed. So a difference there may be an error of "
        "the paper.",
    )
    table = Table(
        "paper-inconsistencies",
        "Printed and computed again",
        text_columns("what", "printed", "what other printed numbers say"),
        tuple((one["what"], one["printed"], one["follows"].format(**again)) for one in paper()["inconsistencies"]),
        "Computed for this report from the paper's own numbers.",
    )
    return Section("inconsistencies", "Where the paper disagrees with itself", said, (table,))
