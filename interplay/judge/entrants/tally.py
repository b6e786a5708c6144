"""What judges said about one agent, counted: by opponent, and by what each question of the form measures. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from interplay.store.judging.verdicts import Verdict
from interplay.tasks import Question


@dataclass
class Counts:
    """Answers that preferred the agent, called it a draw, preferred the other one, or said that neither can be said."""

    won: int = 0
    drew: int = 0
    lost: int = 0
    na: int = 0

    @property
    def total(self) -> int:
        """Answers that say something: without `na`."""
        return self.won + self.drew + self.lost

    def add(self, choice: str, *, is_left: bool) -> None:
        """Count one choice of `left`, `right`, `draw` or `na`."""
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
    """A yes-or-no question: how often it was yes of the agent, and of those it was compared with, out of `total` answers.

    If a yes is the bad answer (`Question.is_inverted`), no is counted.
    """

    own: int = 0
    others: int = 0
    total: int = 0


@dataclass
class Factor:
    """One question of one task's form, with its counts: `counts` of a comparative or overall one, `yes` of a direct one."""

    question: Question
    counts: Counts = field(default_factory=Counts)
    yes: YesCounts = field(default_factory=YesCounts)


@dataclass
class Tally:
    """All that is counted of one agent: against each opponent, those met most first, and by task the factors in the form's
    order."""

    opponents: dict[str, Counts]
    factors: dict[str, list[Factor]]


def tally(verdicts: Iterable[Verdict], questions: Mapping[str, Sequence[Question]]) -> Tally:
    """Count the answers about one agent.

    Args:
        verdicts: The answers.
        questions: Task -> its form; answers to questions that are not in it any more are left out, and so are malformed ones,
            which imported answers may hold.
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
