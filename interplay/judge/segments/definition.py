"""The table `[judging.segments]` of a study: which segments of games are compared, and how."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.tables import Table
from interplay.tasks import Question

STEPS_OF_A_DECISION = 4
"""First step and length of a segment are multiples of this number, because many agents decide once in four steps."""
MOST_SEGMENTS = 10_000
QUESTION = "In which of the two does the player do better?"


@dataclass(frozen=True)
class Segments:
    """Settings of a study of segments.

    Attributes:
        seconds: Length of a segment; None for 90 frames, but at least 1.5 and at most 3 seconds.
        entrants: Players whose games are used; empty for everybody.
        where: Conditions on games, as for `interplay episodes list --where`; all must hold.
        seat: Seat that is compared, in a task with several seats; empty for the only seat.
        held_out: Share of the worlds, and of the pairs, that are used only to measure rewards, not to learn them. These pairs
            are always drawn at random.
        candidates: Number of pairs to draw; the judge is asked about the pair with the least certain reward.
    """

    task: str
    seconds: float | None = None
    number: int = 200
    seed: int = 0
    entrants: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    seat: str = ""
    held_out: float = 0.2
    candidates: int = 10
    question: str = QUESTION

    def num_steps(self, frame_rate_hz: float) -> int:
        """Return the number of steps of a segment, a multiple of `STEPS_OF_A_DECISION`.

        >>> [Segments("t").num_steps(rate) for rate in (60, 30, 20, 10)], Segments("t", seconds=0.3).num_steps(20)
        ([88, 88, 60, 32], 8)
        """
        seconds = min(3.0, max(1.5, 90 / frame_rate_hz)) if self.seconds is None else self.seconds
        return max(1, round(seconds * frame_rate_hz / STEPS_OF_A_DECISION)) * STEPS_OF_A_DECISION

    def questions(self) -> tuple[Question, ...]:
        """Return the form: one question, which may also be answered `na` (cannot tell)."""
        return (Question("overall", "overall", "overall", self.question),)


def read_segments(table: Table) -> Segments:
    """Read the table `[judging.segments]`. Errors name the key, its value, and the allowed values."""
    seconds = None if "seconds" not in table.values else float(table.number("seconds", low=0.1, high=60))
    part = Segments(
        task=table.text("task"),
        seconds=seconds,
        number=table.count("number", 200, low=2, high=MOST_SEGMENTS),
        seed=table.count("seed", 0, low=0, high=2**31),
        entrants=tuple(dict.fromkeys(table.texts("entrants", []))),
        where=table.texts("where", []),
        seat=table.text("seat", ""),
        held_out=float(table.number("held_out", 0.2, low=0.05, high=0.5)),
        candidates=table.count("candidates", 10, low=1),
        question=" ".join(table.text("question", QUESTION).split()),
    )
    table.nothing_else()
    return part
