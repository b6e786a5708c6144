"""Rules of a study of comparisons: tasks, quotas, checks, minimum viewing time, matchmaking, examples.

A study's file sets these rules in its table `[judging]`. Judging without a study follows the rules of the open room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast, get_args

from interplay.errors import InterplayError
from interplay.judge.form import MAX_REASON_CHARS, MIN_REASON_CHARS
from interplay.judge.pairing import pairing_rule
from interplay.judge.segments.definition import Segments, read_segments
from interplay.rank import OUTCOMES, Outcome
from interplay.tables import Table

TaskChoice = Literal["random", "fixed"]


class RulesError(InterplayError):
    """The rules are invalid; the text names the key and the remedy."""


@dataclass(frozen=True)
class AttentionCheck:
    """Two episodes of one task with an obvious answer. Their sides are drawn each time the check is shown."""

    task: str
    left: str
    right: str
    expected: Outcome


@dataclass(frozen=True)
class Example:
    """A video that shows judges what to look for.

    Attributes:
        task: Task id; empty if the example is shown with every task.
    """

    task: str
    video: str
    caption: str


@dataclass(frozen=True)
class Rules:
    """The rules of one study, or of the open room.

    Attributes:
        tasks: Task ids to judge; None for all that have agents to compare.
        task_choice: `random` draws a task for each match, `fixed` one task for each judge. People in a study cannot choose.
        min_viewing_s: Seconds from serving a match until an answer of a person is accepted.
        min_watched_share: How much of each video a person must have played before an answer counts, from 0 to 1.
        max_answers_per_judge: Limit of answers of one judge, checks included; None for no limit.
        max_answers_per_day: Limit of answers of a person in 24 hours; None for no limit.
        max_answers_per_address: Limit of answers from one network address in 24 hours; None for no limit.
        target_answers: Number of answers that count at which the study is full; None for no limit.
        max_shows_of_pair: How often one judge may see the same two videos; None to repeat videos after all others were seen.
        max_answers_of_agents: Limit of answers of one judge about the same two agents in one task; None for no limit.
        attention_every: One match in this number, drawn at random, is an attention check; None for no attention checks.
        attention_checks: Pairs for attention checks. For a task that has no pair here, both sides show the same video.
        repeat_every: One match in this number repeats a pair of this judge with sides swapped; None for no repeats.
        policy: Name of the pairing rule, from `judge.pairing`; `default` for the rule that was measured best.
        examples: Videos shown above the match.
        segments: Compare a few seconds of any two games of one task; None to compare whole games. Only a study may set it.
        publish_every: Number of new answers that count after which public boards and counts change; 1: after each answer. Only
            the rules of the open room may set it, for the whole server.
    Raises:
        RulesError: If a value is outside its range, or if more than half of all matches are checks; the text names the value.
    """

    tasks: tuple[str, ...] | None = None
    task_choice: TaskChoice = "random"
    min_viewing_s: float = 10.0
    min_watched_share: float = 0.5
    min_reason_chars: int = MIN_REASON_CHARS
    max_answers_per_judge: int | None = None
    max_answers_per_day: int | None = None
    max_answers_per_address: int | None = None
    target_answers: int | None = None
    max_shows_of_pair: int | None = None
    max_answers_of_agents: int | None = None
    attention_every: int | None = None
    attention_checks: tuple[AttentionCheck, ...] = ()
    repeat_every: int | None = None
    policy: str = "default"
    policy_options: Mapping[str, Any] = field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    segments: Segments | None = None
    publish_every: int = 1

    def __post_init__(self) -> None:
        for name, is_good, expected in (
            ("tasks", self.tasks is None or len(self.tasks) > 0, "one task or more; leave it out for all"),
            ("task_choice", self.task_choice in ("random", "fixed"), "'random' or 'fixed'"),
            ("min_viewing_s", 0 <= self.min_viewing_s <= 3600, "a number of seconds from 0 to 3600"),
            ("min_watched_share", 0 <= self.min_watched_share <= 1, "a number from 0 to 1"),
            ("publish_every", self.publish_every >= 1, "1 or more"),
            ("min_reason_chars", 0 <= self.min_reason_chars <= MAX_REASON_CHARS, f"from 0 to {MAX_REASON_CHARS}"),
            *(
                (
                    name,
                    (value := getattr(self, name)) is None or value >= smallest,
                    f"{smallest} or more; leave it out to turn it off",
                )
                for name, smallest in _SMALLEST.items()
            ),
        ):
            if not is_good:
                raise RulesError(f"{name} must be {expected}; got {getattr(self, name)!r}")
        attention, repeat = self.attention_every, self.repeat_every
        if attention is not None and repeat is not None and 2 * (attention + repeat) > attention * repeat:
            raise RulesError(
                f"with attention_every {attention} and repeat_every {repeat}, more than half of all matches are checks: "
                f"1/{attention} + 1/{repeat}; make one of them larger"
            )
        try:
            pairing_rule(self.policy, **self.policy_options)
        except InterplayError as error:
            raise RulesError(f"policy: {error}") from None

    @classmethod
    def from_mapping(cls, mapping: Any, where: str = "[judging]", *, base: Rules | None = None) -> Rules:
        """Read the rules from a study's table.

        Args:
            mapping: The table `[judging]`, as TOML or JSON gives it; empty or None for the defaults.
            where: Name of the table in errors.
            base: Rules of the open room, for the keys that the table leaves out; it may then set keys that are only for the
                open room. None to start from the defaults of a study.
        Raises:
            RulesError: If a setting is invalid; the text names the key, its value, and the allowed values.
        """
        if mapping is None:
            return base or cls()
        if not isinstance(mapping, Mapping):
            raise RulesError(f"{where} must be a table of settings; got {mapping!r}")
        table = Table(mapping, where, refuse=RulesError)
        not_here = _OPEN_ROOM_ONLY if base is None else _STUDY_ONLY
        table.nothing_else(*(key for key in _READERS if key not in not_here))
        settings: dict[str, Any] = {key: _READERS[key](table, key) for key, value in mapping.items() if value is not None}
        if (part := settings.get("segments")) is not None:
            settings = {**_OF_SEGMENTS, "tasks": (part.task,), **settings}
            _check_segments(table, settings, part)
        try:
            return replace(base or cls(), **settings)
        except RulesError as error:
            raise RulesError(f"{where}: {error}") from None


def _check_segments(table: Table, settings: Mapping[str, Any], part: Segments) -> None:
    if settings["tasks"] != (part.task,):
        problem = f"names {', '.join(settings['tasks'])}, but the segments are from one task, {part.task}"
        raise table.error("tasks", problem, "leave it out, or make a study for each task")
    for key in _WHOLE_GAMES_ONLY & settings.keys():
        raise table.error(key, "is about whole games, and this study compares segments", "leave it out")


_STUDY_ONLY = frozenset({"segments"})
_WHOLE_GAMES_ONLY = frozenset(
    {"task_choice", "max_shows_of_pair", "max_answers_of_agents", "attention_checks", "policy", "policy_options"}
)
_OF_SEGMENTS: Mapping[str, Any] = {"min_viewing_s": 2.0, "min_reason_chars": 0}
"""Defaults of a study of segments. Segments are short and show the reason of an answer, so no written reason is required."""
_OPEN_ROOM_ONLY = frozenset({"publish_every", "max_answers_per_address"})
_SMALLEST = {
    "max_answers_per_judge": 1,
    "max_answers_per_day": 1,
    "max_answers_per_address": 1,
    "target_answers": 1,
    "max_shows_of_pair": 1,
    "max_answers_of_agents": 1,
    "attention_every": 2,
    "repeat_every": 2,
}


def _number(table: Table, key: str) -> float:
    return float(table.raw(key, (int, float)))


def _whole(table: Table, key: str) -> int:
    return table.raw(key, int)


def _attention_checks(table: Table, key: str) -> tuple[AttentionCheck, ...]:
    checks = []
    for entry in table.tables(key):
        expected = cast(Outcome, entry.choice("expected", OUTCOMES))
        checks.append(AttentionCheck(entry.text("task"), entry.text("left"), entry.text("right"), expected))
        entry.nothing_else()
    return tuple(checks)


def _examples(table: Table, key: str) -> tuple[Example, ...]:
    examples = []
    for entry in table.tables(key):
        example = Example(entry.text("task", ""), entry.text("video"), entry.text("caption"))
        entry.nothing_else()
        if not example.video.startswith("/") or example.video.startswith("//"):
            problem = f"{example.video!r} is not an address on this server"
            raise entry.error("video", problem, "begin it with /media/ or /static/; judges' pages load no other files")
        examples.append(example)
    return tuple(examples)


_READERS: dict[str, Callable[[Table, str], Any]] = {
    "tasks": lambda table, key: tuple(dict.fromkeys(table.texts(key))),
    "task_choice": lambda table, key: table.choice(key, get_args(TaskChoice)),
    "min_viewing_s": _number,
    "min_watched_share": _number,
    "min_reason_chars": _whole,
    **dict.fromkeys(_SMALLEST, _whole),
    "attention_checks": _attention_checks,
    "policy": lambda table, key: table.text(key),
    "policy_options": lambda table, key: dict(table.raw(key, dict)),
    "examples": _examples,
    "segments": lambda table, key: read_segments(table.table(key)),
    "publish_every": _whole,
}
"""Setting -> function that reads it."""

OPEN_ROOM = Rules(max_answers_per_day=50, max_answers_per_address=200, publish_every=10)
"""Rules of the open room, where anybody may judge. They limit how much one visitor can change ratings and see the effect."""
