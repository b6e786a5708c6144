"""`interplay report bedd`: every table and figure of BEDD's sections 4 and 5 and appendix E, from answers of any archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from interplay.errors import InterplayError, unknown_name
from interplay.report.bedd.agents import boards_of, focus_agents, rating_section, resampling_of
from interplay.report.bedd.factors import factor_section
from interplay.report.bedd.methods import methods_table
from interplay.report.bedd.tasks import Forms, data_section, timing_section
from interplay.report.bedd.texts import texts
from interplay.report.efforts import Effort
from interplay.report.inconsistencies import inconsistency_section
from interplay.report.proxies import proxy_section
from interplay.report.reading import among, by_agent, by_task, read
from interplay.report.table import Report, Section
from interplay.store.judging.verdicts import FullAnswer, full_answers, judged_definitions, num_full_answers

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from interplay.store import Database


class NothingToReportError(InterplayError):
    """No answer where the report looked."""


def database_report(
    database: Database,
    *,
    agents: Sequence[str] | None = None,
    efforts: Sequence[Effort] = (),
    effort_source: str = "",
    seed: int = 0,
    on_begin: Callable[[int], Callable[[], None]] = lambda total: lambda: None,
) -> Report:
    """The whole report on the answers of a database, read as they are at one moment.

    Args:
        on_begin: Called with the number of answers; what it returns is called after each.
        Others, and errors: As `bedd_report`.
    """
    with database.read() as session:
        on_answer = on_begin(num_full_answers(session))
        return bedd_report(
            full_answers(session), forms(session), agents=agents, efforts=efforts, effort_source=effort_source, seed=seed,
            on_answer=on_answer,
        )  # fmt: skip


def forms(session: Session) -> Forms:
    """Task id -> questions: of the version that answers are about, else of the built-in task."""
    from interplay.tasks import Task, builtin_suites

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
    """The whole report.

    Args:
        answers: Those that count, in the order of the log.
        forms: Task id -> questions.
        agents: Agents to look at; by default the paper's six as far as they were judged, then the best.
        efforts: Demonstrations, counted.
        effort_source: Where those come from, in words.
        seed: Of the bootstrap behind the ratings' intervals.
        on_answer: Called after each answer was read.
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
        Section("by-task", "Reasons by task", ("Words of judges, task by task.",), list(texts(tasks, "tasks"))),
        Section(
            "by-agent",
            "Reasons by agent",
            ("Words of judges in all comparisons of an agent, those it won and those it lost.",),
            list(texts(groups, "agents", roster)),
        ),
        rating_section(boards, resampling, focus, roster, methods_table(boards.overall, tasks, forms)),
        factor_section(tasks, forms, focus, roster),
        proxy_section(efforts, effort_source),
        inconsistency_section(),
    ]
    times = [reading.answer.created_at for reading in readings]
    facts = (
        ("answers", f"{len(readings):,}"),
        ("tasks", str(len(tasks))),
        ("agents", str(len(judged))),
        ("judges", f"{len({reading.answer.judge for reading in readings}):,}"),
        ("answered", _days(min(times).date().isoformat(), max(times).date().isoformat())),
    )
    return Report(
        "bedd",
        "Human judgements of agents",
        "The analyses of BEDD (Milani et al. 2023) on these answers. "
        "Small print under a number is the paper's number and, in brackets, our number minus the paper's.",
        sections,
        facts,
    )


def _days(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"
