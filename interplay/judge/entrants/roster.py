"""`Roster`: list, propose and moderate entrants. It shows each visitor only the entrants that the visitor may know of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from interplay.errors import unknown_name
from interplay.judge.errors import JudgingError
from interplay.store import Database, Entrant
from interplay.store import entrants as store
from interplay.store.entrants import Brought, episodes_of_entrants
from interplay.store.judging.verdicts import Reason, Verdict, judged_definitions, last_reasons, verdicts, watched_tasks
from interplay.store.participants import judge_name
from interplay.tasks import Question, Task


@dataclass
class Counts:
    """Numbers of answers about one agent: `won` prefer it, `drew` are draws, `lost` prefer its opponent, `na` cannot tell."""

    won: int = 0
    drew: int = 0
    lost: int = 0
    na: int = 0

    @property
    def total(self) -> int:
        return self.won + self.drew + self.lost

    def add(self, choice: str, *, is_left: bool) -> None:
        if choice == "na":
            self.na += 1
        elif choice == "draw":
            self.drew += 1
        elif (choice == "left") == is_left:
            self.won += 1
        else:
            self.lost += 1


@dataclass
class YesCounts:
    """Good answers to a yes-or-no question: `own` about the agent, `others` about its opponents, each out of `total`.
    The good answer is yes, or no for a question with `Question.is_inverted`."""

    own: int = 0
    others: int = 0
    total: int = 0


@dataclass
class Factor:
    """A question of a task's form with its counts: `counts` for comparative and overall questions, `yes` for direct
    questions."""

    question: Question
    counts: Counts = field(default_factory=Counts)
    yes: YesCounts = field(default_factory=YesCounts)


@dataclass
class Tally:
    """All counts of one agent: by opponent (the most frequent first), and by task (factors in the order of the form)."""

    opponents: dict[str, Counts]
    factors: dict[str, list[Factor]]


def tally(verdicts: Iterable[Verdict], questions: Mapping[str, Sequence[Question]]) -> Tally:
    """Count the answers about one agent.

    Args:
        questions: Task -> questions of its form. Answers to other questions are left out, and so are malformed answers, which
            imports may hold.
    """
    opponents: dict[str, Counts] = {}
    factors: dict[str, list[Factor]] = {}
    for verdict in verdicts:
        opponents.setdefault(verdict.opponent, Counts()).add(verdict.outcome, is_left=verdict.is_left)
        if verdict.task not in factors:
            factors[verdict.task] = [Factor(question) for question in questions.get(verdict.task, ())]
        for factor in factors[verdict.task]:
            _count(factor, verdict)
    order = sorted(opponents, key=lambda name: (-opponents[name].total, name))
    return Tally({name: opponents[name] for name in order}, dict(sorted(factors.items())))


def _count(factor: Factor, verdict: Verdict) -> None:
    said = verdict.outcome if factor.question.kind == "overall" else verdict.responses.get(factor.question.id)
    if factor.question.kind == "direct":
        if isinstance(said, dict) and isinstance(said.get("left"), bool) and isinstance(said.get("right"), bool):
            good = not factor.question.is_inverted
            factor.yes.own += said["left" if verdict.is_left else "right"] == good
            factor.yes.others += said["right" if verdict.is_left else "left"] == good
            factor.yes.total += 1
    elif said in ("left", "right", "draw", "na"):
        factor.counts.add(said, is_left=verdict.is_left)


MAX_WAITING = 20
"""Largest number of agents proposed with one token that may wait for a moderator at the same time."""

Verb = Literal["approve", "decline", "withdraw", "restore"]


class ProposalError(JudgingError):
    """An agent cannot be proposed: its name is taken, or too many agents wait for a moderator."""

    code = "conflict"


@dataclass(frozen=True)
class Viewer:
    """A visitor, who sees all entrants, or only approved entrants and the entrants proposed with one token."""

    sees_all: bool = False
    token: str | None = None

    def sees(self, row: Entrant) -> bool:
        return self.sees_all or row.approved_at is not None or (self.token is not None and row.proposed_by == self.token)


OPERATOR = Viewer(sees_all=True)


class Said(NamedTuple):
    """Judges' answers about an entrant: the counts, and the reasons that judges wrote, newest first."""

    tally: Tally
    reasons: list[Reason]


class Roster:
    """The entrants of one database."""

    def __init__(self, database: Database, clock: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._clock = clock or (lambda: datetime.now(UTC))

    # Looking

    def rows(self, viewer: Viewer = OPERATOR, *, name: str | None = None, task: str | None = None) -> list[Entrant]:
        """Return the entrants that the viewer may know of (of one name or task if given), ordered by name, then by task."""
        if any(text is not None and not _is_askable(text) for text in (name, task)):
            return []
        with self._database.read() as session:
            return [row for row in store.entrants(session, task, name=name) if viewer.sees(row)]

    def get(self, name: str, viewer: Viewer = OPERATOR, *, hint: str = "") -> list[Entrant]:
        """Return one entrant, as one row for each of its tasks (NotFoundError if the viewer may not know of it)."""
        found = self.rows(viewer, name=name)
        if not found:
            raise unknown_name("agent", name[:100], {row.name for row in self.rows(viewer)}, hint=hint)
        return found

    def brought(self, names: Iterable[str]) -> dict[tuple[str, str], list[Brought]]:
        with self._database.read() as session:
            return episodes_of_entrants(session, names)

    def said_of(
        self, name: str, on_offer: Mapping[str, Task], *, num_reasons: int, without: set[str], up_to: int | None = None
    ) -> Said:
        """Return the judges' answers about an entrant.

        Args:
            on_offer: Available tasks, by id. For any other task, the form is taken from its newest judged version.
            without: Tasks whose reasons are left out.
            up_to: Sequence number of the last answer that counts; None to count all answers.
        """
        with self._database.read() as session:
            tasks = {task: Task.from_json(definition) for task, definition in judged_definitions(session).items()}
            questions = {task_id: task.questions for task_id, task in (tasks | dict(on_offer)).items()}
            counted = tally(verdicts(session, name, up_to=up_to), questions)
            return Said(counted, last_reasons(session, name, limit=num_reasons, without=without, up_to=up_to))

    def watched_by(self, participants: Iterable[int]) -> set[str]:
        numbers, now = list(participants), self._clock()
        if not numbers:
            return set()
        with self._database.look() as session:
            return {task for number in numbers for task in watched_tasks(session, judge_name(number), now)}

    # Changing

    def propose(
        self,
        name: str,
        tasks: Sequence[str],
        *,
        kind: str,
        description: str,
        token: str | None,
        reserved: Collection[str] = (),
    ) -> list[Entrant]:
        """Enter an agent, which then waits for a moderator. An existing agent gets more tasks and the new description.

        The name must be free or the proposer's own; this is checked while nobody else can write. One row is written for each
        new task.

        Args:
            token: Name of the proposer's token; None for the operator.
            reserved: Names in lower case that nobody may claim.
        Raises:
            ProposalError: If the name is taken, or if `MAX_WAITING` agents of this token wait already.
        """
        with self._database.write() as session:
            store.lock_name(session, name)  # or two who ask for one name at once would both find it free
            known = store.entrants(session, name=name)
            is_taken = not known and (name.lower() in reserved or store.is_name_taken(session, name))
            if is_taken or (known and token not in (None, known[0].proposed_by)):
                raise ProposalError(f"the name {name!r} is taken (capital letters make no difference); choose another one")
            if token is not None and not known and store.num_waiting(session, token) >= MAX_WAITING:
                raise ProposalError(f"{MAX_WAITING} of your agents wait for a moderator; propose others when some are decided")
            for task in tasks:
                store.propose(
                    session, name=name, task=task, kind=kind, description=description, proposed_by=token, now=self._clock()
                )
            return list(store.entrants(session, name=name))

    def change(
        self, verb: Verb, name: str, *, task: str | None = None, reason: str = "", viewer: Viewer = OPERATOR, hint: str = ""
    ) -> int:
        """Approve, decline, withdraw or restore an entrant, in one task or in all. Return the number of tasks that changed.

        Args:
            reason: Why the agent is declined; its proposer sees this text.
            viewer: The visitor. An entrant that the visitor may not know of counts as unknown.
        Raises:
            NotFoundError: If the entrant is unknown, or is not in this task; the text offers the nearest name.
        """
        tasks = [row.task for row in self.get(name, viewer, hint=hint)]
        if task is not None and task not in tasks:
            raise unknown_name("task of this agent", task[:100], tasks)
        now = self._clock()
        with self._database.write() as session:
            match verb:
                case "approve":
                    return store.approve(session, name=name, task=task, now=now)
                case "decline":
                    return store.decline(session, name=name, task=task, reason=reason, now=now)
                case "withdraw":
                    return store.withdraw(session, name=name, task=task, now=now)
                case "restore":
                    return store.restore(session, name=name, task=task)


def _is_askable(text: str) -> bool:
    return len(text) <= 200 and "\0" not in text
